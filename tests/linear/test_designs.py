"""Optimal designs: against a semidefinite program, closed forms, and the rounding of Appendix C."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestarm.linear import designs as module
from bestarm.linear import reference
from bestarm.linear.designs import optimal_design, round_design
from bestarm.linear.problem import span_basis
from linear.instances import drawn, oracle_directions, pair_directions

DIRECTIONS = {
    "G": lambda arms, means: arms,
    "XY": lambda arms, means: pair_directions(arms),
    "oracle": oracle_directions,
    "single": lambda arms, means: (arms[0] - arms[1])[None],
}
SIZES = [(1, 3), (2, 3), (2, 8), (3, 5), (4, 10), (5, 6)]


def uncertainty(arms, directions, weights):
    """max_y y^T Lambda^-1 y."""
    inverse = np.linalg.inv(reference.design_matrix(arms, weights))
    return reference.squared(inverse, directions).max()


@cache
def general_solver(kind, size, seed):
    """The optimal value."""
    arms, _, means = drawn(seed, *size)
    directions = DIRECTIONS[kind](arms, means)
    if kind == "single":
        return reference.single_value(arms, directions[0])
    return reference.design_value(arms, directions)


@pytest.fixture(params=["whole", "by parts"])
def solver(request, monkeypatch):
    """Solves problems of any size as a whole, or by parts of which even small ones need several."""
    monkeypatch.setattr(module, "WHOLE", 10**9 if request.param == "whole" else 0)
    monkeypatch.setattr(module, "ADDED", 1)


@pytest.mark.parametrize("kind", DIRECTIONS)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.usefixtures("solver")
class TestOptimum:
    def test_value_is_that_of_a_general_solver(self, kind, size):
        for seed in range(2):
            arms, _, means = drawn(seed, *size)
            directions = DIRECTIONS[kind](arms, means)
            found = optimal_design(arms, directions)
            wanted = general_solver(kind, size, seed)
            assert found.value == pytest.approx(wanted, rel=1e-6)
            assert found.bound == pytest.approx(wanted, rel=1e-6)
            assert -1e-12 <= found.value / found.bound - 1.0 <= 2e-8

    def test_value_is_that_of_the_weights(self, kind, size):
        for seed in range(3):
            arms, _, means = drawn(seed, *size)
            directions = DIRECTIONS[kind](arms, means)
            found = optimal_design(arms, directions)
            assert found.weights.min() >= 0.0
            assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
            if kind != "single":
                value = uncertainty(arms, directions, found.weights)
                assert value == pytest.approx(found.value, rel=1e-5)

    def test_scales_of_the_coordinates_change_nothing(self, kind, size):
        """y^T Lambda^-1 y is the same for S y and S Lambda S^T."""
        arms, _, means = drawn(7, *size)
        directions = DIRECTIONS[kind](arms, means)
        scales = 10.0 ** np.linspace(-3.0, 3.0, size[0])
        found = optimal_design(arms, directions)
        scaled = optimal_design(arms * scales, directions * scales)
        assert scaled.value == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_kiefer_and_wolfowitz(size):
    """The G-optimal value is d, and its design is the D-optimal one."""
    for seed in range(3):
        arms = drawn(seed, *size).arms
        found = optimal_design(arms, arms)
        assert found.value == pytest.approx(size[0], rel=1e-7)
        _, log_det = np.linalg.slogdet(reference.design_matrix(arms, found.weights))
        assert log_det == pytest.approx(reference.largest_log_det(arms), abs=1e-6)


def test_a_design_that_is_not_optimal_has_a_smaller_log_det():
    arms = drawn(0, 3, 6).arms
    _, log_det = np.linalg.slogdet(arms.T @ arms / 6.0)
    assert log_det < reference.largest_log_det(arms) - 1e-3


@pytest.mark.parametrize("eps", [1.0, 0.3, 1e-2, 1e-3])
def test_first_example_of_appendix_a(eps):
    """Arms (1, eps/2) and (1, -eps/2): G is 2, and XY 4, whatever eps."""
    arms = np.array([[1.0, eps / 2.0], [1.0, -eps / 2.0]])
    assert optimal_design(arms, arms).value == pytest.approx(2.0, rel=1e-7)
    assert optimal_design(arms, pair_directions(arms)).value == pytest.approx(4.0, rel=1e-7)


@pytest.mark.parametrize("eps", [0.5, 1e-2, 1e-4])
def test_second_example_of_appendix_a(eps):
    """Arms (1, 0) and (1 - eps, 0) on their span: G is 1, and XY eps^2."""
    arms = np.array([[1.0, 0.0], [1.0 - eps, 0.0]])
    arms = arms @ span_basis(arms)
    assert arms.shape == (2, 1)
    assert optimal_design(arms, arms).value == pytest.approx(1.0, rel=1e-7)
    assert optimal_design(arms, pair_directions(arms)).value == pytest.approx(eps**2, rel=1e-7)


class TestManyArms:
    """Problems above WHOLE are solved by parts."""

    @pytest.mark.parametrize(("n_arms", "d"), [(120, 2), (200, 5)])
    def test_the_certificate_holds_on_all_arms_and_directions(self, n_arms, d):
        arms = drawn(0, d, n_arms).arms
        directions = pair_directions(arms)
        found = optimal_design(arms, directions)
        assert found.value == pytest.approx(uncertainty(arms, directions, found.weights), rel=2e-6)
        assert -1e-12 <= found.value / found.bound - 1.0 <= 2e-8

    def test_parts_stay_small(self, monkeypatch):
        """What a start of RAGE takes: K = 200 arms have 19,900 directions."""
        sizes, solve = [], module._solve
        monkeypatch.setattr(
            module, "_solve", lambda *of: sizes.append((len(of[0]), len(of[1]))) or solve(*of)
        )
        arms = drawn(0, 5, 200).arms
        optimal_design(arms, pair_directions(arms))
        assert 2 <= len(sizes) <= 10
        assert max(map(max, sizes)) < 200

    @pytest.mark.parametrize("kind", ["G", "XY", "oracle"])
    def test_arms_that_lie_close_together(self, kind):
        """All but one arm lie within 10^-4, which the method for the whole does not solve."""
        rng = np.random.default_rng(0)
        arms = rng.normal(size=(120, 4))
        arms[1:] = arms[1] + 1e-4 * arms[1:]
        directions = DIRECTIONS[kind](arms, arms @ rng.normal(size=4))
        found = module._solve_by_parts(arms, directions, 1e-8)
        value = uncertainty(arms, directions, found.weights)
        assert value == pytest.approx(found.value, rel=1e-5)
        assert -1e-12 <= found.value / found.bound - 1.0 <= 2e-8


def test_a_small_weight_that_matters_is_kept():
    """Directions e_1 and e_2 / 10^4: weights 1 and 10^-8 to within 10^-8, and value 1 + 10^-8."""
    arms, directions = np.eye(2), np.diag([1.0, 1e-4])
    found = optimal_design(arms, directions)
    assert found.weights.min() > 0.0
    value = uncertainty(arms, directions, found.weights)
    assert value == pytest.approx(found.value, rel=1e-6)


@st.composite
def designs(draw):
    """Weights over up to 12 arms, some 0 and some small, and a number of pulls."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    p, zeros = draw(st.integers(1, 9)), draw(st.integers(0, 3))
    weights = rng.permutation(
        [*rng.dirichlet(np.full(p, draw(st.floats(0.1, 5.0)))), *[0.0] * zeros]
    )
    return weights, draw(st.integers(np.count_nonzero(weights), 400))


@given(designs())
def test_rounding_adds_up_and_keeps_the_support(design):
    weights, n = design
    counts = round_design(weights, n)
    assert counts.sum() == n
    np.testing.assert_array_equal(counts > 0, weights > 0.0)


@given(designs())
def test_rounding_loses_at_most_what_pukelsheim_says(design):
    """n_i >= (n - p) lambda_i, so Lambda_n >= (1 - p/n) Lambda in every direction."""
    weights, n = design
    p = np.count_nonzero(weights)
    assert (round_design(weights, n) >= (n - p) * weights * (1.0 - 1e-12)).all()


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.sampled_from(SIZES), st.sampled_from(["G", "XY", "oracle"]))
def test_uncertainty_after_rounding_is_bounded(seed, size, kind):
    """max_y y^T (A/n)^-1 y <= value / (1 - p/n) of the optimal design, for every n > p."""
    arms, _, means = drawn(seed, *size)
    directions = DIRECTIONS[kind](arms, means)
    found = optimal_design(arms, directions)
    p = np.count_nonzero(found.weights)
    for n in (p + 1, 2 * p, 5 * p + 3, 40 * p + 1):
        counts = round_design(found.weights, n)
        lost = uncertainty(arms, directions, counts / n) / uncertainty(
            arms, directions, found.weights
        )
        assert lost <= (1.0 + 1e-9) / (1.0 - p / n)


def test_lemma_5_is_not_true_as_printed():
    """Its 1 + p/n: of e_1, e_2/10 and e_3/10 the best 4 pulls are (2, 1, 1), and 2 > 1 + 3/4.

    Every allocation needs a pull of each arm, so that this is the best one, not only the rounded.
    """
    arms, directions, n = np.eye(3), np.diag([1.0, 0.1, 0.1]), 4
    found = optimal_design(arms, directions)
    assert found.value == pytest.approx(1.02, rel=1e-7)
    counts = round_design(found.weights, n)
    assert counts.tolist() == [2, 1, 1]
    assert uncertainty(arms, directions, counts / n) > (1.0 + 3.0 / n) * found.value


@given(designs())
def test_one_pull_more_is_one_arm_more(design):
    """Appendix C, for weights without ties."""
    weights, n = design
    more = round_design(weights, n + 1) - round_design(weights, n)
    assert more.sum() == 1
    assert more.min() >= 0


def test_one_pull_more_is_one_arm_more_where_arms_tie():
    for p in (2, 3, 4):
        counts = np.array([round_design(np.full(p, 1.0 / p), n) for n in range(p, 30)])
        assert np.diff(counts, axis=0).min() == 0


def test_rounding_by_hand():
    """(n - p/2) lambda = (3.4, 2.55, 2.55), rounded up (4, 3, 3)."""
    assert round_design(np.array([0.4, 0.0, 0.3, 0.3]), 10).tolist() == [4, 0, 3, 3]


def test_fewer_pulls_than_the_support_are_refused():
    with pytest.raises(ValueError, match="at least 3"):
        round_design(np.array([0.2, 0.3, 0.5]), 2)
