"""Sums of costs in one direction, which bound the mean costs of the policies that matter.

An ellipsoid over K arms pays for each of them. But only the safe policy has to be bounded from
above, and the worst alternative from below, and both change little once they are known. For each of
the sides ABOVE and BELOW every pull has a coefficient c, fixed before its costs X are seen, and

    W = sum of c by arm,   Y_i = sum of c X_i,   Q = sum of c^2

are kept. At the true A, exp(x (W . A_i - Y_i) / cost_sigma - x^2 Q / 2) is a supermartingale for
every x, so a half-normal mixture of it bounds W . A_i from above; BELOW the same with the signs
changed. `confidence.reach` combines this with the ellipsoid. Proofs: docs/guarantees.md.
"""

import math

import numpy as np

from bestarm.core.compile import lean
from bestarm.lagex.certified.confidence import ABOVE, BELOW
from bestarm.lagex.certified.state import SAFE, TIME, Rules, State

#: Coefficients aim at the direction after this much more of all pulls; they are at most this large.
HORIZON, LARGEST = 0.1, 3.0


@lean
def half_normal_bound(level: float, variance: float, n1: float) -> float:
    """At least the u at which the half-normal mixture (`half_normal_log`) is exp(level).

    With l = level + ln(1 + v / n1) / 2 and q = z^2 / 2 the mixture is exp(level) if
    2 Phi(z) exp(q) = exp(l), and 2 Phi(z) >= 2 - exp(-q), so q = ln((1 + exp(l)) / 2) is enough.

    Args:
        level: ln(1/delta), positive.
        variance: v. n1: the prior's weight.
    """
    l = level + 0.5 * math.log1p(variance / n1)
    q = l + math.log1p(math.exp(-l)) - math.log(2.0)
    return math.sqrt(2.0 * q * (variance + n1))


@lean
def record_directed(s: State, arm: int, pulls: float, costs: np.ndarray) -> None:
    """Add the sums of costs (d,) of some pulls of an arm."""
    sums = s.directed
    for side in (ABOVE, BELOW):
        c = sums.coefficients[side, arm]
        sums.moved[side, arm] += c * pulls
        sums.squares[side] += c * c * pulls
        for i in range(costs.size):
            sums.sums[side, i] += c * costs[i]


@lean
def set_gaps(rules: Rules, s: State) -> None:
    """Set what the sums say of the errors of the estimates."""
    sums, seen, d = s.directed, s.seen, rules.limits.size
    level = rules.level + math.log(2.0 / rules.directed)
    for side in (ABOVE, BELOW):
        q, sign = sums.squares[side], 1.0 if side == ABOVE else -1.0
        radius = math.sqrt(rules.cost_variance) * half_normal_bound(level, q, rules.n0)
        for i in range(d):
            apart = sums.sums[side, i]
            for a in range(s.pulls.size):
                apart -= sums.moved[side, a] * s.cost_sums[i, a] / s.pulls[a]
            seen.gaps[side, i] = max(radius + sign * apart, 0.0) if q > 0.0 else np.inf
        for a in range(s.pulls.size):
            seen.directions[side, a] = sums.moved[side, a]


@lean
def plan_directed(s: State) -> None:
    """Coefficients that turn W towards the safe policy, and towards the worst alternative."""
    sums, more = s.directed, HORIZON * float(s.counts[TIME])
    for side in (ABOVE, BELOW):
        goal = s.policy if side == ABOVE else s.other
        scale = more
        for a in range(goal.size):
            scale += sums.moved[side, a]
        for a in range(goal.size):
            pulls = (1.0 + HORIZON) * s.counts[TIME] * s.omega[a] - s.pulls[a]
            c = 0.0
            if s.counts[SAFE] and pulls > 0.0:
                c = (scale * goal[a] - sums.moved[side, a]) / pulls
            sums.coefficients[side, a] = min(max(c, -LARGEST), LARGEST)
