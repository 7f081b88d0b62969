"""E-values for "an arm is not better than another by more than a margin"."""

import math

from bestarm.bai.families import BERNOULLI, EXPONENTIAL, GAUSSIAN, divergence

BISECTIONS = 60


def margin_statistic(family: int, margin: float, w: float, p: float, v: float, q: float) -> float:
    """min_m w d(p, m) + v d(q, m + margin): the cost of making the second mean larger by a margin.

    0 if it is that much larger as it is. Else m is between q - margin and p, where the sum is
    convex for all families but the exponential one; its slope changes its sign at the minimum.

    Args:
        family: of FAMILIES, but not exponential.
        margin: positive, in the unit of the means.
        w, p: weight and mean of one arm.
        v, q: of the other.

    Example:
        >>> margin_statistic(GAUSSIAN, 1.0, 1.0, 1.0, 1.0, 0.0)
        1.0
    """
    assert family != EXPONENTIAL
    if q - margin >= p:
        return 0.0
    low = q - margin if family == GAUSSIAN else max(q - margin, 0.0)
    high = min(p, 1.0 - margin) if family == BERNOULLI else p
    if low > high:
        return math.inf  # no mean is that much larger
    for _ in range(BISECTIONS):
        m = 0.5 * (low + high)
        if w * _slope(family, p, m) + v * _slope(family, q, m + margin) < 0.0:
            low = m
        else:
            high = m
    costs = [
        w * divergence(family, p, m) + v * divergence(family, q, m + margin) for m in (low, high)
    ]
    return float(min(costs))


def _slope(family: int, p: float, m: float) -> float:
    """The derivative of d(p, m) by m: (m - p) / V(m)."""
    if m == p:
        return 0.0
    variance = 1.0 if family == GAUSSIAN else m * (1.0 - m) if family == BERNOULLI else m
    return (m - p) / variance if variance > 0.0 else math.copysign(math.inf, m - p)
