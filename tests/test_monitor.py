"""What people who watch an experiment see: a table, a picture, and what is still open."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from bestarm import baics, cbmai, delayed, lagex, linear
from bestarm.linear.interactive import ellipsoid_intervals
from bestarm.live.lines import ANSWER, COLUMNS
from bestarm.live.monitor import mean_interval, more_trials
from test_ask_tell import (
    ARMS,
    BAI,
    BAICS,
    LIMITS,
    LINEAR,
    OBJECTS,
    THETA,
    every,
    made,
    played,
    tell,
)


@every
def test_summary_has_a_row_per_estimate_and_the_truth_in_its_intervals(kind):
    s = played(made(kind), np.random.default_rng(8), most=200)
    table = s.summary()
    missing = {"segment"} if kind not in BAICS else set()
    missing |= {"limit"} if kind in BAI | LINEAR else set()
    assert list(table.columns) == [name for name in COLUMNS if name not in missing]
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


def truth_of(kind, line):
    """What a line of `lawful` estimates."""
    if kind.__module__.startswith("bestarm.baics"):
        rates = RATES[int(line.arm)]
        return rates @ [0.2, 0.8] if line.quantity == "weighted mean" else rates[int(line.segment)]
    if kind is linear.LinGapE:
        return ARMS[int(line.arm)] @ THETA
    return 0.0 if line.quantity == "reward" else 0.3


@pytest.mark.parametrize(
    "kind",
    [baics.Uniform, baics.TaSCS, linear.LinGapE, lagex.LAGEX, lagex.Certified, cbmai.USLP],
)
def test_a_summary_that_is_looked_at_after_every_trial_keeps_its_promise(kind):
    """With differences, at 20% (CBMAI 5%), in 40 runs of 50 trials.

    A right one fails once in 100,000.
    """
    options, pull = lawful(kind)
    missed = 0
    for seed in range(40):
        s, rng, bad = made(kind, **options), np.random.default_rng(seed), False
        for t in range(50):
            if s.done:
                break
            (trial,) = s.ask(1)
            s.tell(trial, *pull(trial.arm, rng))
            for line, apart in s._rows(control=1 if t % 5 == 0 else None):
                truth = truth_of(kind, line)
                bad |= not line.low <= truth <= line.high
                if not np.isnan(apart.low):
                    than = truth - truth_of(kind, line._replace(arm="1"))
                    bad |= not apart.low <= than <= apart.high
        missed += bad
    assert missed <= stats.binom.isf(1e-5, 40, 0.05 if kind is cbmai.USLP else 0.2)


def test_costs_are_as_uncertain_as_it_was_told():
    """Ten times the cost_sigma, ten times the width; of rewards nothing changes."""
    widths = []
    for cost_sigma in (1.0, 10.0):
        s = made(lagex.LAGEX, cost_sigma=cost_sigma)
        s.tell(0, 1.0, [0.3, 0.3])
        rows = s.summary().query(f"pulls > 0 and arm != '{ANSWER}'")
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
        ((100, 0.0, 3.0), "too early to estimate"),
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


CONVERSIONS = {
    "n_arms": ["old page", "new page", "longer page"],
    "weights": {"Sweden": 0.6, "Norway": 0.4},
    "rewards": "bernoulli",
    "minimum": 0.02,
}


def conversions(days=3, **options):
    """A test of three pages in two countries after some days, told as counts."""
    s, countries = baics.FWS(**CONVERSIONS | options), CONVERSIONS["weights"]
    rates, rng = {"old page": 0.03, "new page": 0.06, "longer page": 0.01}, np.random.default_rng(1)
    for _ in range(days):
        rows = []
        for country, share in countries.items():
            for page, n in s.allocation(int(2000 * share), segment=country).items():
                rows.append((page, country, n, int(rng.binomial(n, rates[page]))))
        names = ("arm", "segment", "pulls", "total")
        s.tell_table(dict(zip(names, zip(*rows, strict=True), strict=True)))
        if s.done:
            break
    return s


def test_totals_are_weighted_means():
    table = conversions().summary()
    for arm, rows in table[table.quantity == "reward"].groupby("arm"):
        total = table[(table.arm == arm) & (table.segment == "all")].iloc[0]
        assert total.quantity == "weighted mean"
        assert total.pulls == rows.pulls.sum()
        assert total.estimate == pytest.approx(rows.estimate @ [0.6, 0.4])


def test_gains_are_of_segments_with_a_minimum():
    some = conversions(minimum=[0.02], constrained=1).summary()
    assert set(some.status[(some.segment == "Sweden")]) <= {"gains", "loses", "open"}
    assert set(some.status[(some.segment == "Norway")]) == {""}
    assert some.limit.dropna().tolist() == [0.02] * 3
    for options in ({"constrained": 0}, {"minimum": 0.0}):  # no share of visitors is below 0
        none = conversions(**options).summary()
        assert "limit" not in none
        assert set(none.status[none.segment != "all"]) == {""}
        assert set(none.status) <= {"", "leads", "best", "open", "ruled out"}


def test_with_one_segment_a_row_is_of_the_arm():
    s = baics.FWS(["old", "new"], [1.0], rewards="bernoulli", constrained=0)
    for reward in (1.0, 1.0, 0.0):
        s.tell(("new", 0), reward)
        s.tell(("old", 0), 0.0)
    table = s.summary()
    assert table.status.tolist() == ["open", "leads"]
    assert "weighted mean" not in set(table.quantity)


@every
def test_nested_intervals_are_what_all_earlier_ones_have_in_common(kind):
    """After every result: cut by each of the intervals so far, and never wider than before."""
    s, rng, low, high = made(kind), np.random.default_rng(4), -np.inf, np.inf
    for t in range(25):
        if s.done:
            break
        tell(s, s.ask(), rng)
        now = [line for line in s._lines() if line.arm != ANSWER]
        low = np.maximum(low, [line.low for line in now])
        high = np.minimum(high, [line.high for line in now])
        if t in (3, 24):
            nested = s.summary(nested=True)
            nested = nested[nested.arm != ANSWER]
            np.testing.assert_array_equal(nested.low, low)
            np.testing.assert_array_equal(nested.high, high)


def test_nested_differences_are_cut_too():
    s, low = conversions(), -np.inf
    again = baics.FWS(**CONVERSIONS)
    for event in s.history:
        again.replay([event])
        if event.kind == "counts":
            table = again.summary(control="old page").query("arm != 'old page'")
            low = np.maximum(low, table.difference_low)
    found = s.summary(control="old page", nested=True).query("arm != 'old page'")
    np.testing.assert_array_equal(found.difference_low, low)


@pytest.mark.parametrize("kind", [lagex.LAGEX, lagex.CTnS, lagex.Certified, cbmai.SFSR])
def test_limits_have_a_row_each(kind):
    """The mean cost of the answer, of the costs of its arms; known costs are exact."""
    s = played(made(kind), np.random.default_rng(8))
    table = s.summary()
    rows = table[table.arm == ANSWER]
    assert rows.quantity.tolist() == list(s._costs)
    assert (rows.low <= rows.high).all()
    if kind is lagex.CTnS:
        np.testing.assert_allclose(rows.estimate, s._known_costs @ s.answer)
        np.testing.assert_array_equal(rows.low, rows.high)
        assert set(rows.status) == {"kept"}
        return
    mixture = [s.mixture.get(a, 0.0) for a in range(3)] if kind is cbmai.SFSR else s.answer
    shares = np.array(mixture)
    for row in rows.itertuples():
        costs = table[(table.quantity == row.quantity) & (table.arm != ANSWER)]
        assert row.estimate == pytest.approx(costs.estimate @ shares)
        assert row.high == pytest.approx(costs.high[shares > 0] @ shares[shares > 0])
        assert row.limit == LIMITS[s._costs.index(row.quantity)] or kind is cbmai.SFSR
        assert row.status == ("kept" if row.high <= row.limit else "open")


def test_a_limit_of_no_policy_is_open():
    s = lagex.Certified(3, LIMITS, r=1.0)
    rows = s.summary()
    rows = rows[rows.arm == ANSWER]
    assert rows.status.tolist() == ["open"] * 2
    assert rows.estimate.isna().all()


@every
def test_a_control_has_to_be_an_arm(kind):
    s = made(kind)
    for look in (s.summary, s.plot):
        with pytest.raises(ValueError, match=r"^control must be 0 to 2, got 'x'$"):
            look(control="x")
    table = played(s, np.random.default_rng(1), most=30).summary(control=np.int64(1))
    assert table.difference[table.arm == "1"].isna().all()
    known = table[(table.arm != "1") & table.difference.notna()]
    assert len(known)
    assert (known.difference_low <= known.difference).all()
    assert (known.difference <= known.difference_high).all()
