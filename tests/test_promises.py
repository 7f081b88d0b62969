"""What live objects promise to people who watch them."""

import json

import numpy as np
import pytest

from bestarm.baics import FWS, TaSCS, Uniform
from bestarm.cbmai import SFSR
from bestarm.core import files
from bestarm.live.monitor import mean_interval


def test_intervals_scale_with_sigma():
    one = mean_interval(30.0, 20, 1.0, 0.05)
    small = mean_interval(3.0, 20, 0.1, 0.05)
    np.testing.assert_allclose(small, 0.1 * np.array(one))


def test_all_intervals_of_a_summary_share_delta():
    """Each of 6 pairs at delta 0.06 has the interval of one of 2 pairs at delta 0.02."""
    rewards = np.random.default_rng(0).normal(size=30)
    whole, alone = Uniform(3, [0.5, 0.5], delta=0.06), Uniform(2, [1.0], delta=0.02)
    for reward in rewards:
        whole.tell((0, 0), reward)
        alone.tell((0, 0), reward)
    ours, theirs = (s.summary().iloc[0] for s in (whole, alone))
    assert ours.pulls == theirs.pulls == 30
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_a_summary_leaves_out_what_was_told_after_the_end():
    s = TaSCS(2, [1.0], delta=0.1)
    while not s.done:
        arm = s.ask()
        s.tell(arm, [5.0, 1.0][arm[0]])
    before = s.summary()
    s.tell((0, 0), -1e3)
    assert s.late == 1
    assert s.summary().equals(before)


@pytest.mark.parametrize("kind", [TaSCS, FWS, Uniform])
def test_with_sigma_unknown_an_arm_that_was_never_tried_keeps_a_run_open(kind):
    s, rng = kind(2, [0.5, 0.5], sigma="unknown", delta=0.1), np.random.default_rng(1)
    for t in range(200):
        s.tell((0, t % 2), 3.0 + 0.1 * rng.normal())
    assert not s.done


def test_a_batch_that_is_wanted_can_be_told():
    """Also after pulls that were not asked for, which do not count: never more than the budget."""
    s, rng = SFSR(n_arms=4, bounds=0.5, budget=60), np.random.default_rng(0)
    with pytest.raises(ValueError, match="as the round wants, got 25"):
        s.tell(0, 20.0, 5.0, pulls=25)
    told = 0
    while not s.done:
        batch = s.wanted
        assert 0 < sum(batch.values()) <= 60 - told
        for arm, pulls in batch.items():
            s.tell(arm, rng.normal(pulls * arm), rng.normal(0.2 * pulls), pulls=pulls)
            told += pulls
    assert told <= 60


def test_a_save_that_fails_leaves_the_file_of_before(tmp_path, monkeypatch):
    s, file = TaSCS(2, [1.0]), tmp_path / "experiment.json"
    s.save(file)
    before = json.loads(file.read_text())
    s.tell((0, 0), 1.0)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        s.save(file)
    assert json.loads(file.read_text()) == before
    assert list(tmp_path.iterdir()) == [file]
