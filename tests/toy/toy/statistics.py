"""Errors, and a statistic that no other paper has."""

import numpy as np

from bestarm.common.paper import Cell, Statistics
from bestarm.core.estimates import LEVEL, Estimate, correctness, mean

MEANINGS = {"mean_lead": "mean lead of the second arm's sum"}


def summarise(
    cell: Cell, truth: dict, runs: dict[str, np.ndarray], level: float = LEVEL
) -> list[Estimate]:
    return [
        *correctness(runs["answer"] == truth["answer"], level),
        mean("mean_lead", "reward", runs["lead"], level=level),
    ]


STATISTICS = Statistics(summarise, MEANINGS)
