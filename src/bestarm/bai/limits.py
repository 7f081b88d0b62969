"""When Track-and-Stop's proved rule stops if estimates are exact and pulls follow w*."""

import math

import numpy as np

from bestarm.bai.families import mixing_cost, shrunk, transport
from bestarm.bai.problem import Instance, characteristic_time


def least_statistic(instance: Instance, pulls: np.ndarray) -> float:
    """The least Z_{b,a} - c_b - c_a if estimates are exact; it has to exceed ln((K - 1) / delta).

    Args:
        instance: with a unique best arm b.
        pulls: (K,) N > 0.
    """
    law, means = instance.law, instance.standard_means
    best, counted = int(means.argmax()), [shrunk(law, n) for n in pulls]
    costs = [mixing_cost(law, n, n * mean) for n, mean in zip(pulls, means, strict=True)]
    return min(
        transport(law, counted[best], means[best], counted[a], means[a]) - costs[best] - costs[a]
        for a in range(means.size)
        if a != best
    )


def exact_time(instance: Instance, delta: float) -> float:
    """Pulls t after which the rule stops, with mu^ = mu and N = t w*.

    Example:
        >>> round(exact_time(Instance(name="two", means=[0.5, 0.1]), 0.1))
        60
    """
    allocation = characteristic_time(instance).allocation
    needed, low, high = math.log((len(instance.means) - 1) / delta), 1.0, 2.0
    while least_statistic(instance, high * allocation) < needed:
        low, high = high, 2.0 * high
    while high - low > 0.5:
        middle = 0.5 * (low + high)
        if least_statistic(instance, middle * allocation) < needed:
            low = middle
        else:
            high = middle
    return high
