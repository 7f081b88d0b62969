"""Strategies that use every reward for the next choice: Fully-Adaptive and LinGapE."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.linear.allocation import (
    ARGMIN_MAX,
    Directions,
    Uncertainty,
    among,
    choose,
    make_uncertainty,
    measure,
    repeats,
    shrink,
)
from bestarm.linear.confidence import Width, radius
from bestarm.linear.least_squares import REFACTOR, Fit, refit
from bestarm.linear.single import pull_singly
from bestarm.linear.static import Leeway, allowed_growth, best_arm

#: A skip interval has at most n / LONGEST_SKIP pulls, which bounds rounding drift and the growth of
#: C(n).
LONGEST_SKIP = 64


@inlined
def pull_each(fit: Fit, means: np.ndarray, cap: int, environment) -> int:
    """Pull every arm once, in order, at most `cap` of them, no refit; return the pulls."""
    n = min(cap, means.size)
    for a in range(n):
        fit.counts[a] += 1.0
        fit.sums[a] += means[a] + environment.standard_normal()
    return n


@inlined
def distances(fit: Fit, pairs: Directions, table: np.ndarray, far: np.ndarray) -> None:
    """Fill (m,) `far` with the normalised distances |y . theta_hat| / ||y|| of pairs of arms.

    ||y||^2 comes from the `table` of an `Uncertainty`; where rounding makes it 0 the distance is 0.
    """
    for i in range(far.size):
        a, b = pairs.first[i], pairs.second[i]
        size = table[a, a] + table[b, b] - 2.0 * table[a, b]
        far[i] = abs(fit.values[a] - fit.values[b]) / math.sqrt(size) if size > 0.0 else 0.0


@inlined
def dominated(
    fit: Fit, pairs: Directions, far: np.ndarray, radius_n: float, beaten: np.ndarray
) -> None:
    """Mark in (K,) `beaten` the arms that another arm dominates, Lemma 4, if C(n) = `radius_n`."""
    beaten[:] = False
    for i in range(far.size):
        if far[i] >= radius_n:
            a, b = pairs.first[i], pairs.second[i]
            beaten[b if fit.values[a] > fit.values[b] else a] = True


@inlined
def find_leeway(
    fit: Fit, pairs: Directions, far: np.ndarray, now: float, later: float, beaten: np.ndarray
) -> Leeway:
    """How far estimates and design may move without a change of `beaten`.

    An arm that is not dominated stays so while its normalised distance to every arm with a higher
    estimate is below `now`, the radius at the start of the skip interval. A dominated arm stays so
    while its distance to the arm that dominates it most exceeds `later`, the radius at its end.
    """
    slack, growth = now, 1.0
    clearest = np.zeros(beaten.size)
    for i in range(far.size):
        a, b = pairs.first[i], pairs.second[i]
        low = b if fit.values[a] > fit.values[b] else a
        if not beaten[low]:
            half = 0.5 * (now - far[i])
            slack = min(slack, half)
            growth = min(growth, allowed_growth(far[i], half))
        clearest[low] = max(clearest[low], far[i])
    for a in range(beaten.size):
        if beaten[a]:
            slack = min(slack, clearest[a] - later)
    return Leeway(slack, growth)


@inlined
def values_from_table(fit: Fit, table: np.ndarray) -> None:
    """Compute the values x . theta_hat as sums of x^T A^-1 x' times the rewards of x'."""
    for a in range(fit.values.size):
        fit.values[a] = 0.0
        for x in range(fit.values.size):
            fit.values[a] += table[a, x] * fit.sums[x]


class Greedy(NamedTuple):
    """A greedy rule and the uncertainty it reduces."""

    directions: Directions  # whose uncertainty is reduced
    uncertainty: Uncertainty
    rule: int  # TWO_STEP or ARGMIN_MAX


@lean
def run_skip_interval(
    fit: Fit,
    means: np.ndarray,
    greedy: Greedy,
    length: np.ndarray,
    linked: np.ndarray,
    leeway: Leeway,
    most: int,
    environment,
) -> int:
    """Pull by the greedy rule until the leeway is used up, at most `most` times; returns the pulls.

    Only the uncertainty is updated; consecutive pulls of one arm, as far as they are certain in
    advance, are one update. (K,) `length` and `linked` are buffers.
    """
    directions, uncertainty, rule = greedy
    values, counts, sums = fit.values, fit.counts, fit.sums
    for a in range(length.size):
        length[a] = math.sqrt(uncertainty.table[a, a])
    moved, grown, over = 0.0, 0.0, False
    n, before = 0, -1
    single = rule == ARGMIN_MAX and uncertainty.sizes.size == 1
    while not over and n < most:
        arm = choose(directions, uncertainty, counts, rule)
        longest = 1
        if arm == before:
            longest = repeats(directions, uncertainty, arm, rule, most - n)
        if single and longest == 1:
            pulls, moved, grown = pull_singly(
                fit,
                means,
                directions,
                uncertainty,
                arm,
                length,
                leeway,
                moved,
                grown,
                most - n,
                linked,
                environment,
            )
            over = not (moved < leeway.slack and grown < leeway.growth)
            n, before = n + pulls, arm
            continue
        pulls = 0
        while not over and pulls < longest:
            reward = means[arm] + environment.standard_normal()
            sums[arm] += reward
            moved += length[arm] * abs(reward - values[arm])
            grown += length[arm] * length[arm]
            over = not (moved < leeway.slack and grown < leeway.growth)
            pulls += 1
        counts[arm] += pulls
        shrink(directions, uncertainty, arm, pulls)
        n, before = n + pulls, arm
    return n


@jit
def run_fully_adaptive(
    fit: Fit,
    means: np.ndarray,
    width: Width,
    pairs: Directions,
    rule: int,
    cap: int,
    environment,
) -> tuple[int, bool]:
    """Fully-Adaptive: before every pull eliminate dominated arms; the greedy rule for the others.

    Section 6: "the fully-adaptive version of XY where X_hat is updated at each round". First every
    arm is pulled once; the run stops when one arm is left. X_hat is rebuilt from all arms. In a
    skip interval the set of dominated arms cannot change. At its end the estimates are computed
    from the updated uncertainty; every REFACTOR pulls and at the end of the run from a new
    factorisation.

    Args:
        fit: without pulls.
        means: (K,) true means of the arms, in units of the noise.
        width: of the confidence intervals.
        pairs: of all arms.
        rule: TWO_STEP or ARGMIN_MAX.
        cap: most pulls.
        environment: numpy Generator of the rewards.

    Returns:
        Pulls, and whether one arm was left.
    """
    n_arms = means.size
    beaten, before = np.zeros(n_arms, np.bool_), np.zeros(n_arms, np.bool_)
    far, length, linked = np.empty(pairs.first.size), np.empty(n_arms), np.empty(n_arms, np.uint64)
    directions, uncertainty = pairs, make_uncertainty(n_arms, far.size)
    n = pull_each(fit, means, cap, environment)
    since = REFACTOR
    while True:
        if since >= REFACTOR:
            refit(fit)
            measure(fit, directions, uncertainty)
            since = 0
        else:
            values_from_table(fit, uncertainty.table)
        last = n + n // LONGEST_SKIP + 1
        distances(fit, pairs, uncertainty.table, far)
        dominated(fit, pairs, far, radius(width, n), beaten)
        alone = beaten.sum() == n_arms - 1
        if alone or n >= cap:
            refit(fit)
            return n, alone
        leeway = find_leeway(fit, pairs, far, radius(width, n), radius(width, last), beaten)
        if (beaten != before).any():
            directions = among(pairs, ~beaten)
            uncertainty = make_uncertainty(n_arms, directions.first.size)
            refit(fit)
            measure(fit, directions, uncertainty)
            before[:] = beaten
            since = 0
        greedy = Greedy(directions, uncertainty, rule)
        pulls = run_skip_interval(
            fit, means, greedy, length, linked, leeway, min(cap, last) - n, environment
        )
        n += pulls
        since += pulls


@inlined
def challenger(
    table: np.ndarray, values: np.ndarray, best: int, radius_n: float
) -> tuple[int, float]:
    """The challenger j of the best arm, and its bound B(t), which LinGapE's stopping rule uses.

    j maximises x_j . theta - x_best . theta + radius_n ||x_j - x_best||, and B(t) is the maximum.
    (K, K) `table` holds x^T A^-1 x' for all arms.
    """
    which, largest = -1, -np.inf
    for a in range(values.size):
        if a != best:
            size = table[a, a] + table[best, best] - 2.0 * table[a, best]
            value = values[a] - values[best] + radius_n * math.sqrt(max(size, 0.0))
            if value > largest:
                which, largest = a, value
    return which, largest


@inlined
def most_informative(table: np.ndarray, a: int, b: int) -> int:
    """LinGapE's greedy rule: the arm whose pull reduces ||x_a - x_b|| most, ties to the lowest."""
    best, most = 0, -1.0
    for x in range(table.shape[0]):
        gain = table[x, a] - table[x, b]
        gain *= gain / (1.0 + table[x, x])
        if gain > most:
            best, most = x, gain
    return best


@inlined
def log_growth(fit: Fit) -> float:
    """log(det(A) / det(ridge I)) from the counts, as a sum of logarithms of pivots."""
    d = fit.theta.size
    a = np.zeros((d, d))
    for i in range(d):
        a[i, i] = fit.ridge
    for x in range(fit.counts.size):
        for i in range(d):
            for j in range(d):
                a[i, j] += fit.counts[x] * fit.arms[x, i] * fit.arms[x, j]
    total = -d * math.log(fit.ridge)
    for k in range(d):
        total += math.log(a[k, k])
        for i in range(k + 1, d):
            factor = a[i, k] / a[k, k]
            for j in range(k, d):
                a[i, j] -= factor * a[k, j]
    return total


@inlined
def ellipsoid(log_det: float, norm: float, delta: float, ridge: float) -> float:
    """The radius sqrt(2 log(det(A)^1/2 det(ridge I)^-1/2 / delta)) + ridge^1/2 ||theta*||."""
    return math.sqrt(log_det + 2.0 * math.log(1.0 / delta)) + math.sqrt(ridge) * norm


@jit
def run_lingape(
    fit: Fit, means: np.ndarray, delta: float, norm: float, cap: int, environment
) -> tuple[int, bool]:
    """LinGapE (Xu, Honda & Sugiyama, AISTATS 2018) with its greedy rule and epsilon = 0.

    One pull of every arm; then, until no challenger may be better than the empirically best arm,
    pull the arm that is most informative about the difference of the two.

    Args:
        fit: without pulls, with a positive ridge.
        means: (K,) true means of the arms, in units of the noise.
        delta: maximum probability of a wrong answer.
        norm: bound on ||theta*||, in units of the noise.
        cap: most pulls.
        environment: numpy Generator of the rewards.

    Returns:
        Pulls, and whether the stopping rule held.
    """
    counts, sums, values = fit.counts, fit.sums, fit.values
    n_arms = means.size
    uncertainty = make_uncertainty(n_arms, 0)
    none = Directions(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    n = pull_each(fit, means, cap, environment)
    log_det = 0.0
    since = REFACTOR
    while True:
        if since == REFACTOR:
            refit(fit)
            measure(fit, none, uncertainty)
            log_det = log_growth(fit)
            since = 0
        best = best_arm(fit)
        other, excess = challenger(
            uncertainty.table, values, best, ellipsoid(log_det, norm, delta, fit.ridge)
        )
        if excess <= 0.0 and n >= n_arms:
            return n, True
        if n >= cap:
            return n, False
        arm = most_informative(uncertainty.table, best, other)
        reward = means[arm] + environment.standard_normal()
        n += 1
        since += 1
        counts[arm] += 1.0
        sums[arm] += reward
        # theta_hat += A^-1 x (r - x . theta_hat) / (1 + x^T A^-1 x), with the A before the pull
        grown = 1.0 + uncertainty.table[arm, arm]
        surprise = (reward - values[arm]) / grown
        for a in range(n_arms):
            values[a] += surprise * uncertainty.table[a, arm]
        log_det += math.log(grown)
        shrink(none, uncertainty, arm)
