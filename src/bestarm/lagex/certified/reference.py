"""Slow and obvious versions of Certified's kernels: test oracles, never used in simulations."""

import itertools
import math
from typing import Any

import cvxpy as cp
import numpy as np

from bestarm.lagex.certified.confidence import ABOVE, ConfidenceSet, without_directions


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
    return without_directions(means, rows, square * sigma**2, square * cost_sigma**2)


def best_safe_policy(seen: ConfidenceSet, eps: float) -> tuple[np.ndarray, float] | None:
    """argmax { mu pi : pi in simplex, rows_i pi + reach_i(pi) <= eps }, the value; None if empty.

    With a gap the reach is the least of t gap + |pi - t W|_u over t >= 0, else |pi|_u.

    Raises RuntimeError unless Clarabel reports an optimum or that there is none.
    """
    pi = cp.Variable(seen.means.size, nonneg=True)
    kept: list[Any] = [cp.sum(pi) == 1]
    for row, gap in zip(seen.rows, seen.gaps[ABOVE], strict=True):
        t = cp.Variable(nonneg=True) if np.isfinite(gap) else 0.0
        radius = cp.norm(cp.multiply(np.sqrt(seen.u), pi - t * seen.directions[ABOVE]))
        kept.append(row @ pi + t * min(gap, np.finfo(float).max) + radius <= eps)
    problem = cp.Problem(cp.Maximize(seen.means @ pi), kept)
    problem.solve(solver="CLARABEL")
    if problem.status == "infeasible":
        return None
    if problem.status != "optimal" or pi.value is None:
        raise RuntimeError(f"the reference solver ended with: {problem.status}")
    return pi.value, float(seen.means @ pi.value)


def reach(seen: ConfidenceSet, side: int, i: int, point: np.ndarray) -> float:
    """max { point . e : sum_a e_a^2 / u_a <= 1, W . e <= gap } of a side and a row, by Clarabel."""
    sizes, w = np.sqrt(seen.u), seen.directions[side]
    e = cp.Variable(seen.u.size)  # in units of sizes
    possible: list[Any] = [cp.norm(e) <= 1.0]
    if np.isfinite(seen.gaps[side, i]):
        length = float(np.linalg.norm(w * sizes))
        possible.append((w * sizes / length) @ e <= seen.gaps[side, i] / length)
    cp.Problem(cp.Maximize((point * sizes) @ e), possible).solve(solver="CLARABEL")
    if e.value is None:
        raise RuntimeError("the reference solver found no error")
    return float((point * sizes) @ e.value)


def excess_at_most(seen: ConfidenceSet, policy: np.ndarray) -> float:
    """max_i rows_i pi + reach_i(pi)."""
    rows = enumerate(seen.rows)
    return max(float(row @ policy) + reach(seen, ABOVE, i, policy) for i, row in rows)


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
