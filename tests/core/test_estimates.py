"""Intervals: hand-worked values, defining equations, and exact coverage."""

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


def covered(found: est.Estimate, below: int) -> bool:
    """Whether an interval over the runs 1, 2, ..., n holds a value with so many runs below it.

    One without an interval claims nothing.
    """
    return math.isnan(found.low) or found.low <= below + 0.5 <= found.high


@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 0.75, 0.95])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_quantile_intervals_cover(p, level):
    """Exactly: of n runs binomial(n, p) lie below the quantile."""
    for n in range(1, 61):
        found = est.quantile("median_stopping_time", "pulls", np.arange(1.0, n + 1), p, level)
        chances = stats.binom.pmf(np.arange(n + 1), n, p)
        holds = [covered(found, below) for below in range(n + 1)]
        assert chances @ holds >= level - 1e-12
        assert math.isnan(found.low) == math.isnan(found.high) == (n < est.least_runs(p, level))


@pytest.mark.parametrize("p", [0.25, 0.5, 0.75])
def test_quantile_intervals_of_capped_runs_cover(p):
    """Exactly: binomial(n, stops) runs stop before the cap, of which some lie below the quantile.

    With a cap below the quantile every finite upper end is wrong.
    """
    stops = np.array([0.1, 0.3, 0.49, 0.51, 0.6, 0.9, 0.999])
    for n in range(1, 61):
        missed = np.zeros(stops.size)
        for stopped in range(n + 1):
            tau = np.minimum(np.arange(1.0, n + 1), stopped + 1)
            capped = (np.arange(n) >= stopped) * Status.CAPPED
            found = est.censored_quantile("median_stopping_time", "pulls", tau, p, capped)
            wrong = [b for b in range(stopped + 1) if not covered(found, b)]
            below = np.array(wrong, int)[:, None]
            share = stats.binom.pmf(below, stopped, np.minimum(p / stops, 1.0)).sum(axis=0)
            missed += stats.binom.pmf(stopped, n, stops) * share
        assert missed.max() <= 0.05 + 1e-12


@pytest.mark.parametrize("status", [Status.CAPPED, Status.FAILED])
def test_an_interval_that_ends_among_censored_runs_has_no_upper_end(status):
    tau = np.array([3, 4, 5, 6, 7, 8, 1 if status == Status.FAILED else 9])
    rows = by_name(est.stopping_times(tau, np.array([0, 0, 0, 0, 0, 0, 1]) * status))
    found = rows["median_stopping_time"]
    assert (found.value, found.high, found.status) == (6.0, math.inf, "")


def test_a_capped_run_may_rank_higher_than_its_value():
    """What grows until a run ends, such as violations, is more than the 1 of the capped run."""
    counts = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9])
    found = est.censored_quantile(
        "violations:median", "rounds", counts, 0.5, np.array([1] + [0] * 8) * Status.CAPPED
    )
    assert (found.low, found.value, found.high) == (2.0, 5.0, 9.0)


@pytest.mark.parametrize(("n", "p"), [(3, 0.25), (7, 0.25), (100, 0.95)])
def test_a_quantile_never_rests_on_a_censored_run(n, p):
    """It lies between two runs: both have to have stopped."""
    for stopped in range(n + 1):
        tau = np.minimum(np.arange(1.0, n + 1), stopped + 1)
        capped = (np.arange(n) >= stopped) * Status.CAPPED
        found = est.censored_quantile("median_stopping_time", "pulls", tau, p, capped)
        assert (found.status == "undefined") == (stopped <= math.ceil(p * (n - 1)))


def test_no_interval_of_a_time_is_negative():
    tau = np.array([10.0, 10.0, 6000.0])
    assert est.mean("mean_stopping_time", "pulls", tau).low < 0.0
    rows = est.stopping_times(tau, np.zeros(3))
    assert all(one.low >= 0.0 or math.isnan(one.low) for one in rows)
    ratio = est.ratio_of_means("time_ratio", tau, np.array([10.0, 20.0, 10.0]))
    assert (ratio.low, ratio.high > ratio.value) == (0.0, True)


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
