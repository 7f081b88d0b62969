"""Where to pull: the allocation that tells the best policy from its alternatives fastest.

With costs c_va = 2 sigma_a^2 v_a^2 / (gap_v + r)^2 of the alternatives v = pi' - pi,
D(omega) = min_v 1 / sum_a c_va / omega_a (Theorem 4), and rows = A - b 1^T - s of the (estimated,
optimistic) constraints,

    1 / T = max  D(omega)   over omega in the simplex with rows omega <= 0.

Without rows this is Eq. (4). With them it is also Theorem 4: minimised over its multipliers
{l >= 0, ||l||_1 <= D / gamma}, the objective is D(omega) (1 - e / gamma) with e the largest excess
in rows omega, and gamma the least slack of pi. Mixing omega with a share e / (e + gamma) of pi
removes the excess and keeps D(omega) gamma / (e + gamma), which is no less: the price is exact.

It is solved in the dual (docs/readings.md). With weights p >= 0 of alternatives, q = p^T c,
multipliers nu and l >= 0, and z = nu + l^T rows,

    ln T = max  2 - sum(p) - nu + 2 ln G,   G = sum_a sqrt(q_a z_a),
    omega_a = sqrt(q_a / z_a) / G,

concave in (p, nu, l). All variables y_i enter through linear forms, q for the one kind and z for
the other. With alpha_ia the derivative of ln q_a or ln z_a, tau_a = sqrt(q_a z_a) / G and
s_i = sum_a tau_a alpha_ia, the gradient is s_i - 1 (for l: s_i) and minus the Hessian is

    (sum_a tau_a alpha_ia alpha_ja + s_i s_j) / 2

for two of the same kind, with a minus before the sum for two of different kinds. So projected
Newton steps (Bertsekas 1982) are cheap, and from the last round's y one or two of them do.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import jit
from bestarm.lagex.linear_algebra import cholesky_solve

#: Relative accuracy of T while sampling.
SAMPLING = 1e-4
#: Relative accuracy of T where an allocation is not unique; rounding allows no less.
PADDING = 1e-5
#: Newton steps before giving up.
MOST_STEPS = 200
#: Variables that may leave zero in one step.
MOST_NEW = 3
#: By how much multipliers are shrunk until no z_a is negative.
SHRINK = 0.99
#: Halvings of a step before more is added to H's diagonal, and least and most that is added.
HALVINGS = 6
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e6
#: Slopes at which a weight is raised at once, and by how much at most.
STEEP, MOST_RAISE = 8.0, 0.1
#: Least q_a.
TINY = 1e-300


class Solver(NamedTuple):
    """Scratch and warm start for V alternatives of K arms and d constraints."""

    y: np.ndarray  # (V + 1 + d,) p, then nu, then l
    trial: np.ndarray  # like y
    slopes: np.ndarray  # like y, the gradient
    free: np.ndarray  # like y, indices of variables that move
    forms: np.ndarray  # (2, K) q and z
    alpha: np.ndarray  # (V + 1 + d, K)
    hessian: np.ndarray  # (V + 1 + d, V + 1 + d)
    factor: np.ndarray  # like hessian
    step: np.ndarray  # twice as long as y
    held: np.ndarray  # likewise
    pulls: np.ndarray  # like y


@jit
def make_solver(n_alternatives: int, n_arms: int, n_constraints: int) -> Solver:
    """Scratch for `solve`."""
    n = n_alternatives + 1 + n_constraints
    return Solver(
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, np.int64),
        np.zeros((2, n_arms)),
        np.zeros((n, n_arms)),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros(2 * n),
        np.zeros(2 * n, np.int64),
        np.zeros(n),
    )


@jit
def costs_of(
    steps: np.ndarray, falls: np.ndarray, count: int, r: float, variances: np.ndarray, out
) -> None:
    """out[v, a] = 2 sigma_a^2 v_a^2 / (gap_v + r)^2 for the first `count` alternatives.

    Args:
        steps: (V, K) pi' - pi. falls: (V,) gaps. variances: (K,) sigma_a^2.
        out: (V, K) overwritten; infinite where gap_v + r is zero.
    """
    for v in range(count):
        scale = 2.0 / ((falls[v] + r) * (falls[v] + r))
        for a in range(variances.size):
            out[v, a] = scale * variances[a] * steps[v, a] * steps[v, a]


@jit
def pad(costs: np.ndarray, count: int, accuracy: float, out: np.ndarray) -> None:
    """Costs in which no arm is free: out[v, a] = c_va + (accuracy sum_b sqrt(c_vb) / 2K)^2.

    Without it an allocation is not unique where a constraint forces mass upon arms that no binding
    alternative needs, and q and z vanish together there. (sum_b sqrt(c_vb))^2 is T of one
    alternative alone; a mass of accuracy / 2K for an arm costs T that share and pays for the
    padding of one alternative with the same share, so T changes by at most about `accuracy` of
    itself.
    """
    k = costs.shape[1]
    for v in range(count):
        root = 0.0
        for a in range(k):
            root += math.sqrt(costs[v, a])
        least = (0.5 * accuracy * root / k) ** 2
        for a in range(k):
            out[v, a] = costs[v, a] + least


@jit
def information(costs: np.ndarray, count: int, pulls: np.ndarray) -> float:
    """min_v 1 / sum_a c_va / N_a: D of Theorem 4 at an allocation or, times t, at pull counts."""
    largest = 0.0
    for v in range(count):
        total = 0.0
        for a in range(pulls.size):
            if costs[v, a] > 0.0:
                total += costs[v, a] / pulls[a]
        largest = max(largest, total)
    return 1.0 / largest


@jit
def _value(y: np.ndarray, costs: np.ndarray, count: int, rows: np.ndarray, forms: np.ndarray):
    """The dual function at y, with q and z left in `forms`; minus infinity outside its domain."""
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
        spread += math.sqrt(forms[0, a] * forms[1, a])
    return 2.0 - total + 2.0 * math.log(spread)


@jit
def solve(
    costs: np.ndarray,
    count: int,
    rows: np.ndarray,
    tolerance: float,
    omega: np.ndarray,
    solver: Solver,
) -> float:
    """The allocation of the program above; returns how far its conditions are from holding.

    Args:
        costs: (V, K), the first `count` rows count; finite.
        rows: (d, K).
        tolerance: on the conditions, which is relative in T and absolute in rows omega.
        omega: (K,) overwritten.
        solver: scratch; its y is where to start, p, nu, l, and is overwritten with the solution.
    """
    y, trial, slopes, free, forms, alpha, hessian, factor, step, held, pulls = solver
    d, k = rows.shape
    n = count + 1 + d
    value = _value(y, costs, count, rows, forms)
    while value == -np.inf:  # multipliers of other rows: nu = 1, l = 0 is inside the domain
        y[count] = 1.0
        for i in range(d):
            y[count + 1 + i] = SHRINK * y[count + 1 + i] if y[count + 1 + i] > TINY else 0.0
        value = _value(y, costs, count, rows, forms)
    residual, damping = np.inf, LEAST_DAMPING
    for _ in range(MOST_STEPS):
        spread = 0.0
        for a in range(k):
            spread += math.sqrt(forms[0, a] * forms[1, a])
        # gradient, and how far the conditions are from holding
        residual = 0.0
        for a in range(k):
            omega[a] = math.sqrt(forms[0, a] / forms[1, a]) / spread
        for v in range(count):
            slope = -1.0
            for a in range(k):
                slope += costs[v, a] * forms[1, a] / forms[0, a] * omega[a]
            slopes[v] = slope
            residual = max(residual, slope if y[v] <= 0.0 else max(slope, -slope * y[v]))
        slopes[count] = -1.0
        for a in range(k):
            slopes[count] += omega[a]
        residual = max(residual, abs(slopes[count]))
        for i in range(d):
            slope = 0.0
            for a in range(k):
                slope += rows[i, a] * omega[a]
            slopes[count + 1 + i] = slope
            residual = max(residual, slope, -slope * y[count + 1 + i])
        if residual <= tolerance:
            break
        if _raise_weight(costs, count, slopes, omega, forms, y):
            value = _value(y, costs, count, rows, forms)
            continue
        # variables that move: positive ones, and of those at zero the most promising
        moving = 0
        for i in range(n):
            if y[i] > 0.0 and (slopes[i] > 0.0 or y[i] > 1e-9 or i == count):
                free[moving] = i
                moving += 1
        for _ in range(MOST_NEW):
            best = -1
            for i in range(n):
                if (
                    y[i] <= 0.0
                    and slopes[i] > 0.1 * tolerance
                    and (best < 0 or slopes[i] > slopes[best])
                ):
                    new = True
                    for f in range(moving):
                        new &= free[f] != i
                    if new:
                        best = i
            if best < 0:
                break
            free[moving] = best
            moving += 1
        for f in range(moving):
            i = free[f]
            for a in range(k):
                tau = math.sqrt(omega[a] * forms[1, a])  # sqrt(tau_a), tau = omega z
                if i < count:
                    alpha[f, a] = tau * costs[i, a] / forms[0, a]
                else:
                    row = 1.0 if i == count else rows[i - count - 1, a]
                    alpha[f, a] = -tau * row / forms[1, a]
        for f in range(moving):
            i = free[f]
            pulls[f] = slopes[i] + 1.0 if i <= count else slopes[i]  # s_i
            for g in range(f + 1):
                total = pulls[f] * pulls[g]
                for a in range(k):
                    total += alpha[f, a] * alpha[g, a]
                hessian[f, g] = 0.5 * total
                hessian[g, f] = 0.5 * total
        _newton_step(hessian, factor, damping, y, slopes, free, moving, count, step, held)
        # along it, not all the way where most of some q_a or z_a would go, until the dual rises
        length, moved = 1.0, False
        for a in range(k):
            change_q, change_z = 0.0, 0.0
            for f in range(moving):
                i = free[f]
                if i < count:
                    change_q += step[f] * costs[i, a]
                else:
                    change_z += step[f] * (1.0 if i == count else rows[i - count - 1, a])
            length = min(length, _share_of_step(change_q / forms[0, a]))
            length = min(length, _share_of_step(change_z / forms[1, a]))
        for _ in range(HALVINGS):
            for i in range(n):
                trial[i] = y[i]
            for f in range(moving):
                i = free[f]
                trial[i] = max(y[i] + length * step[f], 0.0)
            new_value = _value(trial, costs, count, rows, forms)
            if new_value >= value - 1e-13 * (1.0 + abs(value)):
                moved = True
                break
            length *= 0.5
        if not moved:  # the Hessian is singular where alternatives depend on each other
            _value(y, costs, count, rows, forms)
            if damping > MOST_DAMPING:
                break
            damping *= 100.0
            continue
        damping = max(0.1 * damping, LEAST_DAMPING)
        value = new_value
        for i in range(n):
            y[i] = trial[i]
    total = 0.0
    for a in range(k):
        total += omega[a]
    for a in range(k):
        omega[a] /= total
    return residual


@jit
def _share_of_step(change: float) -> float:
    """How much of a step to take that changes some q_a or z_a by a share of itself.

    omega_a and 1 / omega_a go with the inverse root of z_a and q_a. Where the step is meant to
    change that by 1 - change / 2, its linear value, 1 / (1 - change / 2)^2 must be left.
    """
    if change > -0.5:
        return 1.0
    return (1.0 - 1.0 / (1.0 - 0.5 * change) ** 2) / -change


@jit
def _raise_weight(costs, count: int, slopes, omega, forms, y) -> bool:
    """Raise the weight of an alternative that starts far too low; False if there is none.

    Its slope + 1 is about c_va / omega_a of one arm, and falls as q_a^(-1/2): Newton steps would
    only triple the weight each.
    """
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
    wanted = slopes[most] * slopes[most] * forms[0, scarce] / costs[most, scarce]
    y[most] += min(wanted, MOST_RAISE)
    return True


@jit
def _newton_step(
    hessian: np.ndarray,
    factor: np.ndarray,
    damping: float,
    y: np.ndarray,
    slopes: np.ndarray,
    free: np.ndarray,
    moving: int,
    nu: int,
    step: np.ndarray,
    held: np.ndarray,
) -> None:
    """A step of the moving variables that raises slopes . d - d . H d / 2 and keeps y + d >= 0.

    From d = 0 to the maximum, or to where the first variable becomes zero; then on without that
    one, and so forth.

    Args:
        hessian: (n, n) H, minus the Hessian over the moving variables.
        factor: (n, n) scratch. damping: added to the diagonal.
        nu: the variable that may have any sign.
        step, held: (2 n,) overwritten, the first n of step with the result.
    """
    for f in range(moving):
        held[f] = 0
        step[f] = 0.0
    for _ in range(moving):
        size = 0
        for f in range(moving):
            if not held[f]:
                row = moving + size
                held[row] = f
                step[row] = slopes[free[f]]
                for g in range(moving):
                    step[row] -= hessian[f, g] * step[g]
                size += 1
        for row in range(size):
            for column in range(row + 1):
                factor[row, column] = hessian[held[moving + row], held[moving + column]]
            factor[row, row] += damping
        cholesky_solve(factor, step[moving:], size)
        share, blocking = 1.0, -1
        for row in range(moving, moving + size):
            f = held[row]
            room = y[free[f]] + step[f]
            if room + share * step[row] < 0.0 and free[f] != nu:
                share, blocking = room / -step[row], f
        for row in range(moving, moving + size):
            step[held[row]] += share * step[row]
        if blocking < 0:
            break
        held[blocking] = 1
        step[blocking] = -y[free[blocking]]


class Allocation(NamedTuple):
    """A solution of the program."""

    omega: np.ndarray  # (K,)
    value: float  # D(omega) = 1 / T
    residual: float  # of the optimality conditions


def best_allocation(costs: np.ndarray, rows: np.ndarray, tolerance: float = 1e-7) -> Allocation:
    """Solve the program from nothing.

    Args:
        costs: (V, K) finite. rows: (d, K), none for the whole simplex.
        tolerance: relative in T and absolute in rows omega. Where the allocation is not unique
            (see `pad`) PADDING is what can be had.

    Raises:
        ArithmeticError: if neither is reached, as where no allocation is feasible.
    """
    costs = np.ascontiguousarray(costs, dtype=float)
    count, k = costs.shape
    rows = np.ascontiguousarray(rows, dtype=float).reshape(-1, k)
    solver = make_solver(count, k, len(rows))
    omega, padded, residual = np.zeros(k), np.zeros((count, k)), np.inf
    for padding in (min(tolerance, PADDING), PADDING):
        if not residual <= tolerance:
            solver.y[:] = 0.0
            solver.y[:count] = 1.0 / count
            solver.y[count] = 1.0
            pad(costs, count, padding, padded)
            residual = solve(padded, count, rows, tolerance, omega, solver)
    if not residual <= 10.0 * max(tolerance, PADDING):
        raise ArithmeticError(f"the allocation is off by {residual:.1e}, asked was {tolerance:.0e}")
    return Allocation(omega, information(costs, count, omega), residual)
