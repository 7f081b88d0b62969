"""Pull both arms equally often and answer with the larger mean."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from bestarm.toy.problem import Instance
from bestarm.toy.steps import lead_of
from pydantic import Field

from bestarm.common.paper import Cell, Readings, Simulation
from bestarm.core.inputs import Input, PositiveInt
from bestarm.core.status import Status
from bestarm.core.streams import Streams, streams_of


class Outcome(NamedTuple):
    tau: int
    answer: int
    status: int
    lead: float
    pulls: np.ndarray


class Setting(Input):
    cap: PositiveInt = Field(20, description="pulls of a run")
    delta: float | None = Field(None, description="nothing is promised")
    coin: float = Field(0.0, ge=0.0, le=1.0, description="how often a coin answers")


READINGS = {"Equal": Readings({"as-written": None})}
EASY = Instance(name="easy", means=[0.0, 1.0])


def prepare(instance: Instance, cell: Cell) -> Callable[[Streams], Outcome]:
    means, setting = np.array(instance.means), Setting(**cell.setting)
    budget = setting.cap

    def replicate(streams: Streams) -> Outcome:
        lead = lead_of(means, budget, streams.environment)
        answer = int(lead > 0.0)
        if streams.coins.random() < setting.coin:
            answer = int(streams.coins.integers(2))
        return Outcome(budget, answer, Status.STOPPED, lead, np.full(2, budget // 2))

    return replicate


def warm_up() -> None:
    prepare(EASY, Cell("easy", "Equal", {}, "as-written"))(streams_of(0, 0))


SIMULATION = Simulation(READINGS, Setting, prepare, warm_up, EASY)
