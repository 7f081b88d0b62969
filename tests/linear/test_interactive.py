"""The ask/tell objects: the same run as the compiled one, and a life of their own."""

import json
import math

import numpy as np
import pytest

from bestarm.common.paper import Cell
from bestarm.core.inputs import InputError
from bestarm.core.streams import run_streams
from bestarm.linear.interactive import RAGE, XY, FullyAdaptive, G, LinGapE, XYAdaptive, XYOracle
from bestarm.linear.phased import run_phased
from bestarm.linear.problem import MOST_ARMS, Instance
from bestarm.linear.strategies import READINGS, prepare
from components import components
from linear.instances import drawn

OBJECTS = {
    "G": G,
    "XY": XY,
    "XY-Adaptive": XYAdaptive,
    "XY-Oracle": XYOracle,
    "Fully-Adaptive": FullyAdaptive,
    "RAGE": RAGE,
    "LinGapE": LinGapE,
}
#: A reading for each part of any, by how a run draws rewards: one by one, or a phase's as a sum.
SHOWN = {strategy: components(readings) for strategy, readings in READINGS.items()}
BY_ESTIMATES = {
    strategy: [name for name in names if not READINGS[strategy][name].true_gaps]
    for strategy, names in SHOWN.items()
}
PULL_BY_PULL = {s: BY_ESTIMATES[s] for s in ("G", "XY", "XY-Oracle", "Fully-Adaptive", "LinGapE")}
#: Without those whose phases have thousands of pulls, which take long one by one.
IN_PHASES = {
    s: [name for name in BY_ESTIMATES[s] if READINGS[s][name].every < 1000]
    for s in ("XY-Adaptive", "RAGE")
}
EASY = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
THETA = np.array([4.0, 0.5])
every = pytest.mark.parametrize("strategy", OBJECTS)


def made(strategy, arms=EASY, theta=THETA, **options):
    """The object for these arms, told what it needs to know of theta."""
    extra = {
        "XY-Oracle": {"theta": theta},
        "Fully-Adaptive": {"norm": float(np.linalg.norm(theta))},
        "LinGapE": {"norm": float(np.linalg.norm(theta))},
    }
    return OBJECTS[strategy](arms, **extra.get(strategy, {}), **options)


def cases(readings):
    return [(strategy, r) for strategy, names in readings.items() for r in names]


def played(s, arms, theta, rng, sigma=1.0, most=10**5):
    """Pulls that are asked for, told."""
    while not s.done and s.told < most:
        arm = s.ask()
        s.tell(arm, arms[arm] @ theta + sigma * rng.standard_normal())
    return s


@pytest.mark.parametrize(("strategy", "reading"), cases(PULL_BY_PULL))
def test_same_run_as_the_compiled_one(strategy, reading):
    """Told the same normals, in another unit; arms in a plane of R^3 for one of the seeds.

    Readings that look at few pulls run long, and have that seed alone.
    """
    for seed in [2] if "every" in reading else range(3):
        arms, theta, _ = drawn(seed, 2, 4, strength=3.0)
        if seed == 2:
            arms, theta = (v @ np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]) for v in (arms, theta))
        sigma, theta = 2.0, 2.0 * theta
        instance = Instance(name="any", arms=arms.tolist(), theta=theta.tolist(), sigma=sigma)
        cell = Cell("any", strategy, {"delta": 0.1}, reading)
        wanted = prepare(instance, cell)(run_streams(4, seed))
        s = made(strategy, arms, theta, delta=0.1, sigma=sigma, reading=reading)
        played(s, arms, theta, run_streams(4, seed).environment, sigma, wanted.tau + 1)
        assert s.told == wanted.tau
        np.testing.assert_array_equal(s.pulls, wanted.pulls)
        assert s.answer + 1 == wanted.answer


def test_an_oracle_with_true_gaps_stops_where_the_compiled_one_does():
    for reading in SHOWN["XY-Oracle"]:
        if not READINGS["XY-Oracle"][reading].true_gaps:
            continue
        arms, theta, _ = drawn(1, 2, 4, strength=3.0)
        instance = Instance(name="any", arms=arms.tolist(), theta=theta.tolist())
        cell = Cell("any", "XY-Oracle", {"delta": 0.1}, reading)
        wanted = prepare(instance, cell)(run_streams(4, 0))
        s = made("XY-Oracle", arms, theta, delta=0.1, reading=reading)
        played(s, arms, theta, np.random.default_rng(0))
        np.testing.assert_array_equal(s.pulls, wanted.pulls)


class Sums:
    """Normals, kept by phase."""

    def __init__(self, rng):
        self._rng, self.phases = rng, []

    def standard_normal(self, size):
        self.phases.append(self._rng.standard_normal(size))
        return self.phases[-1]


class Counted:
    """Phases that note which pulls the radius at their ends is for."""

    def __init__(self, phases):
        self._phases, self.ends = phases, []
        self.start, self.plan = phases.start, phases.plan

    def survivors(self, fit, phase, active, n):
        self.ends.append((phase, n))
        return self._phases.survivors(fit, phase, active, n)


@pytest.mark.parametrize(("strategy", "reading"), cases(IN_PHASES))
def test_same_phases_as_the_compiled_run(strategy, reading):
    """Each pull of an arm in a phase told the mean of those that the run draws at once."""
    several = 0
    for seed in range(3):
        arms, theta, means = drawn(seed, 2, 4, strength=3.0)
        s = made(strategy, arms, theta, delta=0.1, reading=reading)
        sums = Sums(np.random.default_rng(seed))
        phases, asked = (Counted(s._rules.phases) for _ in range(2))
        s._rules = s._rules._replace(phases=asked)
        fit, left, pulls, stopped = run_phased(phases, arms, means, 20_000, sums)
        if not stopped:
            continue
        for normals in sums.phases:
            counts = s._state.plan.counts.copy()
            for _ in range(int(counts.sum())):
                arm = s.ask()
                s.tell(arm, means[arm] + normals[arm] / math.sqrt(counts[arm]))
        assert s.done
        np.testing.assert_array_equal(s.pulls, pulls)
        assert s.remaining == np.flatnonzero(left).tolist() == [s.answer]
        np.testing.assert_allclose(s.values, fit.values, rtol=1e-9)
        assert asked.ends == phases.ends
        several += len(sums.phases) > 1
    assert several > 0


@pytest.mark.parametrize("strategy", ["G", "XY", "XY-Adaptive", "Fully-Adaptive"])
def test_only_the_oracle_may_know_the_gaps(strategy):
    name = next(name for name in READINGS[strategy] if name.endswith("+true-gaps"))
    with pytest.raises(InputError, match="reading: true gaps are known in simulations only"):
        made(strategy, reading=name)


@every
def test_finds_the_best_arm_and_then_asks_nothing(strategy):
    s = played(made(strategy), EASY, THETA, np.random.default_rng(0))
    assert s.done
    assert s.answer == 0
    with pytest.raises(RuntimeError, match="stopped"):
        s.ask()


@every
def test_pulls_not_asked_for_leave_the_question_open(strategy):
    """They count, but for designs that are fixed beforehand."""
    s = made(strategy)
    asked = s.ask()
    s.tell((asked + 1) % 3, 0.25)
    assert s.ask() == asked
    s.tell(asked, 4.0)
    fixed = strategy not in ("Fully-Adaptive", "LinGapE")
    assert s.kept_out == fixed
    assert s.pulls.sum() == s._state.fit.counts.sum() == 2 - fixed
    assert [e.trial for e in s.history if e.kind == "tell"] == [None, 0]
    played(s, EASY, THETA, np.random.default_rng(0))
    assert s.answer == 0


@pytest.mark.parametrize("strategy", ["G", "XY", "XY-Oracle"])
def test_pulls_not_asked_for_do_not_move_a_sequence(strategy):
    s, plain = made(strategy, delta=1e-9), made(strategy, delta=1e-9)
    for _ in range(20):
        arm = plain.ask()
        plain.tell(arm, 1.0)
        assert s.ask() == arm
        s.tell((arm + 1) % 3, 1.0)
        s.tell(arm, 1.0)


@every
def test_a_saved_history_brings_a_new_object_to_the_same_place(strategy):
    rng = np.random.default_rng(2)
    s, again = made(strategy, delta=0.01), made(strategy, delta=0.01)
    s.tell(2, 3.0)
    played(s, EASY, THETA, rng, most=40)
    again.replay(json.loads(json.dumps(s.history)))
    np.testing.assert_array_equal(again.pulls, s.pulls)
    np.testing.assert_array_equal(again.values, s.values)
    assert again.history == s.history
    assert again.done == s.done
    if not s.done:
        assert again.ask() == s.ask()


def test_values_are_in_the_unit_of_the_rewards_and_zero_while_unknown():
    s = made("G", sigma=5.0)
    s.tell(s.ask(), 8.0)
    assert s.values.tolist() == [0.0, 0.0, 0.0]
    s.tell(s.ask(), 2.0)
    np.testing.assert_allclose(s.values, [8.0, 2.0, 0.8 * 8.0 + 0.6 * 2.0])


@pytest.mark.parametrize("strategy", ["XY-Adaptive", "Fully-Adaptive", "RAGE"])
def test_arms_remain_until_one_is_left(strategy):
    s = made(strategy)
    assert s.remaining == [0, 1, 2]
    played(s, EASY, THETA, np.random.default_rng(0))
    assert s.remaining == [0]


@every
def test_without_a_reading_it_is_the_default(strategy):
    one = played(made(strategy, delta=0.2), EASY, THETA, np.random.default_rng(3))
    default = made(strategy, delta=0.2, reading=READINGS[strategy].default)
    other = played(default, EASY, THETA, np.random.default_rng(3))
    assert one.history[1:] == other.history[1:]


@pytest.mark.parametrize("make", OBJECTS.values())
def test_too_many_arms_are_refused_before_pairs_are_made(make, monkeypatch):
    """The least number that is too many; nothing of K^2 entries may be made first."""
    monkeypatch.setattr("bestarm.linear.interactive.make_rules", None)
    circle = np.linspace(0.0, 3.0, MOST_ARMS + 1)
    arms = np.column_stack([np.cos(circle), np.sin(circle)])
    given = {XYOracle: {"theta": [1.0, 0.0]}, LinGapE: {"norm": 1.0}}.get(make, {})
    said = (
        f"^{make.__name__}: arms: must be at most 5,000, as all pairs of arms are kept, got 5,001"
    )
    with pytest.raises(InputError, match=said):
        make(arms, **given)
