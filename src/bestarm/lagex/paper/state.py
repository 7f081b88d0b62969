"""The rules and the state of a strategy, and the update by a pull."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit
from bestarm.lagex.paper.dual import Solver, make_solver
from bestarm.lagex.paper.projection import Projection, make_projection
from bestarm.lagex.vertices import (
    ALL_BASES,
    MOST_BASES,
    Polytope,
    VertexSearch,
    make_polytope,
    make_vertex_search,
)

#: Source of the allocations: the problem solved every round, a game, the projected solution of the
#: unconstrained problem, or uniform sampling.
SOLVED, GAME, PROJECTED, UNIFORM = range(4)
#: Constraints on allocations: the relaxed ones by a Lagrangian penalty, the relaxed ones,
#: or the estimated ones. A penalty is exact if the problem is solved (allocation.py), and infinite
#: if the policy leaves no slack.
PENALISED, OPTIMISTIC, INSIDE = range(3)
#: Indices of State.counts: pulls, and arms pulled at least once; then rounds in which there was no
#: policy; the best policy was not found; the problem of the allocation had no finite solution, or
#: one less accurate than its tolerance; vertices near the best may be missing; the stopping rule
#: failed only because vertices may be missing.
TIME, PULLED, NO_POLICY, LOST_POLICY, UNSOLVED, INEXACT, NEAR_CUT, FAR_CUT = range(8)

#: `PolicySet.n_near` if there is no policy to allocate for, and if `near` is not needed.
NO_ALTERNATIVES, UNLISTED = -1, -2


class Rules(NamedTuple):
    """A strategy under one reading, and what it is given of the instance.

    What it observes has been divided by `units`.
    """

    source: int  # of allocations: SOLVED, GAME, PROJECTED or UNIFORM
    region: int  # constraints on them: PENALISED, OPTIMISTIC or INSIDE
    known: bool  # whether the constraints are known
    ridge: bool  # whether estimates are sum / (N + 1), else sum / N
    optimistic_policy: bool  # whether policies are from the relaxed set
    full_matrix: bool  # whether AdaGrad is full-matrix, on the simplex
    rate: float  # its learning rate
    released: bool  # whether the stopping rule is that of the released program
    extra: bool  # whether with its terms for estimated constraints
    delta: float  # maximum probability of a wrong answer
    r: float  # tolerance of the answer's mean reward
    added: float  # to gaps: r, or -r with the sign that the paper prints
    variances: np.ndarray  # (K,) of rewards
    limits: np.ndarray  # (d,) b
    matrix: np.ndarray  # (d, K) A; read only if `known`
    units: np.ndarray  # (1 + d,) of a reward and of each cost, in which all of the above is


class Estimates(NamedTuple):
    """Estimates of the means and the constraints."""

    log_determinant: np.ndarray  # (1,) ln det Sigma
    pulls: np.ndarray  # (K,) N
    reward_sums: np.ndarray  # (K,)
    cost_sums: np.ndarray  # (d, K)
    means: np.ndarray  # (K,)
    rows: np.ndarray  # (d, K) A - b 1^T, estimated or known
    deviations: np.ndarray  # (K,) of rewards, known


class PolicySet(NamedTuple):
    """The policies that are feasible by the estimates, and their vertices."""

    relaxed: np.ndarray  # (d, K) rows minus the shift
    no_rows: np.ndarray  # (0, K) for problems without constraints
    polytope: Polytope  # the estimated policies; the best one is the answer
    near: VertexSearch  # alternatives within reach r
    far: VertexSearch  # all alternatives
    n_near: np.ndarray  # (1,) their number; NO_ALTERNATIVES if no policy, UNLISTED if not listed
    failed: np.ndarray  # (1,) column of the edge at which the stopping rule failed last, or -1
    shift: np.ndarray  # (1,) relaxation of this round


class WarmStart(NamedTuple):
    """Warm start of the problem of allocation.py: its last weights by slot, duals nu and l."""

    costs: np.ndarray  # (V, K)
    roots: np.ndarray  # (V,) sum_a sqrt(c_va)
    weights: np.ndarray  # (V,) by slot
    scales: np.ndarray  # (V,) by slot, the roots at the time of `weights`
    duals: np.ndarray  # (1 + d,)
    last: np.ndarray  # (1 + V,) number of slots with weight, then these slots
    solver: Solver


class Game(NamedTuple):
    """The state of AdaGrad, and buffers."""

    raw: np.ndarray  # (K,) before projection
    gains: np.ndarray  # (K,) of the last allocation
    squares: np.ndarray  # (K,) sums of squared gains
    outer: np.ndarray  # (K, K) sums of gains gains^T
    scratch: np.ndarray  # (K,) buffer
    projection: Projection


class State(NamedTuple):
    """The state of a run, with buffers; K arms, d constraints. Only simulations fill `broken`."""

    counts: np.ndarray  # (8,) from TIME to FAR_CUT
    before: np.ndarray  # (8,) the same before the last analysis
    threshold: np.ndarray  # (1,) of the GLR statistic at the last analysis that found a policy
    holds: np.ndarray  # (1,) 1 if the stopping rule held at the last analysis, else 0
    broken: np.ndarray  # (2,) rounds whose policy, and whose allocation, violates a true limit
    observed: np.ndarray  # (1 + d,) buffer
    omega: np.ndarray  # (K,) allocation
    tracked: np.ndarray  # (K,) sums of allocations
    floored: np.ndarray  # (K,) buffer of tracking
    estimates: Estimates
    policies: PolicySet
    warm_start: WarmStart
    game: Game


@jit
def make_estimates(rules: Rules) -> Estimates:
    """Estimates before the first pull; known constraints have their true values."""
    d, k = rules.matrix.shape
    estimates = Estimates(
        log_determinant=np.zeros(1),
        pulls=np.zeros(k),
        reward_sums=np.zeros(k),
        cost_sums=np.zeros((d, k)),
        means=np.zeros(k),
        rows=np.zeros((d, k)),
        deviations=np.sqrt(rules.variances),
    )
    if rules.known:
        for i in range(d):
            for a in range(k):
                estimates.rows[i, a] = rules.matrix[i, a] - rules.limits[i]
    return estimates


@jit
def make_policy_set(k: int, d: int) -> PolicySet:
    """An empty policy set for K arms and d constraints."""
    return PolicySet(
        relaxed=np.zeros((d, k)),
        no_rows=np.zeros((0, k)),
        polytope=make_polytope(k, d),
        near=make_vertex_search(k, d, MOST_BASES),
        far=make_vertex_search(k, d, ALL_BASES),
        n_near=np.zeros(1, np.int64),
        failed=np.full(1, -1),
        shift=np.zeros(1),
    )


@jit
def make_warm_start(k: int, d: int) -> WarmStart:
    """A cold start, for K arms and d constraints."""
    most = MOST_BASES * (k + d)
    duals = np.zeros(d + 1)
    duals[0] = 1.0
    return WarmStart(
        costs=np.zeros((most, k)),
        roots=np.zeros(most),
        weights=np.zeros(most),
        scales=np.zeros(most),
        duals=duals,
        last=np.zeros(most + 1, np.int64),
        solver=make_solver(most, k, d),
    )


@jit
def make_game(k: int, d: int) -> Game:
    """The game before its first step, for K arms and d constraints."""
    return Game(
        raw=np.zeros(k),
        gains=np.zeros(k),
        squares=np.zeros(k),
        outer=np.zeros((k, k)),
        scratch=np.zeros(k),
        projection=make_projection(k, d),
    )


@jit
def start(rules: Rules) -> State:
    """The state before the first pull."""
    d, k = rules.matrix.shape
    return State(
        counts=np.zeros(8, np.int64),
        before=np.zeros(8, np.int64),
        threshold=np.zeros(1),
        holds=np.zeros(1, np.int64),
        broken=np.zeros(2, np.int64),
        observed=np.zeros(1 + d),
        omega=np.full(k, 1.0 / k),
        tracked=np.zeros(k),
        floored=np.zeros(k),
        estimates=make_estimates(rules),
        policies=make_policy_set(k, d),
        warm_start=make_warm_start(k, d),
        game=make_game(k, d),
    )


@inlined
def update(rules: Rules, s: State, arm: int, observed: np.ndarray) -> None:
    """Update counts and estimates with a reward and d costs, (1 + d,), of an arm."""
    estimates = s.estimates
    before = estimates.pulls[arm]
    s.counts[TIME] += 1
    s.counts[PULLED] += before == 0.0
    estimates.log_determinant[0] += math.log((2.0 + before) / (1.0 + before))
    estimates.pulls[arm] = before + 1.0
    estimates.reward_sums[arm] += observed[0]
    weight = 1.0 / (before + (2.0 if rules.ridge else 1.0))
    estimates.means[arm] = estimates.reward_sums[arm] * weight
    for i in range(rules.limits.size):
        estimates.cost_sums[i, arm] += observed[1 + i]
        if not rules.known:
            estimates.rows[i, arm] = estimates.cost_sums[i, arm] * weight - rules.limits[i]
