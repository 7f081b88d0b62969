"""What bench.py times of each paper: a module a paper, with TIMED."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from bestarm.common.paper import Cell


@dataclass(frozen=True)
class Benchmark:
    """A cell whose speed is measured, over `runs` replications."""

    cell: Cell
    runs: int
    per: str  # the unit of work, such as "pull"
    work: Callable[[Any], int]  # how much of it an outcome took
    note: str = ""  # to stand beside the number
    instance: Any = None  # one made for it; else the paper's instance that the cell names


@dataclass(frozen=True)
class Timed:
    """What is timed of a paper."""

    benchmarks: tuple[Benchmark, ...]
    targets: tuple[tuple[str, ...], ...] = ()  # made from nothing, those of a group together
    more: Mapping[str, int] = field(default_factory=dict)  # targets with so many replications
    tables: Mapping[str, str] = field(
        default_factory=dict
    )  # kept ones, by the rule that makes them


def of(paper: str) -> Timed:
    """What is timed of a paper."""
    return import_module(f"timed.{paper}").TIMED
