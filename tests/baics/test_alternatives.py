"""The inner problem, the lower bound and its allocation: certificates and cvxpy."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from bestarm.baics import reference
from bestarm.baics.alternatives import (
    NO_ARM,
    Problem,
    alternative_cost,
    alternative_within,
    best_feasible_arm,
    make_problem,
    nearest_alternative,
    nearest_swap,
    optimal_allocation,
    supergradient,
)

some = settings(max_examples=80)


@st.composite
def instances(draw, ties=False):
    """Means (K, L), weights q with zeros now and then, M; infeasible arms and round values."""
    n_arms, n_groups = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    elements = st.sampled_from([-0.5, 0.0, 0.25, 1.0]) if ties else st.floats(-1.5, 1.5, width=16)
    means = draw(npst.arrays(float, (n_arms, n_groups), elements=elements))
    q = draw(npst.arrays(float, n_groups, elements=st.sampled_from([0.0, 0.2, 0.5, 1.0])))
    assume(q.sum() > 0)
    return means, Problem(q / q.sum(), draw(st.integers(0, n_groups)))


@st.composite
def weights(draw, shape, positive):
    elements = (
        st.floats(1 / 64, 1.0, width=16) if positive else st.sampled_from([0.0, 0.0, 0.1, 0.7])
    )
    return draw(npst.arrays(float, shape, elements=elements))


def answer(means, problem):
    return best_feasible_arm(means, problem)


def swap(w, means, problem, b, k):
    shift = np.empty((2, problem.weights.size))
    return nearest_swap(w, means, problem, b, k, shift), shift


@some
@given(instances(ties=True))
def test_answer_is_the_definition(instance):
    means, problem = instance
    expected = reference.best_feasible_arm(means, *problem[:2])
    assert answer(means, problem) == (NO_ARM if expected is None else expected)


@given(st.data(), st.booleans())
def test_swap_is_the_best_active_set(data, ties):
    means, problem = data.draw(instances(ties))
    w = data.draw(weights(means.shape, positive=True))
    cost, shift = swap(w, means, problem, 0, 1)
    expected, expected_shift = reference.swap_by_enumeration(w, means, *problem[:2], 0, 1)
    assert cost == pytest.approx(expected, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(shift, expected_shift, atol=1e-6)


@some
@given(st.data(), st.booleans())
def test_swap_satisfies_its_constraints(data, positive):
    means, problem = data.draw(instances(ties=not positive))
    w = data.draw(weights(means.shape, positive))
    cost, shift = swap(w, means, problem, 0, 1)
    moved = means[:2] - shift
    assert problem.weights @ (moved[1] - moved[0]) >= -1e-9
    assert (moved[1, : problem.constrained] >= -1e-12).all()
    assert cost == pytest.approx((w[:2] * shift**2).sum(), abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("zeros", [False, True])
def test_swap_agrees_with_cvxpy(seed, zeros):
    """To 1e-6, what the solver gives; with weights of zero only the value is unique."""
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(1, 5))
    means = rng.normal(0, 1, (2, n_groups))
    w = rng.uniform(0.1, 1, (2, n_groups)) * (rng.random((2, n_groups)) < (0.6 if zeros else 2))
    problem = Problem(rng.dirichlet(np.ones(n_groups)), int(rng.integers(0, n_groups + 1)))
    cost, shift = swap(w, means, problem, 0, 1)
    expected, expected_shift = reference.swap_cost(w, means, *problem[:2], 0, 1)
    assert cost == pytest.approx(expected, abs=1e-6)
    if not zeros:
        np.testing.assert_allclose(shift, expected_shift, atol=1e-4)


@some
@given(st.data())
def test_zero_weights_take_the_limit(data):
    means, problem = data.draw(instances(ties=True))
    w = data.draw(weights(means.shape, positive=False))
    cost, shift = swap(w, means, problem, 0, 1)
    near_cost, near_shift = swap(w + 1e-9, means, problem, 0, 1)
    assert cost == pytest.approx(near_cost, abs=1e-7)
    np.testing.assert_allclose(shift, near_shift, atol=1e-6)


def test_swap_by_hand():
    """One subpopulation, equal weights: the two means meet halfway, at cost gap^2 / 2."""
    cost, shift = swap(np.ones((2, 1)), np.array([[1.0], [0.2]]), Problem(np.ones(1), 1), 0, 1)
    assert cost == pytest.approx(0.32)
    np.testing.assert_allclose(shift, [[0.4], [-0.4]])


def test_an_arm_of_higher_quality_only_has_to_become_feasible():
    means = np.array([[0.1, 0.1], [-0.3, 2.0]])
    cost, shift = swap(np.full((2, 2), 0.25), means, Problem(np.full(2, 0.5), 2), 0, 1)
    assert cost == pytest.approx(0.25 * 0.3**2)
    np.testing.assert_allclose(shift, [[0, 0], [-0.3, 0]])


@some
@given(st.data())
def test_costs_and_supergradients(data):
    """Each cost is c . w, and F lies below every such line (c is a supergradient)."""
    means, problem = data.draw(instances())
    b = answer(means, problem)
    assume(b != NO_ARM)
    w, v = (data.draw(weights(means.shape, positive=True)) for _ in range(2))
    shift, gradient = np.empty((2, means.shape[1])), np.empty(means.shape)
    expected = reference.alternatives(w, means, *problem[:2], b)
    costs = []
    for i in range(problem.constrained + len(means)):
        if i == problem.constrained + b:
            continue
        cost = alternative_cost(i, w, means, problem, b, shift)
        supergradient(i, means, problem, b, shift, gradient)
        assert cost == pytest.approx((gradient * w).sum(), rel=1e-9, abs=1e-12)
        there = alternative_cost(i, v, means, problem, b, shift)
        assert there <= (gradient * v).sum() + 1e-9
        costs.append(cost)
    np.testing.assert_allclose(costs, [c for c, _ in expected], rtol=1e-9, atol=1e-12)


@some
@given(st.data())
def test_early_exit_changes_nothing(data):
    means, problem = data.draw(instances())
    w = data.draw(weights(means.shape, positive=True))
    shift = np.empty((2, means.shape[1]))
    arguments = (w, means, problem, answer(means, problem), shift)
    least = nearest_alternative(*arguments)
    assert least == np.inf or alternative_within(least, *arguments) >= 0
    if 0 < least < np.inf:
        assert alternative_within(least * (1 - 1e-12), *arguments) == -1


def allocate(means, problem):
    w = np.empty(means.shape)
    return optimal_allocation(means, problem, answer(means, problem), w), w


@some
@given(instances())
def test_optimal_allocation_attains_its_value(instance):
    """Primal feasibility: w* is an allocation and F(w*) = 2 / T*."""
    means, problem = instance
    time, w = allocate(means, problem)
    assert w.sum() == pytest.approx(1.0, abs=1e-12)
    assert (w >= 0).all()
    shift = np.empty((2, means.shape[1]))
    value = nearest_alternative(w, means, problem, answer(means, problem), shift)
    if time < 1e9:  # beyond, distances are lost in the rounding of means
        assert value == pytest.approx(2 / time, rel=1e-6)


@some
@given(st.data())
def test_no_allocation_does_better(data):
    means, problem = data.draw(instances())
    w = data.draw(weights(means.shape, positive=True))
    time, _ = allocate(means, problem)
    shift = np.empty((2, means.shape[1]))
    value = nearest_alternative(w / w.sum(), means, problem, answer(means, problem), shift)
    assert value <= 2 / time + 1e-9


def random_instance(seed):
    """Infeasible arms, weights of zero, no feasible arm; redrawn where T* > 1e6, as the general
    solver then loses the digits that are compared."""
    rng = np.random.default_rng([2023, seed])
    while True:
        n_arms, n_groups = int(rng.integers(2, 6)), int(rng.integers(1, 5))
        means = rng.normal(0.3, 0.7, (n_arms, n_groups))
        q = rng.dirichlet(np.ones(n_groups))
        if seed % 4 == 0 and n_groups > 1:
            q[rng.integers(n_groups)] = 0.0
        constrained = int(rng.integers(0, n_groups + 1))
        if seed % 5 == 0 and constrained:
            means[:, 0] -= 2.0
        problem = Problem(q / q.sum(), constrained)
        if allocate(means, problem)[0] < 1e6:
            return means, problem


@pytest.mark.parametrize("seed", range(40))
def test_bound_agrees_with_cvxpy(seed):
    """To 1e-6 relative."""
    means, problem = random_instance(seed)
    expected = reference.characteristic_time(means, *problem[:2])
    assert allocate(means, problem)[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_unequal_sigma_against_programs_in_the_rewards_own_unit(seed):
    """Swaps and T* of means over sigma, and of pulls over variances, to 1e-6."""
    means, problem = random_instance(seed)
    q, m = problem[:2]
    rng = np.random.default_rng(seed)
    sigma = rng.uniform(0.2, 2.0, means.shape)
    problem = make_problem(q, m, sigma)
    w = rng.uniform(0.1, 1.0, means.shape)
    cost, shift = swap(w, means / sigma, problem, 0, 1)
    expected, expected_shift = reference.swap_by_enumeration(w / sigma**2, means, q, m, 0, 1)
    assert cost == pytest.approx(expected, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(shift * sigma[:2], expected_shift, atol=1e-6)
    time, allocation = allocate(means / sigma, problem)
    right = reference.best_feasible_arm(means, q, m)
    assert answer(means / sigma, problem) == (NO_ARM if right is None else right)
    assert time == pytest.approx(reference.characteristic_time(means, q, m, sigma), rel=1e-6)
    assert allocation.sum() == pytest.approx(1.0)


@some
@given(instances(), st.floats(0.1, 4.0))
def test_scaling_the_means(instance, scale):
    means, problem = instance
    time, w = allocate(means, problem)
    assume(time < 1e6)
    scaled_time, scaled_w = allocate(scale * means, problem)
    assert scaled_time == pytest.approx(time / scale**2, rel=1e-8)
    np.testing.assert_allclose(scaled_w, w, atol=1e-6)


@some
@given(instances(), st.randoms(use_true_random=False))
def test_permuting_the_arms(instance, random):
    means, problem = instance
    order = list(range(len(means)))
    random.shuffle(order)
    time, w = allocate(means, problem)
    assume(time < 1e6)
    moved_time, moved_w = allocate(means[order], problem)
    assert moved_time == pytest.approx(time, rel=1e-8)
    np.testing.assert_allclose(moved_w, w[order], atol=1e-6)


@some
@given(instances(ties=True))
def test_infinite_exactly_where_an_alternative_is_at_distance_zero(instance):
    means, problem = instance
    b = answer(means, problem)
    time, w = allocate(means, problem)
    touching = False
    if b != NO_ARM:
        costs = reference.alternatives(np.ones(means.shape), means, *problem[:2], b)
        touching = min(cost for cost, _ in costs) < 1e-20
    assert (time == np.inf) == touching
    assert w.sum() == pytest.approx(1.0)


def test_without_constraints_it_is_plain_identification():
    """M = 0 and two arms of one subpopulation: T* = 8 sigma^2 / gap^2."""
    time, w = allocate(np.array([[1.0], [0.6]]), Problem(np.ones(1), 0))
    assert time == pytest.approx(8 / 0.4**2)
    np.testing.assert_allclose(w, 0.5)


def test_subpopulations_of_plain_identification_share_in_proportion_to_q():
    q = np.array([0.2, 0.3, 0.5])
    time, w = allocate(np.array([[1.0, 0.0, 1.0], [0.2, 0.5, 0.1]]), Problem(q, 0))
    np.testing.assert_allclose(w[0] / w[0].sum(), q)
    gap = q @ [0.8, -0.5, 0.9]
    assert time == pytest.approx(8 / gap**2)


def test_closed_form_when_no_arm_is_feasible():
    """Eq. (7): the worst violation of each arm, in proportion to its inverse square."""
    time, w = allocate(np.array([[-1.0, -0.5], [3.0, -0.5]]), Problem(np.full(2, 0.5), 2))
    np.testing.assert_allclose(w, [[0.2, 0.0], [0.0, 0.8]])
    assert time == pytest.approx(2 * (1 + 4))
