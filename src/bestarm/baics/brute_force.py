"""Theorem 3.2 by brute force: the infimum of Eq. (6) over all instances with another answer.

Nothing but the definition of the answer, Eq. (2), says which instances these are.
"""

import numpy as np

from bestarm.baics.alternatives import alternative_cost, best_feasible_arm
from bestarm.baics.problem import Instance

#: Allocations that are tried: w*, and random ones.
ALLOCATIONS = 4
#: Points of a generation, those that its next one is drawn around, per answer, and generations.
POINTS, KEPT, GENERATIONS = 600, 5, 60
#: Halvings of the segment from the instance to a point.
HALVINGS = 30


def answers(instances: np.ndarray, q: np.ndarray, constrained: int) -> np.ndarray:
    """(n,) k* of Eq. (2) for instances (n, K, L), -1 if no arm is feasible."""
    feasible = (instances[:, :, :constrained] >= 0.0).all(axis=2)
    qualities = np.where(feasible, instances @ q, -np.inf)
    return np.where(feasible.any(axis=-1), np.argmax(qualities, axis=-1), -1)


def least_cost(w: np.ndarray, instance: Instance, rng: np.random.Generator) -> float:
    """min over lambda with another answer of sum_kl w_kl (mu_kl - lambda_kl)^2, by random search.

    Points are drawn around the nearest ones so far of every answer, ever more closely, and moved
    towards mu as far as their answer stays another one. So the least cost is never too small.

    Args:
        w: (K, L) positive allocation.
        instance: with sigma = 1, whose means are mu.
        rng: of the points.
    """
    means, problem = np.array(instance.means), instance.problem
    q, constrained = problem.weights, problem.constrained
    truly = answers(means[None], q, constrained)[0]
    centres, size, least = np.zeros((1, *means.shape)), 1.0, np.inf
    for _ in range(GENERATIONS):
        drawn = centres[rng.integers(len(centres), size=POINTS)]
        moves = drawn + size * rng.standard_normal(drawn.shape) / np.sqrt(w * means.size)
        moves = np.concatenate([centres, moves])
        answered = answers(means + moves, q, constrained)
        moves = moves[answered != truly]
        near, far = np.zeros(len(moves)), np.ones(len(moves))
        for _ in range(HALVINGS):
            middle = 0.5 * (near + far)
            other = answers(means + middle[:, None, None] * moves, q, constrained) != truly
            near, far = np.where(other, near, middle), np.where(other, middle, far)
        moves *= far[:, None, None]
        costs = (w * moves**2).sum(axis=(1, 2))
        answered = answers(means + moves, q, constrained)
        order = np.argsort(costs)
        kept = [order[answered[order] == answer][:KEPT] for answer in np.unique(answered)]
        centres = moves[np.concatenate(kept)]
        size, least = 0.85 * size, min(least, float(costs.min()))
    return least


def formula(w: np.ndarray, instance: Instance) -> float:
    """The same by Theorem 3.2: min of f_opt and f_fea, or Eq. (7) if no arm is feasible."""
    means, problem = instance.standard_means, instance.problem
    best, shift = best_feasible_arm(means, problem), np.zeros((2, means.shape[1]))
    kinds = range(problem.constrained + len(means))
    return min(alternative_cost(i, w, means, problem, best, shift) for i in kinds)


def cost_ratios(instance: Instance, optimal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(ALLOCATIONS,) `least_cost` over `formula` at random allocations, the first near w*.

    Args:
        instance: with sigma = 1.
        optimal: (K, L) w*, mixed with a hundredth of the uniform allocation, since it may have 0.
        rng: of the allocations and the points.
    """
    mixed = 0.99 * optimal + 0.01 / optimal.size
    random = rng.dirichlet(np.ones(optimal.size), size=ALLOCATIONS - 1).reshape(-1, *optimal.shape)
    tried = [mixed, *(0.9 * random + 0.1 / optimal.size)]
    return np.array([least_cost(w, instance, rng) / formula(w, instance) for w in tried])
