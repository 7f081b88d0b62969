"""One round of every strategy: policy, stopping rule, allocation, arm; then what it gave.

`choose` and `observe` run the simulations and the ask/tell objects alike.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.core.tracking import track
from bestarm.lagex.allocation import SAMPLING, costs_of, told_apart
from bestarm.lagex.confidence import norm, radius, released_threshold, threshold
from bestarm.lagex.dual import Program, Solver, make_solver, solve
from bestarm.lagex.full_adagrad import full_step
from bestarm.lagex.game import RATE, optimistic_gains
from bestarm.lagex.projection import TOLERANCE as MISSED
from bestarm.lagex.projection import Projection, make_projection, project_into
from bestarm.lagex.vertices import (
    ALL_BASES,
    EMPTY,
    FOUND,
    MOST_BASES,
    Others,
    Polytope,
    find_alternatives,
    find_best,
    load,
    make_others,
    make_polytope,
)

#: Where allocations come from: the program solved every round, a game, the unconstrained program
#: projected, or no program.
SOLVED, GAME, PROJECTED, UNIFORM = range(4)
#: Where allocations may lie: at a price outside the relaxed constraints, or within them, or within
#: the constraints as they are. A price is exact where a program is solved (allocation.py), and
#: infinite where the policy leaves no slack.
PRICED, OPTIMISTIC, INSIDE = range(3)
#: What a state counts: pulls, and rounds in which there was no policy; it was lost; the program of
#: the allocation had no finite solution, or one off by more than its tolerance; vertices near the
#: best may be missing from a list; the rule would hold but for vertices that may be missing.
TIME, NO_POLICY, LOST_POLICY, UNSOLVED, INEXACT, NEAR_CUT, FAR_CUT = range(7)
#: A constraint is broken by more than rounding, or by more than the sampling program's accuracy.
BROKEN, BROKEN_BY_SOLVER = 1e-9, 1e-3


class Rules(NamedTuple):
    """A strategy under one reading."""

    sampling: int
    limits: int
    known: bool  # the constraints are
    ridge: bool  # estimates (sum) / (N + 1), else plain averages
    optimistic_policy: bool  # policies from the relaxed set
    full_matrix: bool  # AdaGrad, where allocations lie on the simplex
    released: bool  # the stopping rule of the authors' program
    extra: bool  # with its terms for estimated constraints
    delta: float
    r: float  # what vertices may lie below the best one
    added: float  # to gaps: r, or -r where the paper's sign is taken


class State(NamedTuple):
    """Everything a strategy remembers, and scratch; K arms, d constraints."""

    counts: np.ndarray  # (7,) from TIME to FAR_CUT
    log_determinant: np.ndarray  # (1,) ln det Sigma
    limits: np.ndarray  # (d,) b
    variances: np.ndarray  # (K,)
    deviations: np.ndarray  # (K,) their roots
    pulls: np.ndarray  # (K,) N
    reward_sums: np.ndarray  # (K,)
    cost_sums: np.ndarray  # (d, K)
    means: np.ndarray  # (K,) estimates
    rows: np.ndarray  # (d, K) A - b 1^T, estimated or known
    relaxed: np.ndarray  # (d, K) the same minus a shift
    none: np.ndarray  # (0, K)
    polytope: Polytope  # the estimated policies; the best one is the answer
    near: Others  # vertices to tell it apart from, within reach
    far: Others  # all vertices
    omega: np.ndarray  # (K,) allocation
    tracked: np.ndarray  # (K,) sums of allocations
    floored: np.ndarray  # (K,) scratch
    # AdaGrad, and the projection
    raw: np.ndarray  # (K,) before projection
    gains: np.ndarray  # (K,)
    squares: np.ndarray  # (K,) sums of squared gains
    outer: np.ndarray  # (K, K) sums of gains gains^T
    projection: Projection
    # the program of allocation.py, and its last solution: weights by slot, duals nu and l
    costs: np.ndarray  # (V, K)
    roots: np.ndarray  # (V,) sum_a sqrt(c_va)
    weights: np.ndarray  # (V,) by slot
    scales: np.ndarray  # (V,) by slot, the roots they belong to
    duals: np.ndarray  # (1 + d,)
    last: np.ndarray  # (1 + V,) slots with weight; the first entry counts them
    solver: Solver


@jit
def make_state(variances: np.ndarray, limits: np.ndarray) -> State:
    """A strategy's memory before the first pull, with nothing known of the constraints' costs."""
    k, d = variances.size, limits.size
    most = MOST_BASES * (k + d)
    duals = np.zeros(d + 1)
    duals[0] = 1.0
    return State(
        counts=np.zeros(7, np.int64),
        log_determinant=np.zeros(1),
        limits=limits.copy(),
        variances=variances.copy(),
        deviations=np.sqrt(variances),
        pulls=np.zeros(k),
        reward_sums=np.zeros(k),
        cost_sums=np.zeros((d, k)),
        means=np.zeros(k),
        rows=np.zeros((d, k)),
        relaxed=np.zeros((d, k)),
        none=np.zeros((0, k)),
        polytope=make_polytope(k, d),
        near=make_others(k, d, MOST_BASES),
        far=make_others(k, d, ALL_BASES),
        omega=np.full(k, 1.0 / k),
        tracked=np.zeros(k),
        floored=np.zeros(k),
        raw=np.zeros(k),
        gains=np.zeros(k),
        squares=np.zeros(k),
        outer=np.zeros((k, k)),
        projection=make_projection(k, d),
        costs=np.zeros((most, k)),
        roots=np.zeros(most),
        weights=np.zeros(most),
        scales=np.zeros(most),
        duals=duals,
        last=np.zeros(most + 1, np.int64),
        solver=make_solver(most, k, d),
    )


@inlined
def observe(rules: Rules, s: State, arm: int, reward: float, costs: np.ndarray) -> None:
    """Take in a reward and a cost vector (d,) of an arm."""
    before = s.pulls[arm]
    s.counts[TIME] += 1
    s.log_determinant[0] += math.log((2.0 + before) / (1.0 + before))
    s.pulls[arm] = before + 1.0
    s.reward_sums[arm] += reward
    weight = 1.0 / (before + (2.0 if rules.ridge else 1.0))
    s.means[arm] = s.reward_sums[arm] * weight
    for i in range(costs.size):
        s.cost_sums[i, arm] += costs[i]
        if not rules.known:
            s.rows[i, arm] = s.cost_sums[i, arm] * weight - s.limits[i]


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
    """The costs of the `count` alternatives in `s.near`."""
    costs_of(
        s.near.steps, s.near.falls, count, rules.added, s.deviations, SAMPLING, s.costs, s.roots
    )


@inlined
def solve_program(s: State, count: int, rows: np.ndarray, omega: np.ndarray, n_edges: int) -> None:
    """The program of allocation.py from the last round's solution, to the accuracy of sampling.

    Args:
        count: alternatives, in `s.near`; their costs in `s.costs`.
        rows: (d, K). omega: (K,) where to start, overwritten.
        n_edges: slots from 0 that are the best vertex's.
    """
    y, duals, slots = s.solver.y, s.duals, s.near.slots
    d, k = rows.shape
    remember(s.weights, s.scales, slots, s.roots, count, n_edges, y)
    for i in range(1 + d):
        y[count + i] = duals[i]
    residual = solve(Program(s.costs, count, rows), SAMPLING, omega, s.solver)
    memorise(s.weights, s.scales, s.last, slots, s.roots, count, y)
    fine = True
    for i in range(1 + d):
        duals[i] = y[count + i]
        fine &= math.isfinite(duals[i])
    for a in range(k):
        fine &= math.isfinite(omega[a])
    if fine:
        s.counts[INEXACT] += not residual <= SAMPLING
    else:  # a set without an inside
        s.counts[UNSOLVED] += 1
        omega[:] = 1.0 / k
        duals[:] = 0.0
        duals[0] = 1.0
        s.last[0] = 0
        s.weights[:] = 0.0


@inlined
def find_policy(rules: Rules, s: State, confidence: float) -> int:
    """The best policy by the estimates, left in `s.polytope`, and what to tell it apart from.

    Returns:
        How many alternatives there are in `s.near`; -1 if no policy keeps the constraints, or the
        best was not found, and then the last one is left; -2 if the stopping rule holds.
    """
    k, d, time = s.omega.size, s.limits.size, s.counts[TIME]
    load(s.polytope, s.means, s.relaxed if rules.optimistic_policy else s.rows)
    found = find_best(s.polytope)
    if found != FOUND:
        s.counts[NO_POLICY if found == EMPTY else LOST_POLICY] += 1
        return -1
    count = find_alternatives(s.polytope, rules.r, s.near)
    s.counts[NEAR_CUT] += s.near.cut[0]
    bar = threshold(time, rules.delta)
    if rules.released:
        bar = released_threshold(time, rules.delta)
    if rules.extra:
        policy = s.polytope.policy
        shift = confidence * norm(policy, s.pulls)
        bar += k * shift
        for i in range(d):
            slack = shift
            for a in range(k):
                slack -= s.rows[i, a] * policy[a]
            bar -= abs(slack)
    # With r > 0 a vertex far from the best may count less than those near (docs/readings.md), and a
    # run must not stop before that one is told apart too, nor while one may be missing.
    if told_apart(s.near, count, rules.added, s.variances, s.pulls, bar):
        every = find_alternatives(s.polytope, np.inf, s.far)
        if told_apart(s.far, every, rules.added, s.variances, s.pulls, bar):
            if not s.far.cut[0]:
                return -2
            s.counts[FAR_CUT] += 1
    return count


@inlined
def project_best_arm(rules: Rules, s: State) -> None:
    """The allocation for the best arm without constraints, projected into them."""
    k = s.omega.size
    best, others = 0, 0
    for a in range(k):
        if s.means[a] > s.means[best]:
            best = a
    for a in range(k):
        if a != best:
            s.near.falls[others] = s.means[best] - s.means[a]
            for b in range(k):
                s.near.steps[others, b] = 0.0
            s.near.steps[others, a], s.near.steps[others, best] = 1.0, -1.0
            s.near.slots[others] = a
            others += 1
    find_costs(rules, s, others)
    solve_program(s, others, s.none, s.raw, k)
    for a in range(k):
        s.squares[a] = 1.0
    missed = project_into(s.raw, s.squares, s.rows, s.projection, s.omega)
    s.counts[INEXACT] += not missed <= MISSED


@inlined
def play_game(rules: Rules, s: State, count: int, gamma: float) -> None:
    """AdaGrad's next allocation, after its last one met the estimates of this round.

    Args:
        count: alternatives. gamma: the policy's least slack under `s.relaxed`.
    """
    k, d, time = s.omega.size, s.limits.size, s.counts[TIME]
    floor = 0.5 / math.sqrt(k * k + time)
    value = optimistic_gains(
        s.near.steps, s.near.falls, count, rules.added, s.variances, s.pulls, time, floor,
        s.omega, s.floored, s.gains,
    )  # fmt: skip
    priced = rules.limits == PRICED and gamma > BROKEN
    if priced:  # the multiplier of Theorem 1: D / gamma on the most broken constraint
        excess, broken = 0.0, -1
        for i in range(d):
            total = 0.0
            for a in range(k):
                total += s.relaxed[i, a] * s.omega[a]
            if total > excess:
                excess, broken = total, i
        if broken >= 0:
            for a in range(k):
                s.gains[a] -= value / gamma * s.relaxed[broken, a]
    if rules.full_matrix:
        for a in range(k):
            for b in range(k):
                s.outer[a, b] += s.gains[a] * s.gains[b]
        s.counts[INEXACT] += not full_step(s.outer, s.gains, RATE, s.omega)
        return
    for a in range(k):
        s.squares[a] += s.gains[a] * s.gains[a]
        s.floored[a] = math.sqrt(s.squares[a])
        s.raw[a] = s.omega[a] + RATE * s.gains[a] / s.floored[a]
    rows = s.none if priced else s.relaxed
    missed = project_into(s.raw, s.floored, rows, s.projection, s.omega)
    s.counts[INEXACT] += not missed <= MISSED


@inlined
def choose(rules: Rules, s: State) -> int:
    """The arm to pull next, or -1 if the stopping rule holds; the answer so far is in `s.polytope`.

    Arms are pulled once each before anything else, and the first allocation is uniform.
    """
    k, d, time = s.omega.size, s.limits.size, s.counts[TIME]
    for a in range(k):
        if s.pulls[a] == 0.0:
            return a
    optimistic = rules.limits != INSIDE
    needed = optimistic or rules.extra
    confidence = radius(s.log_determinant[0], k, rules.delta) if needed else 0.0
    shift = confidence * norm(s.omega, s.pulls) if optimistic else 0.0
    for i in range(d):
        for a in range(k):
            s.relaxed[i, a] = s.rows[i, a] - shift
    count = find_policy(rules, s, confidence)
    if count == -2:
        return -1
    if count == -1 or rules.sampling == UNIFORM:
        for a in range(k):
            s.omega[a] = 1.0 / k
    elif rules.sampling == SOLVED:
        find_costs(rules, s, count)
        solve_program(s, count, s.relaxed, s.omega, k + d)
    elif rules.sampling == PROJECTED:
        project_best_arm(rules, s)
    elif time > k:
        gamma = np.inf  # the policy's least slack
        for i in range(d):
            slack = shift
            for a in range(k):
                slack -= s.rows[i, a] * s.polytope.policy[a]
            gamma = min(gamma, slack)
        play_game(rules, s, count, gamma)
    return track(s.omega, s.pulls, time, s.tracked, s.floored)


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


class Result(NamedTuple):
    """How a run ended."""

    time: int
    stopped: bool
    stale: bool  # whether the last search for a policy failed
    policy_violations: int
    allocation_violations: int
    counts: np.ndarray  # (7,) as a state's, before a last look at the rule
    policy: np.ndarray
    support: np.ndarray  # (K + d,) 1 for arms with weight, then for constraints with slack
    pulls: np.ndarray


@lean
def explore(
    rules: Rules,
    cap: int,
    state: State,
    means: np.ndarray,
    deviations: np.ndarray,
    matrix: np.ndarray,
    limits: np.ndarray,
    cost_sigma: float,
    costs: np.ndarray,
    environment,
) -> tuple[bool, int, int]:
    """A run's rounds: a reward, then d costs, drawn for every pull.

    Args:
        state: before the first pull; overwritten with the last. costs: (d,) scratch.

    Returns:
        Whether it stopped by its rule; the rounds in which the policy broke a constraint, and in
        which the allocation did.
    """
    d, k = matrix.shape
    bad_policies, bad_allocations = 0, 0
    while state.counts[TIME] < cap or state.counts[TIME] < k:
        arm = choose(rules, state)
        if arm < 0:
            return True, bad_policies, bad_allocations
        if state.counts[TIME] >= k:
            bad_policies += breaks(matrix, limits, state.polytope.policy, BROKEN)
            bad_allocations += breaks(matrix, limits, state.omega, BROKEN_BY_SOLVER)
        reward = means[arm] + deviations[arm] * environment.standard_normal()
        for i in range(d):
            costs[i] = matrix[i, arm] + cost_sigma * environment.standard_normal()
        observe(rules, state, arm, reward, costs)
    return False, bad_policies, bad_allocations


@jit
def run(
    rules: Rules,
    cap: int,
    means: np.ndarray,
    variances: np.ndarray,
    matrix: np.ndarray,
    limits: np.ndarray,
    cost_sigma: float,
    environment,
) -> Result:
    """One replication."""
    d, k = matrix.shape
    state = make_state(variances, limits)
    if rules.known:
        for i in range(d):
            for a in range(k):
                state.rows[i, a] = matrix[i, a] - limits[i]
    stopped, bad_policies, bad_allocations = explore(
        rules, cap, state, means, state.deviations, matrix, limits, cost_sigma, np.zeros(d),
        environment,
    )  # fmt: skip
    counts = state.counts.copy()
    if not stopped:
        stopped = choose(rules, state) < 0
    stale = state.counts[LOST_POLICY] > counts[LOST_POLICY]
    support = np.zeros(k + d, np.int64)
    basis, tableau = state.polytope.basis, state.polytope.tableau
    for row in range(d + 1):
        if basis[row] >= 0 and tableau[row, k + d] > BROKEN:
            support[basis[row]] = 1
    return Result(
        state.counts[TIME],
        stopped,
        stale,
        bad_policies,
        bad_allocations,
        counts,
        state.polytope.policy,
        support,
        state.pulls,
    )
