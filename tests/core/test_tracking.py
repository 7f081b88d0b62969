"""C-tracking: the floor, ties, and pulls that follow the targets."""

import math

import numpy as np

from bestarm.core.tracking import track


def follow(targets):
    """Track a sequence of targets from no pulls; the counts after each."""
    n = targets.shape[1]
    tracked, floored, pulls = np.zeros(n), np.zeros(n), np.zeros(n)
    for t, target in enumerate(targets):
        pulls[track(target, pulls, t, tracked, floored)] += 1
        yield pulls.copy(), tracked.copy()


def test_first_choice_is_the_largest_target_and_ties_go_to_the_lowest_index():
    assert track(np.array([0.2, 0.5, 0.3]), np.zeros(3), 0, np.zeros(3), np.zeros(3)) == 1
    assert track(np.array([0.2, 0.4, 0.4]), np.zeros(3), 0, np.zeros(3), np.zeros(3)) == 1


def test_floor_is_eps_t():
    tracked = np.zeros(3)
    track(np.array([1.0, 0.0, 0.0]), np.zeros(3), 7, tracked, np.zeros(3))
    assert tracked[1] == 0.5 / math.sqrt(9 + 7)


def test_pulls_stay_near_the_sum_of_targets():
    """Lemma 7 of Garivier & Kaufmann (2016): within n - 1 of the floored sums, here tighter."""
    rng = np.random.default_rng(3)
    targets = rng.dirichlet(np.full(6, 0.3), 5000)
    for pulls, tracked in follow(targets):
        assert np.abs(pulls - tracked).max() <= 6 - 1


def test_every_arm_is_pulled_forever_and_shares_tend_to_the_target():
    target = np.array([0.7, 0.3, 0.0, 0.0])
    *_, (pulls, _) = follow(np.tile(target, (40_000, 1)))
    # the floors add up to about sqrt(t) a zero arm
    assert (pulls[2:] > 0.9 * math.sqrt(40_000)).all()
    np.testing.assert_allclose(pulls / pulls.sum(), target, atol=2 / math.sqrt(40_000))
