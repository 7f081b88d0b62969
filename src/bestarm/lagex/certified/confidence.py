"""Confidence bounds on the mean rewards and costs of all policies (docs/guarantees.md)."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.anytime import mixture_threshold, shrunk_counts
from bestarm.core.compile import jit, lean


class ConfidenceSet(NamedTuple):
    """Estimates, and the squared radii of their errors by arm.

    With probability 1 - delta, at all times, for every c: |sum_a c_a (error of mean a)| <= |c|_h,
    and the same with u for every row, where |c|_w^2 = sum_a w_a c_a^2.
    """

    means: np.ndarray  # (K,) of rewards, up to a constant, which no policy depends on
    rows: np.ndarray  # (d, K) A - b 1^T: policies are feasible if rows pi <= 0
    h: np.ndarray  # (K,) 2 beta sigma_a^2 / N'_a
    u: np.ndarray  # (K,) 2 beta cost_sigma^2 / N'_a


@jit
def make_confidence_set(n_arms: int, n_constraints: int) -> ConfidenceSet:
    """Buffers."""
    return ConfidenceSet(
        means=np.zeros(n_arms),
        rows=np.zeros((n_constraints, n_arms)),
        h=np.zeros(n_arms),
        u=np.zeros(n_arms),
    )


@lean
def set_radii(
    pulls: np.ndarray,
    level: float,
    n0: float,
    variances: np.ndarray,
    cost_variance: float,
    out: ConfidenceSet,
) -> None:
    """Set h and u at some counts (`mixture_threshold`).

    Args:
        pulls: (K,) N_a, positive.
        level: ln((1 + d) / delta); rewards and each row of costs have an equal share of delta.
        n0: the prior's weight in pulls, fixed before sampling.
        variances: (K,) of rewards. cost_variance: of every cost.
        out: overwritten.
    """
    beta = mixture_threshold(level, pulls, n0)
    for a in range(pulls.size):
        square = 2.0 * beta / shrunk_counts(pulls[a], n0)
        out.h[a] = square * variances[a]
        out.u[a] = square * cost_variance


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
def shortfall(seen: ConfidenceSet, policy: np.ndarray, other: np.ndarray) -> float:
    """mu (pi' - pi) + |pi' - pi|_h: by how much pi may fall short of pi', at worst."""
    value, total = 0.0, 0.0
    for a in range(policy.size):
        step = other[a] - policy[a]
        value += seen.means[a] * step
        total += seen.h[a] * step * step
    return value + math.sqrt(total)
