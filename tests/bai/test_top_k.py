"""The best k arms by an ask/tell object: the same run as the core's, answers and arguments."""

import itertools

import numpy as np
import pytest

from bestarm.bai import TopK
from bestarm.core.inputs import InputError
from bestarm.core.pure_exploration.steps import World, rules_of
from bestarm.core.pure_exploration.strategies import STRATEGIES
from bestarm.core.pure_exploration.top_arms import top_arms
from bestarm.core.strategy import NO_CAP
from bestarm.core.streams import streams_of

MEANS = np.array([1.0, 0.0, 0.8, 0.2])


@pytest.mark.parametrize("top", [1, 2, 3])
def test_same_run_as_the_core(top):
    unit, streams = 0.25, streams_of(3, top)
    world, rules = World(MEANS / unit, np.ones(4)), rules_of(top_arms(4, top), 0.1)
    state, _ = STRATEGIES["Game"].play(world, rules, NO_CAP, streams.environment, streams.coins)
    s, environment = TopK(4, top, rewards="gaussian", sigma=unit), streams_of(3, top).environment
    while not s.done:
        arm = s.ask()
        s.tell(arm, unit * (world.means[arm] + environment.standard_normal()))
    assert s.pulls.tolist() == state.pulls.tolist()
    assert s.answer == sorted(np.argsort(-MEANS)[:top].tolist())


def stops(sums, pulls, answer, delta):
    """The stopping rule by its definition: every exchange of two arms is ruled out."""
    k, inside = len(pulls), set(answer)
    shrunk, price = pulls**2 / (pulls + 30.0), 0.5 * np.log1p(pulls / 30.0)
    means, pairs = sums / pulls, len(inside) * (k - len(inside))
    for a, c in itertools.product(inside, set(range(k)) - inside):
        weight = shrunk[a] * shrunk[c] / (shrunk[a] + shrunk[c])
        evidence = 0.5 * weight * (means[a] - means[c]) ** 2
        if evidence <= np.log(pairs / delta) + price[a] + price[c]:
            return False
    return True


def test_it_stops_when_every_exchange_is_ruled_out():
    """Rewards of 0 and 1 have the scale 1/2."""
    s, rng = TopK(["a", "b", "c"], 2, delta=0.2), np.random.default_rng(5)
    rates = {"a": 0.9, "b": 0.1, "c": 0.7}
    sums, pulls = np.zeros(3), np.zeros(3)
    while not s.done:
        arm = s.ask()
        reward = float(rng.random() < rates[arm])
        s.tell(arm, reward)
        place = "abc".index(arm)
        sums[place], pulls[place] = sums[place] + 2.0 * reward, pulls[place] + 1.0
        if pulls.all():
            answer = ["abc".index(name) for name in s.answer]
            assert s.done == stops(sums, pulls, answer, 0.2)
    assert s.answer == ["a", "c"]
    table = s.summary().set_index("arm")
    assert table.status.to_dict() == {"a": "among the best", "b": "worse", "c": "among the best"}
    assert all(table.low[arm] <= rate <= table.high[arm] for arm, rate in rates.items())
    assert s.why_not_done() == "It has stopped: ['a', 'c']."


def test_why_not_done_names_the_nearest_exchange():
    s = TopK(["a", "b", "c"], 1, delta=1e-6)
    assert s.why_not_done() == "Some arms have no result yet."
    for arm, reward in (("a", 1.0), ("b", 0.0), ("c", 0.5)) * 4:
        s.tell(arm, reward)
    assert "c may be better than a: the evidence is" in s.why_not_done()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"top": 3}, "TopK: top: must be a whole number from 1 to 2, got 3"),
        ({"top": 1.5}, "TopK: top: must be a whole number"),
        ({"n_arms": 63}, "TopK: n_arms: must be at most 62, got 63"),
        ({"rewards": "poisson"}, "TopK: rewards: must be one of bernoulli, gaussian, got"),
        ({"sigma": 2.0}, "TopK: sigma: must be left out unless rewards are gaussian"),
        ({"delta": 2.0}, "TopK: delta: must be less than 1"),
    ],
)
def test_refused_arguments(options, said):
    with pytest.raises(InputError, match=said):
        TopK(**{"n_arms": 3, "top": 1} | options)
