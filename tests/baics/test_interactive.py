"""The ask/tell objects: the same pulls as the compiled loop, and a life of their own."""

import numpy as np
import pytest

from bestarm.baics import FWS, TaS, TaSCS, TwoStage, Uniform
from bestarm.baics.problem import Instance
from bestarm.baics.steps import INITIAL_DRAWS
from bestarm.baics.strategies import READINGS, prepare
from bestarm.common.paper import Cell
from bestarm.core.streams import streams_of

EXAMPLE1 = Instance(
    name="example1",
    means=[[0.2, 0.6, 0.8], [0.4, 0.4, 0.3], [-0.2, 1.0, 1.5]],
    weights=[0.2, 0.3, 0.5],
)
OBJECTS = {"T-a-SCS": TaSCS, "T-a-S": TaS, "Uniform": Uniform, "Two-stage": TwoStage, "FWS": FWS}


@pytest.mark.parametrize(("strategy", "reading"), [(s, r) for s in OBJECTS for r in READINGS[s]])
@pytest.mark.parametrize("seed", range(3))
def test_same_pulls_as_the_compiled_loop(strategy, reading, seed):
    cell = Cell("example1", strategy, {"delta": 0.1, "cap": None}, reading)
    outcome = prepare(EXAMPLE1, cell)(streams_of(5, seed))
    streams = streams_of(5, seed)
    environment, coins = streams.environment, streams.coins
    s = OBJECTS[strategy](3, [0.2, 0.3, 0.5], delta=0.1, reading=reading, seed=coins)
    while not s.done:
        pair = s.ask()
        s.tell(pair, EXAMPLE1.standard_means[pair] + environment.standard_normal())
    np.testing.assert_array_equal(s.pulls.ravel(), outcome.pulls)
    assert s.told == outcome.tau
    assert (0 if s.answer is None else s.answer + 1) == outcome.answer
    assert s.statistic > s.threshold


def told(s, rounds, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        pair = s.ask()
        s.tell(pair, rng.normal(EXAMPLE1.standard_means[pair]))
    return s


def test_users_get_a_rule_that_is_proved():
    for name, make in OBJECTS.items():
        s = make(3, [0.2, 0.3, 0.5], delta=0.1)
        proven = s.threshold == pytest.approx(np.log(3 / 0.1))
        assert proven == (name != "Two-stage")
        assert ("proven" in READINGS[name].default) == proven


def test_looking_at_the_statistic_changes_nothing():
    """The evidence of every kind is computed in the state's buffers."""
    looked, not_looked = TaSCS(3, [0.2, 0.3, 0.5]), TaSCS(3, [0.2, 0.3, 0.5])
    rng, same = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(150):
        assert looked.ask() == not_looked.ask()
        assert looked.statistic < looked.threshold
        looked.tell(looked.ask(), rng.normal())
        not_looked.tell(not_looked.ask(), same.normal())


@pytest.mark.parametrize("kind", OBJECTS.values())
def test_arms_without_any_result_are_no_harm(kind):
    """All results are told of two pairs at first; only then of what is asked for."""
    s, rng = kind(2, [0.5, 0.5], delta=0.1), np.random.default_rng(1)
    for t in range(60):
        s.tell((t % 2, 0), 1.0 - 1.5 * (t % 2) + rng.normal())
    assert not s.done
    assert "have not been tried" in s.why_not_done()
    while not s.done:
        arm, group = s.ask()
        s.tell((arm, group), 1.0 - 1.5 * arm + rng.normal())
    assert s.answer == 0
    assert s.statistic > s.threshold


def test_first_every_pair_is_pulled_five_times():
    s = told(Uniform(3, [0.2, 0.3, 0.5]), INITIAL_DRAWS * 9)
    assert (s.pulls == INITIAL_DRAWS).all()


def test_rewards_of_other_arms_count_and_leave_the_question_open():
    s = told(TaSCS(3, [0.2, 0.3, 0.5]), 50)
    asked = s.ask()
    other = ((asked[0] + 1) % 3, asked[1])
    before = s.pulls[other]
    s.tell(other, 0.3)
    assert s.pulls[other] == before + 1
    assert s.ask() == asked


def test_none_is_an_answer():
    s = TaSCS(2, [1.0], delta=0.4)
    while not s.done:
        s.tell(s.ask(), -3.0)
    assert s.answer is None


@pytest.mark.parametrize("make", OBJECTS.values())
def test_whole_numbers_and_ties_do_not_break_it(make):
    """Rewards of 0 and 1 give exact ties and means of exactly 0."""
    s = make(2, [0.5, 0.5], sigma=0.5, delta=0.05)
    rng = np.random.default_rng(3)
    for _ in range(3000):
        if s.done:
            break
        arm = s.ask()
        s.tell(arm, float(rng.integers(-1, 2)) if arm[0] else float(rng.integers(0, 2)))
    assert np.isfinite(s.means).all()


def test_units_are_the_rewards_own():
    a, b = TaSCS(2, [1.0], seed=0), TaSCS(2, [1.0], sigma=10.0, seed=0)
    rng = np.random.default_rng(2)
    for _ in range(80):
        arm = a.ask()
        assert b.ask() == arm
        reward = rng.normal([1.0, 0.9][arm[0]])
        a.tell(arm, reward)
        b.tell(arm, 10.0 * reward)
    np.testing.assert_allclose(b.means, 10.0 * a.means)
    assert b.statistic == pytest.approx(a.statistic)
