"""Every vertex is visited, against every set of tight constraints."""

import numpy as np
from hypothesis import given

from bestarm.lagex import reference
from bestarm.lagex.certified.basic_solutions import make_basic_solutions, next_vertex, restart
from lagex.polytopes import polytopes, same_set

#: Rounding of a few eliminations.
ROUNDING = 1e-8


def visited(rows: np.ndarray) -> np.ndarray:
    """(V, K) the vertices of {pi in simplex : rows pi <= 0}."""
    d, k = rows.shape
    walk = make_basic_solutions(d + 1, k + d)
    system = walk.tableaus[0]
    system[0, :k] = system[0, k + d] = 1.0
    system[1:, :k], system[1:, k : k + d] = rows, np.eye(d)
    restart(walk)
    found = []
    while next_vertex(walk):
        solution = np.zeros(k + d)
        solution[walk.columns] = walk.values
        found.append(solution[:k])
    return np.array(found).reshape(-1, k)


@given(polytopes)
def test_the_vertices_are_those_of_the_reference(p):
    assert same_set(visited(p.rows), reference.vertices(p.matrix, p.limits), ROUNDING)


@given(polytopes)
def test_an_empty_set_has_none(p):
    """A row that no policy satisfies."""
    assert len(visited(np.vstack([p.rows, np.full(p.means.size, 0.5)]))) == 0


def test_a_simplex_has_its_corners():
    assert same_set(visited(np.full((2, 4), -1.0)), np.eye(4), 0.0)
