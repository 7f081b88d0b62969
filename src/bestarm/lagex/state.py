"""What a strategy is told and what it remembers, and how a pull enters it."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit
from bestarm.lagex.dual import Solver, make_solver
from bestarm.lagex.projection import Projection, make_projection
from bestarm.lagex.vertices import (
    ALL_BASES,
    MOST_BASES,
    Others,
    Polytope,
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
#: What a state counts: pulls, and arms that were pulled; then rounds in which there was no policy;
#: it was lost; the program of the allocation had no finite solution, or one off by more than its
#: tolerance; vertices near the best may be missing from a list; the rule would hold but for
#: vertices that may be missing.
TIME, PULLED, NO_POLICY, LOST_POLICY, UNSOLVED, INEXACT, NEAR_CUT, FAR_CUT = range(8)


class Rules(NamedTuple):
    """A strategy under one reading, and what it is told of the instance."""

    source: int  # of allocations: SOLVED, GAME, PROJECTED or UNIFORM
    region: int  # where they may lie: PRICED, OPTIMISTIC or INSIDE
    known: bool  # the constraints are
    ridge: bool  # estimates (sum) / (N + 1), else plain averages
    optimistic_policy: bool  # policies from the relaxed set
    full_matrix: bool  # AdaGrad, where allocations lie on the simplex
    released: bool  # the stopping rule of the authors' program
    extra: bool  # with its terms for estimated constraints
    delta: float
    r: float  # what vertices may lie below the best one
    added: float  # to gaps: r, or -r where the paper's sign is taken
    variances: np.ndarray  # (K,) of rewards
    limits: np.ndarray  # (d,) b
    matrix: np.ndarray  # (d, K) A; not read unless it is known


class Estimates(NamedTuple):
    """Of the means and the constraints."""

    log_determinant: np.ndarray  # (1,) ln det Sigma
    pulls: np.ndarray  # (K,) N
    reward_sums: np.ndarray  # (K,)
    cost_sums: np.ndarray  # (d, K)
    means: np.ndarray  # (K,)
    rows: np.ndarray  # (d, K) A - b 1^T, estimated or known
    deviations: np.ndarray  # (K,) of rewards, known


class Geometry(NamedTuple):
    """The policies that the estimates allow."""

    relaxed: np.ndarray  # (d, K) rows minus a shift
    none: np.ndarray  # (0, K)
    polytope: Polytope  # the estimated policies; the best one is the answer
    near: Others  # vertices to tell it apart from, within reach
    far: Others  # all vertices
    found: np.ndarray  # (1,) how many there are in `near`; -1 where there is no policy
    shift: np.ndarray  # (1,) of this round


class WarmStart(NamedTuple):
    """The program of allocation.py, and its last solution: weights by slot, duals nu and l."""

    costs: np.ndarray  # (V, K)
    roots: np.ndarray  # (V,) sum_a sqrt(c_va)
    weights: np.ndarray  # (V,) by slot
    scales: np.ndarray  # (V,) by slot, the roots they belong to
    duals: np.ndarray  # (1 + d,)
    last: np.ndarray  # (1 + V,) slots with weight; the first entry counts them
    solver: Solver


class Game(NamedTuple):
    """AdaGrad, and the projection."""

    raw: np.ndarray  # (K,) before projection
    gains: np.ndarray  # (K,)
    squares: np.ndarray  # (K,) sums of squared gains
    outer: np.ndarray  # (K, K) sums of gains gains^T
    scratch: np.ndarray  # (K,)
    projection: Projection


class State(NamedTuple):
    """Everything a strategy remembers, and scratch; K arms, d constraints."""

    counts: np.ndarray  # (8,) from TIME to FAR_CUT
    omega: np.ndarray  # (K,) allocation
    tracked: np.ndarray  # (K,) sums of allocations
    floored: np.ndarray  # (K,) scratch of tracking
    seen: Estimates
    policies: Geometry
    program: WarmStart
    game: Game


@jit
def make_estimates(rules: Rules) -> Estimates:
    """Before the first pull; known constraints as they are."""
    d, k = rules.matrix.shape
    seen = Estimates(
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
                seen.rows[i, a] = rules.matrix[i, a] - rules.limits[i]
    return seen


@jit
def make_geometry(k: int, d: int) -> Geometry:
    """Scratch for K arms and d constraints."""
    return Geometry(
        relaxed=np.zeros((d, k)),
        none=np.zeros((0, k)),
        polytope=make_polytope(k, d),
        near=make_others(k, d, MOST_BASES),
        far=make_others(k, d, ALL_BASES),
        found=np.zeros(1, np.int64),
        shift=np.zeros(1),
    )


@jit
def make_warm_start(k: int, d: int) -> WarmStart:
    """No solution yet, for K arms and d constraints."""
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
    """Before the first step, for K arms and d constraints."""
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
    """A strategy's memory before the first pull."""
    d, k = rules.matrix.shape
    return State(
        counts=np.zeros(8, np.int64),
        omega=np.full(k, 1.0 / k),
        tracked=np.zeros(k),
        floored=np.zeros(k),
        seen=make_estimates(rules),
        policies=make_geometry(k, d),
        program=make_warm_start(k, d),
        game=make_game(k, d),
    )


@inlined
def observe(rules: Rules, s: State, arm: int, observed: np.ndarray) -> None:
    """Take in a reward and then d costs, (1 + d,), of an arm."""
    seen = s.seen
    before = seen.pulls[arm]
    s.counts[TIME] += 1
    s.counts[PULLED] += before == 0.0
    seen.log_determinant[0] += math.log((2.0 + before) / (1.0 + before))
    seen.pulls[arm] = before + 1.0
    seen.reward_sums[arm] += observed[0]
    weight = 1.0 / (before + (2.0 if rules.ridge else 1.0))
    seen.means[arm] = seen.reward_sums[arm] * weight
    for i in range(rules.limits.size):
        seen.cost_sums[i, arm] += observed[1 + i]
        if not rules.known:
            seen.rows[i, arm] = seen.cost_sums[i, arm] * weight - rules.limits[i]
