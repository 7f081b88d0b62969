"""One round of every strategy: policy, stopping rule; allocation, arm; then what it gave.

`done` finds the policy and looks at the rule, `choose` allocates and tracks; core/strategy.py says
who calls them.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.core.strategy import Strategy
from bestarm.core.tracking import track
from bestarm.lagex.allocation import ACCURACY, costs_of, passes_glr
from bestarm.lagex.confidence import norm, radius, released_threshold, threshold
from bestarm.lagex.dual import Program, solve
from bestarm.lagex.full_adagrad import full_step
from bestarm.lagex.game import RATE, optimistic_gains
from bestarm.lagex.projection import TOLERANCE as MISSED
from bestarm.lagex.projection import project_into
from bestarm.lagex.state import (
    FAR_CUT,
    GAME,
    INEXACT,
    INSIDE,
    LOST_POLICY,
    NEAR_CUT,
    NO_POLICY,
    PRICED,
    PROJECTED,
    PULLED,
    SOLVED,
    TIME,
    UNIFORM,
    UNSOLVED,
    Rules,
    State,
    observe,
    start,
)
from bestarm.lagex.vertices import EMPTY, FOUND, find_alternatives, find_best, load

#: A constraint is broken by more than rounding, or by more than the sampling program's accuracy.
BROKEN, BROKEN_BY_SOLVER = 1e-9, 1e-3
#: `Geometry.found` where there is no policy to allocate for.
NO_ALTERNATIVES = -1


@lean
def remember(weights, scales, slots, roots, count: int, n_edges: int, y: np.ndarray) -> None:
    """Start y from the last round's weights; equal ones where most alternatives are new.

    Where an arm's q is that of one alternative, the weight of this is proportional to its cost
    there, compared with the others' (`_moved` in dual.py): so weights move with the costs.
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
def memorise(weights, scales, last, slots, roots, count: int, y: np.ndarray) -> None:
    """Keep y for the next round, by slot."""
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
    near, program = s.policies.near, s.program
    costs_of(
        near.steps, near.gaps, count, rules.added, s.seen.deviations, ACCURACY,
        program.costs, program.roots,
    )  # fmt: skip


@inlined
def solve_program(s: State, count: int, rows: np.ndarray, omega: np.ndarray, n_edges: int) -> None:
    """The program of allocation.py from the last round's solution, to the accuracy of sampling.

    Args:
        s: its `near` holds the alternatives, its `program` their costs.
        count: how many there are.
        rows: (d, K). omega: (K,) where to start, overwritten.
        n_edges: slots from 0 that are the best vertex's.
    """
    costs, roots, weights, scales, duals, last, solver = s.program
    y, slots = solver.y, s.policies.near.slots
    d, k = rows.shape
    remember(weights, scales, slots, roots, count, n_edges, y)
    for i in range(1 + d):
        y[count + i] = duals[i]
    residual = solve(Program(costs, count, rows), ACCURACY, omega, solver)
    memorise(weights, scales, last, slots, roots, count, y)
    fine = True
    for i in range(1 + d):
        duals[i] = y[count + i]
        fine &= math.isfinite(duals[i])
    for a in range(k):
        fine &= math.isfinite(omega[a])
    if fine:
        s.counts[INEXACT] += not residual <= ACCURACY
    else:  # a set without an inside
        s.counts[UNSOLVED] += 1
        omega[:] = 1.0 / k
        duals[:] = 0.0
        duals[0] = 1.0
        last[0] = 0
        weights[:] = 0.0


@inlined
def relax(rules: Rules, s: State, confidence: float) -> None:
    """The optimistic constraints of this round: every row minus a shift."""
    seen, policies = s.seen, s.policies
    d, k = seen.rows.shape
    policies.shift[0] = confidence * norm(s.omega, seen.pulls) if rules.region != INSIDE else 0.0
    for i in range(d):
        for a in range(k):
            policies.relaxed[i, a] = seen.rows[i, a] - policies.shift[0]


@inlined
def find_policy(rules: Rules, s: State) -> int:
    """The best policy by the estimates, and what to tell it apart from, left in `s.policies`.

    Returns:
        FOUND; or EMPTY if no policy keeps the constraints, or LOST if the best was not found: then
        the last one is left.
    """
    policies = s.policies
    rows = policies.relaxed if rules.optimistic_policy else s.seen.rows
    load(policies.polytope, s.seen.means, rows)
    found = find_best(policies.polytope)
    if found == FOUND:
        policies.found[0] = find_alternatives(policies.polytope, rules.r, policies.near)
        s.counts[NEAR_CUT] += policies.near.cut[0]
    else:
        policies.found[0] = NO_ALTERNATIVES
        s.counts[NO_POLICY if found == EMPTY else LOST_POLICY] += 1
    return found


@inlined
def least_statistic(rules: Rules, s: State, confidence: float) -> float:
    """What the GLR statistic has to exceed for a stop: a threshold of the paper or the program."""
    seen, policy = s.seen, s.policies.polytope.policy
    d, k = seen.rows.shape
    if rules.released:
        bar = released_threshold(s.counts[TIME], rules.delta)
    else:
        bar = threshold(s.counts[TIME], rules.delta)
    if rules.extra:
        shift = confidence * norm(policy, seen.pulls)
        bar += k * shift
        for i in range(d):
            slack = shift
            for a in range(k):
                slack -= seen.rows[i, a] * policy[a]
            bar -= abs(slack)
    return bar


@inlined
def stops(rules: Rules, s: State, bar: float) -> bool:
    """Whether the policy is told apart from all others.

    With r > 0 a vertex far from the best may count less than those near (docs/readings.md), and a
    run must not stop before that one is told apart too, nor while one may be missing.
    """
    pulls, policies, stop = s.seen.pulls, s.policies, False
    if passes_glr(policies.near, policies.found[0], rules.added, rules.variances, pulls, bar):
        every = find_alternatives(policies.polytope, np.inf, policies.far)
        if passes_glr(policies.far, every, rules.added, rules.variances, pulls, bar):
            stop = not policies.far.cut[0]
            s.counts[FAR_CUT] += not stop
    return stop


@inlined
def done(rules: Rules, s: State) -> bool:
    """Find this round's policy, and look at the stopping rule; not before every arm was pulled."""
    stop = False
    if s.counts[PULLED] == s.omega.size:
        confidence = 0.0
        if rules.region != INSIDE or rules.extra:
            confidence = radius(s.seen.log_determinant[0], s.omega.size, rules.delta)
        relax(rules, s, confidence)
        if find_policy(rules, s) == FOUND:
            stop = stops(rules, s, least_statistic(rules, s, confidence))
    return stop


@inlined
def project_best_arm(rules: Rules, s: State) -> None:
    """The allocation for the best arm without constraints, projected into them."""
    k, means, near, game = s.omega.size, s.seen.means, s.policies.near, s.game
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
    solve_program(s, others, s.policies.none, game.raw, k)
    for a in range(k):
        game.squares[a] = 1.0
    missed = project_into(game.raw, game.squares, s.seen.rows, game.projection, s.omega)
    s.counts[INEXACT] += not missed <= MISSED


@inlined
def add_price(rules: Rules, s: State, price: float) -> None:
    """Take from the gains the most broken constraint's row, if one is broken, at a price."""
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
            gains[a] -= price * relaxed[broken, a]


@inlined
def play_game(rules: Rules, s: State) -> None:
    """AdaGrad's next allocation, after its last one met the estimates of this round."""
    k, d = s.omega.size, rules.limits.size
    policies, game = s.policies, s.game
    gamma = np.inf  # the policy's least slack
    for i in range(d):
        slack = policies.shift[0]
        for a in range(k):
            slack -= s.seen.rows[i, a] * policies.polytope.policy[a]
        gamma = min(gamma, slack)
    value = optimistic_gains(rules, s)
    priced = rules.region == PRICED and gamma > BROKEN
    if priced:  # the multiplier of Theorem 1: D / gamma
        add_price(rules, s, value / gamma)
    if rules.full_matrix:
        for a in range(k):
            for b in range(k):
                game.outer[a, b] += game.gains[a] * game.gains[b]
        s.counts[INEXACT] += not full_step(game.outer, game.gains, RATE, s.omega)
    else:
        for a in range(k):
            game.squares[a] += game.gains[a] * game.gains[a]
            game.scratch[a] = math.sqrt(game.squares[a])
            game.raw[a] = s.omega[a] + RATE * game.gains[a] / game.scratch[a]
        rows = policies.none if priced else policies.relaxed
        missed = project_into(game.raw, game.scratch, rows, game.projection, s.omega)
        s.counts[INEXACT] += not missed <= MISSED


@inlined
def allocate(rules: Rules, s: State) -> None:
    """This round's allocation: uniform in the first, and where there is no policy."""
    k, count = s.omega.size, s.policies.found[0]
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
    """The arm to pull next: one that was not pulled yet, or the one that lags most."""
    if s.counts[PULLED] == s.omega.size:
        allocate(rules, s)
        arm = track(s.omega, s.seen.pulls, s.counts[TIME], s.tracked, s.floored)
    else:
        arm = 0
        while s.seen.pulls[arm] > 0.0:
            arm += 1
    return arm


@inlined
def breaks(matrix: np.ndarray, limits: np.ndarray, weights: np.ndarray, slack: float) -> bool:
    """Whether matrix @ weights exceeds some limit by more than `slack`."""
    for i in range(limits.size):
        total = -limits[i] - slack
        for a in range(weights.size):
            total += matrix[i, a] * weights[a]
        if total > 0.0:
            return True
    return False


class World(NamedTuple):
    """What is pulled in simulations, and what is counted of a run beside its failures."""

    means: np.ndarray  # (K,)
    deviations: np.ndarray  # (K,)
    matrix: np.ndarray  # (d, K)
    limits: np.ndarray  # (d,)
    cost_sigma: float
    observed: np.ndarray  # (1 + d,) scratch
    broken: np.ndarray  # (2,) rounds whose policy, and whose allocation, breaks a true constraint


@inlined
def pull(world: World, s: State, arm: int, environment: np.random.Generator) -> np.ndarray:
    """A reward, then d costs; and look whether this round's policy and allocation keep limits."""
    matrix, observed = world.matrix, world.observed
    if s.counts[TIME] >= s.omega.size:
        policy = s.policies.polytope.policy
        if breaks(matrix, world.limits, policy, BROKEN):
            world.broken[0] += 1
        if breaks(matrix, world.limits, s.omega, BROKEN_BY_SOLVER):
            world.broken[1] += 1
    observed[0] = world.means[arm] + world.deviations[arm] * environment.standard_normal()
    for i in range(world.limits.size):
        observed[1 + i] = matrix[i, arm] + world.cost_sigma * environment.standard_normal()
    return observed


#: All strategies take the same steps, whose rules say the kind, so that one loop is compiled.
STEPS = Strategy("lagex", start, done, choose, observe, pull, lean=True)
PLAY = STEPS.play


class Result(NamedTuple):
    """What a run's row needs of its last state."""

    counts: np.ndarray  # (8,) before a last look at the rule
    stopped: bool  # by the rule, at the last look if not before
    lost: bool  # whether the policy was lost in that look
    policy: np.ndarray  # (K,)
    support: np.ndarray  # (K + d,) 1 for arms with weight in it, then for constraints with slack
    pulls: np.ndarray  # (K,)


@jit
def run(world: World, rules: Rules, cap: int, environment: np.random.Generator) -> Result:
    """A run, and a last look at the rule.

    It costs less than `PLAY` itself, to which a short run's rounds are no more than what passes
    between it and Python: a whole state, and coins that no strategy here tosses.
    """
    state, stopped = PLAY(world, rules, cap, environment, environment)
    counts = state.counts.copy()
    if not stopped:
        stopped = done(rules, state)
    lost = state.counts[LOST_POLICY] > counts[LOST_POLICY]
    polytope = state.policies.polytope
    support = np.zeros(polytope.tableau.shape[1] - 1, np.int64)
    for row in range(polytope.basis.size):
        if polytope.basis[row] >= 0 and polytope.tableau[row, support.size] > BROKEN:
            support[polytope.basis[row]] = 1
    return Result(counts, stopped, lost, polytope.policy, support, state.seen.pulls)
