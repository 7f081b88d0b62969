"""The allocation solver against cvxpy, closed forms, and what the Lagrangian comes to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestarm.core.gaussian_bai import bai_allocation
from bestarm.lagex import reference
from bestarm.lagex.paper.allocation import ACCURACY, PADDING, best_allocation, pad
from bestarm.lagex.paper.dual import AllocationProblem, cold_start, make_solver, solve
from bestarm.lagex.problem import imdb, setup1, setup2, triangle
from bestarm.lagex.vertices import alternatives, constraint_rows
from lagex.polytopes import KINDS, drawn, polytopes, smooth_polytopes

#: Asked where no arm is asked for by constraints alone, and cvxpy's own accuracy.
EXACT = 1e-7
#: Asked where some arm may be: doubles give no more than a few times this (see below).
DEGENERATE = 1e-5
#: cvxpy's accuracy with a price on broken constraints.
PENALISED = 1e-5
NO_ROWS = np.zeros((0, 3))
#: A few hundred programs of cvxpy would take minutes.
few = settings(max_examples=25)


def problem(p, r=0.01):
    """Costs of the neighbours, and the best policy.

    None for costs where there are no neighbours, or some so much harder to tell than others that
    cvxpy loses its accuracy; for these see the certificates.
    """
    found = alternatives(p.means, p.matrix, p.limits, r)
    costs = reference.costs(found.steps, found.gaps, p.variances, r)
    times = np.sqrt(costs).sum(axis=1) ** 2  # T of each alone
    easy = len(times) > 0 and times.max() <= 300.0 * times.min()
    return costs if easy else None, found.policy


def value_at(omega, costs, rows, gamma):
    """(1 - [max rows omega]_+ / gamma) D(omega), 0 / 0 of an arm not needed being 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(costs > 0.0, costs / omega, 0.0).sum(axis=1)
    excess = max(0.0, (rows @ omega).max()) if len(rows) else 0.0
    return (1.0 - (excess / gamma if gamma > 0.0 else 0.0)) / times.max()


def assert_optimal(found, costs, rows, tolerance):
    """An allocation with cvxpy's value, as reported, that keeps the constraints."""
    _, wanted = reference.best_allocation(costs, rows, 0.0)
    assert found.value == pytest.approx(wanted, rel=tolerance)
    assert found.omega.sum() == pytest.approx(1.0, abs=1e-9)
    assert (found.omega >= 0.0).all()
    assert value_at(found.omega, costs, rows, 0.0) == pytest.approx(found.value, rel=1e-9)
    if len(rows):
        assert (rows @ found.omega).max() <= tolerance


@few
@given(polytopes, st.sampled_from([ACCURACY, EXACT]))
def test_over_the_simplex(p, tolerance):
    costs, _ = problem(p)
    if costs is not None:
        rows = np.zeros((0, p.means.size))
        assert_optimal(best_allocation(costs, rows, tolerance / 10.0), costs, rows, tolerance)


@few
@given(polytopes, st.sampled_from([0.3, 0.02]))
def test_inside_a_set_with_some_slack(p, shift):
    """The optimistic set {A omega <= b + s}, as sampling asks, degenerate sets included."""
    costs, _ = problem(p)
    if costs is not None:
        rows = p.rows - shift
        found = best_allocation(costs, rows, ACCURACY)
        assert found.residual <= ACCURACY
        assert_optimal(found, costs, rows, 5.0 * ACCURACY)


@few
@given(polytopes, st.sampled_from([0.3, 0.02]))
def test_inside_a_set_with_some_slack_as_well_as_doubles_can(p, shift):
    costs, _ = problem(p)
    if costs is not None:
        rows = p.rows - shift
        assert_optimal(best_allocation(costs, rows, DEGENERATE), costs, rows, 10.0 * DEGENERATE)


@few
@given(smooth_polytopes, st.sampled_from([0.3, 0.02, 0.0]))
def test_inside_a_set_in_general_position_to_1e_7(p, shift):
    """Where no constraint asks for an arm that no binding alternative needs."""
    costs, _ = problem(p)
    if costs is not None:
        rows = p.rows - shift
        found = best_allocation(costs, rows, EXACT / 10.0)
        assert_optimal(found, costs, rows, EXACT + 2.0 * found.residual)


@pytest.mark.parametrize(
    "instance",
    [setup1(0.5), setup1(1.3), setup1(2.5, printed=True), triangle(), imdb(), imdb(spread=True)],
    ids=lambda i: i.name,
)
@pytest.mark.parametrize("shift", [None, 0.0, 0.05])
def test_instances_of_the_paper(instance, shift):
    problem = instance.problem
    found = alternatives(problem.means, problem.matrix, problem.limits, 0.01)
    costs = reference.costs(found.steps, found.gaps, problem.variances, 0.01)
    rows = constraint_rows(problem.matrix, problem.limits)
    rows = rows[:0] if shift is None else rows - shift
    best = best_allocation(costs, rows)
    assert best.residual <= EXACT
    assert_optimal(best, costs, rows, 3.0 * EXACT)


def from_nothing(costs, rows, tolerance):
    """An allocation with what it misses, and weights, nu and multipliers."""
    (count, k), rows = costs.shape, np.ascontiguousarray(rows)
    solver, omega, padded = make_solver(count, k, len(rows)), np.zeros(k), np.zeros((count, k))
    cold_start(solver, count)
    pad(costs, count, tolerance, padded)
    residual = solve(AllocationProblem(padded, count, rows), tolerance, omega, solver)
    return omega, residual, solver.y[:count], solver.y[count], solver.y[count + 1 :]


@pytest.mark.parametrize("tolerance", [ACCURACY, DEGENERATE])
@given(p=polytopes, shift=st.sampled_from([None, 0.3, 0.02]))
def test_weights_and_multipliers_certify_the_value(tolerance, p, shift):
    """Weak duality, of the program without padding: ln T >= 2 - sum(p) - nu + 2 ln G.

    Multipliers stay in their set, too. Theorem 1: those of D are l >= 0 with ||l||_1 <= D / gamma,
    so those of ln D sum to at most 1 / gamma.
    """
    found = alternatives(p.means, p.matrix, p.limits, 0.01)
    if len(found.gaps) == 0:
        return
    costs = reference.costs(found.steps, found.gaps, p.variances, 0.01)
    rows = p.rows[:0] if shift is None else p.rows - shift
    omega, residual, weights, nu, multipliers = from_nothing(costs, rows, tolerance)
    assert min(weights.min(), multipliers.min(initial=0.0)) >= 0.0
    q, z = weights @ costs, nu + multipliers @ rows
    assert (z >= -1e-12).all()
    low = 2.0 - weights.sum() - nu + 2.0 * np.log(np.sqrt(q * np.maximum(z, 0.0)).sum())
    lead = -np.log(value_at(omega, costs, rows, 0.0)) - low
    missed = max(residual, tolerance)
    assert missed <= 5.0 * tolerance
    assert -missed * (1.0 + multipliers.sum()) <= lead <= missed * (5.0 + multipliers.sum())
    if len(rows):
        assert (rows @ omega).max() <= missed
        assert multipliers.sum() * -(rows @ found.policy).max() <= 1.0 + 10.0 * missed


@pytest.mark.parametrize(("tolerance", "most"), [(ACCURACY, 2e-3), (DEGENERATE, 5e-3)])
@pytest.mark.parametrize("shift", [None, 0.3, 0.02, 0.0])
def test_how_often_a_program_is_not_solved(tolerance, most, shift):
    """Of 570 random programs, from nothing: none, or one in a set with hardly an inside."""
    missed = total = 0
    for kind in KINDS:
        for seed in range(120):
            p = drawn(seed, 2 + seed % 4, 1 + seed // 4 % 3, kind)
            found = alternatives(p.means, p.matrix, p.limits, 0.01)
            if len(found.gaps):
                costs = reference.costs(found.steps, found.gaps, p.variances, 0.01)
                rows = p.rows[:0] if shift is None else p.rows - shift
                missed += not from_nothing(costs, rows, tolerance)[1] <= tolerance
                total += 1
    assert total > 500
    assert missed <= most * total


@few
@given(polytopes, st.sampled_from([1e-2, 1e-3, 1e-4]))
def test_the_reported_residual_bounds_the_error(p, tolerance):
    """With what padding costs; in T and, times the multipliers' sum, in rows omega."""
    costs, _ = problem(p)
    if costs is not None:
        rows = p.rows - 0.1
        found = best_allocation(costs, rows, tolerance)
        _, wanted = reference.best_allocation(costs, rows, 0.0)
        assert found.residual <= tolerance
        assert abs(found.value / wanted - 1.0) <= 5.0 * tolerance + 1e-8


@few
@given(polytopes)
def test_the_multiplier_of_theorem_1_comes_to_hard_constraints(p):
    """If gamma is the least slack of some policy, no allocation outside is better than one inside.

    D is concave and 1-homogeneous. Let omega exceed a limit by e. Mixed with that policy in the
    ratio gamma : e it keeps all limits, and D is at least gamma / (gamma + e) D(omega), which is
    more than (1 - e / gamma) D(omega). Both values are cvxpy's.
    """
    costs, policy = problem(p)
    if costs is not None:
        rows = p.rows - 0.05
        gamma = -(rows @ policy).max()
        _, soft = reference.best_allocation(costs, rows, gamma)
        _, hard = reference.best_allocation(costs, rows, 0.0)
        assert soft == pytest.approx(hard, rel=PENALISED)
        assert best_allocation(costs, rows, DEGENERATE).value == pytest.approx(
            soft, rel=10.0 * DEGENERATE
        )


def test_a_price_that_is_too_low_is_paid():
    """So that the test above is about gamma: at twice the slack it pays to break the limit."""
    costs, rows = np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]]) - 0.2
    _, hard = reference.best_allocation(costs, rows, 0.0)
    policy = np.array([0.15, 0.85])
    slack = -(rows @ policy).max()
    _, soft = reference.best_allocation(costs, rows, slack)
    assert soft == pytest.approx(hard, rel=PENALISED)
    _, soft = reference.best_allocation(costs, rows, 20.0 * slack)
    assert soft > 1.05 * hard


@settings(max_examples=50)
@given(polytopes, st.integers(0, 2**32), st.floats(0.0, 0.3))
def test_the_multiplier_in_closed_form(p, seed, shift):
    """min over L of D - l . (A~ omega - b) is D (1 - [max violation]_+ / gamma), at an l in L."""
    costs, policy = problem(p)
    if costs is not None:
        rows = p.rows - shift
        gamma = -(rows @ policy).max() + 1e-3
        omega = np.random.default_rng(seed).dirichlet(np.ones(p.means.size))
        d = value_at(omega, costs, rows[:0], 0.0)
        l, least = reference.least_over_multipliers(rows @ omega, d / gamma)
        assert (l >= 0.0).all()
        assert l.sum() <= d / gamma * (1.0 + 1e-9)
        assert d + least == pytest.approx(value_at(omega, costs, rows, gamma), abs=1e-9 * d / gamma)


@settings(max_examples=50)
@given(polytopes, st.integers(0, 2**32), st.sampled_from([0.0, 0.01, 0.5]))
def test_a_cost_is_that_of_the_confusing_instance(p, seed, r):
    """1 / sum_a c_va / omega_a is the least information against lambda . v >= r: gap plus r."""
    omega = np.random.default_rng(seed).dirichlet(np.full(p.means.size, 3.0)) + 0.01
    omega /= omega.sum()
    found = alternatives(p.means, p.matrix, p.limits, r)
    if len(found.steps) and found.gaps[0] + r > 1e-3:
        costs = reference.costs(found.steps, found.gaps, p.variances, r)
        _, wanted = reference.confusing_instance(omega, p.means, p.variances, found.steps[0], r)
        assert 1.0 / (costs[0] @ (1.0 / omega)) == pytest.approx(wanted, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("r", [0.0, 0.01, 0.3])
@pytest.mark.parametrize(("gap", "sigma"), [(1.0, 1.0), (0.1, 1.0), (0.7, 2.0)])
def test_two_arms_without_a_constraint(gap, sigma, r):
    """T = 8 sigma^2 / (gap + r)^2, pulled equally."""
    found = alternatives(np.array([gap, 0.0]), np.array([[1.0, 0.0]]), np.array([2.0]), r)
    costs = reference.costs(found.steps, found.gaps, np.full(2, sigma**2), r)
    best = best_allocation(costs, np.zeros((0, 2)))
    assert 1.0 / best.value == pytest.approx(8.0 * sigma**2 / (gap + r) ** 2, rel=1e-8)
    np.testing.assert_allclose(best.omega, 0.5, atol=1e-4)


def test_two_arms_of_unlike_noise():
    """T = 2 (sigma_1 + sigma_2)^2 / gap^2, pulled in proportion to sigma."""
    costs = reference.costs(np.array([[-1.0, 1.0]]), np.array([0.5]), np.array([1.0, 9.0]), 0.0)
    best = best_allocation(costs, np.zeros((0, 2)))
    assert 1.0 / best.value == pytest.approx(2.0 * 16.0 / 0.25, rel=1e-8)
    np.testing.assert_allclose(best.omega, [0.25, 0.75], atol=1e-4)


def test_one_alternative():
    """max_omega 1 / sum_a c_a / omega_a = 1 / (sum_a sqrt(c_a))^2, by Cauchy and Schwarz."""
    best = best_allocation(np.array([[4.0, 0.0, 9.0]]), NO_ROWS)
    assert best.value == pytest.approx(1.0 / 25.0, rel=EXACT)
    np.testing.assert_allclose(best.omega, [0.4, 0.0, 0.6], atol=1e-4)


@pytest.mark.parametrize("k", [3, 5, 12])
def test_without_constraints_it_is_best_arm_identification(k):
    for seed in range(5):
        means = np.random.default_rng(seed).normal(size=k)
        vacuous, out = np.eye(1, k), np.zeros(k)
        found = alternatives(means, vacuous, np.array([2.0]), 0.0)
        costs = reference.costs(found.steps, found.gaps, np.ones(k), 0.0)
        best = best_allocation(costs, constraint_rows(vacuous, np.array([2.0])))
        assert 1.0 / best.value == pytest.approx(bai_allocation(means, out), rel=EXACT)
        np.testing.assert_allclose(best.omega, out, atol=1e-3)


@settings(max_examples=50)
@given(polytopes, st.integers(0, 2**32), st.floats(1e-3, 1e3))
def test_the_order_of_arms_and_the_unit_of_costs_do_not_matter(p, seed, unit):
    costs, _ = problem(p)
    if costs is not None:
        rows = p.rows - 0.1
        arms = np.random.default_rng(seed).permutation(p.means.size)
        wanted = best_allocation(costs, rows, DEGENERATE).value
        others = [(costs[:, arms], rows[:, arms], 1.0), (unit * costs, rows, unit)]
        for some_costs, some_rows, factor in others:
            found = best_allocation(some_costs, some_rows, DEGENERATE)
            assert factor * found.value == pytest.approx(wanted, rel=10.0 * DEGENERATE)


def test_more_rounds_of_constraints_cost_more():
    """T grows as the set of allocations shrinks, from the simplex to the policies allowed."""
    problem = setup2("hard", [1.0, 0.5, 0.4, 0.4, 0.5]).problem
    found = alternatives(problem.means, problem.matrix, problem.limits, 0.01)
    costs = reference.costs(found.steps, found.gaps, problem.variances, 0.01)
    rows = constraint_rows(problem.matrix, problem.limits)
    times = [1.0 / best_allocation(costs, rows - s).value for s in (1.0, 0.2, 0.1, 0.0)]
    assert (np.diff(times) >= -1e-6 * times[0]).all()
    free = 1.0 / best_allocation(costs, rows[:0]).value
    assert times[0] == pytest.approx(free, rel=EXACT)


def test_a_row_of_zeros_asks_for_nothing():
    costs = np.array([[4.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
    free = best_allocation(costs, NO_ROWS).value
    found = best_allocation(costs, np.zeros((2, 3)))
    assert found.value == pytest.approx(free, rel=3.0 * EXACT)


def test_hard_constraints_that_forbid_a_needed_arm():
    """T is infinite. Padded, every arm has a price, and the value is next to nothing or refused."""
    try:
        found = best_allocation(np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]]), ACCURACY)
    except ArithmeticError as error:
        assert "residual" in str(error)
    else:
        assert found.omega.sum() == pytest.approx(1.0)
        assert 0.0 <= found.value < 1e-3


@pytest.mark.parametrize("rows", [[[1.0, 1.0]], [[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]])
def test_no_allocation_at_all_is_an_error(rows):
    with pytest.raises(ArithmeticError, match="residual"):
        best_allocation(np.array([[1.0, 1.0]]), np.array(rows))


def test_gaps_of_very_unlike_size():
    """An alternative a million times harder than the other takes nearly all: T is near 4."""
    costs = np.array([[1.0, 1.0, 0.0], [1e-6, 0.0, 1e-6]])
    best = best_allocation(costs, NO_ROWS)
    assert 1.0 / best.value == pytest.approx(4.0, rel=1e-5)
    np.testing.assert_allclose(best.omega, [0.5, 0.5, 0.0], atol=1e-5)


def test_an_arm_that_only_a_constraint_asks_for():
    """At least a fifth to arm 2, which no alternative needs: the others share the rest, T = 5."""
    rows = 0.2 - np.array([[0.0, 1.0, 0.0]])
    best = best_allocation(np.array([[1.0, 0.0, 1.0]]), rows, 1e-6)
    assert 1.0 / best.value == pytest.approx(5.0, rel=1e-4)
    np.testing.assert_allclose(best.omega, [0.4, 0.2, 0.4], atol=1e-3)


def test_an_arm_that_only_an_idle_alternative_and_a_constraint_ask_for():
    """The first alternative binds; the second, which needs arm 2, is easy once a limit is kept."""
    costs = np.array([[1.0, 0.0, 1.0], [0.01, 0.01, 0.0]])
    rows = 0.2 - np.array([[0.0, 1.0, 0.0]])
    best = best_allocation(costs, rows, 1e-6)
    assert 1.0 / best.value == pytest.approx(5.0, rel=1e-4)


@pytest.mark.parametrize("tolerance", [ACCURACY, DEGENERATE, EXACT])
def test_an_arm_that_two_limits_pin(tolerance):
    """Of arm 1, which no alternative needs, 48% to 50%: the others share the rest, D = 0.52 / 4."""
    rows = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]) + np.array([[-0.5], [0.48]])
    best = best_allocation(np.array([[0.0, 1.0, 1.0]]), rows, tolerance)
    assert best.value == pytest.approx(0.13, rel=max(tolerance, 10.0 * PADDING))
