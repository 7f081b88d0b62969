"""Time-uniform bounds against their integrals by quadrature, and their inversions."""

import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import zeta

from bestarm.core.anytime import (
    ABOVE,
    beta_interval,
    beta_log,
    gamma_log,
    half_normal_log,
    half_normal_threshold,
    kaufmann_koolen_threshold,
    mean_radius,
    mixture_threshold,
    radius,
    shrunk_counts,
    t_log,
    t_radius,
    variance_bound,
)

COUNTS = st.floats(1.0, 1e6)
WEIGHTS = st.floats(1e-2, 1e3)
LEVELS = st.floats(1e-3, 700.0)  # ln(1/delta)


def log_integral(exponent, peak, width):
    """ln of int_0^inf exp(exponent(x)) dx, whose integrand has its peak and width there."""
    top = exponent(peak)
    found, _ = integrate.quad(
        lambda x: math.exp(exponent(x) - top),
        *(max(0.0, peak - 40 * width), peak + 40 * width),
        points=[peak],
        epsabs=0.0,
        epsrel=1e-11,
        limit=500,
    )
    return top + math.log(found)


@pytest.mark.parametrize("n0", [1.0, 100.0])
def test_the_mixture_of_streams_reaches_its_level_where_the_threshold_says(n0):
    """At errors with sum N' err^2 / 2 = beta the product of the streams' integrals is 1/delta."""
    rng = np.random.default_rng(1)
    counts, level = np.array([3.0, 50.0, 2000.0]), 3.2
    beta = mixture_threshold(level, counts, n0)
    for _ in range(5):
        direction = rng.normal(size=3)
        errors = direction * np.sqrt(2 * beta / (shrunk_counts(counts, n0) @ direction**2))
        total = 0.0
        for n, s in zip(counts, counts * np.abs(errors), strict=True):
            prior = stats.norm(0.0, 1 / math.sqrt(n0)).logpdf
            width = 1 / math.sqrt(n + n0)
            halves = [
                log_integral(
                    lambda x, n=n, s=sign * s, prior=prior: x * s - x * x * n / 2 + prior(x),
                    max(sign * s / (n + n0), 0.0),
                    width,
                )
                for sign in (1.0, -1.0)  # of the line of x
            ]
            total += np.logaddexp(*halves)
        assert total == pytest.approx(level, rel=1e-8)


def test_radius_is_the_largest_error_of_a_functional_in_the_ellipsoid():
    rng = np.random.default_rng(2)
    for _ in range(20):
        c, shrunk, beta = rng.normal(size=4), rng.uniform(0.1, 50.0, 4), rng.uniform(0.5, 20.0)
        e = cp.Variable(4)
        ball = [cp.sum_squares(cp.multiply(np.sqrt(shrunk / 2), e)) <= beta]
        largest = cp.Problem(cp.Maximize(c @ e), ball).solve(solver=cp.CLARABEL)
        assert radius(c, shrunk, beta) == pytest.approx(largest, rel=1e-6)


def test_radius_without_pulls_is_infinite_only_where_they_matter():
    shrunk = shrunk_counts(np.array([0.0, 10.0]), 5.0)
    assert radius(np.array([1.0, 1.0]), shrunk, 2.0) == math.inf
    assert radius(np.array([0.0, 1.0]), shrunk, 2.0) == pytest.approx(math.sqrt(4.0 / shrunk[1]))


@given(LEVELS, COUNTS, WEIGHTS)
def test_mean_radius_is_the_radius_of_one_stream(level, count, n0):
    counts = np.array([count])
    beta = mixture_threshold(level, counts, n0)
    both = radius(np.ones(1), shrunk_counts(counts, n0), beta)
    assert mean_radius(level, count, n0) == pytest.approx(both, rel=1e-12)


@pytest.mark.parametrize("u", [-3000.0, -200.0, -30.0, -1.0, 0.0, 0.5, 20.0, 400.0, 5000.0])
@pytest.mark.parametrize(("v", "n1"), [(0.0, 1.0), (30.0, 1.0), (1000.0, 20.0)])
def test_half_normal_is_its_integral(u, v, n1):
    prior = stats.halfnorm(0.0, 1 / math.sqrt(n1)).logpdf
    peak = max(u / (v + n1), 0.0)
    width = 1 / max(math.sqrt(v + n1), -u)  # of e^(x u), if it falls faster than the Gaussian
    expected = log_integral(lambda x: x * u - x * x * v / 2 + prior(x), peak, width)
    assert half_normal_log(u, v, n1) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_half_normal_is_smooth_where_its_formula_changes():
    """At u / sqrt(2 (v + n1)) = -25, and it ends nowhere."""
    u = -25.0 * math.sqrt(2.0) * np.array([1 - 1e-9, 1 + 1e-9])
    below, above = (half_normal_log(x, 0.0, 1.0) for x in u)
    assert above < below < above + 1e-7
    assert half_normal_log(-math.inf, 1.0, 1.0) == -math.inf
    assert half_normal_log(math.inf, 1.0, 1.0) == math.inf


@given(LEVELS, st.floats(0.0, 1e6), WEIGHTS)
def test_half_normal_threshold_is_where_it_is_reached(level, v, n1):
    u = half_normal_threshold(level, v, n1)
    assert half_normal_log(u, v, n1) == pytest.approx(level, rel=1e-9, abs=1e-9)


@given(st.floats(-1e3, 1e3), st.floats(1e-6, 10.0), st.floats(0.0, 1e4), WEIGHTS)
def test_half_normal_increases_in_u(u, more, v, n1):
    assert half_normal_log(u + more, v, n1) >= half_normal_log(u, v, n1)


@pytest.mark.parametrize(("successes", "failures"), [(0.0, 0.0), (3.0, 17.0), (0.0, 9.0), (2.5, 4)])
@pytest.mark.parametrize("mean", [0.02, 0.5])
def test_beta_is_its_integral(successes, failures, mean):
    prior = stats.beta(0.5, 2.0)

    def ratio(p):
        return (p / mean) ** successes * ((1 - p) / (1 - mean)) ** failures

    # by quantiles of the prior, whose density has a pole
    expected, _ = integrate.quad(lambda x: ratio(prior.ppf(x)), 0.0, 1.0, epsrel=1e-10)
    found = beta_log(successes, failures, mean, 0.5, 2.0)
    assert found == pytest.approx(math.log(expected), abs=1e-8)


@given(st.integers(0, 400), st.integers(0, 400), st.floats(0.1, 60.0))
def test_beta_interval_ends_where_the_level_is_reached(successes, failures, level):
    if successes + failures == 0:
        return
    low, high = beta_interval(level, successes, failures, 0.5, 0.5)
    assert low <= successes / (successes + failures) <= high
    assert low == 0.0 or successes > 0
    assert high == 1.0 or failures > 0
    for end in (low, high):
        if 1e-9 < end < 1.0 - 1e-9:  # nearer than that, neighbouring numbers are far apart
            assert beta_log(successes, failures, end, 0.5, 0.5) == pytest.approx(level, abs=1e-6)


@pytest.mark.parametrize("rewards", [(0.4, 1.1), (-0.7, 0.2, 0.3, 1.9), (2.0, 2.1, 1.8)])
@pytest.mark.parametrize("n0", [0.5, 3.0])
def test_t_is_a_ratio_of_integrals_over_mean_and_sigma(rewards, n0):
    """Of the scale-free data: both likelihoods are integrated over x = 1 / sigma, weight 1 / x."""
    y = np.array(rewards)

    def integral(theta):
        found, _ = integrate.quad(
            lambda x: x ** (y.size - 1) * math.exp(-((y * x - theta) ** 2).sum() / 2), 0.0, 60.0
        )
        return found

    prior = stats.norm(0.0, 1 / math.sqrt(n0)).pdf
    span = 12 / math.sqrt(n0)
    above, _ = integrate.quad(lambda theta: integral(theta) * prior(theta), -span, span)
    found = t_log(y.sum(), y @ y, float(y.size), n0)
    assert found == pytest.approx(math.log(above / integral(0.0)), abs=1e-7)


def test_t_is_1_after_one_reward_and_free_of_scale():
    assert t_log(1.7, 1.7**2, 1.0, 2.0) == pytest.approx(0.0, abs=1e-12)
    assert t_log(0.0, 0.0, 3.0, 1.0) == pytest.approx(0.5 * math.log(1 / 4))
    assert t_log(3.0, 4.0, 5.0, 1.0) == pytest.approx(t_log(30.0, 400.0, 5.0, 1.0))


@given(st.lists(st.floats(-5.0, 5.0), min_size=2, max_size=40), st.floats(0.5, 20.0), WEIGHTS)
def test_t_radius_is_where_the_level_is_reached(rewards, level, n0):
    x = np.array(rewards)
    if x.std() < 1e-3:
        return
    half = t_radius(level, x.std(), float(x.size), n0)
    if half == math.inf:  # no mean is excluded: at any distance the mixture is below the level
        far = x - x.mean() + 1e9
        assert t_log(far.sum(), far @ far, float(x.size), n0) <= level + 1e-6
    elif half < 1e3 * x.std():  # beyond, rounding in the squares decides
        y = x - x.mean() + half
        assert t_log(y.sum(), y @ y, float(x.size), n0) == pytest.approx(level, rel=1e-4)


@pytest.mark.parametrize("rewards", [(0.4, 1.1), (0.9, -0.2, 0.3, 1.9), (2.0, 2.1, 1.8)])
def test_one_end_of_a_t_interval_is_a_mixture_of_one_side(rewards):
    """E+ >= 2 E - 1 if S >= 0, with both mixtures by integrals over mean and sigma."""
    y, n0 = np.array(rewards), 3.0

    def integral(theta):
        found, _ = integrate.quad(
            lambda x: x ** (y.size - 1) * math.exp(-((y * x - theta) ** 2).sum() / 2), 0.0, 60.0
        )
        return found

    prior = stats.norm(0.0, 1 / math.sqrt(n0)).pdf
    sides = [
        integrate.quad(lambda theta: 2.0 * integral(theta) * prior(theta), *ends)[0] / integral(0.0)
        for ends in ((0.0, 12.0 / math.sqrt(n0)), (-12.0 / math.sqrt(n0), 0.0))
    ]
    both = math.exp(t_log(y.sum(), y @ y, float(y.size), n0))
    assert both == pytest.approx(sum(sides) / 2, rel=1e-6)
    assert y.sum() >= 0.0
    assert sides[1] <= 1.0
    assert sides[0] >= 2.0 * both - 1.0


@pytest.mark.parametrize(("squares", "freedom"), [(0.0, 4), (3.0, 1), (12.0, 30), (90.0, 60)])
@pytest.mark.parametrize("a", [0.5, 2.0])
def test_gamma_is_its_integral(squares, freedom, a):
    prior = stats.gamma(a, scale=1.0 / a)

    def ratio(v):
        return v ** (freedom / 2) * math.exp(-(v - 1.0) * squares / 2)

    # by quantiles of the prior, whose density has a pole
    expected, _ = integrate.quad(lambda x: ratio(prior.ppf(x)), 0.0, 1.0, epsrel=1e-9, limit=500)
    assert gamma_log(squares, freedom, a) == pytest.approx(math.log(expected), abs=1e-6)


@pytest.mark.parametrize("freedom", [1, 7, 40])
def test_gamma_is_on_average_1_at_the_true_variance(freedom):
    def density(x):  # of ln R
        r = math.exp(x)
        return math.exp(gamma_log(r, freedom, 3.0) + float(stats.chi2.logpdf(r, freedom)) + x)

    parts = [integrate.quad(density, *ends)[0] for ends in ((-60.0, 0.0), (0.0, 5.0), (5.0, 14.0))]
    assert sum(parts) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("squares", "freedom"), [(0.0, 1), (3.0, 3), (9.0, 30), (40.0, 60)])
def test_the_gamma_mixture_above_1_is_at_least_what_is_taken_for_it(squares, freedom):
    """(E - P(v < 1)) / P(v >= 1), with v >= 1 by quadrature, if R is at most nu."""
    prior = stats.chi2(1)
    above, _ = integrate.quad(
        lambda v: v ** (freedom / 2) * math.exp(-(v - 1.0) * squares / 2) * prior.pdf(v), 1.0, 99.0
    )
    taken = (math.exp(gamma_log(squares, freedom, 0.5)) - prior.cdf(1.0)) / prior.sf(1.0)
    assert prior.sf(1.0) == pytest.approx(ABOVE)
    assert above / prior.sf(1.0) >= taken - 1e-9


@pytest.mark.parametrize("n", [12, 40, 600])
@pytest.mark.parametrize("level", [0.7, 9.0])
def test_a_variance_bound_is_where_the_level_is_reached(n, level):
    bound = variance_bound(level, 3.0, float(n))
    inside = math.log(ABOVE * math.exp(level) + 1.0 - ABOVE)
    if bound == math.inf:
        assert gamma_log(0.0, n - 1.0, 0.5) <= inside
    else:
        assert 3.0 / bound < n - 1
        assert gamma_log(3.0 / bound, n - 1.0, 0.5) == pytest.approx(inside, abs=1e-9)
        assert variance_bound(level, 300.0, float(n)) == pytest.approx(100.0 * bound)
        assert variance_bound(level, 0.0, float(n)) == 0.0


def test_a_variance_bound_covers_what_was_rounded():
    """At every number of rewards, whatever they were rounded to."""
    rng = np.random.default_rng(4)
    for h in (0.1, 1.0, 5.0):
        exact = rng.normal(2.0, 1.0, 300)
        told = h * np.round(exact / h)
        for n in range(2, 300):
            bounds = [
                variance_bound(3.0, n * x[:n].var(), float(n), rounding)
                for x, rounding in ((exact, 0.0), (told, h))
            ]
            assert bounds[1] >= bounds[0]


@pytest.mark.parametrize("delta", [0.45, 0.05])
def test_a_variance_bound_holds_at_all_times(delta):
    """A bound that fails in a share delta of runs is found to fail in more once in 10^6 tests; one
    that fails in twice the share with probability 0.999 and more."""
    runs, n = 3000, 1000
    rewards = np.random.default_rng(8).normal(size=(runs, n))
    counts = np.arange(1, n + 1)
    means = rewards.cumsum(axis=1) / counts
    steps = (rewards[:, 1:] - means[:, :-1]) ** 2 * (counts[:-1] / counts[1:])
    level = math.log(1.0 / delta)
    least = [1.0 / variance_bound(level, 1.0, float(k)) for k in counts[1:]]
    failed = int((steps.cumsum(axis=1) < np.array(least)).any(axis=1).sum())
    assert 0.2 * delta * runs < failed <= stats.binom.isf(1e-6, runs, delta)


def test_a_known_variance_is_the_limit_of_an_unknown_one():
    known, unknown = mean_radius(3.0, 1e6, 1e3), t_radius(3.0, 1.0, 1e6, 1e3)
    assert unknown == pytest.approx(known, rel=1e-3)


@pytest.mark.parametrize("n", [1, 6])
def test_kaufmann_koolen_by_a_grid(n):
    counts, level = np.full(n, 500.0), 3.0
    l = np.linspace(0.5, 1.0, 100_001)[1:-1]
    g = 2 * l - 2 * l * np.log(4 * l) + np.log(zeta(2 * l)) - 0.5 * np.log(1 - l)
    constant = ((g + level / n) / l).min()
    expected = n * (2 * math.log(4 + math.log(500)) + constant)
    assert kaufmann_koolen_threshold(level, counts) == pytest.approx(expected, rel=1e-7)
