"""Projection on the simplex and on a feasible set, in a weighted norm, against cvxpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestarm.core.simplex import project_to_simplex
from bestarm.lagex import reference
from bestarm.lagex.paper.projection import project
from lagex.polytopes import drawn, polytopes

#: cvxpy's accuracy in the point (its square in the value).
CVXPY = 1e-5
#: That of the active-set steps.
EXACT = 1e-8
few = settings(max_examples=30)


def point_and_weights(seed, k, spread):
    """A point near the simplex, inside or out, and weights over some orders of magnitude."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(k)) + 0.5 * rng.normal(size=k), 10.0 ** rng.uniform(-spread, 0, k)


@few
@given(polytopes, st.integers(0, 2**32), st.sampled_from([0.0, 2.0]))
def test_against_cvxpy(p, seed, spread):
    point, weights = point_and_weights(seed, p.means.size, spread)
    wanted = reference.project(point, weights, p.rows)
    np.testing.assert_allclose(project(point, weights, p.rows), wanted, atol=CVXPY)


@settings(max_examples=100)
@given(polytopes, st.integers(0, 2**32), st.sampled_from([0.0, 2.0, 6.0]))
def test_it_is_the_nearest_point_of_the_set(p, seed, spread):
    """In the set; and, as a certificate, no vertex lies in the half-space that looks nearer."""
    point, weights = point_and_weights(seed, p.means.size, spread)
    x = project(point, weights, p.rows)
    assert x.sum() == pytest.approx(1.0, abs=EXACT)
    assert x.min() >= -EXACT
    assert (p.rows @ x).max() <= EXACT
    normal = weights * (point - x)
    corners = reference.vertices(p.matrix, p.limits)
    assert (corners @ normal).max() <= normal @ x + 10.0 * EXACT


@settings(max_examples=100)
@given(polytopes, st.integers(0, 2**32))
def test_a_point_of_the_set_stays(p, seed):
    corners = reference.vertices(p.matrix, p.limits)
    rng = np.random.default_rng(seed)
    point = rng.dirichlet(np.ones(len(corners))) @ corners
    weights = rng.uniform(0.1, 1.0, point.size)
    np.testing.assert_allclose(project(point, weights, p.rows), point, atol=EXACT)


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(2, 12))
def test_without_rows_and_with_equal_weights_it_is_the_simplex_projection(seed, k):
    point, _ = point_and_weights(seed, k, 0.0)
    wanted = np.zeros(k)
    project_to_simplex(point, 0.0, wanted)
    np.testing.assert_allclose(project(point, np.ones(k), np.zeros((0, k))), wanted, atol=EXACT)
    np.testing.assert_allclose(
        project(point, np.full(k, 7.0), np.eye(1, k) - 2.0), wanted, atol=EXACT
    )


@few
@given(st.integers(0, 2**32), st.integers(2, 8))
def test_without_rows_and_with_any_weights(seed, k):
    point, weights = point_and_weights(seed, k, 3.0)
    wanted = reference.project(point, weights, np.zeros((0, k)))
    np.testing.assert_allclose(project(point, weights, np.zeros((0, k))), wanted, atol=1e-4)
    normal = weights * (point - project(point, weights, np.zeros((0, k))))
    used = wanted > 1e-3
    np.testing.assert_allclose(normal[used], normal[used][0], atol=EXACT)


def test_a_worked_example():
    """From (1, 0, 0) to pi_1 <= 1/2: the missing half goes to the others by 1 / weight."""
    rows = np.array([[1.0, 0.0, 0.0]]) - 0.5
    found = project(np.array([1.0, 0.0, 0.0]), np.array([5.0, 1.0, 3.0]), rows)
    np.testing.assert_allclose(found, [0.5, 0.375, 0.125], atol=EXACT)


def test_the_order_of_arms_does_not_matter():
    for seed in range(20):
        p = drawn(seed, 5, 3, "smooth")
        point, weights = point_and_weights(seed, 5, 2.0)
        arms = np.random.default_rng(seed).permutation(5)
        one = project(point, weights, p.rows)
        two = project(point[arms], weights[arms], np.ascontiguousarray(p.rows[:, arms]))
        np.testing.assert_allclose(two, one[arms], atol=EXACT)
