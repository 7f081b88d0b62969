"""What bench.py times of each paper: a module a paper, with TIMED."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from bestarm import registry
from bestarm.common.paper import Cell
from bestarm.core.streams import Streams, run_streams

#: Work that is compared takes turns this often, and for at least this many seconds in all.
TURNS, SECONDS = 5, 0.5


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


def replication_of(paper: str, cell: Cell, instance: Any = None) -> Callable[[Streams], Any]:
    """What runs a replication of a cell, compiled; on the paper's instance unless one is given."""
    known = registry.PAPERS[paper]
    replicate = known.simulation.prepare(
        instance or known.problems.instances()[cell.instance], cell
    )
    replicate(run_streams(0, 0))
    return replicate


def in_turn(works: Sequence[Callable[[], int]]) -> list[float]:
    """Median seconds per unit of each work, which returns the units it did.

    They take turns, so that a busy minute of the machine does not fall upon one of them. The first
    turn is not counted.
    """
    for work in works:
        work()
    found: list[list[float]] = [[] for _ in works]
    start = time.perf_counter()
    while len(found[0]) < TURNS or time.perf_counter() - start < SECONDS:
        for work, seconds in zip(works, found, strict=True):
            before = time.perf_counter()
            amount = work()
            seconds.append((time.perf_counter() - before) / amount)
    return [statistics.median(seconds) for seconds in found]
