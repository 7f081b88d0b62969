"""What the released programs solve in a round, as their solvers do it.

Same matrices, rows in the same order, same starting points and tolerances: SLSQP on objectives
with kinks or flat parts returns a different point after any change of these. `program.py` says
what follows from them.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numba.extending import overload
from scipy.linalg import sqrtm

from bestarm.core.compile import jit
from bestarm.lagex.released.highs import least
from bestarm.lagex.released.slsqp import (
    TOLERANCE,
    Minimum,
    Region,
    minimum,
    product,
    total,
    value_at,
)

#: Added to denominators.
PRECISION = 1e-12
#: Values that exceed the least total by more are not the least, whatever the solver's rounding.
MARGIN = 1e-6
#: A basis whose condition number is at most this has full rank: tests have 1e-14 and 1e-15.
SURE = 1e9
#: What a constraint may be exceeded by at a neighbour.
INSIDE = 1e-5
#: AdaGrad: step, and what is added to the diagonal of the sum of squares; weights are clipped.
STEP, RIDGE, SMALLEST = 1.0 / math.sqrt(2.0), 0.01, 1e-12
#: Ends of the grids on which confidence intervals are sought, and their points.
LOWEST, HIGHEST, GRID = -1.0, 10.0, 5000
#: Tolerances of the solver of the game, tried in turn, each from a new start.
TOLERANCES = (TOLERANCE, 1e-16, 1e-12, 1e-6, 1e-4)


class RoundFailure(Exception):
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


class Lagrangian(NamedTuple):
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
    ones = np.ones((1, k))
    rows = [block[0] for block in blocks] + [-np.eye(k), ones, -ones]
    limits = [block[1] for block in blocks] + [np.zeros(k), [1.0], [-1.0]]
    return np.concatenate(rows), np.concatenate(limits)


def best_policy(means: np.ndarray, *constraints: tuple[np.ndarray, np.ndarray]) -> Vertex:
    """max mu^T pi  s.t. pi in simplex, A pi <= b: dual simplex. Raises RoundFailure if empty."""
    rows, limits = simplex_rows(means.size, *constraints)
    vertex = least(-means, rows, limits)
    if vertex is None:
        raise RoundFailure("no policy keeps the estimated constraints")
    return Vertex(vertex.x, rows, limits, vertex.slacks)


def vertex_neighbours(vertex: Vertex, near: float = 0.0) -> np.ndarray:
    """(V, K) vertices that share all but one tight row with a vertex.

    A row is tight if its slack is exactly zero (within `near`). A tight row with a slack of 1e-16
    counts as loose, and swapping it in gives the vertex itself.
    """
    k = vertex.policy.size
    is_tight = np.abs(vertex.slacks) <= near
    tight, loose = np.flatnonzero(is_tight), np.flatnonzero(~is_tight)
    chosen = [
        _of_full_rank(vertex.rows, list(basis), loose)
        for basis in itertools.combinations(tight.tolist(), k)
        if loose.size
    ]
    if not chosen:
        return np.zeros((0, k))
    chosen = np.concatenate(chosen)
    points = np.linalg.solve(vertex.rows[chosen], vertex.limits[chosen][:, :, None])[:, :, 0]
    points = points[(points @ vertex.rows.T <= vertex.limits + INSIDE).all(axis=1)]
    return points[first_of_close(points)]


def _of_full_rank(rows: np.ndarray, basis: list[int], loose: np.ndarray) -> np.ndarray:
    """(S, K) a basis with one row replaced by a loose one, those that np.linalg.matrix_rank takes.

    It takes none that holds both 1^T and -1^T, the last rows; most others are told by a bound.
    """
    k, last = len(basis), len(rows) - 1
    swaps = np.empty((loose.size, k, k), int)
    swaps[:] = basis
    swaps[:, np.arange(k), np.arange(k)] = loose[:, None]
    taken = np.zeros((loose.size, k), bool)
    if not (last in basis and last - 1 in basis):
        taken = _surely_independent(rows[basis], rows[loose])
    swaps, taken = swaps.reshape(-1, k), taken.ravel()
    unsure = ~taken & ~((swaps == last).any(axis=1) & (swaps == last - 1).any(axis=1))
    if unsure.any():
        taken[unsure] = np.linalg.matrix_rank(rows[swaps[unsure]]) == k
    return swaps[taken]


def _surely_independent(basis: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(L, K) whether row r of others (L, K) can replace row p of B (K, K), so far as a bound tells:

    ||B'^-1|| <= ||B^-1|| (1 + (||c|| + 1) / |c_p|),  c = r B^-1  (Sherman and Morrison).
    """
    try:
        inverse = np.linalg.inv(basis)
    except np.linalg.LinAlgError:
        return np.zeros(others.shape, bool)
    shares, sizes = others @ inverse, np.linalg.norm(others, axis=1)[:, None]
    lengths = np.linalg.norm(shares, axis=1)[:, None] + 1.0
    condition = (np.linalg.norm(basis) + sizes) * np.linalg.norm(inverse)
    return condition * (np.abs(shares) + lengths) <= SURE * np.abs(shares)


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


class Distance(NamedTuple):
    """An objective: ||x - centre||^power."""

    centre: np.ndarray  # (n,)
    power: float  # 2; a constant would be compiled to a product, not always pow's last bit


class Move(NamedTuple):
    """An objective: sum |x - before + move|."""

    before: np.ndarray  # (n,)
    move: np.ndarray  # (n,)


class AffineObjective(NamedTuple):
    """An objective: value + x^T slope."""

    value: float
    slope: np.ndarray  # (n,)


class Game(NamedTuple):
    """An objective: minus the least of the minima of `alternatives`, for weights x."""

    means: np.ndarray  # (K,)
    steps: np.ndarray  # (V, K) policy - neighbours
    gaps: np.ndarray  # (V,) means^T steps


class LagrangianGame(NamedTuple):
    """An objective: minus the value of the best response to weights x by a Lagrangian."""

    game: Game
    lagrangian: Lagrangian


@overload(value_at)
def _value_at(objective, x):
    kind = getattr(objective, "instance_class", None)
    if kind is Distance:
        return lambda objective, x: _distance(objective, x)
    if kind is Move:
        return lambda objective, x: total(np.abs(x - objective.before + objective.move))
    if kind is AffineObjective:
        return lambda objective, x: _affine(objective, x)
    if kind is Game:
        return lambda objective, x: -_least(alternatives(x, objective)[0])
    if kind is LagrangianGame:
        return lambda objective, x: -lagrangian_response(x, objective.game, objective.lagrangian)[0]
    return None


@jit
def _distance(objective, x):
    squared = 0.0
    for i in range(x.size):
        squared += (x[i] - objective.centre[i]) ** 2
    return math.sqrt(squared) ** objective.power


@jit
def _affine(objective, x):
    value = 0.0
    for i in range(x.size):
        value += x[i] * objective.slope[i]
    return value + objective.value


@jit
def _least(values):
    """The least value; infinite if there is none."""
    least = np.inf
    for value in values:
        least = min(least, value)
    return least


def project(point: np.ndarray, rows: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """argmin ||x - point||^2  s.t. x in simplex, rows @ x <= limits, by SLSQP from uniform."""
    projected = projection(Distance(point, 2.0), rows, limits)
    if np.abs(projected.sum() - 1.0) > 1e-5:
        raise RoundFailure("a projected allocation does not sum to one")
    return projected


@jit
def projection(distance, rows, limits):
    """`project`, which may fail."""
    k, d = distance.centre.size, limits.size
    left, right = np.zeros((d + 2 * k + 2, k)), np.zeros(d + 2 * k + 2)
    left[:d], right[:d], right[d : d + k] = -rows, limits, 1.0
    for i in range(k):
        left[d + i, i], left[d + k + i, i] = -1.0, 1.0
    left[-2], left[-1], right[-2], right[-1] = -1.0, 1.0, 1.0, -1.0
    free = np.full(k, np.inf)
    region = Region(left, right, -free, free, 0)
    return minimum(distance, np.ones(k) / k, region, TOLERANCE).x


def neighbour_game(means: np.ndarray, policy: np.ndarray, others: np.ndarray) -> Game:
    """The alternatives to a policy (K,) at its neighbours (V, K)."""
    steps = policy - others
    return Game(means, steps, np.array([means.dot(step) for step in steps]))


@jit
def alternatives(weights, game):
    """Per neighbour, the nearest instance in which it is as good as the policy.

    min_lam sum_a w_a (mu_a - lam_a)^2 / 2  s.t. lam^T (policy - neighbour) = 0.

    Args:
        weights: (K,). game: a Game.

    Returns:
        (V,) minima and (V, K) instances.
    """
    means, steps, gaps = game
    values, instances = np.empty(gaps.size), np.empty(steps.shape)
    padded = weights + PRECISION
    for v in range(gaps.size):
        multiplier = gaps[v] / (total(steps[v] ** 2 / padded) + PRECISION)
        instances[v] = means - multiplier * steps[v] / padded
        values[v] = total(weights * (means - instances[v]) ** 2) / 2.0
    return values, instances


@jit
def multiplier(value, slacks, lagrangian):
    """min_l value + l^T slacks  s.t. l >= 0, sum l <= value / min(sign slacks), by SLSQP.

    The sum is an equation if its bound is zero.

    Args:
        value: of an alternative. slacks: (d,) b - A w. lagrangian: a `Lagrangian`.
    """
    most = value / ((lagrangian.sign * slacks).min() + PRECISION)
    size, equations = slacks.size, int(most == 0.0)
    rows, offsets = np.ones((2 - equations, size)), np.zeros(2 - equations)
    rows[1:], offsets[1:] = -1.0, most
    region = Region(rows, offsets, np.zeros(size), np.full(size, np.inf), equations)
    return minimum(AffineObjective(value, slacks), lagrangian.start, region, TOLERANCE).x


@jit
def lagrangian_response(weights, game, lagrangian):
    """The alternative that is of least value with the multiplier's term.

    Returns:
        value, instance (K,), multiplier (d,).
    """
    values, instances = alternatives(weights, game)
    slacks = lagrangian.limits - product(lagrangian.rows, weights)
    totals, multipliers = np.full(values.size, np.inf), np.zeros((values.size, slacks.size))
    for v in np.argsort(values, kind="mergesort"):  # which is stable
        # where no slack is negative, a multiplier can only add to the value
        if slacks.min() < 0.0 or values[v] <= totals.min() + MARGIN:
            multipliers[v] = multiplier(values[v], slacks, lagrangian)
            totals[v] = values[v] + np.dot(multipliers[v], slacks)
    hardest = totals.argmin()
    return totals[hardest], instances[hardest], multipliers[hardest]


def best_response(weights: np.ndarray, game: Game, lagrangian: Lagrangian | None) -> Response:
    """The alternative of the least value, with the multiplier's term for a Lagrangian.

    Raises ValueError if there are no neighbours, as the programs do.
    """
    if not len(game.gaps):
        raise ValueError("a policy without neighbours: too few of its tight rows were seen")
    if lagrangian is not None:
        return Response(*lagrangian_response(weights, game, lagrangian))
    values, instances = alternatives(weights, game)
    hardest = int(np.argmin(values))
    return Response(float(values[hardest]), instances[hardest], np.zeros(0))


@cache
def compile_multiplier() -> None:
    """Compile `minimum` for a multiplier, once, before it is compiled for a game that has one.

    Compiling it for the game would compile it for the multiplier on the way. Numba keeps a function
    that was compiled within its own compilation so that, loaded by another process, it crashes.
    """
    ones = np.ones(1)
    multiplier(1.0, ones, Lagrangian(np.ones((1, 1)), ones, ones, 1.0))


def sweep(
    objective: Game | LagrangianGame, start: Callable[[], np.ndarray], region: Region
) -> Minimum:
    """min objective(w)  s.t. w in region, from new starts until SLSQP is content."""
    if isinstance(objective, LagrangianGame):
        compile_multiplier()
    for tolerance in TOLERANCES:
        optimum = minimum(objective, start(), region, tolerance)
        if optimum.success:
            break
    return optimum  # pyright: ignore[reportPossiblyUnboundVariable]


def solved_allocation(
    game: Game,
    rng: np.random.Generator,
    rows: np.ndarray | None = None,
    limits: np.ndarray | None = None,
    lagrangian: Lagrangian | None = None,
    summed: bool = False,
) -> np.ndarray:
    """max_w of the best response's value, by SLSQP from a random start.

    Without rows over the simplex. With rows the start is projected into simplex and constraints,
    but the maximum is sought in {w in [0, 1]^K : rows @ w <= limits}, whatever its sum, unless
    `summed`. With a Lagrangian, raises RoundFailure if no start leads to success.
    """
    k = game.means.size

    def start() -> np.ndarray:
        drawn = rng.uniform(0.3, 0.6, size=k)
        return drawn / drawn.sum() if rows is None else project(drawn, rows, limits)  # pyright: ignore[reportArgumentType]

    left, right = np.zeros((0, k)), np.zeros(0)
    if rows is not None and limits is not None:
        left, right = -rows, limits
    equations = int(rows is None or summed)
    if equations:
        left, right = np.vstack([np.ones((1, k)), left]), np.concatenate([[-1.0], right])
    region = Region(left, right, np.zeros(k), np.ones(k), equations)
    optimum = sweep(game if lagrangian is None else LagrangianGame(game, lagrangian), start, region)
    if lagrangian is not None and not optimum.success:
        raise RoundFailure("the game was not solved")
    return optimum.x


@jit
def grid_end(mean, end, level):
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


@jit
def optimistic_gains(means, level, instance):
    """(K,) what a unit of each arm gains: max(ln t / N, d(ends of the interval, instance)).

    Args:
        level: (K,) ln t / N.
    """
    gains = level.copy()
    for arm in range(means.size):
        for end in (LOWEST, HIGHEST):
            away = grid_end(means[arm], end, level[arm]) - instance[arm]
            gains[arm] = max(gains[arm], 0.5 * away**2)
    return gains


def adagrad_step(game: AdaGrad, gains: np.ndarray, squared: bool = False) -> None:
    """Move the weights, for gains (K,) already scaled:

    argmin_x sum |x - w - eta H^(-1/2) gains|  s.t. rows @ x <= limits,  H = sum gains gains^T + cI,

    by SLSQP from w. Where H^(-1/2) gains >= 0 the distance is the same for all x of the simplex
    near w: w stays. It gives way only at entries with a negative one. If `squared`, the argmin of
    the sum of squares.
    """
    game.outer = game.outer + np.outer(-gains, -gains)
    root = sqrtm(game.outer + RIDGE * np.eye(gains.size))
    move = STEP * np.matmul(np.linalg.pinv(root), -gains)
    region = Region.below(game.rows, game.limits)
    objective = Distance(game.weights - move, 2.0) if squared else Move(game.weights, move)
    optimum = minimum(objective, game.weights, region, TOLERANCE)
    game.weights = np.clip(optimum.x, SMALLEST, 1.0 - SMALLEST)
