"""Values that follow from the package's sources and libraries, kept from one process to the next.

Whenever Snakemake starts, it needs the names of experiments and targets and the hashes of code. To
compute these takes as long as the rest of the start, and they change with the sources only. So they
are kept in a file in the user's cache, which is named by a hash of all sources and can be deleted
at any time.
"""

import hashlib
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bestarm.common.codehash import NUMBERS_FROM, PACKAGE
from bestarm.core.cache import cache_base
from bestarm.core.errors import InputError
from bestarm.core.files import write_text


def kept_in() -> Path:
    """The file for the sources as they are now, in `cache_base`."""
    digest = hashlib.sha256(sys.version.encode())
    for library in NUMBERS_FROM:
        digest.update(f"{library}=={version(library)}\n".encode())
    for source in sorted(PACKAGE.rglob("*.py")):
        content = hashlib.sha256(source.read_bytes()).hexdigest()
        digest.update(f"{source.relative_to(PACKAGE)} {content}\n".encode())
    return cache_base() / f"sources-{digest.hexdigest()[:16]}.json"


#: The file for the sources as this process found them.
_found_in = cache(kept_in)


def by_sources(name: str, compute: Callable[[], Any]) -> Any:
    """A value that follows from the sources, as JSON gives it back.

    A damaged file counts as missing. If it cannot be written, every process computes the value.

    Args:
        name: of the value.
        compute: makes it, if it is not kept.
    """
    file = _found_in()
    values = _read(file)
    if name not in values:
        value = json.loads(json.dumps(compute()))
        if kept_in() != file:  # the sources were edited meanwhile; the value may be of either
            return value
        values = _read(file) | {name: value}  # others may have added to it
        with suppress(OSError, InputError):
            write_text(file, json.dumps(values))
    return values[name]


def _read(file: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        data = json.loads(file.read_text(encoding="utf-8"))
        return data if isinstance(data, dict) else {}
    return {}
