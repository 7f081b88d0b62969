"""The safe policy against cvxpy with Clarabel, cold and warm."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bestarm.lagex.certified import reference
from bestarm.lagex.certified.cone import best_safe_policy, make_cone_solver
from bestarm.lagex.certified.confidence import excess, norm, without_directions
from lagex.certified.confidence_sets import confidence_set
from lagex.polytopes import KINDS

SIZES = st.tuples(st.integers(2, 12), st.integers(1, 4))
RADII = st.sampled_from([1e-4, 1e-2, 0.1, 0.5])
#: Clarabel's own accuracy, in the value and in slacks.
CLARABEL, UNDECIDED = 1e-6, 1e-5


def solved(seen, eps, accuracy, solver=None):
    """The kernel's policy; None if there is none."""
    d, k = seen.rows.shape
    solver = solver or make_cone_solver(k, d)
    found = best_safe_policy(seen, eps, accuracy, solver)
    return solver.x[:k].copy() if found else None


@settings(max_examples=60)
@given(st.integers(0, 2**31), SIZES, st.sampled_from(KINDS), RADII, st.sampled_from([0.0, 0.05]))
def test_value_and_feasibility_are_those_of_clarabel(seed, sizes, kind, size, eps):
    """The value within twice the accuracy, and every constraint kept strictly."""
    seen = confidence_set(seed, *sizes, kind, size)
    wanted = reference.best_safe_policy(seen, eps)
    for accuracy in (1e-2, 1e-6):
        policy = solved(seen, eps, accuracy)
        if policy is None:  # Clarabel may find one that keeps the limits to rounding only
            assert wanted is None or reference.best_safe_policy(seen, eps - UNDECIDED) is None
            continue
        assert policy.sum() == pytest.approx(1.0, abs=1e-9)
        assert policy.min() > 0.0
        assert excess(seen.rows, policy) + norm(seen.u, policy) < eps
        assert wanted is not None
        rounding = 2.0 * CLARABEL * max(1.0, abs(wanted[1]))
        assert -rounding <= wanted[1] - seen.means @ policy <= 2.0 * accuracy + rounding


@settings(max_examples=60)
@given(st.integers(0, 2**31), SIZES, RADII)
def test_a_warm_start_gives_the_same(seed, sizes, size):
    """After a program with other estimates, and after one without a solution."""
    seen = confidence_set(seed, *sizes, "smooth", size)
    wanted = solved(seen, 0.0, 1e-7)
    assume(wanted is not None)
    rng = np.random.default_rng(seed)
    moved = [0.05 * rng.normal(size=one.shape) for one in (seen.means, seen.rows)]
    solver = make_cone_solver(*reversed(seen.rows.shape))
    for means, rows in ((seen.means + moved[0], seen.rows + moved[1]), (seen.means, seen.rows + 9)):
        solved(without_directions(means, rows, seen.h, 0.9 * seen.u), 0.0, 1e-7, solver)
        policy = solved(seen, 0.0, 1e-7, solver)
        assert policy is not None
        assert seen.means @ policy == pytest.approx(seen.means @ wanted, abs=4e-7)


@settings(max_examples=60)
@given(st.integers(0, 2**31), SIZES)
def test_the_price_is_the_slope_of_the_value_in_eps(seed, sizes):
    """Between the slopes to both sides, the value being concave; but centring is rough."""
    seen, step = confidence_set(seed, *sizes), 1e-3
    solver = make_cone_solver(*reversed(seen.rows.shape))
    assume(best_safe_policy(seen, 0.0, 1e-6, solver))
    values = [reference.best_safe_policy(seen, eps) for eps in (-step, 0.0, step)]
    assume(values[0] is not None)
    below, value, above = (one[1] for one in values)
    off, rounding = 1.5, 2.0 * CLARABEL
    assert above - value <= step * off * solver.multiplier[0] + rounding
    assert value - below >= step / off * solver.multiplier[0] - rounding


@settings(max_examples=40)
@given(st.integers(0, 2**31), SIZES, RADII, st.sampled_from([1e-12, 1e-6, 1e6, 1e12]))
def test_the_unit_of_costs_does_not_matter(seed, sizes, size, unit):
    seen = confidence_set(seed, *sizes, "smooth", size)
    wanted = solved(seen, 0.0, 1e-6)
    policy = solved(seen._replace(rows=unit * seen.rows, u=unit**2 * seen.u), 0.0, 1e-6)
    assert (policy is None) == (wanted is None)
    if wanted is not None:
        assert seen.means @ policy == pytest.approx(seen.means @ wanted, abs=2e-6)


@settings(max_examples=40)
@given(st.integers(0, 2**31), SIZES, RADII)
def test_the_value_is_found_to_a_millionth_of_the_range_of_means(seed, sizes, size):
    """If more is asked for, too: the policy's weights add up to 1 as they do otherwise."""
    seen = confidence_set(seed, *sizes, "smooth", size)
    wanted = solved(seen, 0.0, 2e-6 * float(np.ptp(seen.means)))
    policy = solved(seen, 0.0, 1e-14)
    assert (policy is None) == (wanted is None)
    if wanted is not None:
        assert policy.sum() == pytest.approx(1.0, abs=1e-8)
        assert seen.means @ (policy - wanted) >= -1e-8 * np.ptp(seen.means)


def test_without_a_safe_policy_there_is_about_the_safest():
    """Two arms, one of which is better in both rows by far: half of each would be worse."""
    seen = without_directions(
        np.zeros(2), np.array([[1.0, 3.0], [1.0, 3.0]]), np.ones(2), np.full(2, 1e-4)
    )
    solver = make_cone_solver(2, 2)
    assert not best_safe_policy(seen, 0.0, 1e-6, solver)
    assert solver.x[0] > 0.6
