"""Projection of an allocation onto a polytope of the simplex, in a weighted norm."""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import jit, lean
from bestarm.core.linear_algebra import solve_definite

#: Tolerance of the sum and the rows, and Newton steps before giving up.
TOLERANCE, MOST_STEPS = 1e-10, 100
#: Relative ridge of the multipliers' Hessian, which is singular if no arm has weight.
RIDGE = 1e-12


class Projection(NamedTuple):
    """Buffers and warm start for K arms and d constraints."""

    multipliers: np.ndarray  # (1 + d,) nu and l
    trial: np.ndarray  # (1 + d,) multipliers to be tried
    slopes: np.ndarray  # (1 + d,) gradient of the dual
    step: np.ndarray  # (1 + d,) Newton step
    hessian: np.ndarray  # (1 + d, 1 + d)
    inverse: np.ndarray  # (K,) 1 / w


@jit
def make_projection(n_arms: int, n_constraints: int) -> Projection:
    """Buffers for `project_into`."""
    n = 1 + n_constraints
    return Projection(
        multipliers=np.zeros(n),
        trial=np.zeros(n),
        slopes=np.zeros(n),
        step=np.zeros(n),
        hessian=np.zeros((n, n)),
        inverse=np.zeros(n_arms),
    )


@lean
def _point(
    point: np.ndarray,
    weights: np.ndarray,
    inverse: np.ndarray,
    rows: np.ndarray,
    multipliers: np.ndarray,
    out: np.ndarray,
) -> float:
    """Write argmin_x of the Lagrangian into `out`; returns its value."""
    d, k = rows.shape
    value = -multipliers[0]
    for a in range(k):
        pull = multipliers[0]
        for i in range(d):
            pull += multipliers[1 + i] * rows[i, a]
        out[a] = max(point[a] - pull * inverse[a], 0.0)
        value += 0.5 * weights[a] * (out[a] - point[a]) ** 2 + pull * out[a]
    return value


@lean
def _slopes(rows: np.ndarray, out: np.ndarray, scratch: Projection) -> float:
    """Write the dual's gradient into `slopes`; returns the largest violation."""
    slopes, multipliers = scratch.slopes, scratch.multipliers
    d, k = rows.shape
    for i in range(1 + d):
        slopes[i] = -1.0 if i == 0 else 0.0
        for a in range(k):
            slopes[i] += out[a] * (1.0 if i == 0 else rows[i - 1, a])
    missed = abs(slopes[0])
    for i in range(1, 1 + d):
        missed = max(missed, slopes[i], -slopes[i] if multipliers[i] > 0.0 else 0.0)
    return missed


@lean
def _newton_step(rows: np.ndarray, out: np.ndarray, scratch: Projection) -> None:
    """Write the Newton step of multipliers with a positive value or slope into `step`."""
    multipliers, _, slopes, step, hessian, inverse = scratch
    d, k = rows.shape
    for i in range(1 + d):
        moves_i = i == 0 or multipliers[i] > 0.0 or slopes[i] > 0.0
        step[i] = slopes[i] if moves_i else 0.0
        for j in range(i + 1):
            moves_j = j == 0 or multipliers[j] > 0.0 or slopes[j] > 0.0
            hessian[i, j] = 0.0
            if moves_i and moves_j:
                for a in range(k):
                    if out[a] > 0.0:
                        first = 1.0 if i == 0 else rows[i - 1, a]
                        second = 1.0 if j == 0 else rows[j - 1, a]
                        hessian[i, j] += first * second * inverse[a]
        for a in range(k):
            hessian[i, i] += RIDGE * inverse[a]
    solve_definite(hessian, step, 1 + d)


@lean
def project_into(
    point: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray,
    scratch: Projection,
    out: np.ndarray,
) -> float:
    """argmin_x sum_a w_a (x_a - point_a)^2 / 2  s.t.  sum(x) = 1, x >= 0, rows x <= 0.

    With multipliers nu of the sum and l >= 0 of the rows, x_a = max(0, point_a - (nu + l . rows_a)
    / w_a); the dual in (nu, l) is concave and piecewise quadratic, and projected Newton steps
    reach its maximum after finitely many steps.

    Args:
        point, weights: (K,); weights positive.
        rows: (d, K). The set must not be empty.
        scratch: its multipliers are the start, and are overwritten with the solution.
        out: (K,) overwritten.

    Returns:
        The largest violation of the sum or a row.
    """
    multipliers, trial, _, step, _, inverse = scratch
    d, k = rows.shape
    for a in range(k):
        inverse[a] = 1.0 / weights[a]
    value = _point(point, weights, inverse, rows, multipliers, out)
    missed = np.inf
    for _ in range(MOST_STEPS):
        missed = _slopes(rows, out, scratch)
        if missed <= TOLERANCE:
            break
        _newton_step(rows, out, scratch)
        length, new_value = 1.0, value
        for _ in range(60):
            for i in range(1 + d):
                trial[i] = multipliers[i] + length * step[i]
                if i > 0:
                    trial[i] = max(trial[i], 0.0)
            new_value = _point(point, weights, inverse, rows, trial, out)
            if new_value >= value - 1e-14 * (1.0 + abs(value)):
                break
            length *= 0.5
        value = new_value
        for i in range(1 + d):
            multipliers[i] = trial[i]
    return missed


def project(point: np.ndarray, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """`project_into` from a cold start. point, weights: (K,), rows: (d, K)."""
    point = np.asarray(point, dtype=float)
    rows = np.ascontiguousarray(rows, dtype=float).reshape(-1, point.size)
    out = np.zeros(point.size)
    scratch = make_projection(point.size, len(rows))
    project_into(point, np.asarray(weights, float), rows, scratch, out)
    return out
