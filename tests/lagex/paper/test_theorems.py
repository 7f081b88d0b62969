"""The computed sides of the theorems: against convex programs, and cases by hand."""

import cvxpy as cp
import numpy as np
import pytest

from bestarm.lagex import reference
from bestarm.lagex.paper import theorems
from bestarm.lagex.problem import EASIER, HARD, setup1


@pytest.mark.parametrize("third", [HARD, EASIER])
@pytest.mark.parametrize("r", [0.0, 0.01])
def test_the_definition_is_the_cheapest_instance_that_prefers_another_vertex(third, r):
    problem = setup1(third).problem
    omega = np.full(len(problem.means), 1.0 / len(problem.means))
    found = reference.alternatives(problem.means, problem.matrix, problem.limits, r, every=True)
    assert found is not None
    costs = [
        reference.confusing_instance(
            omega, problem.means, problem.variances, other - found.policy, r
        )[1]
        for other in found.others
    ]
    ours = theorems.uniform_information(theorems.all_costs(problem, r))
    assert ours == pytest.approx(min(costs), rel=1e-6)


def test_what_is_printed_has_the_other_sign_of_r_and_neighbours_only():
    problem = setup1(HARD).problem
    found = reference.alternatives(problem.means, problem.matrix, problem.limits, -1.0)
    assert found is not None
    omega = np.full(len(problem.means), 1.0 / len(problem.means))
    printed = reference.information(omega, problem.means, problem.variances, found, -0.01)
    assert theorems.uniform_information(theorems.printed_costs(problem, 0.01)) == pytest.approx(
        printed, rel=1e-9
    )


def side(problem, shift: float, sign: float) -> float:
    """max { D(omega) : (A + sign shift) omega <= b }, alternatives of the relaxed set, by cvxpy."""
    costs = theorems.all_costs(theorems.relaxed(problem, shift), 0.0)
    omega, t = cp.Variable(len(problem.means), nonneg=True), cp.Variable()
    limits = [cp.sum(omega) == 1.0, problem.matrix @ omega + sign * shift <= problem.limits]
    worst = [cp.sum(cp.multiply(row, cp.power(omega, -1.0))) <= t for row in costs]
    return 1.0 / reference.solve(cp.Problem(cp.Minimize(t), limits + worst))


@pytest.mark.parametrize("third", [HARD, EASIER])
def test_theorem_1_has_other_matrices_on_its_sides(third):
    problem = setup1(third).problem
    left, right = side(problem, theorems.SHIFT, 1.0), side(problem, theorems.SHIFT, -1.0)
    assert theorems.duality_ratio(problem) == pytest.approx(left / right, rel=1e-4)


def test_the_limit_of_theorem_2_keeps_the_direction_that_no_true_policy_has():
    """Easy, r = 0: from arm 1 to arm 3 the gap is 0.2, along the true edges at least 0.5."""
    problem = setup1(EASIER).problem
    near = theorems.uniform_information(theorems.all_costs(theorems.relaxed(problem, 1e-6), 0.0))
    assert near == pytest.approx(0.2**2 / (2.0 * 6 * 2.0), rel=1e-6)
    here = theorems.uniform_information(theorems.all_costs(problem, 0.0))
    assert here == pytest.approx(0.5**2 / (2.0 * 6 * 2.0), rel=1e-6)


def test_two_equal_rivals_have_two_nearest_instances():
    assert theorems.spread_of_alternatives(
        theorems.unconstrained([1.0, 0.5, 0.5]), 0.0
    ) == pytest.approx(0.25)
    assert theorems.spread_of_alternatives(theorems.unconstrained([1.0, 0.5, 0.4]), 0.0) == 0.0


def test_no_allocation_reaches_the_bound_on_violations():
    largest, bound = theorems.violations(setup1(HARD))
    assert largest.value == 0.5  # all pulls to a group of which half are allowed
    assert bound.value > largest.value
