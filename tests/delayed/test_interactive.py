"""The event interface: the same run as the compiled loop, and a life of its own."""

import json

import numpy as np
import pytest

from bestarm.core.inputs import InputError
from bestarm.delayed import Full, Partial, reference
from bestarm.delayed.steps import ACCEPTED
from delayed.test_racing import BIAS, MEANS, compiled, streams

CASES = [
    {"feedback": "full"},
    {"feedback": "full", "batch": 4, "limit": 2},
    {},
    {"batch": 5, "delay": (2, 12)},
    {"split": "guaranteed", "batch": 5},
    {"split": "published", "survivors": True, "by_slot": True},
    {"split": "published", "survivors": True, "by_slot": True, "batch": 4, "delay": (2, 12)},
    {"feedback": "biased", "split": "published", "survivors": True, "by_slot": True, "batch": 3},
    {"feedback": "full", "survivors": True, "by_slot": True, "batch": 5},
    {"batch": 8, "limit": 3, "pooled": 8},
    {"feedback": "biased", "delay": (1, 9)},
    {"feedback": "incremental", "batch": 3},
    {"split": "mixture", "multiplier": 1.0, "batch": 5, "delay": (2, 12)},
    {"split": "mixture", "multiplier": 1.0, "feedback": "biased", "delay": (1, 9)},
    {"split": "mixture", "multiplier": 1.0, "feedback": "full"},
]
NAMES = {
    ("optimal", False, 1): "as-written",
    ("guaranteed", False, 1): "guaranteed",
    ("published", True, 1): "as-published",
    ("optimal", True, 1): "as-published",  # of racing on rewards alone
    ("optimal", False, 8): "all-running",
    ("mixture", False, 1): "mixture",
}


def made(case):
    """The object for a case of the compiled loop."""
    feedback, batch = case.get("feedback", "unbiased"), case.get("batch", 1)
    form = case.get("split", "optimal"), case.get("survivors", False), case.get("pooled", 1)
    options = {"batch": batch, "limit": case.get("limit"), "reading": NAMES[form]}
    if feedback == "full":
        return Full(MEANS.size, 2, sigma=0.7, **options)
    delay = 8 if feedback == "incremental" else None
    return Partial(MEANS.size, 2, sigma=0.7, sigma_p=0.5, feedback=feedback, delay=delay, **options)


class World:
    """Plays nature with the compiled loop's streams, a step at a time."""

    def __init__(self, seed, case):
        self.environment, self.coins = streams(seed)
        low, high = case.get("delay", (8, 8))
        n = MEANS.size
        self.feedback = case.get("feedback", "unbiased")
        bias = BIAS if self.feedback == "biased" else None
        delays = [low] * n, [high] * n
        self.nature = reference.Nature(
            MEANS, *delays, 0.7, self.environment, bias=bias, sigma_p=0.5
        )
        self.started, self.pulls = [0] * n, {}

    def obey(self, actions):
        for pull in actions.cancel:
            del self.pulls[pull.id]
        for pull in actions.start:
            self.pulls[pull.id] = self.nature.pull(pull.arm, self.started[pull.arm])
            self.started[pull.arm] += 1

    def step(self, s):
        """What every running pull gives at this step, reported in their order."""
        for number, _ in s.running:
            pull = self.pulls[number]
            pull.age += 1
            if pull.age == pull.delay:
                s.final(number, pull.reward)
                del self.pulls[number]
            elif self.feedback != "full":
                self.nature.partial_feedback(pull, self.feedback, self.coins)
                s.partial(number, pull.partial[-1])


def play(seed, case):
    """A whole run of the object; the object, the steps it took, and the actions it asked for."""
    s, world = made(case), World(seed, case)
    time, asked = 0, []
    while True:
        actions = s.ask()
        asked.append(actions)
        world.obey(actions)
        if s.done:
            return s, time, asked
        world.step(s)
        time += 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_run_as_the_compiled_loop(case):
    for seed in range(2):
        s, time, asked = play(seed, case)
        expected = compiled(seed, **case)
        assert time == expected.time
        assert s.answer == s.accepted == np.flatnonzero(expected.sets == ACCEPTED).tolist()
        assert s.running == []
        pulled = np.bincount([p.arm for a in asked for p in a.start], minlength=MEANS.size)
        stopped = np.bincount([p.arm for a in asked for p in a.cancel], minlength=MEANS.size)
        np.testing.assert_array_equal(stopped, expected.cancelled)
        np.testing.assert_array_equal(pulled, expected.finished + expected.cancelled)


@pytest.mark.parametrize("case", [CASES[3], CASES[7], CASES[10]], ids=str)
def test_replay_goes_on_where_a_history_ends(case):
    """Through JSON, cut anywhere: the same bounds, running pulls and next actions."""
    s, _, _ = play(2, case)
    for cut in (0, 1, len(s.history) // 2, len(s.history)):
        first, again = made(case), made(case)
        first.replay(s.history[:cut])
        again.replay(json.loads(json.dumps(s.history[:cut])))
        assert again.running == first.running
        assert again.ask() == first.ask()
        np.testing.assert_array_equal(again.bounds, first.bounds)
    assert again.answer == s.answer


def test_nothing_new_nothing_to_do():
    s = Partial(3, sigma=1.0, sigma_p=1.0, batch=2)
    first = s.ask()
    assert [pull.arm for pull in first.start] == [0, 1]
    assert s.ask() == ([], [])
    assert [pull.id for pull in s.running] == [0, 1]


def test_several_reports_at_once_and_none_at_all():
    """Partial feedback need not come at every step, nor at all."""
    rng = np.random.default_rng(0)
    s = Partial(4, 2, sigma=0.5, sigma_p=0.2, feedback="biased", batch=4)
    while not s.done:
        for pull in s.ask().start:
            reward = rng.normal([0.0, 4.0, 8.0, 12.0][pull.arm], 0.5)
            for _ in range(rng.integers(0, 4)):
                s.partial(pull.id, reward + 1.0 + rng.normal(0.0, 0.2))
            s.final(pull.id, reward)
    assert s.answer == [2, 3]


def test_bad_reports_change_nothing():
    s = Partial(2, sigma=1.0, sigma_p=1.0)
    (pull,) = s.ask().start
    for report, number, value, message in (
        (s.partial, 7, 1.0, "a running one"),
        (s.final, pull.id, float("nan"), "finite"),
        (Full(2, sigma=1.0).final, 0, 1.0, "a running one"),
    ):
        with pytest.raises(ValueError, match=message):
            report(number, value)
    assert [event.kind for event in s.history] == ["new", "ask"]
    full = Full(2, sigma=1.0)
    with pytest.raises(ValueError, match="no partial feedback"):
        full.partial(full.ask().start[0].id, 1.0)
    slow = Partial(2, sigma=1.0, feedback="incremental", delay=2)
    (pull,) = slow.ask().start
    with pytest.raises(ValueError, match="0 of 1 increments"):
        slow.final(pull.id, 1.0)
    slow.partial(pull.id, 1.0)
    with pytest.raises(ValueError, match="report its reward"):
        slow.partial(pull.id, 1.0)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"n_arms": 0}, "n_arms"),
        ({"top": 4}, "top"),
        ({"sigma": 0.0}, "sigma"),
        ({"sigma_p": None}, "sigma_p"),
        ({"feedback": "noisy"}, "feedback"),
        ({"feedback": "incremental"}, "delay"),
        ({"delta": 1.0}, "delta"),
        ({"batch": 0}, "batch"),
        ({"reading": "honest"}, "reading"),
    ],
)
def test_bad_arguments_are_named(options, field):
    with pytest.raises(InputError, match=f"Partial: {field}"):
        Partial(**{"n_arms": 3, "sigma": 1.0, "sigma_p": 1.0} | options)
