"""T* and w* of a pure-exploration problem, with a certificate."""

from typing import Any, NamedTuple

import numpy as np

from bestarm.core.compile import jit, lean
from bestarm.core.linear_algebra import solve_definite
from bestarm.core.pure_exploration.problem import (
    best_answer,
    displace,
    make_work,
    pieces,
    weigh,
)

#: Most Newton steps; share of the way to the boundary that one may go; least such share.
MOST_STEPS, TO_BOUNDARY, SHORTEST = 200, 0.95, 1e-9
#: Multipliers stay within this factor of mu / (f_i - 1) and mu / w_a.
CENTRAL = 1e4
#: Relative step of finite differences.
DIFFERENCE = 1e-4


class Optimum(NamedTuple):
    """The characteristic time, bracketed: low <= T* <= time.

    `time` is what the allocation attains, 1 / min_i f_i(w). For a mixture p of alternatives
    lambda^i that were played, sum_i p_i f_i(w) <= max_a sum_i p_i (gradient_i)_a =: 1 / low for
    every allocation w, so that none attains less than `low`.
    """

    time: float  # infinite if an alternative is at distance 0; 0 if there is none
    low: float
    allocation: np.ndarray  # (K,) that attains `time`; uniform if that is 0 or infinite


def characteristic_time(problem: Any, means: Any, tolerance: float = 1e-6) -> Optimum:
    """T* and w* for (K,) means, to a relative gap of at most `tolerance`.

    Raises:
        ArithmeticError: the tolerance was not reached.

    Example:
        Two arms: T* = 8 sigma^2 / gap^2.

        >>> from bestarm.core.pure_exploration import top_arms
        >>> found = characteristic_time(top_arms(2), [1.0, 0.5])
        >>> round(found.time, 4), found.allocation.round(4).tolist()
        (32.0, [0.5, 0.5])
    """
    mu = np.array(means, float).ravel()
    point = make_point(pieces(problem), mu.size)
    find_optimum(problem, make_work(problem), best_answer(problem, mu), mu, tolerance, point)
    time, low = float(point.numbers[TIME]), float(point.numbers[LOW])
    if time < np.inf and not time - low <= tolerance * time:
        raise ArithmeticError(f"T* is only known to be between {low:.17g} and {time:.17g}")
    return Optimum(time, low, point.best)


#: Places in `Point.numbers`: the bracket, the share of the last step that was taken, that of the
#: multipliers, and mu.
TIME, LOW, SIZE, DUAL, MU = range(5)


class Point(NamedTuple):
    """An iterate of `find_optimum` and its step, for m pieces of which n exist."""

    w: np.ndarray  # (K,)
    u: np.ndarray  # (m,) multipliers of the pieces
    v: np.ndarray  # (K,) multipliers of w >= 0
    f: np.ndarray  # (m,) f_i(w)
    g: np.ndarray  # (m, K) their gradients
    dw: np.ndarray  # (K,) relative to w
    du: np.ndarray  # (m,)
    dv: np.ndarray  # (K,)
    trial: np.ndarray  # (K,) another w
    costs: np.ndarray  # (m,) f_i there
    gradients: np.ndarray  # (m, K)
    shift: np.ndarray  # (K,) buffer
    hessian: np.ndarray  # (K, K) -w_a w_b (sum u f)''
    best: np.ndarray  # (K,) the best allocation so far
    numbers: np.ndarray  # (5,)


@jit
def make_point(m: int, k: int) -> Point:
    """Buffers for m pieces and k arms."""
    return Point(
        np.zeros(k), np.zeros(m), np.zeros(k), np.zeros(m), np.zeros((m, k)),
        np.zeros(k), np.zeros(m), np.zeros(k),
        np.zeros(k), np.zeros(m), np.zeros((m, k)), np.zeros(k),
        np.zeros((k, k)), np.zeros(k), np.zeros(5),
    )  # fmt: skip


@lean
def evaluate(
    problem: Any,
    work: Any,
    answer: int,
    means: np.ndarray,
    weights: np.ndarray,
    costs: np.ndarray,
    gradients: np.ndarray,
    shift: np.ndarray,
) -> int:
    """f_i(w) and their gradients for all pieces that exist, in the first rows; their number."""
    weigh(problem, work, weights)
    n = 0
    for i in range(pieces(problem)):
        cost = displace(problem, work, i, answer, means, shift)
        if cost < np.inf:
            costs[n] = cost
            for a in range(means.size):
                gradients[n, a] = 0.5 * shift[a] * shift[a] / problem.variances[a]
            n += 1
    return n


@lean
def find_optimum(
    problem: Any, work: Any, answer: int, means: np.ndarray, tolerance: float, point: Point
) -> None:
    """T* by a primal-dual interior-point method, until the bracket is narrow enough.

    f is homogeneous, so T* = min sum_a w_a  s.t.  f_i(w) >= 1, w >= 0. Newton steps on

        1 - sum_i u_i grad f_i(w) - v = 0,   u_i (f_i(w) - 1) = mu,   v_a w_a = mu,

    while mu decreases; the second derivatives of sum u f are finite differences of gradients. The
    mixture of the certificate is u / sum u.

    Args:
        problem, work: see `problem`; `work` is overwritten.
        answer: the right one for `means`.
        means: (K,) mu.
        tolerance: of time - low, relative to time; missed if rounding or MOST_STEPS is in the way.
        point: overwritten; holds the result in `best` and `numbers`.
    """
    trial, costs, gradients, shift = point.trial, point.costs, point.gradients, point.shift
    set_all(trial, 1.0)
    n = evaluate(problem, work, answer, means, trial, costs, gradients, shift)
    least = smallest(costs, n)
    if not 0.0 < least < np.inf:
        point.numbers[TIME] = point.numbers[LOW] = 0.0 if n == 0 else np.inf
        set_all(point.best, 1.0 / means.size)
        return
    set_all(trial, 2.0 / least)
    evaluate(problem, work, answer, means, trial, costs, gradients, shift)
    start_at(point, n)
    for _ in range(MOST_STEPS):
        certify(point, n)
        if point.numbers[TIME] - point.numbers[LOW] <= tolerance * point.numbers[TIME]:
            return
        for a in range(trial.size):
            nudge(point, a)
            evaluate(problem, work, answer, means, trial, costs, gradients, shift)
            add_curvature(point, n, a)
        size = newton_step(point, n)
        while True:
            move(point, size)
            evaluate(problem, work, answer, means, trial, costs, gradients, shift)
            if size < SHORTEST or inside(point, n):
                break
            size *= 0.7
        if size < SHORTEST:
            return
        advance(point, n, size)


@lean
def set_all(x: np.ndarray, value: float) -> None:
    """Make all entries the same."""
    for i in range(x.size):
        x[i] = value


@lean
def smallest(costs: np.ndarray, n: int) -> float:
    """The least of the first n; infinite if n = 0."""
    least = np.inf
    for i in range(n):
        least = min(least, costs[i])
    return least


@lean
def start_at(point: Point, n: int) -> None:
    """A first iterate at `trial`: all u_i (f_i - 1) and v_a w_a are equal, and u . f = sum w."""
    point.numbers[TIME], point.numbers[LOW] = np.inf, 0.0
    set_all(point.du, 0.0)
    set_all(point.dv, 0.0)
    total, share = 0.0, 0.0
    for a in range(point.w.size):
        point.w[a] = point.trial[a]
        total += point.w[a]
    for i in range(n):
        share += point.costs[i] / (point.costs[i] - 1.0)
    point.numbers[DUAL], point.numbers[MU] = 0.0, total / share
    for i in range(n):
        point.u[i] = total / share / (point.costs[i] - 1.0)
    for a in range(point.w.size):
        point.v[a] = total / share / point.w[a]
    advance(point, n, 1.0)


@lean
def certify(point: Point, n: int) -> None:
    """Narrow the bracket by this iterate."""
    k = point.w.size
    total_w, total_u, largest = 0.0, 0.0, 0.0
    for i in range(n):
        total_u += point.u[i]
    for a in range(k):
        pull = 0.0
        for i in range(n):
            pull += point.u[i] * point.g[i, a]
        largest = max(largest, pull)
        total_w += point.w[a]
    point.numbers[LOW] = max(point.numbers[LOW], total_u / largest)
    time = total_w / smallest(point.f, n)
    if time < point.numbers[TIME]:
        point.numbers[TIME] = time
        for a in range(k):
            point.best[a] = point.w[a] / total_w


@lean
def nudge(point: Point, a: int) -> None:
    """`trial` = w, but for a larger w_a."""
    for b in range(point.w.size):
        point.trial[b] = point.w[b] * (1.0 + DIFFERENCE if a == b else 1.0)


@lean
def add_curvature(point: Point, n: int, a: int) -> None:
    """Row a of the Hessian from the gradients where w_a is larger by DIFFERENCE."""
    for b in range(point.w.size):
        total = 0.0
        for i in range(n):
            total += point.u[i] * (point.g[i, b] - point.gradients[i, b])
        point.hessian[a, b] = total * point.w[b] / DIFFERENCE


@lean
def newton_step(point: Point, n: int) -> float:
    """Set the step towards a smaller mu; the share of it that keeps w positive."""
    w, u, v, f, g, dw, hessian = (
        point.w, point.u, point.v, point.f, point.g, point.dw, point.hessian,
    )  # fmt: skip
    k = w.size
    mu, last = 0.0, point.numbers[SIZE]
    for i in range(n):
        mu += u[i] * (f[i] - 1.0)
    for a in range(k):
        mu += v[a] * w[a]
    mu *= (0.05 if last > 0.7 else 0.3 if last > 0.3 else 0.8) / (n + k)
    for a in range(k):
        dw[a] = mu - w[a]
        for i in range(n):
            dw[a] += mu / (f[i] - 1.0) * g[i, a] * w[a]
        for b in range(a + 1):  # the lower triangle
            hessian[a, b] = 0.5 * (hessian[a, b] + hessian[b, a])
            for i in range(n):
                hessian[a, b] += u[i] / (f[i] - 1.0) * g[i, a] * w[a] * g[i, b] * w[b]
        hessian[a, a] += v[a] * w[a]
    solve_definite(hessian, dw, k)
    size, dual = 1.0, 1.0
    for a in range(k):
        point.dv[a] = mu / w[a] - v[a] - v[a] * dw[a]
        size, dual = min(size, reach(1.0, dw[a])), min(dual, reach(v[a], point.dv[a]))
    for i in range(n):
        rise = 0.0
        for a in range(k):
            rise += g[i, a] * w[a] * dw[a]
        point.du[i] = (mu - u[i] * rise) / (f[i] - 1.0) - u[i]
        dual = min(dual, reach(u[i], point.du[i]))
    point.numbers[DUAL], point.numbers[MU] = dual, mu
    return size


@lean
def reach(x: float, dx: float) -> float:
    """The largest step along dx, up to TO_BOUNDARY of the way, that keeps x positive."""
    return -TO_BOUNDARY * x / dx if dx < 0.0 else np.inf


@lean
def move(point: Point, size: float) -> None:
    """`trial` = w after a share of the step."""
    for a in range(point.w.size):
        point.trial[a] = point.w[a] * (1.0 + size * point.dw[a])


@lean
def inside(point: Point, n: int) -> bool:
    """Whether every f_i at `trial` keeps enough of its distance to 1."""
    enough = True
    for i in range(n):
        enough &= point.costs[i] - 1.0 > (1.0 - TO_BOUNDARY) * (point.f[i] - 1.0)
    return enough


@lean
def advance(point: Point, n: int, size: float) -> None:
    """Go to `trial`; take the multipliers' own share of their step, and keep them central."""
    dual, mu = point.numbers[DUAL], point.numbers[MU]
    for a in range(point.w.size):
        point.w[a] = point.trial[a]
        point.v[a] = central(point.v[a] + dual * point.dv[a], mu / point.w[a])
    for i in range(n):
        point.f[i] = point.costs[i]
        point.u[i] = central(point.u[i] + dual * point.du[i], mu / (point.f[i] - 1.0))
        for a in range(point.w.size):
            point.g[i, a] = point.gradients[i, a]
    point.numbers[SIZE] = size


@lean
def central(multiplier: float, centre: float) -> float:
    """The nearest number within a factor CENTRAL of the centre."""
    return min(max(multiplier, centre / CENTRAL), centre * CENTRAL)


class NearestInstance(NamedTuple):
    """The nearest instance in which an answer is wrong."""

    cost: float  # infinite if the answer is right everywhere
    gradient: np.ndarray  # (K,) of the cost in the weights
    alternative: np.ndarray  # (K,) its means


def nearest(problem: Any, means: Any, weights: Any, answer: int | None = None) -> NearestInstance:
    """min_i f_i(w), with its supergradient and its minimiser.

    Args:
        problem: see `problem`.
        means: (K,) mu.
        weights: (K,) nonnegative.
        answer: the right one for `means`, if left out.

    Example:
        >>> from bestarm.core.pure_exploration import top_arms
        >>> nearest(top_arms(2), [1.0, 0.0], [0.5, 0.5]).alternative.tolist()
        [0.5, 0.5]
    """
    mu, work = np.array(means, float).ravel(), make_work(problem)
    right = best_answer(problem, mu) if answer is None else answer
    best, shift = NearestInstance(np.inf, np.zeros(mu.size), mu), np.zeros(mu.size)
    weigh(problem, work, np.array(weights, float).ravel())
    for i in range(pieces(problem)):
        cost = displace(problem, work, i, right, mu, shift)
        if cost < best.cost:
            best = NearestInstance(float(cost), 0.5 * shift**2 / problem.variances, mu - shift)
    return best
