"""The optimal allocation of pulls for telling the best policy from its alternatives.

With costs c_va = 2 sigma_a^2 v_a^2 / (gap_v + r)^2 of the alternatives v = pi' - pi,
D(omega) = min_v 1 / sum_a c_va / omega_a (Theorem 4), and rows = A - b 1^T - s of the (estimated,
optimistic) constraints,

    1 / T = max  D(omega)   over omega in the simplex with rows omega <= 0.

Without rows this is Eq. (4). With them it is also Theorem 4: minimised over its multipliers
{l >= 0, ||l||_1 <= D / gamma}, the objective is D(omega) (1 - e / gamma) with e the largest excess
in rows omega, and gamma the least slack of pi. Mixing omega with a share e / (e + gamma) of pi
removes the excess and keeps D(omega) gamma / (e + gamma), which is no less, so the Lagrangian
penalty is exact.

The problem is solved in its dual, see dual.py.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, lean
from bestarm.lagex.paper.dual import AllocationProblem, cold_start, make_solver, solve
from bestarm.lagex.vertices import VertexSearch

#: Relative accuracy of T while sampling.
ACCURACY = 1e-4
#: Relative accuracy of T if the allocation is not unique; rounding does not allow a better one.
PADDING = 1e-5
#: Least squared gap of an alternative in a problem.
LEAST_GAP = 1e-18


@inlined
def cost_padding(root: float, n_arms: int, accuracy: float) -> float:
    """What `pad` adds to the costs of an alternative whose sum_a sqrt(c_va) is `root`."""
    least = 0.5 * accuracy * root / n_arms
    return least * least


@lean
def alternative_costs(
    steps: np.ndarray,
    gaps: np.ndarray,
    count: int,
    r: float,
    deviations: np.ndarray,
    accuracy: float,
    out: np.ndarray,
    roots: np.ndarray,
) -> None:
    """c_va = 2 sigma_a^2 v_a^2 / (gap_v + r)^2 of the first `count` alternatives, padded (`pad`).

    Args:
        steps: (V, K) pi' - pi. gaps: (V,). deviations: (K,) sigma_a.
        accuracy: of the padding.
        out: (V, K) overwritten. (gap_v + r)^2 is replaced by LEAST_GAP if it is smaller.
        roots: (V,) overwritten with sum_a sqrt(c_va).
    """
    k = deviations.size
    for v in range(count):
        gap = gaps[v] + r
        scale = math.sqrt(2.0 / max(gap * gap, LEAST_GAP))
        root = 0.0
        for a in range(k):
            out[v, a] = abs(scale * deviations[a] * steps[v, a])
            root += out[v, a]
        roots[v] = root
        least = cost_padding(root, k, accuracy)
        for a in range(k):
            out[v, a] = out[v, a] * out[v, a] + least


@lean
def pad(costs: np.ndarray, count: int, accuracy: float, out: np.ndarray) -> None:
    """Make all costs positive: out[v, a] = c_va + (accuracy sum_b sqrt(c_vb) / 2K)^2.

    Without padding the allocation is not unique if a constraint forces mass onto arms that no
    binding alternative needs, where both q and z of dual.py vanish. (sum_b sqrt(c_vb))^2 is T of
    one alternative alone. A mass of accuracy / 2K on an arm raises T by a relative accuracy / 2K,
    and the padding of an arm has an effect of the same size, so T changes by at most about a
    relative `accuracy`.
    """
    k = costs.shape[1]
    for v in range(count):
        root = 0.0
        for a in range(k):
            root += math.sqrt(costs[v, a])
        least = cost_padding(root, k, accuracy)
        for a in range(k):
            out[v, a] = costs[v, a] + least


@lean
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


@inlined
def failing_alternative(
    others: VertexSearch,
    count: int,
    r: float,
    variances: np.ndarray,
    pulls: np.ndarray,
    beta: float,
) -> int:
    """The GLR test: the first alternative whose statistic is not above the threshold, or -1.

    It passes if there is none: `information` at pull counts exceeds `beta`. It usually fails at the
    first alternative.

    Args:
        others: the alternatives, `count` of them. pulls: (K,) positive.
    """
    for v in range(count):
        total = 0.0
        for a in range(pulls.size):
            total += variances[a] * others.steps[v, a] * others.steps[v, a] / pulls[a]
        if not 2.0 * total * beta < (others.gaps[v] + r) * (others.gaps[v] + r):
            return v
    return -1


class Allocation(NamedTuple):
    """A solution of the problem of this module."""

    omega: np.ndarray  # (K,)
    value: float  # D(omega) = 1 / T
    residual: float  # of the optimality conditions


def best_allocation(costs: np.ndarray, rows: np.ndarray, tolerance: float = 1e-7) -> Allocation:
    """Solve the problem from a cold start.

    Args:
        costs: (V, K) finite. rows: (d, K), none for the whole simplex.
        tolerance: relative in T and absolute in rows omega. If the allocation is not unique (see
            `pad`) PADDING is the best possible.

    Raises:
        ArithmeticError: neither tolerance was reached, for example as no allocation is feasible.
    """
    costs = np.ascontiguousarray(costs, dtype=float)
    count, k = costs.shape
    rows = np.ascontiguousarray(rows, dtype=float).reshape(-1, k)
    solver = make_solver(count, k, len(rows))
    omega, padded, residual = np.zeros(k), np.zeros((count, k)), np.inf
    for padding in (min(tolerance, PADDING), PADDING):
        if not residual <= tolerance:
            cold_start(solver, count)
            pad(costs, count, padding, padded)
            residual = solve(AllocationProblem(padded, count, rows), tolerance, omega, solver)
    if not residual <= 10.0 * max(tolerance, PADDING):
        raise ArithmeticError(
            f"the allocation has residual {residual:.1e}, above tolerance {tolerance:.0e}"
        )
    return Allocation(omega, information(costs, count, omega), residual)
