"""Runs of the compiled loops on any problem, as the tests need them."""

import numpy as np

from bestarm.cbmai.strategies import STRATEGIES, most_normals


def normals(strategy, problem, rng, runs=()):
    """What a run may use; or an array of it for several runs."""
    size = most_normals(problem, STRATEGIES[strategy].schedule(problem, 10**6))
    return rng.standard_normal((*np.atleast_1d(runs).astype(int), size))


def simulate(strategy, problem, noise, budget, drawn):
    """One run of a strategy."""
    loop, schedule = STRATEGIES[strategy]
    return loop(problem, noise, schedule(problem, budget), drawn)
