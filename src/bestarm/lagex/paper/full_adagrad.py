"""Full-matrix AdaGrad on the simplex, a reading of Algorithm 3."""

import numpy as np

from bestarm.core.compile import jit
from bestarm.core.linear_algebra import factorise, substitute

#: Ridge added to the root of the gains' outer products, and tolerance of multipliers.
RIDGE, TOLERANCE = 1e-8, 1e-10
#: Changes of the active set before giving up.
MOST_CHANGES = 200


@jit
def symmetric_root(outer: np.ndarray) -> np.ndarray:
    """The symmetric square root of a positive semidefinite matrix, plus a small ridge."""
    values, vectors = np.linalg.eigh(outer)
    root = np.zeros_like(outer)
    for e in range(values.size):
        size = np.sqrt(max(values[e], 0.0))
        for a in range(values.size):
            for b in range(values.size):
                root[a, b] += size * vectors[a, e] * vectors[b, e]
    scale = RIDGE * (1.0 + np.trace(root))
    for a in range(values.size):
        root[a, a] += scale
    return root


@jit
def solve_among(
    matrix: np.ndarray, target: np.ndarray, arms: np.ndarray
) -> tuple[np.ndarray, float]:
    """The stationary point x of x^T matrix x / 2 - target . x on sum(x) = 1, x = 0 outside `arms`.

    Args:
        matrix: (K, K) positive definite. target: (K,). arms: those that may have weight.

    Returns:
        The arms' x, and the multiplier of the sum.
    """
    size = arms.size
    block, first, second = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for i in range(size):
        first[i], second[i] = target[arms[i]], 1.0
        for j in range(i + 1):
            block[i, j] = matrix[arms[i], arms[j]]
    factorise(block, 0, size)
    substitute(block, first, size)
    substitute(block, second, size)
    nu = (first.sum() - 1.0) / second.sum()
    return first - nu * second, nu


@jit
def full_step(outer: np.ndarray, gains: np.ndarray, rate: float, omega: np.ndarray) -> bool:
    """omega <- argmax_x rate gains . x - (x - omega)^T H (x - omega) / 2 on the simplex.

    H = outer^(1/2), `outer` the sum of gains gains^T so far. That is AdaGrad's step omega + rate
    H^-1 gains, projected in the norm of H. Primal active-set method: the maximum over the arms with
    weight is a linear system; an arm whose weight would become negative leaves the set, and one
    whose multiplier is negative enters it.

    Args:
        outer: (K, K). gains: (K,). omega: (K,) on the simplex, overwritten.
        rate: learning rate.

    Returns:
        Whether the maximum was reached within MOST_CHANGES changes of the set.
    """
    reached = False
    k = omega.size
    matrix = symmetric_root(outer)
    target = matrix @ omega + rate * gains
    inside = omega > 0.0
    for _ in range(MOST_CHANGES):
        arms = np.flatnonzero(inside)
        maximum, nu = solve_among(matrix, target, arms)
        share, blocking = 1.0, -1
        for i in range(arms.size):
            change = maximum[i] - omega[arms[i]]
            if omega[arms[i]] + share * change < 0.0:
                share, blocking = omega[arms[i]] / -change, arms[i]
        for i in range(arms.size):
            omega[arms[i]] += share * (maximum[i] - omega[arms[i]])
        if blocking >= 0:
            omega[blocking] = 0.0
            inside[blocking] = False
            continue
        pulls = target - matrix @ omega - nu
        entering = -1
        for a in range(k):
            gains_weight = not inside[a] and pulls[a] > TOLERANCE * (1.0 + abs(nu))
            if gains_weight and (entering < 0 or pulls[a] > pulls[entering]):
                entering = a
        if entering < 0:
            reached = True
            break
        inside[entering] = True
    total = 0.0
    for a in range(k):
        omega[a] = max(omega[a], 0.0)
        total += omega[a]
    for a in range(k):
        omega[a] /= total
    return reached
