"""Slow and obvious versions of rates_optimum.py: test oracles, never used in simulations."""

from typing import Any

import cvxpy as cp
import numpy as np
from scipy.special import xlogy

from bestarm.baics.reference import solve


def characteristic_time(means: np.ndarray, q: np.ndarray, floor: np.ndarray, m: int) -> float:
    """T* of (K, L) rates, of which one arm is the answer, as one convex program.

        1 / T* = min_{p, lambda} max_a sum_i p_i kl(mu_a, lambda^i_a)

    over mixtures p of alternatives, by the minimax theorem. With ell = p lambda every term is
    mu rel_entr(p, ell) + (1 - mu) rel_entr(p, p - ell) + p (mu ln mu + (1 - mu) ln(1 - mu)).

    Args:
        means: 0 < mu < 1.
        q, floor, m: weights, (L,) least means, and how many subpopulations have one.
    """
    feasible = (means[:, :m] >= floor[:m]).all(axis=1)
    b = int(np.argmax(np.where(feasible, means @ q, -np.inf)))
    shares, total = [], 0.0
    rules: list[Any] = []
    negative_entropy = xlogy(means, means) + xlogy(1.0 - means, 1.0 - means)
    for kind in [*range(m), *(m + k for k in range(len(means)) if k != b)]:
        p, ell = cp.Variable(nonneg=True), cp.Variable(means.shape)
        every = p * np.ones(means.shape)
        won = cp.multiply(means, cp.rel_entr(every, ell))
        lost = cp.multiply(1.0 - means, cp.rel_entr(every, every - ell))
        total += won + lost + p * negative_entropy
        shares.append(p)
        if kind < m:
            rules += [ell[b, kind] <= p * floor[kind]]
        else:
            k = kind - m
            rules += [q @ ell[k] >= q @ ell[b], ell[k, :m] >= p * floor[:m]]
    rules += [cp.sum(cp.hstack(shares)) == 1.0]
    least = solve(cp.Problem(cp.Minimize(cp.max(total)), rules))
    return 1.0 / float(least)


def best(means: Any, q: Any, floor: Any) -> int | None:
    """The feasible arm of the highest weighted mean, in the words of the definition."""
    candidates = [
        (sum(w * r for w, r in zip(q, row, strict=True)), -k)
        for k, row in enumerate(means)
        if all(r >= c for r, c in zip(row, floor, strict=False))
    ]
    return -max(candidates)[1] if candidates else None
