"""Nearest alternatives, T* and w*: theorems, closed forms, convex programs, the papers' solvers."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestarm.baics import problem as baics
from bestarm.baics.alternatives import Problem as Definitions
from bestarm.baics.problem import true_allocation
from bestarm.baics.pure_exploration import problem_and_means, subpopulations
from bestarm.core.gaussian_bai import bai_allocation
from bestarm.core.pure_exploration import characteristic_time, nearest, top_arms
from bestarm.core.pure_exploration.problem import best_answer
from bestarm.lagex import problem as lagex
from bestarm.lagex.paper.bounds import known_time
from bestarm.lagex.pure_exploration import problem_and_means as lagex_problem
from bestarm.linear import problem as linear
from bestarm.linear.problem import truth
from bestarm.linear.pure_exploration import problem_and_means as linear_problem
from pure_exploration.cases import KINDS

BAICS, LINEAR, LAGEX = baics.instances(), linear.instances(), lagex.instances()
kinds, seeds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS), st.integers(0, 10**6)
few = settings(max_examples=30)


@kinds
@few
@given(seed=seeds)
def test_costs_are_what_the_nearest_alternative_is_away(kind, seed):
    """It is an alternative's limit, and by homogeneity the gradient adds up to the cost."""
    problem, means, *_ = kind(seed)
    weights = np.random.default_rng([seed, 1]).dirichlet(np.ones(means.size))
    found = nearest(problem, means, weights)
    away = weights @ ((means - found.alternative) ** 2 / (2.0 * problem.variances))
    assert found.cost == pytest.approx(away, rel=1e-9)
    assert found.cost == pytest.approx(weights @ found.gradient, rel=1e-9)
    beyond = means + (1.0 + 1e-9) * (found.alternative - means)
    before = means + (1.0 - 1e-9) * (found.alternative - means)
    right = best_answer(problem, means)
    assert best_answer(problem, before) == right != best_answer(problem, beyond)


@kinds
@few
@given(seed=seeds)
def test_the_cost_is_concave_with_its_gradient_as_supergradient(kind, seed):
    problem, means, *_ = kind(seed)
    one, other = np.random.default_rng([seed, 2]).dirichlet(np.ones(means.size), 2)
    found = nearest(problem, means, one)
    assert nearest(problem, means, other).cost <= found.gradient @ other * (1.0 + 1e-9)


@kinds
@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_nearer(kind, seed):
    """The convex programs that define it, solved one by one."""
    problem, means, alternatives, _ = kind(seed)
    weights = np.random.default_rng([seed, 3]).dirichlet(np.ones(means.size))
    other, root = cp.Variable(means.size), np.sqrt(weights / (2.0 * problem.variances))
    away = cp.sum_squares(cp.multiply(root, other - means))
    least = min(
        cp.Problem(cp.Minimize(away), one).solve(cp.CLARABEL) for one in alternatives(other)
    )
    assert nearest(problem, means, weights).cost == pytest.approx(least, rel=1e-6, abs=1e-8)


@kinds
@pytest.mark.parametrize("seed", range(8))
def test_the_characteristic_time_is_that_of_a_convex_program(kind, seed):
    problem, means, _, enough = kind(seed)
    found, w = characteristic_time(problem, means), cp.Variable(means.size, nonneg=True)
    wanted = cp.Problem(cp.Minimize(cp.sum(w)), enough(found.time * w)).solve(cp.CLARABEL)
    assert wanted == pytest.approx(1.0, rel=2e-6)


@kinds
@few
@given(seed=seeds)
def test_the_certificate_is_narrow_and_the_allocation_attains_the_time(kind, seed):
    problem, means, *_ = kind(seed)
    found = characteristic_time(problem, means)
    assert found.low <= found.time <= found.low * (1.0 + 2e-6)
    assert found.allocation.min() > 0.0
    assert found.allocation.sum() == pytest.approx(1.0)
    cost = nearest(problem, means, found.allocation).cost
    assert 1.0 / cost == pytest.approx(found.time, rel=1e-9)


@given(st.floats(0.01, 10.0), st.floats(0.1, 10.0))
def test_two_arms(gap, sigma):
    """T* = 8 sigma^2 / gap^2, half of the pulls to each."""
    found = characteristic_time(top_arms(2, 1, sigma), [gap, 0.0])
    assert found.time == pytest.approx(8.0 * sigma**2 / gap**2, rel=1e-6)
    assert found.allocation == pytest.approx([0.5, 0.5], abs=1e-3)


@pytest.mark.parametrize("k", [2, 3, 10, 30])
def test_equal_gaps(k):
    """T* = 2 (1 + sqrt(K - 1))^2 / gap^2 (Garivier & Kaufmann 2016, after Theorem 5)."""
    found = characteristic_time(top_arms(k), [0.5] + [0.0] * (k - 1))
    assert found.time == pytest.approx(2.0 * (1.0 + np.sqrt(k - 1)) ** 2 / 0.25, rel=1e-6)


@pytest.mark.parametrize("top", [1, 2, 3])
def test_top_arms_with_equal_gaps(top):
    """All of a side alike: T* = 2 (sqrt m + sqrt(K - m))^2 / gap^2, as the program is symmetric."""
    means = [0.5] * top + [0.0] * (5 - top)
    wanted = 2.0 * (np.sqrt(top) + np.sqrt(5 - top)) ** 2 / 0.25
    assert characteristic_time(top_arms(5, top), means).time == pytest.approx(wanted, rel=1e-6)


@given(seed=seeds, k=st.integers(2, 12))
def test_the_best_arm_agrees_with_its_rational_equation(seed, k):
    means, share = np.random.default_rng(seed).normal(size=k), np.empty(k)
    time = bai_allocation(means, share)
    found = characteristic_time(top_arms(k), means)
    assert found.time == pytest.approx(time, rel=1e-6)
    assert found.allocation == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize("name", ["example1", "example2", "no-feasible-arm", "5 segments"])
def test_baics_agrees_with_its_own_solver(name):
    instance = BAICS[name]
    found = characteristic_time(*problem_and_means(instance))
    assert found.time == pytest.approx(baics.characteristic_time(instance), rel=1e-6)
    wanted = true_allocation(instance).ravel()
    assert found.allocation == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize("name", ["three-arms", "d=2", "d=5", "random K=20 seed=1"])
def test_linear_bandits_agree_with_the_optimal_design(name):
    instance = LINEAR[name]
    found = characteristic_time(*linear_problem(instance))
    h_lb = truth(instance).complexity.h_lb
    assert found.time == pytest.approx(2.0 * h_lb, rel=1e-6)


@pytest.mark.parametrize("name", ["setup 1 m3=0.5", "setup 2 hard", "imdb, true spread", "example"])
def test_lagex_agrees_with_its_lower_bound(name):
    model = LAGEX[name].problem
    found = characteristic_time(*lagex_problem(model))
    assert found.time == pytest.approx(known_time(model).time, rel=1e-6)


def test_ties_take_for_ever_and_nothing_to_tell_takes_no_time():
    assert characteristic_time(top_arms(3), [1.0, 1.0, 0.0]).time == np.inf
    alone = subpopulations(1, Definitions(np.array([0.5, 0.5]), 0))
    assert characteristic_time(alone, [0.3, 0.1]).time == 0.0


def test_what_is_not_reached_is_said():
    problem, means = problem_and_means(BAICS["example2"])
    with pytest.raises(ArithmeticError, match="only known to be between"):
        characteristic_time(problem, means, tolerance=1e-17)
