"""The ask/tell objects: the same pulls as the compiled loop, and a life of their own."""

import re

import numpy as np
import pytest

from bestarm.baics import FWS, TaS, TaSCS, TwoStage, Uniform
from bestarm.baics.problem import Instance, true_answer
from bestarm.baics.steps import INITIAL_DRAWS
from bestarm.baics.strategies import READINGS, prepare
from bestarm.common.paper import Cell
from bestarm.core.inputs import InputError
from bestarm.core.streams import run_streams

EXAMPLE1 = Instance(
    name="example1",
    means=[[0.2, 0.6, 0.8], [0.4, 0.4, 0.3], [-0.2, 1.0, 1.5]],
    weights=[0.2, 0.3, 0.5],
)
#: A quarter of the pulls.
DOUBLED = Instance(
    name="doubled",
    means=[[0.4, 1.2, 1.6], [0.8, 0.8, 0.6], [-0.4, 2.0, 3.0]],
    weights=[0.2, 0.3, 0.5],
)
OBJECTS = {"T-a-SCS": TaSCS, "T-a-S": TaS, "Uniform": Uniform, "Two-stage": TwoStage, "FWS": FWS}


@pytest.mark.parametrize(("strategy", "reading"), [(s, r) for s in OBJECTS for r in READINGS[s]])
def test_same_pulls_as_the_compiled_loop(strategy, reading):
    cell = Cell("doubled", strategy, {"delta": 0.1, "cap": None}, reading)
    outcome, streams = prepare(DOUBLED, cell)(run_streams(5, 0)), run_streams(5, 0)
    environment, coins = streams.environment, streams.coins
    s = OBJECTS[strategy](3, [0.2, 0.3, 0.5], delta=0.1, reading=reading, seed=coins)
    while not s.done:
        pair = s.ask()
        s.tell(pair, DOUBLED.standard_means[pair] + environment.standard_normal())
    np.testing.assert_array_equal(s.pulls.ravel(), outcome.pulls)
    assert s.told == outcome.tau > 2 * INITIAL_DRAWS * 9
    assert (0 if s.answer is None else s.answer + 1) == outcome.answer
    assert s.statistic > s.threshold


UNEQUAL = Instance(
    name="unequal",
    means=[[0.2, 0.6, 0.8], [0.4, 0.4, 0.3], [-0.2, 1.0, 1.5]],
    weights=[0.2, 0.3, 0.5],
    constrained=2,
    minimum=[0.25, -0.5],
    sigma=[[0.5, 1.0, 2.0], [1.0, 0.3, 1.0], [0.7, 0.7, 0.2]],
)
RATES = Instance(
    name="rates",
    means=[[0.3, 0.6, 0.8], [0.5, 0.4, 0.2], [0.1, 0.9, 0.95]],
    weights=[0.2, 0.3, 0.5],
    constrained=2,
    minimum=0.2,
    rewards="bernoulli",
)


@pytest.mark.parametrize(
    ("instance", "strategy"),
    [(UNEQUAL, "T-a-SCS"), *((RATES, strategy) for strategy in OBJECTS)],
    ids=lambda value: getattr(value, "name", value),
)
def test_same_pulls_with_other_rewards(strategy, instance):
    """Rewards are told in their own unit, and the classes undo minimum and sigma."""
    options = {"minimum": instance.minimum, "sigma": instance.sigmas.tolist(), "constrained": 2}
    options["rewards"] = instance.rewards
    reading = READINGS[strategy].default
    cell = Cell(instance.name, strategy, {"delta": 0.1, "cap": 20_000}, reading)
    outcome = prepare(instance, cell)(run_streams(5, 0))
    assert outcome.answer == true_answer(instance)
    streams = run_streams(5, 0)
    s = OBJECTS[strategy](3, [0.2, 0.3, 0.5], delta=0.1, seed=streams.coins, **options)
    while not s.done:
        k, l = s.ask()
        if instance.rewards == "bernoulli":
            reward = float(streams.environment.random() < instance.means[k][l])
        else:
            noise = streams.environment.standard_normal()
            reward = instance.means[k][l] + instance.sigmas[k, l] * noise
        s.tell((k, l), reward)
    np.testing.assert_array_equal(s.pulls.ravel(), outcome.pulls)
    assert (0 if s.answer is None else s.answer + 1) == outcome.answer
    near = 6.0 * instance.sigmas / np.sqrt(s.pulls)
    assert (np.abs(s.means - instance.means) < near).all()
    table = s.summary()
    pairs, totals = (table[table.quantity == kind] for kind in ("reward", "weighted mean"))
    assert set(pairs.status[pairs.segment != "2"]) <= {"gains", "loses", "open"}
    assert set(pairs.status[pairs.segment == "2"]) == {""}
    assert list(totals.status[totals.arm == str(s.answer)]) == ["best"]
    assert set(totals.status[totals.arm != str(s.answer)]) <= {"ruled out", "loses"}
    assert not (pairs.status[pairs.arm == str(s.answer)] == "loses").any()
    again = OBJECTS[strategy].from_dict(s.to_dict())
    assert (again.answer, again.statistic) == (s.answer, s.statistic)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"minimum": [0.1]}, None),
        ({"minimum": [0.1, 0.2, 0.3]}, "minimum: must be a number, or 2 numbers, one per cons"),
        ({"minimum": "low"}, "minimum: must be finite numbers, got 'low'"),
        ({"sigma": [[1.0, 1.0]]}, "sigma: must be a positive number, or 2 rows of 2 of them, got"),
        ({"rewards": "normal"}, "rewards: must be gaussian or bernoulli, got 'normal'"),
        ({"rewards": "bernoulli", "sigma": 2.0}, "sigma: must be left out if rewards are berno"),
        ({"rewards": "bernoulli", "sigma": "unknown"}, "rewards: must be gaussian if sigma is un"),
        ({"sigma": [[1.0, 1.0], [1.0, -1.0]]}, "sigma: must be a positive number, or 2 rows of"),
        ({"sigma": [[1.0, 1.0], [1.0]]}, "sigma: must be vectors of equal length, finite numbers"),
    ],
)
def test_minimum_rewards_and_sigma_are_checked(options, said):
    if said is None:
        assert not TaSCS(2, [0.5, 0.5], **options).done
        return
    with pytest.raises(InputError, match="^" + re.escape(f"TaSCS: {said}")):
        TaSCS(2, [0.5, 0.5], **options)


def test_rewards_of_bernoulli_are_from_0_to_1():
    s = TaSCS(2, [0.5, 0.5], minimum=0.1, rewards="bernoulli")
    with pytest.raises(ValueError, match=r"reward must be from 0 to 1, got 1\.5"):
        s.tell((0, 0), 1.5)
    s.tell((0, 0), 1.0)
    line = s.summary().iloc[0]
    assert 0.0 < line.low < 1.0 == line.high


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


@pytest.mark.parametrize("strategy", [name for name in OBJECTS if name != "Two-stage"])
def test_sigma_may_be_unknown(strategy):
    """The pulls of a simulation, in any unit; intervals are of the scatter that was seen."""
    reading = next(name for name in READINGS[strategy] if "unknown" in name)
    cell = Cell("example1", strategy, {"delta": 0.1, "cap": 20_000}, reading)
    outcome, streams = prepare(EXAMPLE1, cell)(run_streams(5, 0)), run_streams(5, 0)
    made = {"delta": 0.1, "seed": streams.coins, "sigma": "unknown"}
    s = OBJECTS[strategy](3, EXAMPLE1.weights, **made)
    while not s.done:
        k, l = s.ask()
        noise = streams.environment.standard_normal()
        s.tell((k, l), 4.0 * (EXAMPLE1.standard_means[k, l] + noise))
    np.testing.assert_array_equal(s.pulls.ravel(), outcome.pulls)
    assert s.answer == outcome.answer - 1
    assert s.statistic > s.threshold == pytest.approx(np.log(30))
    lines = s.summary().query("quantity == 'reward'")
    half = (lines.high - lines.low) / 2
    assert (half[lines.pulls > 50] < 4.0 * 12.0 / np.sqrt(lines.pulls[lines.pulls > 50])).all()
    assert (half[lines.pulls > 50] > 4.0 * 2.0 / np.sqrt(lines.pulls[lines.pulls > 50])).all()
    again = OBJECTS[strategy].from_dict(s.to_dict())
    assert (again.answer, again.statistic) == (s.answer, s.statistic)


def test_with_sigma_unknown_what_is_open_is_told():
    s = TaSCS(2, [1.0], sigma="unknown")
    assert (s.statistic, s.summary().low.tolist()) == (0.0, [-np.inf] * 2)
    s.tell((0, 0), 1.0)
    s.tell((1, 0), -1.0)
    assert s.statistic == 0.0
    assert "the test statistic is 0.00, the threshold 3.00" in s.why_not_done()
    assert not np.isfinite(s.summary()[["low", "high"]]).any(axis=None)


def test_more_arms_than_pairs_have_room_for_are_refused_before_memory_is_taken():
    with pytest.raises(InputError, match=r"^FWS: must have at most 1,666 arms with 3 subpop"):
        FWS(100_000, [0.5, 0.3, 0.2])
    assert TaSCS(100_000, [0.5, 0.3, 0.2], reading="as-written").ask()[0] == 0


def test_a_reading_that_needs_sigma_refuses_an_unknown_one():
    with pytest.raises(InputError, match=r"^TwoStage: sigma: must be known under reading 'as-writ"):
        OBJECTS["Two-stage"](2, [1.0], sigma="unknown")
    with pytest.raises(InputError, match=r"^TaSCS: sigma: must be known under reading 'proven'"):
        TaSCS(2, [1.0], sigma="unknown", reading="proven")
    with pytest.raises(InputError, match=r"^TaSCS: sigma: must be a positive number"):
        TaSCS(2, [1.0], sigma="unknwon")
