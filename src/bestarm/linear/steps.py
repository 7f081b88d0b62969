"""The strategies one pull at a time: steps on a state, see core/strategy.py, in plain Python.

Simulations make the same pulls in less time (`RUNS` of strategies.py): they skip evaluations that
cannot stop a run or change the next arm, and draw the rewards of a phase as one sum per arm. The
steps and these runs share the compiled functions that decide.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bestarm.core.strategy import NO_CAP, Strategy
from bestarm.linear.adaptive import (
    challenger,
    distances,
    dominated,
    ellipsoid,
    log_growth,
    most_informative,
)
from bestarm.linear.allocation import (
    Directions,
    StaticSequence,
    among,
    choose,
    make_uncertainty,
    measure,
    products,
)
from bestarm.linear.confidence import Width, radius
from bestarm.linear.least_squares import Fit, make_fit, refit
from bestarm.linear.permille import is_tested
from bestarm.linear.phased import Phases, Plan
from bestarm.linear.problem import Problem
from bestarm.linear.static import best_arm, stopping_rule_holds, true_gap_statistic


@dataclass
class State:
    """The data of a run; the fit's arrays are changed in place."""

    fit: Fit  # to the rewards, in units of the noise

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        return self.fit.counts

    @property
    def answer(self) -> int:
        """The arm of highest estimated value."""
        return int(best_arm(self.fit))

    @property
    def table(self) -> np.ndarray:
        """(K, K) x^T A^-1 x' of the arms."""
        table = np.empty((self.fit.counts.size, self.fit.counts.size))
        products(self.fit, table)
        return table


class LinearSteps:
    """Base class of the steps: Gaussian rewards, fitted by least squares."""

    follow = Strategy.follow

    def observe(self, rules: Any, state: Any, arm: int, observed: float, pulls: int = 1) -> None:
        """Count a reward, or the sum over some pulls of an arm, in units of the noise; fit again
        once the pulls determine theta.
        """
        fit: Fit = state.fit
        fit.counts[arm] += pulls
        fit.sums[arm] += observed
        self.fit_again(fit)

    def fit_again(self, fit: Fit) -> None:
        """Fit to the counts and sums, once the pulls determine theta."""
        pulled = fit.arms[fit.counts > 0.0]
        if fit.ridge > 0.0 or np.linalg.matrix_rank(pulled) == fit.theta.size:
            refit(fit)

    def done(self, rules: Any, state: Any) -> bool:
        """The stopping rule."""
        raise NotImplementedError

    def expect(self, rules: Any, state: Any, pulls: Mapping[int, int]) -> None:
        """Count pulls, by arm, whose rewards are not known yet."""
        for arm, n in pulls.items():
            state.fit.counts[arm] += n

    def may_choose(self, rules: Any, state: Any) -> bool:
        """Whether an arm can be chosen before further rewards are known."""
        return True

    def radius(self, rules: Any, state: Any) -> float:
        """The bound on the normalised error of a difference of two arms, C(n)."""
        raise NotImplementedError

    def pull(
        self, world: Problem, state: State, arm: int, environment: np.random.Generator
    ) -> float:
        """A reward in units of the noise."""
        return world.means[arm] + environment.standard_normal()


class SequentialSteps(LinearSteps):
    """Base class of strategies whose next arm depends on all pulls so far."""

    def expect(self, rules: Any, state: Any, pulls: Mapping[int, int]) -> None:
        """Count pulls, by arm, as if they gave what is estimated, which moves no estimate."""
        fit: Fit = state.fit
        for arm, n in pulls.items():
            fit.counts[arm] += n
            fit.sums[arm] += n * float(fit.values[arm])
        self.fit_again(fit)


class StaticRules(NamedTuple):
    """What G, XY and XY-Oracle are given."""

    arms: np.ndarray  # (K, d)
    width: Width
    sequence: StaticSequence
    means: np.ndarray | None  # (K,) if they stop by the true gaps, in units of the noise
    every: int = 1  # the stopping rule is tested after multiples of so many pulls


@dataclass
class StaticState(State):
    """The position of a run in the sequence."""

    place: int = 0  # arms chosen so far


class StaticSteps(LinearSteps):
    """A fixed sequence of arms, until one arm's lead is clear: Eq. (11), or by true gaps Eq. (4).

    Pulls of other arms count, but do not advance the sequence.
    """

    def start(self, rules: StaticRules) -> StaticState:
        return StaticState(make_fit(rules.arms, 0.0))

    def done(self, rules: StaticRules, state: StaticState) -> bool:
        n = state.pulls.sum()
        determined = n >= rules.sequence.n_initial and state.fit.inverse.any()
        if not determined or not is_tested(rules.every, n):
            return False
        if rules.means is None:
            return bool(stopping_rule_holds(state.fit, rules.width, n))
        return bool(true_gap_statistic(state.fit, rules.means) >= radius(rules.width, n))

    def radius(self, rules: StaticRules, state: StaticState) -> float:
        return radius(rules.width, state.pulls.sum())

    def choose(self, rules: StaticRules, state: StaticState, coins: Any) -> int:
        state.place += 1
        return int(rules.sequence.prefix(state.place)[state.place - 1])


class PhasedRules(NamedTuple):
    """The rules of XY-Adaptive and RAGE."""

    arms: np.ndarray  # (K, d)
    phases: Phases


@dataclass
class PhasedState(State):
    """The current phase of a run; its fit is to the rewards of that phase."""

    active: np.ndarray  # (K,) whether an arm may still be the best
    plan: Plan  # of the current phase
    spent: np.ndarray  # (K,) pulls of earlier phases
    phase: int = 1

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        return self.spent + self.fit.counts

    @property
    def answer(self) -> int:
        """The active arm of highest estimated value."""
        return int(np.argmax(np.where(self.active, self.fit.values, -np.inf)))


class PhasedSteps(LinearSteps):
    """Phases of pulls, each followed by the elimination of dominated arms, until one is left."""

    def start(self, rules: PhasedRules) -> PhasedState:
        return PhasedState(*self.first_phase(rules))

    def first_phase(self, rules: Any) -> tuple[Fit, np.ndarray, Plan, np.ndarray]:
        """What the fields of a `PhasedState` without defaults are before the first pull."""
        every_arm, nothing = np.ones(len(rules.arms), np.bool_), np.zeros(len(rules.arms))
        plan = rules.phases.plan(1, every_arm, rules.phases.start, NO_CAP)
        return make_fit(rules.arms, 0.0), every_arm, plan, nothing

    def next_phase(self, rules: Any, state: PhasedState) -> None:
        """Plan a phase for the active arms, and forget the rewards of the last one."""
        state.spent += state.fit.counts
        state.phase += 1
        state.plan = rules.phases.plan(state.phase, state.active, state.plan.reached, NO_CAP)
        state.fit = make_fit(rules.arms, 0.0)

    def done(self, rules: PhasedRules, state: PhasedState) -> bool:
        return bool(state.active.sum() == 1)

    def choose(self, rules: PhasedRules, state: PhasedState, coins: Any) -> int:
        return int(np.argmax(state.plan.counts - state.fit.counts))

    def may_choose(self, rules: PhasedRules, state: PhasedState) -> bool:
        return bool((state.fit.counts < state.plan.counts).any())

    def observe(
        self, rules: PhasedRules, state: PhasedState, arm: int, observed: float, pulls: int = 1
    ) -> None:
        super().observe(rules, state, arm, observed, pulls)
        if self.done(rules, state) or (state.fit.counts < state.plan.counts).any():
            return
        n = int(state.pulls.sum())
        state.active = rules.phases.survivors(state.fit, state.phase, state.active, n)
        if not self.done(rules, state):
            self.next_phase(rules, state)


class AdaptiveRules(NamedTuple):
    """What Fully-Adaptive is given."""

    arms: np.ndarray  # (K, d)
    width: Width
    pairs: Directions  # of all arms
    rule: int  # TWO_STEP or ARGMIN_MAX
    ridge: float
    means: np.ndarray | None = None  # (K,) if arms are compared by the true gaps
    every: int = 1  # dominated arms are looked for after multiples of so many pulls


@dataclass
class AdaptiveState(State):
    """The data of a run and the active arms."""

    active: np.ndarray  # (K,) whether no other arm dominates an arm


class FullyAdaptive(SequentialSteps):
    """Every arm once; then XY-allocation on the arms that no other dominates, until one is left."""

    def start(self, rules: AdaptiveRules) -> AdaptiveState:
        return AdaptiveState(make_fit(rules.arms, rules.ridge), np.ones(len(rules.arms), np.bool_))

    def done(self, rules: AdaptiveRules, state: AdaptiveState) -> bool:
        return bool(state.active.sum() == 1)

    def radius(self, rules: AdaptiveRules, state: AdaptiveState) -> float:
        return radius(rules.width, state.pulls.sum())

    def choose(self, rules: AdaptiveRules, state: AdaptiveState, coins: Any) -> int:
        if (state.pulls == 0.0).any():
            return int(np.argmin(state.pulls))
        directions = among(rules.pairs, state.active)
        uncertainty = make_uncertainty(state.pulls.size, directions.first.size)
        measure(state.fit, directions, uncertainty)
        return int(choose(directions, uncertainty, state.pulls, rules.rule))

    def observe(
        self, rules: AdaptiveRules, state: AdaptiveState, arm: int, observed: float, pulls: int = 1
    ) -> None:
        super().observe(rules, state, arm, observed, pulls)
        if (state.pulls > 0.0).all() and is_tested(rules.every, state.pulls.sum()):
            fit = state.fit if rules.means is None else state.fit._replace(values=rules.means)
            far, beaten = np.empty(rules.pairs.first.size), np.empty_like(state.active)
            distances(fit, rules.pairs, state.table, far)
            radius_n = radius(rules.width, state.pulls.sum())
            dominated(fit, rules.pairs, far, radius_n, beaten)
            state.active[:] = ~beaten


class LinGapERules(NamedTuple):
    """What LinGapE is given."""

    arms: np.ndarray  # (K, d)
    delta: float  # maximum probability of a wrong answer
    norm: float  # bound on ||theta*||, in units of the noise
    ridge: float


class LinGapE(SequentialSteps):
    """Every arm once; then the arm most informative about the best arm and its challenger."""

    def start(self, rules: LinGapERules) -> State:
        return State(make_fit(rules.arms, rules.ridge))

    def done(self, rules: LinGapERules, state: State) -> bool:
        return bool((state.pulls > 0.0).all() and self._challenger(rules, state)[1] <= 0.0)

    def choose(self, rules: LinGapERules, state: State, coins: Any) -> int:
        if (state.pulls == 0.0).any():
            return int(np.argmin(state.pulls))
        other, _ = self._challenger(rules, state)
        arms = np.arange(state.pulls.size)
        return int(most_informative(state.table, arms, state.answer, other))

    def radius(self, rules: LinGapERules, state: State) -> float:
        return ellipsoid(log_growth(state.fit), rules.norm, rules.delta, rules.ridge)

    def _challenger(self, rules: LinGapERules, state: State) -> tuple[int, float]:
        """The challenger of the empirically best arm, and by how much it may be better."""
        radius_n = self.radius(rules, state)
        arms = np.arange(state.pulls.size)
        return challenger(state.table, state.fit.values, arms, state.answer, radius_n)


Rules = StaticRules | PhasedRules | AdaptiveRules | LinGapERules
