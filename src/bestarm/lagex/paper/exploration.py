"""One round of every strategy: allocation and arm, then estimates, policy and stopping rule.

`choose` computes the allocation and tracks it; `observe` updates the estimates and looks at them:
it finds the policy and evaluates the stopping rule. `done` says what the last analysis found; see
core/strategy.py.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, lean
from bestarm.core.strategy import Strategy
from bestarm.core.tracking import track
from bestarm.lagex.paper.allocation import ACCURACY, alternative_costs, failing_alternative
from bestarm.lagex.paper.confidence import bounds, norm
from bestarm.lagex.paper.dual import AllocationProblem, solve
from bestarm.lagex.paper.full_adagrad import full_step
from bestarm.lagex.paper.game import optimistic_gains
from bestarm.lagex.paper.projection import TOLERANCE as PROJECTION_TOLERANCE
from bestarm.lagex.paper.projection import project_into
from bestarm.lagex.paper.state import (
    FAR_CUT,
    GAME,
    INEXACT,
    INSIDE,
    LOST_POLICY,
    NEAR_CUT,
    NO_ALTERNATIVES,
    NO_POLICY,
    PENALISED,
    PROJECTED,
    PULLED,
    SOLVED,
    TIME,
    UNIFORM,
    UNLISTED,
    UNSOLVED,
    Rules,
    State,
    start,
    update,
)
from bestarm.lagex.vertices import (
    EMPTY,
    FOUND,
    best_support,
    find_alternatives,
    find_best,
    find_edge,
    load,
)
from bestarm.lagex.world import BROKEN, BROKEN_BY_SOLVER, World, breaks, draw


@lean
def restore_weights(weights, scales, slots, roots, count: int, n_edges: int, y: np.ndarray) -> None:
    """Warm start: set y to the last round's weights, or to equal ones if most alternatives are new.

    If only one alternative contributes to an arm's q, its weight is proportional to its relative
    cost there (`_moved` in dual.py). So weights are scaled with the costs.
    """
    total, main = 0.0, 0
    for v in range(count):
        total += weights[slots[v]]
        main += slots[v] < n_edges
    if not total > 0.5:
        for v in range(count):
            y[v] = 1.0 / main if slots[v] < n_edges else 0.0
        return
    total = 0.0
    for v in range(count):
        y[v] = 0.0
        if weights[slots[v]] > 0.0:
            grown = roots[v] / scales[slots[v]]
            y[v] = weights[slots[v]] * grown * grown
            total += y[v]
    for v in range(count):
        y[v] /= total


@lean
def save_weights(weights, scales, last, slots, roots, count: int, y: np.ndarray) -> None:
    """Save y for the next round, by slot."""
    for i in range(last[0]):
        weights[last[1 + i]] = 0.0
    for v in range(count):
        weights[slots[v]] = y[v]
        scales[slots[v]] = roots[v]
        last[1 + v] = slots[v]
    last[0] = count


@inlined
def find_costs(rules: Rules, s: State, count: int) -> None:
    """The costs of the `count` alternatives in `near`."""
    near, warm_start = s.policies.near, s.warm_start
    alternative_costs(
        near.steps, near.gaps, count, rules.added, s.estimates.deviations, ACCURACY,
        warm_start.costs, warm_start.roots,
    )  # fmt: skip


@inlined
def solve_program(s: State, count: int, rows: np.ndarray, omega: np.ndarray, n_edges: int) -> None:
    """Solve the problem of allocation.py to ACCURACY, from a warm start.

    Args:
        s: its `near` holds the alternatives, its `warm_start` their costs.
        count: number of alternatives.
        rows: (d, K). omega: (K,) the start, overwritten with the solution.
        n_edges: slots below this belong to edges of the best vertex.
    """
    costs, roots, weights, scales, duals, last, solver = s.warm_start
    y, slots = solver.y, s.policies.near.slots
    d, k = rows.shape
    restore_weights(weights, scales, slots, roots, count, n_edges, y)
    for i in range(1 + d):
        y[count + i] = duals[i]
    residual = solve(AllocationProblem(costs, count, rows), ACCURACY, omega, solver)
    save_weights(weights, scales, last, slots, roots, count, y)
    fine = True
    for i in range(1 + d):
        duals[i] = y[count + i]
        fine &= math.isfinite(duals[i])
    for a in range(k):
        fine &= math.isfinite(omega[a])
    if fine:
        s.counts[INEXACT] += not residual <= ACCURACY
    else:  # an empty interior
        s.counts[UNSOLVED] += 1
        omega[:] = 1.0 / k
        duals[:] = 0.0
        duals[0] = 1.0
        last[0] = 0
        weights[:] = 0.0


@inlined
def relax(s: State, shift: float) -> None:
    """The optimistic constraints of this round: every row minus a shift."""
    estimates, policies = s.estimates, s.policies
    d, k = estimates.rows.shape
    policies.shift[0] = shift
    for i in range(d):
        for a in range(k):
            policies.relaxed[i, a] = estimates.rows[i, a] - shift


@inlined
def find_policy(rules: Rules, s: State) -> bool:
    """Find the best policy by the estimates, left in `s.policies`.

    Returns:
        Whether that succeeded. If not, since no policy satisfies the constraints or the best was
        not found, the last policy remains.
    """
    policies = s.policies
    rows = policies.relaxed if rules.optimistic_policy else s.estimates.rows
    load(policies.polytope, s.estimates.means, rows)
    outcome = find_best(policies.polytope)
    if outcome == FOUND:
        policies.n_near[0] = UNLISTED
    else:
        policies.n_near[0] = NO_ALTERNATIVES
        s.counts[NO_POLICY if outcome == EMPTY else LOST_POLICY] += 1
    return outcome == FOUND


@inlined
def list_alternatives(rules: Rules, s: State) -> None:
    """List the alternatives of the best policy, after `find_policy`."""
    policies = s.policies
    policies.n_near[0] = find_alternatives(policies.polytope, rules.r, policies.near)
    s.counts[NEAR_CUT] += policies.near.cut[0]


@inlined
def with_slacks(s: State, width: float, beta: float) -> float:
    """A threshold with the released program's terms for estimated constraints."""
    estimates, policy = s.estimates, s.policies.polytope.policy
    d, k = estimates.rows.shape
    shift = width * norm(policy, estimates.pulls)
    beta += k * shift
    for i in range(d):
        slack = shift
        for a in range(k):
            slack -= estimates.rows[i, a] * policy[a]
        beta -= abs(slack)
    return beta


@inlined
def fails_again(rules: Rules, s: State, beta: float) -> bool:
    """Whether the GLR test fails at the edge of the column at which it failed last."""
    policies, pulls, near = s.policies, s.estimates.pulls, s.policies.near
    column = policies.failed[0]
    if column < 0 or not find_edge(policies.polytope, column, near):
        return False
    return failing_alternative(near, 1, rules.added, rules.variances, pulls, beta) == 0


@inlined
def stops(rules: Rules, s: State, beta: float) -> bool:
    """Whether the GLR test passes for all alternatives.

    With r > 0 a vertex far from the best may have a smaller statistic than those nearby
    (docs/readings.md), so the test includes all vertices, and fails while some may be missing.
    """
    pulls, policies, stop = s.estimates.pulls, s.policies, False
    near, far, count = policies.near, policies.far, policies.n_near[0]
    v = failing_alternative(near, count, rules.added, rules.variances, pulls, beta)
    policies.failed[0] = near.slots[v] % policies.polytope.values.size if v >= 0 else -1
    if v < 0:
        every = find_alternatives(policies.polytope, np.inf, far)
        if failing_alternative(far, every, rules.added, rules.variances, pulls, beta) < 0:
            stop = not far.cut[0]
            s.counts[FAR_CUT] += not stop
    return stop


@inlined
def analyse(rules: Rules, s: State) -> None:
    """Find the policy by the estimates, and evaluate the stopping rule; every arm was pulled.

    If allocations do not depend on the policy's alternatives, these are listed only if the rule
    does not fail at the edge at which it failed last: it seldom needs more than that one.
    """
    for place in range(s.counts.size):
        s.before[place] = s.counts[place]
    s.holds[0] = 0
    width, shift, beta = bounds(
        s.counts[TIME], s.estimates.log_determinant[0], s.omega, s.estimates.pulls, rules.delta,
        rules.region != INSIDE, rules.extra, rules.released,
    )  # fmt: skip
    relax(s, shift)
    if find_policy(rules, s):
        s.threshold[0] = with_slacks(s, width, beta) if rules.extra else beta
        allocates = rules.source == SOLVED or rules.source == GAME  # by the alternatives
        if allocates or not fails_again(rules, s, s.threshold[0]):
            list_alternatives(rules, s)
            s.holds[0] = stops(rules, s, s.threshold[0])


@inlined
def observe(rules: Rules, s: State, arm: int, observed: np.ndarray) -> None:
    """Update the estimates with a reward and d costs, (1 + d,), and look at them.

    Until every arm has been pulled there is nothing to look at.
    """
    update(rules, s, arm, observed)
    if s.counts[PULLED] == s.omega.size:
        analyse(rules, s)


@inlined
def done(rules: Rules, s: State) -> bool:
    """Whether the stopping rule held at the last analysis."""
    return s.holds[0] == 1


@inlined
def project_best_arm(rules: Rules, s: State) -> None:
    """The allocation for the best arm without constraints, projected into them."""
    k, means, near, game = s.omega.size, s.estimates.means, s.policies.near, s.game
    best, others = 0, 0
    for a in range(k):
        if means[a] > means[best]:
            best = a
    for a in range(k):
        if a != best:
            near.gaps[others] = means[best] - means[a]
            for b in range(k):
                near.steps[others, b] = 0.0
            near.steps[others, a], near.steps[others, best] = 1.0, -1.0
            near.slots[others] = a
            others += 1
    find_costs(rules, s, others)
    solve_program(s, others, s.policies.no_rows, game.raw, k)
    for a in range(k):
        game.squares[a] = 1.0
    missed = project_into(game.raw, game.squares, s.estimates.rows, game.projection, s.omega)
    s.counts[INEXACT] += not missed <= PROJECTION_TOLERANCE


@inlined
def add_penalty(rules: Rules, s: State, multiplier: float) -> None:
    """Subtract from the gains the most violated constraint's row, if any, times a multiplier."""
    relaxed, gains = s.policies.relaxed, s.game.gains
    d, k = relaxed.shape
    excess, broken = 0.0, -1
    for i in range(d):
        total = 0.0
        for a in range(k):
            total += relaxed[i, a] * s.omega[a]
        if total > excess:
            excess, broken = total, i
    if broken >= 0:
        for a in range(k):
            gains[a] -= multiplier * relaxed[broken, a]


@inlined
def play_game(rules: Rules, s: State) -> None:
    """AdaGrad's next allocation, from the gains of its last one under this round's estimates."""
    k, d = s.omega.size, rules.limits.size
    policies, game = s.policies, s.game
    gamma = np.inf  # the policy's least slack
    for i in range(d):
        slack = policies.shift[0]
        for a in range(k):
            slack -= s.estimates.rows[i, a] * policies.polytope.policy[a]
        gamma = min(gamma, slack)
    value = optimistic_gains(rules, s)
    penalised = rules.region == PENALISED and gamma > BROKEN
    if penalised:  # the multiplier of Theorem 1: D / gamma
        add_penalty(rules, s, value / gamma)
    if rules.full_matrix:
        for a in range(k):
            for b in range(k):
                game.outer[a, b] += game.gains[a] * game.gains[b]
        s.counts[INEXACT] += not full_step(game.outer, game.gains, rules.rate, s.omega)
    else:
        for a in range(k):
            game.squares[a] += game.gains[a] * game.gains[a]
            game.scratch[a] = math.sqrt(game.squares[a])
            game.raw[a] = s.omega[a] + rules.rate * game.gains[a] / game.scratch[a]
        rows = policies.no_rows if penalised else policies.relaxed
        missed = project_into(game.raw, game.scratch, rows, game.projection, s.omega)
        s.counts[INEXACT] += not missed <= PROJECTION_TOLERANCE


@inlined
def allocate(rules: Rules, s: State) -> None:
    """This round's allocation: uniform in the first round, and if there is no policy."""
    k, count = s.omega.size, s.policies.n_near[0]
    if count == NO_ALTERNATIVES or rules.source == UNIFORM:
        for a in range(k):
            s.omega[a] = 1.0 / k
    elif rules.source == SOLVED:
        find_costs(rules, s, count)
        solve_program(s, count, s.policies.relaxed, s.omega, k + rules.limits.size)
    elif rules.source == PROJECTED:
        project_best_arm(rules, s)
    elif rules.source == GAME and s.counts[TIME] > k:
        play_game(rules, s)


@inlined
def choose(rules: Rules, s: State, coins: np.random.Generator) -> int:
    """The arm to pull next: one not pulled yet, or the one that lags most."""
    if s.counts[PULLED] == s.omega.size:
        allocate(rules, s)
        arm = track(s.omega, s.estimates.pulls, s.counts[TIME], s.tracked, s.floored)
    else:
        arm = 0
        while s.estimates.pulls[arm] > 0.0:
            arm += 1
    return arm


@inlined
def pull(world: World, s: State, arm: int, environment: np.random.Generator) -> np.ndarray:
    """A reward, then d costs. Also counts whether the policy and allocation violate limits."""
    if s.counts[TIME] >= s.omega.size:
        policy = s.policies.polytope.policy
        if breaks(world, policy, BROKEN):
            s.broken[0] += 1
        if breaks(world, s.omega, BROKEN_BY_SOLVER):
            s.broken[1] += 1
    return draw(world, s.observed, arm, environment)


#: All strategies share the same steps, whose rules hold the kind, so that one loop is compiled.
STEPS = Strategy("lagex", start, done, choose, observe, pull, lean=True)


class Result(NamedTuple):
    """What the row of a run needs of its last state."""

    counts: np.ndarray  # (8,) of a run that reached its cap: before the last analysis
    broken: np.ndarray  # (2,) rounds whose policy, and whose allocation, violates a true limit
    stopped: bool  # whether the stopping rule held at the last analysis
    lost: bool  # whether the best policy was not found in that analysis
    policy: np.ndarray  # (K,)
    support: np.ndarray  # (K + d,) 1 for arms with weight in the policy, then slack constraints
    pulls: np.ndarray  # (K,)


def run(world: World, rules: Rules, cap: int, environment: np.random.Generator) -> Result:
    """A run, and what is kept of it. No strategy here tosses coins."""
    state, stopped = STEPS.play(world, rules, cap, environment, environment)
    polytope = state.policies.polytope
    return Result(
        counts=state.counts if stopped else state.before,
        broken=state.broken,
        stopped=bool(done(rules, state)),
        lost=bool(state.counts[LOST_POLICY] > state.before[LOST_POLICY]),
        policy=polytope.policy,
        support=best_support(polytope),
        pulls=state.estimates.pulls,
    )
