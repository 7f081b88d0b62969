"""Results told as counts: the same as one by one where they can be, else refused in a line."""

import json

import numpy as np
import pandas as pd
import pytest

from bestarm import bai, baics, lagex, linear
from bestarm.baics.counts import observe_counts
from bestarm.baics.steps import observe
from bestarm.live.interactive import Trial
from test_ask_tell import BAI, BAICS, CBMAI, KNOWN, LAGEX, LINEAR, OBJECTS, every, made

RACES = (bai.ChernoffRacing, bai.KLRacing)
#: Classes that count only what they asked for.
FIXED = (linear.G, linear.XY, linear.XYOracle, linear.XYAdaptive, linear.RAGE, *CBMAI)
LOOSE = {"delta": 1e-6}


def loose(kind):
    return made(kind, **({"budget": 600} if kind in CBMAI else LOOSE))


def batch_of(s, rng, n=4):
    """Results of n pulls of every arm, as rows (arm, pulls, rewards, costs)."""
    kind = type(s)
    arms = [(k, l) for k in range(3) for l in range(2)] if kind in BAICS else range(3)
    d = 1 if kind in CBMAI else 2 if kind in LAGEX and kind not in KNOWN else 0
    return [(arm, rng.normal(size=n), rng.normal(size=(n, d))) for arm in arms]


def table_of(s, batch):
    """The batch as a table of counts."""
    rows = []
    for arm, rewards, costs in batch:
        row = dict(zip(("arm", "segment"), arm, strict=True)) if type(s) in BAICS else {"arm": arm}
        row |= {"pulls": len(rewards), "total": rewards.sum()}
        if costs.size:
            row |= dict(zip(s._costs, costs.sum(axis=0), strict=True))
        rows.append(row)
    return pd.DataFrame(rows)


def told_singly(s, batch):
    for arm, rewards, costs in batch:
        for reward, cost in zip(rewards, costs, strict=True):
            s.tell(arm, reward, *([cost] if costs.size else []))


SUMS = [kind for kind in OBJECTS if kind not in RACES]


@pytest.mark.parametrize("kind", SUMS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_counts_are_the_same_data(kind):
    """Pulls, estimates and the summary, whatever comes after; the history is one event."""
    rng, one, other = np.random.default_rng(1), loose(kind), loose(kind)
    n = 1 if kind in FIXED and kind not in CBMAI else 4
    for s in (one, other):
        if kind in FIXED and kind not in CBMAI:
            s.ask(200)
    batch = batch_of(one, rng, n)
    if kind in (linear.G, linear.XY, linear.XYOracle, linear.XYAdaptive, linear.RAGE):
        batch = [row for row in batch if one._outstanding.counts.get(row[0], 0) >= n]
    before = len(other.history)
    told_singly(one, batch)
    other.tell_table(table_of(other, batch))
    assert len(other.history) == before + 1
    assert other.told == one.told == n * len(batch)
    np.testing.assert_array_equal(other.pulls, one.pulls)
    columns = ["pulls", "estimate", "low", "high"]
    for column in columns:
        np.testing.assert_allclose(
            other.summary()[column], one.summary()[column], rtol=1e-9, atol=1e-12
        )
    assert other.done == one.done
    again = loose(kind)
    again.replay(json.loads(json.dumps(other.history)))
    assert again.to_dict() == other.to_dict()
    assert kind.from_dict(json.loads(json.dumps(other.to_dict()))).to_dict() == other.to_dict()


@pytest.mark.parametrize("reading", ["as-written", "proven", "proven-mixture"])
def test_a_batch_of_one_pull_is_an_observation(reading):
    """The state of the steps, to rounding; also while coefficients are planned."""
    s, rng = baics.TaSCS(3, [0.4, 0.6], reading=reading, delta=1e-9), np.random.default_rng(2)
    twin, means = baics.TaSCS(3, [0.4, 0.6], reading=reading, delta=1e-9), [0.5, 0.2, -0.2]
    for t in range(200):
        pair, reward = int(rng.integers(6)), 0.0
        reward = means[pair // 2] + rng.normal()
        pulls, sums = np.zeros((3, 2)), np.zeros((3, 2))
        pulls.flat[pair], sums.flat[pair] = 1.0, reward
        observe(s._rules, s._state, pair, reward)
        observe_counts(twin._rules, twin._state, pulls, sums, np.zeros((3, 2)))
        if t % 20 == 0:
            np.testing.assert_allclose(twin._statistics(), s._statistics(), rtol=1e-9, atol=1e-9)
    assert twin._state.e_values.pairs.planned == s._state.e_values.pairs.planned


def test_coefficients_of_a_batch_are_those_planned_before_it():
    """The sums of a pair's direction do not depend on the order of rows, nor on their rewards."""
    rng = np.random.default_rng(3)
    start = baics.TaSCS(3, [0.4, 0.6], delta=1e-9)
    for t in range(300):
        start.tell((t % 3, t % 2), [0.5, 0.3, -0.3][t % 3] + rng.normal())
    moved = []
    for rewards in (rng.normal(size=(3, 2)), 5.0 + rng.normal(size=(3, 2))):
        s = baics.TaSCS.from_dict(start.to_dict())
        observe_counts(s._rules, s._state, np.full((3, 2), 50.0), 50.0 * rewards, np.zeros((3, 2)))
        moved.append(s._state.e_values.pairs.moved.copy())
    np.testing.assert_array_equal(moved[0], moved[1])


def test_squares_tell_the_scatter_if_sigma_is_unknown():
    kind = {"sigma": "unknown", "resolution": 1e-9, "delta": 1e-6}
    one, other = (baics.TaSCS(2, [1.0], **kind) for _ in range(2))
    rng = np.random.default_rng(4)
    for _ in range(3):
        for arm in ((0, 0), (1, 0)):
            rewards = 20.0 + arm[0] + rng.normal(size=30)
            for reward in rewards:
                one.tell(arm, reward)
            squares = float((rewards**2).sum())
            other.tell(arm, pulls=30, total=float(rewards.sum()), squares=squares)
    ours, theirs = other._state.e_values.scatter, one._state.e_values.scatter
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    with pytest.raises(ValueError, match="squares must be larger than"):
        other.tell((0, 0), pulls=10, total=10.0, squares=10.0)
    with pytest.raises(ValueError, match='squares must be given with sigma="unknown"'):
        other.tell((0, 0), pulls=10, total=10.0)


REFUSED = [
    (lambda: baics.Uniform(2, [1.0], rounds=True), "a round has one result"),
    (lambda: baics.TaSCS(2, [1.0], sigma="unknown"), "rewards must not repeat; give resolution="),
    (lambda: baics.TaSCS(2, [1.0], window=5.0, default=0.0), "count by their trials"),
    (lambda: made(bai.KLRacing), "a race compares the arms after every round"),
    (lambda: made(bai.ChernoffRacing), "a race compares the arms after every round"),
]


@pytest.mark.parametrize(("make", "said"), REFUSED)
def test_what_needs_order_or_single_values_refuses_counts(make, said):
    s = make()
    arm = (0, 0) if type(s) in BAICS else 0
    with pytest.raises(ValueError, match=f"pulls must be told one by one: .*{said}"):
        s.tell(arm, pulls=3, total=1.0)
    assert len(s.history) == 1


WRONG = [
    ({"pulls": 3}, "pulls and total must be given together"),
    ({"total": 3.0}, "pulls and total must be given together"),
    ({"reward": 1.0, "pulls": 3, "total": 1.0}, "pulls and total must be given together"),
    ({"pulls": -1, "total": 1.0}, "pulls must be a positive integer"),
    ({"pulls": 2.5, "total": 1.0}, "pulls must be a positive integer"),
    ({"pulls": 0, "total": 1.0}, "pulls must be a positive integer"),
    ({"pulls": 3, "total": np.nan}, "finite"),
    ({"pulls": 3, "total": 4.0}, "from 0 to 1"),
    ({"pulls": 3, "total": 1.0, "squares": 1.0}, "squares must be left out"),
]


@pytest.mark.parametrize(("told", "said"), WRONG)
def test_wrong_counts_change_nothing(told, said):
    s = baics.TaSCS(2, [1.0], rewards="bernoulli")
    before = s.to_dict()
    with pytest.raises(ValueError, match=said):
        s.tell((0, 0), **told)
    with pytest.raises(ValueError, match="pulls must be told of an arm"):
        s.tell(Trial(0, (0, 0)), pulls=3, total=1.0)
    assert s.to_dict() == before


TABLES = [
    ({"arm": [0]}, "table must have the columns arm, segment, pulls, total, got arm"),
    ({"arm": [0], "segment": [0, 0], "pulls": [1], "total": [1]}, "equal length"),
    ({"arm": [0, 1], "segment": [0, 7], "pulls": [1, 1], "total": [1, 1]}, "row 2: segment"),
    ({"arm": [0, 0], "segment": [0, 0], "pulls": [1, 1], "total": [1, 1]}, "one row per arm"),
    (3, "table must be a DataFrame"),
]


@pytest.mark.parametrize(("table", "said"), TABLES)
def test_wrong_tables_change_nothing(table, said):
    s = baics.TaSCS(2, [1.0], rewards="bernoulli")
    with pytest.raises(ValueError, match=said):
        s.tell_table(table)
    assert len(s.history) == 1


def test_a_day_of_visitors_is_told_as_it_is_grouped():
    days = pd.DataFrame(
        {"page": ["old", "new", "old"], "who": ["x", "y", "x"], "bought": [0, 1, 1]}
    )
    s = baics.FWS(["old", "new"], {"x": 0.5, "y": 0.5}, rewards="bernoulli")
    told = days.groupby(["page", "who"]).bought.agg(pulls="size", total="sum")
    s.tell_table(told.rename_axis(["arm", "segment"]))
    assert s.pulls.tolist() == [[2, 0], [0, 1]]
    empty = told.assign(pulls=0, total=0).rename_axis(["arm", "segment"])
    s.tell_table(empty)
    assert s.told == 3


def test_counts_close_the_oldest_trials_of_an_arm_and_no_more_than_a_design_asked_for():
    s = linear.G(**LINEAR[linear.G])
    trials = s.ask(20)
    mine = [trial.id for trial in trials if trial.arm == 0]
    with pytest.raises(ValueError, match=f"pulls must be at most {len(mine)}, as are outstanding"):
        s.tell(0, pulls=len(mine) + 1, total=1.0)
    s.tell(0, pulls=len(mine) - 1, total=1.0)
    assert [trial.id for trial in s.outstanding if trial.arm == 0] == mine[-1:]


def test_counts_after_the_end_are_late():
    s = bai.TrackAndStop(2)
    s.tell_table({"arm": [0, 1], "pulls": [500, 500], "total": [400, 100]})
    assert s.done
    s.tell(1, pulls=300, total=300)
    assert (s.late, s.answer, s.told) == (300, 0, 1300)


@every
def test_a_total_is_another_name_of_the_sum_of_rewards(kind):
    if kind not in CBMAI and kind is not lagex.Certified:
        return
    one, other = made(kind), made(kind)
    d = 1 if kind in CBMAI else 2
    one.tell(0, 3.0, [1.0] * d, pulls=2)
    other.tell(0, total=3.0, costs=[1.0] * d, pulls=2)
    assert other.to_dict() == one.to_dict()
    with pytest.raises(ValueError, match="reward, or the total"):
        one.tell(0, 3.0, [1.0] * d, pulls=2, total=3.0)


def test_poisson_totals_are_counts():
    s = bai.TrackAndStop(2, rewards="poisson")
    s.tell(0, pulls=3, total=4)
    with pytest.raises(ValueError, match="must be a count"):
        s.tell(0, pulls=3, total=4.5)
    assert set(BAI) >= {bai.TrackAndStop}


def test_a_total_above_its_pulls_is_told_with_its_arm():
    """Whichever row it stands in, and if it is the only one."""
    s = baics.TaSCS(["old", "new"], {"phone": 0.7, "desktop": 0.3}, rewards="bernoulli")
    said = r"total of 12 over 10 pulls of \('new', 'desktop'\): reward must be from 0 to 1"
    with pytest.raises(ValueError, match=f"^{said}"):
        s.tell(("new", "desktop"), pulls=10, total=12)
    columns = {"arm": ["old", "new"], "segment": ["phone", "desktop"], "pulls": [10, 10]}
    with pytest.raises(ValueError, match=f"^row 2: {said}"):
        s.tell_table({**columns, "total": [3, 12]})
    assert s.told == 0


def test_a_minimum_that_no_rate_keeps_is_said():
    """It is allowed: the right answer is then that no arm is feasible."""
    with pytest.warns(UserWarning, match="rewards are at most 1, so no arm keeps a minimum of 4$"):
        baics.TaSCS(2, [1.0], rewards="bernoulli", minimum=4.0)
    baics.TaSCS(2, [1.0], rewards="bernoulli", minimum=1.0)
    baics.TaSCS(2, [1.0], minimum=4.0)


def test_arms_of_baics_are_an_arm_and_a_segment():
    with pytest.raises(ValueError, match=r"^arm must be \(arm, segment\), got 'old'$"):
        baics.TaSCS(["old", "new"], [1.0]).tell("old", 1.0)
