"""E-values against "arm k is feasible and at least as good as the answer b", of rates.

As pairs.py, for rewards from 0 to 1 and by the bets of core/bets.py, which need neither sigma 1/2
nor a bound on the rates. Of each ordered pair (b, k) are kept

    W = sum of c by coordinate,   Z = sum of c m,   l(x),

with means and centres less the floor. If lambda is an instance in which k is feasible and at
least as good as b, then G . lambda <= 0 for every G of the polar cone

    G_b = theta q,   G_k = -theta q - s,   theta >= 0,  s_l >= 0 for l < M,  s_l = 0 else,

so that W . lambda <= (W - G) . lambda, which is at most U, the least over G of its maximum over a
box that holds the means. docs/guarantees.md has the proof.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.baics.alternatives import NO_ARM, Problem, nearest_swap
from bestarm.baics.pairs import GROWTH, HORIZON, Buffers
from bestarm.core.anytime import BERNOULLI_SIGMA, beta_interval
from bestarm.core.bets import FRACTIONS, LARGEST, add_bet, largest_product, log_wealth
from bestarm.core.compile import jit, lean

#: Both parameters of the prior of the box of means.
BOX_PRIOR = 0.5
#: Coefficients are scaled so that the best fraction is this many times the least possible, which
#: leaves them room to grow where W has to be mended.
ROOM = 2.0
#: Swaps until the nearest instance has the variances that it was found with.
SWAPS = 4


class Bets(NamedTuple):
    """The sums of every ordered pair, the bets on the next pulls, and a box of means."""

    wealth: np.ndarray  # (K, K, n) l of the pair (b, k)
    moved: np.ndarray  # (K, K, 2, L) W: of b's coordinates, then of k's
    centred: np.ndarray  # (K, K) Z
    coefficients: np.ndarray  # (K, 2, L) c for the planned answer and challenger k
    centres: np.ndarray  # (K, 2, L) m likewise, of rewards not less the floor
    low: np.ndarray  # (K, L) the box of all means when bets were last due, less the floor
    high: np.ndarray  # (K, L)
    planned: np.ndarray  # (1,) the answer that bets are for, or NO_ARM
    next_plan: np.ndarray  # (1,) pulls at which they are planned anew


@jit
def make_bets(n_arms: int, n_groups: int) -> Bets:
    """Empty sums, and no bets yet; the box is set before the first one."""
    shape = (n_arms, n_arms)
    return Bets(
        wealth=np.zeros((n_arms, n_arms, FRACTIONS.size)),
        moved=np.zeros((n_arms, n_arms, 2, n_groups)),
        centred=np.zeros(shape),
        coefficients=np.zeros((n_arms, 2, n_groups)),
        centres=np.zeros((n_arms, 2, n_groups)),
        low=np.zeros((n_arms, n_groups)),
        high=np.zeros((n_arms, n_groups)),
        planned=np.full(1, NO_ARM),
        next_plan=np.zeros(1, np.int64),
    )


@lean
def record_bets(
    bets: Bets, floor: np.ndarray, arm: int, l: int, pulls: float, total: float
) -> None:
    """Add pulls of an arm on subpopulation l to the pairs of the planned answer.

    Args:
        bets: changed in place.
        floor: (L,) least means.
        arm, l: of all pulls.
        pulls: how many.
        total: the sum of their rewards, not less the floor.
    """
    b = bets.planned[0]
    if b == NO_ARM:
        return
    row = 0 if arm == b else 1
    for k in range(bets.centred.shape[0]):
        if k != b and arm in (b, k):
            c, m = bets.coefficients[k, row, l], bets.centres[k, row, l]
            bets.moved[b, k, row, l] += pulls * c
            bets.centred[b, k] += pulls * c * (m - floor[l])
            add_bet(bets.wealth[b, k], c, m, pulls, total)


@lean
def bound_means(
    bets: Bets, log_inverse: float, pulls: np.ndarray, means: np.ndarray, floor: np.ndarray
) -> None:
    """Set the box: an interval that holds each mean at all times, with its own share of delta.

    Args:
        bets: changed in place.
        log_inverse: ln(1/delta) of each interval.
        pulls, means: (K, L) N and mu^, above the floor and in units of BERNOULLI_SIGMA.
        floor: (L,).
    """
    for k in range(pulls.shape[0]):
        for l in range(floor.size):
            low, high = 0.0, 1.0
            if pulls[k, l] > 0.0:
                rate = min(max(floor[l] + BERNOULLI_SIGMA * means[k, l], 0.0), 1.0)
                s, f = pulls[k, l] * rate, pulls[k, l] * (1.0 - rate)
                low, high = beta_interval(log_inverse, s, f, BOX_PRIOR, BOX_PRIOR)
            bets.low[k, l], bets.high[k, l] = low - floor[l], high - floor[l]


@lean
def shrunk_rate(count: float, rate: float) -> float:
    """(s + 1/2) / (N + 1), which is neither 0 nor 1."""
    return (count * rate + 0.5) / (count + 1.0)


@lean
def inside(count: float, rate: float) -> float:
    """The rate, at least as far from 0 and 1 as any `shrunk_rate` of so many pulls."""
    least = 0.5 / (count + 1.0)
    return min(max(rate, least), 1.0 - least)


@lean
def nearest_rates(
    pulls: np.ndarray, means: np.ndarray, problem: Problem, b: int, k: int, buffers: Buffers
) -> None:
    """The rates nearest to the shrunk ones in which k is feasible and at least as good as b.

        min sum N kl(mu, lambda)   s.t.  q . lambda_k >= q . lambda_b,  lambda_kl >= floor, l < M.

    d kl(mu, lambda) = (lambda - mu) / (lambda (1 - lambda)) d lambda, so the minimiser is that of
    the squares with weights N / (lambda (1 - lambda)) at itself: swaps, each with the variances of
    the one before.

    Args:
        pulls, means: (K, L) N, less than one pull counts as one, and mu^.
        problem: with a floor.
        b, k: the answer and the challenger.
        buffers: overwritten, the rows of both arms: means with mu less the floor, weights with
            N / (lambda (1 - lambda)), shift with mu - lambda.
    """
    floor = problem.floor
    for arm in (b, k):
        for l in range(floor.size):
            count, rate = max(pulls[arm, l], 1.0), floor[l] + BERNOULLI_SIGMA * means[arm, l]
            shrunk = shrunk_rate(count, rate)
            buffers.means[arm, l] = shrunk - floor[l]
            buffers.weights[arm, l] = count / (shrunk * (1.0 - shrunk))
    for _ in range(SWAPS):
        nearest_swap(buffers.weights, buffers.means, problem, b, k, buffers.shift)
        for row, arm in enumerate((b, k)):
            for l in range(floor.size):
                count = max(pulls[arm, l], 1.0)
                rate = inside(count, floor[l] + buffers.means[arm, l] - buffers.shift[row, l])
                buffers.weights[arm, l] = count / (rate * (1.0 - rate))


@lean
def plan_bets(
    bets: Bets,
    log_inverse: float,
    clock: int,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    b: int,
    buffers: Buffers,
) -> None:
    """Choose the bets on the next pulls, if they are due, and the box with them.

    Centres are the rates lambda of `nearest_rates`. With v = lambda (1 - lambda) the best stakes
    x c are (mu^ - lambda) / v: l is then the log likelihood ratio of mu^ to lambda, and W is in the
    cone if they were the same from the first pull. They were not, so for DN = HORIZON N more
    pulls coefficients are the solution of

        max_c  x sum DN c mu^ - x^2 / 2 sum DN v c^2   s.t.  W + DN c in the cone.

    Its dual is the swap at weights DN / v and means mu^ + x W v / DN: with shift to its solution,
    c = shift / (x v) - W / DN. The fraction x is ROOM times the least at which c may be these, but
    in FRACTIONS.

    Args:
        bets: changed in place.
        log_inverse: as for `bound_means`.
        clock: pulls so far.
        pulls, means, problem, buffers: as for `nearest_rates`.
        b: the answer.
    """
    due = clock >= bets.next_plan[0]
    if b == NO_ARM or (b == bets.planned[0] and not due):
        return
    if due:
        bound_means(bets, log_inverse, pulls, means, problem.floor)
    bets.planned[0], bets.next_plan[0] = b, int(GROWTH * clock) + 1
    for k in range(pulls.shape[0]):
        if k != b:
            nearest_rates(pulls, means, problem, b, k, buffers)
            _plan_pair(bets, pulls, problem, b, k, buffers)


@lean
def _plan_pair(
    bets: Bets, pulls: np.ndarray, problem: Problem, b: int, k: int, buffers: Buffers
) -> None:
    """The bets of a pair, given what `nearest_rates` left (see `plan_bets`)."""
    moved, coefficients, centres = bets.moved[b, k], bets.coefficients[k], bets.centres[k]
    largest = 0.0
    for row, arm in enumerate((b, k)):
        for l in range(problem.floor.size):
            nearest = problem.floor[l] + buffers.means[arm, l] - buffers.shift[row, l]
            m = inside(max(pulls[arm, l], 1.0), nearest)
            centres[row, l] = m
            stake = buffers.shift[row, l] / (m * (1.0 - m))
            largest = max(largest, stake * m, -stake * (1.0 - m))
    if not largest > 0.0:
        coefficients[:] = 0.0
        return
    x = min(ROOM * largest, LARGEST)
    for row, arm in enumerate((b, k)):
        for l in range(problem.floor.size):
            more = HORIZON * max(pulls[arm, l], 1.0)
            v = centres[row, l] * (1.0 - centres[row, l])
            buffers.weights[arm, l] = more / v
            buffers.means[arm, l] += x * moved[row, l] * v / more
    nearest_swap(buffers.weights, buffers.means, problem, b, k, buffers.shift)
    for row, arm in enumerate((b, k)):
        for l in range(problem.floor.size):
            m, more = centres[row, l], HORIZON * max(pulls[arm, l], 1.0)
            c = buffers.shift[row, l] / (x * m * (1.0 - m)) - moved[row, l] / more
            coefficients[row, l] = min(max(c, -1.0 / (1.0 - m)), 1.0 / m)


@lean
def upper_bound(bets: Bets, problem: Problem, b: int, k: int) -> float:
    """U >= W . lambda for every lambda of the box with k feasible and as good as b.

        U = min over G in the cone of  max (W - G) . mu over the box.

    Any G of the cone gives a valid bound. For a theta the best s_l make W - G on (k, l) 0 or more
    if the box reaches below the floor there, and are 0 else. In theta the bound is convex and
    linear between the points at which a coordinate of W - G is 0: the best of them is a minimum,
    unless the box holds no such lambda.

    Args:
        bets: the sums, and the box.
        problem: weights q and number of constrained subpopulations M.
        b, k: the answer and the challenger.
    """
    moved = bets.moved[b, k]
    best = _bound_at(0.0, bets, problem, b, k)
    for l in range(problem.weights.size):
        if problem.weights[l] > 0.0:
            for theta in (moved[0, l] / problem.weights[l], -moved[1, l] / problem.weights[l]):
                if theta > 0.0:
                    best = min(best, _bound_at(theta, bets, problem, b, k))
    return best


@lean
def _bound_at(theta: float, bets: Bets, problem: Problem, b: int, k: int) -> float:
    """The bound of a theta (see `upper_bound`)."""
    value = 0.0
    for l in range(problem.weights.size):
        of_b = bets.moved[b, k, 0, l] - theta * problem.weights[l]
        of_k = bets.moved[b, k, 1, l] + theta * problem.weights[l]
        if l < problem.constrained and bets.low[k, l] < 0.0:
            of_k = max(of_k, 0.0)
        value += largest_product(of_b, bets.low[b, l], bets.high[b, l])
        value += largest_product(of_k, bets.low[k, l], bets.high[k, l])
    return value


@lean
def log_bets(bets: Bets, problem: Problem, b: int, k: int) -> float:
    """ln of the mixture of a pair's bets, at U.

    Returns:
        0 before the first bet.
    """
    slack = bets.centred[b, k] - upper_bound(bets, problem, b, k)
    return log_wealth(bets.wealth[b, k], slack)


@lean
def box_level(level: float, n_groups: int, share: float) -> float:
    """ln(1/delta) of each of the 2 L intervals of a pair that share `share` of exp(-level)."""
    return level + math.log(2.0 * n_groups / share)
