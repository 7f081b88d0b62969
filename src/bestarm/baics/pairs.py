"""E-values against "arm k is feasible and at least as good as the answer b", in one dimension.

A mixture over all 2 L means of two arms pays for every one of them. But how the nearest such
instance differs from the truth is one direction, which can be learnt: every pull gets a
coefficient c, fixed before its reward. Of each ordered pair (b, k) are kept

    W = sum of c by coordinate,   Y = sum of c X,   Q = sum of c^2.

If lambda is the truth, exp(x (W . lambda - Y) - x^2 Q / 2) is a supermartingale for every x. If it
is one in which k is feasible and at least as good as b, then G . lambda >= 0 for every G of the
dual cone

    G_b = -theta q_b,   G_k = theta q_k + s,   theta >= 0,  s_l >= 0 for l < M,  s_l = 0 else,

with q_kl = q_l sigma_kl, so that W . lambda >= (W - G) . lambda: of the means only what W lacks of
a G of the cone has to be known, and coefficients are chosen so that this is little.

If sigma is unknown, Q is sum c^2 sigma^2, of which the e-value takes an upper bound: with
sum c^2 by coordinate and `variance_bound`. docs/guarantees.md has the proofs.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.baics.alternatives import NO_ARM, Problem, nearest_swap, scaled
from bestarm.core.anytime import mixture_threshold, shrunk_counts, variance_bound
from bestarm.core.compile import jit, lean

#: n0 of the ellipsoid that holds the means, in pulls.
PRIOR_PULLS = 100.0
#: Coefficients aim at a W in the cone after this much more of every coordinate's pulls.
HORIZON = 0.1
#: Coefficients are at most this large; their mean square is about 1.
LARGEST = 3.0
#: They are planned anew when pulls have grown by this factor, and when the answer changes.
GROWTH = 1.03
#: Rewards that the pooled variance is worth beside an empirical one.
PRIOR_FREEDOM = 10.0
#: Solutions for U; the first weighs what W lacks so much that G is W's projection.
ROUNDS, PROJECTION = 3, 1e3


class Pairs(NamedTuple):
    """The sums of every ordered pair, and the coefficients of the next pulls."""

    moved: np.ndarray  # (K, K, 2, L) W of the pair (b, k): of b's coordinates, then of k's
    drift: np.ndarray  # (K, K) Y
    variance: np.ndarray  # (K, K) sum c^2, which is Q if sigma is known
    squares: np.ndarray  # (K, K, 2, L) sum of c^2 by coordinate, if sigma is unknown: else of none
    sizes: np.ndarray  # (K, K) sum of |c|, likewise
    estimated: np.ndarray  # (K, L) sigma^2 of rewards, for the choice of coefficients
    bounds: np.ndarray  # (K, L) at least sigma^2, for e-values
    coefficients: np.ndarray  # (K, 2, L) c for the planned answer and challenger k
    planned: np.ndarray  # (1,) the answer that coefficients are for, or NO_ARM
    next_plan: np.ndarray  # (1,) pulls at which they are planned anew


class Buffers(NamedTuple):
    """A swap of two arms alone."""

    weights: np.ndarray  # (K, L), of which the rows of both arms are used
    means: np.ndarray  # (K, L), likewise
    shift: np.ndarray  # (2, L)


@jit
def make_pairs(n_arms: int, n_groups: int, unknown: bool = False) -> Pairs:
    """Empty sums, and no coefficients yet; sigma is 1, or unknown."""
    n_unknown = n_arms if unknown else 0
    return Pairs(
        moved=np.zeros((n_arms, n_arms, 2, n_groups)),
        drift=np.zeros((n_arms, n_arms)),
        variance=np.zeros((n_arms, n_arms)),
        squares=np.zeros((n_unknown, n_unknown, 2, n_groups)),
        sizes=np.zeros((n_unknown, n_unknown)),
        estimated=np.ones((n_arms, n_groups)),
        bounds=np.full((n_arms, n_groups), np.inf if unknown else 1.0),
        coefficients=np.zeros((n_arms, 2, n_groups)),
        planned=np.full(1, NO_ARM),
        next_plan=np.zeros(1, np.int64),
    )


@lean
def record_pairs(pairs: Pairs, arm: int, l: int, reward: float) -> None:
    """Add a reward of an arm on subpopulation l to the pairs of the planned answer."""
    b = pairs.planned[0]
    if b == NO_ARM:
        return
    row = 0 if arm == b else 1
    for k in range(pairs.drift.shape[0]):
        if k != b and arm in (b, k):
            c = pairs.coefficients[k, row, l]
            pairs.moved[b, k, row, l] += c
            pairs.drift[b, k] += c * reward
            pairs.variance[b, k] += c * c
            if pairs.squares.size:
                pairs.squares[b, k, row, l] += c * c
                pairs.sizes[b, k] += abs(c)


@lean
def bound_variances(
    pairs: Pairs, log_inverse: float, pulls: np.ndarray, scatter: np.ndarray, rounding: float
) -> None:
    """Set `bounds`, which hold at all times at once, so that none grows; and `estimated`.

    The latter are empirical variances, shrunk to the pooled one as by PRIOR_FREEDOM more rewards.

    Args:
        pairs: changed in place.
        log_inverse: ln(1/delta) of each bound.
        pulls: (K, L) N.
        scatter: (K, L) sum (X - mean)^2.
        rounding: of the rewards, or 0.
    """
    pooled = scatter.sum() / max(pulls.sum() - pulls.size, 1.0) + rounding * rounding
    for k in range(pulls.shape[0]):
        for l in range(pulls.shape[1]):
            count = pulls[k, l]
            bound = variance_bound(log_inverse, scatter[k, l], count, rounding)
            pairs.bounds[k, l] = min(pairs.bounds[k, l], bound)
            total = scatter[k, l] + PRIOR_FREEDOM * pooled
            pairs.estimated[k, l] = total / (max(count - 1.0, 0.0) + PRIOR_FREEDOM)


@lean
def pair_variance(pairs: Pairs, b: int, k: int) -> float:
    """Q, or if sigma is unknown a bound of it; infinite if there is none yet.

    A coordinate whose pulls all had coefficient 0, such as one of weight 0 without a minimum, needs
    no bound.
    """
    if pairs.squares.size == 0:
        return pairs.variance[b, k]
    total = 0.0
    for row, arm in enumerate((b, k)):
        for l in range(pairs.bounds.shape[1]):
            squares, bound = pairs.squares[b, k, row, l], pairs.bounds[arm, l]
            if not bound > 0.0 or (bound == np.inf and squares > 0.0):
                return np.inf
            if squares > 0.0:
                total += squares * bound
    return total


@lean
def plan(
    pairs: Pairs,
    clock: int,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    b: int,
    buffers: Buffers,
) -> None:
    """Choose the coefficients of the next pulls, if they are due.

    With n pulls of the two arms and F = swap_k(N) the tilt is x = sqrt(F / n), so that
    coefficients have mean square 1 if the nearest instance stays the same. For DN = HORIZON N more
    pulls they are the solution of

        max_c  -x sum DN c mu^ - x^2 / 2 sum DN c^2   s.t.  W + DN c in the cone,

    the growth of the exponent at the estimated means. Its dual is the swap at weights DN and means
    mu^ - x W / DN: with mu^ - x W / DN - lambda the shift to its solution, c = -shift / x - W / DN.
    If sigma is unknown, this is all in units of the `estimated` one of each coordinate.

    Args:
        pairs: changed in place.
        clock: pulls so far.
        pulls, means: (K, L) N, less than one pull counts as one, and mu^.
        problem: weights q and number of constrained subpopulations M.
        b: the answer.
        buffers: overwritten.
    """
    if b == NO_ARM or (b == pairs.planned[0] and clock < pairs.next_plan[0]):
        return
    pairs.planned[0], pairs.next_plan[0] = b, int(GROWTH * clock) + 1
    for k in range(pulls.shape[0]):
        if k == b:
            continue
        total = pulls[b].sum() + pulls[k].sum()
        for arm in (b, k):
            for l in range(problem.weights.size):
                buffers.weights[arm, l] = pulls[arm, l] / pairs.estimated[arm, l]
        cost = nearest_swap(buffers.weights, means, problem, b, k, buffers.shift)
        tilt = math.sqrt(cost / total)
        moved, coefficients = pairs.moved[b, k], pairs.coefficients[k]
        if not tilt > 0.0:
            coefficients[:] = 0.0
            continue
        for row, arm in enumerate((b, k)):
            for l in range(problem.weights.size):
                more = HORIZON * max(float(pulls[arm, l]), 1.0) / pairs.estimated[arm, l]
                buffers.weights[arm, l] = more
                buffers.means[arm, l] = means[arm, l] - tilt * moved[row, l] / more
        nearest_swap(buffers.weights, buffers.means, problem, b, k, buffers.shift)
        for row, arm in enumerate((b, k)):
            for l in range(problem.weights.size):
                c = -buffers.shift[row, l] / tilt - moved[row, l] / buffers.weights[arm, l]
                largest = LARGEST / math.sqrt(pairs.estimated[arm, l])
                c /= pairs.estimated[arm, l]
                coefficients[row, l] = min(max(c, -largest), largest)


@lean
def point_of_cone(problem: Problem, b: int, k: int, buffers: Buffers) -> None:
    """Overwrite the shift of a swap with G = -w shift, from its multipliers.

    The shift is a difference of means and loses digits where they are large; theta q and
    max(theta q, -w mu), which are -w shift too, do not: they are in the cone at any means.

    Args:
        problem: weights q and number of constrained subpopulations M.
        b, k: the answer and the challenger.
        buffers: of `nearest_swap`; its shift is overwritten with G.
    """
    largest = int(np.argmax(problem.weights))
    q = scaled(problem.scale, b, largest, problem.weights[largest])
    theta = buffers.weights[b, largest] * buffers.shift[0, largest] / q
    for l in range(problem.weights.size):
        buffers.shift[0, l] = -theta * scaled(problem.scale, b, l, problem.weights[l])
        buffers.shift[1, l] = theta * scaled(problem.scale, k, l, problem.weights[l])
        if l < problem.constrained:
            raised = -buffers.weights[k, l] * buffers.means[k, l]
            buffers.shift[1, l] = max(buffers.shift[1, l], raised)


@lean
def lower_bound(
    pairs: Pairs,
    log_inverse: float,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    b: int,
    k: int,
    buffers: Buffers,
    rounding: float = 0.0,
) -> float:
    """U <= W . lambda - Y for every lambda with k feasible and as good as b, near enough to mu^.

        U = max over G in the cone of  -Y + R . mu^ - sqrt(2 beta sum R^2 / N'),   R = W - G,

    where sum N' (mu^ - lambda)^2 / 2 <= beta defines near enough (`mixture_threshold`, over the
    coordinates of both arms). Any G of the cone gives a valid bound. With nu / 2 sum R^2 / N' in
    place of the root, the best G is -w shift of the swap at weights w = N' / nu and means
    mu^ - nu W / N'. A few rounds find the nu = sqrt(2 beta / sum R^2 / N') at which both agree.

    Args:
        pairs: the sums.
        log_inverse: ln(1/delta) of the ellipsoid's share.
        pulls, means, problem: as for `plan`.
        b, k: the answer and the challenger.
        buffers: overwritten.
    """
    moved = pairs.moved[b, k]
    beta = mixture_threshold(log_inverse, pulls[b], PRIOR_PULLS)
    beta = mixture_threshold(beta, pulls[k], PRIOR_PULLS)
    best, nu = -math.inf, PROJECTION
    for _ in range(ROUNDS):
        for row, arm in enumerate((b, k)):
            for l in range(problem.weights.size):
                shrunk = shrunk_counts(pulls[arm, l], PRIOR_PULLS) / pairs.bounds[arm, l]
                buffers.weights[arm, l] = shrunk / nu
                buffers.means[arm, l] = means[arm, l]
                if shrunk > 0.0:
                    buffers.means[arm, l] -= nu * moved[row, l] / shrunk
        nearest_swap(buffers.weights, buffers.means, problem, b, k, buffers.shift)
        point_of_cone(problem, b, k, buffers)
        value, spread, size = -pairs.drift[b, k], 0.0, 0.0
        for row, arm in enumerate((b, k)):
            for l in range(problem.weights.size):
                weight = buffers.weights[arm, l]
                lacking = moved[row, l] - buffers.shift[row, l]
                value += lacking * means[arm, l]
                size += abs(lacking)
                if lacking != 0.0:
                    spread += lacking * lacking / (nu * weight)
        if rounding > 0.0:
            value -= 0.5 * rounding * (pairs.sizes[b, k] + size)
        best = max(best, value - math.sqrt(2.0 * beta * spread))
        if not spread > 0.0:
            break
        nu = math.sqrt(2.0 * beta / spread)
    return best
