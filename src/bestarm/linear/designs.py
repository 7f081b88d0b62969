"""Optimal experimental designs, and their rounding to numbers of pulls.

A design is a point lambda of the simplex over the arms; Lambda = sum_x lambda(x) x x^T.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

#: Problems with more products of arms and directions than WHOLE are solved by parts, which grow by
#: up to ADDED d arms and directions per round.
WHOLE, ADDED = 40_000, 4
#: Weights below NEGLIGIBLE are dropped if that raises the value by less than a share NOTICEABLE.
NEGLIGIBLE, NOTICEABLE = 1e-7, 1e-6
#: Interior-point method: maximum number of steps, and share of the distance to the boundary per
#: step.
MOST_STEPS, TO_BOUNDARY = 100, 0.95


class Design(NamedTuple):
    """A design with a certificate of its accuracy."""

    weights: np.ndarray  # (K,); without negligible ones, whose loss raises the value by up to 1e-6
    value: float  # max_y y^T Lambda^-1 y
    bound: float  # lower bound on the value of any design


class _Point(NamedTuple):
    """An iterate of the interior-point method."""

    weights: np.ndarray  # (K,) lambda
    t: float
    u: np.ndarray  # (m,) multipliers of the directions
    v: np.ndarray  # (K,) multipliers of the arms
    values: np.ndarray  # (m,) s_y = y^T Lambda^-1 y
    cross: np.ndarray  # (m, K) y^T Lambda^-1 x


def optimal_design(arms: np.ndarray, directions: np.ndarray, tolerance: float = 1e-8) -> Design:
    """min over designs lambda of max over y of y^T Lambda^-1 y.

    With the arms as directions the G-optimal design, Eq. (21); with their differences the
    XY-optimal one, Eq. (25); with those to the best arm over their gaps H_LB, Eq. (6).

    The maximum is not smooth, so coordinate steps stall; this is an interior-point method instead.
    It minimises t subject to s_y = y^T Lambda^-1 y <= t, lambda >= 0 and sum lambda = 1 by Newton
    steps on the conditions of Karush, Kuhn and Tucker, with u_y (t - s_y) = v_x lambda_x = mu for
    the multipliers u of the directions and v of the arms, while mu decreases, more slowly if the
    last step was short. The derivatives of s_y are -(y^T Lambda^-1 x_i)^2 and
    2 (y^T Lambda^-1 x_i) (x_i^T Lambda^-1 x_j) (x_j^T Lambda^-1 y).

    The result is certified by the equivalence theorem (Prop. 3), generalised to a maximum over
    directions: for any weights w of the directions, with W = sum_y w_y y y^T,

        min over designs of max_y s_y >= tr(W Lambda^-1)^2 / max_x x^T Lambda^-1 W Lambda^-1 x.

    (tr(W M^-1) is convex in the matrix M, so its tangent at Lambda bounds it from below; scale M to
    make the bound as large as possible.) For G with w = lambda that is d^2 / max_x x^T Lambda^-1 x:
    Kiefer and Wolfowitz's gap.

    Args:
        arms: (K, d), spanning R^d.
        directions: (m, d), not all zero.
        tolerance: maximum of (value - bound) / value.

    Raises:
        ArithmeticError: the tolerance was not reached.
    """
    scale = np.sqrt((directions**2).sum(axis=1).max())
    directions = directions / scale
    solve = _solve if len(arms) * len(directions) <= WHOLE else _solve_by_parts
    weights, _, value, bound = solve(arms, directions, tolerance)
    kept = _without_dust(arms, directions, weights, value)
    return Design(kept, value * scale**2, bound * scale**2)


class _Solution(NamedTuple):
    """A design, the weights w of directions that certify it, and its certificate."""

    weights: np.ndarray  # (K,)
    shares: np.ndarray  # of directions
    value: float
    bound: float


def _solve(arms: np.ndarray, directions: np.ndarray, tolerance: float) -> _Solution:
    """The interior-point method, on all arms and directions at once."""
    point, size = _centre(arms, directions), 1.0
    value, bound = math.inf, 0.0
    for _ in range(MOST_STEPS):
        shares = point.u / point.u.sum()
        value = point.values.max()
        bound = (shares @ point.values) ** 2 / (shares @ point.cross**2).max()
        if value - bound <= tolerance * value:
            return _Solution(point.weights, shares, value, bound)
        point, size = _next(arms, directions, point, size)
    raise _not_found(tolerance, value, bound)


def _solve_by_parts(arms: np.ndarray, directions: np.ndarray, tolerance: float) -> _Solution:
    """The same by small problems, since d (d + 1) / 2 arms and as many directions fix a design.

    Each round solves the problem of some arms and some directions, and takes its certificate on
    all: directions that exceed the value, and arms that lower the bound, join them, the worst
    first. Once none do, the certificate of the small problem is that of all. The first arms are d
    independent ones, the first directions the worst of equal weights. `shares` of the result are
    those of the directions that were used.
    """
    d = arms.shape[1]
    arms, basis = np.linalg.qr(arms)  # coordinates in which equal weights are well conditioned
    directions = np.linalg.solve(basis.T, directions.T).T
    some_arms = qr(arms.T, mode="r", pivoting=True)[1][:d]
    some = _largest((directions**2).sum(axis=1), ADDED * d)
    weights, shares = np.full(len(arms), 1.0 / len(arms)), np.full(some.size, 1.0 / some.size)
    value, bound = math.inf, 0.0
    for _ in range(MOST_STEPS):
        solved = np.linalg.solve(arms.T @ (weights[:, None] * arms), directions.T)
        values = (directions.T * solved).sum(axis=0)
        gains = shares @ (solved[:, some].T @ arms.T) ** 2
        value, bound = values.max(), (shares @ values[some]) ** 2 / gains.max()
        if value - bound <= tolerance * value:
            return _Solution(weights, shares, value, bound)
        some_arms = np.union1d(some_arms, _largest(gains, ADDED * d))
        some = np.union1d(some, _largest(values, ADDED * d))
        part = _solve(arms[some_arms], directions[some], 0.5 * tolerance)
        weights, shares = np.zeros(len(arms)), part.shares
        weights[some_arms] = part.weights
    raise _not_found(tolerance, value, bound)


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """Indices of the n largest values, or of all."""
    return np.argpartition(values, -n)[-n:] if n < values.size else np.arange(values.size)


def _not_found(tolerance: float, value: float, bound: float) -> ArithmeticError:
    return ArithmeticError(
        f"no design with a relative gap of {tolerance:g} was found, "
        f"only one of value {value:g} and bound {bound:g}"
    )


def _centre(arms, directions) -> _Point:
    """Equal weights; multipliers that make all u_y (t - s_y), and all v_x lambda_x, equal."""
    weights = np.full(len(arms), 1.0 / len(arms))
    values, cross = _values(arms, directions, weights)
    t = 1.5 * values.max()
    u = 1.0 / (t - values)
    u /= u.sum()
    v = u @ (t - values) / len(directions) / weights
    return _Point(weights, t, u, v, values, cross)


def _next(arms, directions, point: _Point, last: float) -> tuple[_Point, float]:
    """A Newton step towards a smaller mu, shortened to stay in the interior.

    `last` is the share of the previous step that was taken. Also returns the share of this one.
    """
    weights, t, u, v, values, cross = point
    room = t - values
    mu = (u @ room + v @ weights) / (u.size + v.size)
    mu *= 0.1 if last > 0.7 else 0.3 if last > 0.3 else 0.8
    step, rise = _newton(arms, cross, weights, u, v, room, mu)
    du = mu / room - u - u / room * (rise + cross**2 @ step)
    dv = mu / weights - v - v / weights * step
    size = min(1.0, *(_reach(x, dx) for x, dx in ((weights, step), (u, du), (v, dv))))
    while True:  # values are not linear in the step
        values, cross = _values(arms, directions, weights + size * step)
        if (t + size * rise - values > (1.0 - TO_BOUNDARY) * room).all():
            break
        size *= 0.7
    weights, t, u, v = weights + size * step, t + size * rise, u + size * du, v + size * dv
    return _Point(weights, t, u, v, values, cross), size


def _without_dust(arms, directions, weights, value) -> np.ndarray:
    """The weights without negligible ones, unless dropping them noticeably raises the value."""
    kept = np.where(weights > NEGLIGIBLE, weights, 0.0)
    kept /= kept.sum()
    matrix = arms.T @ (kept[:, None] * arms)
    solved = directions @ np.linalg.pinv(matrix, hermitian=True)
    higher = (solved * directions).sum(axis=1).max() > (1.0 + NOTICEABLE) * value
    determined = np.allclose(solved @ matrix, directions, rtol=0.0, atol=1e-9)
    return kept if determined and not higher else weights


def _values(arms, directions, weights) -> tuple[np.ndarray, np.ndarray]:
    """(m,) s_y = y^T Lambda^-1 y, and (m, K) y^T Lambda^-1 x."""
    solved = np.linalg.solve(arms.T @ (weights[:, None] * arms), directions.T)
    return (directions.T * solved).sum(axis=0), solved.T @ arms.T


def _newton(arms, cross, weights, u, v, room, mu) -> tuple[np.ndarray, float]:
    """The Newton step in lambda and t, with u and v eliminated and lambda's sum fixed."""
    n = weights.size
    slopes, tight = -(cross**2), u / room
    inner = arms @ np.linalg.solve(arms.T @ (weights[:, None] * arms), arms.T)
    system = np.zeros((n + 2, n + 2))
    system[:n, :n] = 2.0 * inner * ((cross.T * u) @ cross) + (slopes.T * tight) @ slopes
    system[:n, :n] += np.diag(v / weights)
    system[:n, n] = system[n, :n] = -tight @ slopes
    system[n, n] = tight.sum()
    system[:n, n + 1] = system[n + 1, :n] = 1.0
    right = np.concatenate(
        [mu / weights - (mu / room) @ slopes, [(mu / room).sum() - 1.0, 1.0 - weights.sum()]]
    )
    size = np.append(
        weights, [1.0, 1.0]
    )  # rescaled so that all unknowns are of similar size, for accuracy
    step = size * np.linalg.solve(size[:, None] * system * size, size * right)
    return step[:n], float(step[n])


def _reach(x, dx) -> float:
    """The largest step along dx, up to TO_BOUNDARY of the way, that keeps x positive."""
    falling = dx < 0.0
    return TO_BOUNDARY * float((-x[falling] / dx[falling]).min(initial=np.inf))


def round_design(weights: np.ndarray, n: int) -> np.ndarray:
    """Whole numbers of pulls, n in all, near n times a design (Appendix C; Pukelsheim 2006).

    ceil((n - p/2) lambda_i) over the support of size p; then, one at a time, an arm with the least
    n_i / lambda_i gains a pull or one with the largest (n_i - 1) / lambda_i loses one. Every n_i is
    at least (n - p) lambda_i, so for n > p the uncertainty is at most 1 / (1 - p/n) times the
    design's. (Lemma 5 prints 1 + p/n, which fails for some directions, docs/readings.md.) From n to
    n + 1 one arm gains a pull and the others keep theirs.

    Args:
        weights: (K,) the design.
        n: total number of pulls, at least the size of the support.

    Returns:
        (K,) integers, numbers of pulls.

    Raises:
        ValueError: n is smaller than the support.
    """
    support = np.flatnonzero(weights > 0.0)
    p = support.size
    if n < p:
        raise ValueError(f"n must be at least {p}, the size of the design's support, got {n}")
    shares = weights[support] / weights[support].sum()
    counts = np.ceil((n - 0.5 * p) * shares).astype(np.int64)
    while counts.sum() < n:
        counts[np.argmin(counts / shares)] += 1
    while counts.sum() > n:
        counts[p - 1 - np.argmax(((counts - 1) / shares)[::-1])] -= 1  # ties: the last
    pulls = np.zeros(weights.size, np.int64)
    pulls[support] = counts
    return pulls
