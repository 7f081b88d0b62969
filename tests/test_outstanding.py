"""Trials without a result: what is kept of them, and that many cost no more time than few."""

import time
from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestarm.baics import TaSCS
from bestarm.delayed import Partial
from bestarm.delayed.running import ONE, RunningSums, whole
from bestarm.live.outstanding import Outstanding
from bestarm.live.window import Window

#: Times may grow by this factor, on a machine that does other things too; bench.py measures them.
MOST, MANY, CALLS = 3.0, 10_000, 300


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 30))))
def test_outstanding_trials_are_those_added_and_not_removed(steps):
    trials, slow = Outstanding(), {}
    for id, (adds, index, removed) in enumerate(steps):
        if adds:
            trials.add(id, index)
            slow[id] = index
        else:
            assert trials.remove(removed) == slow.pop(removed, None)
        assert [*trials] == [*slow.items()]
        assert len(trials) == len(slow)
        assert trials.counts == {a: n for a in range(4) if (n := [*slow.values()].count(a))}
        for a in range(4):
            assert trials.oldest(a, 2) == [id for id, arm in slow.items() if arm == a][:2]
            assert trials.arm(a) == slow.get(a)
        assert not slow or next(iter(trials))[0] == next(iter(slow))


def test_a_window_knows_how_many_trials_of_an_arm_wait():
    window = Window(3.0, (0.0,))
    for id in range(6):
        window.add(id, index=id % 2, since=id)
    assert window.counts == {0: 3, 1: 3}
    assert [index for _, index, _ in window.due(now=5)] == [0, 1]
    assert window.counts == {0: 2, 1: 2}
    again = Window(3.0, (0.0,))
    again.restore(window.to_json())
    assert again.counts == window.counts
    assert again.to_json() == window.to_json()


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1e15, 1e15)), max_size=20))
def test_sums_of_running_pulls_are_exact(reports):
    """Whatever was there before in a slot leaves no trace."""
    sums, slow = RunningSums(2), {}
    for slot, value in reports:
        sums.put(slot, slot % 2, value, -value)
        slow[slot] = Fraction(value)
    if 3 in slow:
        sums.remove(3)
        del slow[3]
    for arm in range(2):
        exact = float(sum((x for slot, x in slow.items() if slot % 2 == arm), Fraction()))
        assert sums.of(arm) == (exact, -exact)


@pytest.mark.parametrize("x", [5e-324, -1e-300, 0.1, 1.0, 1e15, 1.7e308, 0.0])
def test_every_float_is_a_whole_number_of_the_unit(x):
    assert Fraction(whole(x), ONE) == Fraction(x)


def fastest(call):
    """Processor time of a call, at best: others use the machine too."""
    times = []
    for _ in range(CALLS):
        start = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - start)
    return np.quantile(times, 0.1)


def test_many_outstanding_trials_take_no_more_time():
    s, rng = TaSCS(3, [0.5, 0.5], delta=1e-300), np.random.default_rng(1)
    for _ in range(60):
        s.tell(s.ask(), rng.normal())
    calls = [
        lambda: s.tell(s.ask(segment=0), rng.normal()),
        lambda: s.tell((0, 1), rng.normal()),  # of the oldest such trial
    ]
    before = [fastest(call) for call in calls]
    s.ask(MANY)
    after = [fastest(call) for call in calls]
    assert (np.array(after) < MOST * np.array(before)).all()


def test_many_running_pulls_take_no_more_time():
    def report(batch):
        s, rng = Partial(5, sigma=0.5, sigma_p=0.4, delta=1e-300, batch=batch), iter(range(10**6))
        running = deque(s.ask().start)

        def call():
            s.partial(running[0], float(next(rng) % 7))
            s.final(running.popleft(), 1.0)
            running.extend(s.ask().start)

        return fastest(call)

    assert report(MANY) < MOST * report(1)
