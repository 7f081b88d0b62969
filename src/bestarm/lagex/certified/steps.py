"""Certified: with probability 1 - delta, a policy keeps unknown constraints and is r-optimal.

Not in the paper. Pulls come in blocks that end at geometric times. After each block, `check` finds
the best policy pi that keeps every constraint whatever the costs may be (`cone.py`). It stops if no
policy that may be feasible is better by more than r, whatever the rewards may be (`pieces.py`).
Both hold with probability 1 - delta, at all times and for any allocation (docs/guarantees.md).
"""

import math

import numpy as np

from bestarm.core.compile import inlined, lean
from bestarm.core.strategy import Strategy
from bestarm.lagex.certified.allocation import demand, demand_safety, find_worst, plan_block
from bestarm.lagex.certified.cone import best_safe_policy
from bestarm.lagex.certified.confidence import ABOVE, largest_excess, set_radii, spread
from bestarm.lagex.certified.directed import plan_directed, record_directed, set_gaps
from bestarm.lagex.certified.pieces import MOST_PIECES, largest_shortfall
from bestarm.lagex.certified.state import (
    INFEASIBLE,
    POLICY,
    RUNNING,
    SAFE,
    TIME,
    UNCLOSED,
    UNSAFE,
    VERDICT,
    Rules,
    State,
    start,
)
from bestarm.lagex.vertices import EMPTY, find_best, load
from bestarm.lagex.world import BROKEN, BROKEN_BY_SOLVER, World, breaks, draw_counts, in_units

#: Accuracy of the safe policy's value, in units of r.
ACCURACY = 1e-3
#: Tests must hold with r this much smaller and radii this much larger, which is above the rounding
#: of vertices; that of estimates is added.
MARGIN = 1e-6
#: Bound on the relative rounding error of a floating-point operation.
ROUNDING = 2.0**-52
#: Rewards' means are less a multiple of this many times their range, so that it is most often 0.
APART = 64.0
#: Weights of a policy are multiples of this, so that they add up to 1 exactly.
GRID = 2.0**-30


@lean
def centre(means: np.ndarray) -> None:
    """Subtract a number near the means if they are far from 0 for their range, without rounding."""
    unit = math.ldexp(APART, math.frexp(spread(means))[1])
    offset = unit * np.rint(means[0] / unit)
    for a in range(means.size):
        means[a] -= offset


@lean
def estimate(rules: Rules, s: State) -> None:
    """The confidence set at the current counts."""
    for a in range(s.pulls.size):
        s.seen.means[a] = s.reward_sums[a] / s.pulls[a]
        for i in range(rules.limits.size):
            s.seen.rows[i, a] = s.cost_sums[i, a] / s.pulls[a] - rules.limits[i]
    centre(s.seen.means)
    variances = rules.variances, rules.cost_variance
    set_radii(s.pulls, rules.level, rules.n0, *variances, rules.directed, s.seen)
    if rules.directed > 0.0:
        set_gaps(rules, s)


@lean
def rounding_error(sums: np.ndarray, pulls: np.ndarray, limit: float) -> float:
    """A bound on that of sum_a (sums_a / pulls_a - limit) pi_a, for every policy pi."""
    largest = 0.0
    for a in range(pulls.size):
        largest = max(largest, abs(sums[a]) / pulls[a])
    return (pulls.size + 4) * ROUNDING * (largest + abs(limit))


@lean
def find_safe(rules: Rules, s: State) -> bool:
    """Find the safe policy; its weights are rounded to GRID, then tested."""
    if not best_safe_policy(s.seen, rules.eps, ACCURACY * rules.r, s.cone):
        return False
    x, policy, largest = s.cone.x, s.tilted[0], 0
    rest = 1.0
    for a in range(policy.size):
        policy[a] = math.floor(x[a] / GRID + 0.5) * GRID
        rest -= policy[a]
        if x[a] > x[largest]:
            largest = a
    policy[largest] += rest
    error = 0.0
    for i in range(rules.limits.size):
        error = max(error, rounding_error(s.cost_sums[i], s.pulls, rules.limits[i]))
    if largest_excess(s.seen, ABOVE, policy, 1.0 + MARGIN, s.pieces.error) + error > rules.eps:
        return False
    for a in range(policy.size):
        s.policy[a] = policy[a]
    s.counts[SAFE] = 1
    return True


@lean
def check(rules: Rules, s: State) -> None:
    """Set the verdict, and the demands."""
    estimate(rules, s)
    if find_safe(rules, s):
        error = 2.0 * rounding_error(s.reward_sums, s.pulls, 0.0)
        r = (1.0 - MARGIN) * rules.r - error
        if find_worst(s) <= r:
            bound = largest_shortfall(s.seen, s.policy, r, s.pieces)
            if bound < np.inf:
                s.counts[VERDICT] = POLICY if bound > -np.inf else INFEASIBLE
            s.counts[UNCLOSED] += s.pieces.looked_at[0] == MOST_PIECES
        demand(rules, s)
    else:
        load(s.polytope, s.seen.means, s.seen.rows)
        looks_empty = find_best(s.polytope) == EMPTY
        if looks_empty and largest_shortfall(s.seen, s.policy, -np.inf, s.pieces) == -np.inf:
            s.counts[VERDICT] = INFEASIBLE
        demand_safety(s)


@inlined
def done(rules: Rules, s: State) -> bool:
    """Whether something is certified."""
    return s.counts[VERDICT] != RUNNING


@inlined
def analyse(rules: Rules, s: State) -> None:
    """At the end of a block, check, and plan the next one unless something is certified."""
    left = 0.0
    for a in range(s.owed.size):
        left += s.owed[a]
    if left == 0.0:
        check(rules, s)
        if s.counts[VERDICT] == RUNNING:
            plan_block(rules, s)
            if rules.directed > 0.0:
                plan_directed(s)


@inlined
def choose(rules: Rules, s: State, coins: np.random.Generator) -> int:
    """The arm with most pulls to come in this block."""
    arm = 0
    for a in range(s.owed.size):
        if s.owed[a] > s.owed[arm]:
            arm = a
    return arm


@inlined
def observe(rules: Rules, s: State, arm: int, observed: np.ndarray) -> None:
    """Record some pulls of an arm, and look if they end a block.

    Once something is certified nothing is recorded any more.

    Args:
        rules, s: of the run.
        arm: index.
        observed: (d + 2,) the sums of their rewards and costs, and the number of pulls.
    """
    if s.counts[VERDICT] == RUNNING:
        d = rules.limits.size
        pulls = observed[d + 1]
        s.counts[TIME] += np.int64(pulls)
        s.counts[UNSAFE] += np.int64(0 if s.counts[SAFE] else pulls)
        s.pulls[arm] += pulls
        s.owed[arm] = max(s.owed[arm] - pulls, 0.0)
        s.reward_sums[arm] += observed[0]
        for i in range(d):
            s.cost_sums[i, arm] += observed[1 + i]
        if rules.directed > 0.0:
            record_directed(s, arm, pulls, observed[1 : 1 + d])
        analyse(rules, s)


@inlined
def count_broken(world: World, s: State, pulls: float) -> None:
    """Count pulls whose safe policy, or whose allocation, violates a true limit."""
    if s.counts[SAFE] and breaks(world, s.policy, BROKEN):
        s.broken[0] += np.int64(pulls)
    if breaks(world, s.omega, BROKEN_BY_SOLVER):
        s.broken[1] += np.int64(pulls)


@inlined
def pull(world: World, s: State, arm: int, environment: np.random.Generator) -> np.ndarray:
    """The reward and the costs of one pull, then 1, the number of pulls."""
    return pull_sums(world, s, arm, 1.0, environment)


@inlined
def pull_sums(world: World, s: State, arm: int, pulls: float, environment) -> np.ndarray:
    """Sums of the rewards and costs of some pulls, each one draw; then their number."""
    observed, d = s.observed, world.limits.size
    observed[d + 1] = pulls
    count_broken(world, s, pulls)
    if world.bernoulli:
        draw_counts(world, observed, arm, pulls, environment)
        return in_units(world, observed)
    spread = math.sqrt(pulls) * world.deviations[arm]
    observed[0] = pulls * world.means[arm] + spread * environment.standard_normal()
    spread = math.sqrt(pulls) * world.cost_sigma
    for i in range(d):
        observed[1 + i] = pulls * world.matrix[i, arm] + spread * environment.standard_normal()
    return in_units(world, observed)


STEPS = Strategy("lagex Certified", start, done, choose, observe, pull, lean=True)
