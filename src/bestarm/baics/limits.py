"""When the directed rule stops if estimates are exact and pulls follow the optimal allocation.

What a run takes beyond this is the cost of estimates; what this takes beyond T* ln(1/delta) is the
cost of the proof. docs/guarantees.md shows that the latter vanishes as delta -> 0.
"""

import math
from collections.abc import Sequence

import numpy as np

from bestarm.baics.alternatives import best_feasible_arm, optimal_allocation, worst_violation
from bestarm.baics.e_values import DIRECTED, EValues, log_directed, make_e_values, plan_ahead
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
            _record(e_values, (GROWTH - 1.0) * clock * share, means, problem.constrained, best)
            clock *= GROWTH
        times.append(clock)
    return times


def _record(e: EValues, more: np.ndarray, means: np.ndarray, constrained: int, best: int) -> None:
    """Add (K, L) pulls that give their means: `record` of e_values.py for many at a time."""
    for k in range(len(means)):
        violation, _ = worst_violation(means[k], constrained)
        if violation > 0.0:
            c = np.maximum(-means[k, :constrained], 0.0) / violation
            e.below[k] -= more[k, :constrained] * c @ means[k, :constrained]
            e.variance[k] += more[k, :constrained] @ c**2
        if best >= 0 and k != best:
            for row, arm in enumerate((best, k)):
                c = e.pairs.coefficients[k, row]
                e.pairs.moved[best, k, row] += more[arm] * c
                e.pairs.drift[best, k] += more[arm] * c @ means[arm]
                e.pairs.variance[best, k] += more[arm] @ c**2
