"""Many trials asked for at once, allocations for who splits traffic, and least shares of arms."""

import json
import time

import numpy as np
import pytest

from bestarm import bai, baics, cbmai, lagex, linear
from test_ask_tell import OBJECTS, made

SEGMENTS = {"new": 0.7, "old": 0.3}
RATES = np.array([[0.05, 0.06], [0.03, 0.04], [0.04, 0.03]])


def shop(kind=baics.TaSCS, **options):
    arms, options = ["a", "b", "c"], {"rewards": "bernoulli", "delta": 1e-6} | options
    return kind(arms, SEGMENTS, **options)


def replays(s, again):
    again.replay(json.loads(json.dumps(s.history)))
    assert again.to_dict() == s.to_dict()


def test_a_batch_of_a_segment_is_as_many_visitors():
    one, other = shop(), shop()
    batch = one.ask(40, segment="old")
    assert batch == [other.ask(segment="old") for _ in range(40)]
    assert {trial.arm[1] for trial in batch} == {"old"}
    assert len({trial.arm[0] for trial in batch}) == 3
    replays(one, shop())


SPLIT = [baics.TaSCS, baics.FWS, baics.TaS, baics.Uniform, baics.TwoStage]


@pytest.mark.parametrize("kind", SPLIT)
@pytest.mark.parametrize("least_share", [None, 0.2, {"c": 0.5, "a": 0.1, "b": 0.0}])
def test_an_allocation_has_all_visitors_and_the_least_shares(kind, least_share):
    s = shop(kind)
    rng = np.random.default_rng(1)
    for _ in range(3):
        for g, (segment, n) in enumerate({"new": 703, "old": 297}.items()):
            counts = s.allocation(n, segment=segment, least_share=least_share)
            assert sum(counts.values()) == n
            assert set(counts) <= {"a", "b", "c"}
            if least_share is not None:
                shares = least_share if isinstance(least_share, dict) else dict.fromkeys("abc", 0.2)
                assert all(counts.get(a, 0) >= int(share * n) for a, share in shares.items())
            bought = {a: rng.binomial(m, RATES["abc".index(a), g]) for a, m in counts.items()}
            for a, m in counts.items():
                s.tell((a, segment), pulls=m, total=int(bought[a]))
    assert s.told == 3000
    replays(s, shop(kind))


@pytest.mark.parametrize("kind", [bai.TrackAndStop, bai.TopK, linear.LinGapE, lagex.LAGEX])
def test_other_strategies_allocate_arms(kind):
    s = made(kind, delta=1e-6)
    assert sum(s.allocation(100).values()) == 100
    assert min(s.allocation(100, least_share=0.25).values()) >= 25


def test_an_allocation_in_steps_is_near_that_of_single_visitors():
    """With what was told of 3,000 visitors, of the next 2,000."""
    one, other = shop(), shop()
    for s in (one, other):
        for a, arm in enumerate("abc"):
            for g, segment in enumerate(SEGMENTS):
                s.tell((arm, segment), pulls=500, total=round(500 * RATES[a, g]))
    singly = [trial.arm[0] for trial in other.ask(2000, segment="new")]
    counts = one.allocation(2000, segment="new")
    for arm in "abc":
        assert abs(counts.get(arm, 0) - singly.count(arm)) <= 60


@pytest.mark.parametrize("kind", [baics.TaSCS, baics.Uniform])
def test_trials_have_the_least_shares_too(kind):
    s = shop(kind)
    arms = [trial.arm for trial in s.ask(50, segment="new", least_share={"a": 0, "b": 0, "c": 0.7})]
    assert arms.count(("c", "new")) >= 35
    assert len(arms) == 50
    with_window = shop(kind, window=100.0, default=0.0)
    assert len(with_window.ask(50, segment="new", least_share=0.3)) == 50
    replays(s, shop(kind))
    replays(with_window, shop(kind, window=100.0, default=0.0))


WRONG = [
    (lambda s: s.allocation(0), "n must be a positive integer"),
    (lambda s: s.allocation(10, segment="all"), "segment must be one of new, old, got 'all'"),
    (lambda s: s.allocation(10, segment="new", least_share=0.5), "add up to at most 1, got 1.5"),
    (lambda s: s.allocation(10, segment="new", least_share=[0.1, 0.1]), "must be a share, or 3"),
    (lambda s: s.allocation(10, segment="new", least_share=-0.1), "must be a share, or 3"),
    (lambda s: s.ask(10, segment="new", least_share={"a": 1}), "must be given for a, b, c, got a"),
    (lambda s: s.ask(10, least_share=0.1), "segment must be given with least_share"),
    (lambda s: s.ask(segment="new", least_share=0.1), "n must be given with least_share"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_wrong_batches_change_nothing(call, said):
    s = shop()
    with pytest.raises(ValueError, match=said):
        call(s)
    assert len(s.history) == 1


PLANNED = [cbmai.SFSR, lagex.Certified, linear.RAGE, linear.G]


@pytest.mark.parametrize("kind", PLANNED)
def test_planned_pulls_are_asked_for_as_trials(kind):
    s = made(kind)
    with pytest.raises(ValueError, match=r"must be asked for by ask\(n\): its pulls are planned"):
        s.allocation(10)
    with pytest.raises(ValueError, match="least_share must be left out: its pulls are planned"):
        s.ask(10, least_share=0.1)
    assert len(s.history) == 1
    assert set(PLANNED) < set(OBJECTS)


def test_a_test_of_twenty_days_takes_seconds_and_its_record_is_short(tmp_path):
    """5,000 visitors a day who come by themselves; bench.py measures the time."""
    s, rng, spent = shop(delta=1e-9), np.random.default_rng(2), 0.0
    for _ in range(20):
        day = rng.binomial(5000, 0.7)
        rows = []
        start = time.process_time()
        for segment, n in (("new", day), ("old", 5000 - day)):
            rows += [(a, segment, m) for a, m in s.allocation(n, segment=segment).items()]
        spent += time.process_time() - start
        arms, segments, pulls = zip(*rows, strict=True)
        rates = [RATES["abc".index(a), [*SEGMENTS].index(g)] for a, g, _ in rows]
        total = rng.binomial(pulls, rates).tolist()
        start = time.process_time()
        s.tell_table({"arm": arms, "segment": segments, "pulls": pulls, "total": total})
        spent += time.process_time() - start
        if s.done:
            break
    assert spent < 20.0  # on the slowest machine
    s.save(tmp_path / "test.json")
    assert (tmp_path / "test.json").stat().st_size < 40_000
