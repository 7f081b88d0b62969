"""Runs of the compiled loops on any problem, as the tests need them."""

import numpy as np

from bestarm.cbmai.steps import run
from bestarm.cbmai.strategies import make_rules, most_normals


def normals(strategy, problem, rng, runs=()):
    """What a run may use; or an array of it for several runs."""
    size = most_normals(problem, make_rules(strategy, problem, 10**6, False).schedule)
    return rng.standard_normal((*np.atleast_1d(runs).astype(int), size))


def simulate(strategy, problem, noise, budget, drawn, keep_basis=False):
    """One run of a strategy, as written unless it keeps the optimal basis."""
    _, *plan = make_rules(strategy, problem, budget, keep_basis)
    return run(problem, noise, *plan, drawn)
