"""Runs of a cell: streams -> outcomes -> columns, and how many stopped and were wrong."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bestarm.core.status import Status
from bestarm.core.streams import Streams, replication_streams

#: The fields of outcomes by name, each (n, ...) over n runs, and their `replication`.
Columns = dict[str, np.ndarray]
#: Plays a run on its streams; gives an outcome, a NamedTuple.
Replicate = Callable[[Streams], Any]


def nothing() -> None:
    """Do nothing after a replication."""


def play(
    replicate: Replicate,
    key: int,
    replications: Sequence[int],
    tick: Callable[[], None] = nothing,
) -> Columns:
    """Play some replications; the fields of their outcomes as columns.

    Args:
        replicate: plays a run.
        key: names the random streams, see core/streams.py.
        replications: at least one; their numbers fix, with the key, every random number.
        tick: called after each replication, for progress.

    Example:
        >>> from typing import NamedTuple
        >>> class Outcome(NamedTuple):
        ...     tau: int
        >>> play(lambda streams: Outcome(streams.coins.integers(1, 2)), 7, range(3))["tau"].tolist()
        [1, 1, 1]
    """
    outcomes = []
    for streams in replication_streams(key, replications):
        outcomes.append(replicate(streams))
        tick()
    return {"replication": np.asarray(replications, dtype=np.int64)} | outcome_columns(outcomes)


def outcome_columns(outcomes: Sequence[Any]) -> Columns:
    """Outcomes, at least one, as columns."""
    names, values = outcomes[0]._fields, zip(*outcomes, strict=True)
    return {name: np.array(column) for name, column in zip(names, values, strict=True)}


def joined(parts: Iterable[Columns]) -> Columns:
    """The columns of several parts of the runs, one after the other."""
    first, *others = parts
    return {name: np.concatenate([first[name], *(p[name] for p in others)]) for name in first}


def has_stopped(runs: Columns) -> np.ndarray:
    """(n,) whether the runs stopped; without a status, as those with a budget, all did."""
    size = len(runs["replication"])
    return runs["status"] == Status.STOPPED if "status" in runs else np.ones(size, bool)


class Counts(NamedTuple):
    """Of some runs: how many, how many stopped, and how many stopped with a wrong answer."""

    runs: int
    stopped: int
    wrong: int


def count(stopped: np.ndarray, right: np.ndarray) -> Counts:
    """Count runs. One that was cut off gave no answer, right or wrong.

    Args:
        stopped: (n,) whether they stopped.
        right: (n,) whether their answers are right.

    Example:
        >>> count(np.array([True, True, False]), np.array([True, False, False]))
        Counts(runs=3, stopped=2, wrong=1)
    """
    return Counts(stopped.size, int(stopped.sum()), int((stopped & ~right).sum()))
