"""Divergences, ends of intervals and prices against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestarm.bai import reference
from bestarm.bai.families import (
    BERNOULLI,
    EXPONENTIAL,
    FAMILIES,
    GAUSSIAN,
    POISSON,
    divergence,
    draw,
    mixing_cost,
    phi,
    shrunk,
    transport,
    upper,
    variance,
)

every = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
MEANS = st.floats(0.01, 0.99)


@given(z=st.floats(-0.9, 10.0))
def test_phi_is_the_integral_of_its_slope(z):
    """phi(z) = int_0^z u / (1 + u) du, here with 40 Gauss points: relative accuracy near 0 too."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    u = 0.5 * z * (nodes + 1.0)
    wanted = 0.5 * z * (weights @ (u / (1.0 + u)))
    assert phi(z) == pytest.approx(wanted, rel=1e-7 if z > 2 or z < -0.7 else 1e-12, abs=1e-300)


@every
@given(p=MEANS, q=MEANS)
def test_divergence_is_the_textbook_one(family, p, q):
    found = divergence(family, p, q)
    assert found == pytest.approx(reference.divergence(family, p, q), abs=1e-14)
    assert found >= 0.0
    assert (found == 0.0) == (p == q) or abs(p - q) < 1e-150


@every
@pytest.mark.parametrize("gap", [1e-3, 1e-7])
def test_near_means_keep_their_digits(family, gap):
    """d(p, q) = (p - q)^2 / 2 V(q) to first order, where the textbook sum loses all digits."""
    p, q = 0.4 + gap, 0.4
    near = (p - q) ** 2 / (2.0 * variance(family, q))
    assert divergence(family, p, q) == pytest.approx(near, rel=3.0 * gap / 0.4 + 1e-9)


def test_certain_rewards():
    assert divergence(BERNOULLI, 0.0, 0.5) == divergence(BERNOULLI, 1.0, 0.5) == math.log(2.0)
    assert divergence(BERNOULLI, 0.5, 1.0) == divergence(BERNOULLI, 0.5, 0.0) == math.inf
    assert divergence(POISSON, 0.0, 2.0) == 2.0
    assert divergence(EXPONENTIAL, 0.0, 2.0) == math.inf


@every
@given(w=st.floats(0.1, 50.0), p=MEANS, v=st.floats(0.1, 50.0), q=MEANS)
def test_transport_is_a_minimum(family, w, p, v, q):
    wanted = reference.transport(family, w, p, v, q)
    assert transport(family, w, p, v, q) == pytest.approx(wanted, rel=1e-9, abs=1e-13)


@every
@given(p=MEANS, level=st.floats(1e-6, 3.0), guess=st.floats(-1.0, 2.0))
def test_upper_ends_are_at_the_level(family, p, level, guess):
    q = upper(family, p, level, guess)
    assert q >= p
    wanted = reference.upper(family, p, level)
    assert q == pytest.approx(wanted, rel=1e-7)


def test_upper_ends_of_certain_rewards():
    assert upper(BERNOULLI, 0.0, math.log(2.0), 0.0) == pytest.approx(0.5)
    assert upper(BERNOULLI, 1.0, 0.1, 0.0) == 1.0
    assert upper(POISSON, 0.0, 0.7, 0.0) == 0.7
    assert upper(BERNOULLI, 0.3, 0.0, 0.0) == 0.3


@every
@pytest.mark.parametrize("n", [1, 7, 60])
def test_price_is_that_of_the_mixture(family, n):
    """N' d(mean, lambda) - price is the log of the averaged likelihood ratio, at two lambdas."""
    environment = np.random.default_rng([family, n])
    rewards = np.array([draw(family, 0.6, environment) for _ in range(n)])
    for truth in (0.6, 0.3):
        found = shrunk(family, float(n)) * divergence(family, rewards.mean(), truth)
        found -= mixing_cost(family, float(n), rewards.sum())
        wanted = reference.log_mixture(family, rewards, truth)
        assert found == pytest.approx(wanted, abs=1e-6)


@every
def test_prices_are_not_negative_and_grow_like_half_a_log(family):
    """Ten times as many pulls cost about ln(10) / 2 nats more, whatever the family."""
    mixing_costs = [mixing_cost(family, float(n), 0.4 * n) for n in (1, 10, 1000, 10_000)]
    assert min(mixing_costs) >= 0.0
    assert mixing_costs[3] - mixing_costs[2] == pytest.approx(0.5 * math.log(10.0), abs=0.02)


@every
def test_rewards_have_their_mean_and_variance(family):
    """Within 6 standard errors of 20,000 draws: a false alarm in 10^8."""
    environment = np.random.default_rng(3)
    rewards = np.array([draw(family, 0.4, environment) for _ in range(20_000)])
    spread = math.sqrt(variance(family, 0.4))
    assert abs(rewards.mean() - 0.4) < 6.0 * spread / math.sqrt(20_000)
    assert rewards.std() == pytest.approx(spread, rel=0.1)


def test_all_families_differ():
    assert len({divergence(f, 0.3, 0.6) for f in (BERNOULLI, GAUSSIAN, POISSON, EXPONENTIAL)}) == 4
