"""All vertices of {x >= 0 : M x = (1, 0, ..., 0)}, one after the other.

A vertex is the basic solution of some set of as many columns as M has rows, so trying all such sets
misses none. They are visited in lexicographic order, and a set that begins with the same columns as
the last one reuses their elimination.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.bases import eliminate
from bestarm.core.compile import inlined, jit, lean

#: Pivots up to this size count as zero; entries of M are near 1.
SINGULAR = 1e-12
#: Coordinates of a vertex may be negative by this much, so that rounding leaves none out.
ALLOWED = 1e-9


class BasicSolutions(NamedTuple):
    """A walk over the basic solutions of a system with m rows and n columns."""

    tableaus: np.ndarray  # (m, m, n + 1); the first is M | right-hand side
    columns: np.ndarray  # (m,) of the set being visited, ascending
    pivot_rows: np.ndarray  # (m,) the row that each of them was eliminated with
    values: np.ndarray  # (m,) of these columns
    depth: np.ndarray  # (1,) number of columns that are eliminated; -1 at the end


@jit
def make_basic_solutions(n_rows: int, n_columns: int) -> BasicSolutions:
    """Buffers for systems of this size."""
    return BasicSolutions(
        tableaus=np.zeros((n_rows, n_rows, n_columns + 1)),
        columns=np.zeros(n_rows, np.int64),
        pivot_rows=np.zeros(n_rows, np.int64),
        values=np.zeros(n_rows),
        depth=np.zeros(1, np.int64),
    )


@inlined
def restart(walk: BasicSolutions) -> None:
    """Start over, after the first tableau was written."""
    walk.depth[0] = 0
    walk.columns[0] = -1


@lean
def _free_row(walk: BasicSolutions, depth: int, column: int) -> int:
    """Of the rows without a pivot, the one with the largest entry in a column."""
    tableau, best = walk.tableaus[depth], -1
    for row in range(walk.pivot_rows.size):
        used = False
        for d in range(depth):
            used |= walk.pivot_rows[d] == row
        if not used and (best < 0 or abs(tableau[row, column]) > abs(tableau[best, column])):
            best = row
    return best


@lean
def _solve_last(walk: BasicSolutions) -> bool:
    """Solve for all columns of a set, the last of which is not eliminated yet.

    Returns:
        False if the set is singular or some value is negative.
    """
    m, n = walk.columns.size, walk.tableaus.shape[2] - 1
    tableau, j = walk.tableaus[m - 1], walk.columns[m - 1]
    row = _free_row(walk, m - 1, j)
    if not abs(tableau[row, j]) > SINGULAR:
        return False
    least = walk.values[m - 1] = tableau[row, n] / tableau[row, j]
    for d in range(m - 1):
        p = walk.pivot_rows[d]
        walk.values[d] = tableau[p, n] - tableau[p, j] * walk.values[m - 1]
        least = min(least, walk.values[d])
    return least >= -ALLOWED


@lean
def next_vertex(walk: BasicSolutions) -> bool:
    """Advance to the next vertex, left in `columns` and `values`; False if there is none left.

    A degenerate vertex comes once for each of its bases.
    """
    m, n = walk.columns.size, walk.tableaus.shape[2] - 1
    depth = walk.depth[0]
    while depth >= 0:
        walk.columns[depth] += 1
        j = int(walk.columns[depth])
        if j > n - m + depth:
            depth -= 1
        elif depth == m - 1:
            if _solve_last(walk):
                break
        else:
            pivot = _free_row(walk, depth, j)
            if abs(walk.tableaus[depth][pivot, j]) > SINGULAR:
                walk.pivot_rows[depth] = pivot
                eliminate(walk.tableaus[depth], walk.tableaus[depth + 1], j + 1, n, pivot, j)
                depth += 1
                walk.columns[depth] = j
    walk.depth[0] = depth
    return depth >= 0
