"""The statistics of a cell's runs, for the delayed feedback paper."""

import numpy as np

from bestarm.common.paper import Cell, Statistics
from bestarm.core.estimates import (
    LEVEL,
    Estimate,
    correctness,
    mean,
    proportion,
    ratio_of_means,
    stopping_times,
)
from bestarm.core.status import Status

#: The paper's own statistics, by the part of their name before any colon.
MEANINGS = {
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
}


def correct(cell: Cell, truth: dict, runs: dict[str, np.ndarray]) -> np.ndarray:
    """(n,) whether each run answered with the top k."""
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
    tau, alone = runs["tau"], runs["tau_full"]
    times = stopping_times(tau, runs["status"], "steps", level)
    finished, cancelled = (runs[name].sum(axis=1) for name in ("finished", "cancelled"))
    estimates = [
        *times,
        *correctness(correct(cell, truth, runs), level),
        mean("pulls_finished", "pulls", finished, times[0].status, level, least=0.0),
        mean("pulls_cancelled", "pulls", cancelled, level=level, least=0.0),
        proportion("share_missed", int(runs["missed"].sum()), tau.size, level),
    ]
    if cell.strategy == "Full":
        return estimates
    capped = (runs["status"] == Status.CAPPED) | (runs["full_status"] == Status.CAPPED)
    status = "restricted" if capped.any() else ""
    return [
        *estimates,
        ratio_of_means("time_ratio", tau, alone, status, level),
        mean("mean_time_ratio", "", tau / alone, status, level, least=0.0),
        proportion("share_slower", int((tau > alone).sum()), tau.size, level),
    ]


STATISTICS = Statistics(summarise, MEANINGS)
