"""Strategies in phases, each with a fixed number of pulls of every arm: XY-Adaptive and RAGE.

Within a phase rewards are used only at its end, so the sum of an arm's rewards is one draw. The
plan of a phase depends only on the active arms and on the uncertainty that the last phase reached,
so plans are computed once and shared by all runs.
"""

import math
import threading
from typing import NamedTuple, Protocol

import numpy as np

from bestarm.core.compile import lean
from bestarm.linear.adaptive import distances, dominated
from bestarm.linear.allocation import (
    BLOCK,
    TIE,
    Directions,
    Uncertainty,
    all_pairs,
    among,
    choose,
    make_uncertainty,
    measure,
    products,
    shrink,
    spanning_arms,
    worst,
)
from bestarm.linear.confidence import Width, radius
from bestarm.linear.designs import optimal_design, round_design
from bestarm.linear.least_squares import REFACTOR, Fit, make_fit, refit
from bestarm.linear.static import draw_sums

EQ_18, FIGURE_3 = 0, 1
#: Phases that were cut short and may be asked to go on, each of a few megabytes, kept at a time.
MOST_OPEN = 8


class Plan(NamedTuple):
    """The pulls of one phase."""

    counts: np.ndarray  # (K,) pulls
    reached: float  # XY-Adaptive: the uncertainty of a complete phase, as its test scales it
    complete: bool  # False if the allowed pulls were too few


class Phases(Protocol):
    """The phases of a strategy."""

    start: float  # value of `reached` before the first phase

    def plan(self, phase: int, active: np.ndarray, reached: float, most: int) -> Plan:
        """The plan of a phase, of at most `most` pulls.

        Args:
            phase: its number, from 1.
            active: (K,) whether an arm is active.
            reached: of the last phase's plan.
            most: pulls allowed.
        """
        ...

    def survivors(self, fit: Fit, phase: int, active: np.ndarray, n: int) -> np.ndarray:
        """(K,) the arms that are active after a phase.

        Args:
            fit: to the rewards of this phase.
            phase: its number, from 1.
            active: (K,) whether an arm was active in it.
            n: pulls of all phases so far.
        """
        ...


@lean
def fill_phase(
    fit: Fit,
    directions: Directions,
    uncertainty: Uncertainty,
    rule: int,
    phase_test: int,
    target: float,
    every: int,
    sequence: np.ndarray,
) -> tuple[int, float, bool]:
    """Pull greedily until the uncertainty of a phase, Eq. (18), is at most `target`, up to TIE.

    Args:
        fit: with the pulls of the phase so far, which span R^d.
        directions: between the active arms.
        uncertainty: a buffer.
        rule: TWO_STEP or ARGMIN_MAX.
        phase_test: EQ_18 compares max y^T A^-1 y, which is rho(lambda)/n; FIGURE_3 divides that by
            n once more, as Figure 3 prints it.
        target: alpha times what the last phase reached.
        every: m, the pulls of a phase are a multiple of it.
        sequence: to be filled with the arms pulled.

    Returns:
        How many were pulled, at most `sequence.size`; the uncertainty, divided as `phase_test`
        says; and whether it is at most `target` after a multiple of `every` pulls.
    """
    counts, before, t = fit.counts, fit.counts.sum(), 0
    while True:
        if t % REFACTOR == 0:
            refit(fit)
            measure(fit, directions, uncertainty)
        _, value = worst(uncertainty.sizes, directions.weight)
        if phase_test == FIGURE_3:
            value /= before + t
        enough = value <= target * (1.0 + TIE) and int(before + t) % every == 0
        if enough or t == sequence.size:
            return t, value, enough
        arm = choose(directions, uncertainty, counts, rule)
        counts[arm] += 1.0
        shrink(directions, uncertainty, arm)
        sequence[t] = arm
        t += 1


class PartialPhase:
    """A phase of XY-Adaptive, computed as far as it was asked for.

    Args:
        fit: with the initial pulls of the phase.
        directions, rule, phase_test, target, every: as for `fill_phase`.
    """

    def __init__(
        self,
        fit: Fit,
        directions: Directions,
        rule: int,
        phase_test: int,
        target: float,
        every: int = 1,
    ) -> None:
        uncertainty = make_uncertainty(fit.counts.size, directions.first.size)
        self._fit, self._test = fit, (directions, uncertainty, rule, phase_test, target, every)
        self._first = fit.counts.copy()
        self._blocks: list[np.ndarray] = []  # what was pulled after the initial pulls
        self.reached, self.complete = math.inf, False

    @property
    def pulls(self) -> int:
        """Pulls that are known, the initial ones included."""
        return int(self._fit.counts.sum())

    def extend(self, most: int) -> None:
        """Go on until the phase is complete or `most` pulls are known."""
        while not self.complete and self.pulls < most:
            block = np.empty(BLOCK, np.min_scalar_type(self._first.size - 1))
            _, self.reached, self.complete = fill_phase(self._fit, *self._test, block)
            self._blocks.append(block)

    def counts(self, n: int) -> np.ndarray:
        """(K,) how often each arm is among the first n pulls."""
        counts, left = self._first.copy(), n - int(self._first.sum())
        for block in self._blocks:
            counts += np.bincount(block[:left], minlength=counts.size)
            left -= min(left, block.size)
        return counts


class PhasePlans:
    """The plans of XY-Adaptive's phases.

    They depend neither on rewards nor on the width of the intervals, so that all readings that
    differ in the width share them.

    Args:
        arms: (K, d), spanning R^d.
        alpha: factor by which every phase reduces the uncertainty.
        rule: TWO_STEP or ARGMIN_MAX.
        phase_test: EQ_18 or FIGURE_3.
        every: the end of a phase is tested after multiples of so many of its pulls.
    """

    def __init__(
        self, arms: np.ndarray, alpha: float, rule: int, phase_test: int, every: int = 1
    ) -> None:
        self._arms, self._alpha, self._every = arms, alpha, every
        self._rule, self._phase_test = rule, phase_test
        self._pairs, self._first = all_pairs(len(arms)), spanning_arms(arms)
        self._complete: dict[tuple[bytes, float], Plan] = {}
        self._open: dict[tuple[bytes, float], PartialPhase] = {}
        self._lock = threading.Lock()

    def plan(self, active: np.ndarray, reached: float, most: int) -> Plan:
        """The plan of a phase, of at most `most` pulls, by its active arms and the last phase."""
        key = active.tobytes(), reached
        with self._lock:
            complete = self._complete.get(key)
            if complete is not None and complete.counts.sum() <= most:
                return complete
            if most < self._first.size:
                counts = np.zeros(len(self._arms))
                counts[self._first[:most]] = 1.0
                return Plan(counts, reached, False)
            filling = self._open.pop(key, None) or self._begin(active, reached)
            filling.extend(most)
            if filling.complete and filling.pulls <= most:
                plan = Plan(filling.counts(filling.pulls), filling.reached, True)
                self._complete[key] = plan
                return plan
            self._open[key] = filling  # the last one used comes last
            while len(self._open) > MOST_OPEN:
                del self._open[next(iter(self._open))]
            return Plan(filling.counts(most), filling.reached, False)

    def _begin(self, active: np.ndarray, reached: float) -> PartialPhase:
        fit = make_fit(self._arms, 0.0)
        fit.counts[self._first] = 1.0
        directions = among(self._pairs, active)
        target = self._alpha * reached
        return PartialPhase(fit, directions, self._rule, self._phase_test, target, self._every)


def eliminate(fit: Fit, pairs: Directions, radius_n: float, active: np.ndarray) -> np.ndarray:
    """`active` without the arms that an active arm dominates (Lemma 4) if C(n) = `radius_n`."""
    beaten = np.zeros(active.size, np.bool_)
    between = among(pairs, active)
    far = np.empty(between.first.size)
    table = np.empty((active.size, active.size))
    products(fit, table)
    distances(fit, between, table, far)
    dominated(fit, between, far, radius_n, beaten)
    return active & ~beaten


class XYAdaptivePhases:
    """The phases of XY-Adaptive, Figure 3.

    Args:
        arms: (K, d), spanning R^d.
        width: of the confidence intervals; its n counts the pulls of all phases.
        plans: of its phases.
        rebuild: whether all arms are candidates again after every phase, else only the active ones.
        means: (K,) true means of the arms, in units of the noise, if they stand in place of the
            estimates in Lemma 4.
    """

    def __init__(
        self,
        arms: np.ndarray,
        width: Width,
        plans: PhasePlans,
        rebuild: bool,
        means: np.ndarray | None = None,
    ) -> None:
        self._width, self._plans, self._rebuild, self._means = width, plans, rebuild, means
        self._pairs = all_pairs(len(arms))
        d = arms.shape[1]
        self.start = 1.0 / (d * (d + 1) + 1)  # rho_0 / n_0

    def plan(self, phase: int, active: np.ndarray, reached: float, most: int) -> Plan:
        return self._plans.plan(active, reached, most)

    def survivors(self, fit: Fit, phase: int, active: np.ndarray, n: int) -> np.ndarray:
        pool = np.ones_like(active) if self._rebuild else active
        seen = fit if self._means is None else fit._replace(values=self._means)
        return eliminate(seen, self._pairs, radius(self._width, n), pool)


class RagePhases:
    """The phases of RAGE (Fiez, Jain, Jamieson & Ratliff, NeurIPS 2019).

    Phase t pulls, in the proportions of the optimal design for differences of active arms,

        max(8 (2^(t-1))^2 rho (1 + eps) log(2 K^2 t^2 / delta), 2 p / eps)

    times, rho being the design's value and p its support, eps = 1/10; constants as in its authors'
    program. Each of d linearly independent arms gets at least one pull, so that theta is
    determined.
    """

    start = 0.0
    EPSILON = 0.1

    def __init__(self, arms: np.ndarray, delta: float) -> None:
        self._arms, self._delta = arms, delta
        self._pairs, self._first = all_pairs(len(arms)), spanning_arms(arms)
        self._designs: dict[bytes, tuple[np.ndarray, float]] = {}

    def _log_term(self, phase: int) -> float:
        return math.log(2.0 * len(self._arms) ** 2 * phase**2 / self._delta)

    def plan(self, phase: int, active: np.ndarray, reached: float, most: int) -> Plan:
        key = active.tobytes()
        if key not in self._designs:
            pairs = among(self._pairs, active)
            directions = self._arms[pairs.first] - self._arms[pairs.second]
            self._designs[key] = optimal_design(self._arms, directions)[:2]
        weights, rho = self._designs[key]
        target = 8.0 * 4.0 ** (phase - 1) * rho * (1.0 + self.EPSILON) * self._log_term(phase)
        least = 2.0 * np.count_nonzero(weights) / self.EPSILON
        counts = round_design(weights, math.ceil(max(target, least)))
        counts[self._first] = np.maximum(counts[self._first], 1)
        if counts.sum() <= most:
            return Plan(counts.astype(float), 0.0, True)
        counts = np.diff(np.minimum(counts.cumsum(), most), prepend=0)
        return Plan(counts.astype(float), 0.0, False)

    def survivors(self, fit: Fit, phase: int, active: np.ndarray, n: int) -> np.ndarray:
        return eliminate(fit, self._pairs, math.sqrt(2.0 * self._log_term(phase)), active)


def run_phased(
    phases: Phases, arms: np.ndarray, means: np.ndarray, cap: int, environment: np.random.Generator
) -> tuple[Fit, np.ndarray, np.ndarray, bool]:
    """Phases until one arm is left or the cap is reached.

    Args:
        phases: of the strategy.
        arms: (K, d).
        means: (K,) true means of the arms, in units of the noise.
        cap: most pulls.
        environment: numpy Generator of the rewards.

    Returns:
        The fit to the last complete phase, (K,) the active arms, (K,) pulls of all phases, and
        whether one arm is left.
    """
    active = np.ones(means.size, np.bool_)
    fit = make_fit(arms, 0.0)
    pulls = np.zeros(means.size)
    reached, phase = phases.start, 0
    while active.sum() > 1:
        phase += 1
        plan = phases.plan(phase, active, reached, cap - int(pulls.sum()))
        pulls += plan.counts
        if not plan.complete:
            return fit, active, pulls, False
        fit.counts[:] = plan.counts
        draw_sums(fit, means, environment.standard_normal(means.size))
        active = phases.survivors(fit, phase, active, int(pulls.sum()))
        reached = plan.reached
    return fit, active, pulls, True
