"""The compiled race against the literal one, and what the paper says of every run."""

import numpy as np
import pytest

from bestarm.delayed import reference
from bestarm.delayed.bounds import (
    BIASED,
    FULL,
    GUARANTEED,
    INCREMENTAL,
    MIXTURE,
    OPTIMAL,
    PUBLISHED,
    UNBIASED,
    Rules,
)
from bestarm.delayed.racing import run
from bestarm.delayed.steps import (
    ACCEPTED,
    REJECTED,
    SURVIVING,
    Race,
    make_state,
    update_sets,
)
from bestarm.delayed.world import Problem, increment

FEEDBACKS = {"full": FULL, "incremental": INCREMENTAL, "unbiased": UNBIASED, "biased": BIASED}
SPLITS = {"optimal": OPTIMAL, "published": PUBLISHED, "guaranteed": GUARANTEED}
FORMS = SPLITS | {"mixture": MIXTURE}
MEANS = np.array([1.0, 5.0, 3.2, 0.3, 4.0, 2.0])
#: The second and the third best arm further apart, for shorter races.
APART = np.array([1.0, 5.0, 3.0, 0.3, 4.6, 2.0])
BIAS = np.array([0.5, -1.0, 2.0, 0.0, -3.0, 1.0])
BIG = 10**9


def streams(seed):
    return np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])


def compiled(
    seed,
    *,
    means=MEANS,
    delay=(8, 8),
    k=2,
    batch=1,
    limit=None,
    cap=BIG,
    feedback="unbiased",
    split="optimal",
    survivors=False,
    pooled=1,
    by_slot=False,
    sigma=0.7,
    sigma_p=0.5,
    multiplier=2.0,
    delta=0.05,
):
    n = len(means)
    arms = Problem(
        np.asarray(means, dtype=float),
        BIAS[:n] if feedback == "biased" else np.zeros(n),
        np.full(n, delay[0]),
        np.full(n, delay[1]),
        np.full(n, sigma),
        sigma_p,
    )
    rules = Rules(
        FEEDBACKS[feedback],
        multiplier * np.full(n, sigma),
        multiplier * sigma_p,
        delta,
        FORMS[split],
        survivors,
        pooled,
        by_slot,
    )
    return run(Race(k, batch, limit or batch, cap), rules, arms, *streams(seed))


def literal(
    seed,
    *,
    means=MEANS,
    delay=(8, 8),
    k=2,
    batch=1,
    limit=None,
    cap=BIG,
    feedback="unbiased",
    sigma=0.7,
    sigma_p=0.5,
    multiplier=2.0,
    delta=0.05,
    by_slot=False,
    **rules,
):
    environment, coins = streams(seed)
    n = len(means)
    nature = reference.Nature(
        means, [delay[0]] * n, [delay[1]] * n, sigma, environment,
        bias=BIAS if feedback == "biased" else None, sigma_p=sigma_p,
    )  # fmt: skip
    scales = {"sigma": multiplier * sigma, "sigma_p": multiplier * sigma_p}
    race = reference.RaceBySlot if by_slot else reference.Race
    return race(
        nature,
        reference.Rules(feedback, delta=delta, **scales, **rules),
        coins,
        k=k,
        batch=batch,
        limit=limit or batch,
        cap=cap,
    ).run()


def counts(pulls, n):
    return np.bincount([p.arm for p in pulls], minlength=n)


CASES = [
    {"feedback": "full"},
    {"feedback": "full", "batch": 4, "limit": 2},
    {"feedback": "full", "batch": 3, "delay": (3, 12), "survivors": True},
    {"feedback": "incremental"},
    {"feedback": "incremental", "batch": 5, "limit": 3},
    {},
    {"delay": (1, 10)},
    {"split": "published", "survivors": True},
    {"split": "guaranteed"},
    {"batch": 4, "limit": 2},
    {"batch": 10, "delay": (2, 15)},
    {"batch": 10, "pooled": 10},
    {"batch": 10, "pooled": 10, "split": "guaranteed", "delay": (2, 15)},
    {"feedback": "biased"},
    {"feedback": "biased", "delay": (1, 10), "batch": 3},
    {"feedback": "biased", "split": "guaranteed", "batch": 10, "pooled": 10},
    # feedback so exact that it moves the bounds although its bias must be learnt:
    {"feedback": "biased", "sigma_p": 0.05, "batch": 5},
    {"feedback": "biased", "sigma_p": 0.05, "batch": 10, "pooled": 10},
    {"feedback": "biased", "sigma_p": 0.02, "by_slot": True, "batch": 4, "delay": (1, 10)},
    {"multiplier": 1.0, "sigma_p": 0.2},
    *(
        {"split": "mixture", "multiplier": 1.0, "feedback": feedback, **batch}
        for feedback in FEEDBACKS
        for batch in ({}, {"batch": 10})
    ),
    {"split": "mixture", "multiplier": 1.0, "feedback": "biased", "delay": (1, 10), "batch": 3},
    {"split": "mixture", "multiplier": 1.0, "delay": (2, 15), "batch": 4, "limit": 2},
    {"cap": 40},
    {"feedback": "full", "cap": 37, "batch": 2},
    {"by_slot": True, "split": "published", "survivors": True},
    {"by_slot": True, "split": "published", "survivors": True, "batch": 4},
    {"by_slot": True, "split": "published", "survivors": True, "batch": 10, "delay": (2, 15)},
    {"by_slot": True, "batch": 7, "limit": 2, "delay": (1, 9), "sigma_p": 0.1},
    {"by_slot": True, "batch": 5, "feedback": "full", "survivors": True},
    {"by_slot": True, "batch": 5, "feedback": "full", "delay": (2, 15), "cap": 60},
    {"by_slot": True, "batch": 4, "feedback": "incremental"},
    {"by_slot": True, "batch": 10, "feedback": "biased", "delay": (1, 10), "survivors": True},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_run_as_the_literal_algorithm(case):
    """Same streams, same time, sets and pulls; a race of up to some hundred updates."""
    seed = CASES.index(case)
    fast, slow = (race(seed, means=APART, **case) for race in (compiled, literal))
    assert fast.time == slow.time
    assert set(np.flatnonzero(fast.sets == ACCEPTED)) == slow.accepted
    assert set(np.flatnonzero(fast.sets == REJECTED)) == slow.rejected
    assert fast.stopped == (len(slow.accepted) + len(slow.rejected) == APART.size)
    np.testing.assert_array_equal(fast.finished, counts(slow.finished, APART.size))
    np.testing.assert_array_equal(fast.cancelled, counts(slow.cancelled, APART.size))
    log = [(arm, centre, width) for *_, arm, centre, width in slow.log]
    last = {arm: centre for arm, centre, _ in log}
    for arm, centre in last.items():
        assert fast.centres[arm] == pytest.approx(centre, abs=1e-9)
    off = any(abs(centre - APART[arm]) > width for arm, centre, width in log)
    assert fast.missed == off


@pytest.mark.parametrize("feedback", FEEDBACKS)
@pytest.mark.parametrize("batch", [1, 5])
def test_every_pull_ends_once(feedback, batch):
    """Finished or cancelled, and its steps are counted: all of a constant delay if finished."""
    for seed in range(20):
        end = compiled(seed, feedback=feedback, batch=batch, limit=2)
        assert end.stopped
        assert (end.steps >= 8 * end.finished).all()
        assert (end.steps <= 8 * end.finished + 7 * end.cancelled).all()
        if batch == 1:
            assert end.steps.sum() == end.time
        else:
            assert end.time < end.steps.sum() <= batch * end.time


def test_every_pull_of_the_literal_race_ends_once():
    end = literal(0, batch=4, limit=2, delay=(2, 9))
    ended = [(p.arm, p.number) for p in [*end.finished, *end.cancelled]]
    assert len(ended) == len(set(ended))
    for arm in range(MEANS.size):
        numbers = sorted(number for a, number in ended if a == arm)
        assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize(("batch", "limit"), [(1, 1), (4, 1), (7, 3), (3, 10)])
def test_batch_limits(batch, limit):
    """At most b pulls run, and r of an arm; as many as these allow, while arms survive."""
    case = {"batch": batch, "limit": limit, "delay": (3, 9), "means": APART}
    slow = literal(1, **case)
    assert slow.most == min(batch, limit * MEANS.size)
    assert slow.most_of_an_arm <= limit
    fast = compiled(1, **case)  # the same run, arm by arm
    steps = np.bincount(
        [p.arm for p in slow.finished + slow.cancelled],
        [p.age for p in slow.finished + slow.cancelled],
        minlength=MEANS.size,
    )
    np.testing.assert_array_equal(fast.steps, steps)
    if limit >= batch:
        assert fast.steps.sum() == batch * fast.time


def test_an_uninformative_partial_feedback_changes_nothing():
    for batch in (1, 5):
        for seed in range(30):
            full = compiled(seed, feedback="full", batch=batch)
            partial = compiled(seed, feedback="unbiased", sigma_p=1e9, batch=batch)
            assert partial.time == full.time
            np.testing.assert_array_equal(partial.sets, full.sets)


def test_an_informative_one_saves_time():
    """Most where one pull of an arm tells enough: the last need not be waited for."""
    easy = {"means": np.arange(12.0) * 8.0, "k": 3, "delay": (100, 100)}
    times = [
        (compiled(s, **easy).time, compiled(s, feedback="full", **easy).time) for s in range(50)
    ]
    partial, full = np.mean(times, axis=0)
    assert partial < 0.9 * full


@pytest.mark.parametrize("feedback", FEEDBACKS)
@pytest.mark.parametrize("batch", [1, 3])
def test_without_delay_all_is_standard_racing(feedback, batch):
    for seed in range(20):
        standard = compiled(seed, feedback="full", delay=(1, 1), batch=batch)
        same = compiled(seed, feedback=feedback, delay=(1, 1), batch=batch)
        assert standard.time == same.time
        np.testing.assert_array_equal(standard.sets, same.sets)
        np.testing.assert_array_equal(standard.finished, same.finished)
        if batch == 1:
            assert standard.finished.sum() == standard.time


def test_full_feedback_ignores_time_but_for_the_delay():
    """Sequential racing on full feedback takes D times the pulls of standard racing."""
    for seed in range(20):
        assert (
            compiled(seed, feedback="full", delay=(13, 13)).time
            == 13 * compiled(seed, feedback="full", delay=(1, 1)).time
        )


@pytest.mark.parametrize("k", [1, 5, 6])
@pytest.mark.parametrize("batch", [1, 4])
def test_top_k_at_the_ends(k, batch):
    """k = 1, n - 1 and n; with k = n the first feedback ends the run."""
    best = set(np.argsort(-MEANS)[:k])
    right = 0
    for seed in range(20):
        end = compiled(seed, k=k, batch=batch)
        assert end.stopped
        assert (end.sets == ACCEPTED).sum() == k
        right += set(np.flatnonzero(end.sets == ACCEPTED)) == best
        if k == 6:
            assert end.time == 1
    assert right >= 19


def updated(lower, upper, k):
    """A race at which Algorithm 1 looks with these bounds."""
    state = make_state(Race(k, 1, 1, BIG), np.zeros(len(lower), np.int64))
    state.lower[:], state.upper[:] = lower, upper
    update_sets(state)
    return state


def test_sets_by_hand():
    """Three arms apart, then one overlap; ranks as in Algorithm 1, ties decide nothing."""

    def after(lower, upper, k):
        state = updated(lower, upper, k)
        left = state.n_surviving[0]
        assert left == (state.sets == SURVIVING).sum()
        assert state.n_to_accept[0] == k - (state.sets == ACCEPTED).sum()
        assert state.surviving[:left].tolist() == np.flatnonzero(state.sets == SURVIVING).tolist()
        return state.sets.tolist()

    assert after([3.0, 2.0, 0.0], [4.0, 2.5, 1.0], 1) == [ACCEPTED, REJECTED, REJECTED]
    assert after([3.0, 2.0, 0.0], [4.0, 3.5, 1.0], 1) == [SURVIVING, SURVIVING, REJECTED]
    assert after([3.0, 2.0, 0.0], [4.0, 3.5, 1.0], 2) == [ACCEPTED, ACCEPTED, REJECTED]
    assert after([3.0, 0.5, 0.0], [4.0, 2.0, 1.0], 2) == [ACCEPTED, SURVIVING, SURVIVING]
    assert after([3.0, 3.0, 3.0], [4.0, 4.0, 4.0], 1) == [SURVIVING] * 3
    assert after([2.0, 1.0, 0.0], [3.0, 2.0, 1.0], 1) == [SURVIVING, SURVIVING, REJECTED]
    assert after([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 3) == [ACCEPTED] * 3


def test_sets_of_random_bounds_are_the_literal_ones():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        n = int(rng.integers(1, 8))
        k = int(rng.integers(1, n + 1))
        lower = rng.integers(-3, 6, n).astype(float)
        upper = lower + rng.integers(0, 4, n)
        lower[rng.random(n) < 0.1] = -np.inf
        sets = updated(lower, upper, k).sets
        a, r, s = reference.update_arm_sets(set(), set(), set(range(n)), k, lower, upper)
        for members, name in ((a, ACCEPTED), (r, REJECTED), (s, SURVIVING)):
            assert set(np.flatnonzero(sets == name)) == members


def test_ties_between_arms_within_the_top_are_harmless():
    """Equal means on the same side of the cut are told apart from the rest all the same."""
    means = np.array([4.0, 4.0, 0.0, 0.0, 4.0, 0.0])
    for seed in range(10):
        end = compiled(seed, means=means, k=3)
        assert end.stopped
        assert np.flatnonzero(end.sets == ACCEPTED).tolist() == [0, 1, 4]
    capped = compiled(0, means=means, k=2, cap=5000)  # no right answer: it never ends
    assert not capped.stopped
    assert capped.time == 5000


def increments(reward, delay, sigma, coins):
    seen, draw = np.zeros(delay), increment.py_func
    for age in range(1, delay):
        seen[age - 1] = draw(reward - seen.sum(), delay - age + 1, delay, sigma, coins)
    seen[-1] = reward - seen.sum()
    return seen


def test_increments_are_independent():
    """Given their normal sum they are drawn so that each has mean mu/D and variance sigma^2/D."""
    rng, n = np.random.default_rng(0), 20_000
    seen = np.array([increments(rng.normal(2.0, 1.5), 4, 1.5, rng) for _ in range(n)])
    assert np.abs(seen.mean(axis=0) - 0.5).max() < 5.5 * 0.75 / np.sqrt(n)
    covariance = np.cov(seen.T)
    assert np.abs(covariance - 0.5625 * np.eye(4)).max() < 5.5 * 0.5625 * np.sqrt(2.0 / n)


def test_the_cut_does_not_depend_on_an_unknown_bias():
    """Racing with biased feedback answers as well whatever the bias."""
    for seed in range(20):
        end = compiled(seed, feedback="biased", delay=(4, 9))
        assert np.flatnonzero(end.sets == ACCEPTED).tolist() == [1, 4]
