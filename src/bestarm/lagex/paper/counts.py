"""Pulls that are told together: `state.update` for counts."""

import math

import numpy as np

from bestarm.lagex.paper.state import PULLED, TIME, Rules, State


def observe_counts(rules: Rules, s: State, arm: int, pulls: int, observed: np.ndarray) -> None:
    """Record some pulls of an arm.

    Args:
        rules, s: of the run; the state is changed in place.
        arm: its index.
        pulls: how many.
        observed: (1 + d,) the sums of their rewards and costs.
    """
    estimates = s.estimates
    before = float(estimates.pulls[arm])
    s.counts[TIME] += pulls
    s.counts[PULLED] += before == 0.0
    estimates.log_determinant[0] += math.log((1.0 + before + pulls) / (1.0 + before))
    estimates.pulls[arm] += pulls
    estimates.reward_sums[arm] += observed[0]
    estimates.cost_sums[:, arm] += observed[1:]
    weight = 1.0 / (before + pulls + (1.0 if rules.ridge else 0.0))
    estimates.means[arm] = estimates.reward_sums[arm] * weight
    if not rules.known:
        estimates.rows[:, arm] = estimates.cost_sums[:, arm] * weight - rules.limits
