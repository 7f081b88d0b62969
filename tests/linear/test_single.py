"""Many pulls of one arm for a single direction: to the last bit those of the greedy rule."""

import numpy as np
import pytest

from bestarm.linear.adaptive import GreedyRule, run_skip_interval
from bestarm.linear.allocation import (
    ARGMIN_MAX,
    Directions,
    choose,
    make_uncertainty,
    measure,
    repeats,
    shrink,
)
from bestarm.linear.least_squares import make_fit, refit
from bestarm.linear.single import pull_singly
from bestarm.linear.static import Leeway
from linear.instances import drawn, near_pair

PULLS = 3000
WIDE = Leeway(1e9, 1e9)


def paper(seed):
    """The paper's arms at d = 5 where Fully-Adaptive, 2sqrt2*logK+argmin-max, stopped once."""
    problem = near_pair(0.01, 5).problem
    counts = [11646.0, 2339086.0 + 100 * seed, 65.0, 79.0, 64.0, 62.0]
    return problem.arms, problem.means, np.array(counts), (0, 5)


def dense(seed):
    """Arms of which no two are orthogonal."""
    arms, _, means = drawn(seed, 3, 5)
    rng = np.random.default_rng(seed)
    return arms, means, rng.integers(1, 10**6, 5).astype(float), (1, 3)


def unlinked(seed):
    """The last arm is orthogonal to the others, of which the first two are nearly parallel."""
    arms = np.array([[1.0, 0.0, 0.0], [1.0, 0.01, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    counts = np.random.default_rng(seed).integers(1000, 2000, 4).astype(float)
    return arms, arms @ np.array([1.0, 0.9, 0.5]), counts, (0, 3)


def begin(case):
    arms, means, counts, pair = case
    fit = make_fit(arms, 0.0)
    fit.counts[:] = counts
    fit.sums[:] = counts * means
    refit(fit)
    direction = Directions(np.array([pair[0]]), np.array([pair[1]]), np.ones(1))
    uncertainty = make_uncertainty(len(arms), 1)
    measure(fit, direction, uncertainty)
    return fit, means, direction, uncertainty


def pull(begun, arm, most, rng, leeway=WIDE):
    """Call `pull_singly` with all of the leeway left."""
    fit, means, direction, uncertainty = begun
    n = fit.counts.size
    length, linked = np.ones(n), np.empty(n, np.uint64)
    return pull_singly(
        fit, means, direction, uncertainty, arm, length, leeway, 0.0, 0.0, most, linked, rng
    )


def literally(fit, means, direction, uncertainty, rng):
    n, before = 0, -1
    while n < PULLS:
        arm = choose(direction, uncertainty, fit.counts, ARGMIN_MAX)
        k = 1
        if arm == before:
            k = repeats(direction, uncertainty, arm, ARGMIN_MAX, PULLS - n)
        for _ in range(k):
            fit.sums[arm] += means[arm] + rng.standard_normal()
        fit.counts[arm] += k
        shrink(direction, uncertainty, arm, k)
        n, before = n + k, arm


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("case", [paper, dense, unlinked], ids=lambda case: case.__name__)
def test_pulls_are_those_of_the_greedy_rule_to_the_last_bit(case, seed):
    ours, theirs = begin(case(seed)), begin(case(seed))
    fit, means, direction, uncertainty = ours
    n = fit.counts.size
    pulls = run_skip_interval(
        fit,
        means,
        GreedyRule(direction, uncertainty, ARGMIN_MAX),
        np.empty(n),
        np.empty(n, np.uint64),
        WIDE,
        PULLS,
        np.empty(1),
        np.random.default_rng(seed),
    )
    literally(*theirs, np.random.default_rng(seed))
    assert pulls == PULLS
    for mine, wanted in zip((*fit[1:3], *uncertainty), (*theirs[0][1:3], *theirs[3]), strict=True):
        np.testing.assert_array_equal(mine, wanted)


def test_two_arms_take_turns_and_one_is_pulled_many_times_in_a_row():
    begun, rng = begin(paper(0)), np.random.default_rng(0)
    fit, _, direction, uncertainty = begun
    pulls, longest = [0] * 6, 0
    while sum(pulls) < PULLS:
        arm = choose(direction, uncertainty, fit.counts, ARGMIN_MAX)
        n, _, _ = pull(begun, arm, PULLS, rng)
        pulls[arm] += n
        longest = max(longest, n)
    assert pulls[0] >= 3
    assert longest >= 50


@pytest.mark.parametrize(
    ("leeway", "most", "wanted"), [(Leeway(0.0, 1.0), 9, 1), (WIDE, 1, 1), (WIDE, 4, 4)]
)
def test_it_pulls_at_least_once_and_heeds_its_limits(leeway, most, wanted):
    begun = begin(paper(0))
    fit, _, direction, uncertainty = begun
    # until it is the turn of arm 1, which is pulled many times in a row
    while (arm := choose(direction, uncertainty, fit.counts, ARGMIN_MAX)) != 1:
        fit.counts[arm] += 1
        shrink(direction, uncertainty, arm)
    n, moved, grown = pull(begun, arm, most, np.random.default_rng(0), leeway)
    assert n == wanted
    assert grown == n
    assert moved > 0.0
