"""Pull both arms equally often and answer with the larger mean."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from bestarm.toy.problem import Instance

from bestarm.common.paper import Cell
from bestarm.core.compile import jit
from bestarm.core.inputs import Input, PositiveInt
from bestarm.core.status import Status
from bestarm.core.streams import Streams, streams_of


@jit
def larger_sum(means: np.ndarray, budget: int, environment) -> int:
    """The arm with the larger sum after budget / 2 pulls of each."""
    lead = 0.0
    for _ in range(budget // 2):
        lead += means[1] - means[0]
        lead += environment.standard_normal() - environment.standard_normal()
    return int(lead > 0.0)


class Outcome(NamedTuple):
    tau: int
    answer: int
    status: int
    pulls: np.ndarray


class Setting(Input):
    cap: PositiveInt = 20
    delta: float | None = None


STRATEGIES = {"Equal": larger_sum}
READINGS = {"as-written": {}}
EASY = Instance(name="easy", means=[0.0, 1.0])


def readings_of(strategy: str) -> list[str]:
    return list(READINGS)


def prepare(instance: Instance, cell: Cell) -> Callable[[Streams], Outcome]:
    means, budget = np.array(instance.means), Setting(**cell.setting).cap

    def replicate(streams: Streams) -> Outcome:
        answer = larger_sum(means, budget, streams.environment)
        return Outcome(budget, int(answer), Status.STOPPED, np.full(2, budget // 2))

    return replicate


def warm_up() -> None:
    prepare(EASY, Cell("easy", "Equal", {}, "as-written"))(streams_of(0, 0))
