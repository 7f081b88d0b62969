"""The statistics of a cell's runs, for the LAGEX paper."""

import numpy as np

from bestarm.common.paper import Cell, Statistics
from bestarm.core.estimates import (
    LEVEL,
    Estimate,
    censored_quantile,
    correctness,
    mean,
    proportion,
    stopping_times,
    undefined,
)
from bestarm.lagex.problem import TOLERANCE

#: Violations of at most this size are rounding, in the units of `Truth`.
ROUNDING = 1e-9

#: Violations above this size are also counted separately.
FAR = 0.1

#: The paper's own statistics, by the part of their name before any colon.
MEANINGS = {
    "quantile_05": "5% quantile of the stopping time",
    "quantile_95": "95% quantile of the stopping time; none if 5% or more were capped",
    "characteristic_time": "T*, pulls per nat of information",
    "bai_characteristic_time": "T* of the same instance without its constraints",
    "learning_bound": "least mean, or median, of all delta-correct strategies that have to learn "
    "the constraints",
    "median_lower_bound": "the same for medians, beside the lower bound of means",
    "lower_bound": "T* ln(1 / (2.4 delta)): no delta-correct strategy stops sooner on average",
    "mean_regret": "mean over runs of the best feasible value minus the policy's true reward",
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
    "mean_over_bound": "mean stopping time over the lower bound on it",
    "certificate_time": "steps at which Certified's certificate closes if all estimates equal the "
    "truth: with the named allocation, or with the best fixed one and without the named part",
    "certificate_ratio": "the same over that of the best fixed allocation",
    "error_check": "share of the runs kept under data/certified-errors with a wrong answer, or one "
    "that is wrong in the named way",
    "median_ratio": "median stopping time of the first named strategy over the second's",
    "violation_ratio": "median policy violations of the first named strategy over the second's",
    "inside_time": "T*, allocations restricted to the feasible set",
    "tolerant_time": "T* for a policy within r = 0.01 of the best",
    "shadow_price": "largest slack of the best policy over its least",
    "corollary_1": "the named bound on T* of Corollary 1, part i",
    "bound_ratio": "published lower bound over the exact one, extreme of the sweep",
    "log_correlation": "correlation of the logarithms of medians and lower bounds over a sweep",
    "sides_ratio": "left over right side of what the named statement says is equal",
    "largest_jump": "largest relative change of 1/T if a mean changes by 1e-6",
    "largest_violation": "largest excess over a limit that any allocation has",
    "violation_bound": "what Appendix H.1 bounds its mean over rounds by, after one pull per arm",
    "alternative_spread": "largest difference of a mean between cheapest alternatives",
    "largest_rise": "largest ratio of lower bounds of neighbours in a sweep, from left to right",
    "perturbation_pulls": "1 / epsilon^2: pulls that see a cost of epsilon as one deviation",
    "policy_shift": "largest difference of a weight of the best policy from the unperturbed one",
    "feasible_area": "mean area of a set of policies over that of the simplex",
    "covers_feasible_set": "share of runs whose optimistic set, limits relaxed as named, holds "
    "every truly feasible policy",
    "policy_distance": "mean largest difference of a weight from the best policy's",
    "cone_angle": "angle of the normal cone of the best policy (means that leave it best)",
    "optimal_value": "value of the linear program",
}


def correct(cell: Cell, truth: dict, runs: dict[str, np.ndarray]) -> np.ndarray:
    """(n,) whether each run's policy is feasible and at most r below the best feasible one."""
    return _r_optimal(cell, truth, runs) & _feasible(truth, runs)


def _r_optimal(cell: Cell, truth: dict, runs: dict[str, np.ndarray]) -> np.ndarray:
    return runs["regret"] <= cell.setting.get("r", TOLERANCE) + ROUNDING * truth["units"][0]


def _feasible(truth: dict, runs: dict[str, np.ndarray]) -> np.ndarray:
    return runs["excess"] <= ROUNDING * truth["units"][1]


def summarise(
    cell: Cell, truth: dict, runs: dict[str, np.ndarray], level: float = LEVEL
) -> list[Estimate]:
    """The statistics of one cell.

    Args:
        cell: what was run.
        truth: of its instance, as in instances.json.
        runs: columns of the shards, see `strategies.Outcome`.
        level: of intervals.
    """
    tau, status, n = runs["tau"], runs["status"], runs["tau"].size
    good, feasible = _r_optimal(cell, truth, runs), _feasible(truth, runs)
    return [
        *stopping_times(tau, status, "steps", level),
        censored_quantile("quantile_05", "steps", tau, 0.05, status, level),
        censored_quantile("quantile_95", "steps", tau, 0.95, status, level),
        *correctness(good & feasible, level),
        proportion("prob_r_optimal", int(good.sum()), n, level),
        proportion("prob_feasible", int(feasible.sum()), n, level),
        proportion("prob_far_over", int((runs["excess"] > FAR).sum()), n, level),
        mean("mean_regret", "reward", runs["regret"], level=level),
        mean("mean_excess", "cost", runs["excess"][~feasible], level=level)
        if not feasible.all()
        else undefined("mean_excess", "cost", n),
        *(
            censored_quantile(f"{kind}:{name}", "rounds", runs[kind], p, status, level)
            for kind in ("policy_violations", "allocation_violations")
            for name, p in (("quartile_25", 0.25), ("median", 0.5), ("quartile_75", 0.75))
        ),
        mean("policy_violation_share", "share", runs["policy_violations"] / tau, level=level),
        mean(
            "allocation_violation_share", "share", runs["allocation_violations"] / tau, level=level
        ),
        mean("share_empty", "share", runs["empty"] / tau, level=level),
    ]


STATISTICS = Statistics(summarise, MEANINGS)
