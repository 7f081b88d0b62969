"""Factors of small matrices against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestarm.core.linear_algebra import factorise, solve_definite, substitute


def definite(seed, n):
    rng = np.random.default_rng(seed)
    half = rng.standard_normal((n, n + 2))
    return half @ half.T, rng.standard_normal(n)


seeds, sizes = st.integers(0, 2**32), st.integers(1, 9)


@given(seeds, sizes)
def test_a_system_is_solved_from_the_lower_triangle(seed, n):
    matrix, right = definite(seed, n)
    solution = right.copy()
    solve_definite(np.tril(matrix) + np.triu(np.full((n, n), np.nan), 1), solution, n)
    assert matrix @ solution == pytest.approx(right, rel=1e-8, abs=1e-8)


@given(seeds, st.integers(2, 9), st.data())
def test_rows_above_one_that_is_left_out_are_kept(seed, n, data):
    matrix, right = definite(seed, n)
    factor = matrix.copy()
    factorise(factor, 0, n)
    out = data.draw(st.integers(0, n - 1))
    left = [i for i in range(n) if i != out]
    factor[out : n - 1, : n - 1] = matrix[np.ix_(left[out:], left)]
    factorise(factor, out, n - 1)
    solution = right[left]
    substitute(factor, solution, n - 1)
    wanted = np.linalg.solve(matrix[np.ix_(left, left)], right[left])
    assert solution == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_a_singular_system_has_an_end():
    solution = np.array([1.0, 1.0])
    solve_definite(np.ones((2, 2)), solution, 2)
    assert np.isfinite(solution).all()
