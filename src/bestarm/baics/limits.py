"""When the directed rule stops if estimates are exact and pulls follow the optimal allocation.

What a run takes beyond this is the cost of estimates; what this takes beyond T* ln(1/delta) is the
cost of the proof. docs/guarantees.md shows that the latter vanishes as delta -> 0.
"""

import math
from collections.abc import Sequence

import numpy as np

from bestarm.baics.alternatives import best_feasible_arm, optimal_allocation
from bestarm.baics.counts import record
from bestarm.baics.e_values import DIRECTED, log_directed, make_e_values, plan_ahead
from bestarm.baics.pairs import GROWTH
from bestarm.baics.problem import Instance


def exact_times(instance: Instance, deltas: Sequence[float]) -> list[float]:
    """Pulls after which the directed rule stops, with mu^ = mu and N = t w*.

    Args:
        instance: with Gaussian rewards, a unique answer and every alternative at a distance.
        deltas: descending.

    Returns:
        One time per delta, up to `GROWTH`, the factor by which pulls grow between two tests.

    Example:
        >>> from bestarm.baics.strategies import EASY
        >>> [round(t) for t in exact_times(EASY, [0.1, 0.01])]
        [131, 193]
    """
    means, problem = instance.standard_means, instance.problem
    best, share = best_feasible_arm(means, problem), np.zeros(means.shape)
    optimal_allocation(means, problem, best, share)
    e_values = make_e_values(len(means), means.shape[1], DIRECTED)
    clock, times = 1.0, list[float]()
    for delta in deltas:
        level = math.log(len(means) / delta)
        against = range(problem.constrained + len(means))
        while not all(
            log_directed(i, level, e_values, clock * share, means, problem, best) > level
            for i in against
        ):
            plan_ahead(e_values, level, int(clock), clock * share, means, problem, best)
            pulls = (GROWTH - 1.0) * clock * share
            record(e_values, pulls, pulls * means, means, problem)
            clock *= GROWTH
        times.append(clock)
    return times
