"""Matrix games: hand-worked, against a linear program, and certified by both players."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from bestarm.core.game import make_game, solve_game


def solved(payoffs):
    """The mixture of columns and the value, in a workspace with room to spare."""
    payoffs = np.asarray(payoffs, dtype=float)
    game, out = make_game(len(payoffs) + 2, payoffs.shape[1]), np.empty(payoffs.shape[1])
    game.payoffs[:] = 99.0
    game.payoffs[: len(payoffs)] = payoffs
    return out, solve_game(game, len(payoffs), out)


def value_by_program(payoffs):
    """max v with payoffs z >= v, z on the simplex."""
    m, n = payoffs.shape
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.hstack([-payoffs, np.ones((m, 1))]),
        b_ub=np.zeros(m),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
        method="highs",
    )
    assert found.status == 0
    return -found.fun


def test_matching_pennies_and_one_row_by_hand():
    z, value = solved([[1.0, -1.0], [-1.0, 1.0]])
    np.testing.assert_allclose(z, [0.5, 0.5])
    assert value == pytest.approx(0.0, abs=1e-12)
    z, value = solved([[0.1, 0.7, 0.3]])
    np.testing.assert_allclose(z, [0.0, 1.0, 0.0])
    assert value == pytest.approx(0.7)
    z, value = solved([[2.0, 2.0], [2.0, 2.0]])
    assert (z.sum(), value) == (pytest.approx(1.0), pytest.approx(2.0))


@pytest.mark.parametrize("shape", [(1, 6), (2, 9), (5, 9), (12, 40), (30, 8)])
def test_the_value_is_that_of_a_linear_program_and_is_attained(shape):
    rng = np.random.default_rng(shape[0])
    for scale in (1e-6, 1.0, 1e3):
        payoffs = scale * rng.normal(size=shape)
        z, value = solved(payoffs)
        assert (z >= 0.0).all()
        assert z.sum() == pytest.approx(1.0, abs=1e-12)
        assert value == pytest.approx(value_by_program(payoffs / scale) * scale, abs=1e-9 * scale)
        assert (payoffs @ z).min() == pytest.approx(value, abs=1e-10 * scale)


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 7)), elements=st.integers(-2, 2)))
def test_ties_and_repeated_lines_do_not_stop_it(payoffs):
    """Small whole numbers tie in every pivot."""
    z, value = solved(payoffs)
    assert (payoffs @ z).min() == pytest.approx(value, abs=1e-9)
    assert value == pytest.approx(value_by_program(payoffs), abs=1e-9)
