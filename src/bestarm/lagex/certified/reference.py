"""Slow and obvious versions of Certified's kernels: test oracles, never used in simulations."""

import itertools
import math
from typing import Any

import cvxpy as cp
import numpy as np

from bestarm.lagex.certified.confidence import ConfidenceSet


def confidence_set(
    pulls: np.ndarray,
    rewards: np.ndarray,
    costs: np.ndarray,
    limits: np.ndarray,
    delta: float,
    n0: float,
    sigma: np.ndarray,
    cost_sigma: float,
) -> ConfidenceSet:
    """Estimates from sums, and the squared radii of docs/guarantees.md, as written there.

    Args:
        pulls: (K,) N. rewards: (K,) sums. costs: (d, K) sums. limits: (d,) b.
        delta, n0: as fixed beforehand. sigma: (K,). cost_sigma: of every cost.
    """
    beta = math.log((1 + len(limits)) / delta) + 0.5 * np.log(1.0 + pulls / n0).sum()
    square = 2.0 * beta * (pulls + n0) / pulls**2
    means, rows = rewards / pulls, costs / pulls - limits[:, None]
    return ConfidenceSet(means, rows, square * sigma**2, square * cost_sigma**2)


def best_safe_policy(seen: ConfidenceSet, eps: float) -> tuple[np.ndarray, float] | None:
    """argmax { mu pi : pi in simplex, rows_i pi + |pi|_u <= eps }, and the value; None if empty.

    Raises RuntimeError unless Clarabel reports an optimum or that there is none.
    """
    pi = cp.Variable(seen.means.size, nonneg=True)
    radius = cp.norm(cp.multiply(np.sqrt(seen.u), pi))
    kept: list[Any] = [row @ pi + radius <= eps for row in seen.rows]
    kept.append(cp.sum(pi) == 1)
    problem = cp.Problem(cp.Maximize(seen.means @ pi), kept)
    problem.solve(solver="CLARABEL")
    if problem.status == "infeasible":
        return None
    if problem.status != "optimal" or pi.value is None:
        raise RuntimeError(f"the reference solver ended with: {problem.status}")
    return pi.value, float(seen.means @ pi.value)


def may_be_feasible(seen: ConfidenceSet, policies: np.ndarray) -> np.ndarray:
    """(V,) whether rows_i pi <= |pi|_u for every i, for policies (V, K)."""
    radii = np.sqrt(policies**2 @ seen.u)
    return np.all(policies @ seen.rows.T <= radii[:, None], axis=1)


def shortfalls(seen: ConfidenceSet, policy: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(V,) mu (pi' - pi) + |pi' - pi|_h, for policies pi' (V, K)."""
    steps = others - policy
    return steps @ seen.means + np.sqrt(steps**2 @ seen.h)


def grid(n_arms: int, parts: int) -> np.ndarray:
    """(V, K) all policies whose weights are multiples of 1 / parts (stars and bars)."""
    places = parts + n_arms - 1
    bars = np.array(list(itertools.combinations(range(places), n_arms - 1)))
    ends = np.full((len(bars), 1), -1), np.full((len(bars), 1), places)
    return (np.diff(np.hstack([ends[0], bars, ends[1]])) - 1) / parts
