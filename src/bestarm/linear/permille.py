"""Runs that test their stop every per mille of their pulls, and draw sums of rewards in between.

Up to 2,048 pulls every one is followed by a test; after n the next test is at most n / 1024 pulls
away. A width that holds for all n at once holds wherever it is tested (docs/readings.md). With a
test at every pull static.py and adaptive.py have these runs.
"""

import math

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.linear.adaptive import (
    LONGEST_SKIP,
    GreedyRule,
    distances,
    dominated,
    find_leeway,
    pull_each,
)
from bestarm.linear.allocation import (
    Directions,
    among,
    choose,
    make_uncertainty,
    measure,
    repeats,
    shrink,
)
from bestarm.linear.confidence import Width, radius
from bestarm.linear.least_squares import Fit, refit, squared_norm
from bestarm.linear.static import (
    Leeway,
    Start,
    allowed_growth,
    begin,
    best_arm,
    drift,
    make_start,
    stopping_statistic,
)

#: In place of a number of pulls between two tests: they are `spacing` apart.
PERMILLE = 0
#: Up to so many pulls every one is followed by a test.
DENSE = 2048


@inlined
def spacing(n: int) -> int:
    """The pulls from one test to the next: the largest power of two up to n / 1024, or 1.

    Example:
        >>> [spacing(n) for n in (1, 2047, 2048, 4095, 4096, 1_000_000)]
        [1, 1, 2, 2, 4, 512]
    """
    step = 1
    while n >= DENSE * step:
        step *= 2
    return step


@inlined
def next_test(n: int) -> int:
    """The pulls after which a run of n pulls is tested next: the next multiple of `spacing`."""
    step = spacing(n)
    return (n // step + 1) * step


@inlined
def is_tested(every: int, n: int) -> bool:
    """Whether the stop is tested after n pulls, if it is every so many, or every per mille."""
    return n % (spacing(n) if every == PERMILLE else every) == 0


@jit
def pulls_between_tests(sequence: np.ndarray, n: int, n_arms: int) -> np.ndarray:
    """(tests, K) pulls of every arm from one test to the next, along a sequence of arms.

    The first row is from n pulls on, after which there is a test; the last ends with a test.
    """
    end, tests = next_test(n), 0
    while end <= sequence.size:
        end, tests = next_test(end), tests + 1
    pulls = np.zeros((tests, n_arms), np.int32)
    for test in range(tests):
        end = next_test(n)
        for i in range(n, end):
            pulls[test, sequence[i]] += 1
        n = end
    return pulls


@lean
def draw_rewards(fit: Fit, means: np.ndarray, pulls: np.ndarray, environment) -> None:
    """Add the rewards of (K,) `pulls` to the sums of a fit, one Gaussian per arm that is pulled."""
    for a in range(means.size):
        if pulls[a] > 0:
            normal = environment.standard_normal()
            fit.sums[a] += pulls[a] * means[a] + math.sqrt(pulls[a]) * normal


@inlined
def is_used_up(leeway: Leeway, fit: Fit, start: Start, length: np.ndarray) -> bool:
    """Whether the pulls since the start may change a decision, see `Leeway`.

    (K,) `length` holds the norms ||x||_n at the start.
    """
    grown = 0.0
    for a in range(length.size):
        grown += (fit.counts[a] - start.counts[a]) * length[a] * length[a]
    return not (grown < leeway.growth and drift(fit, start) < leeway.slack)


@jit
def run_static_permille(
    fit: Fit,
    means: np.ndarray,
    width: Width,
    pulls: np.ndarray,
    n_initial: int,
    n: int,
    test: int,
    environment,
) -> tuple[int, int, bool]:
    """`run_static` with Eq. (11) tested every per mille of the pulls.

    As there, the rule is evaluated only where it could hold.

    Args:
        fit, means, width, n_initial, environment: as for `run_static`.
        pulls: (tests, K) from `pulls_between_tests`.
        n: pulls so far.
        test: tests so far.

    Returns:
        Pulls, tests, and whether the rule held; if not, call again with further tests.
    """
    length, start = np.zeros(means.size), make_start(fit)
    while True:
        leeway = Leeway(0.0, 0.0)
        if n >= n_initial:
            refit(fit)
            near, radius_n = stopping_statistic(fit, best_arm(fit)), radius(width, n)
            if near >= radius_n:
                return n, test, True
            slack = 0.5 * (radius_n - near)
            leeway = Leeway(slack, allowed_growth(near, slack))
            for a in range(means.size):
                length[a] = math.sqrt(squared_norm(fit.arms, fit.predictors, a, -1))
        begin(start, fit)
        over = False
        while not over:
            if test == len(pulls):
                return n, test, False
            draw_rewards(fit, means, pulls[test], environment)
            fit.counts[:] += pulls[test]
            n, test = next_test(n), test + 1
            over = is_used_up(leeway, fit, start, length)


@lean
def pull_greedily(fit: Fit, greedy: GreedyRule, most: int, pulls: np.ndarray) -> None:
    """Count `most` pulls by the greedy rule, also in (K,) `pulls`, and update the uncertainty."""
    directions, uncertainty, rule = greedy
    pulls[:] = 0.0
    n, before = 0, -1
    while n < most:
        arm = choose(directions, uncertainty, fit.counts, rule)
        times = 1
        if arm == before:
            times = repeats(directions, uncertainty, arm, rule, most - n)
        fit.counts[arm] += times
        pulls[arm] += times
        shrink(directions, uncertainty, arm, times)
        n, before = n + times, arm


@jit
def run_fully_adaptive_permille(
    fit: Fit,
    means: np.ndarray,
    width: Width,
    pairs: Directions,
    rule: int,
    cap: int,
    environment,
) -> tuple[int, bool]:
    """`run_fully_adaptive` with dominated arms looked for every per mille of the pulls.

    As there, they are not looked for where none can be new. Arguments and results are the same.
    """
    n_arms = means.size
    beaten, before = np.zeros(n_arms, np.bool_), np.zeros(n_arms, np.bool_)
    far, length, pulls = np.empty(pairs.first.size), np.empty(n_arms), np.empty(n_arms)
    directions, uncertainty = pairs, make_uncertainty(n_arms, far.size)
    start = make_start(fit)
    n = pull_each(fit, means, cap, environment)
    while True:
        refit(fit)
        measure(fit, directions, uncertainty)
        distances(fit, pairs, uncertainty.table, far)
        if n >= n_arms and is_tested(PERMILLE, n):
            dominated(fit, pairs, far, radius(width, n), beaten)
        alone = beaten.sum() == n_arms - 1
        if alone or n >= cap:
            return n, alone
        if (beaten != before).any():
            directions = among(pairs, ~beaten)
            uncertainty = make_uncertainty(n_arms, directions.first.size)
            measure(fit, directions, uncertainty)
            before[:] = beaten
        greedy = GreedyRule(directions, uncertainty, rule)
        last = n + n // LONGEST_SKIP + 1
        leeway = find_leeway(fit, pairs, far, radius(width, n), radius(width, last), beaten)
        for a in range(n_arms):
            length[a] = math.sqrt(uncertainty.table[a, a])
        begin(start, fit)
        over = False
        while not over:
            end = min(next_test(n), cap)
            pull_greedily(fit, greedy, end - n, pulls)
            draw_rewards(fit, means, pulls, environment)
            n = end
            over = n >= min(last, cap) or is_used_up(leeway, fit, start, length)
