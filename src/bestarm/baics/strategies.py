"""The strategies, the readings of the paper, and how a cell becomes runs."""

import json
import math
from collections.abc import Callable, Hashable
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from bestarm.baics.alternatives import ONE_SIGMA, Problem
from bestarm.baics.e_values import DIRECTED, GLR, MIXTURE, UNKNOWN, pulls_for_bounds
from bestarm.baics.frank_wolfe import choose_fws, start_fws
from bestarm.baics.problem import Instance
from bestarm.baics.steps import (
    Rules,
    State,
    World,
    choose_ta_s,
    choose_ta_scs,
    choose_uniform,
    done,
    observe,
    pull,
    start,
    start_pairs,
)
from bestarm.baics.two_stage import choose_two_stage, done_two_stage
from bestarm.common.paper import Cell, Readings, Simulation
from bestarm.common.stops import Stops
from bestarm.core.inputs import Input, InputError, Probability, Pulls, Scale
from bestarm.core.status import Status
from bestarm.core.strategy import NO_CAP, Steps, Strategy
from bestarm.core.streams import Streams, run_streams

STRATEGIES = {
    "T-a-SCS": Strategy(
        "baics T-a-SCS", start_pairs, done, choose_ta_scs, observe, pull, lean=True
    ),
    "T-a-S": Strategy("baics T-a-S", start, done, choose_ta_s, observe, pull, lean=True),
    "Uniform": Strategy("baics Uniform", start, done, choose_uniform, observe, pull, lean=True),
    "FWS": Strategy("baics FWS", start_fws, done, choose_fws, observe, pull, lean=True),
    "Two-stage": Strategy(
        "baics Two-stage", start, done_two_stage, choose_two_stage, observe, pull, lean=True
    ),
}


#: Of a rule that keeps all pairs of arms: most numbers, which take 0.8 GB; and how many a pair has
#: at most beside two per subpopulation.
MOST_NUMBERS, NUMBERS_PER_PAIR = 100_000_000, 30


class Outcome(NamedTuple):
    """One row of a shard."""

    tau: int  # pulls when the run ended
    answer: int  # 1..K, or 0 for none
    status: int  # a `Status`
    pulls: np.ndarray  # (K L,) of each (arm, subpopulation), arm by arm


class Reading(NamedTuple):
    """One reading of what the paper leaves open (docs/readings.md); None leaves the option open."""

    glr_factor: float = 0.5  # of D(w) in the stopping rule
    inner_steps: int | None = None
    tie_coins: bool | None = None
    stopping: int = GLR
    levelled: bool = False


WRITTEN, NO_HALF = {"as-written": Reading()}, {"no-half": Reading(1.0)}
PROVEN = {"proven": Reading(stopping=DIRECTED), "proven-mixture": Reading(stopping=MIXTURE)}
UNKNOWN_SIGMA = {"proven-unknown-sigma": Reading(stopping=UNKNOWN)}
#: Further readings that change a strategy: only T-a-SCS maximises, and Two-stage is not the
#: paper's.
MORE_READINGS: dict[str, dict[str, Reading]] = {
    "T-a-SCS": {
        **NO_HALF,
        "maximiser": Reading(inner_steps=0),
        "maximiser+no-half": Reading(1.0, inner_steps=0),
        "first-alternative": Reading(tie_coins=False),
        "first-alternative+no-half": Reading(1.0, tie_coins=False),
        **PROVEN,
        "maximiser+proven": Reading(inner_steps=0, stopping=DIRECTED),
        "maximiser+proven-mixture": Reading(inner_steps=0, stopping=MIXTURE),
        "maximiser+proven-unknown-sigma": Reading(inner_steps=0, stopping=UNKNOWN),
    },
    "T-a-S": NO_HALF | PROVEN | UNKNOWN_SIGMA,
    "Uniform": NO_HALF | PROVEN | UNKNOWN_SIGMA,
    "FWS": {
        **PROVEN,
        "levelled+proven": Reading(stopping=DIRECTED, levelled=True),
        **UNKNOWN_SIGMA,
    },
}
#: What users get, where it is not the paper's text.
DEFAULTS = {
    "T-a-SCS": "maximiser+proven",
    "T-a-S": "proven",
    "Uniform": "proven",
    "FWS": "levelled+proven",
}
READINGS = {
    name: Readings(WRITTEN | MORE_READINGS.get(name, {}), default=DEFAULTS.get(name, ""))
    for name in STRATEGIES
}


class Options(Input):
    """How T-a-SCS moves its allocation; the defaults are Section 5.1's."""

    step: Scale = Field(default=1.0, description="of a supergradient step")
    inner_steps: int = Field(default=1, ge=0, description="steps per pull; 0 maximises exactly")
    tie_coins: bool = Field(default=True, description="a coin chooses among equal alternatives")


class Setting(Input):
    """The setting of a run, the same for every strategy."""

    delta: Probability = Field(0.1, description="maximum probability of a wrong answer, e.g. 0.05")
    cap: Pulls | None = Field(15_000, description="most pulls of a run")


def make_rules(
    n_arms: int,
    problem: Problem,
    delta: float,
    reading: Reading,
    options: Options,
    source: str = "options",
) -> Rules:
    """The rules of a strategy under a reading of the paper.

    Raises:
        InputError: an option was given that the reading has its own value for, or that an exact
            maximiser has no use for; or all pairs of arms would take too much memory; `source`
            names it.
    """
    given = {name: value for name, value in reading._asdict().items() if value is not None}
    if reading.stopping == UNKNOWN:
        problem = problem._replace(scale=ONE_SIGMA)  # rewards are told in one unit
    unused = {"step", "tie_coins"} if reading.inner_steps == 0 else set[str]()
    if fixed := sorted((given.keys() | unused) & options.model_fields_set):
        raise InputError(f"{source}: {fixed[0]}: is set by the reading; choose another reading")
    most = math.isqrt(MOST_NUMBERS // (2 * problem.weights.size + NUMBERS_PER_PAIR))
    if reading.stopping in (DIRECTED, UNKNOWN) and n_arms > most:
        raise InputError(
            f"{source}: must have at most {most:,} arms with {problem.weights.size} "
            f"subpopulations, as all pairs of arms are kept, got {n_arms:,}"
        )
    bounded = 0.0
    if reading.stopping == UNKNOWN:
        bounded = pulls_for_bounds(math.log(n_arms / delta), problem.weights.size)
    return Rules(n_arms, problem, delta, bounded=bounded, **(options.model_dump() | given))


def make_world(instance: Instance) -> World:
    """What is pulled on an instance."""
    if instance.rewards == "gaussian":
        return World(instance.standard_means, np.zeros(0), np.zeros((0, 2)))
    both = [(reward - instance.floor) / instance.sigmas for reward in (0.0, 1.0)]
    values = np.array([value.ravel() for value in both]).T.copy()
    return World(instance.standard_means, np.array(instance.means).ravel(), values)


def world_in_one_unit(instance: Instance, source: str) -> World:
    """The same for a strategy that does not know sigma: rewards are over the largest sigma.

    Raises:
        InputError: rewards are not Gaussian, naming `source`.
    """
    if instance.rewards != "gaussian":
        raise InputError(f"{source}: needs Gaussian rewards, got {instance.rewards}")
    world, scale = make_world(instance), instance.problem.scale
    return world._replace(means=scale * world.means, scale=scale) if scale.size else world


def steps(instance: Instance, cell: Cell) -> Steps:
    """A cell as steps, for simulations and tests."""
    setting, options = Setting(**cell.setting), Options(**cell.options)
    reading = READINGS[cell.strategy][cell.reading]
    unknown = reading.stopping == UNKNOWN
    source = f"{cell.strategy}: reading {cell.reading}"
    world = world_in_one_unit(instance, source) if unknown else make_world(instance)
    return Steps(
        STRATEGIES[cell.strategy],
        make_rules(
            len(world.means), instance.problem, setting.delta, reading, options, cell.strategy
        ),
        world,
        setting.cap or NO_CAP,
    )


def prepare(instance: Instance, cell: Cell) -> Callable[[Streams], Outcome]:
    """A function that runs one replication of a cell on its streams."""
    parts = steps(instance, cell)
    # The stopping rules whose runs may go on from those of another.
    if parts.rules.stopping != GLR or "no-half" not in READINGS[cell.strategy]:
        return make_replication(parts)
    reading = READINGS[cell.strategy][cell.reading]._replace(glr_factor=0.0)
    sampling = instance.model_dump_json(), json.dumps(dict(cell.options)), reading, parts.cap
    return make_replication(parts, play_on(parts, sampling))


class Stop(NamedTuple):
    """A run under Eq. (10) when it stopped or reached its cap."""

    n: int  # pulls
    rules: Rules
    state: State
    streams: tuple[Any, Any]  # states of the generators of rewards and coins


#: Where runs of this process stopped.
STOPPED = Stops[Stop]()


def stops_first(looser: Rules, stricter: Rules) -> bool:
    """Whether one of two rules asks for a smaller F than the other at every time t, Eq. (10).

    It asks for ln((1 + ln t) / delta) / factor, which is least at t = 1, and ln(1 + ln t) >= 0.
    """
    least = [math.log(1.0 / rules.delta) / rules.glr_factor for rules in (looser, stricter)]
    return looser.glr_factor >= stricter.glr_factor and least[0] < least[1]


#: Plays a run on the generators of its rewards and coins: its last state, and whether it stopped.
Play = Callable[[np.random.Generator, np.random.Generator], tuple[Any, bool]]


def play_on(parts: Steps, sampling: Hashable) -> Play:
    """Play a run with Eq. (10). If a rule that stops first was played on the same streams, the run
    goes on from where it stopped, since sampling depends neither on delta nor on the factor.

    Args:
        parts: the steps.
        sampling: what the run depends on beside these two and its streams.
    """
    strategy, rules, world, cap = parts

    def play(environment: np.random.Generator, coins: np.random.Generator) -> tuple[State, bool]:
        generators = environment.bit_generator, coins.bit_generator
        key = sampling, json.dumps(generators[0].state)
        earlier = STOPPED.last_before(strategy, key, lambda stop: stops_first(stop.rules, rules))
        if earlier is None:
            n, state = 0, strategy.start(rules)
        else:
            n, state = earlier.n, deepcopy(earlier.state)
            for generator, then in zip(generators, earlier.streams, strict=True):
                generator.state = then
        stopped = strategy.resume(world, rules, state, cap - n, environment, coins)
        streams = generators[0].state, generators[1].state
        STOPPED.keep(strategy, key, Stop(int(state.clock[0]), rules, state, streams))
        return state, stopped

    return play


def make_replication(parts: Steps, play: Play | None = None) -> Callable[[Streams], Outcome]:
    """The same of any steps whose state has a clock, an answer and pulls as this paper's have.

    Args:
        parts: the steps.
        play: how they are played, from the start by default.
    """
    strategy, rules, world, cap = parts
    played = play or partial(strategy.play, world, rules, cap)

    def replicate(streams: Streams) -> Outcome:
        state, stopped = played(streams.environment, streams.coins)
        stopped = stopped or strategy.done(rules, state)
        return Outcome(
            tau=int(state.clock[0]),
            answer=int(state.answer[0]) + 1,
            status=Status.STOPPED if stopped else Status.CAPPED,
            pulls=state.pulls.ravel().astype(np.int64),
        )

    return replicate


#: Small and quick to solve, for compiling and for tests.
EASY = Instance(name="easy", means=[[0.8, 0.9], [0.7, -0.9], [0.1, 0.2]], weights=[0.5, 0.5])


def warm_up() -> None:
    """Compile every kernel of this module for the types that runs use."""
    for strategy in STRATEGIES:
        prepare(EASY, Cell(EASY.name, strategy, {}, "as-written"))(run_streams(0, 0))


SIMULATION = Simulation(
    READINGS, Setting, prepare, warm_up, EASY, steps=steps, options={"T-a-SCS": Options}
)
