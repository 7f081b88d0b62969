"""The statistics of a cell's runs, for BAICS."""

import numpy as np

from bestarm.common.paper import Cell, Statistics
from bestarm.core.estimates import LEVEL, Estimate, correctness, mean, proportion, stopping_times
from bestarm.core.status import Status

#: The paper's own statistics, by the part of their name before any colon.
MEANINGS = {
    "wrong_stops": "share of runs that stopped, before any cap, with a wrong answer",
    "tracking_error": "largest distance of pulls from what they track, over the bound of Eq. (12): "
    "mean over runs, or the largest",
    "share_untracked": "share of runs in which it exceeds 1",
    "gap": "distance that has to be told: of the named kind",
    "mean_share": "mean over runs of the share of pulls spent on the named arm",
    "budget_ratio": "ratio of two mean stopping times",
    "time_ratio": "ratio of two T*",
    "characteristic_time": "T*, pulls per nat of information; or by a convex solver, if so named",
    "characteristic_time_low": "a certified lower bound on T*",
    "bai_characteristic_time": "T* of the same instance without its constraints",
    "optimal_share": "share of pulls spent on the named arm by the allocation that attains T*",
    "lower_bound": "T* kl(delta, 1 - delta): no delta-correct strategy stops sooner on average",
    "bound_ratio": "mean stopping time over T* kl(delta, 1 - delta)",
    "asymptotic_ratio": "mean stopping time over T* ln(1/delta), which tends to 1 if optimal",
    "marginal_ratio": "extra mean pulls per extra T* ln(1/delta), between two confidence levels",
    "cost_ratio": "least cost of an instance with another answer, by random search, over that of "
    "Theorem 3.2: the named extreme over allocations",
    "exponent": "local exponent: minus the slope of ln(value) in ln(x)",
    "quality": "q-weighted mean reward of the named arm",
    "best_arm": "index of the true answer, 0 for none",
}


def correct(cell: Cell, truth: dict, runs: dict[str, np.ndarray]) -> np.ndarray:
    """(n,) whether each run answered with the best feasible arm."""
    return runs["answer"] == truth["answer"]


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
    right, stopped = correct(cell, truth, runs), runs["status"] == Status.STOPPED
    shares = (runs["pulls"] / runs["tau"][:, None]).T
    by_arm = shares.reshape(len(truth["qualities"]), -1, runs["tau"].size).sum(axis=1)
    return [
        *stopping_times(runs["tau"], runs["status"], level=level),
        *correctness(right, level),
        proportion("wrong_stops", int((stopped & ~right).sum()), right.size, level),
        *(
            mean(f"mean_share:{k + 1}", "share", share, level=level)
            for k, share in enumerate(by_arm)
        ),
        *(
            mean(f"mean_share:{pair}", "share", share, level=level)
            for pair, share in zip(pairs(truth), shares, strict=True)
        ),
    ]


def pairs(truth: dict) -> list[str]:
    """Names of the (arm, subpopulation) pairs, "k;l" counted from 1, arm by arm."""
    return [
        f"{k + 1};{l + 1}" for k, row in enumerate(truth["allocation"]) for l in range(len(row))
    ]


STATISTICS = Statistics(summarise, MEANINGS)
