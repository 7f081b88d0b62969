"""The statistics of a cell's runs, for the linear bandits paper."""

import numpy as np

from bestarm.common.paper import Cell, Statistics
from bestarm.core.estimates import LEVEL, Estimate, correctness, mean, stopping_times
from bestarm.linear import tables

#: The paper's own statistics, by the part of their name before any colon.
MEANINGS = {
    "mean_pulls": "mean pulls of the named arm",
    "budget_ratio": "ratio of two mean stopping times",
    "budget_difference": "the first named strategy's mean stopping time less the second's",
    "exact_budget": "pulls until the rule holds at the true gaps, along a fixed sequence",
    "oracle_complexity": "H_LB, Eq. (6)",
    "lemma_2": "the named bound of Lemma 2 on H_LB",
    "design_value": "largest y^T Lambda^-1 y of the named optimal design",
    "closed_form": "the same by hand",
    "rounding_bound": "the named bound on a design rounded to N* pulls",
    "budget_bound": "the named bound on the pulls of a strategy",
    "over_lower_bound": "mean stopping time over the lower bound; geometric mean of instances",
    "share_missed": "share of runs in which an interval of an arm ever misses, as named",
    "share_misled": "share of runs in which the best arm is ever dominated",
    "share_longer": "share of runs of XY-Adaptive with a phase above max(M*, 16 N* / alpha)",
    "complexity_ratio": "H_LB over H_MAB, or the inverse, if so named: largest of random bandits",
    "rounding_ratio": "value of a rounded design over the named bound: largest of random arm sets",
    "may_be_best": "whether the confidence set meets the named arm's cone",
    "lower_bound": "2 H_LB kl(delta, 1 - delta): no delta-correct strategy stops sooner on average",
    "best_arm": "index of the true answer, 0 for none",
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
    times = stopping_times(runs["tau"], runs["status"], level=level)
    status = times[0].status  # pulls only grow, as the time does: so their means are cut off alike
    by_arm = runs["pulls"].T if truth["arms"] <= tables.MOST_ARMS_SHOWN else ()
    return [
        *times,
        *correctness(correct(cell, truth, runs), level),
        *(
            mean(f"mean_pulls:x{arm}", "pulls", pulls, status, level, least=0.0)
            for arm, pulls in enumerate(by_arm, 1)
        ),
    ]


STATISTICS = Statistics(summarise, MEANINGS)
