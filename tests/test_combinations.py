"""Intervals of sums and differences of means: against slow twins, and attacked."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from bestarm.baics import TaSCS, Uniform
from bestarm.core.anytime import beta_interval, beta_log
from bestarm.live.combinations import (
    Interval,
    bernoulli_combination,
    between,
    gaussian_combination,
    weighted,
)

LEVEL = math.log(20.0)
#: Coefficients, pulls and sums of rewards from 0 to 1: differences, sums, ends, very unequal ones.
CASES = [
    ([1.0, -1.0], [40.0, 60.0], [10.0, 30.0]),
    ([1.0, -1.0], [5000.0, 4000.0], [150.0, 160.0]),
    ([0.3, 0.7], [20.0, 10.0], [0.0, 10.0]),
    ([1.0, -1.0], [3.0, 1.0], [3.0, 0.0]),
    ([0.2, 0.8, -0.2, -0.8], [30.0, 50.0, 10.0, 400.0], [2.5, 17.25, 10.0, 0.0]),
    ([1e-3, -5.0], [1000.0, 7.0], [999.0, 1.0]),
]


def by_a_solver(c, pulls, totals, level):
    """The largest c . m over the set, by a general solver from several starts."""
    c, pulls, totals = map(np.array, (c, pulls, totals))

    def left(m):
        costs = [beta_log(s, n - s, x, 0.5, 0.5) for n, s, x in zip(pulls, totals, m, strict=True)]
        return level - sum(costs)

    found = -np.inf
    for part in (0.02, 0.2, 0.5):
        middle = (totals + part) / (pulls + 2.0 * part)
        if left(middle) < 0.0:
            continue
        done = minimize(
            lambda m: -c @ m / np.abs(c).max(), middle, method="SLSQP",
            bounds=[(1e-12, 1.0 - 1e-12)] * len(c), options={"maxiter": 1000, "ftol": 1e-14},
            constraints={"type": "ineq", "fun": left},
        )  # fmt: skip
        if left(done.x) > -1e-6:
            found = max(found, float(c @ done.x))
    return found


@pytest.mark.parametrize(("c", "pulls", "totals"), CASES)
def test_ends_are_those_of_a_general_solver(c, pulls, totals):
    c, pulls, totals = map(np.array, (c, pulls, totals))
    found = bernoulli_combination(c, pulls, totals, LEVEL)
    size = np.abs(c).max()
    assert found.high == pytest.approx(by_a_solver(c, pulls, totals, LEVEL), abs=2e-4 * size)
    assert found.low == pytest.approx(-by_a_solver(-c, pulls, totals, LEVEL), abs=2e-4 * size)
    assert found.estimate == pytest.approx(c @ (totals / pulls))


@pytest.mark.parametrize(("n", "s"), [(1, 0), (1, 1), (10, 4), (300, 300), (1e5, 3), (7, 2.5)])
def test_of_one_mean_it_is_its_interval(n, s):
    """Also at an end of [0, 1]; every number in it is no worse than to rounding."""
    low, high = beta_interval(LEVEL, s, n - s, 0.5, 0.5)
    found = bernoulli_combination(
        np.array([2.0, 0.0]), np.array([n, 9.0]), np.array([s, 3.0]), LEVEL
    )
    assert (found.low, found.high) == pytest.approx((2.0 * low, 2.0 * high), rel=1e-8, abs=1e-9)
    assert found.low <= 2.0 * low + 1e-12
    assert found.high >= 2.0 * high - 1e-12


def test_pulls_of_what_is_left_out_do_not_matter():
    one = bernoulli_combination(np.array([1.0, -1.0]), np.array([9.0, 8.0]), np.ones(2), LEVEL)
    c, pulls, totals = np.array([1.0, 0.0, -1.0]), np.array([9.0, 0.0, 8.0]), np.array([1.0, 0, 1])
    assert bernoulli_combination(c, pulls, totals, LEVEL) == one
    sigma = np.ones(3)
    two = gaussian_combination(c, pulls, totals, sigma, LEVEL, 30.0)
    assert two == gaussian_combination(c[::2], pulls[::2], totals[::2], sigma[::2], LEVEL, 30.0)


@pytest.mark.parametrize("of", [bernoulli_combination, gaussian_combination])
def test_without_a_pull_of_a_stream_it_is_the_whole_line(of):
    more = (np.ones(2), LEVEL, 30.0) if of is gaussian_combination else (LEVEL,)
    found = of(np.array([1.0, -1.0]), np.array([9.0, 0.0]), np.zeros(2), *more)
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert math.isnan(found.estimate)


def test_gaussian_ends_are_on_the_ellipsoid():
    """By the multiplier: the mean with the largest c . mu has an error along c sigma^2 / N'."""
    c, pulls, totals = np.array([1.0, -2.0]), np.array([40.0, 7.0]), np.array([3.0, -9.0])
    sigma = np.array([0.5, 3.0])
    found = gaussian_combination(c, pulls, totals, sigma, LEVEL, 30.0)
    weight = pulls**2 / (pulls + 30.0) / sigma**2
    error = c / weight
    error *= (found.high - found.estimate) / (c @ error)
    beta = LEVEL + 0.5 * np.log1p(pulls / 30.0).sum()
    assert 0.5 * weight @ error**2 == pytest.approx(beta)
    assert found.low == pytest.approx(2.0 * found.estimate - found.high)


def test_intervals_add_up():
    one, two = Interval(1.0, 2.0, 3.0), Interval(-1.0, 0.0, 5.0)
    assert between(one, two) == Interval(-4.0, 2.0, 4.0)
    assert weighted(np.array([0.5, 2.0]), [one, two]) == Interval(-1.5, 1.0, 11.5)


def attacked(of, rates, level, seed, steps=300):
    """Whether the interval of a difference ever misses, pulls going where it looks furthest off."""
    rng = np.random.default_rng(seed)
    pulls, totals, c = np.zeros(2), np.zeros(2), np.array([1.0, -1.0])
    truth = rates[0] - rates[1]
    for t in range(steps):
        off = (totals + rates) / (pulls + 1.0) - rates
        arm = t % 2 if t < 2 or seed % 2 else int(np.argmax(c * off))
        pulls[arm] += 1.0
        totals[arm] += rng.random() < rates[arm]
        if t > 1 and t % 9 == 0:
            found = of(c, pulls, totals, level)
            if not found.low <= truth <= found.high:
                return True
    return False


@pytest.mark.parametrize("rates", [[0.5, 0.5], [0.05, 0.02]])
def test_differences_hold_at_all_times_however_pulls_are_chosen(rates):
    """At 20%, of 200 runs: a right one misses in more of them once in a million."""
    runs = range(200)
    missed = sum(attacked(bernoulli_combination, np.array(rates), math.log(5.0), s) for s in runs)
    assert missed <= stats.binom.isf(1e-6, 200, 0.2)


def test_all_rows_and_all_differences_share_delta():
    """The widths of a summary are those of the functions, at half of delta over all pairs."""
    rng = np.random.default_rng(0)
    s = Uniform(3, [1.0, 3.0], rewards="bernoulli", delta=0.1, constrained=0)
    pulls, totals = np.zeros((3, 2)), np.zeros((3, 2))
    for _ in range(60):
        arm, group = s.ask()
        reward = float(rng.random() < 0.3)
        s.tell((arm, group), reward)
        pulls[arm, group] += 1
        totals[arm, group] += reward
    table = s.summary(control=2).set_index(["arm", "segment"])
    n_sums = 3 + 3 * 3  # three weighted means; of three pairs of arms two differences and one more
    level = math.log(2 * n_sums / 0.1)
    c = np.zeros((3, 2))
    c[0], c[2] = [0.25, 0.75], [-0.25, -0.75]
    wanted = bernoulli_combination(c.ravel(), pulls.ravel(), totals.ravel(), level)
    found = table.loc[("0", "all")]
    assert (found.difference_low, found.difference, found.difference_high) == pytest.approx(wanted)
    assert found.detectable == pytest.approx(0.5 * (wanted.high - wanted.low))
    c = np.zeros((3, 2))
    c[1, 1], c[2, 1] = 1.0, -1.0
    wanted = bernoulli_combination(c.ravel(), pulls.ravel(), totals.ravel(), level)
    found = table.loc[("1", "1")]
    assert (found.difference_low, found.difference_high) == pytest.approx((wanted.low, wanted.high))
    assert table.loc["2"].difference.isna().all()


def test_with_results_at_their_worst_differences_are_of_the_rows():
    """What is lost may be anything, so no law of the two together is used."""
    s = Uniform(2, [1.0], rewards="bernoulli", missing="worst", delta=1e-9)
    for arm in (0, 1) * 20:
        s.tell((arm, 0), float(arm))
    s.abandon(s.ask(1)[0])
    table = s.summary(control=0)
    one, two = table.iloc[0], table.iloc[1]
    assert two.difference_low == pytest.approx(two.low - one.high)
    assert two.difference_high == pytest.approx(two.high - one.low)


def test_a_difference_is_told_sooner_than_by_its_rows():
    """Two arms with rates of 3% and 5%, 5,000 visitors each: only the difference tells."""
    s = TaSCS(["old", "new"], [1.0], rewards="bernoulli", constrained=0, delta=0.05)
    s.tell_table(
        {"arm": ["old", "new"], "segment": [0, 0], "pulls": [5000] * 2, "total": [150, 250]}
    )
    old, new = s.summary(control="old").itertuples()
    assert new.low < old.high
    assert new.difference_low > 0.0
