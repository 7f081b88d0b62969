"""The allocation of Certified, which minimises the bound on the shortfall.

With l and m the sums of the multipliers of the constraints at the safe policy pi and at the worst
alternative pi', the bound changes with 1 / N'_a in proportion to

    c_a = cost_sigma^2 (l pi_a^2 / |pi|_u + m pi'_a^2 / |pi'|_u)
          + sigma_a^2 (pi' - pi)_a^2 / |pi' - pi|_h.

For a given number of pulls, sum_a c_a / N'_a is least where N_a^2 is proportional to
c_a (1 + 2 n0 / N_a). The worst alternative changes from check to check, so c is a moving average,
as in fictitious play. The guarantee does not depend on any of this.
"""

import math

from bestarm.core.compile import lean
from bestarm.lagex.certified.confidence import BELOW, norm, reach, shortfall
from bestarm.lagex.certified.pieces import worst_of_box
from bestarm.lagex.certified.state import TIME, Rules, State
from bestarm.lagex.vertices import FOUND, find_best, load

#: Ratio of the times of two checks.
BLOCK = 1.05
#: Weight of a check in the average of demands.
RATE = 0.1
#: Linear programs that improve the worst alternative.
IMPROVEMENTS = 3
#: Share of the demands for the safest policy while no policy is safe; the rest is uniform.
SEARCH = 0.8


@lean
def find_worst(s: State) -> float:
    """A policy that may be feasible and has a large shortfall; a lower bound on the largest.

    From the worst vertex of the box, by linear programs: the shortfall is convex and so are the
    reaches of rows, hence what improves the one and keeps the constraints with the others made
    linear does so itself.
    """
    seen, other, polytope = s.seen, s.other, s.polytope
    d, k = seen.rows.shape
    objective, rows = s.tilted[0], s.tilted[1:]
    worst_of_box(seen, s.policy, s.pieces, other)
    s.multiplier[0] = s.cone.multiplier[0]
    for _ in range(IMPROVEMENTS):
        apart = 0.0
        for a in range(k):
            step = other[a] - s.policy[a]
            apart += seen.h[a] * step * step
        for i in range(d):
            reach(seen, BELOW, i, other, s.pieces.error)
            for a in range(k):
                rows[i, a] = seen.rows[i, a] - s.pieces.error[a]
        for a in range(k):
            slope = seen.h[a] * (other[a] - s.policy[a])
            objective[a] = seen.means[a] + (slope / math.sqrt(apart) if apart > 0.0 else 0.0)
        load(polytope, objective, rows)
        if find_best(polytope) != FOUND:
            break
        s.multiplier[0] = 0.0
        for a in range(k):
            other[a] = polytope.policy[a]
        for i in range(d):
            s.multiplier[0] += max(polytope.reduced_costs[k + i], 0.0)
    return shortfall(seen, s.policy, other)


@lean
def demand(rules: Rules, s: State) -> None:
    """Add this check's c to the average."""
    k, policy, other, c = s.policy.size, s.policy, s.other, s.tilted[0]
    multiplier = s.cone.multiplier[0] / norm(s.seen.u, policy)
    other_multiplier, total = s.multiplier[0] / norm(s.seen.u, other), 0.0
    for a in range(k):
        c[a] = other[a] - policy[a]
    apart = norm(s.seen.h, c)
    for a in range(k):
        c[a] = rules.variances[a] * c[a] * c[a] / apart if apart > 0.0 else 0.0
        costs = multiplier * policy[a] * policy[a] + other_multiplier * other[a] * other[a]
        c[a] += rules.cost_variance * costs
        total += c[a]
    for a in range(k):
        if total > 0.0:
            s.demands[a] += RATE * (c[a] / total - s.demands[a])


@lean
def demand_safety(s: State) -> None:
    """The same while no policy is safe, for the one that is about the safest."""
    k, x, total = s.policy.size, s.cone.x, 0.0
    for a in range(k):
        total += x[a] * x[a]
    for a in range(k):
        c = SEARCH * x[a] * x[a] / total + (1.0 - SEARCH) / k
        s.demands[a] += RATE * (c - s.demands[a])


@lean
def plan_block(rules: Rules, s: State) -> None:
    """The pulls until the next check: those that the allocation lacks at that time."""
    k, time, total = s.pulls.size, float(s.counts[TIME]), 0.0
    until = max(time + 1.0, math.floor(BLOCK * time))
    least = math.sqrt(time) / (k * time)
    if rules.adaptive:
        for a in range(k):
            s.omega[a] = math.sqrt(s.demands[a] * (1.0 + 2.0 * rules.n0 / s.pulls[a]))
            total += s.omega[a]
        scale, total = total, 0.0
        for a in range(k):
            s.omega[a] = max(s.omega[a] / scale, least)
            total += s.omega[a]
        for a in range(k):
            s.omega[a] /= total
    lacking = 0.0
    for a in range(k):
        lacking += max(until * s.omega[a] - s.pulls[a], 0.0)
    reached, given = 0.0, 0.0
    for a in range(k):
        reached += max(until * s.omega[a] - s.pulls[a], 0.0)
        now = math.floor((until - time) * reached / lacking + 0.5)
        s.owed[a] = now - given
        given = now
