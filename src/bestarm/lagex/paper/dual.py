"""The problem of allocation.py in its dual (docs/readings.md), by projected Newton steps.

With weights p >= 0 of alternatives, q = p^T c, multipliers nu and l >= 0, and z = nu + l^T rows,

    ln T = max  2 - sum(p) - nu + 2 ln G,   G = sum_a sqrt(q_a z_a),
    omega_a = sqrt(q_a / z_a) / G,

concave in (p, nu, l). All variables y_i enter through linear forms, q for the one kind and z for
the other. With alpha_ia the derivative of ln q_a or ln z_a, tau_a = sqrt(q_a z_a) / G and
s_i = sum_a tau_a alpha_ia, the gradient is s_i - 1 (for l: s_i) and minus the Hessian is

    (sum_a tau_a alpha_ia alpha_ja + s_i s_j) / 2

for two of the same kind, with a minus before the sum for two of different kinds. So projected
Newton steps (Bertsekas 1982) are cheap. With the warm start from the last round's y one or two of
them suffice, after `_follow` has adjusted its multipliers to this round's problem.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.core.linear_algebra import factorise, solve_definite, substitute

#: Newton steps before giving up.
MOST_STEPS = 200
#: Number of variables that may become positive in one step.
MOST_NEW = 3
#: Factor by which multipliers are reduced until no z_a is negative.
SHRINK = 0.99
#: Halvings of a step before the damping of H's diagonal is increased; smallest and largest damping.
HALVINGS = 6
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e6
#: Largest relative error of the z_a below which `_follow` does nothing.
DRIFT = 1e-3
#: Slope above which `_raise_weight` raises a weight, and its largest raise.
STEEP, MOST_RAISE = 8.0, 0.1
#: Smallest q_a.
TINY = 1e-300


class AllocationProblem(NamedTuple):
    """The allocation problem of a round."""

    costs: np.ndarray  # (V, K) c; the first `size` rows count, and are finite
    size: int
    rows: np.ndarray  # (d, K)


class Solver(NamedTuple):
    """Buffers and warm start for V alternatives, K arms and d constraints."""

    y: np.ndarray  # (V + 1 + d,) p, then nu, then l
    trial: np.ndarray  # like y
    slopes: np.ndarray  # like y, the gradient
    moving: np.ndarray  # like y, indices of the moving variables
    forms: np.ndarray  # (3, K) q, z and sqrt(q z)
    shares: np.ndarray  # (3, K) tau / q, then sqrt(tau) / q and -sqrt(tau) / z
    scores: np.ndarray  # like y, s of the moving variables
    alpha: np.ndarray  # (V + 1 + d, K) sqrt(tau_a) alpha_ia of the same
    hessian: np.ndarray  # (V + 1 + d, V + 1 + d), the lower triangle
    factor: np.ndarray  # like hessian
    step: np.ndarray  # twice as long as y
    held: np.ndarray  # likewise


@jit
def make_solver(n_alternatives: int, n_arms: int, n_constraints: int) -> Solver:
    """Buffers for `solve`."""
    n = n_alternatives + 1 + n_constraints
    return Solver(
        y=np.zeros(n),
        trial=np.zeros(n),
        slopes=np.zeros(n),
        moving=np.zeros(n, np.int64),
        forms=np.zeros((3, n_arms)),
        shares=np.zeros((3, n_arms)),
        scores=np.zeros(n),
        alpha=np.zeros((n, n_arms)),
        hessian=np.zeros((n, n)),
        factor=np.zeros((n, n)),
        step=np.zeros(2 * n),
        held=np.zeros(2 * n, np.int64),
    )


def cold_start(solver: Solver, count: int) -> None:
    """Reset y to equal weights of `count` alternatives, nu = 1 and l = 0."""
    solver.y[:] = 0.0
    solver.y[:count] = 1.0 / count
    solver.y[count] = 1.0


@lean
def _value(problem: AllocationProblem, y: np.ndarray, forms: np.ndarray) -> float:
    """The dual function at y, with q, z and sqrt(q z) left in `forms`; -inf outside its domain."""
    costs, count, rows = problem
    d, k = rows.shape
    total = y[count]
    for a in range(k):
        forms[0, a] = TINY
        forms[1, a] = y[count]
    for v in range(count):
        if y[v] > 0.0:
            total += y[v]
            for a in range(k):
                forms[0, a] += y[v] * costs[v, a]
    for i in range(d):
        if y[count + 1 + i] > 0.0:
            for a in range(k):
                forms[1, a] += y[count + 1 + i] * rows[i, a]
    spread = 0.0
    for a in range(k):
        if not forms[1, a] > 0.0:
            return -np.inf
        forms[2, a] = math.sqrt(forms[0, a] * forms[1, a])
        spread += forms[2, a]
    return 2.0 - total + 2.0 * math.log(spread)


@lean
def solve(problem: AllocationProblem, tolerance: float, omega: np.ndarray, solver: Solver) -> float:
    """Solve the problem; returns the residual of the optimality conditions.

    Args:
        problem: of the round.
        tolerance: of the residual, which is relative in T and absolute in rows omega.
        omega: (K,) the last allocation, or zero; overwritten with the solution.
        solver: buffers; its y = (p, nu, l) is the start, and is overwritten with the solution.
    """
    n = problem.size + 1 + problem.rows.shape[0]
    _follow(problem, omega, solver)
    value = _enter_domain(problem, solver)
    residual, damping = np.inf, LEAST_DAMPING
    for _ in range(MOST_STEPS):
        residual = _gradient(problem, omega, solver)
        if residual <= tolerance:
            break
        if _raise_weight(problem, omega, solver):
            value = _value(problem, solver.y, solver.forms)
            continue
        size = _choose_moving(n, problem.size, tolerance, solver)
        _curvature(problem, size, solver)
        _newton_step(size, problem.size, damping, solver)
        new_value = _search_line(problem, size, value, solver)
        if new_value == -np.inf:  # the Hessian is singular if alternatives are linearly dependent
            _value(problem, solver.y, solver.forms)
            if damping > MOST_DAMPING:
                break
            damping *= 100.0
            continue
        damping = max(0.1 * damping, LEAST_DAMPING)
        value = new_value
        for i in range(n):
            solver.y[i] = solver.trial[i]
    total = 0.0
    for a in range(omega.size):
        total += omega[a]
    for a in range(omega.size):
        omega[a] /= total
    return residual


@lean
def _enter_domain(problem: AllocationProblem, solver: Solver) -> float:
    """Reduce the multipliers l until the dual function is finite; returns its value.

    nu = 1, l = 0 is in the domain.
    """
    y, count = solver.y, problem.size
    value = _value(problem, y, solver.forms)
    while value == -np.inf:
        y[count] = 1.0
        for i in range(count + 1, count + 1 + problem.rows.shape[0]):
            y[i] = SHRINK * y[i] if y[i] > TINY else 0.0
        value = _value(problem, y, solver.forms)
    return value


@lean
def _search_line(problem: AllocationProblem, size: int, value: float, solver: Solver) -> float:
    """Halve the step until the dual function does not decrease; returns its value, -inf on failure.

    Args:
        size: how many variables move.
        value: of the dual function at y.
        solver: the new y is left in its `trial`.
    """
    y, trial, moving, step = solver.y, solver.trial, solver.moving, solver.step
    length = _longest_step(problem, size, solver)
    for i in range(problem.size + 1 + problem.rows.shape[0]):
        trial[i] = y[i]
    for _ in range(HALVINGS):
        for f in range(size):
            weight = moving[f] < problem.size
            trial[moving[f]] = _moved(y[moving[f]], length * step[f], weight)  # pyright: ignore[reportArgumentType]
        new_value = _value(problem, trial, solver.forms)
        if new_value >= value - 1e-13 * (1.0 + abs(value)):
            return new_value
        length *= 0.5
    return -np.inf


@lean
def _moved(here: float, change: float, weight: bool) -> float:
    """The new value of a variable after a Newton step from `here` by `change`.

    If only one alternative contributes to an arm's q, the slope of its weight p behaves like
    p^(-1/2). So the step is Newton's for p^(-1/2), which agrees to first order and ends much closer
    to the maximum.
    """
    if weight and -0.5 * here < change < 0.3 * here:
        return here / (1.0 - 0.5 * change / here) ** 2
    return max(here + change, 0.0)


@lean
def _follow(problem: AllocationProblem, omega: np.ndarray, solver: Solver) -> None:
    """Adjust the multipliers in y so that the allocation stays close to `omega`, the last one.

    If constraints force mass onto an arm that no alternative needs, q_a and z_a are both almost
    zero, and a small change of the problem changes omega_a = sqrt(q_a / z_a) / G by a large factor.
    The z that gives omega is z*_a = q_a / omega_a^2 / sum_b (q_b / omega_b), so the positive
    multipliers become those that

        min  sum_a (omega_a / z*_a) (nu + l^T rows_a - z*_a)^2,

    the metric of the problem itself: its Hessian over multipliers has tau_a / z_a^2 there. They
    stay as they are if they are close to that already, or if one of them would be negative.

    Args:
        problem: of the round.
        omega: (K,) on the simplex; zero if there is none.
        solver: its y is changed.
    """
    count, rows, y, moving = problem.size, problem.rows, solver.y, solver.moving
    target, matrix, vector = solver.forms[1], solver.hessian, solver.step
    d, k = rows.shape
    size = 1  # nu comes first
    for i in range(d):
        if y[count + 1 + i] > 0.0:
            moving[size] = i
            size += 1
    if size == 1 or not DRIFT < _target_forms(problem, omega, y, target) < np.inf:
        return
    for f in range(size):
        vector[f] = 0.0
        for g in range(f + 1):
            matrix[f, g] = 0.0
    for a in range(k):
        for f in range(size):
            first = omega[a] if f == 0 else omega[a] * rows[moving[f], a]
            vector[f] += first
            first /= target[a]
            for g in range(f + 1):
                matrix[f, g] += first if g == 0 else first * rows[moving[g], a]
    solve_definite(matrix, vector, size)
    for f in range(1, size):
        if not vector[f] > 0.0:
            return
    y[count] = vector[0]
    for f in range(1, size):
        y[count + 1 + moving[f]] = vector[f]


@lean
def _target_forms(
    problem: AllocationProblem, omega: np.ndarray, y: np.ndarray, target: np.ndarray
) -> float:
    """z* of `_follow`, into `target`; returns the largest relative distance of z from it."""
    costs, count, rows = problem
    d, k = rows.shape
    total = 0.0
    for a in range(k):
        q = TINY
        for v in range(count):
            q += y[v] * costs[v, a]
        target[a] = q / omega[a]
        total += target[a]
    drift = 0.0
    for a in range(k):
        target[a] /= total * omega[a]
        z = y[count]
        for i in range(d):
            z += y[count + 1 + i] * rows[i, a]
        drift = max(drift, abs(z - target[a]) / target[a])
    return drift


@inlined
def _gradient(problem: AllocationProblem, omega: np.ndarray, solver: Solver) -> float:
    """Compute `slopes` (the gradient), omega and shares; returns the residual of the conditions.

    They are slope_i <= 0, and y_i slope_i = 0, which has the same accuracy in T.
    """
    costs, count, rows = problem
    y, slopes, forms, shares = solver.y, solver.slopes, solver.forms, solver.shares
    d, k = rows.shape
    spread = 0.0
    for a in range(k):
        spread += forms[2, a]
    for a in range(k):
        tau = forms[2, a] / spread
        root = math.sqrt(tau)
        by_q, by_z = 1.0 / forms[0, a], 1.0 / forms[1, a]
        omega[a] = tau * by_z
        shares[0, a] = tau * by_q
        shares[1, a] = root * by_q
        shares[2, a] = -root * by_z
    residual, total = 0.0, -1.0
    for v in range(count):
        slope = -1.0
        for a in range(k):
            slope += costs[v, a] * shares[0, a]
        slopes[v] = slope
        residual = max(residual, slope if y[v] <= 0.0 else max(slope, -slope * y[v]))
    for a in range(k):
        total += omega[a]
    slopes[count] = total
    residual = max(residual, abs(total))
    for i in range(d):
        slope = 0.0
        for a in range(k):
            slope += rows[i, a] * omega[a]
        slopes[count + 1 + i] = slope
        residual = max(residual, slope, -slope * y[count + 1 + i])
    return residual


@inlined
def _choose_moving(n: int, nu: int, tolerance: float, solver: Solver) -> int:
    """List the variables that move, and count them: positive ones, and a few at zero.

    Of the variables at zero it takes the MOST_NEW with the largest slopes.
    """
    y, slopes, moving = solver.y, solver.slopes, solver.moving
    size = 0
    for i in range(n):
        if y[i] > 0.0 and (slopes[i] > 0.0 or y[i] > 1e-9 or i == nu):
            moving[size] = i
            size += 1
    for _ in range(MOST_NEW):
        best = -1
        for i in range(n):
            if y[i] <= 0.0 and slopes[i] > tolerance and (best < 0 or slopes[i] > slopes[best]):
                new = True
                for f in range(size):
                    new &= moving[f] != i
                if new:
                    best = i
        if best < 0:
            break
        moving[size] = best
        size += 1
    return size


@inlined
def _curvature(problem: AllocationProblem, size: int, solver: Solver) -> None:
    """The lower triangle of minus the Hessian over the `size` moving variables."""
    costs, count, rows = problem
    slopes, shares, moving = solver.slopes, solver.shares, solver.moving
    scores, alpha, hessian = solver.scores, solver.alpha, solver.hessian
    k = rows.shape[1]
    for f in range(size):
        i = moving[f]
        if i < count:
            scores[f] = slopes[i] + 1.0
            for a in range(k):
                alpha[f, a] = shares[1, a] * costs[i, a]
        elif i == count:
            scores[f] = slopes[i] + 1.0
            for a in range(k):
                alpha[f, a] = shares[2, a]
        else:
            scores[f] = slopes[i]
            for a in range(k):
                alpha[f, a] = shares[2, a] * rows[i - count - 1, a]
        for g in range(f + 1):
            total = scores[f] * scores[g]
            for a in range(k):
                total += alpha[f, a] * alpha[g, a]
            hessian[f, g] = 0.5 * total


@inlined
def _longest_step(problem: AllocationProblem, size: int, solver: Solver) -> float:
    """The share of a step to take: less than 1 if some q_a or z_a would decrease too much."""
    costs, count, rows = problem
    forms, moving, step = solver.forms, solver.moving, solver.step
    length = 1.0
    for a in range(rows.shape[1]):
        change_q, change_z = 0.0, 0.0
        for f in range(size):
            i = moving[f]
            if i < count:
                change_q += step[f] * costs[i, a]
            else:
                change_z += step[f] * (1.0 if i == count else rows[i - count - 1, a])
        # most steps are small and need no division
        if change_q < -0.5 * forms[0, a]:
            length = min(length, _share_of_step(change_q / forms[0, a]))
        if change_z < -0.5 * forms[1, a]:
            length = min(length, _share_of_step(change_z / forms[1, a]))
    return length


@lean
def _share_of_step(change: float) -> float:
    """The share of a step to take, given the relative `change` < -1/2 of some q_a or z_a.

    omega_a and 1 / omega_a are proportional to the inverse root of z_a and q_a. To first order the
    step multiplies that root by 1 - change / 2, so a share 1 / (1 - change / 2)^2 of q_a or z_a is
    to remain.
    """
    return (1.0 - 1.0 / (1.0 - 0.5 * change) ** 2) / -change


@lean
def _raise_weight(problem: AllocationProblem, omega: np.ndarray, solver: Solver) -> bool:
    """Raise the weight of an alternative that is far too low; False if there is none.

    Its slope + 1 is about c_va / omega_a of one arm and decreases like q_a^(-1/2), so each Newton
    step would only triple the weight.
    """
    costs, count, slopes = problem.costs, problem.size, solver.slopes
    most = 0
    for v in range(1, count):
        if slopes[v] > slopes[most]:
            most = v
    if not slopes[most] > STEEP:
        return False
    scarce = 0
    for a in range(omega.size):
        if costs[most, a] * omega[scarce] > costs[most, scarce] * omega[a]:
            scarce = a
    rise = slopes[most] * slopes[most] * solver.forms[0, scarce] / costs[most, scarce]
    solver.y[most] += min(rise, MOST_RAISE)
    return True


@lean
def _newton_step(size: int, nu: int, damping: float, solver: Solver) -> None:
    """A step of the moving variables that raises slopes . d - d . H d / 2 and keeps y + d >= 0.

    The step goes from d = 0 to the maximum, or until a first variable becomes zero; then it
    continues with that variable fixed, and so on. Rows of the factors do not depend on later rows,
    so the rows above the fixed variable are reused.

    Args:
        size: how many variables move.
        nu: the variable that may have any sign.
        damping: added to the diagonal of H, minus the Hessian over the moving variables.
        solver: the first n of its `step` are overwritten with the result.
    """
    y, slopes, moving, step, held = (
        solver.y, solver.slopes, solver.moving, solver.step, solver.held,
    )  # fmt: skip
    hessian, factor = solver.hessian, solver.factor
    for f in range(size):
        held[f] = 0
        step[f] = 0.0
    start, blocking = 0, -1
    for _ in range(size):
        left = 0
        for f in range(size):
            if not held[f]:
                total = slopes[moving[f]]
                if blocking >= 0:
                    for g in range(size):
                        total -= hessian[max(f, g), min(f, g)] * step[g]
                row = size + left
                held[row] = f
                step[row] = total
                left += 1
        for row in range(start, left):
            for column in range(row + 1):
                factor[row, column] = hessian[held[size + row], held[size + column]]
            factor[row, row] += damping
        factorise(factor, start, left)
        substitute(factor, step[size:], left)
        share, blocking = 1.0, -1
        for row in range(size, size + left):
            f = held[row]
            room = y[moving[f]] + step[f]
            if room + share * step[row] < 0.0 and moving[f] != nu:
                share, blocking, start = room / -step[row], f, row - size
        for row in range(size, size + left):
            step[held[row]] += share * step[row]
        if blocking < 0:
            break
        held[blocking] = 1
        step[blocking] = -y[moving[blocking]]
