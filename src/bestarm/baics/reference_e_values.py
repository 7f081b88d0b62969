"""Slow and obvious versions of e_values.py: test oracles, never used in simulations."""

import math
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq, linprog, minimize_scalar
from scipy.special import xlogy

from bestarm.baics.reference import solve, swap_cost


def half_log(counts: np.ndarray, n0: float) -> float:
    """1/2 sum ln(1 + N / n0)."""
    return 0.5 * sum(math.log(1 + n / n0) for n in counts)


def mixture(
    i: int,
    pulls: np.ndarray,
    means: np.ndarray,
    q: np.ndarray,
    constrained: int,
    best,
    n0: float,
    sigma: Any = 1.0,
) -> float:
    """ln of the mixture against the i-th kind of alternative, swaps by cvxpy.

    Means are in the rewards' own unit.
    """
    shrunk = pulls**2 / (pulls + n0) / np.broadcast_to(sigma, pulls.shape) ** 2
    k = i - constrained
    if k < 0:
        if best is None:
            return math.inf
        return 0.5 * float(shrunk[best, i] * means[best, i] ** 2) - half_log(pulls[best, [i]], n0)
    if best is None:
        below = np.minimum(means[k, :constrained], 0.0)
        return 0.5 * float(shrunk[k, :constrained] @ below**2) - half_log(
            pulls[k, :constrained], n0
        )
    if k == best:
        return math.inf
    cost = swap_cost(shrunk, means, q, constrained, best, k)[0]
    return 0.5 * cost - half_log(pulls[best], n0) - half_log(pulls[k], n0)


def cone(q: np.ndarray, constrained: int) -> tuple[Any, list[Any]]:
    """G of the dual cone as a (2, L) expression, and what its variables must satisfy."""
    theta, s = cp.Variable(nonneg=True), cp.Variable(q.shape[1], nonneg=True)
    return cp.vstack([-theta * q[0], theta * q[1] + s]), [s[constrained:] == 0.0]


def best_coefficients(
    moved: np.ndarray,
    more: np.ndarray,
    means: np.ndarray,
    q: np.ndarray,
    constrained: int,
    tilt: float,
) -> np.ndarray:
    """argmax_c  -x sum DN c mu^ - x^2 / 2 sum DN c^2   s.t.  W + DN c in the cone.

    Args:
        moved: (2, L) W, of the answer's coordinates and the challenger's.
        more, means: (2, L) DN and mu^ of the same.
        q: (2, L) weights of the means in the quality of each, q_l sigma of their rewards.
        constrained: M.
        tilt: x.
    """
    c = cp.Variable(moved.shape)
    point, rules = cone(q, constrained)
    growth = cp.sum(cp.multiply(tilt * more * means, c))
    growth += tilt**2 / 2 * cp.sum(cp.multiply(more, cp.square(c)))
    solve(cp.Problem(cp.Minimize(growth), [moved + cp.multiply(more, c) == point, *rules]))
    return np.asarray(c.value)


def best_bound(
    moved: np.ndarray,
    shrunk: np.ndarray,
    means: np.ndarray,
    q: np.ndarray,
    constrained: int,
    beta: float,
) -> float:
    """max over G in the cone of  R . mu^ - sqrt(2 beta sum R^2 / N'),  R = W - G.

    Args:
        moved, means, q, constrained: as for `best_coefficients`.
        shrunk: (2, L) N'.
        beta: size of the ellipsoid.
    """
    point, rules = cone(q, constrained)
    lacking = moved - point
    spread = cp.norm(cp.vec(cp.multiply(lacking, 1 / np.sqrt(shrunk)), order="C"))
    value = cp.sum(cp.multiply(lacking, means)) - math.sqrt(2 * beta) * spread
    return -solve(cp.Problem(cp.Minimize(-value), rules))


def worst_instance(
    moved: np.ndarray,
    shrunk: np.ndarray,
    means: np.ndarray,
    q: np.ndarray,
    constrained: int,
    beta: float,
) -> float:
    """The same by its other side: the least W . lambda of the instances that the bound is about."""
    lam = cp.Variable(moved.shape)
    near = cp.sum(cp.multiply(shrunk, cp.square(means - lam))) / 2 <= beta
    rules = [near, lam[1] @ q[1] >= lam[0] @ q[0], lam[1, :constrained] >= 0.0]
    return solve(cp.Problem(cp.Minimize(cp.sum(cp.multiply(moved, lam))), rules))


def beta_mixture(successes: float, failures: float, mean: float, a: float, b: float) -> float:
    """ln of the likelihood ratio of p ~ Beta(a, b) against a mean, by quadrature."""

    def ratio(p: float) -> float:
        log = xlogy(successes, p / mean) + xlogy(failures, (1 - p) / (1 - mean))
        return math.exp(log) * float(stats.beta(a, b).pdf(p))

    places = [mean, (a + successes) / (a + b + successes + failures)]
    return math.log(quad(ratio, 0.0, 1.0, points=places, limit=500)[0])


def one_side(rewards: np.ndarray, least: float, below: bool, weight: float) -> float:
    """ln of the e-value for a mean below `least`, or above, of rewards from 0 to 1."""
    if rewards.mean() > least if below else rewards.mean() < least:
        return -math.inf
    a, b = weight * least, weight * (1.0 - least)
    return beta_mixture(rewards.sum(), (1.0 - rewards).sum(), least, a, b)


def t_mixture(rewards: np.ndarray, mean: float, n0: float) -> float:
    """ln of the t-mixture against a mean, from its definition."""
    y, n = rewards - mean, len(rewards)
    explained = y.sum() ** 2 / ((n + n0) * (y**2).sum())
    return 0.5 * math.log(n0 / (n + n0)) - 0.5 * n * math.log(1.0 - explained)


def t_interval(rewards: np.ndarray, log_inverse: float, n0: float) -> tuple[float, float]:
    """The means that the t-mixture does not reject, by roots on either side of the average."""
    centre, far = rewards.mean(), 1e6 * rewards.std()

    def excess(mean: float) -> float:
        return t_mixture(rewards, mean, n0) - log_inverse

    if excess(centre + far) <= 0.0:
        return -math.inf, math.inf
    low, high = (brentq(excess, centre, centre + side * far, xtol=1e-13) for side in (-1, 1))
    return float(low), float(high)


def variance_bound(rewards: np.ndarray, log_inverse: float, rounding: float) -> float:
    """The largest variance that is not rejected, by Helmert's contrasts, quadrature and a root.

    The prior of v = (sigma / sigma')^2 is that of a squared standard normal.

    Args:
        rewards: of one stream, at least 2.
        log_inverse: ln(1/delta).
        rounding: what rewards are rounded to, or 0.
    """
    prior = stats.chi2(1)
    level = math.log(prior.sf(1.0) * math.exp(log_inverse) + prior.cdf(1.0))
    seen = sum(i / (i + 1) * (x - rewards[:i].mean()) ** 2 for i, x in enumerate(rewards) if i)
    largest = (math.sqrt(seen) + rounding / 2 * math.sqrt(len(rewards))) ** 2
    freedom = len(rewards) - 1

    def excess(log_variance: float) -> float:
        squares = largest / math.exp(log_variance)

        def log_ratio(x: float) -> float:  # x = ln v
            v = math.exp(x)
            return (freedom / 2 + 1) * x - (v - 1) * squares / 2 + float(prior.logpdf(v))

        peak = minimize_scalar(lambda x: -log_ratio(x), bounds=(-20.0, 20.0), method="bounded").x
        top = log_ratio(peak)
        ends = (peak - 30.0, peak), (peak, peak + 30.0)
        total = sum(quad(lambda x: math.exp(log_ratio(x) - top), *end)[0] for end in ends)
        return top + math.log(total) - level

    low = math.log(largest / freedom)
    if excess(low + 30.0) < 0.0:
        return math.inf
    return math.exp(brentq(excess, low, low + 30.0, xtol=1e-10))


def t_end(rewards: np.ndarray, inverse: float, n0: float, upper: bool) -> float:
    """The end of the t-interval beyond which all means together have E >= (1/delta + 1) / 2."""
    return t_interval(rewards, math.log((inverse + 1.0) / 2.0), n0)[int(upper)]


def excluded(
    i: int,
    rewards: Any,
    level: float,
    q: np.ndarray,
    constrained: int,
    best: Any,
    n0: float,
    share: float,
) -> bool:
    """Whether t-intervals leave no instance of the i-th kind of alternative: a linear program.

    Args:
        rewards: of arm k on subpopulation l, rewards[k][l].
        level: ln(K / delta).
        q, constrained, best, n0: as for `mixture`.
        share: of delta for the intervals of a pair.
    """
    k, inverse = i - constrained, math.exp(level)
    if best is None and k >= 0:
        ends = [t_end(x, constrained * inverse, n0, True) for x in rewards[k][:constrained]]
        return min(ends) < 0.0
    if best is not None and k < 0:
        return t_end(rewards[best][i], inverse, n0, False) > 0.0
    if k < 0 or k == best:
        return True
    inverse *= 2 * len(q) / share
    box = [(t_end(x, inverse, n0, False), math.inf) for x in rewards[best]]
    box += [(-math.inf, t_end(x, inverse, n0, True)) for x in rewards[k]]
    for l in range(constrained):
        low, high = box[len(q) + l]
        if high < 0.0:
            return True
        box[len(q) + l] = max(low, 0.0), high
    result = linprog(np.append(q, -q), bounds=box)  # least lead of the answer over arm k
    return result.status == 0 and float(result.fun or 0.0) > 0.0
