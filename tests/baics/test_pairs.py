"""E-values of pairs: bounds that hold and are the best there are, coefficients of the past."""

import math
from fractions import Fraction

import numpy as np
import pytest

from bestarm.baics import reference_e_values as reference
from bestarm.baics.alternatives import best_feasible_arm, make_problem, nearest_swap
from bestarm.baics.e_values import UNKNOWN, log_unknown_pair
from bestarm.baics.pairs import (
    HORIZON,
    LARGEST,
    PRIOR_PULLS,
    Buffers,
    lower_bound,
    make_pairs,
    plan,
    point_of_cone,
)
from bestarm.baics.problem import Instance
from bestarm.baics.steps import log_e_value
from bestarm.baics.strategies import steps
from bestarm.common.paper import Cell
from bestarm.core.streams import run_streams

LEVEL = math.log(2000.0)
INSTANCE = Instance(
    name="example1",
    means=[[0.2, 0.6, 0.8], [0.4, 0.4, 0.3], [-0.2, 1.0, 1.5]],
    weights=[0.2, 0.3, 0.5],
)


def buffers(n_groups):
    return Buffers(*(np.zeros((2, n_groups)) for _ in range(3)))


def drawn(seed, n_groups=4):
    """Two arms, the first of them the answer; W near the cone, as coefficients keep it, or not.

    Of every second seed sigma differs by arm and subpopulation.

    Pulls are so few that the ellipsoid holds instances in which the second is to be the answer.
    """
    rng = np.random.default_rng(seed)
    problem = make_problem(
        rng.dirichlet(np.ones(n_groups)),
        3,
        rng.uniform(0.3, 1.0, (2, n_groups)) if seed % 2 else np.ones((2, n_groups)),
    )
    pulls = rng.integers(5, 80, (2, n_groups)).astype(float)
    means = rng.normal(0.3, 0.4, (2, n_groups))
    means[0] = np.abs(means[0]) + 0.2
    while best_feasible_arm(means, problem) != 0:
        means[1] -= 0.1
    pairs = make_pairs(2, n_groups)
    theta, s = rng.uniform(0, 100), rng.uniform(0, 30, n_groups) * (rng.random(n_groups) < 0.3)
    s[problem.constrained :] = 0.0
    of_answer, of_challenger = rows_of(problem)[0]
    inside = np.array([-theta * of_answer, theta * of_challenger + s])
    pairs.moved[0, 1] = inside + rng.normal(0, (0.3, 1.0, 10.0)[seed % 3], (2, n_groups))
    pairs.drift[0, 1] = (pairs.moved[0, 1] * means).sum() + rng.normal()
    return pairs, pulls, means, problem


def rows_of(problem):
    """Weights of the means of both arms in their qualities, and M, as the references take them."""
    scale = np.ones((2, problem.weights.size)) if problem.scale.size == 0 else problem.scale
    return problem.weights * scale, problem.constrained


def beta_of(pulls):
    return LEVEL + reference.half_log(pulls.ravel(), PRIOR_PULLS)


def test_the_bound_is_nearly_the_best_of_its_cone():
    """Never above the optimum of the program, and mostly as near as a few rounds come."""
    gaps = []
    for seed in range(30):
        pairs, pulls, means, problem = drawn(seed)
        found = lower_bound(pairs, LEVEL, pulls, means, problem, 0, 1, buffers(4))
        shrunk, beta = pulls**2 / (pulls + PRIOR_PULLS), beta_of(pulls)
        program = reference.best_bound(pairs.moved[0, 1], shrunk, means, *rows_of(problem), beta)
        best = program - pairs.drift[0, 1]
        gaps.append((best - found) / (1 + abs(best)))
    assert min(gaps) > -1e-6
    assert np.quantile(gaps, 0.8) < 0.01


@pytest.mark.parametrize("seed", range(12))
def test_the_best_of_the_cone_is_the_worst_instance(seed):
    """The two sides of the bound, by two programs: the second derivation of docs/guarantees.md."""
    pairs, pulls, means, problem = drawn(seed)
    parts = (
        pairs.moved[0, 1],
        pulls**2 / (pulls + PRIOR_PULLS),
        means,
        *rows_of(problem),
        beta_of(pulls),
    )
    best, worst = reference.best_bound(*parts), reference.worst_instance(*parts)
    assert best == pytest.approx(worst, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_holds_for_instances_of_its_kind_that_are_near(seed):
    """Random ones with arm 2 feasible and as good as arm 1, at the edge of the ellipsoid."""
    pairs, pulls, means, problem = drawn(seed)
    found = lower_bound(pairs, LEVEL, pulls, means, problem, 0, 1, buffers(4))
    shrunk, beta = pulls**2 / (pulls + PRIOR_PULLS), beta_of(pulls)
    rng, tried = np.random.default_rng(1000 + seed), 0
    for _ in range(1000):
        aside = rng.normal(size=means.shape)
        aside[0] -= rng.uniform(0, 3) * problem.weights  # towards the kind
        aside[1] += rng.uniform(0, 3) * problem.weights
        lam = means + aside * np.sqrt(2 * beta / (shrunk * aside**2).sum())
        q, m = rows_of(problem)
        if (lam[1, :m] >= 0.0).all() and q[1] @ lam[1] >= q[0] @ lam[0]:
            tried += 1
            truth = (pairs.moved[0, 1] * lam).sum() - pairs.drift[0, 1]
            assert truth >= found - 1e-9 * (1 + abs(truth))
    assert tried > 0


@pytest.mark.parametrize("offset", [0.0, 1e8, 1e10])
def test_means_far_from_0_do_not_raise_the_bound(offset):
    """If all means are higher by as much, so is the best bound by offset sum W, less Y.

    The program is solved at offset 0, and the rest added exactly. What may be missing is the
    rounding of products W mu^, each by one part in 2^53, and of their sum.
    """
    for seed in range(0, 30, 2):
        pairs, pulls, means, problem = drawn(seed)
        problem = problem._replace(constrained=0)
        means = np.round(means * 2**16) / 2**16  # with any offset still a float
        moved, shrunk = pairs.moved[0, 1], pulls**2 / (pulls + PRIOR_PULLS)
        near_0 = reference.best_bound(moved, shrunk, means, *rows_of(problem), beta_of(pulls))
        pairs.drift[0, 1] = (moved * (means + offset)).sum()
        found = lower_bound(pairs, LEVEL, pulls, means + offset, problem, 0, 1, buffers(4))
        raised = Fraction(offset) * sum(map(Fraction, moved.ravel().tolist()))
        best = near_0 + float(raised - Fraction(float(pairs.drift[0, 1])))
        rounding = 16 * 2.0**-53 * (np.abs(moved) * np.abs(means + offset)).sum()
        assert found <= best + 1e-6 * (1 + abs(best)) + rounding


@pytest.mark.parametrize("offset", [0.0, 1e8, 1e12])
@pytest.mark.parametrize("seed", range(12))
def test_a_point_is_in_the_cone_at_any_means(seed, offset):
    """By exact arithmetic, but for the one rounding of every theta q; and it is -w shift."""
    _, pulls, means, problem = drawn(seed)
    means[1] -= 2.0 * (seed % 3)  # some are raised to 0, where there is no offset
    found, q = buffers(4), rows_of(problem)[0]
    found.weights[:], found.means[:] = pulls, means + offset * problem.weights / q
    nearest_swap(found.weights, found.means, problem, 0, 1, found.shift)
    by_difference = -pulls * found.shift
    point_of_cone(problem, 0, 1, found)
    if offset == 0.0:
        np.testing.assert_allclose(found.shift, by_difference, atol=1e-12)
    of_answer, of_challenger = ([Fraction(x) for x in row] for row in found.shift.tolist())
    largest = int(np.argmax(problem.weights))
    theta = -of_answer[largest] / Fraction(float(q[0, largest]))
    assert theta > 0
    for l in range(4):
        at_b, at_k = (theta * Fraction(float(row[l])) for row in q)
        assert abs(of_answer[l] + at_b) <= at_b / 2**51
        if l < problem.constrained:
            assert of_challenger[l] >= at_k * (1 - Fraction(1, 2**51))
        else:
            assert abs(of_challenger[l] - at_k) <= at_k / 2**51


@pytest.mark.parametrize("sigma", ["known", "unknown"])
def test_evidence_is_that_of_the_same_rewards_nearer_to_0(sigma):
    """Rewards that are higher by 1e8, as exactly as floats hold them, are no more evidence."""
    reading = "maximiser+proven" + "-unknown-sigma" * (sigma == "unknown")
    instance = Instance(
        name="x", means=[[0.9, 0.8], [0.4, 0.3], [1.0, 0.5]], weights=[0.4, 0.6], constrained=0
    )
    strategy, rules, world, _ = steps(instance, Cell("x", "T-a-SCS", {"delta": 1e-9}, reading))
    streams, states = run_streams(7, 1), [strategy.start(rules) for _ in range(2)]
    for _ in range(1500):
        pair = int(strategy.choose(rules, states[0], streams.coins))
        reward = strategy.pull(world, states[0], pair, streams.environment)
        reward = round(reward * 1024) / 1024
        for state, offset in zip(states, (0.0, 1e8), strict=True):
            strategy.observe(rules, state, pair, offset + reward)
    near, far = ([evidence_of(rules, state, k) for k in range(3)] for state in states)
    assert np.isfinite(near).sum() == 2
    assert far == pytest.approx(near, abs=1e-3)


def evidence_of(rules, state, k):
    """ln of the directed evidence of the answer over arm k."""
    best = int(state.answer[0])
    if k == best:
        return math.inf
    if rules.stopping == UNKNOWN:
        data = (state.e_values, state.pulls, state.means, rules.problem, best)
        return log_unknown_pair(LEVEL, *data, k)
    return log_e_value(rules, state, k)


@pytest.mark.parametrize("seed", range(20))
def test_coefficients_solve_their_program(seed):
    pairs, pulls, means, problem = drawn(seed)
    plan(pairs, 100, pulls, means, problem, 0, buffers(4))
    swap = nearest_swap(pulls, means, problem, 0, 1, np.zeros((2, 4)))
    tilt, more = math.sqrt(swap / pulls.sum()), HORIZON * pulls
    expected = reference.best_coefficients(pairs.moved[0, 1], more, means, *rows_of(problem), tilt)
    expected = np.clip(expected, -LARGEST, LARGEST)
    np.testing.assert_allclose(pairs.coefficients[1], expected, atol=2e-4)
    assert (pairs.planned[0], pairs.next_plan[0]) == (0, 104)


def test_coefficients_wait_until_they_are_due_or_the_answer_changes():
    pairs, pulls, means, problem = drawn(3)
    plan(pairs, 100, pulls, means, problem, 0, buffers(4))
    first = pairs.coefficients.copy()
    pairs.moved[:] = 0.0
    plan(pairs, 103, pulls, means, problem, 0, buffers(4))
    np.testing.assert_array_equal(pairs.coefficients, first)
    plan(pairs, 104, pulls, means, problem, 0, buffers(4))
    assert (pairs.coefficients[1] != first[1]).any()
    plan(pairs, 105, pulls, means[::-1].copy(), problem, 1, buffers(4))
    assert (pairs.planned[0], pairs.next_plan[0]) == (1, 109)


def played(last_reward):
    """A run of 300 pulls whose last reward is given: its state."""
    cell = Cell("example1", "T-a-SCS", {"delta": 1e-9}, "maximiser+proven")
    strategy, rules, world, _ = steps(INSTANCE, cell)
    streams, state = run_streams(7, 1), strategy.start(rules)
    for t in range(300):
        pair = strategy.choose(rules, state, streams.coins)
        drawn_reward = world.means.flat[pair] + streams.environment.standard_normal()
        before = state.e_values.pairs.drift.copy()
        strategy.observe(rules, state, pair, last_reward if t == 299 else drawn_reward)
    return state, before


def test_a_coefficient_does_not_depend_on_the_reward_it_multiplies():
    """W and Q after a pull are those of any other reward; Y differs in proportion to it."""
    states, before = zip(*(played(reward) for reward in (0.0, 1.0, 50.0)), strict=True)
    zero, one, fifty = (state.e_values.pairs for state in states)
    for other in (one, fifty):
        np.testing.assert_array_equal(other.moved, zero.moved)
        np.testing.assert_array_equal(other.variance, zero.variance)
    np.testing.assert_array_equal(zero.drift, before[0])
    c = one.drift - zero.drift
    assert (c != 0.0).any()
    np.testing.assert_allclose(fifty.drift - zero.drift, 50.0 * c, atol=1e-9)


def test_sums_are_those_of_all_pulls():
    """W, Y and Q of a run, added up by hand from the coefficients before each pull.

    The answer changes, comes back and is none for a time: sums are kept all the while.
    """
    instance = Instance(name="tied", means=[[0.2] * 3] * 3, weights=[1.0] * 3)
    cell = Cell("tied", "T-a-SCS", {"delta": 1e-9}, "maximiser+proven")
    strategy, rules, world, _ = steps(instance, cell)
    streams, state = run_streams(7, 2), strategy.start(rules)
    moved, drift, variance = np.zeros((3, 3, 2, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    answers, planned = set(), [-1]
    for _ in range(400):
        pair = strategy.choose(rules, state, streams.coins)
        reward = world.means.flat[pair] + streams.environment.standard_normal()
        (arm, l), b = divmod(int(pair), 3), int(state.e_values.pairs.planned[0])
        for k in range(3):
            if b >= 0 and k != b and arm in (b, k):
                row = int(arm == k)
                c = state.e_values.pairs.coefficients[k, row, l]
                moved[b, k, row, l] += c
                drift[b, k] += c * reward
                variance[b, k] += c * c
        strategy.observe(rules, state, pair, reward)
        if state.pulls.all():
            answers.add(int(state.answer[0]))
        planned += [b] * (b != planned[-1])
    found = state.e_values.pairs
    np.testing.assert_allclose(found.moved, moved, atol=1e-12)
    np.testing.assert_allclose(found.drift, drift, atol=1e-12)
    np.testing.assert_allclose(found.variance, variance, atol=1e-12)
    assert len(set(planned)) < len(planned)
    assert answers == {-1, 0, 1, 2}
