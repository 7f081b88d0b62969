"""Intervals of linear combinations of means, at all times at once, such as of differences.

Each stream of rewards has a mean and a number of pulls, which may depend on the past. The proof is
in docs/guarantees.md.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from bestarm.core.anytime import beta_log, mixture_threshold, radius, shrunk_counts

#: The prior of a mean of rewards from 0 to 1 is Beta with both of its parameters this.
BETA_PRIOR = 0.5
#: Multipliers are found to this relative accuracy, and then made larger by ten times as much.
ACCURACY = 1e-10
#: Doublings of a multiplier after which all means are at an end of [0, 1].
DOUBLINGS = 200


class Interval(NamedTuple):
    """An estimate between two ends.

    Example:
        >>> Interval(0.2, 0.3, 0.5).apart
        True
    """

    low: float
    estimate: float
    high: float

    @property
    def apart(self) -> bool:
        """Whether it leaves out 0."""
        return self.low > 0.0 or self.high < 0.0


#: Of what is not estimated.
NOTHING = Interval(math.nan, math.nan, math.nan)


def between(interval: Interval, other: Interval) -> Interval:
    """The difference of two numbers whose intervals hold both.

    Example:
        >>> between(Interval(3.0, 4.0, 5.0), Interval(1.0, 1.5, 2.0))
        Interval(low=1.0, estimate=2.5, high=4.0)
    """
    low, high = interval.low - other.high, interval.high - other.low
    return Interval(low, interval.estimate - other.estimate, high)


def weighted(weights: np.ndarray, intervals: list[Interval]) -> Interval:
    """The sum of numbers whose intervals hold all of them, with weights that are not negative.

    Example:
        >>> weighted(np.array([0.5, 0.0]), [Interval(1.0, 2.0, 4.0), NOTHING])
        Interval(low=0.5, estimate=1.0, high=2.0)
    """
    terms = [
        (w, interval) for w, interval in zip(weights.tolist(), intervals, strict=True) if w > 0.0
    ]
    return Interval(*(sum(w * interval[end] for w, interval in terms) for end in range(3)))


def gaussian_combination(
    c: np.ndarray, pulls: np.ndarray, totals: np.ndarray, sigma: np.ndarray, log_inverse: float,
    n0: float,
) -> Interval:  # fmt: skip
    """The values of c . mu for means mu with sum_i N'_i (mean_i - mu_i)^2 / (2 sigma_i^2) <= beta.

    Over the streams i with c_i other than 0, which are named beforehand; N' and beta are those of
    `mixture_threshold` for them.

    Args:
        c: (n,) coefficients.
        pulls, totals: (n,) N and the sums of the rewards.
        sigma: (n,) sub-Gaussian scales of the rewards.
        log_inverse: ln(1 / (the interval's share of delta)).
        n0: pulls that the prior is worth.

    Example:
        >>> pulls, totals = np.array([50.0, 50.0]), np.array([60.0, 10.0])
        >>> one = np.ones(2)
        >>> found = gaussian_combination(one * [1, -1], pulls, totals, one, math.log(20), 30.0)
        >>> round(found.low, 3), found.estimate, round(found.high, 3)
        (0.287, 1.0, 1.713)
    """
    used = c != 0.0
    c, pulls, totals, sigma = c[used], pulls[used], totals[used], sigma[used]
    if not pulls.all():
        return Interval(-math.inf, math.nan, math.inf)
    estimate = float(c @ (totals / pulls))
    beta = mixture_threshold(log_inverse, pulls, n0)
    half = float(radius(c * sigma, shrunk_counts(pulls, n0), beta))
    return Interval(estimate - half, estimate, estimate + half)


def bernoulli_combination(
    c: np.ndarray, pulls: np.ndarray, totals: np.ndarray, log_inverse: float
) -> Interval:
    """The values of c . m for means m in [0, 1] with sum_i b_i(m_i) <= log_inverse.

    Over the streams i with c_i other than 0, which are named beforehand; b_i is `beta_log` of the
    stream's rewards from 0 to 1. It is convex, so with the multiplier t >= 0 of the constraint the
    largest value is at the means with b_i'(m_i) = t c_i, which solve a quadratic equation.

    Args:
        c: (n,) coefficients.
        pulls, totals: (n,) N and the sums of the rewards.
        log_inverse: ln(1 / (the interval's share of delta)).

    Example:
        >>> pulls, totals = np.array([500.0, 500.0]), np.array([60.0, 20.0])
        >>> found = bernoulli_combination(np.array([1.0, -1.0]), pulls, totals, math.log(20))
        >>> round(found.low, 3), round(found.estimate, 3), round(found.high, 3)
        (0.006, 0.08, 0.16)
    """
    used = c != 0.0
    c, pulls, totals = c[used], pulls[used], totals[used]
    if not pulls.all():
        return Interval(-math.inf, math.nan, math.inf)
    estimate = float(c @ (totals / pulls))
    low, high = (sign * _largest(sign * c, pulls, totals, log_inverse) for sign in (-1.0, 1.0))
    return Interval(min(low, estimate), estimate, max(high, estimate))


def _largest(c: np.ndarray, pulls: np.ndarray, totals: np.ndarray, level: float) -> float:
    """The largest c . m with sum_i b_i(m_i) <= level, to rounding not less."""
    streams = [*zip(c.tolist(), pulls.tolist(), totals.tolist(), strict=True)]

    def over(t: float) -> float:
        costs = [_beta_log(total, n - total, _mean(n, total, t * ci)) for ci, n, total in streams]
        return sum(costs) - level

    t = _bracket(over, 1.0 / float(np.abs(c).max()))
    if 0.0 < over(t) < math.inf:
        t = float(brentq(over, 0.0, t, rtol=ACCURACY))  # pyright: ignore[reportArgumentType]
    return sum(ci * _mean(n, total, t * (1.0 + 10.0 * ACCURACY) * ci) for ci, n, total in streams)


def _bracket(over: Callable[[float], float], t: float) -> float:
    """A multiplier that is too large, or so large that it makes no difference."""
    for _ in range(DOUBLINGS):
        if over(t) > 0.0:
            break
        t *= 2.0
    return t


def _mean(n: float, total: float, slope: float) -> float:
    """The m in [0, 1] with -s/m + f/(1 - m) = slope: slope m^2 + (n - slope) m - s = 0."""
    if slope == 0.0:
        return min(1.0, total / n)
    root = math.sqrt((n - slope) ** 2 + 4.0 * slope * total)
    if slope < n:  # the form that does not cancel
        return min(1.0, 2.0 * total / (n - slope + root))
    return min(1.0, max(0.0, (slope - n + root) / (2.0 * slope)))


def _beta_log(successes: float, failures: float, mean: float) -> float:
    """`beta_log` with its limits at means of 0 and 1."""
    failures = max(failures, 0.0)  # but for rounding
    if 0.0 < mean < 1.0:
        return float(beta_log(successes, failures, mean, BETA_PRIOR, BETA_PRIOR))
    if (failures if mean >= 1.0 else successes) > 0.0:
        return math.inf
    whole = float(beta_log(successes, failures, 0.5, BETA_PRIOR, BETA_PRIOR))
    return whole - (successes + failures) * math.log(2.0)
