"""Estimates with intervals, and the one list of statistics that tables may hold."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from bestarm.core.status import Status

#: Of intervals, where no other is asked for.
LEVEL = 0.95

#: Every statistic of a table, by the part of its name before any colon.
STATISTICS = {
    "mean_stopping_time": "mean pulls (or steps) until a run ended; restricted if some were capped",
    "median_stopping_time": "median of the same; none if half or more of the runs were capped",
    "quartile_25": "lower quartile of the stopping time",
    "quartile_75": "upper quartile of the stopping time; none if a quarter or more were capped",
    "quantile_05": "5% quantile of the stopping time",
    "quantile_95": "95% quantile of the stopping time; none if 5% or more were capped",
    "share_capped": "share of runs that reached the cap",
    "share_failed": "share of runs that ended in a numerical failure",
    "prob_correct": "share of runs that answered correctly",
    "error_rate": "share of runs that answered wrongly",
    "wrong_stops": "share of runs that stopped, before any cap, with a wrong answer",
    "tracking_error": "largest distance of pulls from what they track, over the bound of Eq. (12) "
    "of the BAICS paper: mean over runs, or the largest",
    "share_untracked": "share of runs in which it exceeds 1",
    "gap": "distance that has to be told: of the named kind",
    "time_ratio": "mean time with partial feedback over mean time on rewards alone, same streams",
    "mean_time_ratio": "mean over runs of the ratio of these times",
    "share_slower": "share of runs that take longer with partial feedback than on rewards alone",
    "share_missed": "share of runs in which some confidence interval did not hold its arm's mean",
    "pulls_finished": "mean pulls that ended",
    "pulls_cancelled": "mean pulls that were cancelled, or cut short by the cap",
    "lowest_ratio": "smallest time_ratio of a panel, with the interval of its own runs",
    "highest_ratio": "largest time_ratio of a panel, likewise",
    "parallel_speedup": "mean time of sequential runs over that of parallel ones",
    "time_per_delay": "mean stopping time over the delay",
    "pulls_ratio": "pulls started with partial feedback over those on rewards alone",
    "lowest_pulls_ratio": "smallest pulls_ratio of a panel",
    "mean_gain": "mean over a panel's points of 1 - time_ratio",
    "least_gap": "gap between the two best arms, or of the arm nearest to the cut",
    "forecast_share": "share of pulls that go on at a step",
    "forecast_bias": "mean of forecast - reward over these",
    "forecast_error": "root mean square of the same",
    "forecast_spread": "root mean square of what is taken for its standard deviation",
    "forecast_within": "share of these with an error of at most their spread",
    "forecast_correlation": "correlation of errors with those at the step before",
    "ratio_change": "time_ratio at a panel's largest x minus the one at its smallest",
    "hardness": "sum of (sigma / gap)^2: pulls, up to logarithms, that an answer takes",
    "mean_share": "mean over runs of the share of pulls spent on the named arm",
    "mean_pulls": "mean pulls of the named arm",
    "budget_ratio": "ratio of two mean stopping times",
    "exact_budget": "pulls until the rule holds at the true gaps, along a fixed sequence",
    "oracle_complexity": "H_LB, Eq. (6) of the linear paper",
    "lemma_2": "the named bound of Lemma 2 on H_LB",
    "design_value": "largest y^T Lambda^-1 y of the named optimal design",
    "closed_form": "the same by hand",
    "rounding_bound": "the named bound on a design rounded to N* pulls",
    "budget_bound": "the named bound on the pulls of a strategy",
    "over_lower_bound": "mean stopping time over the lower bound; geometric mean of instances",
    "may_be_best": "whether the confidence set meets the named arm's cone",
    "characteristic_time": "T*, pulls per nat of information; or solved as the named program",
    "bai_characteristic_time": "T* of the same instance without its constraints",
    "optimal_share": "share of pulls spent on the named arm by the allocation that attains T*",
    "learning_bound": "least mean, or median, of all delta-correct strategies that have to learn "
    "the constraints",
    "median_lower_bound": "the same for medians, beside the lower bound of means",
    "lower_bound": "T* kl(delta, 1 - delta), in the LAGEX paper T* ln(1 / (2.4 delta)): no "
    "delta-correct strategy stops sooner on average",
    "asymptotic_ratio": "mean stopping time over T* ln(1/delta), which tends to 1 if optimal",
    "marginal_ratio": "extra mean pulls per extra T* ln(1/delta), between two confidence levels",
    "exponent": "local exponent: minus the slope of ln(value) in ln(x)",
    "share_infeasible": "share of runs that answered that no mixture is feasible",
    "share_over_budget": "share of runs with more pulls than the budget",
    "mean_budget_share": "mean over runs of pulls over the budget",
    "share_first_rejects_support": "share of runs whose first rejection is of the optimal support",
    "mean_regret": "mean over answering runs of optimal value minus the mixture's true reward",
    "mean_violation": "mean over answering runs of the mixture's largest true excess over a bound",
    "prob_r_optimal": "share of runs whose policy has at least the best true value less r",
    "prob_far_over": "share of runs whose policy exceeds a true limit by more than 0.1",
    "prob_feasible": "share of runs whose policy keeps all true constraints",
    "mean_excess": "mean over runs whose policy does not, of its largest true excess over a limit",
    "policy_violations": "rounds whose policy breaks a true constraint: named quantile over runs",
    "allocation_violations": "rounds whose allocation does: named quantile over runs",
    "policy_violation_share": "mean over runs of the share of rounds whose policy does",
    "allocation_violation_share": "mean over runs of the share of rounds whose allocation does",
    "rounds_uniform": "share of recorded rounds whose allocation is uniform",
    "rounds_own_neighbour": "share of them whose policy is among its own neighbours",
    "rounds_at_start": "share of them whose allocation is where its solver started",
    "rounds_repeated": "share of recorded rounds in which the last arm was repeated",
    "whisker": "end of a whisker of a published box",
    "share_empty": "mean over runs of the share of rounds in which no policy looked feasible",
    "median_ratio": "median stopping time of the first named strategy over the second's",
    "violation_ratio": "median policy violations of the first named strategy over the second's",
    "inside_time": "T*, allocations restricted to the feasible set",
    "tolerant_time": "T* for a policy within r = 0.01 of the best",
    "shadow_price": "largest slack of the best policy over its least",
    "corollary_1": "the named bound on T* of Corollary 1, part i",
    "bound_ratio": "published lower bound over the exact one, extreme of the sweep",
    "log_correlation": "correlation of the logarithms of medians and lower bounds over a sweep",
    "largest_rise": "largest ratio of lower bounds of neighbours in a sweep, from left to right",
    "perturbation_pulls": "1 / epsilon^2: pulls that see a cost of epsilon as one deviation",
    "policy_shift": "largest difference of a weight of the best policy from the unperturbed one",
    "feasible_area": "mean area of a set of policies over that of the simplex",
    "covers_feasible_set": "share of runs whose optimistic set, limits relaxed as named, holds "
    "every truly feasible policy",
    "policy_distance": "mean largest difference of a weight from the best policy's",
    "cone_angle": "angle of the normal cone of the best policy (means that leave it best)",
    "error_difference": "difference of two strategies' error rates",
    "error_ratio": "ratio of two strategies' error rates",
    "error_exponent": "-ln(error rate) / budget",
    "marginal_exponent": "fall of ln(error rate) a pull, since the next smaller budget",
    "gaussian_tail": "P(Z > sqrt(2 c x)), Z standard normal: a tail with the named exponent c",
    "exponent_limit": "what Theorems 1 and 2 say of the limit of -ln(error rate) / budget",
    "share_of_instances": "share of instances for which the named comparison holds",
    "intersection_value": "best value of a feasible basis that contains the named column",
    "lagrangian_score": "height of the named column over the frontier; 0 on it, else negative",
    "optimal_value": "value of the linear program",
    "optimal_weight": "weight of the named column in the best mixture",
    "support_arm": "the arm of the optimal support at the named place, counted from 1",
    "support_size": "arms in the optimal support, slacks not counted",
    "mean_reward": "true mean reward of the named arm",
    "squared_gap": "Delta^2 of the named column, or of infeasibility, in units of the noise",
    "quality": "q-weighted mean reward of the named arm",
    "best_arm": "index of the true answer, 0 for none",
}


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% interval, how many runs it rests on, and a status.

    Status: "" for an ordinary estimate, `restricted` for a mean over capped runs, `undefined`
    where too many runs were capped or too few erred, `one-sided` where nothing (or everything) was
    counted and only the other end of the interval means something, `exact` for a computed number,
    `published` for a paper's.
    """

    statistic: str
    unit: str
    value: float
    low: float
    high: float
    n: int
    status: str = ""


def exact(statistic: str, unit: str, value: float) -> Estimate:
    """A number known without error."""
    return Estimate(statistic, unit, value, value, value, 0, "exact")


def undefined(statistic: str, unit: str, n: int) -> Estimate:
    """A number that n runs do not determine."""
    return Estimate(statistic, unit, math.nan, math.nan, math.nan, n, "undefined")


@dataclass(frozen=True)
class Moments:
    """What a mean and its interval need of a sample; of two samples they add up."""

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
        """Chan, Golub & LeVeque's update, which subtracts no large numbers."""
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
) -> Estimate:
    """A mean with its t interval (none for a single run), of a sample or of its moments."""
    of = sample if isinstance(sample, Moments) else Moments.of(sample)
    if of.n < 2:
        return Estimate(statistic, unit, of.mean, math.nan, math.nan, of.n, status)
    deviation = math.sqrt(of.squares / (of.n - 1))
    half = special.stdtrit(of.n - 1, (1 + level) / 2) * deviation / math.sqrt(of.n)
    return Estimate(statistic, unit, of.mean, of.mean - half, of.mean + half, of.n, status)


def proportion(statistic: str, successes: int, n: int, level: float = LEVEL) -> Estimate:
    """A share with its Wilson interval; with none or all counted, the one-sided exact bound.

    No success in n trials leaves every share with (1 - p)^n >= 1 - level, and likewise none
    failing.
    """
    share = successes / n
    if successes in (0, n):
        bound = 1.0 - (1.0 - level) ** (1.0 / n)
        low, high = (0.0, bound) if successes == 0 else (1.0 - bound, 1.0)
        return Estimate(statistic, "share", share, low, high, n, "one-sided")
    low, high = wilson(share, n, level)
    return Estimate(statistic, "share", share, low, high, n)


def wilson(share: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """The Wilson interval: the p with |share - p| <= z sqrt(p (1 - p) / n)."""
    z2 = special.ndtri((1 + level) / 2) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return centre - half, centre + half


def binomial_quantile(level: float, n: int, p: float) -> int:
    """The smallest k of which binomial(n, p) is at most k with probability `level` or more."""
    k = math.ceil(special.bdtrik(level, n, p))
    return k - 1 if k > 0 and special.bdtr(k - 1, n, p) >= level else k


def quantile(
    statistic: str, unit: str, sample: np.ndarray, p: float, level: float = LEVEL
) -> Estimate:
    """A quantile with its order-statistic interval, which covers for any distribution.

    The number of runs below the quantile is binomial(n, p); the interval ends are the order
    statistics at the quantiles (1 -+ level) / 2 of that, or the extremes where those run out.
    """
    ordered = np.sort(np.asarray(sample, dtype=float))
    n = ordered.size
    few, many = (binomial_quantile((1 + side * level) / 2, n, p) for side in (-1, 1))
    low, high = ordered[max(few - 1, 0)], ordered[min(many, n - 1)]
    return Estimate(statistic, unit, float(np.quantile(ordered, p)), float(low), float(high), n)


def censored_quantile(
    statistic: str,
    unit: str,
    sample: np.ndarray,
    p: float,
    status: np.ndarray,
    level: float = LEVEL,
) -> Estimate:
    """A quantile of what grows until a run ends, over runs of some status.

    It is `undefined` if it may lie among the runs that did not stop by their rule. A failed one,
    which ends early, counts as the largest.
    """
    if (status != Status.STOPPED).sum() >= (1 - p) * sample.size:
        return undefined(statistic, unit, sample.size)
    grown = np.where(status == Status.FAILED, sample.max(), sample)
    return quantile(statistic, unit, grown, p, level)


def stopping_times(
    tau: np.ndarray, status: np.ndarray, unit: str = "pulls", level: float = LEVEL
) -> list[Estimate]:
    """Mean, median, quartiles and the share capped, of stopping times in pulls or another unit.

    A run that did not stop by its rule, capped or failed, is censored: its tau is a lower bound.
    The mean of min(tau, cap) is then `restricted`, and a quantile is `undefined` once it lies among
    such runs. The share failed is left out where it is zero.
    """
    n = tau.size
    capped, failed = (int((status == s).sum()) for s in (Status.CAPPED, Status.FAILED))
    restricted = "restricted" if capped + failed else ""
    rows = [mean("mean_stopping_time", unit, tau, restricted, level)]
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
    """mean(above) / mean(below) of paired samples, with its t interval by the delta method.

    The error of the ratio R is that of the mean of (above - R below) / mean(below).
    """
    value = float(above.mean() / below.mean())
    spread = mean(statistic, "", (above - value * below) / below.mean(), level=level)
    return Estimate(
        statistic, "", value, value + spread.low, value + spread.high, above.size, status
    )


def ratio_of_independent_means(statistic: str, above, below) -> Estimate:
    """The ratio of two means with a normal interval in the logarithm, as for independent runs.

    Args:
        statistic: its name.
        above, below: rows of a table, or estimates.
    """
    error = math.hypot(*((row.high - row.value) / row.value for row in (above, below)))
    value = above.value / below.value
    factor = math.exp(error) if math.isfinite(error) else math.nan
    status = "restricted" if "restricted" in (above.status, below.status) else ""
    n = min(above.n, below.n)
    return Estimate(statistic, "", value, value / factor, value * factor, n, status)


def correctness(correct: np.ndarray, level: float = LEVEL) -> list[Estimate]:
    """Shares of right and wrong answers; a capped run counts with the answer it had."""
    n = correct.size
    right = int(correct.sum())
    return [
        proportion("prob_correct", right, n, level),
        proportion("error_rate", n - right, n, level),
    ]
