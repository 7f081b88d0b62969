"""Strategies that use every reward for the next choice: Fully-Adaptive and LinGapE."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.core.normals import peek, spend, upcoming
from bestarm.linear.allocation import (
    ARGMIN_MAX,
    Directions,
    Uncertainty,
    among,
    choose,
    make_uncertainty,
    measure,
    products,
    repeats,
    shrink,
)
from bestarm.linear.confidence import Width, radius
from bestarm.linear.least_squares import REFACTOR, Fit, refit
from bestarm.linear.single import pull_singly
from bestarm.linear.static import Leeway, allowed_growth

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


class GreedyRule(NamedTuple):
    """A greedy rule and the uncertainty it reduces."""

    directions: Directions  # whose uncertainty is reduced
    uncertainty: Uncertainty
    rule: int  # TWO_STEP or ARGMIN_MAX


@lean
def pull_repeatedly(
    fit: Fit,
    mean: float,
    arm: int,
    norm: float,
    leeway: Leeway,
    moved: float,
    grown: float,
    most: int,
    spare: np.ndarray,
    environment,
) -> tuple[int, float, float]:
    """Pull an arm of norm ||x||_n until the leeway is used up, at least once, at most `most` times.

    Only the sum of its rewards is updated. Returns the pulls, and what is used of the leeway.
    """
    value, total = fit.values[arm], fit.sums[arm]
    pulls, over = 0, False
    while not over and pulls < most:
        first, end = upcoming(environment, spare)
        used = 0
        for i in range(first, min(end, first + most - pulls)):
            reward = mean + peek(environment, spare, i)
            used += 1
            total += reward
            moved += norm * abs(reward - value)
            grown += norm * norm
            over = not (moved < leeway.slack and grown < leeway.growth)
            if over:
                break
        spend(environment, used)
        pulls += used
    fit.sums[arm] = total
    return pulls, moved, grown


@lean
def run_skip_interval(
    fit: Fit,
    means: np.ndarray,
    greedy: GreedyRule,
    length: np.ndarray,
    linked: np.ndarray,
    leeway: Leeway,
    most: int,
    spare: np.ndarray,
    environment,
) -> int:
    """Pull by the greedy rule until the leeway is used up, at most `most` times; returns the pulls.

    Only the uncertainty is updated; consecutive pulls of one arm, as far as they are certain in
    advance, are one update. (K,) `length`, (K,) `linked` and (1,) `spare` are buffers.
    """
    directions, uncertainty, rule = greedy
    for a in range(length.size):
        length[a] = math.sqrt(uncertainty.table[a, a])
    moved, grown, over = 0.0, 0.0, False
    n, before = 0, -1
    single = rule == ARGMIN_MAX and uncertainty.sizes.size == 1
    while not over and n < most:
        arm = choose(directions, uncertainty, fit.counts, rule)
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
        else:
            pulls, moved, grown = pull_repeatedly(
                fit,
                means[arm],
                arm,
                length[arm],
                leeway,
                moved,
                grown,
                longest,
                spare,
                environment,
            )
            fit.counts[arm] += pulls
            shrink(directions, uncertainty, arm, pulls)
        over = not (moved < leeway.slack and grown < leeway.growth)
        n, before = n + pulls, arm
    return n


@jit
def run_fully_adaptive(
    fit: Fit,
    means: np.ndarray,
    width: Width,
    pairs: Directions,
    rule: int,
    true_gaps: bool,
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
        true_gaps: whether the true means of the arms stand in place of their estimates in Lemma 4.
        cap: most pulls.
        environment: numpy Generator of the rewards.

    Returns:
        Pulls, and whether one arm was left.
    """
    n_arms = means.size
    beaten, before = np.zeros(n_arms, np.bool_), np.zeros(n_arms, np.bool_)
    far, length, linked = np.empty(pairs.first.size), np.empty(n_arms), np.empty(n_arms, np.uint64)
    directions, uncertainty = pairs, make_uncertainty(n_arms, far.size)
    spare = np.empty(1)
    n = pull_each(fit, means, cap, environment)
    since = REFACTOR
    while True:
        if since >= REFACTOR:
            refit(fit)
            measure(fit, directions, uncertainty)
            since = 0
        else:
            values_from_table(fit, uncertainty.table)
        if true_gaps:
            fit.values[:] = means
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
        greedy = GreedyRule(directions, uncertainty, rule)
        pulls = run_skip_interval(
            fit, means, greedy, length, linked, leeway, min(cap, last) - n, spare, environment
        )
        n += pulls
        since += pulls


@inlined
def challenger(
    table: np.ndarray, values: np.ndarray, among, best: int, radius_n: float
) -> tuple[int, float]:
    """The challenger j of the best arm, and its bound B(t), which LinGapE's stopping rule uses.

    j maximises x_j . theta - x_best . theta + radius_n ||x_j - x_best||, and B(t) is the maximum.
    (K, K) `table` holds x^T A^-1 x' for all arms; `among` lists the arms to look at, ascending. If
    there is none but the best, that is returned, with a bound of -infinity.
    """
    which, largest = best, -np.inf
    for a in among:
        if a != best:
            size = table[a, a] + table[best, best] - 2.0 * table[a, best]
            value = values[a] - values[best] + radius_n * math.sqrt(max(size, 0.0))
            if value > largest:
                which, largest = a, value
    return which, largest


@inlined
def most_informative(table: np.ndarray, among, a: int, b: int) -> int:
    """LinGapE's greedy rule: the arm whose pull reduces ||x_a - x_b|| most, ties to the lowest.

    `among` lists the arms to look at, ascending.
    """
    best, most = 0, 0.0
    for x in among:
        gain = table[x, a] - table[x, b]
        gain *= gain / (1.0 + table[x, x])
        if gain > most:
            best, most = x, gain
    return best


@inlined
def best_among(values: np.ndarray, among) -> int:
    """The arm with the highest estimated value; ties go to the lowest index.

    `among` lists the arms to look at, ascending.
    """
    best, highest = 0, -np.inf
    for a in among:
        if values[a] > highest:
            best, highest = a, values[a]
    return best


@inlined
def leaders(
    table: np.ndarray, values: np.ndarray, among, radius_n: float
) -> tuple[int, int, float]:
    """The best of some arms, its challenger among them, and the challenger's bound."""
    best = best_among(values, among)
    other, excess = challenger(table, values, among, best, radius_n)
    return best, other, excess


@inlined
def learn(table: np.ndarray, values: np.ndarray, among, arm: int, reward: float) -> None:
    """After a pull of an arm x, update the table and the values of the arms in `among`.

    These must include every arm x' with x'^T A^-1 x != 0; the others do not change.

        theta_hat += A^-1 x (r - x . theta_hat) / (1 + x^T A^-1 x), with the A before the pull.
    """
    grown = 1.0 + table[arm, arm]
    surprise, left = (reward - values[arm]) / grown, 1.0 / grown
    for a in among:
        values[a] += surprise * table[a, arm]
    for a in among:
        if a != arm:
            share = left * table[a, arm]
            for x in among:
                table[a, x] -= share * table[arm, x]
    for x in among:
        table[arm, x] *= left


class Watch(NamedTuple):
    """A group of arms to which LinGapE's next choices are certain to belong; see `watch`."""

    group: np.ndarray  # (K,) the number of each arm's group, from `find_groups`
    members: np.ndarray  # (K,) the arms of the watched group, ascending; the rest is unused
    bounds: np.ndarray  # (3,) largest radius allowed; largest score at it, and value, of the others


#: A watch allows the radius to grow by the share LARGER. What it compares must differ by more than
#: the share SURE, so that rounding does not decide.
LARGER, SURE = 2.0**-14, 1e-9


@lean
def find_groups(table: np.ndarray, group: np.ndarray) -> bool:
    """Number the groups of arms: x^T A^-1 x' != 0 puts two arms x and x' into the same group.

    Returns whether there is more than one group.
    """
    for a in range(group.size):
        group[a] = a
    changed = True
    while changed:
        changed = False
        for a in range(group.size):
            for x in range(group.size):
                if group[x] > group[a] and (table[a, x] != 0.0 or table[x, a] != 0.0):
                    group[x] = group[a]
                    changed = True
    several = False
    for a in range(group.size):
        several |= group[a] != 0
    return several


@lean
def watch(table: np.ndarray, values: np.ndarray, best: int, radius_n: float, w: Watch) -> int:
    """Start to watch the group of the best arm; returns the size of the group.

    Pulls in a group change neither x_a . theta_hat nor x_a^T A^-1 x_a of an arm a outside it. This
    arm's score x_a . theta_hat + r ||x_a - x_best|| grows with r, and decreases when x_best^T A^-1
    x_best does. So as long as r is below some larger radius and the group's best arm is the same,
    the score is at most what it is now at that radius. Then the best arm and the challenger of the
    group are those of all arms if the one has a larger value, and the other a larger score, than
    every arm outside. The arm most informative about two arms of a group is always in it.
    """
    size = 0
    top, limit, larger = -np.inf, -np.inf, radius_n * (1.0 + LARGER)
    for a in range(values.size):
        if w.group[a] == w.group[best]:
            w.members[size] = a
            size += 1
        else:
            width = math.sqrt(max(table[a, a] + table[best, best], 0.0))
            top, limit = max(top, values[a]), max(limit, values[a] + larger * width)
    w.bounds[0], w.bounds[1], w.bounds[2] = larger, limit, top
    return size


@inlined
def is_sure(watched: Watch, value: float, excess: float) -> bool:
    """Whether the best arm and the challenger of the watched group are certain to be those of all.

    Args:
        watched: the group, of which the radius is within the allowed one.
        value, excess: the best arm's value, and the challenger's bound.
    """
    limit, top = watched.bounds[1], watched.bounds[2]
    room = SURE * (abs(limit) + abs(value) + abs(excess))
    return value > top and value + excess > limit + room


@jit
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
    n_arms = means.size
    table = np.zeros((n_arms, n_arms))
    watched = Watch(np.arange(n_arms), np.arange(n_arms), np.zeros(3))
    n = pull_each(fit, means, cap, environment)
    return close_gap(fit, means, delta, norm, cap, n, table, watched, environment)


@lean
def close_gap(
    fit: Fit,
    means: np.ndarray,
    delta: float,
    norm: float,
    cap: int,
    n: int,
    table: np.ndarray,
    watched: Watch,
    environment,
) -> tuple[int, bool]:
    """The pulls of `run_lingape` after the first n; (K, K) `table` and `watched` are buffers."""
    counts, sums, values = fit.counts, fit.sums, fit.values
    n_arms, everyone, members = means.size, range(means.size), watched.members
    log_det, since, several, watching, size, leader = 0.0, REFACTOR, False, False, 0, 0
    best, other, excess = 0, 0, 0.0
    while True:
        if since == REFACTOR:
            refit(fit)
            products(fit, table)
            log_det = log_growth(fit)
            several = find_groups(table, watched.group)
            since, watching = 0, False
        radius_n = ellipsoid(log_det, norm, delta, fit.ridge)
        watching = watching and radius_n <= watched.bounds[0]
        if watching:
            best, other, excess = leaders(table, values, members[:size], radius_n)
            watching = best == leader and is_sure(watched, values[best], excess)
        surveyed = not watching
        if surveyed:
            best, other, excess = leaders(table, values, everyone, radius_n)
            if several and watched.group[other] == watched.group[best]:
                size, leader, watching = watch(table, values, best, radius_n, watched), best, True
        if excess <= 0.0 and n >= n_arms:
            return n, True
        if n >= cap:
            return n, False
        if surveyed:
            arm = most_informative(table, everyone, best, other)
        else:
            arm = most_informative(table, members[:size], best, other)
        reward = means[arm] + environment.standard_normal()
        n += 1
        since += 1
        counts[arm] += 1.0
        sums[arm] += reward
        log_det += math.log(1.0 + table[arm, arm])
        if surveyed:
            learn(table, values, everyone, arm, reward)
        else:
            learn(table, values, members[:size], arm, reward)
