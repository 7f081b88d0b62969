"""The nearest alternatives to an instance, and the optimal allocation against them.

With arm b the best feasible one, an instance lambda with another answer either makes b
infeasible, or makes some arm k feasible and at least as good as b (Theorem 3.2):

    F_mu(w) = min( min_{l < M} w_bl mu_bl^2 ,  min_{k != b} swap_k(w) ).

When no arm is feasible the alternatives make one arm feasible, and
F_mu(w) = min_k sum_{l < M, mu_kl < 0} w_kl mu_kl^2. Then T* = 2 / max_w F_mu(w), and the
stopping statistic is Z(t) = F_mu^(N(t)) / 2, Eq. (10).

Rewards have variance 1: means mu_kl are over the rewards' sigma_kl, so that in an arm's quality the
weights of its means are q_l sigma_kl. With one sigma for all, as in the paper, they are q_l.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import lean

NO_ARM = -1
#: Empty arrays, not None: other types would compile every kernel again.
ONE_SIGMA, NO_FLOOR = np.zeros((0, 0)), np.zeros(0)


class Problem(NamedTuple):
    """What is known before sampling: the definitions of quality and feasibility."""

    weights: np.ndarray  # q, (L,) weights of the subpopulations in an arm's quality, sum 1
    constrained: int  # M: the first M subpopulations must have mean >= 0
    scale: np.ndarray = ONE_SIGMA  # (K, L) sigma of rewards over the largest, if they differ
    floor: np.ndarray = NO_FLOOR  # (L,) least means, if rewards are from 0 to 1


def make_problem(
    weights: np.ndarray, constrained: int, sigma: np.ndarray, floor: np.ndarray = NO_FLOOR
) -> Problem:
    """The problem in standard units.

    Args:
        weights: (L,) sizes of the subpopulations, of any sum.
        constrained: M.
        sigma: (K, L) standard deviations of the rewards.
        floor: (L,) least means, if rewards are from 0 to 1.

    Example:
        >>> make_problem(np.array([30.0, 10.0]), 2, np.full((2, 2), 5.0)).weights
        array([0.75, 0.25])
    """
    equal = np.min(sigma) == np.max(sigma)
    scale = ONE_SIGMA if equal else np.array(sigma / np.max(sigma), order="C")
    return Problem(weights / weights.sum(), constrained, scale, floor)


@lean
def scaled(scale: np.ndarray, k: int, l: int, value: float) -> float:
    """A value of an arm on a subpopulation times its sigma."""
    if scale.size == 0:
        return value
    return scale[k, l] * value


@lean
def best_feasible_arm(means: np.ndarray, problem: Problem) -> int:
    """k*, Eq. (2): the feasible arm of highest quality, or NO_ARM when none is feasible.

    Args:
        means: (K, L) means of the arms on the subpopulations.
        problem: weights q and number of constrained subpopulations M.
    """
    n_arms, n_groups = means.shape
    best = NO_ARM
    highest = -np.inf
    for k in range(n_arms):
        quality = 0.0
        feasible = True
        for l in range(n_groups):
            quality += problem.weights[l] * scaled(problem.scale, k, l, means[k, l])
            feasible &= l >= problem.constrained or means[k, l] >= 0.0
        if feasible and quality > highest:
            best = k
            highest = quality
    return best


@lean
def worst_violation(means_of_arm: np.ndarray, constrained: int) -> tuple[float, int]:
    """The size of the largest violation of an arm and its subpopulation; (0, 0) if feasible."""
    size = 0.0
    where = 0
    for l in range(constrained):
        if -means_of_arm[l] > size:
            size = -means_of_arm[l]
            where = l
    return size, where


@lean
def violation_cost(weights_of_arm: np.ndarray, means_of_arm: np.ndarray, constrained: int) -> float:
    """Cost of making one arm feasible: sum_{l < M, mu_l < 0} w_l mu_l^2, as in Eq. (7)."""
    cost = 0.0
    for l in range(constrained):
        if means_of_arm[l] < 0.0:
            cost += weights_of_arm[l] * means_of_arm[l] ** 2
    return cost


@lean
def nearest_swap(
    w: np.ndarray, means: np.ndarray, problem: Problem, best: int, k: int, shift: np.ndarray
) -> float:
    """The nearest instance in which arm k is feasible and at least as good as arm `best`.

        swap_k(w) = min_lambda  sum_l w_bl (mu_bl - lambda_bl)^2 + sum_l w_kl (mu_kl - lambda_kl)^2
                    s.t.  q_k . lambda_k >= q_b . lambda_b,   lambda_kl >= 0 for l < M.

    Here q_kl = q_l sigma_kl. With theta/2 the multiplier of the first constraint, the minimiser is
    lambda_bl = mu_bl - theta q_bl / w_bl and lambda_kl = mu_kl + theta q_kl / w_kl, raised to 0
    where l < M. The surplus h(theta) = q_k . lambda_k - q_b . lambda_b is increasing, convex and
    piecewise linear: a coordinate stuck at 0 starts to move at its breakpoint
    theta_l = -mu_kl w_kl / q_kl. So theta = 0 if h(0) >= 0, and else the root of h, which Newton's
    method from any point to the right of it reaches in at most M + 1 steps, one per linear piece;
    it visits the breakpoints in order without sorting them.

    Zero weights are treated as a limit: coordinates with w = 0 and q > 0 move at no cost, so they
    alone make up the deficit. Among the minimisers lambda is the limit for w + eps as eps -> 0: the
    solution of the same problem with weight 1 on those coordinates and the others fixed.

    Args:
        w: (K, L) nonnegative weights: an allocation, or pulls.
        means: (K, L) means mu.
        problem: weights q and number of constrained subpopulations M.
        best, k: the best arm, and the challenger that replaces it.
        shift: (2, L) overwritten with mu - lambda for arms `best` and `k`.

    Returns:
        swap_k(w).
    """
    n_groups = problem.weights.size
    rate, surplus, pieces, last_breakpoint = _start(w, means, problem, best, k, shift)
    theta = 0.0
    if surplus < 0.0:
        theta = last_breakpoint - surplus / rate  # to the right of the root: all move, h >= h(0)
        for _ in range(pieces + 1 if pieces > 0 else 0):
            rate, surplus = _surplus(theta, means, problem, best, k, shift)
            if not surplus > 0.0:
                break
            theta -= surplus / rate
    cost = 0.0
    for l in range(n_groups):
        moved = means[k, l] + theta * shift[1, l]
        if l < problem.constrained and moved < 0.0:
            moved = 0.0
        shift[0, l] *= theta
        shift[1, l] = means[k, l] - moved
        cost += w[best, l] * shift[0, l] ** 2 + w[k, l] * shift[1, l] ** 2
    return cost


@lean
def _speed(q_l: float, weight: float, free: bool) -> float:
    """How far a coordinate of weight q_l sigma moves per unit of theta (see `nearest_swap`)."""
    if free:
        return q_l if weight == 0.0 else 0.0
    return q_l / weight if q_l > 0.0 else 0.0


@lean
def _start(
    w: np.ndarray, means: np.ndarray, problem: Problem, best: int, k: int, speed: np.ndarray
) -> tuple[float, float, int, float]:
    """The speeds of all coordinates, and h at its two ends (see `nearest_swap`).

    Returns:
        h' where all coordinates move; h(0); the number of breakpoints, and the last.
    """
    q, scale = problem.weights, problem.scale
    n_groups = q.size
    free = False
    for l in range(n_groups):
        free |= q[l] > 0.0 and (w[best, l] == 0.0 or w[k, l] == 0.0)
    rate = 0.0
    surplus = 0.0
    pieces = 0
    last_breakpoint = 0.0
    for l in range(n_groups):
        speed[0, l] = _speed(scaled(scale, best, l, q[l]), w[best, l], free)
        speed[1, l] = _speed(scaled(scale, k, l, q[l]), w[k, l], free)
        rate += q[l] * (scaled(scale, best, l, speed[0, l]) + scaled(scale, k, l, speed[1, l]))
        raised = means[k, l]
        if l < problem.constrained and raised < 0.0:
            if speed[1, l] > 0.0:
                pieces += 1
                last_breakpoint = max(last_breakpoint, -raised / speed[1, l])
            raised = 0.0
        surplus += q[l] * (scaled(scale, k, l, raised) - scaled(scale, best, l, means[best, l]))
    return rate, surplus, pieces, last_breakpoint


@lean
def _surplus(
    theta: float, means: np.ndarray, problem: Problem, best: int, k: int, speed: np.ndarray
) -> tuple[float, float]:
    """The left derivative h'(theta), and h(theta) (see `nearest_swap`)."""
    rate = 0.0
    surplus = 0.0
    for l in range(problem.weights.size):
        of_best = scaled(problem.scale, best, l, problem.weights[l])
        of_k = scaled(problem.scale, k, l, problem.weights[l])
        rate += of_best * speed[0, l]
        surplus -= of_best * (means[best, l] - theta * speed[0, l])
        moved = means[k, l] + theta * speed[1, l]
        if l >= problem.constrained or moved > 0.0:
            rate += of_k * speed[1, l]
            surplus += of_k * moved
    return rate, surplus


@lean
def alternative_cost(
    i: int, w: np.ndarray, means: np.ndarray, problem: Problem, best: int, shift: np.ndarray
) -> float:
    """Cost of the i-th kind of alternative, 0 <= i < M + K; infinite if it does not exist.

    With an answer, kind i < M makes it infeasible on subpopulation i and kind M + k replaces it
    by arm k. With none, kind M + k makes arm k feasible. F_mu(w) is the least of these costs.
    """
    if i < problem.constrained:
        return np.inf if best == NO_ARM else w[best, i] * means[best, i] ** 2
    k = i - problem.constrained
    if best == NO_ARM:
        return violation_cost(w[k], means[k], problem.constrained)
    return np.inf if k == best else nearest_swap(w, means, problem, best, k, shift)


@lean
def nearest_alternative(
    w: np.ndarray, means: np.ndarray, problem: Problem, best: int, shift: np.ndarray
) -> float:
    """F_mu(w), the least cost over all alternatives (Theorem 3.2 without its factor 1/2)."""
    least = np.inf
    for i in range(problem.constrained + means.shape[0]):
        least = min(least, alternative_cost(i, w, means, problem, best, shift))
    return least


@lean
def alternative_within(
    level: float, w: np.ndarray, means: np.ndarray, problem: Problem, best: int, shift: np.ndarray
) -> int:
    """The first kind of alternative of cost `level` or less; -1 if F_mu(w) > level."""
    for i in range(problem.constrained + means.shape[0]):
        if not alternative_cost(i, w, means, problem, best, shift) > level:
            return i
    return -1


@lean
def supergradient(
    i: int, means: np.ndarray, problem: Problem, best: int, shift: np.ndarray, out: np.ndarray
) -> None:
    """The c with cost_i(w) = c . w: squared distances to the i-th alternative (Section 4.1).

    Args:
        i, means, problem, best: as for `alternative_cost`, of an alternative that exists.
        shift: (2, L) as `alternative_cost` left it for the same i.
        out: (K, L) overwritten.
    """
    out[:] = 0.0
    if i < problem.constrained:
        out[best, i] = means[best, i] ** 2
        return
    if best == NO_ARM:
        for l in range(problem.constrained):
            out[i - problem.constrained, l] = min(means[i - problem.constrained, l], 0.0) ** 2
        return
    for l in range(problem.weights.size):
        out[best, l] = shift[0, l] ** 2
        out[i - problem.constrained, l] = shift[1, l] ** 2


@lean
def optimal_allocation(means: np.ndarray, problem: Problem, best: int, out: np.ndarray) -> float:
    """Solve max_{w in simplex} F_mu(w) exactly: T* = 2 / F_mu(w*), Eqs. (7) and (8).

    F is homogeneous, so T*/2 is the least total weight that keeps every alternative at cost 1 or
    more. Minimising over the challengers' weights first leaves one number to find.

    *Challenger k.* Dualising its swap with multipliers theta for the quality and s_l for the
    bounds asks for some theta, s >= 0 with
        sum_l (theta q_kl + s_l)^2 / w_kl
            <= 2 theta (mu_b - mu_k) - 2 s . mu_k - 1 - theta^2 S,   S = sum_l q_bl^2 / w_bl,
    with q_kl = q_l sigma_kl. The least sum_l w_kl with sum_l a_l^2 / w_kl <= B is
    (sum_l a_l)^2 / B, with w_kl in proportion to a_l; so s sits on the worst violation m_k alone.
    Scaling out the size of (theta, s) leaves the share t in [0, 1] of quality against feasibility,
    and, with Q_k = sum_l q_kl,
        least weight G_k = 1 / D_k,  D_k = max_t (m_k + t s_k)^2 - t^2 S / Q_k^2,
        s_k = (mu_b - mu_k) / Q_k - m_k,
        w_kl = G_k (t q_kl / Q_k + (1 - t) [l is the worst violation]).

    *Best arm.* Only S ties it to the challengers. Given S, the least sum_l w_bl with
    w_bl >= 1/mu_bl^2 for l < M is w_bl = max(1/mu_bl^2, q_bl / y), which gives
    S(y) = sum_{l < M} min(q_bl^2 mu_bl^2, q_bl y) + sum_{l >= M} q_bl y. One more weight on arm b
    pays y^2 at the margin and, by the envelope theorem, saves sum_k (t_k G_k / Q_k)^2: the optimum
    has
        y^2 r(S(y)) = 1,   r(S) = sum_k (t_k G_k / Q_k)^2,
    and the problem is convex in 1/S, so 1 - y^2 r changes sign once, from plus to minus. For
    plain best-arm identification with two arms r = (gap^2 - S)^-2, S = y and y = gap^2 / 2.

    Args:
        means: (K, L).
        problem: weights q and number of constrained subpopulations M.
        best: the answer for `means`, or NO_ARM.
        out: (K, L) overwritten with w*. If some alternative is at distance 0 there is no
            optimal allocation, and this is the uniform one.

    Returns:
        T*, in pulls; infinite if some alternative is at distance 0.
    """
    if not _separated(means, problem, best):
        out[:] = 1.0 / out.size
        return np.inf
    out[:] = 0.0
    if best == NO_ARM:
        y = np.inf
        s_term = 0.0
    else:
        y = _balance(means, problem, best)
        s_term = _variance(y, means, problem, best)
        for l in range(problem.weights.size):
            if l < problem.constrained:
                out[best, l] = 1.0 / means[best, l] ** 2
            of_best = scaled(problem.scale, best, l, problem.weights[l])
            out[best, l] = max(out[best, l], of_best / y)
    for k in range(means.shape[0]):
        if k != best:
            violation, where = worst_violation(means[k], problem.constrained)
            size = _total_weight(problem.weights, problem.scale, k)
            margin = _gap(means, problem, best, k) / size - violation
            share, distance = _challenge(violation, margin, s_term / (size * size))
            for l in range(problem.weights.size):
                of_k = scaled(problem.scale, k, l, problem.weights[l]) / size
                out[k, l] = share * of_k / distance
            out[k, where] += (1.0 - share) / distance
    total = out.sum()
    out /= total
    return 2.0 * total


@lean
def _separated(means: np.ndarray, problem: Problem, best: int) -> bool:
    """Whether every alternative is at a positive distance."""
    if best == NO_ARM:
        return True  # every arm has a mean below 0
    for l in range(problem.constrained):
        if means[best, l] == 0.0:
            return False
    for k in range(means.shape[0]):
        feasible = worst_violation(means[k], problem.constrained)[0] == 0.0
        if k != best and feasible and _gap(means, problem, best, k) <= 0.0:
            return False
    return True


@lean
def _gap(means: np.ndarray, problem: Problem, best: int, k: int) -> float:
    """mu_b - mu_k, or minus infinity when there is no answer: only feasibility counts then."""
    if best == NO_ARM:
        return -np.inf
    gap = 0.0
    for l in range(problem.weights.size):
        gap += problem.weights[l] * (
            scaled(problem.scale, best, l, means[best, l])
            - scaled(problem.scale, k, l, means[k, l])
        )
    return gap


@lean
def _total_weight(q: np.ndarray, scale: np.ndarray, k: int) -> float:
    """Q_k = sum_l q_l sigma_kl (see `optimal_allocation`)."""
    if scale.size == 0:
        return 1.0
    total = 0.0
    for l in range(q.size):
        total += q[l] * scale[k, l]
    return total


@lean
def _challenge(violation: float, margin: float, variance: float) -> tuple[float, float]:
    """The share t and the value D_k = max_t (m + t s)^2 - t^2 S (see `optimal_allocation`)."""
    share = 0.0
    if margin > 0.0:
        curvature = variance - margin * margin
        share = 1.0 if curvature <= 0.0 else min(1.0, violation * margin / curvature)
    if share == 0.0:
        return share, violation * violation
    reach = violation + share * margin
    return share, reach * reach - share * share * variance


@lean
def _variance(y: float, means: np.ndarray, problem: Problem, best: int) -> float:
    """S(y), the variance of the best arm's quality at its cheapest weights."""
    total = 0.0
    for l in range(problem.weights.size):
        of_best = scaled(problem.scale, best, l, problem.weights[l])
        term = of_best * y
        if l < problem.constrained:
            term = min(term, (of_best * means[best, l]) ** 2)
        if of_best > 0.0:
            total += term
    return total


@lean
def _marginal_saving(variance: float, means: np.ndarray, problem: Problem, best: int) -> float:
    """sqrt(r(S)), infinite if no weights keep some challenger at cost 1 at this variance."""
    total = 0.0
    for k in range(means.shape[0]):
        if k != best:
            violation = worst_violation(means[k], problem.constrained)[0]
            size = _total_weight(problem.weights, problem.scale, k)
            margin = _gap(means, problem, best, k) / size - violation
            share, distance = _challenge(violation, margin, variance / (size * size))
            if not distance > 0.0:
                return np.inf
            total += (share / size / distance) ** 2
    return math.sqrt(total)


@lean
def _imbalance(y: float, means: np.ndarray, problem: Problem, best: int) -> float:
    """(1 - y sqrt(r)) / (1 + y sqrt(r)): between -1 and 1, positive to the left of the root."""
    product = y * _marginal_saving(_variance(y, means, problem, best), means, problem, best)
    return -1.0 if product == np.inf else (1.0 - product) / (1.0 + product)


@lean
def _balance(means: np.ndarray, problem: Problem, best: int) -> float:
    """The root y of y^2 r(S(y)) = 1, by the Illinois variant of false position, to rounding.

    Infinite, or huge, if the weights that keep the best arm feasible suffice for everything else.
    """
    saving = _marginal_saving(0.0, means, problem, best)
    if saving == 0.0:
        return np.inf  # every challenger is excluded by its infeasibility
    left, at_left = 0.0, 1.0
    y = 1.0 / saving
    value = _imbalance(y, means, problem, best)
    for _ in range(30):
        if value <= 0.0:
            break
        left, at_left = y, value
        y *= 16.0
        value = _imbalance(y, means, problem, best)
    if value > 0.0:
        return y
    other, at_other = left, at_left
    for _ in range(100):
        trial = y - value * (y - other) / (value - at_other)
        if value == 0.0 or trial in (y, other):
            break
        at_trial = _imbalance(trial, means, problem, best)
        if (at_trial > 0.0) == (value > 0.0):
            at_other *= 0.5
        else:
            other, at_other = y, value
        y, value = trial, at_trial
    return y
