"""T* and w* of BAICS for rewards that are 0 or 1, with a certificate.

    1 / T* = max_{w in simplex} min_i f_i(w),   f_i(w) = min_{lambda of kind i} sum w kl(mu, lambda)

over the kinds of alternatives of alternatives.py. It is solved as a problem of
core/pure_exploration whose displacements are signed roots of 2 kl(mu, lambda): half their squares
are the gradients of f_i.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.baics.alternatives import NO_ARM, Problem
from bestarm.core.compile import inlined, jit, lean
from bestarm.core.divergence import bernoulli
from bestarm.core.pure_exploration.optimum import find_optimum, make_point
from bestarm.core.pure_exploration.problem import (
    best_answer,
    displace,
    implements,
    make_work,
    pieces,
    unrelated_arms,
)

#: Of T* - low, relative to T*.
TOLERANCE = 1e-6
#: Most steps of the search for the multiplier of a swap, to rounding.
MOST_STEPS = 2000


class Optimum(NamedTuple):
    """T*, bracketed: low <= T* <= time.

    `time` is what the allocation attains. Mixed with these shares, the alternatives differ from mu
    by sum_i p_i kl(mu_a, lambda^i_a) <= 1 / low nats in every coordinate a, so that no allocation
    attains less than `low`.
    """

    time: float  # pulls per nat; infinite if an alternative is at distance 0; 0 if there is none
    low: float
    allocation: np.ndarray  # (K, L)
    shares: np.ndarray = np.zeros(0)  # (n,) p
    alternatives: np.ndarray = np.zeros((0, 0, 0))  # (n, K, L) lambda, with another answer


class Rates(NamedTuple):
    """The best arm that is feasible on every subpopulation, or NO_ARM, of rewards 0 or 1."""

    variances: np.ndarray  # (K L,) all 1
    explored: np.ndarray  # (K L,)
    blank: np.ndarray  # (1,)
    n_arms: int  # K
    definitions: Problem  # with a floor


class Work(NamedTuple):
    """Weights, and the nearest instance of the last kind that was looked at."""

    weights: np.ndarray  # (K L,)
    nearest: np.ndarray  # (K, L)


def characteristic_time(means: np.ndarray, problem: Problem) -> Optimum:
    """T* and w* of (K, L) rates, to a relative gap of TOLERANCE.

    Args:
        means: rates.
        problem: weights q, number of constrained subpopulations M, and (L,) floor.

    Raises:
        ArithmeticError: the tolerance was not reached.

    Example:
        Two arms: half the pulls each, about 8 sigma^2 / gap^2 of them per nat.

        >>> problem = Problem(np.ones(1), 0, floor=np.zeros(1))
        >>> found = characteristic_time(np.array([[0.6], [0.5]]), problem)
        >>> round(found.time, 1), found.allocation.round(3).ravel().tolist()
        (197.7, [0.502, 0.498])
    """
    mu, n = np.array(means, float), np.size(means)
    rates = Rates(np.ones(n), np.arange(n), np.full(1, NO_ARM), len(mu), problem)
    work, point = make_work(rates), make_point(pieces(rates), n)
    answer = best_answer(rates, mu.ravel())
    find_optimum(rates, work, answer, mu.ravel(), TOLERANCE, point)
    time = float(point.numbers[0])
    allocation = point.best.reshape(mu.shape)
    if not 0.0 < time < np.inf:
        return Optimum(time, time, allocation)
    work.weights[:] = point.w
    kinds = [i for i in range(pieces(rates)) if nearest(rates, work, i, answer, mu)]
    nearest_rates = np.array([nearest_to(rates, work, i, answer, mu) for i in kinds])
    shares = point.u[: len(nearest_rates)] / point.u[: len(nearest_rates)].sum()
    low = certified(shares, nearest_rates, mu)
    if not time - low <= 2.0 * TOLERANCE * time:
        raise ArithmeticError(f"T* is only known to be between {low:.17g} and {time:.17g}")
    return Optimum(time, low, allocation, shares, nearest_rates)


def nearest_to(rates: Rates, work: Work, i: int, answer: int, means: np.ndarray) -> np.ndarray:
    """A copy of the nearest instance of the i-th kind (see `nearest`)."""
    nearest(rates, work, i, answer, means)
    return work.nearest.copy()


def certified(shares: np.ndarray, alternatives: np.ndarray, means: np.ndarray) -> float:
    """1 / max_a sum_i p_i kl(mu_a, lambda^i_a), which is at most T*."""
    nats = np.zeros(means.shape)
    for share, alternative in zip(shares, alternatives, strict=True):
        pairs = zip(means.ravel(), alternative.ravel(), strict=True)
        nats += share * np.array([bernoulli(*pair) for pair in pairs]).reshape(means.shape)
    return float(1.0 / nats.max())


@lean
def tilted(rate: float, pull: float) -> float:
    """The lambda in [0, 1] with lambda - mu = s lambda (1 - lambda): it grows with the pull s.

    Example:
        >>> tilted(0.3, 0.0), round(tilted(0.5, 1.0), 4)
        (0.3, 0.7071)
    """
    root = math.sqrt(max((1.0 + pull) ** 2 - 4.0 * pull * (1.0 - rate), 0.0))
    if pull <= 1.0:
        return min(2.0 * rate / (1.0 - pull + root), 1.0) if rate > 0.0 else 0.0
    return min((pull - 1.0 + root) / (2.0 * pull), 1.0)


@lean
def nearest(rates: Rates, work: Work, i: int, answer: int, means: np.ndarray) -> bool:
    """Set `work.nearest` to the nearest instance of the i-th kind; whether there is such a kind.

    Args:
        rates, i, answer: as for `displace`.
        work: with positive weights.
        means: (K, L) mu.
    """
    constrained, floor = rates.definitions.constrained, rates.definitions.floor
    k = i - constrained
    for a in range(means.size):
        work.nearest.flat[a] = means.flat[a]
    if k < 0:
        if answer == NO_ARM or floor[i] <= 0.0:
            return False
        work.nearest[answer, i] = floor[i]
        return True
    if k == answer:
        return False
    for l in range(constrained):
        if floor[l] > 1.0 or (floor[l] == 1.0 and means[k, l] < 1.0):
            return False
        work.nearest[k, l] = max(means[k, l], floor[l])
    if answer != NO_ARM:
        swap(rates, work, answer, k, means)
    return True


@lean
def swap(rates: Rates, work: Work, b: int, k: int, means: np.ndarray) -> None:
    """Set the rows of both arms to the nearest rates with k feasible and at least as good as b.

        min sum w kl(mu, lambda)   s.t.  q . lambda_k >= q . lambda_b,  lambda_kl >= floor, l < M.

    With theta the multiplier of the first constraint lambda is `tilted` by -theta q / w and
    theta q / w, and raised to the floor. Its surplus grows with theta: bisection.
    """
    low, high = 0.0, 0.0
    if surplus(rates, work, b, k, means, 0.0) >= 0.0:
        return
    least = work.weights[0]
    for weight in work.weights:
        least = min(least, weight)
    for step in range(MOST_STEPS):
        theta = 0.5 * (low + high) if high > 0.0 else 2.0**step * least
        if theta in (low, high):
            break
        if surplus(rates, work, b, k, means, theta) >= 0.0:
            high = theta
        else:
            low = theta
    surplus(rates, work, b, k, means, high)


@lean
def surplus(rates: Rates, work: Work, b: int, k: int, means: np.ndarray, theta: float) -> float:
    """q . (lambda_k - lambda_b) at a theta, whose rates are set (see `swap`)."""
    q, floor = rates.definitions.weights, rates.definitions.floor
    w, total = table(rates, work.weights), 0.0
    for l in range(q.size):
        of_k = tilted(means[k, l], theta * q[l] / w[k, l])
        if l < rates.definitions.constrained:
            of_k = max(of_k, floor[l])
        work.nearest[b, l] = tilted(means[b, l], -theta * q[l] / w[b, l])
        work.nearest[k, l] = of_k
        total += q[l] * (of_k - work.nearest[b, l])
    return total


@inlined
def table(rates: Rates, flat: np.ndarray) -> np.ndarray:
    """(K L,) numbers as (K, L)."""
    return flat.reshape((rates.n_arms, rates.definitions.weights.size))


unrelated_arms(Rates)


@implements(make_work, Rates)
@jit
def _make_work(rates: Rates) -> Work:
    n_groups = rates.definitions.weights.size
    return Work(np.zeros(rates.variances.size), np.zeros((rates.n_arms, n_groups)))


@implements(pieces, Rates)
@lean
def _pieces(rates: Rates) -> int:
    return rates.definitions.constrained + rates.n_arms


@implements(best_answer, Rates)
@lean
def _best_answer(rates: Rates, means: np.ndarray) -> int:
    q, floor, mu = rates.definitions.weights, rates.definitions.floor, table(rates, means)
    best, highest = NO_ARM, -np.inf
    for k in range(rates.n_arms):
        quality, feasible = 0.0, True
        for l in range(q.size):
            quality += q[l] * mu[k, l]
            feasible &= l >= rates.definitions.constrained or mu[k, l] >= floor[l]
        if feasible and quality > highest:
            best, highest = k, quality
    return best


@implements(displace, Rates)
@lean
def _displace(
    rates: Rates, work: Work, i: int, answer: int, means: np.ndarray, shift: np.ndarray
) -> float:
    if not nearest(rates, work, i, answer, table(rates, means)):
        return np.inf
    cost = 0.0
    for a in range(means.size):
        nats = bernoulli(means[a], work.nearest.flat[a])
        shift[a] = math.copysign(math.sqrt(2.0 * nats), means[a] - work.nearest.flat[a])
        cost += work.weights[a] * nats
    return cost
