"""The statistics of a cell's runs, for best-arm identification."""

import numpy as np

from bestarm.common.paper import Cell, Statistics
from bestarm.core.estimates import LEVEL, Estimate, correctness, mean, proportion, stopping_times
from bestarm.core.status import Status

#: The paper's own statistics, by the part of their name before any colon.
MEANINGS = {
    "wrong_stops": "share of runs that stopped, before any cap, with a wrong answer",
    "mean_share": "mean over runs of the share of pulls spent on the named arm",
    "optimal_share": "share of pulls spent on the named arm by the allocation that attains T*",
    "characteristic_time": "T*, pulls per nat of information",
    "characteristic_time_low": "a certified lower bound on T*",
    "lower_bound": "T* kl(delta, 1 - delta): no delta-correct strategy stops sooner on average",
    "bound_ratio": "mean stopping time over T* kl(delta, 1 - delta)",
    "budget_ratio": "ratio of two mean stopping times",
    "best_arm": "index of the true answer",
}


def correct(cell: Cell, truth: dict, runs: dict[str, np.ndarray]) -> np.ndarray:
    """(n,) whether each run answered with the best arm."""
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
    right = correct(cell, truth, runs)
    wrong = (runs["status"] == Status.STOPPED) & ~right
    shares = (runs["pulls"] / runs["tau"][:, None]).T
    return [
        *stopping_times(runs["tau"], runs["status"], level=level),
        *correctness(right, level),
        proportion("wrong_stops", int(wrong.sum()), right.size, level),
        *(
            mean(f"mean_share:{a + 1}", "share", share, level=level)
            for a, share in enumerate(shares)
        ),
    ]


STATISTICS = Statistics(summarise, MEANINGS)
