"""Estimates with intervals."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from bestarm.core.status import Status

#: Default confidence level of intervals.
LEVEL = 0.95

#: Meanings of the statistics of this module, keyed by the part of their name before any colon.
MEANINGS = {
    "mean_stopping_time": "mean pulls (or steps) until a run ended; restricted if some were capped",
    "median_stopping_time": "median of the same; none if half or more of the runs were capped",
    "quartile_25": "lower quartile of the stopping time",
    "quartile_75": "upper quartile of the stopping time; none if a quarter or more were capped",
    "share_capped": "share of runs that reached the cap",
    "share_failed": "share of runs that ended in a numerical failure",
    "prob_correct": "share of runs that answered correctly",
    "error_rate": "share of runs that answered wrongly",
}


@dataclass(frozen=True)
class Estimate:
    """A number with its confidence interval, the number of runs behind it, and a status.

    Status: "" for an ordinary estimate; `restricted` for a mean over runs some of which were
    capped; `undefined` if too many runs were capped or too few erred; `one-sided` for a share of 0
    or 1, whose interval is a one-sided bound; `exact` for a computed number; `published` for a
    paper's.

    Example:
        >>> Estimate("mean_stopping_time", "pulls", 10.0, 9.0, 11.0, 50).status
        ''
    """

    statistic: str
    unit: str
    value: float
    low: float
    high: float
    n: int
    status: str = ""


def exact(statistic: str, unit: str, value: float) -> Estimate:
    """A number known without error.

    Example:
        >>> exact("characteristic_time", "pulls", 32.0).low
        32.0
    """
    return Estimate(statistic, unit, value, value, value, 0, "exact")


def undefined(statistic: str, unit: str, n: int) -> Estimate:
    """A statistic that cannot be computed from these n runs.

    Example:
        >>> undefined("median_stopping_time", "pulls", 50).value
        nan
    """
    return Estimate(statistic, unit, math.nan, math.nan, math.nan, n, "undefined")


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squared deviations of a sample; `+` merges two samples.

    Example:
        >>> both = Moments.of(np.array([1.0, 2.0])) + Moments.of(np.array([6.0]))
        >>> both == Moments.of(np.array([1.0, 2.0, 6.0]))
        True
    """

    n: int
    mean: float  # nan if n = 0
    squares: float  # sum of squared deviations from the mean

    @classmethod
    def of(cls, sample: np.ndarray) -> "Moments":
        if len(sample) == 0:
            return cls(0, math.nan, 0.0)
        sample = np.asarray(sample, dtype=float)
        centre = float(sample.mean())
        return cls(sample.size, centre, float(((sample - centre) ** 2).sum()))

    def __add__(self, other: "Moments") -> "Moments":
        """Chan, Golub & LeVeque's update, which avoids cancellation."""
        if 0 in (self.n, other.n):
            return self if other.n == 0 else other
        n, apart = self.n + other.n, other.mean - self.mean
        between = apart**2 * self.n * other.n / n
        return Moments(n, self.mean + apart * other.n / n, self.squares + other.squares + between)


def mean(
    statistic: str,
    unit: str,
    sample: np.ndarray | Moments,
    status: str = "",
    level: float = LEVEL,
    least: float = -math.inf,
) -> Estimate:
    """A mean with its t interval (none for a single run), of a sample or of its moments.

    Args:
        statistic, unit: of the estimate.
        sample: (n,) one value per run, or its moments.
        status: of the estimate.
        level: of the interval.
        least: the smallest possible value, such as 0 for a time; the interval ends there.

    Example:
        >>> found = mean("mean_stopping_time", "pulls", np.array([8.0, 10.0, 12.0]))
        >>> round(found.low, 2), found.value, round(found.high, 2)
        (5.03, 10.0, 14.97)
    """
    of = sample if isinstance(sample, Moments) else Moments.of(sample)
    if of.n < 2:
        return Estimate(statistic, unit, of.mean, math.nan, math.nan, of.n, status)
    deviation = math.sqrt(of.squares / (of.n - 1))
    half = float(special.stdtrit(of.n - 1, (1 + level) / 2)) * deviation / math.sqrt(of.n)
    low = max(of.mean - half, least)
    return Estimate(statistic, unit, of.mean, low, of.mean + half, of.n, status)


def proportion(statistic: str, successes: int, n: int, level: float = LEVEL) -> Estimate:
    """A share with its Wilson interval; for a share of 0 or 1 the one-sided exact bound.

    No success in n trials is compatible with every p with (1 - p)^n >= 1 - level, and likewise no
    failure.

    Example:
        >>> found = proportion("prob_correct", 95, 100)
        >>> f"{found.low:.3f} {found.value} {found.high:.3f}"
        '0.888 0.95 0.978'
        >>> proportion("error_rate", 0, 100).status
        'one-sided'
    """
    share = successes / n
    if successes in (0, n):
        bound = 1.0 - (1.0 - level) ** (1.0 / n)
        low, high = (0.0, bound) if successes == 0 else (1.0 - bound, 1.0)
        return Estimate(statistic, "share", share, low, high, n, "one-sided")
    low, high = wilson(share, n, level)
    return Estimate(statistic, "share", share, low, high, n)


def wilson(share: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """The Wilson interval: the p with abs(share - p) <= z sqrt(p (1 - p) / n).

    Example:
        >>> [round(float(end), 3) for end in wilson(0.5, 100)]
        [0.404, 0.596]
    """
    z2 = special.ndtri((1 + level) / 2) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return centre - half, centre + half


def binomial_quantile(level: float, n: int, p: float) -> int:
    """The smallest k with P(binomial(n, p) <= k) >= level.

    Example:
        >>> binomial_quantile(0.5, 10, 0.5)
        5
    """
    k = math.ceil(special.bdtrik(level, n, p))
    return k - 1 if k > 0 and special.bdtr(k - 1, n, p) >= level else k


def least_runs(p: float, level: float = LEVEL) -> int:
    """The smallest number of runs that give an order-statistic interval of a quantile.

    With fewer, all runs lie on one side of the quantile with a probability above (1 - level) / 2.

    Example:
        >>> least_runs(0.5), least_runs(0.25)
        (6, 13)
    """
    return math.ceil(math.log((1 - level) / 2) / math.log(max(p, 1 - p)))


def quantile(
    statistic: str, unit: str, sample: np.ndarray, p: float, level: float = LEVEL
) -> Estimate:
    """A quantile with its order-statistic interval, which is valid for any distribution.

    The number of runs below the quantile is binomial(n, p); the interval ends are the order
    statistics at the quantiles (1 -+ level) / 2 of that. There is no interval with fewer runs than
    `least_runs`. Censored runs are infinite: so is an end among them, and the quantile is
    `undefined` if it rests on one.

    Example:
        >>> found = quantile("median_stopping_time", "pulls", np.arange(100.0), 0.5)
        >>> found.low, found.value, found.high
        (39.0, 49.5, 60.0)
    """
    ordered = np.sort(np.asarray(sample, dtype=float))
    n = ordered.size
    last = ordered[math.ceil(p * (n - 1))]  # the largest run that the value rests on
    if math.isinf(last):
        return undefined(statistic, unit, n)
    value = float(np.quantile(np.minimum(ordered, last), p))
    if n < least_runs(p, level):
        return Estimate(statistic, unit, value, math.nan, math.nan, n)
    few, many = (binomial_quantile((1 + side * level) / 2, n, p) for side in (-1, 1))
    return Estimate(statistic, unit, value, float(ordered[few - 1]), float(ordered[many]), n)


def censored_quantile(
    statistic: str,
    unit: str,
    sample: np.ndarray,
    p: float,
    status: np.ndarray,
    level: float = LEVEL,
) -> Estimate:
    """A quantile of a quantity that grows until a run ends, such as its stopping time.

    Capped and failed runs are censored: their values are lower bounds. The quantile is `undefined`
    if it may lie among them, and the upper end of its interval is infinite if that may. A failed
    run, which ends early, counts as the largest value.

    Args:
        statistic, unit: of the estimate.
        sample: (n,) one value per run.
        p: order of the quantile.
        status: (n,) a `Status` per run.
        level: of the interval.

    Example:
        >>> tau, status = np.array([5.0, 9.0, 9.0]), np.array([0, 1, 1])  # two reached the cap
        >>> censored_quantile("median_stopping_time", "pulls", tau, 0.5, status).status
        'undefined'
    """
    grown = np.where(status == Status.FAILED, sample.max(), sample)
    largest = np.where(status == Status.STOPPED, sample, np.inf)
    most = quantile(statistic, unit, largest, p, level)
    if most.status == "undefined":
        return most
    return replace(quantile(statistic, unit, grown, p, level), high=most.high)


def stopping_times(
    tau: np.ndarray, status: np.ndarray, unit: str = "pulls", level: float = LEVEL
) -> list[Estimate]:
    """Mean, median and quartiles of stopping times, and the shares of runs capped and failed.

    A run that did not stop by its rule, capped or failed, is censored: its tau is a lower bound.
    The mean of min(tau, cap) is then `restricted`, and a quantile is `undefined` if it lies among
    such runs. No interval is negative. The share of failed runs is omitted if it is zero.

    Example:
        >>> tau, status = np.array([5.0, 6.0, 7.0, 9.0]), np.array([0, 0, 0, 1])
        >>> [(one.statistic, one.value) for one in stopping_times(tau, status)[:2]]
        [('mean_stopping_time', 6.75), ('median_stopping_time', 6.5)]
    """
    n = tau.size
    capped, failed = (int((status == s).sum()) for s in (Status.CAPPED, Status.FAILED))
    restricted = "restricted" if capped + failed else ""
    rows = [mean("mean_stopping_time", unit, tau, restricted, level, least=0.0)]
    for name, p in (
        ("median_stopping_time", 0.5),
        ("quartile_25", 0.25),
        ("quartile_75", 0.75),
    ):
        rows.append(censored_quantile(name, unit, tau, p, status, level))
    rows.append(proportion("share_capped", capped, n, level))
    return [*rows, proportion("share_failed", failed, n, level)] if failed else rows


def ratio_of_means(
    statistic: str,
    above: np.ndarray,
    below: np.ndarray,
    status: str = "",
    level: float = LEVEL,
) -> Estimate:
    """mean(above) / mean(below) of paired positive samples, with its t interval (delta method).

    The error of the ratio R is that of the mean of (above - R below) / mean(below). The interval
    is not negative.

    Example:
        >>> ratio_of_means("ratio", np.array([2.0, 4.0]), np.array([1.0, 2.0])).value
        2.0
    """
    value = float(above.mean() / below.mean())
    spread = mean(statistic, "", (above - value * below) / below.mean(), level=level)
    low = max(value + spread.low, 0.0)
    return Estimate(statistic, "", value, low, value + spread.high, above.size, status)


def ratio_of_independent_means(statistic: str, above: Any, below: Any) -> Estimate:
    """The ratio of two independent means, with an interval that is normal in the logarithm.

    Args:
        statistic: its name.
        above, below: numerator and denominator, rows of a table or estimates.

    Example:
        >>> above, below = exact("a", "pulls", 6.0), exact("b", "pulls", 3.0)
        >>> ratio_of_independent_means("ratio", above, below).value
        2.0
    """
    error = math.hypot(*((row.high - row.value) / row.value for row in (above, below)))
    value = above.value / below.value
    factor = math.exp(error) if math.isfinite(error) else math.nan
    status = "restricted" if "restricted" in (above.status, below.status) else ""
    n = min(above.n, below.n)
    return Estimate(statistic, "", value, value / factor, value * factor, n, status)


def difference_of_independent_means(statistic: str, unit: str, first: Any, second: Any) -> Estimate:
    """The first of two independent means less the second, with a normal interval.

    Args:
        statistic: its name.
        unit: of both.
        first, second: rows of a table or estimates.

    Example:
        >>> first, second = exact("a", "pulls", 6.0), exact("b", "pulls", 2.0)
        >>> difference_of_independent_means("difference", "pulls", first, second).value
        4.0
    """
    value = first.value - second.value
    half = math.hypot(*(row.high - row.value for row in (first, second)))
    status = "restricted" if "restricted" in (first.status, second.status) else ""
    n = min(first.n, second.n)
    return Estimate(statistic, unit, value, value - half, value + half, n, status)


def correctness(correct: np.ndarray, level: float = LEVEL) -> list[Estimate]:
    """Shares of right and wrong answers; a capped run counts with its answer at the cap.

    Example:
        >>> [one.value for one in correctness(np.array([True, True, True, False]))]
        [0.75, 0.25]
    """
    n = correct.size
    right = int(correct.sum())
    return [
        proportion("prob_correct", right, n, level),
        proportion("error_rate", n - right, n, level),
    ]
