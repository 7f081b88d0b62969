"""The solvers of the released programs, called as those programs call them.

Same matrices, rows in the same order, same starting points and tolerances: SLSQP on objectives
with kinks or flat parts returns a different point after any change of these. `program.py` says
what follows from them.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import sqrtm

from bestarm.core.compile import jit
from bestarm.lagex.highs import least
from bestarm.lagex.slsqp import TOLERANCE, Minimum, Region, minimum, total

#: Added to denominators.
PRECISION = 1e-12
#: Values that exceed the least total by more are not the least, whatever the solver's rounding.
MARGIN = 1e-6
#: What a constraint may be exceeded by at a neighbour.
INSIDE = 1e-5
#: AdaGrad: step, and what is added to the diagonal of the sum of squares; weights are clipped.
STEP, RIDGE, SMALLEST = 1.0 / math.sqrt(2.0), 0.01, 1e-12
#: Ends of the grids on which confidence intervals are sought, and their points.
LOWEST, HIGHEST, GRID = -1.0, 10.0, 5000
#: Tolerances of the solver of the game, tried in turn, each from a new start.
TOLERANCES = (TOLERANCE, 1e-16, 1e-12, 1e-6, 1e-4)


class Failed(Exception):
    """A round ends without an allocation; its message says why."""


class Vertex(NamedTuple):
    """A best policy, and the inequalities rows @ pi <= limits with their slacks there."""

    policy: np.ndarray  # (K,)
    rows: np.ndarray  # (m, K) constraints, if any, then -I, 1^T and -1^T
    limits: np.ndarray  # (m,)
    slacks: np.ndarray  # (m,)


class Response(NamedTuple):
    """The hardest instance to tell from the estimates, for given weights."""

    value: float
    means: np.ndarray  # (K,)
    multiplier: np.ndarray  # (d,) or empty


class Price(NamedTuple):
    """What the multiplier of a Lagrangian strategy depends on."""

    rows: np.ndarray  # (d, K)
    limits: np.ndarray  # (d,)
    start: np.ndarray  # (d,)
    sign: float  # of the slacks in its upper bound


@dataclass
class AdaGrad:
    """The allocation player: weights in {rows @ w <= limits}, and the sum of outer products."""

    rows: np.ndarray  # (m, K) fixed
    limits: np.ndarray  # (m,)
    weights: np.ndarray  # (K,)
    outer: np.ndarray  # (K, K)


def simplex_rows(k: int, *blocks: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and limits of blocks, then of -pi <= 0, sum pi <= 1 and -sum pi <= -1."""
    one = np.ones((1, k))
    rows = [block[0] for block in blocks] + [-np.eye(k), one, -one]
    limits = [block[1] for block in blocks] + [np.zeros(k), [1.0], [-1.0]]
    return np.concatenate(rows), np.concatenate(limits)


def best_policy(means: np.ndarray, *constraints: tuple[np.ndarray, np.ndarray]) -> Vertex:
    """max mu^T pi  s.t. pi in simplex, A pi <= b, by dual simplex. Raises Failed if it is empty."""
    rows, limits = simplex_rows(means.size, *constraints)
    vertex = least(-means, rows, limits)
    if vertex is None:
        raise Failed("no policy keeps the estimated constraints")
    return Vertex(vertex.x, rows, limits, vertex.slacks)


def neighbours_of(vertex: Vertex) -> np.ndarray:
    """(V, K) vertices that share all but one tight row with a vertex.

    A row is tight if its slack is exactly zero. A tight row with a slack of 1e-16 counts as loose,
    and swapping it in gives the vertex itself.
    """
    k = vertex.policy.size
    tight, loose = np.flatnonzero(vertex.slacks == 0.0), np.flatnonzero(vertex.slacks != 0.0)
    bases = [
        (*basis[:place], row, *basis[place + 1 :])
        for basis in itertools.combinations(tight.tolist(), k)
        for row in loose.tolist()
        for place in range(k)
    ]
    if not bases:
        return np.zeros((0, k))
    chosen = np.array(bases)
    chosen = chosen[np.linalg.matrix_rank(vertex.rows[chosen]) == k]
    points = np.linalg.solve(vertex.rows[chosen], vertex.limits[chosen][:, :, None])[:, :, 0]
    points = points[(points @ vertex.rows.T <= vertex.limits + INSIDE).all(axis=1)]
    return points[first_of_close(points)]


@jit
def first_of_close(points):
    """Which points (p, n) are not close, as np.allclose has it, to one chosen before."""
    chosen = np.zeros(points.shape[0], np.bool_)
    for p in range(points.shape[0]):
        chosen[p] = True
        for q in range(p):
            near = np.abs(points[q] - points[p]) <= 1e-8 + 1e-5 * np.abs(points[p])
            if chosen[q] and near.all():
                chosen[p] = False
                break
    return chosen


def project(point: np.ndarray, rows: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """argmin ||x - point||^2  s.t. x in simplex, rows @ x <= limits, by SLSQP from uniform."""
    k = point.size
    one, eye = np.ones((1, k)), np.eye(k)
    left = np.concatenate([rows, eye, -eye, one, -one])
    right = np.concatenate([limits, np.ones(k), np.zeros(k), [1.0], [-1.0]])

    def objective(points: np.ndarray) -> np.ndarray:
        # the power of a Python float is C's pow, not always the product's last bit
        return np.array([norm**2 for norm in distances(points, point).tolist()])

    found = minimum(objective, np.ones(k) / k, Region.below(left, right)).x
    if np.abs(found.sum() - 1.0) > 1e-5:
        raise Failed("a projected allocation does not sum to one")
    return found


@jit
def distances(points, centre):
    """(p,) ||x - centre|| of points (p, n)."""
    found = np.zeros(points.shape[0])
    for p in range(points.shape[0]):
        for i in range(centre.size):
            found[p] += (points[p, i] - centre[i]) ** 2
        found[p] = math.sqrt(found[p])
    return found


def alternatives(
    weights: np.ndarray, means: np.ndarray, policy: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Per neighbour, the nearest instance in which it is as good as the policy.

    min_lam sum_a w_a (mu_a - lam_a)^2 / 2  s.t. lam^T (policy - neighbour) = 0.

    Returns:
        (V,) minima and (V, K) instances.
    """
    steps, padded = policy - others, weights + PRECISION
    gaps = np.array([means.dot(step) for step in steps])
    prices = gaps / ((steps**2 / padded).sum(axis=1) + PRECISION)
    instances = means - prices[:, None] * steps / padded
    return (weights * (means - instances) ** 2).sum(axis=1) / 2.0, instances


@jit
def hardest(points, means, steps, gaps):
    """(p,) the least of the minima of `alternatives`, for weights (p, K).

    Args:
        steps: (V, K) policy - neighbours. gaps: (V,) means^T steps.
    """
    found = np.full(points.shape[0], np.inf)
    padded, terms = np.empty(means.size), np.empty(means.size)
    for p in range(points.shape[0]):
        padded[:] = points[p] + PRECISION
        for v in range(gaps.size):
            terms[:] = steps[v] ** 2 / padded
            price = gaps[v] / (total(terms) + PRECISION)
            terms[:] = points[p] * (means - (means - price * steps[v] / padded)) ** 2
            found[p] = min(found[p], total(terms) / 2.0)
    return found


def multiplier(value: float, slacks: np.ndarray, price: Price) -> np.ndarray:
    """min_l value + l^T slacks  s.t. l >= 0, sum l <= value / min(sign slacks), by SLSQP.

    Args:
        value: of an alternative. slacks: (d,) b - A w.
    """
    most = value / ((price.sign * slacks).min() + PRECISION)
    region = _sum_between(slacks.size, most)
    return minimum(lambda l: affine(l, value, slacks), price.start, region).x


def _sum_between(size: int, most: float) -> Region:
    """0 <= sum l <= most, l >= 0; the sum is an equation if `most` is zero."""
    row, lower, upper = np.ones((1, size)), np.zeros(size), np.full(size, np.inf)
    if most == 0.0:
        return Region(row, np.zeros(1), lower, upper, equations=1)
    return Region(np.vstack([row, -row]), np.array([0.0, most]), lower, upper)


@jit
def affine(points, value, slope):
    """(p,) value + x^T slope of points (p, n)."""
    found = np.zeros(points.shape[0])
    for p in range(points.shape[0]):
        for i in range(slope.size):
            found[p] += points[p, i] * slope[i]
        found[p] += value
    return found


def best_response(
    weights: np.ndarray,
    means: np.ndarray,
    policy: np.ndarray,
    others: np.ndarray,
    price: Price | None,
) -> Response:
    """The alternative of the least value, with the multiplier's term if there is a price.

    Raises ValueError if there are no neighbours, as the programs do.
    """
    if not len(others):
        raise ValueError("a policy without neighbours: too few of its tight rows were seen")
    values, instances = alternatives(weights, means, policy, others)
    if price is None:
        hardest = int(np.argmin(values))
        return Response(float(values[hardest]), instances[hardest], np.zeros(0))
    slacks = price.limits - price.rows.dot(weights)
    totals, found = np.full(values.size, np.inf), {}
    for v in np.argsort(values, kind="stable").tolist():
        # where no slack is negative, a multiplier can only add to the value
        if slacks.min() < 0.0 or values[v] <= totals.min() + MARGIN:
            found[v] = multiplier(values[v], slacks, price)  # pyright: ignore[reportArgumentType]
            totals[v] = values[v] + found[v].dot(slacks)
    hardest = int(np.argmin(totals))
    return Response(float(totals[hardest]), instances[hardest], found[hardest])


def sweep(
    objective: Callable[[np.ndarray], np.ndarray],
    start: Callable[[], np.ndarray],
    region: Region,
) -> Minimum:
    """min objective(w)  s.t. w in region, from new starts until SLSQP is content."""
    for tolerance in TOLERANCES:
        found = minimum(objective, start(), region, tolerance)
        if found.success:
            break
    return found  # pyright: ignore[reportPossiblyUnboundVariable]


def solved_allocation(
    means: np.ndarray,
    policy: np.ndarray,
    others: np.ndarray,
    rng: np.random.Generator,
    rows: np.ndarray | None = None,
    limits: np.ndarray | None = None,
    price: Price | None = None,
) -> np.ndarray:
    """max_w of the best response's value, by SLSQP from a random start.

    Without rows over the simplex. With rows the start is projected into simplex and constraints,
    but the maximum is sought in {w in [0, 1]^K : rows @ w <= limits}, whatever its sum. With a
    price, raises Failed if no start leads to success.
    """
    k = means.size

    def start() -> np.ndarray:
        drawn = rng.uniform(0.3, 0.6, size=k)
        return drawn / drawn.sum() if rows is None else project(drawn, rows, limits)  # pyright: ignore[reportArgumentType]

    def losses(points: np.ndarray) -> np.ndarray:
        if price is None:
            return -hardest(points, means, steps, gaps)
        return np.array([-best_response(w, means, policy, others, price).value for w in points])

    steps, zeros, ones = policy - others, np.zeros(k), np.ones(k)
    gaps = np.array([means.dot(step) for step in steps])
    region = (
        Region(np.ones((1, k)), np.array([-1.0]), zeros, ones, equations=1)
        if rows is None
        else Region(-rows, limits, zeros, ones)  # pyright: ignore[reportArgumentType]
    )
    found = sweep(losses, start, region)
    if price is not None and not found.success:
        raise Failed("the game was not solved")
    return found.x


def grid_end(mean: float, end: float, level: float) -> float:
    """A point x between mean and end with (mean - x)^2 / 2 close to the level.

    It is the last one that bisection looks at, on a grid of GRID points from mean to end.
    """
    low, high, step = 0, GRID, (end - mean) / (GRID - 1)
    while True:
        middle = (low + high) // 2
        x = end if middle == GRID - 1 else middle * step + mean
        if 0.5 * (mean - x) ** 2 < level:
            low = middle
        else:
            high = middle
        if low + 1 >= high:
            return x


def optimistic_gains(means: np.ndarray, pulls: np.ndarray, instance: np.ndarray) -> np.ndarray:
    """(K,) what a unit of each arm gains: max(ln t / N, d(ends of the interval, instance))."""
    level = math.log(pulls.sum()) / pulls
    ends = np.array(
        [
            [grid_end(m, end, at) for m, at in zip(means.tolist(), level.tolist(), strict=True)]
            for end in (LOWEST, HIGHEST)
        ]
    )
    return np.maximum(level, (0.5 * (ends - instance) ** 2).max(axis=0))


def adagrad_step(game: AdaGrad, gains: np.ndarray) -> None:
    """Move the weights, for gains (K,) already scaled:

    argmin_x sum |x - w - eta H^(-1/2) gains|  s.t. rows @ x <= limits,  H = sum gains gains^T + cI,

    by SLSQP from w. Where H^(-1/2) gains >= 0 the distance is the same for all x of the simplex
    near w: w stays. It gives way only at entries with a negative one.
    """
    game.outer = game.outer + np.outer(-gains, -gains)
    root = sqrtm(game.outer + RIDGE * np.eye(gains.size))
    move = STEP * np.matmul(np.linalg.pinv(root), -gains)
    before = game.weights
    found = minimum(
        lambda x: distance(x, before, move), before, Region.below(game.rows, game.limits)
    )
    game.weights = np.clip(found.x, SMALLEST, 1.0 - SMALLEST)


@jit
def distance(points, before, move):
    """(p,) sum |x - before + move| of points (p, n)."""
    found = np.empty(points.shape[0])
    for p in range(points.shape[0]):
        found[p] = total(np.abs(points[p] - before + move))
    return found
