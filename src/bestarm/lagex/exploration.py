"""One round of every strategy: policy, stopping rule, allocation, arm; then what it gave.

`choose` and `observe` run the simulations and the ask/tell objects alike.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.bases import Workspace, make_workspace
from bestarm.core.compile import inlined, jit
from bestarm.core.tracking import track
from bestarm.lagex.allocation import (
    SAMPLING,
    Solver,
    costs_of,
    information,
    make_solver,
    pad,
    solve,
)
from bestarm.lagex.confidence import norm, radius, released_threshold, threshold
from bestarm.lagex.full_adagrad import full_step
from bestarm.lagex.game import RATE, optimistic_gains
from bestarm.lagex.projection import project_into
from bestarm.lagex.vertices import ALL_BASES, MOST_BASES, find_alternatives, find_best, load

#: Where allocations come from: the program solved every round, a game, the unconstrained program
#: projected, or no program.
SOLVED, GAME, PROJECTED, UNIFORM = range(4)
#: Where allocations may lie: at a price outside the relaxed constraints, or within them, or within
#: the constraints as they are. A price is exact where a program is solved (allocation.py), and
#: infinite where the policy leaves no slack.
PRICED, OPTIMISTIC, INSIDE = range(3)
#: A constraint is broken by more than rounding, or by more than the sampling program's accuracy.
BROKEN, BROKEN_BY_SOLVER = 1e-9, 1e-3
#: Least squared difference of two arms' estimates in a program.
LEAST_FALL = 1e-18


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

    counts: np.ndarray  # time, rounds without a policy
    numbers: np.ndarray  # ln det Sigma, D of the game
    limits: np.ndarray  # (d,) b
    variances: np.ndarray  # (K,)
    pulls: np.ndarray  # (K,) N
    reward_sums: np.ndarray  # (K,)
    cost_sums: np.ndarray  # (d, K)
    means: np.ndarray  # (K,) estimates
    rows: np.ndarray  # (d, K) A - b 1^T, estimated or known
    relaxed: np.ndarray  # (d, K) the same minus a shift
    none: np.ndarray  # (0, K)
    policy: np.ndarray  # (K,)
    omega: np.ndarray  # (K,) allocation
    raw: np.ndarray  # (K,) before projection
    gains: np.ndarray  # (K,)
    squares: np.ndarray  # (K,) sums of squared gains
    outer: np.ndarray  # (K, K) sums of gains gains^T
    tracked: np.ndarray  # (K,) sums of allocations
    floored: np.ndarray  # (K,)
    # the polytope, see vertices.py
    columns: np.ndarray
    values: np.ndarray
    rhs: np.ndarray
    basis: np.ndarray
    tableau: np.ndarray
    column_gaps: np.ndarray
    bases: np.ndarray
    masks: np.ndarray
    other: np.ndarray
    steps: np.ndarray
    falls: np.ndarray
    slots: np.ndarray
    costs: np.ndarray
    padded: np.ndarray
    # the program, see allocation.py; weights are remembered by slot
    weights: np.ndarray
    duals: np.ndarray  # (1 + d,) nu and l
    last: np.ndarray  # slots of the last solution; the first entry counts them
    # the projection
    multipliers: np.ndarray  # (1 + d,)
    scratch: np.ndarray  # (3, 1 + d)
    square: np.ndarray  # (1 + d, 1 + d)


@jit
def make_state(variances: np.ndarray, limits: np.ndarray) -> State:
    """A strategy's memory before the first pull, with nothing known of the constraints' costs."""
    k, d = variances.size, limits.size
    m, n = d + 1, k + d
    most = MOST_BASES * n
    rhs = np.zeros(m)
    rhs[0] = 1.0
    duals = np.zeros(m)
    duals[0] = 1.0
    return State(
        counts=np.zeros(2, np.int64),
        numbers=np.zeros(2),
        limits=limits.copy(),
        variances=variances.copy(),
        pulls=np.zeros(k),
        reward_sums=np.zeros(k),
        cost_sums=np.zeros((d, k)),
        means=np.zeros(k),
        rows=np.zeros((d, k)),
        relaxed=np.zeros((d, k)),
        none=np.zeros((0, k)),
        policy=np.full(k, 1.0 / k),
        omega=np.full(k, 1.0 / k),
        raw=np.zeros(k),
        gains=np.zeros(k),
        squares=np.zeros(k),
        outer=np.zeros((k, k)),
        tracked=np.zeros(k),
        floored=np.zeros(k),
        columns=np.zeros((m, n)),
        values=np.zeros(n),
        rhs=rhs,
        basis=np.full(m, -1),
        tableau=np.zeros((m, n + 1)),
        column_gaps=np.zeros(n),
        bases=np.zeros((MOST_BASES, m), np.int64),
        masks=np.zeros(MOST_BASES, np.int64),
        other=np.zeros((m, n + 1)),
        steps=np.zeros((most, k)),
        falls=np.zeros(most),
        slots=np.zeros(most, np.int64),
        costs=np.zeros((most, k)),
        padded=np.zeros((most, k)),
        weights=np.zeros(most),
        duals=duals,
        last=np.zeros(most + 1, np.int64),
        multipliers=np.zeros(m),
        scratch=np.zeros((3, m)),
        square=np.zeros((m, m)),
    )


@inlined
def observe(rules: Rules, s: State, arm: int, reward: float, costs: np.ndarray) -> None:
    """Take in a reward and a cost vector (d,) of an arm."""
    before = s.pulls[arm]
    s.counts[0] += 1
    s.numbers[0] += math.log((2.0 + before) / (1.0 + before))
    s.pulls[arm] = before + 1.0
    s.reward_sums[arm] += reward
    weight = 1.0 / (before + (2.0 if rules.ridge else 1.0))
    s.means[arm] = s.reward_sums[arm] * weight
    for i in range(costs.size):
        s.cost_sums[i, arm] += costs[i]
        if not rules.known:
            s.rows[i, arm] = s.cost_sums[i, arm] * weight - s.limits[i]


@jit
def remember(weights, slots, count: int, n_edges: int, y: np.ndarray) -> None:
    """Start y from the last round's weights; equal ones where most alternatives are new."""
    total, main = 0.0, 0
    for v in range(count):
        y[v] = weights[slots[v]]
        total += y[v]
        main += slots[v] < n_edges
    if not total > 0.5:
        for v in range(count):
            y[v] = 1.0 / main if slots[v] < n_edges else 0.0


@jit
def memorise(weights, last, slots, count: int, y: np.ndarray) -> None:
    """Keep y for the next round, by slot."""
    for i in range(last[0]):
        weights[last[1 + i]] = 0.0
    for v in range(count):
        weights[slots[v]] = y[v]
        last[1 + v] = slots[v]
    last[0] = count


@jit
def solve_program(
    count: int,
    rows: np.ndarray,
    costs: np.ndarray,
    padded: np.ndarray,
    omega: np.ndarray,
    weights: np.ndarray,
    slots: np.ndarray,
    last: np.ndarray,
    duals: np.ndarray,
    solver: Solver,
    n_edges: int,
) -> None:
    """The program of allocation.py from the last round's solution, to the accuracy of sampling."""
    y = solver.y
    d, k = rows.shape
    pad(costs, count, SAMPLING, padded)
    remember(weights, slots, count, n_edges, y)
    for i in range(1 + d):
        y[count + i] = duals[i]
    solve(padded, count, rows, SAMPLING, omega, solver)
    memorise(weights, last, slots, count, y)
    fine = True
    for i in range(1 + d):
        duals[i] = y[count + i]
        fine &= math.isfinite(duals[i])
    for a in range(k):
        fine &= math.isfinite(omega[a])
    if not fine:  # a set without an inside
        omega[:] = 1.0 / k
        duals[:] = 0.0
        duals[0] = 1.0
        last[0] = 0
        weights[:] = 0.0


@inlined
def find_policy(rules: Rules, s: State, work: Workspace, confidence: float, shift: float) -> int:
    """The best policy by the estimates, left in `s.policy`, and what it has to be told apart from.

    Returns:
        How many alternatives there are; -1 if no policy keeps the constraints, and then `s.policy`
        is the last one; -2 if the stopping rule holds.
    """
    k, d, time = s.omega.size, s.limits.size, s.counts[0]
    source = s.rows
    if rules.optimistic_policy:
        for i in range(d):
            for a in range(k):
                s.relaxed[i, a] = s.rows[i, a] - shift
        source = s.relaxed
    load(s.columns, s.values, s.means, source)
    if not find_best(s.columns, s.values, s.rhs, s.basis, s.tableau, s.column_gaps, s.policy, work):
        return -1
    count = find_alternatives(
        s.columns, s.values, s.rhs, s.basis, s.tableau, s.column_gaps, s.policy, rules.r,
        s.bases, s.masks, s.other, s.steps, s.falls, s.slots,
    )  # fmt: skip
    costs_of(s.steps, s.falls, count, rules.added, s.variances, s.costs)
    bar = threshold(time, rules.delta)
    if rules.released:
        bar = released_threshold(time, rules.delta)
    if rules.extra:
        bar += k * confidence * norm(s.policy, s.pulls)
        for i in range(d):
            slack = 0.0
            for a in range(k):
                slack += s.rows[i, a] * s.policy[a]
            bar -= abs(slack)
    if information(s.costs, count, s.pulls) > bar and least_information(rules, s) > bar:
        return -2
    return count


@jit
def least_information(rules: Rules, s: State) -> float:
    """The statistic over all vertices: t D(N / t) with alternatives however far from the best.

    With r > 0 one of them may count less than those near (docs/readings.md), and a run must not
    stop before that one is told apart too.
    """
    n = s.values.size
    bases, masks = np.zeros((ALL_BASES, s.rhs.size), np.int64), np.zeros(ALL_BASES, np.int64)
    steps, falls = np.zeros((ALL_BASES * n, s.omega.size)), np.zeros(ALL_BASES * n)
    slots = np.zeros(ALL_BASES * n, np.int64)
    count = find_alternatives(
        s.columns, s.values, s.rhs, s.basis, s.tableau, s.column_gaps, s.policy, np.inf,
        bases, masks, s.other, steps, falls, slots,
    )  # fmt: skip
    costs = np.zeros((count, s.omega.size))
    costs_of(steps, falls, count, rules.added, s.variances, costs)
    return information(costs, count, s.pulls)


@inlined
def project_best_arm(rules: Rules, s: State, solver: Solver) -> None:
    """The allocation for the best arm without constraints, projected into them."""
    k = s.omega.size
    best, others = 0, 0
    for a in range(k):
        if s.means[a] > s.means[best]:
            best = a
    for a in range(k):
        if a != best:
            fall = s.means[best] - s.means[a] + rules.added
            scale = 2.0 / max(fall * fall, LEAST_FALL)
            for b in range(k):
                s.costs[others, b] = scale * s.variances[b] if b in (a, best) else 0.0
            s.slots[others] = a
            others += 1
    solve_program(
        others, s.none, s.costs, s.padded, s.raw, s.weights, s.slots, s.last, s.duals, solver, k
    )
    for a in range(k):
        s.squares[a] = 1.0
    project_into(
        s.raw, s.squares, s.rows, s.multipliers, s.scratch[0], s.scratch[1], s.scratch[2],
        s.square, s.omega,
    )  # fmt: skip


@inlined
def play_game(rules: Rules, s: State, count: int, gamma: float) -> None:
    """AdaGrad's next allocation, after its last one met the estimates of this round.

    Args:
        count: alternatives. gamma: the policy's least slack under `s.relaxed`.
    """
    k, d, time = s.omega.size, s.limits.size, s.counts[0]
    floor = 0.5 / math.sqrt(k * k + time)
    value = optimistic_gains(
        s.steps, s.falls, s.costs, count, rules.added, s.variances, s.pulls, time, floor,
        s.omega, s.gains,
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
        full_step(s.outer, s.gains, RATE, s.omega)
        return
    for a in range(k):
        s.squares[a] += s.gains[a] * s.gains[a]
        s.floored[a] = math.sqrt(s.squares[a])
        s.raw[a] = s.omega[a] + RATE * s.gains[a] / s.floored[a]
    project_into(
        s.raw, s.floored, s.none if priced else s.relaxed, s.multipliers,
        s.scratch[0], s.scratch[1], s.scratch[2], s.square, s.omega,
    )  # fmt: skip


@inlined
def choose(rules: Rules, s: State, work: Workspace, solver: Solver) -> int:
    """The arm to pull next, or -1 if the stopping rule holds; `s.policy` is the answer so far.

    Arms are pulled once each before anything else, and the first allocation is uniform.
    """
    k, d, time = s.omega.size, s.limits.size, s.counts[0]
    for a in range(k):
        if s.pulls[a] == 0.0:
            return a
    relaxed = rules.optimistic_policy or rules.limits != INSIDE
    confidence = radius(s.numbers[0], k, rules.delta) if relaxed or rules.extra else 0.0
    shift = confidence * norm(s.omega, s.pulls) if relaxed else 0.0
    count = find_policy(rules, s, work, confidence, shift)
    if count == -2:
        return -1
    if count == -1 or rules.sampling == UNIFORM:
        s.counts[1] += count == -1
        for a in range(k):
            s.omega[a] = 1.0 / k
        return track(s.omega, s.pulls, time, s.tracked, s.floored)
    if rules.limits == INSIDE:
        shift = 0.0
    gamma = np.inf
    for i in range(d):
        slack = shift
        for a in range(k):
            slack -= s.rows[i, a] * s.policy[a]
            s.relaxed[i, a] = s.rows[i, a] - shift
        gamma = min(gamma, slack)
    if rules.sampling == SOLVED:
        solve_program(
            count, s.relaxed, s.costs, s.padded, s.omega, s.weights, s.slots, s.last, s.duals,
            solver, k + d,
        )  # fmt: skip
    elif rules.sampling == PROJECTED:
        project_best_arm(rules, s, solver)
    elif time > k:
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
    policy_violations: int
    allocation_violations: int
    empty: int
    policy: np.ndarray
    support: np.ndarray  # (K + d,) 1 for arms with weight, then for constraints with slack
    pulls: np.ndarray


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
    """One replication: a reward, then d costs, drawn for every pull."""
    d, k = matrix.shape
    state = make_state(variances, limits)
    if rules.known:
        for i in range(d):
            for a in range(k):
                state.rows[i, a] = matrix[i, a] - limits[i]
    work, solver = make_workspace(d + 1, k + d), make_solver(state.falls.size, k, d)
    deviations, costs = np.sqrt(variances), np.zeros(d)
    bad_policies, bad_allocations = 0, 0
    stopped = False
    while state.counts[0] < cap or state.counts[0] < k:
        arm = choose(rules, state, work, solver)
        if arm < 0:
            stopped = True
            break
        if state.counts[0] >= k:
            bad_policies += breaks(matrix, limits, state.policy, BROKEN)
            bad_allocations += breaks(matrix, limits, state.omega, BROKEN_BY_SOLVER)
        reward = means[arm] + deviations[arm] * environment.standard_normal()
        for i in range(d):
            costs[i] = matrix[i, arm] + cost_sigma * environment.standard_normal()
        observe(rules, state, arm, reward, costs)
    empty = state.counts[1]
    if not stopped:
        stopped = choose(rules, state, work, solver) < 0
    support = np.zeros(k + d, np.int64)
    for row in range(d + 1):
        if state.basis[row] >= 0 and state.tableau[row, k + d] > BROKEN:
            support[state.basis[row]] = 1
    return Result(
        state.counts[0],
        stopped,
        bad_policies,
        bad_allocations,
        empty,
        state.policy,
        support,
        state.pulls,
    )
