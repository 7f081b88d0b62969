"""Our SLSQP against SciPy's minimize: every bit of the point, and whether it is content."""

import platform

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize

from bestarm.lagex.reference import nearest_ties
from bestarm.lagex.released.slsqp import (
    TOLERANCE,
    WIDTH,
    Region,
    forward_points,
    gradient,
    minimum,
    total,
)
from bestarm.lagex.released.solvers import (
    PRECISION,
    AffineObjective,
    Lagrangian,
    Move,
    RoundFailure,
    multiplier,
    neighbour_game,
    project,
    simplex_rows,
)

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="other processors add in another order"
)

#: The kernels take minutes to compile.
pytestmark = pytest.mark.long


def multipliers():
    """Positive, zero and negative."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        d = int(rng.integers(1, 4))
        slacks = rng.normal(size=d) * 10.0 ** rng.uniform(-6, 1)
        value = rng.choice([0.0, 10.0 ** rng.uniform(-16, 1)])
        price = Lagrangian(
            np.zeros((d, 3)), np.zeros(d), rng.normal(size=d), rng.choice([-1.0, 1.0])
        )
        most = value / ((price.sign * slacks).min() + PRECISION)
        row = np.ones((1, d))
        both = np.vstack([row, -row])
        limits = {"type": "ineq", "jac": lambda l, both=both: both}
        limits["fun"] = lambda l, row=row, most=most: np.array(
            [row.dot(l)[0], most - row.dot(l)[0]]
        )
        if most == 0.0:
            limits = {"type": "eq", "fun": lambda l, row=row: row.dot(l)}
            limits["jac"] = lambda l, row=row: row
        theirs = minimize(
            lambda l, value=value, slacks=slacks: value + l.dot(slacks),
            price.start,
            bounds=Bounds(np.zeros(d), np.full(d, np.inf)),
            constraints=limits,
            method="SLSQP",
        )
        np.testing.assert_array_equal(multiplier(value, slacks, price), theirs.x)


def projections(k):
    rng = np.random.default_rng(k)
    for _ in range(8):
        point, rows = rng.dirichlet(np.ones(k)), rng.normal(size=(2, k))
        limits = rows.mean(axis=1) + rng.uniform(-0.1, 0.3, 2)
        left, right = simplex_rows(k)
        left = np.concatenate([rows, np.eye(k), left])
        right = np.concatenate([limits, np.ones(k), right])
        theirs = minimize(
            lambda x, point=point: np.linalg.norm(x - point) ** 2,
            np.ones(k) / k,
            constraints=LinearConstraint(left, ub=right),
        )
        try:
            np.testing.assert_array_equal(project(point, rows, limits), theirs.x)
        except RoundFailure:
            assert abs(theirs.x.sum() - 1.0) > 1e-5


def steps_of_adagrad(k):
    """The distance has a kink, and is flat where all entries of the move are negative."""
    rng = np.random.default_rng(k)
    region = simplex_rows(k)
    for centre in np.repeat([-0.3, 0.0, 0.3], 4):
        before, move = rng.dirichlet(np.ones(k)), rng.normal(centre, 0.2, k)
        theirs = minimize(
            lambda x, before=before, move=move: np.abs(x - before + move).sum(),
            before,
            constraints=LinearConstraint(region[0], ub=region[1]),
        )
        ours = minimum(Move(before, move), before, Region.below(*region), TOLERANCE)
        np.testing.assert_array_equal(ours.x, theirs.x)
        assert ours.success == theirs.success


def games_in_a_box(k, sums, tolerance):
    rng = np.random.default_rng(k)
    for _ in range(4):
        (policy, *others), means = rng.dirichlet(np.ones(k), 5), rng.normal(size=k)
        others, start, rows = np.array(others), rng.dirichlet(np.ones(k)), rng.normal(size=(2, k))
        limits = rows @ start + rng.uniform(0.0, 0.3, 2)
        one, box = np.ones((1, k)), (np.zeros(k), np.ones(k))
        theirs = minimize(
            lambda w, p=policy, o=others, m=means: -nearest_ties(w, m, p, o)[0].min(),
            start,
            bounds=[(0, 1)] * k,
            constraints=LinearConstraint(one, lb=1, ub=1)
            if sums
            else LinearConstraint(rows, ub=limits),
            tol=tolerance,
        )
        ours = minimum(
            neighbour_game(means, policy, others),
            start,
            Region(one, np.array([-1.0]), *box, 1) if sums else Region(-rows, limits, *box, 0),
            tolerance,
        )
        np.testing.assert_array_equal(ours.x, theirs.x)
        assert ours.success == theirs.success


def test_a_multiplier_for_all_kinds_of_bounds_on_the_sum(apart):
    apart.submit(multipliers).result()


@pytest.mark.parametrize("k", [6, 12])
def test_a_projection(apart, k):
    apart.submit(projections, k).result()


@pytest.mark.parametrize("k", [6, 12])
def test_a_step_of_adagrad(apart, k):
    apart.submit(steps_of_adagrad, k).result()


@pytest.mark.parametrize("tolerance", [1e-6, 1e-16])
@pytest.mark.parametrize("sums", [True, False])
@pytest.mark.parametrize("k", [6, 12])
def test_a_game_in_a_box(apart, k, sums, tolerance):
    apart.submit(games_in_a_box, k, sums, tolerance).result()


def test_differences_stay_within_the_bounds():
    lower, upper = np.array([0.0, 0.0, -np.inf, -np.inf]), np.array([1.0, 1.0, np.inf, np.inf])
    x = np.array([0.25, 1.0, -1e9, 1e9])
    moved = np.diag(forward_points(x, lower, upper)) - x
    np.testing.assert_allclose(moved, [WIDTH, -WIDTH, -1e9 * WIDTH, 1e9 * WIDTH], rtol=1e-7)
    line = AffineObjective(2.0, np.arange(1.0, 5.0))
    near = np.array([0.25, 1.0, -3.0, 0.5])
    found = gradient(line, near, 2.0 + near @ line.slope, lower, upper)
    np.testing.assert_allclose(found, line.slope, rtol=1e-6)
    with pytest.raises(ValueError, match="outside the bounds"):
        forward_points(np.array([-1e-17]), np.zeros(1), np.ones(1))


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 12, 16, 23, 64, 127])
def test_sums_are_added_as_numpy_does(n):
    rng = np.random.default_rng(n)
    for _ in range(100):
        numbers = rng.normal(size=n)
        assert total(numbers) == numbers.sum()
