"""Runs along a fixed sequence of arms, stopped by the estimated or by the true gaps."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.core.normals import peek, spend, upcoming
from bestarm.linear.confidence import Width, radius
from bestarm.linear.least_squares import Fit, refit, squared_norm

#: Share of the slack below which the drift must be for a skip interval to go on.
RESTART = 0.75


@inlined
def best_arm(fit: Fit) -> int:
    """The arm of highest estimated value; ties go to the lowest index."""
    best = 0
    for a in range(1, fit.values.size):
        if fit.values[a] > fit.values[best]:
            best = a
    return best


@inlined
def stopping_statistic(fit: Fit, best: int) -> float:
    """min over other arms x of (x_best - x) . theta_hat / ||x_best - x|| in the norm of A^-1.

    The stopping rule of Eq. (11) holds if this is at least C(n).
    """
    least = np.inf
    for a in range(fit.values.size):
        if a != best:
            gap = fit.values[best] - fit.values[a]
            least = min(least, gap / math.sqrt(squared_norm(fit.arms, fit.predictors, best, a)))
    return least


@lean
def stopping_rule_holds(fit: Fit, width: Width, n: float) -> bool:
    """Whether one arm dominates all others after n pulls, Eq. (11); `fit` must be up to date."""
    return stopping_statistic(fit, best_arm(fit)) >= radius(width, n)


class Leeway(NamedTuple):
    """The length of a skip interval: no decision can change while D < slack and g < growth.

    After n pulls let

        D = sum of ||x_s||_n |r_s - x_s . theta_hat_n|,   g = sum of ||x_s||_n^2

    over the later pulls s, ||.||_n in the norm of A_n^-1. By the inequality of Cauchy and
    Schwarz, and A_n <= A_t <= (1 + g) A_n, at every later t

        |y . theta_hat_t| <= ||y||_t (sqrt(1 + g) |y . theta_hat_n| / ||y||_n + D).

    So in a skip interval a pull costs one random number and a few additions. D may start again from
    the length of the sum of the x_s (r_s - x_s . theta_hat_n) itself, `drift`, which it bounds.
    """

    slack: float
    growth: float


class Start(NamedTuple):
    """The pulls and sums at the start of a skip interval, and buffers."""

    counts: np.ndarray  # (K,)
    sums: np.ndarray  # (K,)
    moved: np.ndarray  # (d,)
    spare: np.ndarray  # (1,) of `upcoming`


@inlined
def make_start(fit: Fit) -> Start:
    """A `Start` before any skip interval."""
    k, d = fit.arms.shape
    return Start(np.empty(k), np.empty(k), np.empty(d), np.empty(1))


@lean
def begin(start: Start, fit: Fit) -> None:
    """Begin a skip interval. If it is inlined, Numba 0.68 drops it from a loop of permille.py."""
    for a in range(fit.counts.size):
        start.counts[a], start.sums[a] = fit.counts[a], fit.sums[a]


@inlined
def drift(fit: Fit, start: Start) -> float:
    """||sum of x_s (r_s - x_s . theta_hat_n)||_n over the pulls s of a skip interval.

    The terms of a direction mostly cancel, so this grows like the root of D of `Leeway`.
    """
    moved, inverse = start.moved, fit.inverse
    moved[:] = 0.0
    for a in range(fit.counts.size):
        surprise = fit.sums[a] - start.sums[a]
        surprise -= (fit.counts[a] - start.counts[a]) * fit.values[a]
        for i in range(moved.size):
            moved[i] += surprise * fit.arms[a, i]
    square = 0.0
    for i in range(moved.size):
        for j in range(moved.size):
            square += moved[i] * inverse[i, j] * moved[j]
    return math.sqrt(max(square, 0.0))


@inlined
def allowed_growth(near: float, slack: float) -> float:
    """The g with near sqrt(1 + g) = near + slack, or 1 if that is less."""
    if near <= 0.0:
        return 1.0
    return min((1.0 + slack / near) ** 2 - 1.0, 1.0)


@lean
def follow(
    fit: Fit,
    means: np.ndarray,
    sequence: np.ndarray,
    n: int,
    length: np.ndarray,
    leeway: Leeway,
    start: Start,
    environment,
) -> int:
    """Pull along a sequence from index n on, at least once, until it or the leeway ends.

    (K,) `length` holds the norms ||x||_n. Returns the pulls so far.
    """
    counts, sums, values = fit.counts, fit.sums, fit.values
    begin(start, fit)
    moved, grown, over = 0.0, 0.0, False
    while not over and n < sequence.size:
        first, end = upcoming(environment, start.spare)
        used = 0
        for i in range(first, min(end, first + sequence.size - n)):
            arm = sequence[n + used]
            reward = means[arm] + peek(environment, start.spare, i)
            used += 1
            counts[arm] += 1.0
            sums[arm] += reward
            moved += length[arm] * abs(reward - values[arm])
            grown += length[arm] * length[arm]
            over = not (moved < leeway.slack and grown < leeway.growth)
            if over:
                break
        spend(environment, used)
        n += used
        if over and grown < leeway.growth:
            moved = drift(fit, start)
            over = not moved < RESTART * leeway.slack
    return n


@jit
def run_static(
    fit: Fit,
    means: np.ndarray,
    width: Width,
    sequence: np.ndarray,
    n_initial: int,
    n: int,
    environment,
) -> tuple[int, bool]:
    """Pull along a sequence from index n on until Eq. (11) holds or the sequence ends.

    The result is that of testing the rule at every pull, but it is evaluated only where it could
    hold. Let z be the `stopping_statistic` of the best arm a to its challenger b after n pulls.
    While z sqrt(1 + g) + D < C(n) <= C(t), with D and g of `Leeway`, neither of a and b dominates
    the other, and no third arm, which was below a after n pulls, dominates a, so the run cannot
    stop. Half of C(n) - z is allotted to each of the two terms.

    Args:
        fit: with the pulls so far.
        means: (K,) true means of the arms, in units of the noise.
        width: of the confidence intervals.
        sequence: arms to pull.
        n_initial: pulls before which the rule is not tested; the first `n_initial` arms span R^d.
        n: pulls so far.
        environment: numpy Generator of the rewards.

    Returns:
        Pulls, and whether the rule held; if not, call again with a longer sequence.
    """
    length = np.empty(means.size)
    start = make_start(fit)
    while n < sequence.size:
        leeway = Leeway(0.0, 0.0)
        if n >= n_initial:
            refit(fit)
            near, radius_n = stopping_statistic(fit, best_arm(fit)), radius(width, n)
            if near >= radius_n:
                return n, True
            slack = 0.5 * (radius_n - near)
            leeway = Leeway(slack, allowed_growth(near, slack))
            for a in range(means.size):
                length[a] = math.sqrt(squared_norm(fit.arms, fit.predictors, a, -1))
        n = follow(fit, means, sequence, n, length, leeway, start, environment)
    refit(fit)
    return n, n >= n_initial and stopping_rule_holds(fit, width, n)


@jit
def draw_sums(fit: Fit, means: np.ndarray, normals: np.ndarray) -> None:
    """Draw the sums of rewards of all counted pulls, one Gaussian per arm, and refit."""
    for a in range(means.size):
        fit.sums[a] = fit.counts[a] * means[a] + math.sqrt(fit.counts[a]) * normals[a]
    refit(fit)


@lean
def true_gap_statistic(fit: Fit, means: np.ndarray) -> float:
    """min over y = x* - x of Delta(y) / ||y||: Eq. (4) holds if it is at least C(n)."""
    best = int(np.argmax(means))
    least = np.inf
    for a in range(means.size):
        if a != best:
            length = math.sqrt(squared_norm(fit.arms, fit.predictors, best, a))
            least = min(least, (means[best] - means[a]) / length)
    return least


@jit
def true_gaps_hold(
    fit: Fit, means: np.ndarray, width: Width, sequence: np.ndarray, n_initial: int, n: int
) -> int:
    """The smallest number of pulls along the sequence, from n on, with Eq. (4) true; 0 if none.

    Eq. (4): C(n) ||y|| <= Delta(y) for every y = x* - x. ||y|| falls and C(n) rises with n, so the
    rule is evaluated again only when C(n) ||y|| / Delta(y) of the y for which it failed most could
    have fallen to 1: ||y||_t^2 >= ||y||_n^2 / (1 + g), see `Leeway`.
    """
    n_arms = means.size
    length = np.empty(n_arms)
    while True:
        growth = 0.0
        if n >= n_initial:
            refit(fit)
            near, radius_n = true_gap_statistic(fit, means), radius(width, n)
            if near >= radius_n:
                return n
            growth = (radius_n / near) ** 2 - 1.0
            for a in range(n_arms):
                length[a] = squared_norm(fit.arms, fit.predictors, a, -1)
        if n >= sequence.size:
            return 0
        grown = 0.0
        while n < sequence.size:
            arm = sequence[n]
            fit.counts[arm] += 1.0
            n += 1
            if n <= n_initial:
                break
            grown += length[arm]
            if grown >= growth:
                break
