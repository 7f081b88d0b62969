"""The gaps of Section 4.1: the distance from an instance to those with another answer.

Distances are weighted by the noise: moving rewards and costs by (dr, dc) costs
|dr|^2 / sigma_r^2 + |dc|^2 / sigma_c^2, of which Eqs. (9) and (11) are infima over non-convex sets.
So fix the basic solutions instead. Let p and q be the mixtures of the optimal basis I and of J
after the move. For fixed p and q the conditions are linear in the moved instance:

    cost l:  p . c_l = cbar_l, or <= where slack l is in I;  likewise q . c_l for J;
    reward:  r . q >= r . p,

and the least move is a projection in closed form. So

    Delta_J^2 = min_{p, q}  (r . (p - q))_+^2 / (sigma_r |p - q|)^2  +  sum_l D_l(p, q) / sigma_c^2

with p and q in the simplices over the arms of I and J, together at most 2 L dimensions, and D_l the
squared distance of c_l to two half-spaces or planes. At p = q the reward condition holds by itself
and its term is 0 (the infimum is over a closure); that case is minimised separately, over the arms
that I and J share. All arms are taken as unknown, as in Theorem 2.

Delta_0 is attained at the first point where the solution of I loses a coordinate: some x_i = 0 with
the others >= 0. (Where det A_I -> 0 first, the solutions of the limit form a line that reaches such
a point within the set.) That is the case p = q again, over I without i, minimised over i.

The minima over p and q are found by a grid, then a pattern search from its best points.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import jit, lean

#: Intervals per side of the grid on a simplex, by its number of arms; 4 for larger numbers.
GRID = np.array([1, 1, 48, 10, 6])
#: Number of grid points from which the search starts, its last step size, and its least relative
#: gain.
STARTS = 6
SMALLEST_STEP = 1e-9
SMALLEST_GAIN = 1e-13
#: A condition violated by at most this much counts as satisfied.
ROUNDING = 1e-12
#: A basis is skipped only if its bound is larger, by this share, than what it is compared with.
MARGIN = 1e-6


class StandardProblem(NamedTuple):
    """An instance in units of its noise."""

    rewards: np.ndarray  # (K,)
    costs: np.ndarray  # (L, K)
    bounds: np.ndarray  # (L,)


@lean
def two_planes(e: float, f: float, g: float, h: float, k: float, loose: tuple) -> float:
    """min |x|^2  s.t.  p . x = e,  q . x = f;  `<=` instead of `=` where loose.

    At the minimum each loose condition is either an equality or inactive. Each combination has a
    closed form; the minimum is the smallest value whose point satisfies all conditions.

    Args:
        e, f: right sides.
        g, h, k: |p|^2 > 0, |q|^2 > 0 and p . q.
        loose: (bool, bool).

    Returns:
        The minimum; infinite if there is no such x.
    """
    if loose[0] and loose[1] and e >= 0.0 and f >= 0.0:
        return 0.0
    best = np.inf
    if loose[1] and k * e / g <= f + ROUNDING:
        best = min(best, e * e / g)
    if loose[0] and k * f / h <= e + ROUNDING:
        best = min(best, f * f / h)
    det = g * h - k * k
    if det > 1e-10 * g * h:
        best = min(best, (h * e * e - 2.0 * k * e * f + g * f * f) / det)
    elif abs(f - k * e / g) <= ROUNDING:  # p = q
        best = min(best, e * e / g)
    return best


@lean
def move_cost(
    p: np.ndarray,
    q: np.ndarray,
    means: tuple,
    bounds: np.ndarray,
    loose: np.ndarray,
    enough: float,
) -> float:
    """Cost of the least move after which the two bases have the mixtures p and q, and q is as good.

    Args:
        p, q: (u,) mixtures over the arms of both bases.
        means: rewards / sigma_r (u,) and costs / sigma_c (L, u) of these arms.
        bounds: (L,) / sigma_c.
        loose: (2, L) whether slack l is in the basis of p, of q.
        enough: at this cost it stops adding up, and returns what it has.
    """
    rewards, costs = means
    lead, apart, g, h, k = 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(p.size):
        lead += rewards[a] * (p[a] - q[a])
        apart += (p[a] - q[a]) ** 2
        g += p[a] * p[a]
        h += q[a] * q[a]
        k += p[a] * q[a]
    total = 0.0
    if lead > 0.0:
        total = np.inf if apart == 0.0 else lead * lead / apart
    for l in range(bounds.size):
        if total >= enough:
            break
        e = bounds[l]
        f = bounds[l]
        for a in range(p.size):
            e -= costs[l, a] * p[a]
            f -= costs[l, a] * q[a]
        total += two_planes(e, f, g, h, k, (loose[0, l], loose[1, l]))
    return total


@lean
def _next_point(counts: np.ndarray) -> bool:
    """The next composition of the same total, in place; False after the last."""
    n = counts.size
    for i in range(n - 2, -1, -1):
        if counts[i] > 0:
            rest = counts[n - 1] if i < n - 1 else 0
            counts[n - 1] = 0
            counts[i] -= 1
            counts[i + 1] = rest + 1
            return True
    return False


@lean
def _place(point: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """Write a point of one basis' simplex as weights of the arms of both bases."""
    out[:] = 0.0
    for i in range(places.size):
        out[places[i]] = point[i]


@jit
def least_move(
    means: tuple, bounds: np.ndarray, loose: np.ndarray, first: np.ndarray, second: np.ndarray
) -> float:
    """min over mixtures p on `first` and q on `second` of `move_cost`; q = p if `second` is empty.

    Args:
        means, bounds, loose: as for `move_cost`.
        first, second: places of the arms of each basis among the arms of both.
    """
    tied = second.size == 0
    size = means[0].size
    p, q = np.zeros(size), np.zeros(size)
    n1 = GRID[first.size] if first.size < GRID.size else 4
    n2 = 0 if tied else (GRID[second.size] if second.size < GRID.size else 4)
    best = np.full(STARTS, np.inf)
    best_x = np.zeros((STARTS, first.size))
    best_y = np.zeros((STARTS, second.size))
    x_counts = np.zeros(first.size, np.int64)
    x_counts[0] = n1
    x, y = np.zeros(first.size), np.zeros(second.size)
    worst = 0
    more_x = True
    while more_x:
        for i in range(x.size):
            x[i] = x_counts[i] / n1
        _place(x, first, p)
        y_counts = np.zeros(second.size, np.int64)
        if not tied:
            y_counts[0] = n2
        more_y = True
        while more_y:
            for i in range(y.size):
                y[i] = y_counts[i] / n2
            if tied:
                q[:] = p
                more_y = False
            else:
                _place(y, second, q)
            value = move_cost(p, q, means, bounds, loose, best[worst])
            if value < best[worst]:
                best[worst] = value
                best_x[worst] = x
                best_y[worst] = y
                worst = np.argmax(best)
            if not tied:
                more_y = _next_point(y_counts)
        more_x = _next_point(x_counts)
    least = np.inf
    for s in range(STARTS):
        if best[s] < np.inf:
            least = min(least, _search(best_x[s], best_y[s], means, bounds, loose, first, second))
    return least


@jit
def _search(
    x: np.ndarray,
    y: np.ndarray,
    means: tuple,
    bounds: np.ndarray,
    loose: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> float:
    """Pattern search from (x, y), overwritten with the best point; returns its cost.

    It shifts weight between arms of one basis, or of both at once, and halves the step if no shift
    helps.
    """
    tied = second.size == 0
    p, q = np.zeros(means[0].size), np.zeros(means[0].size)
    x_shifts, y_shifts = _shifts(x.size), _shifts(y.size)
    x_try, y_try = x.copy(), y.copy()
    value = np.inf
    step = 0.1
    while step > SMALLEST_STEP:
        improved = False
        for a in range(len(x_shifts)):
            _shift(x, x_shifts[a], step, x_try)
            _place(x_try, first, p)
            for b in range(len(y_shifts)):
                _shift(y, y_shifts[b], step, y_try)
                if tied:
                    q[:] = p
                else:
                    _place(y_try, second, q)
                less = value * (1.0 - SMALLEST_GAIN)
                trial = move_cost(p, q, means, bounds, loose, less)
                if trial < less:
                    value = trial
                    x[:] = x_try
                    y[:] = y_try
                    improved = True
        if not improved:
            step *= 0.5
    return value


@jit
def _shifts(n: int) -> np.ndarray:
    """(from, to) of every shift of weight between n arms; the first is no shift."""
    shifts = np.zeros((max(n * (n - 1), 0) + 1, 2), np.int64)
    k = 1
    for i in range(n):
        for j in range(n):
            if i != j:
                shifts[k] = (i, j)
                k += 1
    return shifts


@lean
def _shift(point: np.ndarray, shift: np.ndarray, step: float, out: np.ndarray) -> None:
    """Shift a weight of `step`, or all of it if that is less."""
    for i in range(point.size):
        out[i] = point[i]
    if shift[0] != shift[1]:
        amount = min(step, point[shift[0]])
        out[shift[0]] -= amount
        out[shift[1]] += amount


def basis_gap(instance: StandardProblem, optimal: np.ndarray, other: np.ndarray) -> float:
    """Delta_J^2, Eq. (9), of the basis `other` against the optimal one; columns in [0, K + L).

    Args:
        instance: in units of its noise.
        optimal, other: (L + 1,) bases.
    """
    ours, theirs = (_split(instance, basis) for basis in (optimal, other))
    union = np.union1d(ours[0], theirs[0])
    means = _arm_means(instance, union)
    loose = np.array([ours[1], theirs[1]])
    first, second = (np.searchsorted(union, side[0]) for side in (ours, theirs))
    gap = least_move(means, instance.bounds, loose, first, second)
    shared = np.intersect1d(first, second)
    if shared.size:
        nothing = np.empty(0, np.int64)
        gap = min(gap, least_move(means, instance.bounds, loose, shared, nothing))
    return float(gap)


def infeasibility_gap(instance: StandardProblem, optimal: np.ndarray) -> float:
    """Delta_0^2, Eq. (11)."""
    gaps = [math.inf]
    for left_out in optimal:
        arms, slack = _split(instance, optimal[optimal != left_out])
        if arms.size:
            loose = np.array([slack, slack])
            places, nothing = np.arange(arms.size), np.empty(0, np.int64)
            gaps.append(
                least_move(_arm_means(instance, arms), instance.bounds, loose, places, nothing)
            )
    return float(min(gaps))


def least_gaps(instance: StandardProblem, optimal: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n,) lower bounds on Delta_J^2 of the (n, L + 1) bases `others`, without a search.

    For mixtures p on I and q on J, r . (p - q) >= min r_I - max r_J, and |p - q|^2 <= 2. Where all
    costs l of J are on one side of cbar_l, moving c_l so that q . c_l = cbar_l costs at least the
    squared distance of cbar_l from their range, since |q| <= 1. If slack l is in J, only costs
    above cbar_l have to move.
    """
    n_arms, (ours, _) = instance.rewards.size, _split(instance, optimal)
    is_arm = others < n_arms
    arms = np.where(is_arm, others, 0)
    rewards = np.where(is_arm, instance.rewards[arms], -np.inf)
    lead = np.maximum(instance.rewards[ours].min() - rewards.max(axis=1), 0.0)
    moved = np.zeros(len(others))
    for l, bound in enumerate(instance.bounds):
        costs, loose = instance.costs[l, arms], (others == n_arms + l).any(axis=1)
        least = np.where(is_arm, costs, np.inf).min(axis=1)
        most = np.where(is_arm, costs, -np.inf).max(axis=1)
        above = np.maximum(least - bound, 0.0)
        below = np.where(loose, 0.0, np.maximum(bound - most, 0.0))
        moved += above**2 + below**2
    return np.where(is_arm.any(axis=1), lead**2 / 2.0 + moved, 0.0)


def arm_gaps(instance: StandardProblem, optimal: np.ndarray) -> np.ndarray:
    """Delta_a^2, Eq. (10), of every column a: the smallest gap of a basis that contains it.

    Bases are searched in the order of their bounds from `least_gaps`. A basis is skipped if each of
    its columns already has a gap below the bound, and the search ends if every column has.
    """
    n_columns = instance.rewards.size + instance.bounds.size
    bases = np.array(list(itertools.combinations(range(n_columns), optimal.size)))
    others = bases[(bases != optimal).any(axis=1)]
    bounds = least_gaps(instance, optimal, others)
    gaps = np.full(n_columns, np.inf)
    gaps[optimal] = 0.0
    for i in np.argsort(bounds, kind="stable"):
        least = bounds[i] * (1.0 - MARGIN)
        if least > gaps.max():
            break
        if least <= gaps[others[i]].max():
            gap = basis_gap(instance, optimal, others[i])
            gaps[others[i]] = np.minimum(gaps[others[i]], gap)
    return gaps


def _split(instance: StandardProblem, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The arms of a basis, and which slacks are in it, (L,)."""
    n_arms, loose = instance.rewards.size, np.zeros(instance.bounds.size, np.bool_)
    is_arm = basis < n_arms
    loose[basis[~is_arm] - n_arms] = True
    return np.sort(basis[is_arm]), loose


def _arm_means(instance: StandardProblem, which: np.ndarray) -> tuple:
    return instance.rewards[which], np.ascontiguousarray(instance.costs[:, which])
