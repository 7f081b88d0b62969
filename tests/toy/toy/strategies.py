"""Pull both arms equally often and answer with the larger mean."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from bestarm.toy.problem import Instance
from bestarm.toy.steps import Rules, World, choose, done, observe, pull, start
from pydantic import Field

from bestarm.common.paper import Cell, Readings, Simulation
from bestarm.core.inputs import Input, PositiveInt
from bestarm.core.status import Status
from bestarm.core.strategy import NO_CAP, Steps, Strategy
from bestarm.core.streams import Streams, run_streams


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


STRATEGIES = {"Equal": Strategy("toy Equal", start, done, choose, observe, pull, lean=True)}
READINGS = {"Equal": Readings({"as-written": None})}
EASY = Instance(name="easy", means=[0.0, 1.0])


def steps(instance: Instance, cell: Cell) -> Steps:
    rules, world = Rules(Setting(**cell.setting).cap), World(np.array(instance.means))
    return Steps(STRATEGIES[cell.strategy], rules, world, NO_CAP)


def prepare(instance: Instance, cell: Cell) -> Callable[[Streams], Outcome]:
    strategy, rules, world, cap = steps(instance, cell)
    coin = Setting(**cell.setting).coin

    def replicate(streams: Streams) -> Outcome:
        state, _ = strategy.play(world, rules, cap, streams.environment, streams.coins)
        lead = float(state.sums[1] - state.sums[0])
        answer = int(lead > 0.0)
        if streams.coins.random() < coin:
            answer = int(streams.coins.integers(2))
        pulls = state.pulls.astype(np.int64)
        return Outcome(int(pulls.sum()), answer, Status.STOPPED, lead, pulls)

    return replicate


def warm_up() -> None:
    prepare(EASY, Cell("easy", "Equal", {}, "as-written"))(run_streams(0, 0))


SIMULATION = Simulation(READINGS, Setting, prepare, warm_up, EASY, steps=steps)
