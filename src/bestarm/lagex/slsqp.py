"""SciPy's SLSQP, driven directly: the steps of minimize(method="SLSQP") bit for bit.

`minimize` spends up to ten times as long around the steps as in them, and the released programs
solve dozens of problems with few variables a round. Gradients are forward differences, as SciPy
takes them when it is given none.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize._slsqplib import slsqp as step

from bestarm.core.compile import jit

#: Of forward differences.
WIDTH = float(np.sqrt(np.finfo(float).eps))
ITERATIONS, TOLERANCE = 100, 1e-6


class Minimum(NamedTuple):
    """Where SLSQP ended."""

    x: np.ndarray  # (n,)
    success: bool  # whether it was content


class Region(NamedTuple):
    """{x : lower <= x <= upper, rows @ x + offsets >= 0, = 0 for the first `equations`}."""

    rows: np.ndarray  # (m, n)
    offsets: np.ndarray  # (m,)
    lower: np.ndarray  # (n,), -inf where there is none
    upper: np.ndarray  # (n,), inf where there is none
    equations: int = 0

    @classmethod
    def below(cls, rows: np.ndarray, limits: np.ndarray) -> "Region":
        """{x : rows @ x <= limits}."""
        free = np.full(rows.shape[1], np.inf)
        return cls(-rows, limits, -free, free)


def minimum(
    objective: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    region: Region,
    tolerance: float = TOLERANCE,
) -> Minimum:
    """argmin objective(x)  s.t. x in region, as SLSQP finds it from a start.

    Args:
        objective: of points (p, n), the values (p,). start: (n,), clipped to the bounds.

    Raises:
        ValueError: a gradient was asked for outside the bounds, an error in SciPy too.
    """
    rows, offsets, lower, upper, equations = region
    m, n = rows.shape
    state = dict.fromkeys(("alpha", "f0", "gs", "h1", "h2", "h3", "h4", "t", "t0"), 0.0)
    state |= dict.fromkeys(("exact", "inconsistent", "reset", "iter", "line", "mode"), 0)
    state |= {"acc": tolerance, "tol": 10.0 * tolerance, "itermax": ITERATIONS}
    state |= {"m": m, "meq": equations, "n": n}
    buffer, indices = np.zeros(_workspace(m, n, equations)), np.zeros(m + 2 * n + 2, np.int32)
    multipliers, normals = np.zeros(m + 2 * n + 2), np.asfortranarray(rows)
    # the library takes nan for no bound
    low, high = np.where(np.isinf(lower), np.nan, lower), np.where(np.isinf(upper), np.nan, upper)
    x = np.clip(start, lower, upper)
    values = objective(ends := forward_points(x, lower, upper))
    value, slope, slacks = values[0], slope_of(ends, values), rows.dot(x) + offsets
    while True:
        step(state, value, slope, normals, slacks, x, multipliers, low, high, buffer, indices)
        if state["mode"] == 1:
            value, slacks[:] = objective(x[None])[0], rows.dot(x) + offsets
        elif state["mode"] == -1:
            ends = forward_points(x, lower, upper)
            slope = slope_of(ends, objective(ends))
        else:
            return Minimum(x, state["mode"] == 0)


def _workspace(m: int, n: int, equations: int) -> int:
    """How many numbers the library keeps."""
    size = n * (n + 1) // 2 + 3 * m * n - (m + 5 * n + 7) * equations + 9 * m + 8 * n * n
    return size + 35 * n + equations**2 + 28 + (2 * n * (n + 1) if m == equations else 0)


@jit
def forward_points(x, lower, upper):
    """(n + 1, n): x, then x with one entry moved, backward where it would leave the bounds."""
    n = x.size
    points = np.empty((n + 1, n))
    points[:] = x
    for i in range(n):
        if x[i] < lower[i] or x[i] > upper[i]:
            raise ValueError("SLSQP asks for a gradient outside the bounds")
        width = WIDTH
        if x[i] + width == x[i]:
            width *= max(1.0, abs(x[i])) * (1.0 if x[i] >= 0.0 else -1.0)
        if not lower[i] <= x[i] + width <= upper[i]:
            width = -width
        points[i + 1, i] = x[i] + width
    return points


@jit
def slope_of(points, values):
    """(n,) quotients of differences at `forward_points`."""
    n = values.size - 1
    slope = np.empty(n)
    for i in range(n):
        slope[i] = (values[i + 1] - values[0]) / (points[i + 1, i] - points[0, i])
    return slope


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
