"""Linear programs solved directly have every bit of SciPy's answers."""

import numpy as np
import pytest
from scipy.optimize import linprog

from bestarm.lagex.problem import EASIER, HARD, instances, setup1
from bestarm.lagex.released.highs import least
from bestarm.lagex.released.solvers import simplex_rows


@pytest.mark.parametrize("name", [setup1(HARD).name, setup1(EASIER).name, "imdb"])
def test_every_bit_is_that_of_linprog(name):
    """On estimates after 3 to 3,000 pulls, some of infeasible constraints, and on the truth."""
    rng, problem = np.random.default_rng(5), instances()[name].problem
    solved = 0
    for n in [*np.geomspace(3, 3000, 29).astype(int), 10**12]:
        means = problem.means + rng.standard_normal(problem.means.shape) / np.sqrt(n)
        matrix = problem.matrix + rng.standard_normal(problem.matrix.shape) / np.sqrt(n)
        matrix = problem.matrix if n == 10**12 else matrix
        rows, limits = simplex_rows(means.size, (matrix, problem.limits))
        theirs, ours = linprog(-means, rows, limits, method="highs-ds"), least(-means, rows, limits)
        assert theirs.success == (ours is not None)
        if ours is not None:
            solved += 1
            assert ours.x.tobytes() == theirs.x.tobytes()
            assert ours.slacks.tobytes() == theirs.slack.tobytes()
    assert solved > 15


def test_what_is_infeasible_or_unbounded_has_no_answer():
    rows, limits = simplex_rows(2, (np.array([[1.0, 1.0]]), np.array([0.5])))
    assert least(np.ones(2), rows, limits) is None
    assert least(-np.ones(2), np.array([[-1.0, -1.0]]), np.zeros(1)) is None
