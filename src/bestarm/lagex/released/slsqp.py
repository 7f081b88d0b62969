"""Kraft's SLSQP, compiled: every bit as from SciPy's minimize(method="SLSQP"), and faster.

It minimises a quadratic model of the objective under the linear constraints, searches along that
step by an L1 merit function, and updates the model's matrix L D L^T by BFGS. Gradients are forward
differences, as SciPy takes them when it is given none.

The released programs solve dozens of problems with few variables per round, so a round is compiled
as a whole, and SciPy's own cannot be called there. Every bit has to be SciPy's, because objectives
with kinks or flat parts end elsewhere after any change.

Source: D. Kraft, A software package for sequential quadratic programming, DFVLR-FB 88-28, 1988;
steps, their order and their tests are those of SciPy 1.17.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import jit
from bestarm.lagex.released.lapack import (
    add,
    multiply_packed,
    multiply_transposed,
    norm,
    solve_packed,
)
from bestarm.lagex.released.least_squares import (
    EPSILON,
    INCOMPATIBLE,
    SINGULAR_EQUATIONS,
    SOLVED,
    lsei,
)

#: Of forward differences.
WIDTH = float(np.sqrt(EPSILON))
ITERATIONS, TOLERANCE = 100, 1e-6
#: The model's matrix is set to the identity at most so often; the last one only ends the search.
RESETS = 6
#: Steps that a line search tries, and the least that one is shortened to, in shares of the last.
TRIALS, SHORTEST = 11, 0.1
#: Weights of a constraint's common excess, tried in turn where linear constraints contradict.
WEIGHTS = np.array([1e2, 1e3, 1e4, 1e5, 1e6, 1e7])


class Minimum(NamedTuple):
    """Where SLSQP ended."""

    x: np.ndarray  # (n,)
    success: bool  # whether it was content


class Region(NamedTuple):
    """{x : lower <= x <= upper, rows @ x + offsets >= 0, = 0 for the first `equations`}.

    There is at least one inequality or bound.
    """

    rows: np.ndarray  # (m, n)
    offsets: np.ndarray  # (m,)
    lower: np.ndarray  # (n,), -inf where there is none
    upper: np.ndarray  # (n,), inf where there is none
    equations: int

    @classmethod
    def below(cls, rows: np.ndarray, limits: np.ndarray) -> "Region":
        """{x : rows @ x <= limits}."""
        free = np.full(rows.shape[1], np.inf)
        return cls(-rows, limits, -free, free, 0)


def value_at(objective, x) -> float:
    """What is minimised: a number. Every objective is a NamedTuple and overloads this function."""
    raise NotImplementedError


@jit
def minimum(objective, start, region, tolerance):
    """argmin objective(x)  s.t. x in region, as SLSQP finds it from a start.

    Args:
        objective: a NamedTuple with an overload of `value_at`. start: (n,), clipped to the bounds.

    Returns:
        a Minimum.

    Raises:
        ValueError: a gradient was asked for outside the bounds, an error in SciPy too.
    """
    rows, offsets, lower, upper, equations = region
    normals, penalties = np.ascontiguousarray(rows.T), np.zeros(offsets.size)
    factor, resets, badly = identity(start.size), 1, False
    x = np.minimum(np.maximum(start, lower), upper)
    value, slacks = value_at(objective, x), product(rows, x) + offsets
    slope = gradient(objective, x, value, lower, upper)
    step, before = np.zeros(x.size), value
    for _ in range(ITERATIONS):
        status, step, multipliers, share, badly = direction(
            factor, slope, normals, slacks, lower - x, upper - x, equations
        )
        if status != SOLVED:
            return Minimum(x, False)
        lagrangian = slope.copy()  # its gradient
        multiply_transposed(-1.0, normals, multipliers, 1.0, lagrangian)
        before, descent = value, np.dot(slope, step)
        change = abs(descent)
        for j in range(penalties.size):
            size = abs(multipliers[j])
            penalties[j] = max(size, (penalties[j] + size) / 2.0)
            change += size * abs(slacks[j])
        kept = total_excess(slacks, equations) < tolerance
        if change < tolerance and kept and not badly and value == value:
            return Minimum(x, True)
        penalty = penalised(0.0, penalties, slacks, equations)
        merit, decrease = value + penalty, descent - penalty * share
        updated = decrease < 0.0
        if updated:
            base, shorter, badly = x, 1.0, False
            for _ in range(TRIALS):
                decrease *= shorter
                step *= shorter
                x = base + step
                value, slacks = value_at(objective, x), product(rows, x) + offsets
                rise = penalised(value, penalties, slacks, equations) - merit
                if not rise > decrease / 10.0:
                    break
                shorter = max(decrease / (2.0 * (decrease - rise)), SHORTEST)
            if converged(value, before, step, slacks, equations, tolerance):
                return Minimum(x, True)
            slope = gradient(objective, x, value, lower, upper)
            change_of_slope = slope.copy()
            multiply_transposed(-1.0, normals, multipliers, 1.0, change_of_slope)
            updated = update(factor, step, change_of_slope - lagrangian)
        if not updated:
            factor, resets = identity(x.size), resets + 1
            if resets == RESETS:
                near = converged(value, before, step, slacks, equations, 10.0 * tolerance)
                return Minimum(x, near and not badly)
    return Minimum(x, False)


@jit
def product(rows, x):
    """rows @ x, (m,), every bit as numpy's, which takes a single row for a vector."""
    values = np.zeros(rows.shape[0])
    if values.size == 1:
        values[0] = np.dot(rows[0], x)
    else:
        multiply_transposed(1.0, rows, x, 0.0, values)
    return values


@jit
def converged(value, before, step, slacks, equations, tolerance):
    """Whether the value or the point hardly moved, within the constraints."""
    still = abs(value - before) < tolerance or norm(step) < tolerance
    return still and total_excess(slacks, equations) < tolerance and value == value


@jit
def excess(slacks, j, equations):
    """What constraint j is broken by."""
    return max(-slacks[j], slacks[j] if j < equations else 0.0)


@jit
def total_excess(slacks, equations):
    """What all constraints are broken by."""
    added = 0.0
    for j in range(slacks.size):
        added += excess(slacks, j, equations)
    return added


@jit
def penalised(value, penalties, slacks, equations):
    """value + sum_j penalties_j times what constraint j is broken by."""
    for j in range(slacks.size):
        value += penalties[j] * excess(slacks, j, equations)
    return value


@jit
def gradient(objective, x, value, lower, upper):
    """(n,) quotients of differences at `forward_points`; value: of the objective at x."""
    points, slope = forward_points(x, lower, upper), np.empty(x.size)
    for i in range(x.size):
        slope[i] = (value_at(objective, points[i]) - value) / (points[i, i] - x[i])
    return slope


@jit
def forward_points(x, lower, upper):
    """(n, n): x with one entry moved, backward where it would leave the bounds."""
    n = x.size
    points = np.empty((n, n))
    points[:] = x
    for i in range(n):
        if x[i] < lower[i] or x[i] > upper[i]:
            raise ValueError("SLSQP asks for a gradient outside the bounds")
        width = WIDTH
        if x[i] + width == x[i]:
            width *= max(1.0, abs(x[i])) * (1.0 if x[i] >= 0.0 else -1.0)
        if not lower[i] <= x[i] + width <= upper[i]:
            width = -width
        points[i, i] = x[i] + width
    return points


@jit
def direction(factor, slope, normals, slacks, lower, upper, equations):
    """min s^T B s / 2 + slope^T s  s.t. the constraints hold at x + s, for B = L D L^T.

    Where they contradict, all but the bounds are loosened by the same share, at a weight.

    Args:
        normals: (n, m) of the constraints. slacks: (m,). lower, upper: (n,) bounds of s.

    Returns:
        status, s (n,), multipliers (m,), the share of the constraints that is kept, and whether
        they contradict.
    """
    n = slope.size
    status, step, multipliers = model_minimum(
        factor, slope, normals, slacks, lower, upper, equations, 0.0
    )
    if status == SINGULAR_EQUATIONS and n == equations:
        status = INCOMPATIBLE
    if status != INCOMPATIBLE:
        return status, step, multipliers, 1.0, False
    for weight in WEIGHTS:
        status, step, multipliers = model_minimum(
            factor, slope, normals, slacks, lower, upper, equations, weight
        )
        if status != INCOMPATIBLE:
            break
    return status, step[:n].copy(), multipliers, 1.0 - step[n], True


@jit
def model_minimum(factor, slope, normals, slacks, lower, upper, equations, weight):
    """`direction` as least squares: min ||D^1/2 L^T s + (L D^1/2)^-1 slope||.

    Args:
        weight: if positive, s has one more entry, the share in 0 to 1 that is not kept.

    Returns:
        status, s, multipliers (m,).
    """
    n, m = normals.shape
    size = n + 1 if weight > 0.0 else n
    a, b = np.zeros((size, size)), np.zeros(size)
    b[:n] = slope
    solve_packed(factor, b[:n])
    at = 0
    for j in range(n):
        root = np.sqrt(factor[at])
        a[j, j], b[j] = root, b[j] / -root
        a[j + 1 : n, j] = factor[at + 1 : at + n - j] * root
        at += n - j
    bounds = np.isfinite(lower).sum() + np.isfinite(upper).sum() + 2 * (size - n)
    e, g = np.zeros((size, equations)), np.zeros((size, m - equations + bounds))
    e[:n], g[:n, : m - equations] = normals[:, :equations], normals[:, equations:]
    h, place = np.empty(g.shape[1]), m - equations
    h[:place] = -slacks[equations:]
    if weight > 0.0:
        a[n, n] = weight
        e[n], g[n, :place] = -slacks[:equations], np.maximum(-slacks[equations:], 0.0)
    for sign, ends, end in ((1.0, lower, 0.0), (-1.0, upper, 1.0)):
        for i in range(size):
            value = ends[i] if i < n else end
            if np.isfinite(value):
                g[i, place], h[place] = sign, sign * value
                place += 1
    status, step, multipliers = lsei(a, b, e, -slacks[:equations], g, h)
    for i in range(size):
        low, high = (lower[i], upper[i]) if i < n else (0.0, 1.0)
        if step[i] < low:
            step[i] = low
        elif step[i] > high:
            step[i] = high
    return status, step, multipliers[:m].copy()


@jit
def identity(n):
    """(n (n + 1) / 2,) L D L^T of the identity: columns of L, with D on their diagonal."""
    factor, at = np.zeros(n * (n + 1) // 2), 0
    for j in range(n):
        factor[at] = 1.0
        at += n - j
    return factor


@jit
def update(factor, step, change):
    """Kraft's damped BFGS update of B = L D L^T in place, for the gradient's change along a step.

    Returns:
        False if there is none, since a curvature is zero.
    """
    n, at = step.size, 0
    product = step.copy()  # B step
    multiply_packed(factor, product, True)
    for j in range(n):
        product[j] *= factor[at]
        at += n - j
    multiply_packed(factor, product, False)
    curvature, expected = np.dot(step, change), np.dot(step, product)
    if curvature < 0.2 * expected:
        part = (expected - 0.2 * expected) / (expected - curvature)
        curvature, change = 0.2 * expected, part * change
        add(1.0 - part, product, change)
    if curvature == 0.0 or expected == 0.0:
        return False
    add_outer(factor, change, 1.0 / curvature)
    add_outer(factor, product, -1.0 / expected)
    return True


@jit
def add_outer(factor, z, sigma):
    """L D L^T + sigma z z^T in place of L D L^T, by the composite t-method; z changes.

    Source: R. Fletcher and M. J. D. Powell, On the modification of LDL^T factorizations,
    Mathematics of Computation 28 (1974).
    """
    n, t = z.size, 1.0 / sigma
    ahead = np.empty(n)  # t before and after each column, found from the last to the first
    if sigma < 0.0:
        rest, at = z.copy(), 0
        for j in range(n):
            t += rest[j] * rest[j] / factor[at]
            rest[j + 1 :] -= rest[j] * factor[at + 1 : at + n - j]
            at += n - j
        if t >= 0.0:
            t = EPSILON / sigma
        for j in range(n - 1, -1, -1):
            at -= n - j
            ahead[j] = t
            t -= rest[j] * rest[j] / factor[at]
    at = 0
    for j in range(n):
        column, scaled = factor[at + 1 : at + n - j], z[j] / factor[at]
        following = ahead[j] if sigma < 0.0 else t + scaled * z[j]
        ratio = following / t
        factor[at] *= ratio
        if ratio <= 4.0:
            z[j + 1 :] -= z[j] * column
            column += scaled / following * z[j + 1 :]
        else:
            old = column.copy()
            column[:] = t / following * old + scaled / following * z[j + 1 :]
            z[j + 1 :] -= z[j] * old
        t = following
        at += n - j


@jit
def total(numbers):
    """The sum of fewer than 128 numbers in the order of np.sum: eight partial sums."""
    n = numbers.size
    if n < 8:
        added = 0.0
        for number in numbers:
            added += number
        return added
    part = numbers[:8].copy()
    last = n - n % 8
    for i in range(8, last):
        part[i % 8] += numbers[i]
    added = ((part[0] + part[1]) + (part[2] + part[3])) + (
        (part[4] + part[5]) + (part[6] + part[7])
    )
    for i in range(last, n):
        added += numbers[i]
    return added
