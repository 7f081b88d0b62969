"""All bases of a small program: against brute force and HiGHS, and as optimality theorems."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from bestarm.cbmai import reference
from bestarm.core import bases
from bestarm.core.bases import (
    basic_solution,
    eliminate_row,
    load_program,
    make_workspace,
    reduced_values,
    score_bases,
)

#: Agreement of two ways to solve the same systems: entries near 1, determinants over 1e-9.
EXACT = {"rtol": 1e-7, "atol": 1e-9}
some = settings(max_examples=80)


@st.composite
def programs(draw, bounded=False, whole=None):
    """A of 2 to 4 rows, b and v; entries drawn from a normal, or small whole numbers.

    Whole numbers bring ties, dependent and zero columns, and coordinates of 0, most of them up to
    rounding because rows are scaled. Bounded programs have a last row of ones.
    """
    n_rows = draw(st.integers(2, 4))
    n = n_rows + draw(st.integers(0, 5))
    shapes = (n_rows, n), (n_rows,), (n,)
    whole = draw(st.booleans()) if whole is None else whole
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if whole:
        small = st.integers(-1, 3).map(float)
        matrix, rhs, values = (draw(npst.arrays(float, s, elements=small)) for s in shapes)
        scale = rng.uniform(0.5, 2.0, n_rows)
        matrix, rhs = matrix * scale[:, None], rhs * scale
    else:
        matrix, rhs, values = (rng.normal(size=s) for s in shapes)
    if bounded:
        rhs[-1] = matrix[-1] = 1.0
    if not whole and draw(st.booleans()):  # right sides drawn at random are hardly ever feasible
        rhs = matrix @ rng.dirichlet(np.ones(n))
    return matrix, rhs, values


def loaded(program):
    """A workspace for more columns than the program has, full of what an earlier one left."""
    matrix = program[0]
    work = make_workspace(matrix.shape[0], matrix.shape[1] + 2)
    for array in (work.tableaus, work.scores):
        array.fill(np.nan)
    load_program(work, *program)
    return work


def scored(program):
    work, n = loaded(program), program[2].size
    optimum = score_bases(work, n)
    return optimum, work.scores[:n].copy(), work.basis.copy()


def reduced(program, basis):
    work, n = loaded(program), program[2].size
    work.basis[:] = basis
    reduced_values(work, n)
    return work.scores[:n]


def test_by_hand():
    """Costs 0, 2, 1/2 and a slack under a bound of 1; rewards 0, 4, 3/2.

    Arms 1 and 2 mix half and half to 2; 2 and 3 mix 1 : 2 to 7/3, the best; arm 1 with 3 or with
    the slack is worth 0 or 3/2 alone, so its best is the mixture with arm 2; the slack's is arm 3.
    """
    matrix = np.array([[0.0, 2.0, 0.5, 1.0], [1.0, 1.0, 1.0, 0.0]])
    program = matrix, np.ones(2), np.array([0.0, 4.0, 1.5, 0.0])
    optimum, scores, basis = scored(program)
    np.testing.assert_allclose(scores, [2, 7 / 3, 7 / 3, 1.5])
    assert optimum == scores.max()
    np.testing.assert_array_equal(basis, [1, 2])
    # the line through arms 2 and 3 has slope 5/3 and passes 2/3 at cost 0
    np.testing.assert_allclose(reduced(program, basis), [-2 / 3, 0, 0, -5 / 3], atol=1e-15)


def test_steps_that_do_not_end_are_told(monkeypatch):
    """The first arm costs the bound; with the second its basis prices the slack at -1/10."""
    matrix = np.array([[1.0, 2.0, 0.5, 1.0], [1.0, 1.0, 1.0, 0.0]])
    work = loaded((matrix, np.ones(2), np.array([1.0, 0.9, 0.8, 0.0])))
    work.basis[:] = 0, 1
    again = loaded((matrix, np.ones(2), np.array([1.0, 0.9, 0.8, 0.0])))
    again.basis[:] = 0, 1
    assert reduced_values(work, 4)
    assert work.scores[:4].max() <= 1e-12
    monkeypatch.setattr(bases, "MOST_STEPS", 0)
    assert not reduced_values.py_func(again, 4)
    assert again.scores[3] == pytest.approx(0.1)


@some
@given(programs())
def test_scores_are_those_of_brute_force(program):
    optimum, scores, _ = scored(program)
    np.testing.assert_allclose(scores, reference.intersection_values(*program), **EXACT)
    assert optimum == scores.max()


@some
@given(programs(bounded=True))
def test_optimum_is_that_of_highs(program):
    assume(np.linalg.matrix_rank(program[0]) == program[1].size)  # otherwise there is no basis
    optimum, _, _ = scored(program)
    found = reference.solve(*program)
    assert optimum == pytest.approx(-np.inf if found is None else found[0], rel=1e-9, abs=1e-9)


@some
@given(programs())
def test_optimal_basis_attains_the_optimum(program):
    matrix, rhs, values = program
    optimum, _, basis = scored(program)
    assume(optimum > -np.inf)
    assert (np.diff(basis) > 0).all()
    x = np.linalg.solve(matrix[:, basis], rhs)
    assert x.min() >= -1e-9  # rounding
    assert values[basis] @ x == pytest.approx(optimum, rel=1e-7, abs=1e-9)


@some
@given(programs())
def test_of_equal_columns_the_first_is_kept(program):
    """Repeating the last column gives bases whose values are equal to the last bit."""
    matrix, rhs, values = program
    optimum, scores, basis = scored(program)
    assume(optimum > -np.inf)
    twice = scored((np.hstack([matrix, matrix[:, -1:]]), rhs, np.append(values, values[-1])))
    assert twice[0] == optimum
    np.testing.assert_array_equal(twice[1], np.append(scores, scores[-1]))
    np.testing.assert_array_equal(twice[2], basis)


@pytest.mark.parametrize("factor", [3.0, -3.0])
@some
@given(programs())
def test_dependent_columns_are_in_no_basis_together(factor, program):
    """Every column and a multiple of it, of which no pair is elsewhere exactly dependent."""
    matrix, rhs, values = program
    doubled = np.hstack([matrix, factor * matrix]), rhs, np.append(values, factor * values)
    np.testing.assert_allclose(scored(doubled)[1], reference.intersection_values(*doubled), **EXACT)


def test_no_feasible_basis():
    """Nonnegative columns cannot make a negative right side; the basis kept is not touched."""
    program = np.array([[1.0, 2.0, 0.0], [1.0, 1.0, 1.0]]), np.array([-1.0, 1.0]), np.ones(3)
    work = loaded(program)
    work.basis[:] = 7
    assert score_bases(work, 3) == -np.inf
    np.testing.assert_array_equal(work.scores[:3], -np.inf)
    np.testing.assert_array_equal(work.basis, 7)


@some
@given(programs(bounded=True))
def test_reduced_values_certify_the_optimum(program):
    """From any feasible basis: lambda is feasible for the dual program, and b . lambda optimal.

    Small whole numbers make degenerate bases, where the multipliers of the optimal basis itself
    may not be dual feasible.
    """
    matrix, rhs, values = program
    optimum, _, best = scored(program)
    bases, _ = reference.feasible_bases(matrix, rhs)
    for basis in [*bases[:20], best] if len(bases) else []:
        over = reduced(program, basis)
        assert (over <= 1e-9).all()  # rounding
        multipliers = np.linalg.lstsq(matrix.T, values - over)[0]
        np.testing.assert_allclose(matrix.T @ multipliers + over, values, **EXACT)
        assert rhs @ multipliers == pytest.approx(optimum, rel=1e-6, abs=1e-8)


@some
@given(programs(bounded=True, whole=False))
def test_a_unique_dual_solution_is_that_of_the_optimal_basis(program):
    """Of normal entries no coordinate is 0."""
    matrix, _, values = program
    optimum, _, best = scored(program)
    assume(optimum > -np.inf)
    multipliers = np.linalg.solve(matrix[:, best].T, values[best])
    np.testing.assert_allclose(reduced(program, best), values - matrix.T @ multipliers, **EXACT)


@some
@given(programs(bounded=True, whole=False))
def test_reduced_values_are_the_lagrangian_scores(program):
    optimum, _, basis = scored(program)
    assume(optimum > -np.inf)
    over = reduced(program, basis)
    np.testing.assert_allclose(over, reference.lagrangian_scores(*program), rtol=1e-6, atol=1e-7)


@some
@given(programs())
def test_basic_solution_solves_or_says_singular(program):
    matrix, rhs, values = program
    m = rhs.size
    square = np.ascontiguousarray(matrix[:, :m])
    out = np.full(m, np.nan)
    regular = basic_solution(loaded((square, rhs, values[:m])), out)
    assert regular == (abs(np.linalg.det(square)) > 1e-9)
    if regular:
        np.testing.assert_allclose(out, np.linalg.solve(square, rhs), **EXACT)


def test_an_eliminated_column_is_a_unit_vector_up_to_rounding():
    """49 * (1 / 49) is not 1 in floating point; nor are the other entries exactly 0 then."""
    tableau = np.array([[49.0, 1.0, 2.0], [3.0, 5.0, 7.0], [0.1, 0.2, 0.3]])
    rest = tableau.copy()
    eliminate_row(tableau, 2, 0, 0)
    assert 0.0 < np.abs(tableau[:, 0] - [1.0, 0.0, 0.0]).max() < 1e-15
    np.testing.assert_allclose(tableau[1, 1:], rest[1, 1:] - 3.0 / 49.0 * rest[0, 1:], rtol=1e-15)
