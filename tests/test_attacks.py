"""Attacks on promises: results that are late, missing or told because of their value."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestarm.baics import FWS, TaSCS, Uniform
from bestarm.baics.e_values import log_mixture
from bestarm.baics.rounds import RoundRule, log_above
from bestarm.cbmai import SFSR
from bestarm.core.anytime import t_log, t_radius
from bestarm.core.inputs import InputError
from bestarm.lagex import LAGEX, Certified
from bestarm.linear import RAGE, XY, G, XYAdaptive, XYOracle
from bestarm.live.window import Window
from test_ask_tell import BAI, BAICS, CBMAI_KINDS, KNOWN, LINEAR, every, made, tell

FIXED = (G, XY, XYOracle, XYAdaptive, RAGE, *CBMAI_KINDS)


def abandon_low(seed, trials, patience=0, **options):
    """Two arms of rates 0.8 and 0.6; whoever gets 0 from the second is abandoned in the end."""
    s = TaSCS(2, [1.0], constrained=0, delta=0.05, rewards="bernoulli", **options)
    rng, low = np.random.default_rng(seed), []
    for _ in range(trials):
        (trial,) = s.ask(1)
        arm = trial.arm[0]
        reward = float(rng.random() < [0.8, 0.6][arm])
        if arm == 1 and not reward:
            low.append(trial)
        else:
            s.tell(trial, reward)
        if len(low) > patience:
            s.abandon(low.pop(0))
        if s.done:
            break
    return s


def test_low_results_that_are_abandoned_choose_the_answer():
    found = [abandon_low(seed, 2000) for seed in range(6)]
    assert all(s.done and s.answer == 1 for s in found)


def test_they_do_not_if_they_count_as_the_worst():
    """Neither if they are abandoned at once, nor if they stay outstanding for good."""
    for patience in (0, 600):
        found = [abandon_low(seed, 600, patience, missing="worst") for seed in range(4)]
        assert not any(s.done and s.answer == 1 for s in found)


def test_with_few_missing_there_still_is_an_answer():
    rng, s = np.random.default_rng(0), TaSCS(2, [1.0], rewards="bernoulli", missing="worst")
    while not s.done:
        (trial,) = s.ask(1)
        if rng.random() < 0.02:
            s.abandon(trial)
        else:
            s.tell(trial, float(rng.random() < [0.9, 0.2][trial.arm[0]]))
    assert s.answer == 0
    assert s.told < 2000


def slow_refusals(seed, visitors, delay, **options):
    """No page is good enough. Conversions are told at once, all else `delay` visitors later."""
    s = FWS(2, [1.0], minimum=0.30, delta=0.05, rewards="bernoulli", **options)
    rng, slow = np.random.default_rng(seed), []
    for t in range(visitors):
        (trial,) = s.ask(1)
        if rng.random() < [0.25, 0.10][trial.arm[0]]:
            s.tell(trial, 1.0)
        else:
            slow.append((t + delay, trial))
        while slow and slow[0][0] <= t and not s.done:
            s.tell(slow.pop(0)[1], 0.0)
        if s.done:
            break
    return s


def test_conversions_that_come_first_choose_the_answer():
    found = [slow_refusals(seed, 1200, 400) for seed in range(6)]
    assert sum(s.done and s.answer is not None for s in found) >= 3


def test_they_do_not_within_a_window():
    """Whether refusals come within the window or after it."""
    for window in (250, 450):
        found = [slow_refusals(seed, 900, 400, window=window, default=0.0) for seed in range(3)]
        assert not any(s.done and s.answer is not None for s in found)
        assert all(s.pulls.sum() > 300 for s in found)


def test_trials_count_in_the_order_of_asking():
    """Told in any order before the next is asked for, they bring it to the same place."""
    rng, states = np.random.default_rng(3), []
    rewards = rng.normal(0.5, 1.0, 60)
    for shuffled in (False, True):
        s = TaSCS(3, [0.2, 0.8], window=30, default=0.0)
        for _ in range(3):
            trials = s.ask(20)
            order = rng.permutation(20) if shuffled else range(20)
            for i in order:
                s.tell(trials[i], rewards[trials[i].id])
        states.append(s.to_dict()["state"])
    assert states[0] == states[1]
    assert states[0]["told"] == 60


def test_a_window_of_trials():
    """The first is told too late, the second in time, the third is given up."""
    s = Uniform(2, [1.0], window=3, default=-1.0)
    a, b, c = (s.ask(1)[0] for _ in range(3))
    s.tell(b, 5.0)
    s.abandon(c)
    assert s.pulls.sum() == 0  # a has to be waited for
    s.ask(1)
    assert s.pulls.sum() == 3
    assert a not in s.outstanding
    s.tell(a, 7.0)
    assert (s.told, s.late) == (2, 1)
    totals = sorted(float(sums[0]) for _, sums in s._totals.values())
    assert sum(totals) == 5.0 - 1.0 - 1.0
    for trial in (a, b, c):
        with pytest.raises(ValueError, match="told or abandoned before"):
            s.tell(trial, 1.0)


def test_a_window_of_time():
    s = FWS(["a", "b"], {"x": 1.0}, window=60.0, default=0.0)
    first = s.ask(segment="x", at=0.0)
    second = s.ask(1, at=30.0)[0]
    s.tell(second, 1.0, at=50.0)
    s.wait(at=60.0)
    assert s.pulls.sum() == 0
    s.wait(at=60.5)  # the first has passed, so the second counts too
    assert s.pulls.sum() == 2
    s.tell(first, 9.0, at=61.0)
    assert s.late == 1
    before = s.to_dict()
    for call in (
        lambda: s.ask(1),
        lambda: s.ask(1, at=3.0),
        lambda: s.ask(0, at=99.0),
        lambda: s.wait(at=math.nan),
        lambda: s.wait(None),
        lambda: s.abandon(first, at=99.0),
        lambda: s.tell(second, 1.0, at=99.0),
    ):
        with pytest.raises(ValueError, match=r"at must be|finite|n must be|before"):
            call()
    assert s.to_dict() == before


@every
def test_a_window_of_trials_is_for_classes_that_go_on_asking(kind):
    """A phase would wait for trials that are never asked for."""
    if kind._plans_ahead:
        with pytest.raises(ValueError, match="at must be given: the window counts no trials here"):
            made(kind, window=8, default=default_of(kind)).ask(1)
    s = made(kind, window=0.5, default=default_of(kind))
    with pytest.raises(ValueError, match="at must be given"):
        s.ask(1)
    assert s.ask(1, at=0.0)


def default_of(kind):
    """Of rewards, and of costs if there are any."""
    if kind in BAI | BAICS | LINEAR | KNOWN:
        return 0.0
    return (0.0, 0.5) if kind in CBMAI_KINDS else (0.0, [0.5, 0.5])


@every
@pytest.mark.parametrize("times", [False, True])
def test_every_class_has_a_window(kind, times):
    """Random delays, losses and times; the file and the history bring it all back."""
    times = times or kind._plans_ahead
    options = {"window": 8, "default": default_of(kind)}
    options |= {} if kind in CBMAI_KINDS else {"delta": 1e-6}
    s = made(kind, **options)
    rng, waiting, clock = np.random.default_rng(1), [], 0.0
    for _ in range(60):
        clock += float(rng.exponential(2.0))
        at = {"at": clock} if times else {}
        if s.done:
            break
        waiting += s.ask(int(rng.integers(1, 4)), **at)
        for trial in [t for t in waiting if rng.random() < 0.4]:
            waiting.remove(trial)
            if rng.random() < 0.1:
                s.abandon(trial, **at)
            else:
                told = told_of(s, trial, rng)
                s.tell(trial, *told, **at)
        if rng.random() < 0.1:
            s = kind.from_dict(json.loads(json.dumps(s.to_dict())))
    assert s.pulls.sum() > 10
    again = made(kind, **options)
    again.replay(json.loads(json.dumps(s.history)))
    assert again.to_dict() == s.to_dict()
    with pytest.raises(ValueError, match="arm must be a trial"):
        tell(s, (0, 0) if kind in BAICS else 0, rng)


def told_of(s, trial, rng):
    """What a pull gives, as `tell` takes it."""
    told = []
    listener = SimpleNamespace(tell=lambda _, *values: told.extend(values))
    tell(listener, trial, rng, trial.arm, type(s))
    return told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"window": 5}, "default: must be given"),
        ({"default": 0.0}, "window: must be given"),
        ({"window": 0, "default": 0.0}, "window: must be a positive number"),
        ({"window": 5, "default": "x"}, "default: must be what tell takes"),
        ({"window": 5, "default": 2.0, "rewards": "bernoulli"}, "from 0 to 1"),
        ({"missing": "best"}, "missing: must be left out or worst"),
        ({"missing": "worst"}, "missing: worst needs bernoulli rewards"),
        ({"resolution": 0.1}, "resolution: needs sigma unknown"),
        ({"sigma": "unknown", "window": 5, "default": 0.0}, "window: needs a sigma"),
        ({"resolution": -1.0, "sigma": "unknown"}, "resolution: must be a positive number"),
        ({"rounds": True}, "rounds: only Uniform"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments, said):
    with pytest.raises(InputError, match=said):
        TaSCS(2, [1.0], **arguments)


def test_default_has_what_tell_takes():
    assert LAGEX(2, [0.5, 0.5], window=5, default=(0.0, [1.0, 1.0]))._window.default == (0, 1, 1)
    assert SFSR(2, 0.5, 40, window=5, default=(0.0, 1.0))._window.default == (0, 1, 1)
    assert Certified(2, 0.5, window=5, default=(0.0, 1.0))._window.default == (0, 1, 1)
    for wrong in (0.0, (0.0, [1.0, 1.0, 1.0])):
        with pytest.raises(InputError, match="default: must be what tell takes"):
            LAGEX(2, [0.5, 0.5], window=5, default=wrong)


def test_more_trials_than_the_window_are_refused():
    s = FWS(2, [1.0], window=10, default=0.0)
    with pytest.raises(ValueError, match="at most 10, got 11"):
        s.ask(11)
    with pytest.raises(ValueError, match="n must be given with a window"):
        s.ask()


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=40))
def test_a_window_yields_each_trial_once_in_order(steps):
    window, told, seen, asked = Window(4, (0.0,)), {}, [], 0
    for which, asks in steps:
        if asks or not window.waiting:
            window.add(asked, 0, asked)
            asked += 1
        else:
            id = sorted(window.waiting)[which % len(window.waiting)]
            told[id] = float(id + 1)
            assert window.settle(id, (told[id],), asked)
        for id, _, values in window.due(asked):
            seen.append(id)
            assert values == (told.get(id, 0.0),)
            assert id in told or asked - id > 4
    assert seen == list(range(len(seen)))
    assert sorted(window.waiting) == list(range(len(seen), asked))


@pytest.mark.parametrize("kind", FIXED)
def test_results_that_were_not_asked_for_do_not_enter_a_fixed_design(kind):
    """The same pulls and answer as without them, and it is said how many there were."""
    ours, twin = made(kind), made(kind)
    rng, same = np.random.default_rng(5), np.random.default_rng(5)
    extra, told = np.random.default_rng(6), 0
    while not twin.done:
        tell(twin, twin.ask(), same)
        (trial,) = ours.ask(1)
        wanted = [*ours.wanted] if kind in CBMAI_KINDS else []
        if others := set(range(3)) - {*wanted, trial.arm}:
            tell(ours, others.pop(), extra)
            told += 1
        tell(ours, trial, rng, trial.arm)
    assert ours.done
    assert ours.answer == twin.answer
    np.testing.assert_array_equal(ours.pulls, twin.pulls)
    assert ours.kept_out == told
    rows = ours.summary()
    assert rows[rows.quantity == "reward"].kept_out.sum() == told
    assert rows.drop(columns="kept_out").equals(twin.summary().drop(columns="kept_out"))
    assert told > 0


def test_the_worst_of_what_is_missing_is_the_worst_of_all_completions():
    """Against 300 random ways to fill in what was abandoned."""
    rng = np.random.default_rng(7)
    s = TaSCS(3, [0.5, 0.5], rewards="bernoulli", missing="worst", minimum=0.2, delta=1e-9)
    for _ in range(200):
        (trial,) = s.ask(1)
        if rng.random() < 0.1:
            s.abandon(trial)
        else:
            s.tell(trial, float(rng.random() < [0.8, 0.5, 0.1][trial.arm[0]]))
    state = s._state
    s.ask(5)
    missing, worst = s._missing(), np.array(s._statistics())
    assert missing.sum() == s._lost.sum() + 5 > 10
    pulls, best = state.pulls + missing, int(state.answer[0])
    for _ in range(300):
        filled = state.sums + missing * (rng.random(missing.shape) - 0.2) / 0.5
        args = (pulls, filled / pulls, s._rules.problem, best, state.e_values.buffers)
        if (args[1][best] >= 0.0).all():
            full = [log_mixture(i, *args) for i in range(len(worst))]
            assert (np.array(full) >= worst - 1e-9).all()


def test_revenue_that_is_mostly_nothing_is_not_taken_for_certainty():
    """30 in one of a hundred, a minimum of 0.25: the first zeros have no scatter."""
    for seed in range(10):
        s, rng = TaSCS(2, [1.0], sigma="unknown", minimum=0.25), np.random.default_rng(seed)
        with pytest.warns(UserWarning, match="resolution="):
            for _ in range(60):
                s.tell(s.ask(), 30.0 * (rng.random() < 0.01))
        assert not s.done
        assert "resolution=" in s.why_not_done()
        assert np.isinf(s.summary().low).all()
        assert TaSCS.from_dict(json.loads(json.dumps(s.to_dict()))).to_dict() == s.to_dict()


def test_rounded_rewards_need_their_resolution():
    """0.45 with little noise rounds to 0: is it above 0.3? Its rounding says so of 0.5 only."""
    for resolution, wrong in ((1.0, False), (1e-6, True)):
        s = TaSCS(2, [1.0], sigma="unknown", minimum=0.3, resolution=resolution)
        rng = np.random.default_rng(0)
        for _ in range(300):
            if not s.done:
                s.tell(s.ask(), float(np.round(rng.normal(0.45, 0.02))))
        assert (s.done and s.answer is None) == wrong


@given(
    st.lists(st.integers(-4, 4), min_size=3, max_size=30),
    st.floats(0.5, 6.0),
    st.sampled_from([0.01, 1.0, 10.0]),
    st.integers(0, 2**16),
)
def test_t_intervals_of_rounded_rewards_cover_those_before_rounding(told, level, n0, seed):
    """Whatever was rounded: no mean is excluded that some rewards before rounding keep."""
    x, h = np.array(told, float), 1.0
    half = t_radius(level, x.std(), float(x.size), n0, h)
    if math.isinf(half):
        return
    rng = np.random.default_rng(seed)
    for side in (-1.0, 1.0):
        m = x.mean() + side * half * (1.0 + 1e-9)
        toward = x + side * h / 2 * rng.random()  # all nearer to m
        spread = x + np.sign(x - m) * h / 2 * rng.random()  # scattered more
        for y in (x, toward, spread, x + h * (rng.random(x.size) - 0.5)):
            assert t_log((y - m).sum(), ((y - m) ** 2).sum(), float(x.size), n0) >= level - 1e-6


def in_rounds(seed, rounds, drift, means=(0.0, 0.0), delta=0.1):
    """`Uniform` in rounds on two arms, whose means all change by `drift`."""
    s = Uniform(2, [1.0], constrained=0, delta=delta, rounds=True, seed=seed)
    rng = np.random.default_rng(seed)
    for t in range(2 * rounds):
        (trial,) = s.ask(1)
        s.tell(trial, means[trial.arm[0]] + drift(t) + rng.standard_normal())
        if s.done:
            break
    return s


def test_rounds_keep_delta_if_all_means_drift():
    """Tied arms; wrong is any answer. At delta = 0.1 more than 20 of 100 is a chance of 1e-3."""
    stopped = sum(in_rounds(i, 60, lambda t: 5.0 * math.sin(t // 2)).done for i in range(100))
    assert stopped <= 20


def test_rounds_end_with_the_better_arm_on_every_day():
    for seed in range(5):
        s = in_rounds(seed, 3000, lambda t: 5.0 * (t // 2 % 7 < 5), (0.0, 0.8))
        assert (s.done, s.answer) == (True, 1)


def test_a_round_has_every_pair_once_in_random_order():
    s, orders = Uniform(2, [0.5, 0.5], rounds=True, delta=1e-9), set()
    for _ in range(40):
        trials = s.ask(10)
        assert len(trials) == 4
        assert not s.ask(3)
        orders.add(tuple(trial.arm for trial in trials))
        s.abandon(trials[1])
        for trial in (trials[3], trials[0], trials[2]):
            s.tell(trial, 0.5)
        (again,) = s.ask(10)
        assert again.arm == trials[1].arm
        s.tell(trials[0].arm, 99.0)  # not asked for
        s.tell(again, 0.5)
    assert len(orders) > 10
    assert (s.pulls == 40).all()
    assert s.kept_out == 40
    assert (s.means == 0.5).all()
    with pytest.raises(ValueError, match="segment must be left out"):
        s.ask(segment=0)
    restored = Uniform.from_dict(json.loads(json.dumps(s.to_dict())))
    assert restored.to_dict() == s.to_dict()
    assert restored.ask(4) == s.ask(4)


def test_leads_and_means_of_rounds_by_hand():
    rounds = RoundRule(np.array([3.0, 1.0]), np.array([[2.0, 2.0], [4.0, 4.0]]), bounded=False)
    np.testing.assert_allclose(rounds._spread[0, 1] ** 2, (0.75**2 + 0.25**2) * (4 + 16))
    assert RoundRule(np.array([3.0, 1.0]), np.full((2, 2), 0.5), bounded=True)._spread[0, 1] == 1.0
    np.testing.assert_allclose(
        log_above([0.3, -0.3], 50.0), [0.5 * 50**2 / 80 * 0.09 - 0.5 * math.log(80 / 30), -np.inf]
    )
