"""The statistics of a cell's runs, for CBMAI."""

import math
from typing import Any

import numpy as np

from bestarm.common.paper import Cell, Statistics, Tally
from bestarm.core.estimates import LEVEL, Estimate, Moments, mean, proportion, undefined

#: The paper's own statistics, by the part of their name before any colon.
MEANINGS = {
    "share_infeasible": "share of runs that answered that no mixture is feasible",
    "share_breaks_limits": "share of runs whose mixture breaks a limit by its own estimates",
    "share_over_budget": "share of runs with more pulls than the budget",
    "mean_budget_share": "mean over runs of pulls over the budget",
    "share_first_rejects_support": "share of runs whose first rejection is of the optimal support",
    "mean_regret": "mean over answering runs of optimal value minus the mixture's true reward",
    "mean_violation": "mean over answering runs of the mixture's largest true excess over a bound",
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
}


def correct(cell: Cell, truth: dict, runs: dict[str, np.ndarray]) -> np.ndarray:
    """(n,) whether each run answered with the optimal support, or rightly with none."""
    return (runs["answer"] == truth["answer"]).all(axis=1)


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
    return estimates(tally(cell, truth, runs), level)


def tally(cell: Cell, truth: dict, runs: dict[str, np.ndarray]) -> dict[str, Any]:
    """Counts and moments of some runs of a cell, which add up; arguments as for `summarise`."""
    budget = cell.setting["budget"]
    answered = np.isfinite(runs["reward"])
    infeasible = (runs["answer"] == 0).all(axis=1)
    first = np.isin(runs["first_rejected"], truth["answer"]) & (runs["first_rejected"] > 0)
    value = math.nan if truth["value"] is None else truth["value"]
    return {
        "runs": runs["tau"].size,
        "right": int(correct(cell, truth, runs).sum()),
        "infeasible": int(infeasible.sum()),
        "breaks_limits": int((~infeasible & ~(runs["weights"] >= 0.0).all(axis=1)).sum()),
        "over_budget": int((runs["tau"] > budget).sum()),
        "first_rejects_support": int(first.sum()),
        "budget_share": Moments.of(runs["tau"] / budget),
        "regret": Moments.of(value - runs["reward"][answered]),
        "violation": Moments.of(runs["violation"][answered]),
    }


def estimates(tally: dict[str, Any], level: float = LEVEL) -> list[Estimate]:
    """The statistics of a cell from the tally of its runs."""
    n = tally["runs"]
    return [
        proportion("prob_correct", tally["right"], n, level),
        proportion("error_rate", n - tally["right"], n, level),
        proportion("share_infeasible", tally["infeasible"], n, level),
        proportion("share_breaks_limits", tally["breaks_limits"], n, level),
        proportion("share_over_budget", tally["over_budget"], n, level),
        proportion("share_first_rejects_support", tally["first_rejects_support"], n, level),
        mean("mean_budget_share", "share", tally["budget_share"], level=level),
        _mean_of_answers("mean_regret", "reward", tally["regret"], n, level),
        _mean_of_answers("mean_violation", "cost", tally["violation"], n, level),
    ]


def _mean_of_answers(statistic: str, unit: str, sample: Moments, n: int, level: float) -> Estimate:
    """A mean over runs that gave a mixture; `undefined` if none did or no mixture is feasible."""
    if math.isnan(sample.mean):
        return undefined(statistic, unit, n)
    return mean(statistic, unit, sample, level=level)


STATISTICS = Statistics(summarise, MEANINGS, Tally(tally, estimates))
