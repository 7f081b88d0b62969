"""Intervals: hand-worked values, defining equations, and coverage by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from bestarm.core import estimates as est
from bestarm.core.status import Status


def test_mean_by_hand():
    e = est.mean("mean_stopping_time", "pulls", np.array([1.0, 2.0, 3.0]))
    half = stats.t.ppf(0.975, 2) * 1.0 / math.sqrt(3)
    assert (e.value, e.n) == (2.0, 3)
    assert (e.low, e.high) == pytest.approx((2 - half, 2 + half))


@pytest.mark.parametrize("cuts", [[0], [1, 40], [30, 60, 90]])
def test_moments_of_parts_add_up(cuts):
    """To 1e-12, far from 0 too, where a sum of squares would have lost the deviations."""
    sample = 1e6 + np.random.default_rng(4).exponential(size=90)
    whole = est.mean("mean_stopping_time", "pulls", sample)
    parts = [est.Moments.of(part) for part in np.split(sample, cuts)]
    added = est.mean("mean_stopping_time", "pulls", sum(parts[1:], parts[0]))
    assert added.n == whole.n == 90
    assert added.value == pytest.approx(whole.value, rel=1e-15)
    assert added.high - added.low == pytest.approx(whole.high - whole.low, rel=1e-9)


def test_a_ratio_of_independent_means_has_the_errors_of_both():
    """Of 30% and 40%, hence of 50% in the logarithm."""
    above = est.Estimate("a", "pulls", 10.0, 7.0, 13.0, 5)
    below = est.Estimate("b", "pulls", 5.0, 3.0, 7.0, 9)
    e = est.ratio_of_independent_means("ratio", above, below)
    assert (e.value, e.n) == (2.0, 5)
    assert (e.low, e.high) == pytest.approx((2.0 * math.exp(-0.5), 2.0 * math.exp(0.5)))


def test_mean_of_one_run_has_no_interval():
    e = est.mean("mean_stopping_time", "pulls", np.array([7.0]))
    assert e.value == 7.0
    assert math.isnan(e.low)


@pytest.mark.parametrize(("k", "n"), [(1, 10), (5, 10), (299, 300)])
def test_wilson_ends_solve_its_equation(k, n):
    z = stats.norm.ppf(0.975)
    for p in est.wilson(k / n, n):
        assert abs(k / n - p) == pytest.approx(z * math.sqrt(p * (1 - p) / n))


def test_nothing_counted_gives_the_one_sided_bound():
    e = est.proportion("error_rate", 0, 300)
    assert (e.value, e.low, e.status) == (0.0, 0.0, "one-sided")
    assert (1 - e.high) ** 300 == pytest.approx(0.05)
    all_right = est.proportion("prob_correct", 300, 300)
    assert (all_right.low, all_right.high) == pytest.approx((1 - e.high, 1.0))


@pytest.mark.parametrize("n", [1, 2, 3, 10, 39, 100, 1200, 10_000, 10**6])
@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 0.75, 0.95])
def test_binomial_quantiles_are_the_least_that_hold_enough(n, p):
    """Against scipy.stats, which takes long to import; and where a level is met exactly."""
    for level in (0.001, 0.025, 0.3, 0.5, 0.975, 0.999):
        assert est.binomial_quantile(level, n, p) == stats.binom.ppf(level, n, p)
    assert est.binomial_quantile(0.5, 3, 0.5) == 1


@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 0.75, 0.95])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_least_runs_have_both_ends_of_an_interval(p, level):
    """The interval's ranks lie among the runs from that number on, and not before."""
    least = est.least_runs(p, level)
    for n in range(1, least + 30):
        few, many = (est.binomial_quantile((1 + side * level) / 2, n, p) for side in (-1, 1))
        assert (few >= 1 and many < n) == (n >= least)


@pytest.mark.parametrize("p", [0.25, 0.5, 0.75])
def test_quantile_interval_covers(p):
    """Order-statistic intervals cover at least 95%, up to a 1e-6 false alarm."""
    rng = np.random.default_rng(5)
    truth = stats.expon.ppf(p)
    rows = [
        est.quantile("median_stopping_time", "pulls", rng.exponential(size=41), p)
        for _ in range(4000)
    ]
    covered = sum(e.low <= truth <= e.high for e in rows)
    assert covered >= stats.binom.ppf(1e-6, 4000, 0.95)


def by_name(rows):
    return {e.statistic: e for e in rows}


def test_capped_runs_are_censored_and_counted():
    tau = np.array([10, 20, 30, 100, 100])
    status = np.array([0, 0, 0, 1, 1]) * Status.CAPPED
    rows = by_name(est.stopping_times(tau, status))
    assert rows["mean_stopping_time"].status == "restricted"
    assert rows["share_capped"].value == 0.4
    assert rows["median_stopping_time"].value == 30
    assert rows["quartile_75"].status == "undefined"
    assert math.isnan(rows["quartile_75"].value)


def test_a_failed_run_is_one_that_would_have_gone_on():
    tau = np.array([5, 6, 7, 8, 1])
    status = np.array([0, 0, 0, 0, 1]) * Status.FAILED
    rows = by_name(est.stopping_times(tau, status))
    assert rows["mean_stopping_time"].status == "restricted"
    assert rows["median_stopping_time"].value == 7
    assert rows["quartile_75"].value == 8
    assert (rows["share_failed"].value, rows["share_capped"].value) == (0.2, 0.0)
    assert "share_failed" not in by_name(est.stopping_times(tau, 0 * status))


def test_median_goes_when_half_are_capped():
    status = np.array([Status.STOPPED, Status.CAPPED])
    rows = by_name(est.stopping_times(np.array([10, 100]), status))
    assert rows["median_stopping_time"].status == "undefined"


def test_without_caps_nothing_is_restricted():
    rows = by_name(est.stopping_times(np.array([10, 20, 30]), np.zeros(3)))
    assert rows["mean_stopping_time"].status == ""
    assert rows["share_capped"].status == "one-sided"


def test_correctness_shares_add_up():
    rows = by_name(est.correctness(np.array([True, True, False, True])))
    assert rows["prob_correct"].value == 0.75
    assert rows["error_rate"].value == 0.25
    assert rows["error_rate"].high == pytest.approx(1 - rows["prob_correct"].low)


def test_every_statistic_has_a_definition():
    rows = est.stopping_times(np.array([1, 2]), np.zeros(2)) + est.correctness(np.array([True]))
    assert {e.statistic for e in rows} <= est.MEANINGS.keys()
