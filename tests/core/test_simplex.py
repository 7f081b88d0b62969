"""The floored projection, as theorems: feasible, optimal, fixed points, and both norms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from bestarm.baics.reference import project
from bestarm.core.simplex import project_to_simplex

POINTS = npst.arrays(float, st.integers(1, 12), elements=st.floats(-5, 5, width=32))
SHARES = st.floats(0, 0.99)  # of the largest possible floor


def projected(point, floor):
    out = np.empty_like(point)
    project_to_simplex(point, floor, out)
    return out


@given(POINTS, SHARES)
def test_agrees_with_bisection(point, share):
    floor = share / point.size
    np.testing.assert_allclose(projected(point, floor), project(point, floor), atol=1e-12)


@given(POINTS, SHARES)
def test_is_on_the_floored_simplex(point, share):
    floor = share / point.size
    w = projected(point, floor)
    assert w.sum() == pytest.approx(1.0, abs=1e-12)
    assert (w >= floor).all()


@given(POINTS, POINTS, SHARES)
def test_no_other_point_is_nearer(point, other, share):
    """Obtuse angle: (point - w) . (v - w) <= 0 for every v of the set."""
    floor = share / point.size
    w = projected(point, floor)
    v = projected(np.resize(other, point.size), floor)
    assert (point - w) @ (v - w) <= 1e-10


@given(POINTS, SHARES)
def test_in_place_and_idempotent(point, share):
    floor = share / point.size
    w = projected(point, floor)
    in_place = point.copy()
    project_to_simplex(in_place, floor, in_place)
    np.testing.assert_array_equal(in_place, w)
    np.testing.assert_allclose(projected(w, floor), w, atol=1e-12)


@given(POINTS, POINTS, SHARES)
def test_on_the_simplex_it_is_nearest_in_the_maximum_norm_too(point, other, share):
    floor = share / point.size
    start = projected(point, 0.0)
    w = projected(start, floor)
    v = projected(np.resize(other, point.size), floor)
    assert np.abs(w - start).max() <= np.abs(v - start).max() + 1e-12


def test_by_hand():
    # (0.9, 0.1, 0) with floor 0.1: the last rises by 0.1; the first alone can pay.
    np.testing.assert_allclose(projected(np.array([0.9, 0.1, 0.0]), 0.1), [0.8, 0.1, 0.1])
    np.testing.assert_allclose(projected(np.array([2.0, 0.0]), 0.0), [1.0, 0.0])
