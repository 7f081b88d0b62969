"""Lower bounds on stopping times for Gaussian rewards, Eq. (4) and Theorem 4, and Corollary 1.

Also one that is not in the paper: the cost of learning the constraints (`learning_time`).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import HalfspaceIntersection
from scipy.special import rel_entr

from bestarm.lagex import vertices
from bestarm.lagex.kernel_problem import Problem
from bestarm.lagex.paper.allocation import best_allocation
from bestarm.lagex.vertices import Alternatives, alternatives, every_alternative, nonempty

#: A gap of at most this share of the largest mean counts as zero: the best policy is not unique. So
#: does a slack of at most this share of its row: the constraint is active.
TIE = 1e-9


class Bound(NamedTuple):
    """A characteristic time T, and the allocation that attains it."""

    time: float  # pulls per nat of information; infinite if the best policy is not unique
    allocation: np.ndarray  # (K,) shares of pulls; uniform if T is infinite


class Corollary1(NamedTuple):
    """Bounds on T_{F,0} from one number per alternative."""

    low: float
    high: float  # for allocations over the simplex
    high_inside: float  # for allocations that satisfy the constraints


def lower_bound(time: float, delta: float) -> float:
    """T ln(1 / (2.4 delta)), Eq. (3): no delta-correct strategy stops sooner on average."""
    return time * math.log(1.0 / (2.4 * delta))


def constraint_rows(problem: "Problem", shift: float = 0.0) -> np.ndarray:
    """(d, K) A - b 1^T - shift: on policies, rows pi <= 0 is equivalent to A pi <= b + shift."""
    return vertices.constraint_rows(problem.matrix, problem.limits) - shift


def deciding_alternatives(problem: "Problem", r: float) -> Alternatives:
    """The best policy and the alternatives that decide T: neighbours if r = 0, else all others."""
    data = problem.means, problem.matrix, problem.limits
    return nonempty(every_alternative(*data) if r > 0.0 else alternatives(*data, 0.0))


def known_time(problem: "Problem", r: float = 0.0, inside: bool = False) -> Bound:
    """The characteristic time T_{F,r} of known constraints, Eq. (4).

        1 / T = max_omega min_v (r - mu.v)^2 / (2 sum_a sigma_a^2 v_a^2 / omega_a)

    over v = pi' - pi from the best policy pi to the other vertices of F; with r = 0 its neighbours
    are enough.

    Args:
        problem: an instance.
        r: by how much a policy may fall short of the best one.
        inside: whether allocations must lie in F too, else anywhere in the simplex (as for the
            bounds that the paper draws).
    """
    rows = constraint_rows(problem) if inside else np.zeros((0, problem.means.size))
    return _best(problem, deciding_alternatives(problem, r), rows, r)


def relaxed_time(problem: "Problem", shift: float, r: float = 0.0) -> Bound:
    """The characteristic time of the Lagrangian relaxation, Theorem 4.

        1 / T = max_omega min_{l in L} min_v (the same) - l.(A~ omega - b)
              = max_omega (1 - [max_i (A~ omega - b)_i]_+ / gamma) min_v (the same)

    with A~ = A - shift (1 in every entry), L = {l >= 0, ||l||_1 <= D(omega) / gamma} and gamma the
    least slack of the best policy under A~. Whatever gamma, the maximum is that of the last factor
    under A~ omega <= b (docs/readings.md), which is what is solved; with shift 0 it is `known_time`
    inside F.
    """
    return _best(problem, deciding_alternatives(problem, r), constraint_rows(problem, shift), r)


def bai_time(problem: "Problem") -> Bound:
    """T of best-arm identification without constraints; infinite if two arms tie."""
    best = int(np.argmax(problem.means))
    steps = np.delete(np.eye(problem.means.size), best, axis=0)
    steps[:, best] -= 1.0
    gaps = -steps @ problem.means
    others = Alternatives(np.eye(problem.means.size)[best], problem.means[best], steps, gaps)
    return _best(problem, others, np.zeros((0, problem.means.size)), 0.0)


def ties(problem: "Problem", others: Alternatives) -> bool:
    """Whether an alternative is as good as the best policy."""
    return bool((others.gaps <= TIE * np.abs(problem.means).max()).any())


def policy_slacks(policies: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(..., d) the slacks -rows policy of policies (..., K), exactly 0 if the constraint is active.

    They are also 0 where rounding makes them negative.
    """
    slacks = -policies @ rows.T
    return np.where(slacks <= TIE * np.abs(rows).max(axis=1), 0.0, slacks)


def _best(problem: "Problem", others: Alternatives, rows: np.ndarray, r: float) -> Bound:
    """The best allocation against some alternatives; T is 0 if there are none."""
    k = problem.means.size
    uniform = np.full(k, 1.0 / k)
    if len(others.gaps) == 0:
        return Bound(0.0, uniform)
    if r == 0.0 and ties(problem, others):
        return Bound(math.inf, uniform)
    costs = 2.0 * problem.variances * (others.steps / (others.gaps + r)[:, None]) ** 2
    best = best_allocation(costs, rows / vertices.row_units(rows)[:, None])
    return Bound(1.0 / best.value, best.omega)


class LearningTime(NamedTuple):
    """The time to learn the constraints well enough, and the change that must be detected."""

    time: float  # pulls per nat of information
    shift: np.ndarray  # (d,) u >= 0, added to all entries of each row of A


def learning_time(problem: "Problem", r: float) -> LearningTime:
    """The characteristic time of learning the constraints from costs N(A_ia, cost_sigma^2).

    Let F be the feasible policies, R those of them within r of the best value, the right answers.
    Add u_i >= 0 to all entries of row i of A: every cost row i is larger by u_i, whatever the arm,
    and a policy of F is still feasible if its slacks b - A pi are at least u. If no policy of R is,
    no right answer stays right, so a delta-correct strategy, whether it knows the rewards or not,
    has to detect the change (as long as some policy of F stays feasible, so that the changed
    instance has an answer). A pull of any arm gives |u|^2 / (2 cost_sigma^2) nats, hence

        E[tau] >= time kl(delta, 1 - delta),      time = 2 cost_sigma^2 / |u|^2,

    and if more than a share p of runs end within T pulls, T >= time kl(p - delta, delta)
    (`quantile_bound`: the event is to end within T with an answer in R, which has probability at
    least p - delta here and at most delta there).

    For l >= 0 put h(l) = max over R of l (b - A pi). No policy of R has all slacks above u if
    l u >= h(l), of which the shortest is u = h(l) l / |l|^2, with |u| = h(l) / |l|. The shortest of
    all has an l that is a vertex of {l >= 0 : l (b - A pi) <= 1 on R}: |l| is largest there. For a
    single row this is u_i = s_i, the largest slack of row i in R. Vertices whose u leaves no
    feasible policy are left out; the bound still holds, but may not be the best.

    Args:
        problem: an instance with a cost_sigma.
        r: by how much an answer may fall short of the best policy.

    Returns:
        The time and the shift. The time is infinite if a constraint is active at every right
        answer though not at every feasible policy (as with r = 0), and 0 if no shift is possible.
    """
    d, all_rows = len(problem.limits), constraint_rows(problem)
    unit = float(vertices.row_units(all_rows).max())
    problem = problem._replace(
        matrix=problem.matrix / unit,
        limits=problem.limits / unit,
        cost_sigma=problem.cost_sigma / unit,
    )
    sizes = np.abs(all_rows).max(axis=1) / unit
    largest = np.array([_most_slack(problem, np.zeros(d), i) for i in range(d)])  # slacks over F
    best = nonempty(every_alternative(problem.means, problem.matrix, problem.limits))
    matrix = np.vstack([problem.matrix, -problem.means])
    limits = np.append(problem.limits, r - best.value)
    right = nonempty(every_alternative(problem.means, matrix, limits))  # the vertices of R
    policies = np.vstack([right.policy, right.policy + right.steps])
    slacks = np.maximum(problem.limits - policies @ problem.matrix.T, 0.0)  # (V, d)
    rows = largest > TIE * sizes  # the others have no slack anywhere in F
    if not rows.any():
        return LearningTime(0.0, np.zeros(d))
    if (slacks.max(axis=0) <= TIE * sizes)[rows].any():
        return LearningTime(math.inf, np.zeros(d))
    shifts = np.zeros((0, d))
    for normal in _polar_vertices(slacks[:, rows]):
        shift = np.zeros(d)
        shift[rows] = np.maximum(normal, 0.0) / (normal @ normal)
        if _most_slack(problem, (1.0 + 1e-6) * shift) > 0.0:
            shifts = np.vstack([shifts, shift])
    if len(shifts) == 0:
        return LearningTime(0.0, np.zeros(d))
    squares = (shifts**2).sum(axis=1)
    least = int(np.argmin(squares))
    return LearningTime(2.0 * problem.cost_sigma**2 / float(squares[least]), unit * shifts[least])


def quantile_bound(time: float, share: float, delta: float) -> float:
    """The least T such that more than `share` of runs may end within T pulls (`learning_time`).

    time kl(share - delta, delta), 0 where share <= 2 delta. With share 1/2 it bounds medians.
    """
    p = share - delta
    if p <= delta:
        return 0.0
    return time * float(rel_entr(p, delta) + rel_entr(1.0 - p, 1.0 - delta))


def _most_slack(problem: "Problem", shift: np.ndarray, row: int | None = None) -> float:
    """max over F of the slack of a row minus its shift; without `row`, of the minimum over rows.

    If that is 0 or less no policy of F has all slacks above the shift.
    """
    d, k = problem.matrix.shape
    slack_column = np.ones(d) if row is None else np.eye(d)[row]
    result = linprog(
        np.append(np.zeros(k), -1.0),
        np.column_stack([problem.matrix, slack_column]),
        problem.limits - shift,
        np.append(np.ones(k), 0.0)[None],
        [1.0],
        [(0.0, None)] * k + [(None, None)],
        method="highs",
    )
    if result.status != 0 or result.fun is None:
        raise RuntimeError(f"the linear program for a shift ended with: {result.message}")
    return -float(result.fun)


def _polar_vertices(points: np.ndarray) -> np.ndarray:
    """The vertices other than 0 of {l >= 0 : points l <= 1}; points (V, d) span all directions."""
    d = points.shape[1]
    if d == 1:
        return 1.0 / points.max(keepdims=True)
    inside = np.full(d, 0.5 / points.sum(axis=1).max())
    halves = np.vstack([np.column_stack([points, -np.ones(len(points))]), np.eye(d, d + 1) * -1.0])
    crossings = HalfspaceIntersection(halves, inside).intersections
    return crossings[(crossings > TIE).any(axis=1)]


def least_slack(policy: np.ndarray, rows: np.ndarray) -> float:
    """gamma = min_i -(rows policy)_i, 0 if a constraint is active."""
    return float(policy_slacks(policy, rows).min())


def shadow_price(policy: np.ndarray, rows: np.ndarray) -> float:
    """The largest slack of a policy over its least (Theorem 6); infinite if one is active."""
    least = least_slack(policy, rows)
    return float((-rows @ policy).max()) / least if least > 0.0 else math.inf


def corollary_1(problem: "Problem") -> Corollary1:
    """Part i of Corollary 1, derived anew (docs/readings.md); infinite if the best policy ties.

    With H = 2 max_v sum_a sigma_a^2 v_a^2 / (mu.v)^2 over the neighbours pi + v,

        H <= T_{F,0} <= K H,   and inside F   T_{F,0} <= K H (1 + e / gamma),

    e being the largest violation by the uniform allocation and gamma the least slack of pi.
    """
    others = nonempty(alternatives(problem.means, problem.matrix, problem.limits, 0.0))
    if ties(problem, others):
        return Corollary1(math.inf, math.inf, math.inf)
    hardness = 2.0 * (others.steps**2 @ problem.variances) / others.gaps**2
    low = float(hardness.max(initial=0.0))
    k, rows = problem.means.size, constraint_rows(problem)
    beyond = rows.mean(axis=1)
    excess = float(beyond.max())
    gamma = least_slack(others.policy, rows)
    factor = 1.0
    if (beyond > TIE * np.abs(rows).max(axis=1)).any():
        factor += excess / gamma if gamma > 0.0 else math.inf
    return Corollary1(low, k * low, k * low * factor)
