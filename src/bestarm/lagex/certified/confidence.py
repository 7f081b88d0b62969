"""Confidence bounds on the mean rewards and costs of all policies (docs/guarantees.md)."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.anytime import mixture_threshold, shrunk_counts
from bestarm.core.compile import jit, lean

#: Sides of a directed sum: it bounds mean costs from above, or from below.
ABOVE, BELOW = range(2)


class ConfidenceSet(NamedTuple):
    """Estimates, and what bounds their errors.

    With probability 1 - delta, at all times, for every c: |sum_a c_a (error of mean a)| <= |c|_h,
    and the same with u for every row, where |c|_w^2 = sum_a w_a c_a^2; and the error of row i along
    the direction of a side, W . (A_i - estimate) or its negative, is at most the gap of that side.
    """

    means: np.ndarray  # (K,) of rewards, up to a constant, which no policy depends on
    rows: np.ndarray  # (d, K) A - b 1^T: policies are feasible if rows pi <= 0
    h: np.ndarray  # (K,) 2 beta sigma_a^2 / N'_a
    u: np.ndarray  # (K,) 2 beta cost_sigma^2 / N'_a, with beta larger if there are directed sums
    directions: np.ndarray  # (2, K) W of the sides ABOVE and BELOW
    gaps: np.ndarray  # (2, d) at least 0; infinite if nothing is known


def without_directions(
    means: np.ndarray, rows: np.ndarray, h: np.ndarray, u: np.ndarray
) -> ConfidenceSet:
    """Of the ellipsoids alone."""
    d, k = rows.shape
    return ConfidenceSet(means, rows, h, u, np.zeros((2, k)), np.full((2, d), np.inf))


@jit
def make_confidence_set(n_arms: int, n_constraints: int) -> ConfidenceSet:
    """Buffers."""
    return ConfidenceSet(
        means=np.zeros(n_arms),
        rows=np.zeros((n_constraints, n_arms)),
        h=np.zeros(n_arms),
        u=np.zeros(n_arms),
        directions=np.zeros((2, n_arms)),
        gaps=np.full((2, n_constraints), np.inf),
    )


@lean
def set_radii(
    pulls: np.ndarray,
    level: float,
    n0: float,
    variances: np.ndarray,
    cost_variance: float,
    directed: float,
    out: ConfidenceSet,
) -> None:
    """Set h and u at some counts (`mixture_threshold`).

    Args:
        pulls: (K,) N_a, positive.
        level: ln((1 + d) / delta); rewards and each row of costs have an equal share of delta.
        n0: the prior's weight in pulls, fixed before sampling.
        variances: (K,) of rewards. cost_variance: of every cost.
        directed: share of the rows' delta that directed sums have.
        out: overwritten.
    """
    beta = mixture_threshold(level, pulls, n0)
    cost_beta = beta - math.log1p(-directed)
    for a in range(pulls.size):
        shrunk = shrunk_counts(pulls[a], n0)
        out.h[a] = 2.0 * beta / shrunk * variances[a]
        out.u[a] = 2.0 * cost_beta / shrunk * cost_variance


@lean
def spread(values: np.ndarray) -> float:
    """Their range: the largest less the least."""
    least, largest = values[0], values[0]
    for value in values:
        least, largest = min(least, value), max(largest, value)
    return largest - least


@lean
def norm(weights: np.ndarray, point: np.ndarray) -> float:
    """|c|_w = sqrt(sum_a w_a c_a^2)."""
    total = 0.0
    for a in range(point.size):
        total += weights[a] * point[a] * point[a]
    return math.sqrt(total)


@lean
def excess(rows: np.ndarray, point: np.ndarray) -> float:
    """max_i rows_i pi."""
    largest = -np.inf
    for i in range(rows.shape[0]):
        total = 0.0
        for a in range(point.size):
            total += rows[i, a] * point[a]
        largest = max(largest, total)
    return largest


@lean
def reach(seen: ConfidenceSet, side: int, i: int, point: np.ndarray, error: np.ndarray) -> float:
    """max { point . e } over the errors e of row i that are possible on a side; -e of BELOW.

        max { c . e : sum_a e_a^2 / u_a <= 1, W . e <= gap }

    is |c|_u, if the e of that keeps W . e <= gap. Else W . e = gap, and with <a, b> = sum u a b it
    is gap <c, W> / <W, W> + sqrt(1 - gap^2 / <W, W>) |c - W <c, W> / <W, W>|_u.

    Args:
        seen: the confidence set. side: ABOVE or BELOW. i: the row. point: (K,) c, not 0.
        error: (K,) overwritten by the maximiser, the gradient of the value.
    """
    w, gap, square, along, length = seen.directions[side], seen.gaps[side, i], 0.0, 0.0, 0.0
    for a in range(point.size):
        square += seen.u[a] * point[a] * point[a]
        along += seen.u[a] * point[a] * w[a]
        length += seen.u[a] * w[a] * w[a]
    size = math.sqrt(square)
    if not along > gap * size:
        for a in range(point.size):
            error[a] = seen.u[a] * point[a] / size
        return size
    across = math.sqrt(max(square - along * along / length, 0.0))
    left = math.sqrt(max(1.0 - gap * gap / length, 0.0))
    for a in range(point.size):
        error[a] = seen.u[a] * w[a] * gap / length
        if across > 0.0:
            error[a] += left / across * seen.u[a] * (point[a] - w[a] * along / length)
    return gap * along / length + left * across


@lean
def largest_excess(
    seen: ConfidenceSet, side: int, point: np.ndarray, factor: float, error: np.ndarray
) -> float:
    """max_i rows_i pi + factor * (reach of row i on a side); `error` is a buffer.

    With factor 1 the policy is safe if it is at most 0 ABOVE, and with factor -1 it may be feasible
    if it is at most 0 BELOW.
    """
    largest = -np.inf
    for i in range(seen.rows.shape[0]):
        total = 0.0
        for a in range(point.size):
            total += seen.rows[i, a] * point[a]
        largest = max(largest, total + factor * reach(seen, side, i, point, error))
    return largest


@lean
def shortfall(seen: ConfidenceSet, policy: np.ndarray, other: np.ndarray) -> float:
    """mu (pi' - pi) + |pi' - pi|_h: by how much pi may fall short of pi', at worst."""
    value, total = 0.0, 0.0
    for a in range(policy.size):
        step = other[a] - policy[a]
        value += seen.means[a] * step
        total += seen.h[a] * step * step
    return value + math.sqrt(total)
