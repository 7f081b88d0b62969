"""Slow and obvious versions of rates_optimum.py: test oracles, never used in simulations."""

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.special import rel_entr, xlogy

from bestarm.baics.reference import solve

#: Of weighted means, which are sums of a few rates.
ROUNDING = 1e-15


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


def lines(
    low: float, shares: Any, alternatives: Any, means: Any, q: Any, floor: Any, m: int
) -> Iterator[tuple[str, bool]]:
    """What has to hold for T* >= low, each with whether it does: a check of a certificate.

    Any mixture of instances with another answer, or on the edge of them, gives a bound.

    Args:
        low: what is claimed.
        shares: (n,) p.
        alternatives: (n, K, L) lambda.
        means, q, floor, m: the instance.
    """
    p, lam, mu = np.array(shares), np.array(alternatives), np.array(means)
    weights, least = np.array(q), np.array(floor)
    yield "shares are at least 0 and sum to 1", bool((p >= 0).all() and abs(p.sum() - 1) < 1e-12)
    yield "alternatives are rates", bool(((lam >= 0.0) & (lam <= 1.0)).all())
    for number, other in enumerate(lam):
        yield f"instance {number} has another answer", differs(other, mu, weights, least, m)
    nats = sum(s * (rel_entr(mu, o) + rel_entr(1 - mu, 1 - o)) for s, o in zip(p, lam, strict=True))
    yield "they are near in every coordinate", bool(np.max(nats) <= (1.0 + 1e-12) / low)


def differs(other: np.ndarray, mu: np.ndarray, q: np.ndarray, floor: np.ndarray, m: int) -> bool:
    """Whether the answer of mu need not be the answer of `other`: at most at its edge."""
    answer = best(mu.tolist(), q.tolist(), floor[:m].tolist())
    feasible = np.array((other[:, :m] >= floor[:m]).all(axis=1))
    if answer is None:
        return bool(feasible.any())
    if (other[answer, :m] <= floor[:m]).any():
        return True
    feasible[answer] = False
    return bool((feasible & (other @ q >= other[answer] @ q - ROUNDING)).any())


def best(means: Any, q: Any, floor: Any) -> int | None:
    """The feasible arm of the highest weighted mean, in the words of the definition."""
    candidates = [
        (sum(w * r for w, r in zip(q, row, strict=True)), -k)
        for k, row in enumerate(means)
        if all(r >= c for r, c in zip(row, floor, strict=False))
    ]
    return -max(candidates)[1] if candidates else None
