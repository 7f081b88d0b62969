"""A stopping rule that holds for every choice of pulls: one mixture over all of theta.

With A = sum of x x' over the pulls, s = sum of x times centred rewards and P = (n0 d / K) sum_a x_a
x_a', exp(h . s - h . A h / 2) mixed over h ~ N(0, P^-1) is

    sqrt(det P / det(A + P)) exp(s . (A + P)^-1 s / 2),

a martingale that starts at 1 if x may depend on the past in any way (Abbasi-Yadkori, Pal &
Szepesvari 2011). P is made of the features, so no bound on theta is needed, and units of the
features do not matter. docs/guarantees.md has the proof.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bestarm.core.pure_exploration.problem import PRIOR_PULLS
from bestarm.linear.allocation import StaticSequence
from bestarm.linear.least_squares import Fit, make_fit
from bestarm.linear.phased import Phases
from bestarm.linear.steps import (
    PhasedRules,
    PhasedState,
    PhasedSteps,
    Rules,
    StaticRules,
    StaticState,
    StaticSteps,
)


class Mixture(NamedTuple):
    """The rule's constants."""

    prior: np.ndarray  # (d, d) P
    log_volume: float  # ln det P
    log_inverse: float  # ln(1 / delta)


def make_mixture(arms: np.ndarray, delta: float) -> Mixture:
    """The rule for (K, d) arms that span R^d."""
    n_arms, d = arms.shape
    prior = PRIOR_PULLS * d / n_arms * arms.T @ arms
    return Mixture(prior, float(np.linalg.slogdet(prior)[1]), math.log(1.0 / delta))


def mixing_cost(mixture: Mixture, design: np.ndarray) -> float:
    """1/2 ln(det(A + P) / det P), of `design` = A + P."""
    return 0.5 * (float(np.linalg.slogdet(design)[1]) - mixture.log_volume)


def log_e_values(mixture: Mixture, fit: Fit, best: int) -> np.ndarray:
    """(K,) ln of the mixture at the nearest theta with which an arm is as good as `best`.

    With y = x_best - x and theta^ the least-squares estimate, the least of s . (A + P)^-1 s / 2
    over s = A (theta^ - theta), y . theta <= 0, is (y . theta^)^2 / (2 y . V y) with
    V = A^-1 (A + P) A^-1, or 0 if y . theta^ <= 0.

    Args:
        mixture: of the arms.
        fit: without a ridge, to pulls that determine theta.
        best: the index of an arm, for which it is infinite.

    Example:
        >>> from bestarm.linear.least_squares import make_fit, refit
        >>> fit = make_fit(np.eye(2), 0.0)
        >>> fit.counts[:], fit.sums[:] = 100.0, (100.0, 0.0)
        >>> refit(fit)
        >>> [round(float(e), 2) for e in log_e_values(make_mixture(fit.arms, 0.05), fit, 0)]
        [inf, 17.76]
    """
    design = fit.arms.T * fit.counts @ fit.arms + mixture.prior
    leads, widths = fit.values[best] - fit.values, wide(fit, design, best)
    reached = np.full(leads.size, np.inf)
    others = np.arange(leads.size) != best
    reached[others] = 0.5 * np.maximum(leads[others], 0.0) ** 2 / widths[others]
    return reached - mixing_cost(mixture, design)


def wide(fit: Fit, design: np.ndarray, best: int) -> np.ndarray:
    """(K,) y . V y of `log_e_values`."""
    y = fit.predictors[best] - fit.predictors
    return np.einsum("ai,ij,aj->a", y, design, y)


def is_refuted(mixture: Mixture, fit: Fit, best: int) -> np.ndarray:
    """(K,) whether the e-value against an arm exceeds ln(1 / delta), and it is not `best`."""
    refuted = log_e_values(mixture, fit, best) > mixture.log_inverse
    refuted[best] = False
    return refuted


def rules_out(mixture: Mixture, fit: Fit, best: int) -> bool:
    """Whether it does against every other arm."""
    return bool((log_e_values(mixture, fit, best) > mixture.log_inverse).all())


def largest_radius(mixture: Mixture, fit: Fit, best: int) -> float:
    """Standard errors by which `best` has to lead, of the arm for which this is most."""
    design = fit.arms.T * fit.counts @ fit.arms + mixture.prior
    y = fit.arms[best] - fit.arms
    sizes = np.einsum("ai,ai->a", y, fit.predictors[best] - fit.predictors)
    others = np.arange(sizes.size) != best
    largest = float((wide(fit, design, best)[others] / sizes[others]).max())
    return math.sqrt(2.0 * largest * (mixture.log_inverse + mixing_cost(mixture, design)))


class SequenceRules(NamedTuple):
    """What G and XY are given."""

    arms: np.ndarray  # (K, d)
    sequence: StaticSequence
    mixture: Mixture


class SelfNormalisedSequence(StaticSteps):
    """A fixed sequence of arms, until the mixture rules out all but one; all results count."""

    def done(self, rules: SequenceRules, state: StaticState) -> bool:  # pyright: ignore
        known = bool(state.fit.inverse.any())
        return known and rules_out(rules.mixture, state.fit, state.answer)

    def radius(self, rules: SequenceRules, state: StaticState) -> float:  # pyright: ignore
        return largest_radius(rules.mixture, state.fit, state.answer)


class MixturePhases(NamedTuple):
    """What RAGE and XY-Adaptive are given."""

    arms: np.ndarray  # (K, d)
    phases: Phases
    mixture: Mixture


@dataclass
class MixtureState(PhasedState):
    """The same with a fit to the rewards of all phases."""

    whole: Fit = field(kw_only=True)

    @property
    def answer(self) -> int:
        """The active arm of highest estimated value."""
        return int(np.argmax(np.where(self.active, self.whole.values, -np.inf)))


class SelfNormalisedPhases(PhasedSteps):
    """Designs in phases; after every result arms are eliminated by the mixture, from all results.

    A result that was not asked for takes the place of one that its phase plans for the arm.
    """

    def start(self, rules: MixturePhases) -> MixtureState:  # pyright: ignore
        return MixtureState(*self.first_phase(rules), whole=make_fit(rules.arms, 0.0))

    def observe(  # pyright: ignore
        self, rules: MixturePhases, state: MixtureState, arm: int, observed: float, pulls: int = 1
    ) -> None:
        for fit in (state.fit, state.whole):
            fit.counts[arm] += pulls
            fit.sums[arm] += observed
            self.fit_again(fit)
        if state.whole.inverse.any():
            state.active &= ~is_refuted(rules.mixture, state.whole, state.answer)
        if state.active.sum() > 1 and not (state.fit.counts < state.plan.counts).any():
            self.next_phase(rules, state)


def self_normalised(
    rules: Rules, delta: float
) -> tuple[SelfNormalisedSequence | SelfNormalisedPhases, SequenceRules | MixturePhases]:
    """A strategy that counts all results, by the rules of G, XY, XY-Adaptive or RAGE."""
    mixture = make_mixture(rules.arms, delta)
    assert isinstance(rules, StaticRules | PhasedRules)
    if isinstance(rules, StaticRules):
        return SelfNormalisedSequence(), SequenceRules(rules.arms, rules.sequence, mixture)
    return SelfNormalisedPhases(), MixturePhases(rules.arms, rules.phases, mixture)
