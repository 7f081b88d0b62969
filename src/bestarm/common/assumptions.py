"""What a paper brings to kept tables of errors when assumptions do not hold: its folder's
`assumptions.py`, for `bestarm.arena.assumptions` and `bestarm.arena.drift`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bestarm.common.paper import Cell
from bestarm.core.streams import Streams

#: A function that plays a run on its streams.
Replicate = Callable[[Streams], Any]

#: What replaces standard normal noise, by name; the strategies are told what holds of the first.
NOISE: dict[str, dict[str, Any]] = {
    "as assumed": {},
    "sigma 2": {"scale": 2.0},
    "t": {"heavy": True},
    "swing": {"swing": 0.5},
}
#: How means change, as `DisturbedGenerator` has it, in units of sigma and of pulls.
CHANGES: dict[str, dict[str, float]] = {
    "as assumed": {},
    "weekdays": {"week": 0.5, "period": 700.0},
    "trend": {"trend": 1.0, "period": 5000.0},
}


class Case(NamedTuple):
    """An instance that is played by what the paper's ask/tell classes are at their defaults."""

    paper: str
    instance: str
    setting: dict[str, Any]
    left_out: tuple[str, ...] = ()  # strategies that promise nothing of it


class Row(NamedTuple):
    """A row of a table that is not a strategy of the paper under the table's own noise.

    Args:
        case: whose streams are used.
        strategy: as the table names it.
        noise: the name of what is not as assumed.
        runs: how many.
        make: a function of a module, arguments -> an instance, and what plays it.
        arguments: of `make`.
        disturbance: of `DisturbedGenerator`; none for the streams as they are.
    """

    case: Case
    strategy: str
    noise: str
    runs: int
    make: Callable[..., tuple[Any, Replicate]]
    arguments: tuple[Any, ...]
    disturbance: Mapping[str, Any] | None = None


def _no_rows(*_: Any) -> tuple[Row, ...]:
    return ()


@dataclass(frozen=True)
class Assumptions:
    """How a paper's strategies are played when assumptions do not hold.

    Args:
        cases: the instances.
        ask_tell: strategies that are played by their ask/tell classes, which takes a thousand times
            as long: simulations draw sums of pulls, and compiled steps do not tell the answer.
        answer: the answer of the ask/tell classes in a state, if all simulations of the paper draw
            sums of pulls: then its compiled steps are played pull by pull.
        in_phases: an instance and a cell of a strategy of `ask_tell` -> plays it phase by phase
            while means change.
        others: more rows on noise.
        changing: more rows while means change, of a case and a strategy, or of no strategy.
    """

    cases: tuple[Case, ...]
    ask_tell: frozenset[str] = frozenset()
    answer: Callable[[Any], np.ndarray | None] | None = None
    in_phases: Callable[[Any, Cell], Replicate] | None = None
    others: Callable[[], Iterable[Row]] = _no_rows
    changing: Callable[[Case, str | None], Iterable[Row]] = _no_rows
