"""T* and w*: certificates, another solver, and what any optimum satisfies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestarm.bai import reference
from bestarm.bai.families import BERNOULLI, EXPONENTIAL, FAMILIES, GAUSSIAN, POISSON
from bestarm.bai.optimum import LEADER, characteristic_time, find_allocation, newton
from bestarm.bai.problem import characteristic_time as time_of
from bestarm.bai.problem import instances
from bestarm.core.gaussian_bai import bai_allocation

every = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
MEANS = st.lists(st.integers(1, 99), min_size=2, max_size=7).map(lambda m: np.array(m) / 100.0)


@every
@given(mu=MEANS)
def test_certificate_closes(family, mu):
    """Of random instances, by the mixture of alternatives: no allocation is better by 1e-9."""
    found = characteristic_time(family, mu)
    assert found.allocation.sum() == pytest.approx(1.0)
    if (mu == mu.max()).sum() > 1:
        assert found.time == np.inf
        assert found.allocation[mu < mu.max()].sum() == 0.0
    else:
        assert found.low <= found.time * (1.0 + 1e-12)
        assert found.time - found.low <= 1e-9 * found.time


@every
@pytest.mark.parametrize("mu", [[0.5, 0.45, 0.43, 0.4], [0.3, 0.21, 0.2], [0.9, 0.1]])
def test_another_solver_agrees(family, mu):
    time, w = reference.allocation(family, np.array(mu))
    found = characteristic_time(family, np.array(mu))
    assert found.time == pytest.approx(time, rel=1e-6)
    np.testing.assert_allclose(found.allocation, w, atol=2e-4)


@given(mu=MEANS.filter(lambda m: (m == m.max()).sum() == 1))
def test_gaussian_arms_are_those_of_core(mu):
    out = np.empty(mu.size)
    assert characteristic_time(GAUSSIAN, mu).time == pytest.approx(
        bai_allocation(mu, out), rel=1e-9
    )
    np.testing.assert_allclose(characteristic_time(GAUSSIAN, mu).allocation, out, atol=1e-7)


def test_printed_allocations():
    """Section 6, to every printed digit."""
    printed = {
        "mu1": [0.417, 0.390, 0.136, 0.057],
        "mu2": [0.336, 0.251, 0.177, 0.132, 0.104],
    }
    for name, wanted in printed.items():
        found = time_of(instances()[name])
        np.testing.assert_allclose(found.allocation, wanted, atol=0.0005)
    assert round(time_of(instances()["mu1"]).time, 1) == 989.8
    assert round(time_of(instances()["mu2"]).time, 1) == 326.6


@every
def test_order_of_arms_does_not_matter(family):
    mu, order = np.array([0.2, 0.6, 0.5, 0.3]), np.array([2, 0, 3, 1])
    one, other = characteristic_time(family, mu), characteristic_time(family, mu[order])
    assert one.time == pytest.approx(other.time)
    np.testing.assert_allclose(one.allocation[order], other.allocation, atol=1e-9)


def test_units_of_exponential_rewards_do_not_matter():
    mu = np.array([0.2, 0.6, 0.5])
    one, other = characteristic_time(EXPONENTIAL, mu), characteristic_time(EXPONENTIAL, 1e6 * mu)
    assert one.time == pytest.approx(other.time)


@pytest.mark.parametrize(
    ("family", "mu"),
    [
        (BERNOULLI, [1.0, 0.0]),
        (BERNOULLI, [1.0, 0.99, 0.0]),
        (BERNOULLI, [0.3, 0.0, 0.0]),
        (POISSON, [3.0, 0.0, 2.0]),
        (BERNOULLI, [0.5, 0.5 - 1e-7, 0.0]),
    ],
)
def test_certain_rewards_and_near_ties(family, mu):
    found = characteristic_time(family, np.array(mu))
    assert found.time - found.low <= 1e-6 * found.time


@every
def test_warm_starts_give_the_same(family):
    """Means that move a little at a time, as estimates do; and Newton's method mostly ends."""
    environment, mu = np.random.default_rng(5), np.array([0.6, 0.5, 0.3])
    work, numbers, w, quick = np.zeros((3, 3)), np.full(2, -1.0), np.empty(3), 0
    for _ in range(300):
        mu = np.clip(mu + environment.normal(0.0, 0.003, 3), 0.05, 0.95)
        best = int(np.argmax(mu))
        trial = work.copy(), numbers.copy()
        quick += numbers[LEADER] == best and newton(family, mu, best, 1e-6, *trial)
        find_allocation(family, mu, best, 1e-6, work, numbers, w)
        np.testing.assert_allclose(w, characteristic_time(family, mu).allocation, atol=1e-6)
    assert quick > 250
