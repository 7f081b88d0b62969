"""An answer within a tolerance of the best arm: the statistic, and the promise under attack."""

import json

import numpy as np
import pytest
from scipy import stats

from bestarm.bai import KLLUCB, ChernoffRacing, KLRacing, TrackAndStop
from bestarm.bai.families import FAMILIES, divergence, transport
from bestarm.bai.tolerance import margin_statistic
from bestarm.core.inputs import InputError

KINDS = [TrackAndStop, ChernoffRacing, KLLUCB, KLRacing]
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
CONVEX = [name for name in FAMILIES if name != "exponential"]


@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize(
    ("margin", "w", "p", "v", "q"),
    [
        (0.1, 20.0, 0.5, 30.0, 0.3),
        (0.1, 20.0, 0.5, 30.0, 0.55),
        (0.3, 5.0, 1.0, 9.0, 0.9),
        (0.2, 5.0, 0.0, 9.0, 0.1),
        (0.01, 1e5, 0.05, 1.0, 0.0),
    ],
)
def test_it_is_the_least_of_a_fine_grid(name, margin, w, p, v, q):
    family = FAMILIES[name]
    most = 1.0 - margin if name == "bernoulli" else 3.0
    least = -2.0 if name == "gaussian" else 0.0
    grid = np.linspace(least, most, 100_001)
    if name == "bernoulli":
        grid[-1] = np.nextafter(most, 0.0)
    costs = [w * divergence(family, p, m) + v * divergence(family, q, m + margin) for m in grid]
    found = margin_statistic(family, margin, w, p, v, q)
    assert found <= min(costs) + 1e-9
    assert found == pytest.approx(min(costs), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("name", CONVEX)
def test_without_a_margin_it_is_the_statistic_of_equal_means(name):
    family = FAMILIES[name]
    of_zero = margin_statistic(family, 1e-12, 30.0, 0.6, 50.0, 0.4)
    assert of_zero == pytest.approx(transport(family, 30.0, 0.6, 50.0, 0.4), rel=1e-6)


def test_it_is_0_where_the_other_is_better_by_the_margin_and_infinite_where_none_can_be():
    assert margin_statistic(FAMILIES["bernoulli"], 0.1, 9.0, 0.4, 9.0, 0.5) == 0.0
    assert margin_statistic(FAMILIES["bernoulli"], 1.5, 9.0, 0.4, 9.0, 0.5) == np.inf


def played(s, means, rng, most=20_000):
    while not s.done and s.told < most:
        arm = s.ask()
        s.tell(arm, float(rng.random() < means[arm]))
    return s


@every
def test_arms_that_are_equally_good_end(kind):
    s = played(kind(3, tolerance=0.1, delta=0.1), [0.5, 0.5, 0.2], np.random.default_rng(0))
    assert s.done
    assert s.answer in (0, 1)
    assert not played(kind(3, delta=0.1), [0.5, 0.5, 0.2], np.random.default_rng(0), s.told).done
    assert kind.from_dict(json.loads(json.dumps(s.to_dict()))).to_dict() == s.to_dict()


@every
@pytest.mark.parametrize("means", [[0.5, 0.65, 0.5], [0.02, 0.18, 0.0]])
def test_answers_that_are_worse_are_rare(kind, means):
    """At 30%, the worse arms being worse by little more than the tolerance; 60 runs.

    A right one errs in more of them once in a million.
    """
    wrong = 0
    for seed in range(60):
        s = played(kind(3, tolerance=0.14, delta=0.3), means, np.random.default_rng(seed))
        assert s.done
        wrong += s.answer != 1
    assert wrong <= stats.binom.isf(1e-6, 60, 0.3)


def test_the_rule_is_that_of_the_proof():
    """After every result, by the definition: every pair with the answer, and prices."""
    s = TrackAndStop(3, tolerance=0.2, delta=0.1, rewards="gaussian", sigma=0.5)
    rng = np.random.default_rng(3)
    while not s.done:
        arm = s.ask()
        s.tell(arm, rng.normal([0.5, 0.5, 0.4][arm], 0.5))
        n, best = s.pulls.astype(float), s.means.argmax()
        if not n.all():
            continue
        counted, mixing_cost = n * n / (n + 30.0) / 0.25, 0.5 * np.log1p(n / 30.0)
        met = []
        for margin in (0.0, 0.2):
            gaps = s.means[best] - s.means + margin
            z = 0.5 * gaps**2 / (1.0 / counted[best] + 1.0 / counted)
            met.append(
                all(
                    z[a] > np.log(20.0) + mixing_cost[best] + mixing_cost[a]
                    for a in range(3)
                    if a != best
                )
            )
        assert s.done == any(met)


def test_it_is_in_the_unit_of_the_rewards():
    """A hundred times as large rewards, sigma and tolerance: the same run."""
    pulls = []
    for unit in (1.0, 100.0):
        s = KLLUCB(2, tolerance=0.3 * unit, rewards="gaussian", sigma=0.5 * unit)
        rng = np.random.default_rng(1)
        while not s.done:
            s.tell(s.ask(), unit * rng.normal(0.0, 0.5))
        pulls.append(s.pulls.tolist())
    assert pulls[0] == pulls[1]


def test_counts_end_it_too():
    s = TrackAndStop(["a", "b"], tolerance=0.05)
    s.tell_table({"arm": ["a", "b"], "pulls": [20_000] * 2, "total": [2001, 2000]})
    assert s.done
    assert s.summary().status.tolist() == ["best", "not much better"]


@every
def test_exponential_rewards_and_readings_without_proof(kind):
    reading = {"reading": "as-written", "tolerance": 0.1}
    with pytest.raises(InputError, match=r"tolerance: needs a reading that is proved, got as-wr"):
        kind(2, **reading)
    with pytest.raises(InputError, match="tolerance: must be a positive number, got -1"):
        kind(2, tolerance=-1)
    if kind in (KLLUCB, KLRacing):
        s, rng = kind(2, rewards="exponential", tolerance=2.0), np.random.default_rng(0)
        while not s.done:
            s.tell(s.ask(), rng.exponential())
        return
    with pytest.raises(InputError, match="tolerance: of exponential rewards only KLLUCB, KLRacing"):
        kind(2, rewards="exponential", tolerance=2.0)


def test_what_is_open_names_the_tolerance():
    s = TrackAndStop(["red", "blue"], tolerance=0.1, delta=1e-6)
    for arm, reward in (("red", 1.0), ("blue", 0.0)) * 4:
        s.tell(arm, reward)
    assert "blue may be better by more than 0.1: the test statistic is" in s.why_not_done()


@pytest.mark.parametrize("rewards", ["bernoulli", "exponential"])
@pytest.mark.parametrize("kind", [KLLUCB, KLRacing])
def test_what_is_open_of_intervals_is_their_ends(kind, rewards):
    s = kind(["red", "blue"], tolerance=0.1, delta=1e-6, rewards=rewards)
    for arm, reward in (("red", 0.9), ("blue", 0.5)) * 4:
        s.tell(arm, reward)
    low, high = s._ends(0)[0], s._ends(1)[1]
    assert s.why_not_done() == (
        f"red leads, but blue may be better by more than 0.1: its mean may be {high:.3g} and that "
        f"of red {low:.3g}, which is {high - low:.3g} less."
    )
