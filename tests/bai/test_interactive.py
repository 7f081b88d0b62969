"""The ask/tell objects: the same run as the compiled one, arguments, and what people are shown."""

import math

import numpy as np
import pytest

from bestarm.bai import KLLUCB, ChernoffRacing, KLRacing, TrackAndStop
from bestarm.bai.families import BERNOULLI, FAMILIES, draw
from bestarm.bai.interactive import interval
from bestarm.bai.problem import Instance
from bestarm.bai.strategies import READINGS, prepare
from bestarm.common.paper import Cell
from bestarm.core.anytime import beta_interval, mean_radius
from bestarm.core.inputs import InputError
from bestarm.core.streams import run_streams

OBJECTS = {
    "Track-and-Stop": TrackAndStop,
    "Chernoff-Racing": ChernoffRacing,
    "KL-LUCB": KLLUCB,
    "KL-Racing": KLRacing,
}
MEANS = [0.8, 0.3, 0.2]
every = pytest.mark.parametrize("kind", OBJECTS.values(), ids=OBJECTS)


@pytest.mark.parametrize(
    ("strategy", "reading"), [(s, r) for s, readings in READINGS.items() for r in readings]
)
@pytest.mark.parametrize("rewards", FAMILIES)
def test_same_run_as_compiled(strategy, reading, rewards):
    instance = Instance(name="three", means=MEANS, rewards=rewards)
    run = prepare(instance, Cell("three", strategy, {"delta": 0.1}, reading))(run_streams(2, 5))
    streams, family = run_streams(2, 5), FAMILIES[rewards]
    s = OBJECTS[strategy](3, rewards=rewards, reading=reading, seed=streams.coins)
    while not s.done:
        arm = s.ask()
        s.tell(arm, draw(family, MEANS[arm], streams.environment))
    assert s.pulls.tolist() == run.pulls.tolist()
    assert s.answer + 1 == run.answer


def played(s, seed=0):
    rng = np.random.default_rng(seed)
    while not s.done:
        arm = s.ask()
        s.tell(arm, float(rng.random() < MEANS[["red", "green", "blue"].index(arm)]))
    return s


@every
def test_names_and_a_summary(kind):
    s = played(kind(["red", "green", "blue"], delta=0.05))
    assert s.answer == "red"
    table = s.summary().set_index("arm")
    assert table.status["red"] == "best"
    assert (table.low <= table.estimate).all()
    assert (table.estimate <= table.high).all()
    assert table.pulls.sum() == s.pulls.sum()
    assert s.why_not_done() == "It has stopped: red."


@every
def test_why_not_done_names_the_rival(kind):
    s = kind(["red", "green", "blue"], delta=1e-6)
    assert s.why_not_done() == "Some arms have no result yet."
    for arm, reward in (("red", 1.0), ("green", 0.0), ("blue", 0.5)) * 4:
        s.tell(arm, reward)
    assert "red leads, but blue may be better" in s.why_not_done()


@every
def test_many_trials_at_a_time(kind):
    s, rng = kind(3, delta=0.1), np.random.default_rng(1)
    while not s.done:
        for trial in s.ask(7)[::-1]:
            s.tell(trial, float(rng.random() < MEANS[trial.arm]))
    assert s.answer == 0


def test_intervals_are_those_of_core():
    level = math.log(20.0)
    ours = interval(BERNOULLI, 50.0, 20.0, level)
    assert ours == pytest.approx(beta_interval(level, 20.0, 30.0, 0.5, 0.5), abs=1e-9)
    low, high = interval(FAMILIES["gaussian"], 50.0, 20.0, level)
    half = mean_radius(level, 50.0, 30.0)
    assert (low, high) == pytest.approx((0.4 - half, 0.4 + half))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_arms": 1}, "TrackAndStop: n_arms: "),
        ({"delta": 2.0}, "TrackAndStop: delta: must be less than 1, got 2"),
        ({"rewards": "cauchy"}, "rewards: must be one of bernoulli, gaussian, poisson, exponen"),
        ({"sigma": 2.0}, "sigma: must be left out unless rewards are gaussian"),
        ({"reading": "none"}, "TrackAndStop: reading: must be one of as-written"),
    ],
)
def test_refused_arguments(options, said):
    with pytest.raises(InputError, match=said):
        TrackAndStop(**{"n_arms": 3} | options)


@pytest.mark.parametrize(
    ("rewards", "reward"), [("bernoulli", 1.5), ("poisson", 0.5), ("exponential", 0.0)]
)
def test_refused_rewards(rewards, reward):
    s = TrackAndStop(2, rewards=rewards)
    with pytest.raises(ValueError, match="reward must be"):
        s.tell(0, reward)
    assert s.told == 0


def test_gaussian_rewards_in_other_units_give_the_same_run():
    runs = []
    for unit in (1.0, 1024.0):
        s, rng = TrackAndStop(2, rewards="gaussian", sigma=unit), np.random.default_rng(4)
        while not s.done:
            arm = s.ask()
            s.tell(arm, unit * ((1.0, 0.0)[arm] + rng.standard_normal()))
        runs.append((s.pulls.tolist(), (s.means / unit).tolist()))
    assert runs[0] == runs[1]
