"""Projection onto the probability simplex with a floor."""

import numpy as np

from bestarm.core.compile import lean


@lean
def project_to_simplex(point: np.ndarray, floor: float, out: np.ndarray) -> None:
    """Project onto the simplex whose entries are at least `floor`.

        argmin_w ||w - point||_2^2   s.t.  sum(w) = 1,  w_i >= floor

    The solution is w_i = max(floor, point_i - c) for the unique c that makes the sum 1. Entries
    below the floor for a trial c are below it for the final c too, so they are fixed at the
    floor and c is solved for the rest, at most n times (Michelot 1986).

    For a point of the simplex this is also a projection in the maximum norm: each entry below
    the floor must rise to it, and lowering the others by a common c minimises the largest
    decrease. C-tracking uses it in that sense (Garivier & Kaufmann
    2016, Section 3.1).

    Args:
        point: (n,) any finite numbers.
        floor: least entry, 0 <= floor <= 1/n.
        out: (n,) overwritten with the projection; may be `point` itself.

    Example:
        >>> out = np.empty(3)
        >>> project_to_simplex(np.array([1.5, 0.5, -1.0]), 0.1, out)
        >>> out.round(12).tolist()
        [0.8, 0.1, 0.1]
    """
    n = point.size
    shift = -np.inf
    while True:
        free = 0
        total = 0.0
        for i in range(n):
            if point[i] - shift > floor:
                free += 1
                total += point[i]
        new_shift = (total - 1.0 + floor * (n - free)) / free
        if not new_shift > shift:
            break
        shift = new_shift
    for i in range(n):
        out[i] = max(floor, point[i] - shift)
