"""Best-arm identification: the algorithms of five papers, and what of them replicates."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # that of typing takes a sixth of the start of a job
if TYPE_CHECKING:
    from typing import Any

__version__ = "1.0.0.dev0"

#: What is imported on first use, so that ask/tell objects load quickly.
_LATER = {"compare": "bestarm.users.compare", "Compiled": "bestarm.common.user_strategies"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
