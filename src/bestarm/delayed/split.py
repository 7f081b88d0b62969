"""The split of delta between the radii of Propositions 1 and 2 that minimises their sum."""

import math

import numpy as np

from bestarm.core.compile import inlined
from bestarm.delayed.radius import HALF_C

#: Relative accuracy of the shares; that of the sum of radii, which is stationary, is its square.
TOLERANCE = 1e-9
#: More iterations than are ever needed: each gains almost one digit.
MOST_STEPS = 60
#: Rows of `terms`, one column per radius: A, g, delta, buffer.
FACTOR, GROWTH, SHARE, NEXT = range(4)


@inlined
def split(terms: np.ndarray, m: int, log_constant: float, total: float) -> None:
    """Split an error probability between m radii so that their sum is minimal.

        argmin  sum_i A_i sqrt(h_i)   s.t.  sum_i delta_i = total,
        h_i = g_i + (c/2) ln(K / delta_i)

    The sum is convex if all h_i > c/4, which always holds here. At its minimum the derivatives
    -c A_i / (4 delta_i sqrt(h_i)) are equal, hence

        delta_i = total q_i / sum_j q_j,   q_i = A_i / sqrt(h_i).

    As a map of the logarithms of ratios of the delta_i this contracts by c / (4 min_i h_i), which
    is below 0.16 as h_i >= (c/2) ln(2 zeta(2a/c)). So the map is iterated, from equal shares.

    Args:
        terms: (4, m or more) with rows FACTOR, A_i > 0: a radius's scale over sqrt(tau), times
            its weight in the sum; GROWTH, g_i; SHARE, overwritten with delta_i; NEXT, a buffer.
        m: number of radii, at least 1.
        log_constant: ln K = ln(2 zeta(2a/c) n).
        total: the error probability, in (0, 1).
    """
    for i in range(m):
        terms[SHARE, i] = total / m
    for _ in range(MOST_STEPS):
        q_sum = 0.0
        for i in range(m):
            h = terms[GROWTH, i] + HALF_C * (log_constant - math.log(terms[SHARE, i]))
            terms[NEXT, i] = terms[FACTOR, i] / math.sqrt(h)
            q_sum += terms[NEXT, i]
        change = 0.0
        for i in range(m):
            share = total * terms[NEXT, i] / q_sum
            change = max(change, abs(share - terms[SHARE, i]) / share)
            terms[SHARE, i] = share
        if not change > TOLERANCE:
            break


@inlined
def radii_sum(terms: np.ndarray, m: int, log_constant: float) -> float:
    """sum_i A_i sqrt(g_i + (c/2) ln(K / delta_i)), the right-hand side of Eqs. (4) and (6)."""
    total = 0.0
    for i in range(m):
        h = terms[GROWTH, i] + HALF_C * (log_constant - math.log(terms[SHARE, i]))
        total += terms[FACTOR, i] * math.sqrt(h)
    return total
