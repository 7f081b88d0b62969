"""Plain identification: closed forms, invariances, and a general solver."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from bestarm.baics.reference import solve
from bestarm.core.gaussian_bai import bai_allocation

MEANS = npst.arrays(float, st.integers(2, 8), elements=st.floats(-3, 3, width=16), unique=True)


def allocate(means):
    out = np.empty(len(means))
    return bai_allocation(np.asarray(means, dtype=float), out), out


def value(w, means):
    """(1/2) min over challengers of w_b w_a / (w_b + w_a) gap^2."""
    b = int(np.argmax(means))
    others = [a for a in range(len(means)) if a != b]
    return min(0.5 * w[b] * w[a] / (w[b] + w[a]) * (means[b] - means[a]) ** 2 for a in others)


def test_two_arms():
    time, w = allocate([1.0, 0.6])
    assert time == pytest.approx(8 / 0.4**2, rel=1e-14)
    np.testing.assert_allclose(w, 0.5)


def test_equal_challengers():
    """With K - 1 equal challengers the best arm gets sqrt(K - 1) times a challenger's share."""
    time, w = allocate([2.0, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(w[0] / w[1:], 2.0, rtol=1e-13)
    assert time == pytest.approx(2 * (1 + 2) ** 2, rel=1e-13)


@given(MEANS)
def test_value_is_attained_and_balanced(means):
    time, w = allocate(means)
    assert w.sum() == pytest.approx(1.0, abs=1e-12)
    assert 1 / time == pytest.approx(value(w, means), rel=1e-9)
    b = int(np.argmax(means))
    assert w[b] ** 2 == pytest.approx((np.delete(w, b) ** 2).sum(), rel=1e-9)


@given(MEANS, st.randoms(use_true_random=False))
def test_permuting_and_shifting_change_nothing(means, random):
    order = list(range(len(means)))
    random.shuffle(order)
    time, w = allocate(means)
    moved_time, moved_w = allocate(means[order] + 10.0)
    assume(time < 1e6)  # shifting rounds tiny gaps away
    assert moved_time == pytest.approx(time, rel=1e-9)
    np.testing.assert_allclose(moved_w, w[order], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_cvxpy(seed):
    means = np.random.default_rng(seed).normal(size=5)
    b = int(np.argmax(means))
    x = cp.Variable(5, pos=True)  # x_b x_a / (x_b + x_a) >= 2 / gap^2, harmonic means are concave
    rules = [
        cp.harmonic_mean(cp.hstack([x[b], x[a]])) / 2 >= 2 / (means[b] - means[a]) ** 2
        for a in range(5)
        if a != b
    ]
    assert allocate(means)[0] == pytest.approx(
        solve(cp.Problem(cp.Minimize(cp.sum(x)), rules)), rel=1e-6
    )


def test_a_tie_has_no_finite_time_and_an_even_split():
    time, w = allocate([1.0, 1.0, 0.0])
    assert time == np.inf
    np.testing.assert_array_equal(w, [0.5, 0.5, 0.0])
