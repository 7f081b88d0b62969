"""Lower bounds: against cvxpy, where they are known by hand, and how they compare."""

import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from bestarm.core.gaussian_bai import bai_allocation
from bestarm.core.information import needed_information
from bestarm.lagex import reference
from bestarm.lagex.paper.allocation import PADDING
from bestarm.lagex.paper.bounds import (
    bai_time,
    constraint_rows,
    corollary_1,
    known_time,
    learning_time,
    least_slack,
    lower_bound,
    quantile_bound,
    relaxed_time,
    shadow_price,
)
from bestarm.lagex.problem import Instance, Problem, imdb, perturbed, setup1, setup2, triangle
from lagex.polytopes import polytopes, smooth_polytopes

#: cvxpy's accuracy.
EXACT = 1e-7
few = settings(max_examples=25)
PAPER = [setup1(0.5), setup1(1.3), setup1(0.5, printed=True), triangle(), perturbed(0.005), imdb()]
paper = pytest.mark.parametrize("instance", PAPER, ids=lambda i: i.name)


def two_arms(gap, sigma=1.0):
    """Without a constraint: a share is never above 2."""
    row = {"coefficients": [1.0, 0.0], "at_most": 2.0}
    return Instance(name="two", means=[gap, 0.0], sigma=sigma, constraints=[row]).problem


def model_of(p):
    return Problem(p.means, p.variances, p.matrix, p.limits, 1.0)


def by_cvxpy(problem, r, rows, gamma=0.0):
    """T over all vertices, and the allocation."""
    found = reference.alternatives(problem.means, problem.matrix, problem.limits, r, every=True)
    steps = found.others - found.policy
    costs = reference.costs(steps, -steps @ problem.means, problem.variances, r)
    omega, value = reference.best_allocation(costs, rows, gamma)
    return 1.0 / value, omega


def is_easy(problem, r=0.0):
    """Some alternative, and none so much harder than others that cvxpy loses its accuracy."""
    found = reference.alternatives(problem.means, problem.matrix, problem.limits, 0.0, every=True)
    steps = found.others - found.policy
    costs = reference.costs(steps, -steps @ problem.means, problem.variances, r)
    times = np.sqrt(costs).sum(axis=1)
    return len(times) > 0 and times.max() <= 17.0 * times.min()


@paper
@pytest.mark.parametrize("r", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("inside", [False, True])
def test_the_known_time_is_that_of_cvxpy(instance, r, inside):
    problem = instance.problem
    rows = constraint_rows(problem) if inside else np.zeros((0, problem.means.size))
    wanted, _ = by_cvxpy(problem, r, rows)
    found = known_time(problem, r, inside)
    assert found.time == pytest.approx(wanted, rel=EXACT)
    assert found.allocation.sum() == pytest.approx(1.0)
    if inside:
        assert (problem.matrix @ found.allocation <= problem.limits + EXACT).all()


@few
@given(polytopes, st.sampled_from([0.0, 0.01, 0.3]))
def test_the_known_time_of_random_instances(p, r):
    """Other vertices than neighbours included where r > 0."""
    problem = model_of(p)
    if is_easy(problem, r):
        wanted, _ = by_cvxpy(problem, r, np.zeros((0, p.means.size)))
        assert known_time(problem, r).time == pytest.approx(wanted, rel=PADDING)


@few
@given(smooth_polytopes, st.sampled_from([0.01, 0.3]), st.sampled_from([0.0, 0.01]))
def test_the_relaxed_time_of_random_instances(p, shift, r):
    """cvxpy's with the price of Theorem 4, and with hard constraints, where it is more accurate."""
    problem = model_of(p)
    if is_easy(problem, r):
        rows = constraint_rows(problem, shift)
        gamma = least_slack(reference.best_policy(p.means, p.matrix, p.limits), rows)
        found = relaxed_time(problem, shift, r).time
        assert found == pytest.approx(by_cvxpy(problem, r, rows, gamma)[0], rel=1e-5)
        assert found == pytest.approx(by_cvxpy(problem, r, rows)[0], rel=1e-6)


@paper
def test_without_a_shift_the_relaxed_time_is_that_of_allocations_inside(instance):
    problem = instance.problem
    inside = known_time(problem, inside=True)
    assert relaxed_time(problem, 0.0).time == pytest.approx(inside.time, rel=EXACT)
    assert inside.time >= known_time(problem).time * (1.0 - EXACT)


@paper
def test_optimism_lets_the_relaxed_time_fall_to_that_of_the_simplex(instance):
    problem = instance.problem
    times = [relaxed_time(problem, shift).time for shift in (0.0, 0.05, 0.2, 5.0)]
    assert (np.diff(times) <= EXACT * times[0]).all()
    assert times[-1] == pytest.approx(known_time(problem).time, rel=EXACT)


@pytest.mark.parametrize(("gap", "sigma"), [(1.0, 1.0), (0.2, 1.0), (0.5, 3.0)])
@pytest.mark.parametrize("r", [0.0, 0.01])
def test_two_arms_without_a_constraint(gap, sigma, r):
    problem = two_arms(gap, sigma)
    wanted = 8.0 * sigma**2 / (gap + r) ** 2
    for found in (
        known_time(problem, r),
        known_time(problem, r, True),
        relaxed_time(problem, 0.0, r),
    ):
        assert found.time == pytest.approx(wanted, rel=EXACT)
        np.testing.assert_allclose(found.allocation, 0.5, atol=1e-4)
    assert bai_time(problem).time == pytest.approx(8.0 * sigma**2 / gap**2, rel=EXACT)


def test_without_a_constraint_it_is_best_arm_identification():
    for seed in range(5):
        means, out = np.random.default_rng(seed).normal(size=6), np.zeros(6)
        problem = Problem(means, np.ones(6), np.eye(1, 6), np.array([2.0]), 1.0)
        wanted = bai_allocation(means, out)
        assert known_time(problem).time == pytest.approx(wanted, rel=EXACT)
        assert bai_time(problem).time == pytest.approx(wanted, rel=EXACT)
        np.testing.assert_allclose(bai_time(problem).allocation, out, atol=1e-3)


def test_best_arm_identification_knows_no_constraints():
    for third in (0.5, 1.3, 2.5):
        problem, out = setup1(third).problem, np.zeros(6)
        assert bai_time(problem).time == pytest.approx(
            bai_allocation(problem.means, out), rel=EXACT
        )


@paper
def test_units_and_order_do_not_matter(instance):
    """Means shifted, arms permuted; T is in pulls, so means and noise may be in another unit."""
    problem = instance.problem
    wanted = known_time(problem).time
    arms = np.random.default_rng(0).permutation(problem.means.size)
    others = [
        problem._replace(means=problem.means + 3.0),
        problem._replace(means=10.0 * problem.means, variances=100.0 * problem.variances),
        problem._replace(matrix=5.0 * problem.matrix, limits=5.0 * problem.limits),
        Problem(
            problem.means[arms],
            problem.variances[arms],
            problem.matrix[:, arms],
            problem.limits,
            1.0,
        ),
    ]
    for other in others:
        assert known_time(other).time == pytest.approx(wanted, rel=1e-6)
    assert known_time(problem._replace(variances=4.0 * problem.variances)).time == pytest.approx(
        4.0 * wanted, rel=1e-6
    )


@few
@given(polytopes)
def test_corollary_1_holds_as_derived(p):
    """H <= T <= K H over the simplex, and T inside F at most K H (1 + e / gamma)."""
    problem = model_of(p)
    if is_easy(problem):
        low, high, high_inside = corollary_1(problem)
        assert low * (1.0 - EXACT) <= known_time(problem).time <= high * (1.0 + EXACT)
        if math.isfinite(high_inside):
            assert known_time(problem, inside=True).time <= high_inside * (1.0 + 1e-6)


def test_corollary_1_is_printed_with_lower_and_upper_exchanged():
    """2 sigma^2 K / C is above T, so the printed lower bound, that times 1 + s, is no lower one.

    On an instance with a shadow price: a gap of 1, and a slack of 1/2 and 1.
    """
    rows = [
        {"coefficients": [1.0, 0.0], "at_most": 1.5},
        {"coefficients": [1.0, 0.0], "at_most": 2.0},
    ]
    problem = Instance(name="two", means=[1.0, 0.0], constraints=rows).problem
    rows = constraint_rows(problem)
    policy = reference.best_policy(problem.means, problem.matrix, problem.limits)
    assert shadow_price(policy, rows) == pytest.approx(2.0)
    c_known = 1.0 / 2.0  # (mu . v)^2 / ||v||^2
    printed = 2.0 * 2.0 / c_known
    time = known_time(problem).time
    assert time == pytest.approx(8.0)
    assert time <= printed * (1.0 + EXACT)
    assert printed * (1.0 + shadow_price(policy, rows)) > time


@pytest.mark.parametrize("instance", [setup1(0.5), setup1(1.3), triangle()], ids=lambda i: i.name)
def test_the_shadow_price_is_infinite_where_a_constraint_is_active(instance):
    problem = instance.problem
    policy = reference.best_policy(problem.means, problem.matrix, problem.limits)
    rows = constraint_rows(problem)
    assert least_slack(policy, rows) == 0.0
    assert shadow_price(policy, rows) == math.inf
    assert 1.0 <= shadow_price(policy, constraint_rows(problem, 0.1)) < math.inf


def test_tied_arms_and_policies_have_infinite_times():
    """Setup 1 at m3 = 1.5: two arms tie, the policies do not."""
    problem = setup1(1.5).problem
    assert bai_time(problem).time == math.inf
    assert known_time(problem).time < math.inf
    tied = problem._replace(means=np.array([1.5, 1.0, 0.4, 0.4, 0.4, 0.2]))
    assert known_time(tied).time == math.inf
    assert known_time(tied, inside=True).time == math.inf
    assert relaxed_time(tied, 0.1).time == math.inf
    assert known_time(tied, 0.01).time < math.inf
    assert all(bound == math.inf for bound in corollary_1(tied))


def test_the_bound_of_eq_3():
    assert lower_bound(100.0, 0.1) == pytest.approx(100.0 * math.log(1.0 / 0.24))
    assert lower_bound(math.inf, 0.01) == math.inf


def test_setup_2_easy_is_easier():
    easy = setup2("easy", [1.0, 0.5, 0.4, 0.95, 0.8]).problem
    hard = setup2("hard", [1.0, 0.5, 0.4, 0.4, 0.5]).problem
    assert known_time(easy).time < known_time(hard).time


def most_spare(problem, shift, r=None):
    """max over F, or R if r is given, of the least slack beyond a shift, by cvxpy."""
    pi, spare = cp.Variable(problem.means.size, nonneg=True), cp.Variable()
    kept = problem.matrix @ pi <= problem.limits
    rules = [cp.sum(pi) == 1, kept, problem.matrix @ pi + spare <= problem.limits - shift]
    if r is not None:
        best = reference.best_policy(problem.means, problem.matrix, problem.limits)
        rules.append(problem.means @ pi >= problem.means @ best - r)
    return reference.solve(cp.Problem(cp.Maximize(spare), rules))


def support(problem, normal, r):
    """h(l) = max over R of l (b - A pi), as a linear program."""
    best = reference.best_policy(problem.means, problem.matrix, problem.limits)
    found = linprog(
        normal @ problem.matrix,
        np.vstack([problem.matrix, -problem.means]),
        np.append(problem.limits, r - problem.means @ best),
        np.ones((1, problem.means.size)),
        [1.0],
        method="highs",
    )
    return float(normal @ problem.limits - found.fun)


def one_limit(r):
    """What is left to know is whether arm 1 may have half."""
    row = {"coefficients": [1.0, 0.0], "at_most": 0.5}
    return learning_time(Instance(name="one", means=[1.0, 0.0], constraints=[row]).problem, r)


def test_learning_one_limit_is_known_by_hand():
    """R is where pi_1 is between 0.5 - r and 0.5, so its largest slack is r."""
    assert one_limit(0.1).time == pytest.approx(2.0 / 0.1**2)
    assert one_limit(0.1).shift == pytest.approx([0.1])
    assert one_limit(0.0).time == math.inf
    # everything is right, and no shift leaves a policy that is not
    assert one_limit(1.0).time == 0.0


@pytest.mark.parametrize("instance", [*PAPER, setup2("hard", [1.0, 0.5, 0.4, 0.4, 0.5])])
def test_a_shift_leaves_no_right_answer_but_some_policy(instance):
    problem, r = instance.problem, 0.01
    found = learning_time(problem, r)
    assert (found.shift >= 0.0).all()
    assert found.time == pytest.approx(2.0 * problem.cost_sigma**2 / (found.shift**2).sum())
    longer = 1.001 * found.shift
    assert most_spare(problem, longer, r) < 0.0 < most_spare(problem, longer)
    assert most_spare(problem, 0.999 * found.shift, r) > 0.0


@settings(max_examples=8)
@given(smooth_polytopes, st.floats(0.01, 0.3))
def test_no_direction_has_a_shorter_shift(p, r):
    """Of many directions the one of the shortest shift, if that leaves a policy."""
    problem = model_of(p)
    d = len(problem.limits)
    found = learning_time(problem, r)
    if not 0.0 < found.time < math.inf:
        return
    rng = np.random.default_rng(0)
    normals = np.vstack([np.eye(d), rng.dirichlet(np.full(d, 0.5), 100)])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    heights = np.array([support(problem, normal, r) for normal in normals])
    least = int(np.argmin(heights))
    if most_spare(problem, 1.001 * heights[least] * normals[least]) > 0.0:
        assert np.linalg.norm(found.shift) <= heights[least] * (1.0 + 1e-6)


@few
@given(polytopes, st.floats(0.01, 0.3))
def test_every_shift_found_is_valid(p, r):
    problem = model_of(p)
    found = learning_time(problem, r)
    if 0.0 < found.time < math.inf:
        assert most_spare(problem, found.shift * 1.001, r) < 1e-7
        assert most_spare(problem, found.shift) > -1e-7  # perhaps the last that leaves a policy


def test_within_is_kl_and_says_nothing_of_small_shares():
    p, delta = 0.4, 0.1
    kl = p * math.log(p / delta) + (1.0 - p) * math.log((1.0 - p) / (1.0 - delta))
    assert quantile_bound(3.0, 0.5, delta) == pytest.approx(3.0 * kl)
    assert quantile_bound(3.0, 1.0, delta) == pytest.approx(3.0 * needed_information(delta))
    assert quantile_bound(3.0, 0.2, delta) == 0.0
    assert quantile_bound(3.0, 0.5, 0.3) == 0.0
    assert quantile_bound(math.inf, 0.5, delta) == math.inf
