"""Rounds of a strategy whose state is looked at in between, for Figures 2 and 3."""

import math

import numpy as np

from bestarm.core.compile import jit
from bestarm.lagex.exploration import choose, observe


@jit
def play(rules, state, model, rounds, rng):
    """Play some rounds of LAGEX; changes its state in place."""
    costs = np.empty(model.limits.size)
    for _ in range(rounds):
        arm = choose(rules, state)
        reward = rng.normal(model.means[arm], math.sqrt(model.variances[arm]))
        for i in range(costs.size):
            costs[i] = rng.normal(model.matrix[i, arm], model.cost_sigma)
        observe(rules, state, arm, reward, costs)
