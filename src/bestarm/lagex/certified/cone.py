"""The best policy that keeps all constraints that may hold, a second-order cone program.

    max { mu pi : pi in simplex, rows_i pi + |pi|_u <= eps for every i }

with rows = A - b 1^T and |pi|_u the radius of a confidence bound on every row (`confidence.py`). If
a directed sum bounds row i by `gap` along W, and that is less at the last solution, then the radius
is gap / S + |pi - W / S|_u with S = sum W instead, which is not below the `reach`: the shift of row
i is W / S, and its offset gap / S, else both are 0. The maximum is found by Newton's method on the
self-concordant barrier of the cones y_i = eps - offset_i - rows_i pi > |pi - shift_i|_u,

    -weight mu pi - sum_a ln pi_a - sum_i ln(y_i^2 - |pi - shift_i|_u^2),

at whose minimum mu pi is within (K + 2 d) / weight of the best (Nesterov & Nemirovskii 1994), for
growing weights. A start is found by the same method in one more variable z, which is added to every
y_i and minimised. The solution is a proposal that `steps.py` tests: nothing is proved by it.

The Hessian holds squares of weight times means beside 1 / pi_a^2, so it cannot tell values apart
that differ by less than about 1e-8 of the means' range: weights end before that (FINEST).
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import jit, lean
from bestarm.core.linear_algebra import factorise, substitute
from bestarm.core.units import power_of_two
from bestarm.lagex.certified.confidence import ABOVE, ConfidenceSet, norm, spread

#: Factor between weights of the objective; most Newton steps, also from a warm start; halvings.
GROWTH, MOST_STEPS, WARM_STEPS, HALVINGS = 12.0, 200, 30, 40
#: Squared Newton decrement of a point that counts as the minimum.
CENTRED = 0.1
#: The search for a start gives up when z, relative to the coefficients, is known to this.
CLOSE = 1e-12
#: The accuracy of the value is at best this part of the range of the means.
FINEST = 2.0**-20
#: By how much the sum of a policy's weights may differ from 1; more is no rounding error.
OFF = 2.0**-20
#: Share of the least decrease of a step that it must attain.
ARMIJO = 0.1


class ConeSolver(NamedTuple):
    """Buffers for K arms and d constraints; n = K + 1 variables, the last one z."""

    x: np.ndarray  # (n,) pi, z
    centre: np.ndarray  # (n,) a point well inside, of the last solution; the warm start
    multiplier: np.ndarray  # (1,) sum of the constraints' multipliers at the last solution, roughly
    rows: np.ndarray  # (d, n) rows, then minus the unit of z
    shift: np.ndarray  # (d, n) a point with the bound `offset`; 0 without
    offset: np.ndarray  # (d,)
    eps: np.ndarray  # (1,)
    costs: np.ndarray  # (n,) objective
    u: np.ndarray  # (n,) u, then 0
    step: np.ndarray  # (n,)
    trial: np.ndarray  # (n,)
    slope: np.ndarray  # (n,) minus the gradient
    ones: np.ndarray  # (n,)
    hessian: np.ndarray  # (n, n) lower triangle


@jit
def make_cone_solver(n_arms: int, n_constraints: int) -> ConeSolver:
    """Buffers; there is no warm start yet."""
    n = n_arms + 1
    return ConeSolver(
        x=np.zeros(n),
        centre=np.zeros(n),
        multiplier=np.zeros(1),
        rows=np.zeros((n_constraints, n)),
        shift=np.zeros((n_constraints, n)),
        offset=np.zeros(n_constraints),
        eps=np.zeros(1),
        costs=np.zeros(n),
        u=np.zeros(n),
        step=np.zeros(n),
        trial=np.zeros(n),
        slope=np.zeros(n),
        ones=np.zeros(n),
        hessian=np.zeros((n, n)),
    )


@lean
def _slack(solver: ConeSolver, i: int, x: np.ndarray, n: int) -> float:
    """y_i at x, of the first n variables."""
    y = solver.eps[0] - solver.offset[i]
    for c in range(n):
        y -= solver.rows[i, c] * x[c]
    return y


@lean
def _square(solver: ConeSolver, i: int, x: np.ndarray, n: int) -> float:
    """|x - shift_i|_u^2 of the first n variables."""
    square = 0.0
    for c in range(n):
        apart = x[c] - solver.shift[i, c]
        square += solver.u[c] * apart * apart
    return square


@lean
def _barrier(solver: ConeSolver, x: np.ndarray, n: int, weight: float) -> float:
    """The barrier of the first n variables; infinite outside of the cones or off the simplex."""
    k, value, total = x.size - 1, 0.0, 0.0
    for c in range(n):
        value -= weight * solver.costs[c] * x[c]
    for a in range(k):
        if not x[a] > 0.0:
            return np.inf
        value -= math.log(x[a])
        total += x[a]
    if not abs(total - 1.0) < OFF:
        return np.inf
    for i in range(solver.rows.shape[0]):
        y, square = _slack(solver, i, x, n), _square(solver, i, x, n)
        if not (y > 0.0 and y * y > square):
            return np.inf
        value -= math.log(y * y - square)
    return value


@lean
def _differentiate(solver: ConeSolver, n: int, weight: float) -> None:
    """Minus the gradient and the Hessian of the barrier at x."""
    x, rows, u, hessian, half = solver.x, solver.rows, solver.u, solver.hessian, solver.trial
    k = x.size - 1
    for c in range(n):
        solver.slope[c] = weight * solver.costs[c]
        for b in range(c + 1):
            hessian[c, b] = 0.0
    for a in range(k):
        solver.slope[a] += 1.0 / x[a]
        hessian[a, a] = 1.0 / (x[a] * x[a])
    for i in range(rows.shape[0]):
        y = _slack(solver, i, x, n)
        scale = 2.0 / (y * y - _square(solver, i, x, n))
        for c in range(n):  # half of the gradient of y^2 - |pi - shift|^2
            half[c] = -y * rows[i, c] - u[c] * (x[c] - solver.shift[i, c])
            solver.slope[c] += scale * half[c]
            hessian[c, c] += scale * u[c]
            for b in range(c + 1):
                hessian[c, b] += scale * (scale * half[c] * half[b] - rows[i, c] * rows[i, b])


@lean
def _newton(solver: ConeSolver, n: int, weight: float) -> float:
    """A Newton step of the first n variables to sum(pi) = 1, halved until it descends.

    Returns:
        The squared Newton decrement before the step; 0 if no step descends, which is rounding.
    """
    x, step, ones, trial = solver.x, solver.step, solver.ones, solver.trial
    k = x.size - 1
    _differentiate(solver, n, weight)
    for c in range(n):
        step[c] = solver.slope[c]
        ones[c] = 1.0 if c < k else 0.0
    factorise(solver.hessian, 0, n)
    substitute(solver.hessian, step, n)
    substitute(solver.hessian, ones, n)
    moved, unit = -1.0, 0.0
    for a in range(k):
        moved += x[a] + step[a]
        unit += ones[a]
    decrement = 0.0
    for c in range(n):
        step[c] -= moved / unit * ones[c]
        decrement += step[c] * solver.slope[c]
    before, length = _barrier(solver, x, n, weight), 1.0
    for _ in range(HALVINGS):
        for c in range(n):
            trial[c] = x[c] + length * step[c]
        if _barrier(solver, trial, n, weight) <= before - ARMIJO * length * decrement:
            for c in range(n):
                x[c] = trial[c]
            return decrement
        length *= 0.5
    return 0.0


@lean
def _centre(solver: ConeSolver, n: int, weight: float, most_steps: int) -> bool:
    """Minimise the barrier from x; False if it takes more steps, or ends by rounding."""
    for _ in range(most_steps):
        decrement = _newton(solver, n, weight)
        if not decrement > CENTRED:
            return decrement > 0.0
    return False


@lean
def _is_safe(solver: ConeSolver) -> bool:
    """Whether pi in x is strictly inside of all constraints."""
    k = solver.x.size - 1
    return _barrier(solver, solver.x, k, 0.0) < np.inf


@lean
def _find_start(solver: ConeSolver, seen: ConfidenceSet) -> bool:
    """Leave a strictly safe policy in x; if there is none, one that is about the safest."""
    x, k = solver.x, solver.x.size - 1
    scale = 0.0
    for a in range(k):
        x[a] = 1.0 / k
        solver.costs[a] = 0.0
        scale = max(scale, math.sqrt(seen.u[a]))
        for i in range(seen.rows.shape[0]):
            scale = max(scale, abs(seen.rows[i, a]))
    unit = 2.0 * power_of_two(scale)  # of z, so that pivots do not depend on costs' unit
    for i in range(seen.rows.shape[0]):
        solver.rows[i, k] = -unit
    scale /= unit
    solver.costs[k] = -1.0
    lacking = 0.0
    for i in range(seen.rows.shape[0]):
        radius = math.sqrt(_square(solver, i, x, k))
        lacking = max(lacking, radius - _slack(solver, i, x, k))
    x[k] = lacking / unit + scale
    weight, size = 1.0 / scale, k + 2.0 * seen.rows.shape[0]
    for _ in range(MOST_STEPS):
        if _is_safe(solver):
            return True
        if not _newton(solver, k + 1, weight) > CENTRED:
            if x[k] > 2.0 * size / weight or weight * CLOSE * scale > 1.0:
                break  # z cannot become negative
            weight *= GROWTH
    return _is_safe(solver)


@lean
def best_safe_policy(seen: ConfidenceSet, eps: float, accuracy: float, solver: ConeSolver) -> bool:
    """Solve the program from the last solution, or from a cold start if that is no longer inside.

    Args:
        seen: means, rows and u, which must be positive.
        eps: added to every limit.
        accuracy: of the value, absolute, to about a factor of two; at best FINEST of the range of
            the means.
        solver: the solution, strictly inside, is left in `x`, and its multipliers in `multiplier`.

    Returns:
        Whether there is a strictly safe policy. If not, `x` holds one that is about the safest.
    """
    d, k = seen.rows.shape
    solver.eps[0] = eps
    accuracy = max(accuracy, FINEST * spread(seen.means))
    for a in range(k):
        solver.u[a] = seen.u[a]
        for i in range(d):
            solver.rows[i, a] = seen.rows[i, a]
    if _pin(seen, solver) and _solve(seen, accuracy, solver):
        return True
    for i in range(d):
        _unpin(solver, i)
    return _solve(seen, accuracy, solver)


@lean
def _pin(seen: ConfidenceSet, solver: ConeSolver) -> bool:
    """Set shifts and offsets where they make radii smaller; whether there are any."""
    k, pinned, total = seen.means.size, False, 0.0
    for a in range(k):
        total += seen.directions[ABOVE, a]
    for i in range(seen.rows.shape[0]):
        gap = seen.gaps[ABOVE, i]
        if not (total > 0.0 and gap < np.inf):
            return False
        solver.offset[i] = gap / total
        for a in range(k):
            solver.shift[i, a] = seen.directions[ABOVE, a] / total
        radius = solver.offset[i] + math.sqrt(_square(solver, i, solver.centre, k))
        if radius < norm(seen.u, solver.centre[:k]):
            pinned = True
        else:
            _unpin(solver, i)
    return pinned


@lean
def _unpin(solver: ConeSolver, i: int) -> None:
    """Take the radius of row i about 0."""
    solver.offset[i] = 0.0
    for c in range(solver.shift.shape[1]):
        solver.shift[i, c] = 0.0


@lean
def _solve(seen: ConfidenceSet, accuracy: float, solver: ConeSolver) -> bool:
    """Solve the program that is loaded; whether there is a strictly safe policy."""
    d, k = seen.rows.shape
    for a in range(k):
        solver.costs[a] = seen.means[a]
        solver.x[a] = solver.centre[a]
    last = (k + 2.0 * d) / accuracy
    weight = last / GROWTH
    if not (_is_safe(solver) and _centre(solver, k, weight, WARM_STEPS)):
        if not _find_start(solver, seen):
            return False
        weight = min(weight, 1.0 / accuracy)
        for a in range(k):
            solver.costs[a] = seen.means[a]
            weight = min(weight, 1.0 / max(abs(seen.means[a] - seen.means[0]), accuracy))
    while weight < last:
        _centre(solver, k, weight, MOST_STEPS)
        for a in range(k):
            solver.centre[a] = solver.x[a]
        weight = min(weight * GROWTH, last)
    _centre(solver, k, last, MOST_STEPS)
    _set_multiplier(solver, last)
    return True


@lean
def _set_multiplier(solver: ConeSolver, weight: float) -> None:
    """The multipliers at the barrier's minimum, its derivatives by the y_i, summed up."""
    k, d = solver.x.size - 1, solver.rows.shape[0]
    solver.multiplier[0] = 0.0
    for i in range(d):
        y, square = _slack(solver, i, solver.x, k), _square(solver, i, solver.x, k)
        solver.multiplier[0] += 2.0 * y / (weight * (y * y - square))
