"""What a paper computes for pages of the documentation: its folder's `pages.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

#: Makes a part of a page, in Markdown, of the files of a checkout in a folder.
Part = Callable[[Path], str]


class FastRun(NamedTuple):
    """A run that some strategies' simulations take in place of their steps."""

    strategies: tuple[str, ...]
    functions: tuple[str, ...]  # "module.function" of the paper
    shorter: str  # what it does less of


@dataclass(frozen=True)
class Pages:
    """The parts of pages that are of a paper.

    Args:
        short: the paper's name in a table's head; its key if left out.
        parts: by page, such as `docs/usage.md`, the parts by name.
        fast_runs: of strategies that simulations do not run by their steps.
    """

    short: str = ""
    parts: Mapping[str, Mapping[str, Part]] = field(default_factory=dict[str, Mapping[str, Part]])
    fast_runs: tuple[FastRun, ...] = ()
