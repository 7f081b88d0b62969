"""What two numbers say of each other: exactness at the edges, symmetry, and stated error rates."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bestarm.common import p_values
from bestarm.common.p_values import Side
from bestarm.core.estimates import exact, mean, proportion, undefined

LN_MARGIN = math.log(1.2)
numbers = st.floats(-2.0, 2.0)
errors = st.floats(1e-3, 1.0)


def row(estimate):
    return pd.Series(vars(estimate))


def side(value, error):
    return Side(value, error, error)


@given(numbers, numbers, errors, errors)
def test_swapping_the_samples_flips_the_sign_and_nothing_else(a, b, error_a, error_b):
    one = p_values.same(side(a, error_a), side(b, error_b), 0.2)
    other = p_values.same(side(b, error_b), side(a, error_a), 0.2)
    assert one.difference == -other.difference
    assert one[:2] == pytest.approx(other[:2], abs=1e-12)
    assert (one.facing, one.away) == pytest.approx((other.facing, other.away))


@given(numbers, numbers, errors, errors, errors, errors)
def test_swapping_lopsided_intervals_does_too(a, b, a_below, a_above, b_below, b_above):
    one = p_values.same(Side(a, a_below, a_above), Side(b, b_below, b_above), 0.2)
    other = p_values.same(Side(b, b_below, b_above), Side(a, a_below, a_above), 0.2)
    if a != b:  # at a tie either side may be taken for the near one
        assert one[:2] == pytest.approx(other[:2], abs=1e-12)


def test_equal_numbers_are_told_from_different_ones_at_five_percent():
    """By hand: d = 1.96 s is the edge against, d = margin - 1.645 s the edge for."""
    s = 0.05
    edge = stats.norm.ppf(0.975) * s
    assert p_values.same(side(0.0, s), side(edge, 0.0), 1.0).against == pytest.approx(0.05)
    edge = LN_MARGIN - stats.norm.ppf(0.95) * s
    assert p_values.same(side(0.0, s), side(edge, 0.0), LN_MARGIN).support == pytest.approx(0.05)


def test_rounding_excuses_a_difference_and_narrows_the_margin():
    exactly = p_values.same(side(0.0, 0.0), side(0.1, 0.0), 0.2, tolerance=0.1)
    assert exactly.against == 1.0
    assert exactly.support >= 0.5
    assert p_values.same(side(0.0, 0.0), side(0.1, 0.0), 0.2, 0.099).against == 0.0
    assert p_values.same(side(0.0, 0.0), side(0.1, 0.0), 0.2, 0.099).support == 0.0
    assert p_values.same(side(0.0, 0.0), side(0.0, 0.0), 0.2, 0.3).support >= 0.5


def test_about_leaves_the_margin_alone():
    inside, outside = side(0.1, 0.01), side(0.3, 0.01)
    assert p_values.about(inside, side(0.0, 0.0), LN_MARGIN).support < 1e-6
    assert p_values.about(inside, side(0.0, 0.0), LN_MARGIN).against > 0.999
    assert p_values.about(outside, side(0.0, 0.0), LN_MARGIN).against < 1e-6


@given(numbers, numbers, errors)
def test_an_inequality_and_its_opposite_share_their_p_values(a, b, error):
    up = p_values.larger(side(a, error), side(b, error))
    down = p_values.larger(side(a, error), side(b, error), -1.0)
    assert (up.support, up.against) == pytest.approx((down.against, down.support))
    assert up.support + up.against == pytest.approx(1.0)


def test_computed_numbers_decide_at_once():
    assert p_values.larger(Side(2.0), Side(1.0))[:2] == (0.0, 1.0)
    assert p_values.larger(Side(1.0), Side(2.0))[:2] == (1.0, 0.0)
    assert p_values.larger(Side(1.0), Side(1.0))[:2] == (0.0, 1.0)  # at least is at least
    assert p_values.larger(Side(math.inf), Side(1.0))[:2] == (0.0, 1.0)
    assert p_values.larger(Side(math.inf), Side(math.inf))[:2] == (0.0, 1.0)


@pytest.mark.parametrize(("count", "n", "limit"), [(0, 60, 0.05), (9, 60, 0.05), (3, 60, 0.05)])
def test_shares_are_tested_by_the_binomial_law(count, n, limit):
    found = p_values.share_against(count, n, limit, -1.0)
    assert found.support == pytest.approx(stats.binomtest(count, n, limit, "less").pvalue)
    assert found.against == pytest.approx(stats.binomtest(count, n, limit, "greater").pvalue)


def test_one_run_refutes_never():
    assert p_values.never(1, 10_000).against == 0.0
    assert p_values.never(0, 298).support > 0.05
    assert p_values.never(0, 299).support < 0.05  # 0.99^299


def test_counts_are_recognised():
    assert p_values.success_count(row(proportion("p", 30, 100))) == 30
    assert p_values.success_count(row(proportion("p", 0, 100))) == 0
    assert p_values.success_count(row(proportion("p", 100, 100))) == 100
    sample = np.array([0.1, 0.2, 0.4, 0.5] * 25)
    assert p_values.success_count(row(mean("p", "share", sample))) is None
    difference = mean("p", "share", sample - sample.mean())
    assert p_values.success_count(row(difference)) is None  # 0 with an interval is no share


def test_what_can_support_nothing_says_why():
    assert p_values.missing(row(undefined("m", "pulls", 10))) == p_values.UNDEFINED
    assert p_values.missing(row(mean("m", "pulls", np.array([1.0])))) == p_values.NO_INTERVAL
    assert p_values.missing(row(exact("m", "pulls", 1.0))) == ""
    assert p_values.missing(row(mean("m", "pulls", np.array([1.0, 2.0])))) == ""


def test_logarithms_take_an_interval_that_reaches_zero():
    """It excludes what lies above it, and nothing below."""
    wide = pd.Series({"value": 1.0, "low": -0.5, "high": 2.5, "status": "", "unit": ""})
    found = p_values.log_side(wide)
    assert found.above == pytest.approx(math.log(2.5) / stats.norm.ppf(0.975))
    assert p_values.same(found, Side(math.log(2.6)), math.inf).against < 0.05
    assert p_values.same(found, Side(-100.0), math.inf).against == 1.0
    assert p_values.log_side(wide.replace({1.0: 0.0})) is None


@given(*[st.floats(0.01, 100.0)] * 4)
def test_a_number_differs_if_and_only_if_it_lies_outside_of_the_interval(a, b, c, other):
    """On a logarithmic scale too, however lopsided the interval is."""
    low, value, high = sorted([a, b, c])
    row = pd.Series({"value": value, "low": low, "high": high, "status": "", "unit": ""})
    edge = min(abs(math.log(other / end)) for end in (low, high))
    if edge > 1e-6:
        found = p_values.same(p_values.log_side(row), Side(math.log(other)), math.inf)
        assert (found.against < 0.05) == (not low <= other <= high)


def test_both_halves_of_an_interval_go_over_to_a_published_number():
    ours = pd.Series({"value": 10.0, "low": 5.0, "high": 12.0, "status": "", "unit": "", "n": 100})
    raw, log = p_values.published_sides(20.0, 25, 0.0, ours)
    z = stats.norm.ppf(0.975)
    assert raw[1:] == pytest.approx((2 * 2 * 5 / z, 2 * 2 * 2 / z))
    assert log[1:] == pytest.approx((2 * math.log(2.0) / z, 2 * math.log(1.2) / z))


def test_an_interval_without_an_end_shows_nothing_on_that_side():
    row = pd.Series({"value": 10.0, "low": 5.0, "high": math.inf, "status": "", "unit": "", "n": 7})
    for ours in (p_values.log_side(row), p_values.raw_side(row)):
        assert p_values.same(ours, Side(1e6), 0.2).against == 1.0
        assert p_values.larger(ours, Side(1e6)).against == 0.5
    raw, _ = p_values.published_sides(0.0, 30, 0.0, row)
    assert raw == Side(0.0)


def test_an_interval_cut_off_at_0_is_as_uncertain_below_as_above():
    tau = np.array([1.0] * 9 + [1000.0])
    cut = p_values.raw_side(row(mean("mean_stopping_time", "pulls", tau, least=0.0)))
    assert cut == pytest.approx(p_values.raw_side(row(mean("mean_stopping_time", "pulls", tau))))


@pytest.mark.parametrize("difference", [0.0, 0.05, 0.12, 0.4])
def test_as_many_runs_as_said_settle_it(difference):
    """With the error that so many runs would have one of the p-values is below its level."""
    n, ours, theirs = 100, 0.3, 0.01
    found = p_values.same(side(0.0, ours), side(difference, theirs), LN_MARGIN)
    needed = p_values.runs_to_settle(found, n, tests=3)
    assert needed > n
    for factor, settled in ((1.001, True), (0.98, False)):
        error = ours * math.sqrt(n / (needed * factor))
        then = p_values.same(side(0.0, error), side(difference, theirs), LN_MARGIN)
        assert (then.support < 0.05 / 3 or then.against < 0.05) == settled


def test_no_number_of_our_runs_helps_a_small_published_sample():
    found = p_values.same(side(0.0, 0.01), side(0.05, 0.5), LN_MARGIN)
    assert p_values.runs_to_settle(found, 100, 1) == math.inf


def test_a_difference_of_the_resolution_is_seen_with_eighty_percent():
    s = 0.07
    found = p_values.same(side(0.0, s), side(0.0, 0.0), 1.0)
    power = stats.norm.sf(stats.norm.ppf(0.975) - p_values.resolution(found) / s)
    assert power == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize("tests", [1, 4])
def test_runs_that_settle_an_inequality_count_the_readings(tests):
    """A difference of 2 with error 1.5 from 100 runs: the error shrinks as 1 / sqrt(runs), and has
    to be the difference over the normal quantile at 5% divided by the number of readings."""
    found = p_values.PValues(0.1, 0.9, "", 2.0, facing=1.5, away=1.5, ours=1.5)
    error = 2.0 / stats.norm.isf(0.05 / tests)
    assert p_values.runs_to_settle(found, 100, tests) == math.ceil(100 * (1.5 / error) ** 2)
