"""T* of rates: known values, the convex program, and certificates that others check."""

import json

import numpy as np
import pytest

from bestarm.bai.families import BERNOULLI
from bestarm.bai.optimum import characteristic_time as of_best_arm
from bestarm.baics import check, reference_bets, reference_rates
from bestarm.baics.alternatives import Problem, optimal_allocation
from bestarm.baics.lower_bound import certificate
from bestarm.baics.problem import Instance
from bestarm.baics.rates_optimum import Optimum, characteristic_time, tilted
from bestarm.core.divergence import bernoulli


def problem(q, floor, m):
    return Problem(np.array(q) / np.sum(q), m, floor=np.array(floor, float))


def drawn(seed):
    """Rates of three arms on two subpopulations, mostly with a feasible arm."""
    rng = np.random.default_rng(seed)
    m = seed % 3
    floor = np.zeros(2)
    floor[:m] = rng.uniform(0.05, 0.5, m)
    return rng.uniform(0.02, 0.98, (3, 2)), problem(rng.dirichlet([2.0, 2.0]), floor, m)


def assert_certified(found: Optimum, means, given):
    """In exact arithmetic, by code that shares nothing with the solver."""
    q, floor, m = given.weights.tolist(), given.floor, given.constrained
    fields = {"constrained": m, "minimum": floor[:m].tolist() or 0.0, "rewards": "bernoulli"}
    data = json.loads(certificate(Instance(name="x", means=means.tolist(), weights=q, **fields)))
    assert all(holds for _, holds in check.lines(data))
    assert found.low <= found.time <= data["time"] * (1.0 + 1e-5)


@pytest.mark.parametrize("seed", range(9))
def test_time_is_the_optimum_of_a_convex_program_and_certified(seed):
    means, given = drawn(seed)
    found = characteristic_time(means, given)
    assert_certified(found, means, given)
    q, floor, m = given.weights, given.floor, given.constrained
    b = reference_rates.best(means.tolist(), q.tolist(), floor[:m].tolist())
    if b is None:
        return
    expected = reference_rates.characteristic_time(means, q, floor, m)
    assert found.time == pytest.approx(expected, rel=1e-4)
    for k in {0, 1, 2} - {b}:
        nats, _ = reference_bets.nearest_rates(found.allocation[[b, k]], means[[b, k]], q, floor, m)
        assert nats >= (1.0 - 1e-4) / found.time - 1e-7


@pytest.mark.parametrize("means", [[0.5, 0.45, 0.43], [0.02, 0.01, 0.001], [0.97, 0.6, 0.95]])
def test_one_subpopulation_is_plain_best_arm_identification(means):
    found = characteristic_time(np.array(means)[:, None], problem([1.0], [0.0], 0))
    expected = of_best_arm(BERNOULLI, np.array(means))
    assert found.time == pytest.approx(expected.time, rel=3e-6)
    np.testing.assert_allclose(found.allocation.ravel(), expected.allocation, atol=2e-3)


def test_a_minimum_alone_is_a_bernoulli():
    """No arm is feasible, in each the cheaper violation is tried: 1 / w_k = T* kl(mu, c)."""
    means, given = np.array([[0.1, 0.6], [0.6, 0.2]]), problem([1.0, 1.0], [0.4, 0.3], 2)
    nats = np.array([bernoulli(0.1, 0.4), bernoulli(0.2, 0.3)])
    found = characteristic_time(means, given)
    assert found.time == pytest.approx((1.0 / nats).sum(), rel=2e-6)
    assert_certified(found, means, given)


def test_small_gaps_have_the_time_of_gaussian_rewards():
    means, q = 0.3 + 1e-4 * np.array([[5.0, 3.0], [2.0, 1.0], [0.0, 4.0]]), np.array([0.4, 0.6])
    found = characteristic_time(means, problem(q, [0.0, 0.0], 0))
    standard = means / np.sqrt(0.3 * 0.7)
    gaussian = optimal_allocation(standard, Problem(q, 0), 0, np.zeros((3, 2)))
    assert found.time == pytest.approx(gaussian, rel=1e-3)


def test_names_of_arms_and_of_outcomes_do_not_matter():
    """Permuted arms; and, without minima, failures in place of successes of two arms."""
    means, given = drawn(3)
    found = characteristic_time(means, given)
    other = characteristic_time(means[[2, 0, 1]], given)
    assert other.time == pytest.approx(found.time, rel=3e-6)
    mirrored = characteristic_time(1.0 - means[:2], problem(given.weights, [0.0, 0.0], 0))
    same = characteristic_time(means[:2], problem(given.weights, [0.0, 0.0], 0))
    assert mirrored.time == pytest.approx(same.time, rel=3e-6)


def test_ties_take_forever_and_certain_rates_do_not():
    one = problem([1.0], [0.0], 0)
    assert characteristic_time(np.array([[0.5], [0.5]]), one).time == np.inf
    certain = characteristic_time(np.array([[1.0], [0.0]]), one)
    assert certain.time == pytest.approx(1.0 / np.log(2.0), rel=3e-6)
    at_minimum = problem([1.0], [0.3], 1)
    assert characteristic_time(np.array([[0.3], [0.2]]), at_minimum).time == np.inf


@pytest.mark.parametrize("pull", [-1e9, -3.0, -1e-9, 0.0, 0.7, 1.0, 5.0, 1e9])
@pytest.mark.parametrize("rate", [0.0, 1e-6, 0.4, 1.0])
def test_a_tilted_rate_solves_its_equation(rate, pull):
    found = tilted(rate, pull)
    assert 0.0 <= found <= 1.0
    size = max(1.0, abs(pull))
    assert (found - rate) / size == pytest.approx(pull / size * found * (1.0 - found), abs=1e-12)
