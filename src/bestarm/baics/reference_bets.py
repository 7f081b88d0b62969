"""Slow and obvious versions of bets.py: test oracles, never used in simulations."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

from bestarm.baics.reference import solve

#: The fractions of the mixture, written out, and what their weights are in proportion to.
FRACTIONS = [0.9 / 1.3**i for i in range(27)]
ROOTS = [math.sqrt(x) for x in FRACTIONS]


class Bet(NamedTuple):
    """A pull of an ordered pair."""

    row: int  # 0 of the answer, 1 of the challenger
    l: int  # its subpopulation
    c: float
    m: float  # not less the floor
    reward: float


def wealth(bets: Sequence[Bet], x: float, rates: np.ndarray) -> float:
    """prod (1 + x c (1 - m))^X (1 - x c m)^(1 - X) exp(-x c (mu - m)), pull by pull.

    Args:
        bets: the pulls of a pair, in order.
        x: the fraction.
        rates: (2, L) mu, not less the floor.
    """
    product = 1.0
    for row, l, c, m, reward in bets:
        product *= (1.0 + x * c * (1.0 - m)) ** reward * (1.0 - x * c * m) ** (1.0 - reward)
        product *= math.exp(-x * c * (rates[row, l] - m))
    return product


def log_e_value(bets: Sequence[Bet], worst: np.ndarray) -> float:
    """The mixture at the rates of the kind and the box at which it is least, see `worst_rates`."""
    pairs = zip(ROOTS, FRACTIONS, strict=True)
    return sum(root * wealth(bets, x, worst) for root, x in pairs) / sum(ROOTS)


def worst_rates(
    bets: Sequence[Bet], low: np.ndarray, high: np.ndarray, q: np.ndarray, floor: Any, m: int
) -> np.ndarray:
    """argmax W . mu over the rates of a box with k feasible and as good as b: a linear program.

    Args:
        bets: the pulls of the pair.
        low, high: (2, L) the box, not less the floor.
        q: (L,) weights.
        floor: (L,) least means of the first `m` subpopulations.
        m: how many are constrained.

    Raises:
        ValueError: the box holds no such rates.
    """
    moved = np.zeros(low.shape)
    for row, l, c, *_ in bets:
        moved[row, l] += c
    low = low.copy()
    low[1, :m] = np.maximum(low[1, :m], np.asarray(floor)[:m])
    bounds = list(zip(low.ravel(), high.ravel(), strict=True))
    result = linprog(-moved.ravel(), A_ub=[np.append(q, -q)], b_ub=[0.0], bounds=bounds)
    if result.status != 0:
        raise ValueError("the box holds no such rates")
    return np.asarray(result.x).reshape(low.shape)


def nearest_rates(
    counts: np.ndarray, rates: np.ndarray, q: np.ndarray, floor: Any, m: int
) -> tuple[float, np.ndarray]:
    """min sum N kl(mu, lambda) with k feasible and as good as b, and the lambda.

    Args:
        counts, rates: (2, L) N and mu of the answer and the challenger.
        q, floor, m: as for `worst_rates`.
    """
    lam = cp.Variable(rates.shape)
    wins, losses = counts * rates, counts * (1.0 - rates)
    likelihood = cp.sum(cp.multiply(wins, cp.log(lam)) + cp.multiply(losses, cp.log(1.0 - lam)))
    rules = [q @ lam[1] >= q @ lam[0], lam[1, :m] >= np.asarray(floor)[:m]]
    value = solve(cp.Problem(cp.Minimize(-likelihood), rules))
    entropy = (wins * np.log(rates) + losses * np.log(1.0 - rates)).sum()
    return float(value + entropy), np.asarray(lam.value)


def best_coefficients(
    moved: np.ndarray,
    more: np.ndarray,
    variance: np.ndarray,
    means: np.ndarray,
    q: np.ndarray,
    m: int,
    x: float,
) -> np.ndarray:
    """argmax_c  x sum DN c mu - x^2 / 2 sum DN v c^2   s.t.  W + DN c in the polar cone.

    Args:
        moved, more, variance, means: (2, L) W, DN, v, and mu less the floor.
        q, m: as for `worst_rates`.
        x: the fraction.
    """
    c = cp.Variable(moved.shape)
    theta, s = cp.Variable(nonneg=True), cp.Variable(q.size, nonneg=True)
    cone = cp.vstack([theta * q, -theta * q - s])
    growth = x * cp.sum(cp.multiply(more * means, c))
    growth -= x**2 / 2 * cp.sum(cp.multiply(more * variance, cp.square(c)))
    rules = [moved + cp.multiply(more, c) == cone, s[m:] == 0.0]
    solve(cp.Problem(cp.Maximize(growth), rules))
    return np.asarray(c.value)
