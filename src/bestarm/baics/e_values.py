"""E-values against every other answer: stopping rules that are proved (docs/guarantees.md).

A rule stops when its e-value against each kind of alternative to the current answer exceeds
K / delta. E-values are supermartingales of core/anytime.py under every instance of that kind, or
smaller, and an answer that is wrong has one kind, fixed by the truth, that holds the truth: so K
such kinds, one per wrong answer, share delta. Kinds are numbered as in `alternative_cost`.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.baics.alternatives import NO_ARM, Problem, nearest_swap, worst_violation
from bestarm.baics.bets import Bets, box_level, log_bets, make_bets, plan_bets, record_bets
from bestarm.baics.pairs import (
    Buffers,
    Pairs,
    bound_variances,
    lower_bound,
    make_pairs,
    pair_variance,
    plan,
    record_pairs,
)
from bestarm.core.anytime import (
    BERNOULLI_SIGMA,
    beta_log,
    half_normal_log,
    mixture_threshold,
    shrunk_counts,
    t_radius,
    variance_bound,
)
from bestarm.core.compile import jit, lean

#: Stopping rules: the paper's, which is not proved; the proved ones: mixtures over all coordinates,
#: and over the one direction that matters; and that with bounds of all variances, sigma unknown,
#: beside t-mixtures of single coordinates.
GLR, MIXTURE, DIRECTED, UNKNOWN = range(4)
#: n0 of the mixtures over all coordinates, in pulls.
PRIOR_PULLS = 100.0
#: n1 of the one-sided mixtures of single arms (n0 of t-mixtures, a + b of Beta mixtures) and of
#: pairs, in pulls.
MEAN_WEIGHT, PAIR_WEIGHT = 10.0, 100.0
#: Levels above which an e-value counts as infinite, and bisections to rounding, of `log_unknown`.
HIGHEST, BISECTIONS = 1e9, 60
#: Share of delta for the ellipsoid of a pair, and for its box if rewards are from 0 to 1; and share
#: of its e-value for "k is infeasible".
ELLIPSOID, BOX, INFEASIBLE = 0.02, 0.02, 0.1
#: With sigma unknown: share of delta for the bounds of variances, and for the t-intervals.
VARIANCES, INTERVALS = 0.3, 0.1
#: Bound of a variance over its estimate up to which it is of little use.
LOOSE = 14.0


class EValues(NamedTuple):
    """What the rules of this module keep, and buffers; arrays are changed in place."""

    failed: np.ndarray  # (1,) kind of alternative that was last found too near to stop
    pairs: Pairs  # of DIRECTED and UNKNOWN: else of no arms
    bets: Bets  # of DIRECTED and rewards from 0 to 1, in place of `pairs`
    below: np.ndarray  # (K,) of DIRECTED: -sum c X of an arm, with c on what looks below 0
    variance: np.ndarray  # (K,) sum c^2
    scatter: np.ndarray  # (K, L) sum (X - mean)^2, of UNKNOWN: else (0, L)
    rounding: np.ndarray  # (1,) what rewards are rounded to, of UNKNOWN; 0 if they are not
    buffers: Buffers


@jit
def make_e_values(n_arms: int, n_groups: int, stopping: int, rates: bool = False) -> EValues:
    """No e-values yet; `rates` says whether rewards are from 0 to 1."""
    pairs, n_directed = (n_arms, n_groups), n_arms if stopping == DIRECTED else 0
    n_paired = 0 if rates else n_arms if stopping == UNKNOWN else n_directed
    return EValues(
        failed=np.zeros(1, np.int64),
        pairs=make_pairs(n_paired, n_groups, stopping == UNKNOWN),
        bets=make_bets(n_directed if rates else 0, n_groups),
        below=np.zeros(n_directed),
        variance=np.zeros(n_directed),
        scatter=np.zeros((n_arms if stopping == UNKNOWN else 0, n_groups)),
        rounding=np.zeros(1),
        buffers=Buffers(np.zeros(pairs), np.zeros(pairs), np.zeros((2, n_groups))),
    )


@lean
def log_mixture(
    i: int, pulls: np.ndarray, means: np.ndarray, problem: Problem, best: int, buffers: Buffers
) -> float:
    """ln of the mixture against the i-th kind of alternative.

        1/2 min_lambda sum N' (mu^ - lambda)^2 - 1/2 sum ln(1 + N / n0),   N' = N^2 / (N + n0),

    over the instances lambda of that kind and the coordinates that may differ from mu^ in them:
    the GLR statistic with N' in place of N, less the mixing cost of so many means.

    Args:
        i: 0 <= i < M + K.
        pulls, means: (K, L) N and mu^.
        problem: weights q and number of constrained subpopulations M.
        best: the answer, or NO_ARM.
        buffers: overwritten.

    Returns:
        Infinite if there is no such alternative.
    """
    k = i - problem.constrained
    if k < 0:
        if best == NO_ARM:
            return np.inf
        cost = shrunk_counts(pulls[best, i], PRIOR_PULLS) * means[best, i] ** 2
        return 0.5 * cost - mixture_threshold(0.0, pulls[best, i : i + 1], PRIOR_PULLS)
    if best == NO_ARM:
        cost = 0.0
        for l in range(problem.constrained):
            if means[k, l] < 0.0:
                cost += shrunk_counts(pulls[k, l], PRIOR_PULLS) * means[k, l] ** 2
        return 0.5 * cost - mixture_threshold(0.0, pulls[k, : problem.constrained], PRIOR_PULLS)
    if k == best:
        return np.inf
    for arm in (best, k):
        for l in range(problem.weights.size):
            buffers.weights[arm, l] = shrunk_counts(pulls[arm, l], PRIOR_PULLS)
            buffers.means[arm, l] = means[arm, l]
    cost = nearest_swap(buffers.weights, buffers.means, problem, best, k, buffers.shift)
    mixed_over_answer = mixture_threshold(0.0, pulls[best], PRIOR_PULLS)
    return 0.5 * cost - mixture_threshold(mixed_over_answer, pulls[k], PRIOR_PULLS)


@lean
def record(
    e_values: EValues, arm: int, l: int, reward: float, means: np.ndarray, problem: Problem
) -> None:
    """Add a reward of an arm on subpopulation l to the sums of DIRECTED.

    Of rewards from 0 to 1 these are the bets alone. Else, for "the arm is infeasible" a pull's
    coefficient is how far below 0 the mean of its subpopulation looks, over the same of the arm's
    worst: at least 0, so that -sum c X is at most -sum c (X - lambda) if all lambda_l >= 0, l < M.

    Args:
        e_values: changed in place.
        arm, l, reward: the pull.
        means: (K, L) mu^ before it.
        problem: its floor, and M.
    """
    if problem.floor.size:
        told = problem.floor[l] + BERNOULLI_SIGMA * reward
        record_bets(e_values.bets, problem.floor, arm, l, 1.0, told)
        return
    record_pairs(e_values.pairs, arm, l, reward)
    if l < problem.constrained and means[arm, l] < 0.0:
        c = -means[arm, l] / worst_violation(means[arm], problem.constrained)[0]
        e_values.below[arm] -= c * reward
        e_values.variance[arm] += c * c


@lean
def plan_ahead(
    e_values: EValues,
    level: float,
    clock: int,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    b: int,
) -> None:
    """Choose the coefficients of the next pulls, if they are due.

    Args:
        e_values: changed in place.
        level: ln(K / delta).
        clock: pulls so far.
        pulls, means, problem: as for `log_mixture`.
        b: the answer.
    """
    scatter = e_values.scatter
    if scatter.size:
        due = clock >= e_values.pairs.next_plan[0]
        if b != NO_ARM and (due or b != e_values.pairs.planned[0]):
            share = box_level(level, problem.weights.size, VARIANCES)
            bound_variances(e_values.pairs, share, pulls, scatter, e_values.rounding[0])
        if not scatter.sum() > 0.0 and not e_values.rounding[0] > 0.0:
            return
        plan(e_values.pairs, clock, pulls, means, problem, b, e_values.buffers)
    elif problem.floor.size:
        share = box_level(level, problem.floor.size, BOX)
        plan_bets(e_values.bets, share, clock, pulls, means, problem, b, e_values.buffers)
    else:
        plan(e_values.pairs, clock, pulls, means, problem, b, e_values.buffers)


@lean
def log_one_side(count: float, mean: float, least: float, below: bool) -> float:
    """ln of the e-value for a mean below `least`, or above, of rewards from 0 to 1.

    The mixture of p ~ Beta(n1 c, n1 (1 - c)), tested at c, if the empirical mean is on that side.
    `beta_log` is convex in the mean that is tested and smallest at the empirical one, so at any
    mean of the other side it is larger: if such a mean is the true one, the e-value is at most a
    supermartingale.

    Args:
        count: number of rewards.
        mean: empirical, less `least` and in units of BERNOULLI_SIGMA.
        least: c.
        below: whether the e-value is against means of c or more, else against those below c.

    Returns:
        -infinity if the empirical mean is on the other side; infinity if the hypothesis
        cannot hold: no mean from 0 to 1 is there, or it is 1 and a reward was less.

    Example:
        Nine of ten, but is it more than a half?

        >>> round(log_one_side(10.0, 0.8, 0.5, False), 3)
        1.377
    """
    if below:
        if least > 1.0 or (least == 1.0 and mean < 0.0):
            return np.inf
    elif least <= 0.0:
        return np.inf
    if not 0.0 < least < 1.0 or (mean > 0.0 if below else mean < 0.0):
        return -np.inf
    successes = count * (least + BERNOULLI_SIGMA * mean)
    a, b = MEAN_WEIGHT * least, MEAN_WEIGHT * (1.0 - least)
    return beta_log(successes, count - successes, least, a, b)


@lean
def log_feasible(
    floor: np.ndarray, pulls: np.ndarray, means: np.ndarray, arm: int, l: int
) -> float:
    """ln of the e-value against "the arm is infeasible on l": of the sum of its rewards there.

    If rewards are from 0 to 1, `log_one_side`.
    """
    if floor.size == 0:
        return half_normal_log(means[arm, l] * pulls[arm, l], pulls[arm, l], MEAN_WEIGHT)
    return log_one_side(pulls[arm, l], means[arm, l], floor[l], False)


@lean
def log_infeasible(
    floor: np.ndarray,
    e_values: EValues,
    pulls: np.ndarray,
    means: np.ndarray,
    constrained: int,
    arm: int,
) -> float:
    """ln of the e-value against "the arm is feasible": of `EValues.below`.

    If rewards are from 0 to 1, the average of `log_one_side` over l < M.
    """
    if floor.size == 0:
        return half_normal_log(e_values.below[arm], e_values.variance[arm], MEAN_WEIGHT)
    total = -np.inf
    for l in range(constrained):
        total = np.logaddexp(total, log_one_side(pulls[arm, l], means[arm, l], floor[l], True))
    return total - math.log(max(constrained, 1))


@lean
def log_directed(
    i: int,
    level: float,
    e_values: EValues,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    best: int,
) -> float:
    """ln of the e-value against the i-th kind of alternative, of rewards in one direction.

    "b is infeasible on l": `log_feasible`. "k is feasible": `log_infeasible`. "k is feasible and at
    least as good as b": the average of that and of the half-normal mixture at (U, Q) of the pair
    (pairs.py), less the ellipsoid's share of delta; or, if rewards are from 0 to 1, of that and of
    the pair's bets (bets.py), less the box's share.

    Args:
        i, pulls, means, problem, best: as for `log_mixture`.
        level: ln(K / delta).
        e_values: the sums; its buffers are overwritten.
    """
    k = i - problem.constrained
    if k < 0:
        if best == NO_ARM:
            return np.inf
        return log_feasible(problem.floor, pulls, means, best, i)
    if k == best:
        return np.inf
    infeasible = log_infeasible(problem.floor, e_values, pulls, means, problem.constrained, k)
    if best == NO_ARM:
        return infeasible
    if problem.floor.size:
        return log_both(log_bets(e_values.bets, problem, best, k), infeasible, BOX)
    share, pairs = level - math.log(ELLIPSOID), e_values.pairs
    u = lower_bound(pairs, share, pulls, means, problem, best, k, e_values.buffers)
    worse = half_normal_log(u, pairs.variance[best, k], PAIR_WEIGHT)
    return log_both(worse, infeasible, ELLIPSOID)


@lean
def log_both(worse: float, infeasible: float, share: float) -> float:
    """ln of the average e-value for "k is worse" and "k is infeasible", less a share of delta."""
    both = np.logaddexp(worse + math.log1p(-INFEASIBLE), infeasible + math.log(INFEASIBLE))
    return both + math.log1p(-share)


@lean
def one_sided(level: float) -> float:
    """ln((exp(level) + 1) / 2): of a t-interval of which one end is used, at exp(-level)."""
    return level + math.log1p(math.exp(-level)) - math.log(2.0)


@lean
def log_unknown_pair(
    level: float,
    e_values: EValues,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    best: int,
    k: int,
) -> float:
    """ln of the e-value of a pair's directed sums, at the bounds of all variances.

    Returns:
        -infinity as long as some variance has no bound.
    """
    pairs, rounding = e_values.pairs, e_values.rounding[0]
    variance = pair_variance(pairs, best, k)
    if variance == np.inf:
        return -np.inf
    share = level - math.log(ELLIPSOID)
    u = lower_bound(pairs, share, pulls, means, problem, best, k, e_values.buffers, rounding)
    left = math.log1p(-ELLIPSOID - VARIANCES - INTERVALS)
    return half_normal_log(u, variance, PAIR_WEIGHT) + left


def pulls_for_bounds(level: float, n_groups: int) -> float:
    """Pulls from which a pair's 2 L bounds of variances are at most LOOSE times the estimates.

    Args:
        level: ln(K / delta).
        n_groups: L.

    Example:
        >>> pulls_for_bounds(math.log(2 / 0.05), 5)
        16.0
    """
    share, n = box_level(level, n_groups, VARIANCES), 2.0
    while not variance_bound(share, n - 1.0, n) <= LOOSE:
        n += 1.0
    return n


@lean
def half_width(log_inverse: float, e_values: EValues, pulls: np.ndarray, k: int, l: int) -> float:
    """Of the t-interval of mu_kl, about mu^_kl; ln(1 / delta) of its own share of delta."""
    count = pulls[k, l]
    if count == 0.0:
        return np.inf
    spread = math.sqrt(e_values.scatter[k, l] / count)
    return t_radius(log_inverse, spread, count, MEAN_WEIGHT, e_values.rounding[0])


@lean
def looks_infeasible(
    log_inverse: float,
    e_values: EValues,
    pulls: np.ndarray,
    means: np.ndarray,
    constrained: int,
    k: int,
) -> bool:
    """Whether the t-interval of arm k on a constrained subpopulation is below 0."""
    for l in range(constrained):
        if means[k, l] < 0.0 and means[k, l] < -half_width(log_inverse, e_values, pulls, k, l):
            return True
    return False


@lean
def excluded(
    i: int,
    level: float,
    e_values: EValues,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    best: int,
) -> bool:
    """Whether t-intervals leave no instance of the i-th kind of alternative, at exp(-level).

    Of each interval one end is used. "b is infeasible on l": one interval. "k is feasible": one for
    each l < M, which share exp(-level). "k is feasible and at least as good as b": all 2 L of both
    arms share INTERVALS exp(-level).

    Args:
        i, pulls, means, problem, best: as for `log_mixture`; means in one unit for all arms.
        level: ln(K / delta).
        e_values: its `scatter`.

    Returns:
        True if there is no such kind.
    """
    k, n_groups = i - problem.constrained, problem.weights.size
    if k < 0:
        share = one_sided(level)
        return best == NO_ARM or means[best, i] > half_width(share, e_values, pulls, best, i)
    if k == best:
        return True
    n_intervals = problem.constrained if best == NO_ARM else 2 * n_groups / INTERVALS
    share = one_sided(level + math.log(n_intervals))
    if looks_infeasible(share, e_values, pulls, means, problem.constrained, k):
        return True
    if best == NO_ARM:
        return False
    lead = 0.0
    for l in range(n_groups):
        if problem.weights[l] > 0.0:
            lead += problem.weights[l] * (
                means[best, l]
                - half_width(share, e_values, pulls, best, l)
                - means[k, l]
                - half_width(share, e_values, pulls, k, l)
            )
    return lead > 0.0


@lean
def glr_at_bounds(
    e_values: EValues, pulls: np.ndarray, means: np.ndarray, problem: Problem, best: int, k: int
) -> float:
    """The GLR statistic of a pair, at the bounds of all variances; arguments as of `excluded`."""
    buffers = e_values.buffers
    for arm in (best, k):
        for l in range(problem.weights.size):
            buffers.weights[arm, l] = pulls[arm, l] / e_values.pairs.bounds[arm, l]
    return 0.5 * nearest_swap(buffers.weights, means, problem, best, k, buffers.shift)


@lean
def refuted_unknown(
    i: int,
    level: float,
    e_values: EValues,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    best: int,
) -> bool:
    """Whether the i-th kind is `excluded`, or a pair whose directed e-value exceeds exp(level).

    That is looked at only if the GLR statistic at the bounds of variances exceeds the level too, as
    in `steps.refuted`.
    """
    if excluded(i, level, e_values, pulls, means, problem, best):
        return True
    k = i - problem.constrained
    if k < 0 or best == NO_ARM or pair_variance(e_values.pairs, best, k) == np.inf:
        return False
    if not glr_at_bounds(e_values, pulls, means, problem, best, k) > level:
        return False
    return log_unknown_pair(level, e_values, pulls, means, problem, best, k) > level


@lean
def log_excluded(
    i: int,
    level: float,
    e_values: EValues,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    best: int,
) -> float:
    """The largest level at which the i-th kind is `excluded`, to be shown; arguments as there.

    Returns:
        At least 0; infinite if it is excluded at every level, or if there is no such kind.
    """
    low, high = 0.0, level
    while excluded(i, high, e_values, pulls, means, problem, best):
        low, high = high, 2.0 * high
        if high > HIGHEST:
            return np.inf
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if excluded(i, middle, e_values, pulls, means, problem, best):
            low = middle
        else:
            high = middle
    return low


@lean
def log_unknown(
    i: int,
    level: float,
    e_values: EValues,
    pulls: np.ndarray,
    means: np.ndarray,
    problem: Problem,
    best: int,
) -> float:
    """The e-value against the i-th kind, to be shown: `log_excluded` or the directed, if larger.

    The directed counts up to the GLR statistic, as in `refuted_unknown`.

    Args:
        i, level, e_values, pulls, means, problem, best: as for `excluded`.
    """
    excluded = log_excluded(i, level, e_values, pulls, means, problem, best)
    k = i - problem.constrained
    if k < 0 or best == NO_ARM or k == best:
        return excluded
    directed = log_unknown_pair(level, e_values, pulls, means, problem, best, k)
    if directed > excluded:
        directed = min(directed, glr_at_bounds(e_values, pulls, means, problem, best, k))
    return max(excluded, directed)
