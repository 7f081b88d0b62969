"""The seven strategies, the readings of the paper, and how a cell becomes runs.

Every strategy has two implementations: steps (steps.py) for ask/tell objects, and a faster run with
the same pulls (static.py, adaptive.py, phased.py) for simulations. Tests compare them.
"""

import json
import math
import threading
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from bestarm.common.paper import Cell, Readings, Simulation
from bestarm.common.stops import Stops
from bestarm.core.inputs import Input, Probability, Pulls
from bestarm.core.normals import in_blocks
from bestarm.core.status import Status
from bestarm.core.strategy import NO_CAP, Steps
from bestarm.core.streams import Streams, run_streams
from bestarm.linear.adaptive import run_fully_adaptive, run_lingape
from bestarm.linear.allocation import (
    ARGMIN_MAX,
    ROUNDED,
    TWO_STEP,
    RoundedSequence,
    StaticSequence,
    all_arms,
    all_pairs,
    oracle_pairs,
    spanning_arms,
)
from bestarm.linear.confidence import Width
from bestarm.linear.designs import optimal_design
from bestarm.linear.least_squares import Fit, copy_fit, make_fit, refit
from bestarm.linear.permille import (
    PERMILLE,
    draw_rewards,
    next_test,
    pulls_between_tests,
    run_fully_adaptive_permille,
    run_static_permille,
)
from bestarm.linear.phased import (
    EQ_18,
    FIGURE_3,
    PhasePlans,
    RagePhases,
    XYAdaptivePhases,
    run_phased,
)
from bestarm.linear.problem import Instance, Problem
from bestarm.linear.spaced import run_fully_adaptive_spaced, run_static_spaced
from bestarm.linear.static import draw_sums, run_static, true_gaps_hold
from bestarm.linear.steps import (
    AdaptiveRules,
    FullyAdaptive,
    LinearSteps,
    LinGapE,
    LinGapERules,
    PhasedRules,
    PhasedSteps,
    Rules,
    StaticRules,
    StaticSteps,
)
from bestarm.linear.stops import Stop, at_most

STRATEGIES: dict[str, LinearSteps] = {
    "G": StaticSteps(),
    "XY": StaticSteps(),
    "XY-Adaptive": PhasedSteps(),
    "XY-Oracle": StaticSteps(),
    "Fully-Adaptive": FullyAdaptive(),
    "RAGE": PhasedSteps(),
    "LinGapE": LinGapE(),
}

#: Strategies along a sequence of arms that is fixed beforehand.
STATIC = ("G", "XY", "XY-Oracle")

#: Section 6: the factor by which every phase of XY-Adaptive reduces the uncertainty.
ALPHA = 0.1
#: eta of Proposition 2 and lambda of LinGapE, whose value both leave open.
RIDGE = 1.0
#: c' of Proposition 1.
C_PRIME = 6.0 / math.pi**2


class Reading(NamedTuple):
    """One reading of what the paper leaves open (docs/readings.md)."""

    c: float  # of Proposition 1
    log: str  # its logarithm, a key of `LOG_TERMS`
    rule: int = TWO_STEP  # or ARGMIN_MAX; of G, XY and XY-Oracle also ROUNDED
    phase_test: int = EQ_18  # of XY-Adaptive
    rebuild: bool = True  # of XY-Adaptive: all arms are candidates again after every phase
    true_gaps: bool = False  # stop, and eliminate, as if estimates were exact, as in Eq. (4)
    proposition_2: bool = False  # of Fully-Adaptive: its width, else sqrt(d) times the static one
    every: int = 1  # the stop, of XY-Adaptive the end of a phase, is tested every so many pulls;
    # with PERMILLE every per mille of the pulls so far


def static_width(reading: Reading, n_arms: int, delta: float) -> Width:
    """c sqrt(log term): Proposition 1 and its variants."""
    base = {
        "log1": 1.0 / delta,
        "logK": n_arms / delta,
        "logK2": n_arms**2 / delta,
        "logn": C_PRIME * n_arms**2 / delta,
    }[reading.log]
    grows = reading.log == "logn"
    return Width(
        scale=reading.c**2,
        base=math.log(base),
        growth=2.0 if grows else 0.0,
        offset=0.0 if grows else 1.0,
        slope=1.0 if grows else 0.0,
    )


def adaptive_width(reading: Reading, problem: Problem, delta: float) -> Width:
    """The width of Fully-Adaptive: Proposition 2 with eta = RIDGE, or sqrt(d) `static_width`.

    With d = 1 the latter has sqrt(2), which the proof of docs/readings.md needs.
    """
    n_arms, d = problem.arms.shape
    if not reading.proposition_2:
        width = static_width(reading, n_arms, delta)
        return width._replace(scale=max(d, 2) * width.scale)
    longest = float((problem.arms**2).sum(axis=1).max())
    return Width(
        scale=float(d),
        base=math.log(1.0 / delta),
        growth=1.0,
        slope=longest / RIDGE,
        bias=math.sqrt(RIDGE) * problem.norm,
    )


CONSTANTS = {"1": 1.0, "sqrt2": math.sqrt(2.0), "2sqrt2": 2.0 * math.sqrt(2.0)}
LOG_TERMS = ("log1", "logK", "logK2", "logn")
GREEDY = {"two-step": TWO_STEP, "argmin-max": ARGMIN_MAX}
PHASE_TESTS = {"eq18": EQ_18, "fig3": FIGURE_3}
CANDIDATES = {"rebuilt": True, "kept-out": False}
STOPS = {"true-gaps": True, "empirical": False}
#: The choices that make up a strategy's readings, besides the width c*log.
CHOICES: dict[str, dict[str, dict]] = {
    "G": {"rule": GREEDY},
    "XY": {"rule": GREEDY},
    "XY-Adaptive": {"rule": GREEDY, "phase_test": PHASE_TESTS, "rebuild": CANDIDATES},
    "XY-Oracle": {"rule": GREEDY, "true_gaps": STOPS},
    "Fully-Adaptive": {"rule": GREEDY},
    "RAGE": {},
    "LinGapE": {},
}
#: Valid for every strategy (docs/readings.md): the default.
HONEST = Reading(math.sqrt(2.0), "logn", rebuild=False)
#: The same with the stop tested every per mille of the pulls, which saves time if runs are long.
#: XY-Adaptive and, with true gaps, XY-Oracle do not use estimates at every pull, and stay.
HONEST_PERMILLE = "honest+every-permille"
#: XY-Oracle stopped by estimated gaps, otherwise like the others.
HONEST_EMPIRICAL = "sqrt2*logn+two-step+empirical+every-permille"
#: For each strategy, the width whose budget is closest to the published one at d = 5. The other
#: choices are those of HONEST, since their budgets differ by less than the noise.
CLOSEST: dict[str, str] = {
    "G": "1*logK+two-step",
    "XY": "1*logK+two-step",
    "XY-Adaptive": "1*log1+two-step+eq18+kept-out",
    "XY-Oracle": "1*logK+two-step+true-gaps",
    "Fully-Adaptive": "1*log1+two-step",
}


@lru_cache
def grid(strategy: str) -> dict[str, Reading]:
    """Every reading of a strategy by name, such as "sqrt2*logn+two-step"."""
    choices = CHOICES[strategy]
    names = {}
    if not choices:
        return names
    for c, log in product(CONSTANTS, LOG_TERMS):
        for picked in product(*(options for options in choices.values())):
            fields = {
                field: options[name]
                for (field, options), name in zip(choices.items(), picked, strict=True)
            }
            names["+".join([f"{c}*{log}", *picked])] = Reading(CONSTANTS[c], log, **fields)
    if strategy == "Fully-Adaptive":
        for name, rule in GREEDY.items():
            names[f"prop2+{name}"] = Reading(1.0, "log1", rule, proposition_2=True)
    return names


#: Pulls between two tests of the stop, in readings that were added.
SPACINGS = (100, 1_000, 10_000)


@lru_cache
def added(strategy: str) -> dict[str, Reading]:
    """The readings that docs/analysis-plan.md adds to `grid`, by name.

    The stop tested every m pulls, for c = 1; true gaps; and the rounding of a design.
    """
    names = {}
    for name, reading in grid(strategy).items():
        phased = strategy == "XY-Adaptive"
        if reading.rule != TWO_STEP or reading.proposition_2 or (phased and reading.rebuild):
            continue
        if strategy != "XY-Oracle":
            names[f"{name}+true-gaps"] = reading._replace(true_gaps=True)
        if reading.c == 1.0 and not reading.true_gaps:
            names |= {f"{name}+every-{m}": reading._replace(every=m) for m in SPACINGS}
        if strategy in STATIC:
            rounded = name.replace("two-step", "rounded")
            names[rounded] = reading._replace(rule=ROUNDED)
            if strategy != "XY-Oracle":
                names[f"{rounded}+true-gaps"] = reading._replace(rule=ROUNDED, true_gaps=True)
    return names


def strategy_readings(strategy: str) -> Readings[Reading]:
    """All readings of a strategy."""
    if strategy not in CLOSEST:
        return Readings({"as-written": HONEST})
    every = grid(strategy)
    honest = HONEST._replace(true_gaps=strategy == "XY-Oracle")
    named = {"honest": honest, "closest": every[CLOSEST[strategy]], HONEST_PERMILLE: honest}
    if strategy in ("G", "XY", "Fully-Adaptive"):
        named[HONEST_PERMILLE] = honest._replace(every=PERMILLE)
    if strategy == "XY-Oracle":
        named[HONEST_EMPIRICAL] = HONEST._replace(every=PERMILLE)
    return Readings({**named, **every, **added(strategy)})


READINGS = {strategy: strategy_readings(strategy) for strategy in STRATEGIES}


class Setting(Input):
    """The setting of a run, the same for every strategy."""

    delta: Probability = Field(0.05, description="maximum probability of a wrong answer, e.g. 0.05")
    cap: Pulls | None = Field(10_000_000, description="most pulls of a run")


class Outcome(NamedTuple):
    """One replication, a row of the shards."""

    tau: int  # pulls when the run ended
    status: int  # a `Status`
    answer: int  # 1..K
    lead: float  # estimated lead of the answer over the best other arm, in units of the noise
    pulls: np.ndarray  # (K,)


def outcome(
    fit: Fit, pulls: np.ndarray, stopped: bool, active: np.ndarray | None = None
) -> Outcome:
    """The outcome of a run; the answer is the (active) arm of highest estimated value."""
    values = fit.values
    answer = int(np.argmax(values if active is None else np.where(active, values, -np.inf)))
    return Outcome(
        tau=int(pulls.sum()),
        status=int(Status.STOPPED if stopped else Status.CAPPED),
        answer=answer + 1,
        lead=float(values[answer] - np.delete(values, answer).max()),
        pulls=pulls.astype(np.int64),
    )


class _Array:
    """A hashable array, as a cache key."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self._key = array.shape, array.tobytes()

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other) -> bool:
        return self._key == other._key


_making = threading.Lock()


@lru_cache(maxsize=2)  # up to 15 MB each
def _sequence(strategy: str, arms: _Array, means: _Array | None, rule: int) -> StaticSequence:
    return make_sequence(strategy, arms.array, None if means is None else means.array, rule)


def make_sequence(
    strategy: str, arms: np.ndarray, means: np.ndarray | None, rule: int
) -> StaticSequence:
    """The sequence of G, XY or XY-Oracle; only XY-Oracle needs the means.

    G and XY begin with one pull of every arm, XY-Oracle with d linearly independent ones
    (docs/readings.md).
    """
    if strategy == "XY-Oracle" and means is not None:
        directions, first = oracle_pairs(means), spanning_arms(arms)
    else:
        directions = all_arms(len(arms)) if strategy == "G" else all_pairs(len(arms))
        first = np.arange(len(arms))
    fit = make_fit(arms, 0.0)
    if rule != ROUNDED:
        return StaticSequence(fit, directions, rule, first)
    second = np.vstack([arms, np.zeros(arms.shape[1])])[directions.second]  # 0 if it is -1
    y = np.sqrt(directions.weight)[:, None] * (arms[directions.first] - second)
    return RoundedSequence(fit, optimal_design(arms, y).weights, first)


def static_sequence(strategy: str, problem: Problem, rule: int) -> StaticSequence:
    """The sequence of G, XY or XY-Oracle, shared by all cells and threads that use it."""
    means = _Array(problem.means) if strategy == "XY-Oracle" else None
    with _making:
        return _sequence(strategy, _Array(problem.arms), means, rule)


@lru_cache(maxsize=8)
def _plans(arms: _Array, rule: int, phase_test: int, every: int) -> PhasePlans:
    return PhasePlans(arms.array, ALPHA, rule, phase_test, every)


def phase_plans(arms: np.ndarray, rule: int, phase_test: int, every: int = 1) -> PhasePlans:
    """The plans of XY-Adaptive's phases, shared by all cells and threads that use them."""
    with _making:
        return _plans(_Array(arms), rule, phase_test, every)


def make_rules(strategy: str, problem: Problem, reading: Reading, delta: float) -> Rules:
    """The rules of a strategy.

    Args:
        strategy: its name.
        problem: the arms. Of the truth, XY-Oracle, and every strategy that stops by true gaps, is
            given the means; LinGapE, and Fully-Adaptive with Proposition 2's width, the norm of
            theta; the others nothing.
        reading: of the paper.
        delta: maximum probability of a wrong answer.
    """
    arms, means = problem.arms, problem.means if reading.true_gaps else None
    if strategy == "LinGapE":
        return LinGapERules(arms, delta, problem.norm, RIDGE)
    if strategy == "RAGE":
        return PhasedRules(arms, RagePhases(arms, delta))
    if strategy == "XY-Adaptive":
        width = static_width(reading, len(arms), delta)
        plans = phase_plans(arms, reading.rule, reading.phase_test, reading.every)
        return PhasedRules(arms, XYAdaptivePhases(arms, width, plans, reading.rebuild, means))
    if strategy == "Fully-Adaptive":
        width = adaptive_width(reading, problem, delta)
        ridge, every = RIDGE if reading.proposition_2 else 0.0, reading.every
        return AdaptiveRules(arms, width, all_pairs(len(arms)), reading.rule, ridge, means, every)
    return static_rules(strategy, problem, reading, delta)


def static_rules(strategy: str, problem: Problem, reading: Reading, delta: float) -> StaticRules:
    """The rules of G, XY or XY-Oracle; arguments as for `make_rules`."""
    return StaticRules(
        problem.arms,
        static_width(reading, len(problem.arms), delta),
        static_sequence(strategy, problem, reading.rule),
        problem.means if reading.true_gaps else None,
        reading.every,
    )


Replicate = Callable[[Streams], Outcome]
#: Where runs of this process stopped.
STOPPED = Stops[Stop]()


def prepare_static(rules: StaticRules, problem: Problem, cap: int) -> Replicate:
    """G, XY and XY-Oracle: a fixed sequence of arms, stopped by estimated or by true gaps."""
    if rules.means is not None:
        return prepare_true_gaps(rules, problem, cap)
    if rules.every == PERMILLE:
        return prepare_permille(rules, problem, cap)
    return prepare_estimated_gaps(rules, problem, cap)


def prepare_permille(rules: StaticRules, problem: Problem, cap: int) -> Replicate:
    """A fixed sequence, stopped by Eq. (11), which is tested every per mille of the pulls.

    The pulls between two tests are counted once for all runs.
    """
    sequence, means = rules.sequence, problem.means
    between = np.empty((0, means.size), np.int32)

    def replicate(streams: Streams) -> Outcome:
        nonlocal between
        fit, n, test, stopped = make_fit(rules.arms, 0.0), 0, 0, False
        rows = between
        with in_blocks(streams.environment) as normals:
            while not stopped and next_test(n) <= cap:
                if test == len(rows):
                    arms = sequence.prefix(next_test(n))[:cap]
                    more = pulls_between_tests(arms, n, means.size)
                    rows = between = np.concatenate([rows, more])
                n, test, stopped = run_static_permille(
                    fit, means, rules.width, rows, sequence.n_initial, n, test, normals
                )
            if not stopped:
                rest = np.bincount(sequence.prefix(cap)[n:cap], minlength=means.size)
                fit.counts[:] += rest
                draw_rewards(fit, means, rest, normals)
                refit(fit)
        return outcome(fit, fit.counts, stopped)

    return replicate


def prepare_estimated_gaps(rules: StaticRules, problem: Problem, cap: int) -> Replicate:
    """A fixed sequence, stopped by Eq. (11).

    A run goes on from where one with narrower intervals stopped, if there was one.
    """
    sequence, width, means = rules.sequence, rules.width, problem.means
    n_initial, every = sequence.n_initial, rules.every

    def replicate(streams: Streams) -> Outcome:
        environment = streams.environment
        fit, n = make_fit(rules.arms, 0.0), 0
        key = means.tobytes(), cap, every, json.dumps(environment.bit_generator.state)
        earlier = STOPPED.last_before(sequence, key, lambda stop: at_most(stop.width, width))
        if earlier is not None:
            environment.bit_generator.state = earlier.stream
            fit, n = copy_fit(earlier.fit), earlier.n
        while True:
            pulls = sequence.prefix(min(n + 1, cap))[:cap]
            with in_blocks(environment) as normals:
                if every == 1:
                    n, stopped = run_static(fit, means, width, pulls, n_initial, n, normals)
                else:
                    n, stopped = run_static_spaced(
                        fit, means, width, pulls, n_initial, every, n, normals
                    )
            if stopped or n == cap:
                break
        if earlier is None or earlier.width != width:
            stop = Stop(width, n, copy_fit(fit), dict(environment.bit_generator.state))
            STOPPED.keep(sequence, key, stop)
        return outcome(fit, fit.counts, stopped)

    return replicate


def prepare_true_gaps(rules: StaticRules, problem: Problem, cap: int) -> Replicate:
    """A fixed sequence, stopped by Eq. (4) after a number of pulls not depending on rewards."""
    counts, holds = deterministic_counts(rules, problem.means, cap)

    def replicate(streams: Streams) -> Outcome:
        fit = make_fit(rules.arms, 0.0)
        fit.counts[:] = counts
        draw_sums(fit, problem.means, streams.environment.standard_normal(counts.size))
        return outcome(fit, counts, holds)

    return replicate


def deterministic_budget(rules: StaticRules, means: np.ndarray, cap: int) -> int:
    """The pulls after which Eq. (4) holds along a static strategy's sequence; 0 if above the cap.

    This is the stopping time of XY-Oracle, and for G and XY that of a run with exact estimates.
    """
    counts, holds = deterministic_counts(rules, means, cap)
    return int(counts.sum()) if holds else 0


def deterministic_counts(
    rules: StaticRules, means: np.ndarray, cap: int
) -> tuple[np.ndarray, bool]:
    """(K,) pulls of each arm until Eq. (4) holds or the cap is reached, and whether it holds."""
    fit = make_fit(rules.arms, 0.0)
    n_settled = 0
    while n_settled < cap:
        pulls = rules.sequence.prefix(min(n_settled + 1, cap))[:cap]
        if true_gaps_hold(fit, means, rules.width, pulls, rules.sequence.n_initial, n_settled):
            return fit.counts, True
        n_settled = pulls.size
    return fit.counts, False


def prepare_adaptive(rules: AdaptiveRules, problem: Problem, cap: int) -> Replicate:
    """Fully-Adaptive."""
    _, width, pairs, rule, ridge, true_means, every = rules
    if true_means is not None:
        return prepare_adaptive_true_gaps(rules, problem, cap)

    def replicate(streams: Streams) -> Outcome:
        fit = make_fit(rules.arms, ridge)
        with in_blocks(streams.environment) as normals:
            if every == 1:
                _, stopped = run_fully_adaptive(
                    fit, problem.means, width, pairs, rule, False, cap, normals
                )
            elif every == PERMILLE:
                _, stopped = run_fully_adaptive_permille(
                    fit, problem.means, width, pairs, rule, cap, normals
                )
            else:
                _, stopped = run_fully_adaptive_spaced(
                    fit, problem.means, width, pairs, rule, every, cap, normals
                )
        return outcome(fit, fit.counts, stopped)

    return replicate


def prepare_adaptive_true_gaps(rules: AdaptiveRules, problem: Problem, cap: int) -> Replicate:
    """Fully-Adaptive if it knows the gaps: pulls do not depend on rewards, which are drawn last.

    Arms are eliminated at every pull: no reading with true gaps has another spacing.
    """
    fit = make_fit(rules.arms, rules.ridge)
    with in_blocks(np.random.default_rng(0)) as normals:  # of no effect
        _, stopped = run_fully_adaptive(
            fit, problem.means, rules.width, rules.pairs, rules.rule, True, cap, normals
        )

    def replicate(streams: Streams) -> Outcome:
        draw_sums(fit, problem.means, streams.environment.standard_normal(fit.counts.size))
        return outcome(fit, fit.counts, stopped)

    return replicate


def prepare_lingape(rules: LinGapERules, problem: Problem, cap: int) -> Replicate:
    """LinGapE."""

    def replicate(streams: Streams) -> Outcome:
        fit = make_fit(rules.arms, rules.ridge)
        with in_blocks(streams.environment) as normals:
            _, stopped = run_lingape(fit, problem.means, rules.delta, rules.norm, cap, normals)
        return outcome(fit, fit.counts, stopped)

    return replicate


def prepare_phased(rules: PhasedRules, problem: Problem, cap: int) -> Replicate:
    """XY-Adaptive and RAGE: the rewards of a phase are drawn as one sum per arm."""

    def replicate(streams: Streams) -> Outcome:
        fit, active, pulls, stopped = run_phased(
            rules.phases, rules.arms, problem.means, cap, streams.environment
        )
        return outcome(fit, pulls, stopped, active)

    return replicate


#: How a strategy is simulated: rules, ground truth, cap -> replicate.
RUNS: dict[str, Callable[[Any, Problem, int], Replicate]] = {
    "G": prepare_static,
    "XY": prepare_static,
    "XY-Adaptive": prepare_phased,
    "XY-Oracle": prepare_static,
    "Fully-Adaptive": prepare_adaptive,
    "RAGE": prepare_phased,
    "LinGapE": prepare_lingape,
}


def steps(instance: Instance, cell: Cell) -> Steps:
    """A cell as steps, for ask/tell objects and tests."""
    setting, problem = Setting(**cell.setting), instance.problem
    reading = READINGS[cell.strategy][cell.reading]
    rules = make_rules(cell.strategy, problem, reading, setting.delta)
    return Steps(STRATEGIES[cell.strategy], rules, problem, setting.cap or NO_CAP)


def prepare(instance: Instance, cell: Cell) -> Replicate:
    """A function that runs one replication of a cell on its streams."""
    _, rules, problem, cap = steps(instance, cell)
    return RUNS[cell.strategy](rules, problem, cap)


#: Small and quick to solve, for compiling and for tests.
EASY = Instance(name="easy", arms=[[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], theta=[3.0, 0.4])


def warm_up() -> None:
    """Compile every kernel of this module for the types that runs use."""
    for strategy in STRATEGIES:
        for reading in ("honest", "closest", HONEST_PERMILLE):
            if reading in READINGS[strategy]:
                prepare(EASY, Cell(EASY.name, strategy, {}, reading))(run_streams(0, 0))
    more = {
        "XY-Oracle": [HONEST_EMPIRICAL, "1*log1+rounded+true-gaps"],
        "G": ["1*log1+two-step+every-100"],
        "Fully-Adaptive": ["1*log1+two-step+every-100"],
    }
    for strategy, names in more.items():
        for name in names:
            prepare(EASY, Cell(EASY.name, strategy, {}, name))(run_streams(0, 0))


SIMULATION = Simulation(READINGS, Setting, prepare, warm_up, EASY, steps=steps)
