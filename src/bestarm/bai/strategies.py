"""The strategies, the readings of the paper, and how a cell becomes runs."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from pydantic import Field

from bestarm.bai.problem import Instance
from bestarm.bai.steps import (
    Rules,
    World,
    choose_kl_lucb,
    choose_race,
    choose_track_and_stop,
    done_kl_lucb,
    done_race,
    done_track_and_stop,
    observe,
    observe_race,
    pull,
    start,
)
from bestarm.common.paper import Cell, Readings, Simulation
from bestarm.core.inputs import Input, Probability, Pulls
from bestarm.core.status import Status
from bestarm.core.strategy import NO_CAP, Steps, Strategy
from bestarm.core.streams import Streams, run_streams

RACE = (done_race, choose_race, observe_race)
STRATEGIES = {
    name: Strategy(f"bai {name}", start, done, choose, record, pull, lean=True)
    for name, (done, choose, record) in {
        "Track-and-Stop": (done_track_and_stop, choose_track_and_stop, observe),
        "Chernoff-Racing": RACE,
        "KL-LUCB": (done_kl_lucb, choose_kl_lucb, observe),
        "KL-Racing": RACE,
    }.items()
}


class Outcome(NamedTuple):
    """One row of a shard."""

    tau: int  # pulls when the run ended
    answer: int  # 1..K
    status: int  # a `Status`
    pulls: np.ndarray  # (K,)


class Reading(NamedTuple):
    """One reading of what the paper leaves open (docs/readings.md), or the proved threshold."""

    proved: bool = False
    cumulative: bool = False
    coin_ties: bool = False
    by_round: bool = False


WRITTEN, PROVEN = {"as-written": Reading()}, {"proven": Reading(proved=True)}
TRACKING = {"c-tracking": Reading(cumulative=True), "coin-ties": Reading(coin_ties=True)}
TRACKING_PROVEN = {"c-tracking+proven": Reading(proved=True, cumulative=True)}
BY_ROUND = {"by-round": Reading(by_round=True)}
READINGS = {
    "Track-and-Stop": Readings(WRITTEN | TRACKING | PROVEN | TRACKING_PROVEN, default="proven"),
    "Chernoff-Racing": Readings(WRITTEN | BY_ROUND | PROVEN, default="proven"),
    "KL-LUCB": Readings(WRITTEN | PROVEN, default="proven"),
    "KL-Racing": Readings(WRITTEN | BY_ROUND | PROVEN, default="proven"),
}


class Setting(Input):
    """The setting of a run, the same for every strategy."""

    delta: Probability = Field(0.1, description="maximum probability of a wrong answer, e.g. 0.05")
    cap: Pulls | None = Field(None, description="most pulls of a run")


def make_rules(strategy: str, family: int, n_arms: int, delta: float, reading: Reading) -> Rules:
    """The rules of a strategy under a reading; `family` is one of FAMILIES by number."""
    intervals = strategy == "KL-Racing"
    return Rules(family, n_arms, delta, **reading._asdict(), intervals=intervals)


def steps(instance: Instance, cell: Cell) -> Steps:
    """A cell as steps, for simulations and tests."""
    setting, reading = Setting(**cell.setting), READINGS[cell.strategy][cell.reading]
    return Steps(
        STRATEGIES[cell.strategy],
        make_rules(cell.strategy, instance.law, len(instance.means), setting.delta, reading),
        World(instance.law, instance.standard_means),
        setting.cap or NO_CAP,
    )


def prepare(instance: Instance, cell: Cell) -> Callable[[Streams], Outcome]:
    """A function that runs one replication of a cell on its streams."""
    strategy, rules, world, cap = steps(instance, cell)

    def replicate(streams: Streams) -> Outcome:
        state, stopped = strategy.play(world, rules, cap, streams.environment, streams.coins)
        stopped = stopped or strategy.done(rules, state)
        return Outcome(
            tau=int(state.clock[0]),
            answer=int(state.answer[0]) + 1,
            status=Status.STOPPED if stopped else Status.CAPPED,
            pulls=state.pulls.astype(np.int64),
        )

    return replicate


#: Small and quick to solve, for compiling and for tests.
EASY = Instance(name="easy", means=[0.9, 0.1, 0.2])


def warm_up() -> None:
    """Compile every kernel of this module for the types that runs use."""
    for strategy in STRATEGIES:
        prepare(EASY, Cell(EASY.name, strategy, {}, "as-written"))(run_streams(0, 0))


SIMULATION = Simulation(READINGS, Setting, prepare, warm_up, EASY, steps=steps)
