"""Least squares under linear constraints, by the methods of Lawson and Hanson.

LSEI eliminates equations, LSI makes the rest a least distance problem, LDP solves its dual, NNLS:

    LSEI  min ||A x - b||  s.t. E x = f, G x >= h        LDP   min ||x||        s.t. G x >= h
    LSI   min ||A x - b||  s.t. G x >= h                 NNLS  min ||A x - b||  s.t. x >= 0

All matrices are stored by columns, see lapack.py, and are changed. Steps, their order and their
tests for rank are those of SciPy 1.17, so that every bit is the same (slsqp.py says why).

Source: C. L. Lawson and R. J. Hanson, Solving Least Squares Problems, SIAM 1995, chapters 20 to 23.
"""

import numpy as np

from bestarm.core.compile import jit
from bestarm.lagex.released.lapack import (
    divide_upper,
    multiply,
    multiply_transposed,
    norm,
    qr,
    reflect,
    reflection,
    rotation,
    rq,
    solve_upper,
    turn_by_qr,
    turn_by_rq,
    turn_rows_by_rq,
)

#: How a solver ended: with a solution; too many equations; too many iterations; inequalities that
#: contradict each other; A, or E, without full rank.
SOLVED, DIMENSIONS, ITERATIONS, INCOMPATIBLE, SINGULAR, SINGULAR_EQUATIONS = 1, 2, 3, 4, 5, 6
EPSILON = float(np.finfo(float).eps)


@jit
def nnls(a, b) -> tuple[int, np.ndarray, float]:
    """min ||A x - b||  s.t. x >= 0.

    Variables in order[:count] are positive, the others zero; A's columns of the former are
    triangular, by reflections from the left, and b is what these make of it.

    Args:
        a: (n, m), m rows. b: (m,).

    Returns:
        status, x (n,), ||A x - b||.
    """
    n, m = a.shape
    x, dual, z, made = np.zeros(n), np.zeros(n), np.empty(m), np.empty(3)
    order, count, steps = np.arange(n), 0, 0
    while count < min(m, n):
        for place in range(count, n):
            j = order[place]
            dual[j] = np.dot(a[j, count:], b[count:])
        place = _entering(a, b, z, dual, order, count, made)
        if place < 0:
            break
        j, pivot = order[place], made[0]
        b[:] = z
        order[place], order[count] = order[count], j
        for k in order[count + 1 :]:
            reflect(a[j, count:], made[1], a[k, count:], made[2:])
        a[j, count], a[j, count + 1 :] = pivot, 0.0
        count += 1
        _solve_ordered(a, order, count, z)
        while True:
            steps += 1
            if steps >= 3 * n:
                return ITERATIONS, x, 0.0
            share, leaving = _share_of_step(x, z, order, count)
            if leaving < 0:
                break
            for place in range(count):
                x[order[place]] += share * (z[place] - x[order[place]])
            while leaving >= 0:
                _remove(a, b, x, order, count, leaving, made)
                count -= 1
                leaving = _not_positive(x, order, count)
            z[:] = b
            _solve_ordered(a, order, count, z)
        for place in range(count):
            x[order[place]] = z[place]
    return SOLVED, x, norm(b[count:]) if count < m else 0.0


@jit
def _entering(a, b, z, dual, order, count, made):
    """The place in `order` of the variable that becomes positive, -1 if none would.

    Its column takes the reflection, `made` the pivot and the factor, z the reflected b. A column
    that is refused keeps what the reflection left in it, as in SciPy.
    """
    while True:
        place, largest = -1, 0.0
        for candidate in range(count, order.size):
            if dual[order[candidate]] > largest:
                place, largest = candidate, dual[order[candidate]]
        if place < 0:
            return -1
        j = order[place]
        reflection(a[j, count:], made)
        above = norm(a[j, :count])
        spacing = np.nextafter(above, np.inf) - above if above > 0.0 else 0.0
        if abs(made[0]) > 100.0 * spacing:  # independent of those that are positive
            z[:] = b
            first, a[j, count] = a[j, count], 1.0
            reflect(a[j, count:], made[1], z[count:], made[2:])
            if z[count] / made[0] > 0.0:
                return place
            a[j, count] = first
        dual[j] = 0.0


@jit
def _share_of_step(x, z, order, count):
    """How much of the step from x to z keeps x >= 0, and the place of what ends it, -1 if all."""
    share, leaving = 2.0, -1
    for place in range(count):
        k = order[place]
        if z[place] <= 0.0:
            most = -x[k] / (z[place] - x[k])
            if share > most:
                share, leaving = most, place
    return share, leaving


@jit
def _not_positive(x, order, count):
    """The first place whose variable is not positive, -1 if there is none."""
    for place in range(count):
        if x[order[place]] <= 0.0:
            return place
    return -1


@jit
def _remove(a, b, x, order, count, place, made):
    """Make the variable at a place zero; rotations make the columns behind it triangular again."""
    leaving = order[place]
    x[leaving] = 0.0
    for p in range(place + 1, count):
        j = order[p]
        order[p - 1] = j
        rotation(a[j, p - 1], a[j, p], made)
        cosine, sine = made[0], made[1]
        for k in range(a.shape[0]):
            if k != j:
                a[k, p - 1], a[k, p] = (
                    cosine * a[k, p - 1] + sine * a[k, p],
                    -sine * a[k, p - 1] + cosine * a[k, p],
                )
        a[j, p - 1], a[j, p] = made[2], 0.0
        b[p - 1], b[p] = cosine * b[p - 1] + sine * b[p], -sine * b[p - 1] + cosine * b[p]
    order[count - 1] = leaving


@jit
def _solve_ordered(a, order, count, z):
    """Back substitution in place of z[:count] by the triangular columns order[:count]."""
    for p in range(count - 1, -1, -1):
        z[p] /= a[order[p], p]
        for i in range(p):
            z[i] -= a[order[p], i] * z[p]


@jit
def ldp(g, h) -> tuple[int, np.ndarray, np.ndarray]:
    """min ||x||  s.t. G x >= h.

    Args:
        g: (n, m), m rows. h: (m,).

    Returns:
        status, x (n,), multipliers (m,).
    """
    n, m = g.shape
    a, b, x = np.empty((m, n + 1)), np.zeros(n + 1), np.zeros(n)
    a[:, :n], a[:, n], b[n] = g.T, h, 1.0
    status, y, distance = nnls(a, b)
    if status != SOLVED:
        return status, x, y
    fraction = 1.0 - np.dot(h, y)
    if distance <= 0.0 or not (1.0 + fraction) - 1.0 > 0.0:
        return INCOMPATIBLE, x, y
    factor = 1.0 / fraction
    multiply_transposed(factor, g, y, 0.0, x)
    return SOLVED, x, factor * y


@jit
def lsi(a, b, g, h) -> tuple[int, np.ndarray, np.ndarray]:
    """min ||A x - b||  s.t. G x >= h.

    Args:
        a: (n, rows of A). b: (rows of A,). g: (n, m), m rows. h: (m,).

    Returns:
        status, x (n,), multipliers (m,).
    """
    n = a.shape[0]
    turn_by_qr(a, qr(a), b)
    for i in range(n):
        if not abs(a[i, i]) >= EPSILON:
            return SINGULAR, np.zeros(n), np.zeros(h.size)
    divide_upper(g, a)
    multiply(-1.0, g, b, 1.0, h)
    status, x, multipliers = ldp(g, h)
    if status == SOLVED:
        x += b[:n]
        solve_upper(a, x, False)
    return status, x, multipliers


@jit
def lsei(a, b, e, f, g, h) -> tuple[int, np.ndarray, np.ndarray]:
    """min ||A x - b||  s.t. E x = f, G x >= h.

    Args:
        a: (n, rows of A). b: (rows of A,). e: (n, equations). f: (equations,).
        g: (n, m), m rows, at least one. h: (m,).

    Returns:
        status, x (n,), multipliers of the equations, then of the inequalities.
    """
    n, equations = e.shape
    multipliers = np.zeros(equations + h.size)
    if equations == 0:
        status, x, multipliers[:] = lsi(a, b, g, h)
        return status, x, multipliers
    x, free = np.zeros(n), n - equations
    if free < 0:
        return DIMENSIONS, x, multipliers
    factors = rq(e)
    turn_rows_by_rq(e, factors, a)
    turn_rows_by_rq(e, factors, g)
    for i in range(equations):
        if not abs(e[free + i, i]) >= EPSILON:
            return SINGULAR_EQUATIONS, x, multipliers
    x[free:] = f
    solve_upper(e[free:], x[free:], False)
    if free > 0:
        rest = b.copy()
        multiply(-1.0, a[free:], x[free:], 1.0, rest)
        multiply(-1.0, g[free:], x[free:], 1.0, h)
        solution = lsi(a[:free].copy(), rest, g[:free].copy(), h)
        status, x[:free], multipliers[equations:] = solution
        if status != SOLVED:
            return status, x, multipliers
    multiply(1.0, a, x, -1.0, b)
    multiply_transposed(1.0, a[free:], b, 0.0, multipliers[:equations])
    multiply_transposed(-1.0, g[free:], multipliers[equations:], 1.0, multipliers[:equations])
    turn_by_rq(e, factors, x)
    solve_upper(e[free:], multipliers[:equations], True)
    return SOLVED, x, multipliers
