"""What people who watch an experiment see: a table, a picture, and what is still open."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from bestarm import baics, cbmai, delayed, lagex, linear
from bestarm.linear.interactive import ellipsoid_intervals
from bestarm.live.monitor import Line, mean_interval, more_trials
from test_ask_tell import ARMS, OBJECTS, THETA, every, made, played, tell


@every
def test_summary_has_a_row_per_estimate_and_the_truth_in_its_intervals(kind):
    s = played(made(kind), np.random.default_rng(8), most=200)
    table = s.summary()
    assert list(table.columns) == list(Line._fields)
    assert table[table.quantity == "reward"].pulls.sum() == s.pulls.sum()
    known = table.estimate.notna()
    assert (table.low[known] <= table.estimate[known]).all()
    assert (table.estimate[known] <= table.high[known]).all()
    assert s.plot().axes[0].get_xlabel()


@every
def test_it_says_why_it_is_not_done(kind):
    s = made(kind, **({} if "budget" in OBJECTS[kind] else {"delta": 1e-6}))
    assert s.why_not_done()
    played(s, np.random.default_rng(8), most=30)
    said = s.why_not_done()
    assert re.search(r"\d", said)
    assert said.endswith(".")
    assert "nan" not in said
    s = played(made(kind), np.random.default_rng(8))
    assert s.why_not_done().startswith("It has stopped: ")


@pytest.mark.parametrize("kind", [linear.G, lagex.LATS, linear.LinGapE, baics.TaSCS])
def test_the_number_of_further_trials_is_about_right(kind):
    """Half-way through a long run, within a factor of three."""
    s, rng = made(kind, delta=1e-12), np.random.default_rng(3)
    said = []
    while not s.done:
        tell(s, s.ask(), rng)
        said.append(s.why_not_done())
    half = len(said) // 2
    number = int(re.search(r"about ([\d,]+) more", said[half])[1].replace(",", ""))
    assert len(said) / 6 < number < 3 * len(said) / 2


def test_intervals_hold_at_all_times_at_once():
    """At level 10%; a right interval misses in more of 400 runs than this once in 100,000."""
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(400):
        totals = np.cumsum(0.5 * rng.standard_normal(2000))
        missed += any(
            not low <= 0.0 <= high
            for n in range(1, 2001, 7)
            for _, low, high in [mean_interval(totals[n - 1], n, 0.5, 0.1)]
        )
    assert missed <= stats.binom.isf(1e-5, 400, 0.1)


def test_ellipsoids_hold_for_all_arms_at_all_times():
    """At level 10%, pulls going where the error is largest.

    Of 100 runs a rate of 40% is seen with probability 0.99; a right one fails once in a million.
    """
    rng = np.random.default_rng(1)
    truth = ARMS @ THETA
    missed = 0
    for _ in range(100):
        counts, sums, arm, bad = np.zeros(3), np.zeros(3), 0, False
        for t in range(150):
            counts[arm] += 1
            sums[arm] += truth[arm] + rng.standard_normal()
            values, halves = ellipsoid_intervals(ARMS, counts, sums, 0.1)
            off = np.abs(values - truth) / halves
            bad |= bool((off > 1.0).any())
            arm = (t + 1) % 3 if np.isnan(off).any() else int(np.argmax(off))
        missed += bad
    bound = stats.binom.isf(1e-6, 100, 0.1)
    assert stats.binom.sf(bound, 100, 0.4) > 0.99
    assert missed <= bound


RATES = np.array([[0.9, 0.3], [0.5, 0.4], [0.1, 0.2]])


def lawful(kind):
    """Options, and what a pull of an arm gives, of a class whose `summary` is watched."""
    if kind is baics.Uniform:
        return {"delta": 0.2, "rewards": "bernoulli"}, lambda arm, rng: (
            float(rng.random() < RATES[arm]),
        )
    if kind is baics.TaSCS:
        return {"delta": 0.2, "sigma": "unknown"}, lambda arm, rng: (rng.normal(RATES[arm], 3.0),)
    if kind is linear.LinGapE:
        return {"delta": 0.2}, lambda arm, rng: (ARMS[arm] @ THETA + rng.normal(),)
    costs = {"cost_sigma": 2.0} if kind in (lagex.LAGEX, lagex.Certified, cbmai.USLP) else {}
    delta = {} if kind is cbmai.USLP else {"delta": 0.2}
    n_costs = 1 if kind is cbmai.USLP else 2
    return costs | delta, lambda arm, rng: (rng.normal(), rng.normal(0.3, 2.0, n_costs))


@pytest.mark.parametrize(
    "kind",
    [baics.Uniform, baics.TaSCS, linear.LinGapE, lagex.LAGEX, lagex.Certified, cbmai.USLP],
)
def test_a_summary_that_is_looked_at_after_every_trial_keeps_its_promise(kind):
    """At 20% (CBMAI 5%), in 40 runs of 50 trials; a right one fails once in 100,000."""
    options, pull = lawful(kind)
    missed = 0
    for seed in range(40):
        s, rng, bad = made(kind, **options), np.random.default_rng(seed), False
        for _ in range(50):
            if s.done:
                break
            (trial,) = s.ask(1)
            s.tell(trial, *pull(trial.arm, rng))
            for line in s._lines():
                truth = 0.0 if line.quantity == "reward" else 0.3
                if kind.__module__.startswith("bestarm.baics"):
                    truth = RATES[tuple(map(int, line.arm.split(", ")))]
                if kind is linear.LinGapE:
                    truth = ARMS[int(line.arm)] @ THETA
                bad |= not line.low <= truth <= line.high
        missed += bad
    assert missed <= stats.binom.isf(1e-5, 40, 0.05 if kind is cbmai.USLP else 0.2)


def test_costs_are_as_uncertain_as_it_was_told():
    """Ten times the cost_sigma, ten times the width; of rewards nothing changes."""
    widths = []
    for cost_sigma in (1.0, 10.0):
        s = made(lagex.LAGEX, cost_sigma=cost_sigma)
        s.tell(0, 1.0, [0.3, 0.3])
        rows = s.summary().query("pulls > 0")
        widths.append((rows.high - rows.low).to_numpy())
    np.testing.assert_allclose(widths[1], widths[0] * [1.0, 10.0, 10.0])


def test_no_interval_before_the_first_pull():
    assert mean_interval(0.0, 0, 1.0, 0.1)[1:] == (-math.inf, math.inf)
    values, halves = ellipsoid_intervals(ARMS, np.array([2.0, 0.0, 0.0]), np.zeros(3), 0.1)
    assert np.isnan(values).all()
    assert np.isinf(halves).all()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((100, 2.0, 3.0), "about 50 more trials"),
        ((1000, 2.0, 9.3), "about 3,700 more trials"),
        ((100, 2.999, 3.0), "a trial or two"),
        ((100, 0.0, 3.0), "cannot be told yet"),
    ],
)
def test_further_trials_in_words(arguments, said):
    assert said in more_trials(*arguments)


def test_a_race_is_told_in_words():
    s = delayed.Partial(["a", "b", "c"], sigma=0.5, sigma_p=0.5, batch=3)
    s.ask()
    assert "3 arms are open (a, b, c)" in s.why_not_done()
    assert list(s.summary().status) == ["open"] * 3


def test_a_budget_is_counted_down_in_words():
    s = cbmai.SFSR(["a", "b", "c"], 1.0, 60)
    s.tell("a", 1.0, 1.0)
    assert re.match(r"Round 1 of 2 takes \d+ more pulls \(a: ", s.why_not_done())
    assert "59 of the budget of 60 are left" in s.why_not_done()
