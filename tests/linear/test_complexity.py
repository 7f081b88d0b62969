"""H_LB, its bounds, M*, and the fixed points N* and M*."""

import math

import numpy as np
import pytest

from bestarm.linear import reference
from bestarm.linear.complexity import complexity, cone_scale, pulls_until
from bestarm.linear.confidence import radius
from bestarm.linear.problem import paper_instance, truth
from linear.instances import WIDTHS, drawn, oracle_directions, pair_directions

SIZES = [(2, 3), (2, 6), (3, 4), (3, 8), (5, 7)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_lemma_2_as_derived_here(size):
    for seed in range(3):
        arms, _, means = drawn(seed, *size)
        known = complexity(arms, means)
        assert known.lower <= known.h_lb <= known.upper
        wanted = reference.design_value(arms, oracle_directions(arms, means))
        assert known.h_lb == pytest.approx(wanted, rel=1e-6)
        assert known.g_value == pytest.approx(size[0], rel=1e-7)
        wanted = reference.design_value(arms, pair_directions(arms))
        assert known.xy_value == pytest.approx(wanted, rel=1e-6)
        assert known.xy_value <= 4.0 * known.g_value


def test_bounds_by_hand():
    """e_1 / 2, e_2, 0 and means 3, 1, 0: squared lengths of y 5/4 and 1/4, gaps 2 and 3, L = 1."""
    arms, means = np.array([[0.5, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([3.0, 1.0, 0.0])
    known = complexity(arms, means)
    assert known.lower == pytest.approx(1.25 / 4.0)
    assert known.printed_lower == pytest.approx(1.25 / 4.0)
    assert known.upper == pytest.approx(4.0 * 2 / 4.0)
    scaled = complexity(2.0 * arms, means)
    assert scaled.h_lb == pytest.approx(known.h_lb)
    assert scaled.lower == pytest.approx(known.lower)  # y^2 / L^2 knows no scale
    assert scaled.printed_lower == pytest.approx(2.0 * known.printed_lower)


def test_the_printed_lower_bound_is_not_one():
    """At d = 5: the longest y is not the one of the least gap."""
    known = truth(paper_instance(5)).complexity
    assert known.printed_lower > 1.5 * known.h_lb
    assert known.lower <= known.h_lb <= known.upper


@pytest.mark.parametrize("n_arms", [3, 6, 10])
def test_canonical_basis_is_the_multi_armed_bandit(n_arms):
    """Lemma 2: H_MAB <= H_LB <= 2 H_MAB."""
    for seed in range(5):
        means = np.random.default_rng(seed).normal(size=n_arms)
        gaps = np.sort(means.max() - means)[1:]
        h_mab = gaps[0] ** -2.0 + (gaps**-2.0).sum()
        h_lb = complexity(np.eye(n_arms), means).h_lb
        assert h_mab * (1.0 - 1e-7) <= h_lb <= 2.0 * h_mab * (1.0 + 1e-7)


def test_two_canonical_arms_by_hand():
    """1/lambda + 1/(1 - lambda) is least at 1/2: H_LB = 4 / gap^2, which is 2 H_MAB."""
    assert complexity(np.eye(2), np.array([0.0, 0.5])).h_lb == pytest.approx(16.0, rel=1e-7)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_cone_scale_is_that_of_a_direct_program(size):
    for seed in range(2):
        arms, theta, means = drawn(seed, *size)
        design = np.array(complexity(arms, means).xy_design)
        found = cone_scale(arms, means, design)
        wanted = reference.cone_scale(arms, theta, design)
        assert found == pytest.approx(wanted, rel=1e-5)


def test_cone_scale_is_where_a_grid_of_parameters_has_it():
    """The least s of S*(s) over a grid of parameters that have two suboptimal arms near the top."""
    arms, theta, means = drawn(3, 2, 4)
    design = np.array(complexity(arms, means).xy_design)
    best = int(np.argmax(means))
    inverse = np.linalg.inv(reference.design_matrix(arms, design))
    axis = np.linspace(-8.0, 8.0, 1601)
    grid = theta + np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    y = arms[best] - np.delete(arms, best, axis=0)
    s = ((theta - grid) @ y.T / np.sqrt(reference.squared(inverse, y))).max(axis=1)
    others = np.sort(np.delete(grid @ arms.T, best, axis=1), axis=1)
    border = (others[:, -1] >= grid @ arms[best]) & (others[:, -1] - others[:, -2] <= 0.02)
    assert cone_scale(arms, means, design) == pytest.approx(s[border].min(), rel=0.05)


def test_two_arms_have_no_border_between_suboptimal_ones():
    assert math.isinf(cone_scale(np.eye(2), np.array([1.0, 0.0]), np.full(2, 0.5)))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("hardness", [3.0, 1e3, 1e7])
def test_pulls_until_is_where_the_width_is_met(width, hardness):
    """n = hardness C(n)^2, from which on n is larger."""
    n = pulls_until(hardness, WIDTHS[width])
    assert n == pytest.approx(hardness * radius(WIDTHS[width], n) ** 2, rel=1e-9)
    for later in (1.01, 2.0, 100.0):
        assert n * later > hardness * radius(WIDTHS[width], n * later) ** 2
