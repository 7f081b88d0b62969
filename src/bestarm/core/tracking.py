"""C-tracking: turn a sequence of target allocations into a sequence of pulls."""

import math

import numpy as np

from bestarm.core.compile import lean
from bestarm.core.simplex import project_to_simplex


@lean
def track(
    target: np.ndarray, pulls: np.ndarray, time: int, tracked: np.ndarray, floored: np.ndarray
) -> int:
    """Choose the arm that lags furthest behind the sum of the floored targets.

        argmax_a  sum_{s <= t} w_a^{eps_s}(s) - N_a(t),   eps_t = 1 / (2 sqrt(n^2 + t))

    where w^eps is the projection of w onto the simplex with floor eps (Garivier & Kaufmann
    2016, C-tracking; Eq. (9) of the BAICS paper with n = K L). Ties go to the lowest index.

    Args:
        target: (n,) allocation to follow at this time, on the simplex.
        pulls: (n,) pulls so far, N(t).
        time: pulls so far in total, t.
        tracked: (n,) sum of the floored targets, updated in place.
        floored: (n,) buffer, overwritten.

    Returns:
        The index of the arm.

    Example:
        >>> tracked, floored = np.zeros(2), np.zeros(2)
        >>> track(np.array([0.25, 0.75]), np.array([1.0, 1.0]), 2, tracked, floored)
        1
    """
    n = target.size
    project_to_simplex(target, 0.5 / math.sqrt(n * n + time), floored)
    choice = 0
    largest = -np.inf
    for a in range(n):
        tracked[a] += floored[a]
        lag = tracked[a] - pulls[a]
        if lag > largest:
            largest = lag
            choice = a
    return choice
