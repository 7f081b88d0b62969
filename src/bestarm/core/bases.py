"""Bases of a small linear program max { v . x : A x = b, x >= 0 }, all of them.

A basis is a set J of M columns, M the number of rows; if A_J is invertible, x_J = A_J^-1 b is its
basic solution, feasible when nonnegative. With 2 to 5 rows and some tens of columns all bases can
be enumerated: they are visited depth first in lexicographic order, and each prefix of a basis is
eliminated once (Gauss-Jordan with row pivoting) for all bases that begin with it. The last two
columns are solved for directly, so that a basis costs a few multiplications per row.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean

#: Pivots and negative coordinates up to this size count as zero; entries of A and b are near 1.
TOLERANCE = 1e-12
#: Limit on simplex steps among bases of one solution, in case rounding makes them cycle.
MOST_STEPS = 1000


class Workspace(NamedTuple):
    """A linear program, and buffers to enumerate its bases, for at most N columns."""

    tableaus: (
        np.ndarray
    )  # (M - 1, M + 1, N + 1); the first is the linear program: rows A | b, then v | 0
    chosen: np.ndarray  # (M,) columns of the basis being visited
    pivot_row: np.ndarray  # (M,) the row each of them was eliminated with
    basis: np.ndarray  # (M,) an optimal basis, ascending
    scores: np.ndarray  # (N,) one score per column


@jit
def make_workspace(n_rows: int, n_columns: int) -> Workspace:
    """Buffers for programs of M = n_rows >= 2 rows and up to n_columns columns."""
    return Workspace(
        tableaus=np.zeros((n_rows - 1, n_rows + 1, n_columns + 1)),
        chosen=np.zeros(n_rows, np.int64),
        pivot_row=np.zeros(n_rows, np.int64),
        basis=np.zeros(n_rows, np.int64),
        scores=np.zeros(n_columns),
    )


@lean
def load_program(work: Workspace, matrix: np.ndarray, rhs: np.ndarray, values: np.ndarray) -> None:
    """Write a linear program with A of shape (M, n), n <= N, into a workspace."""
    n_rows, n = matrix.shape
    tableau = work.tableaus[0]
    for c in range(n):
        for r in range(n_rows):
            tableau[r, c] = matrix[r, c]
        tableau[n_rows, c] = values[c]
    for r in range(n_rows):
        tableau[r, n] = rhs[r]
    tableau[n_rows, n] = 0.0


@lean
def score_bases(work: Workspace, n: int) -> float:
    """For each column the best value of a feasible basis that contains it, and the best of all.

        scores[a] = max { v_J . x_J : J a basis that contains a, x_J = A_J^-1 b >= 0 }

    or minus infinity if no feasible basis contains a. The largest score is the optimal value; every
    column of an optimal basis has it.

    Args:
        work: holds a problem; `scores`, `basis` (ties go to the lexicographically first basis;
            unchanged if none is feasible) and the buffers are overwritten.
        n: its number of columns.

    Returns:
        The optimal value; minus infinity when there is no feasible basis.
    """
    chosen = work.chosen
    work.scores[:n] = -np.inf
    optimum = -np.inf
    pairs_from = chosen.size - 2  # the depth at which two columns are missing
    depth = 0
    chosen[0] = -1
    while depth >= 0:
        if depth == pairs_from:
            optimum = _score_pairs(work, n, optimum)
            depth -= 1
            continue
        chosen[depth] += 1
        if chosen[depth] > n - (chosen.size - depth):
            depth -= 1
        elif _eliminate(work, n, depth):
            depth += 1
            chosen[depth] = chosen[depth - 1]
    return optimum


@inlined
def eliminate(
    source: np.ndarray, target: np.ndarray, first: int, last: int, pivot: int, j: int
) -> None:
    """One Gauss-Jordan step: make column j zero in all rows but `pivot`, where it becomes 1.

    Writes columns `first` to `last` of the result into `target`, which may be `source`. Column j
    itself is correct only up to rounding.
    """
    inverse = 1.0 / source[pivot, j]
    for c in range(first, last + 1):
        target[pivot, c] = source[pivot, c] * inverse
    for r in range(source.shape[0]):
        if r != pivot:
            factor = source[r, j]
            for c in range(first, last + 1):
                target[r, c] = source[r, c] - factor * target[pivot, c]


@lean
def _eliminate(work: Workspace, n: int, depth: int) -> bool:
    """Eliminate column chosen[depth] into the next tableau; False if the prefix is dependent.

    Only columns after the chosen one, and b, are carried over.
    """
    here, there = work.tableaus[depth], work.tableaus[depth + 1]
    pivot_row = work.pivot_row
    j = work.chosen[depth]
    pivot = _free_row(here, pivot_row, depth, j)
    if abs(here[pivot, j]) <= TOLERANCE:
        return False
    pivot_row[depth] = pivot
    eliminate(here, there, j + 1, n, pivot, j)
    return True


@lean
def _free_row(tableau: np.ndarray, pivot_row: np.ndarray, depth: int, j: int) -> int:
    """Of the rows not in pivot_row[:depth], the one with the largest entry in column j."""
    best = -1
    for r in range(pivot_row.size):
        used = False
        for d in range(depth):
            used |= pivot_row[d] == r
        if not used and (best < 0 or abs(tableau[r, j]) > abs(tableau[best, j])):
            best = r
    return best


@lean
def _score_pairs(work: Workspace, n: int, optimum: float) -> float:
    """Complete a prefix of M - 2 columns by each pair of later ones; returns the best value so far.

    The prefix leaves two rows without a pivot. The first column i of a pair takes the one with its
    larger entry, p, which leaves row q for the second, j. With y = a_pj / a_pi,
        x_j = (b_q - a_qi b_p / a_pi) / (a_qj - a_qi y),   x_i = b_p / a_pi - y x_j,
    every row r of the prefix has x_r = b_r - a_ri x_i - a_rj x_j, and likewise the objective row.
    """
    chosen, pivot_row, scores = work.chosen, work.pivot_row, work.scores
    n_prefix = chosen.size - 2
    tableau = work.tableaus[n_prefix]
    objective = chosen.size
    start = chosen[n_prefix] + 1
    first, second = -1, -1  # the rows without a pivot
    for r in range(chosen.size):
        used = False
        for d in range(n_prefix):
            used |= pivot_row[d] == r
        if not used:
            first, second = second, r
    best_of_prefix = -np.inf
    for i in range(start, n - 1):
        p, q = first, second
        if abs(tableau[p, i]) < abs(tableau[q, i]):
            p, q = q, p
        if abs(tableau[p, i]) <= TOLERANCE:
            continue
        inverse = 1.0 / tableau[p, i]
        right_p = tableau[p, n] * inverse
        left_q = tableau[q, i]
        right_q = tableau[q, n] - left_q * right_p
        best_of_i = -np.inf
        for j in range(i + 1, n):
            y = tableau[p, j] * inverse
            entry = tableau[q, j] - left_q * y
            x_j = right_q / entry
            x_i = right_p - y * x_j
            least = min(x_i, x_j)
            for d in range(n_prefix):
                r = pivot_row[d]
                least = min(least, tableau[r, n] - tableau[r, i] * x_i - tableau[r, j] * x_j)
            # one branch for all tests: a branch misprediction costs more than the tests
            if (least >= -TOLERANCE) & (abs(entry) > TOLERANCE):
                value = tableau[objective, i] * x_i + tableau[objective, j] * x_j
                value -= tableau[objective, n]
                scores[j] = max(scores[j], value)
                best_of_i = max(best_of_i, value)
                if value > optimum:
                    optimum = value
                    chosen[n_prefix] = i
                    chosen[n_prefix + 1] = j
                    for d in range(chosen.size):
                        work.basis[d] = chosen[d]
        scores[i] = max(scores[i], best_of_i)
        best_of_prefix = max(best_of_prefix, best_of_i)
    for d in range(n_prefix):
        scores[chosen[d]] = max(scores[chosen[d]], best_of_prefix)
    return optimum


@lean
def _pivot_on(work: Workspace, n: int, depth: int, j: int) -> bool:
    """Eliminate column j of the tableau in place, in a row not used by work.pivot_row[:depth]."""
    tableau, pivot_row = work.tableaus[0], work.pivot_row
    pivot = _free_row(tableau, pivot_row, depth, j)
    if abs(tableau[pivot, j]) <= TOLERANCE:
        return False
    pivot_row[depth] = pivot
    eliminate_row(tableau, n, pivot, j)
    return True


@lean
def eliminate_row(tableau: np.ndarray, n: int, pivot: int, j: int) -> None:
    """Make column j a unit vector, up to rounding, with its 1 in row `pivot`; in place."""
    eliminate(tableau, tableau, 0, n, pivot, j)


@lean
def reduced_values(work: Workspace, n: int) -> bool:
    """Reduced values v - A^T lambda <= 0, with lambda an optimal dual solution.

    lambda = A_J^-T v_J for the optimal basis J in `work.basis`, unless J is degenerate (it has a
    coordinate of 0) and some reduced value is positive. Then simplex steps with Bland's rule move
    to other bases of the same solution until no reduced value is positive.

    Args:
        work: holds a problem, which is destroyed; `scores` is overwritten with the result, and
            `basis`, after such steps, with the last basis, in any order.
        n: its number of columns.

    Returns:
        Whether that succeeded; if not (after MOST_STEPS), some reduced value may be positive.
    """
    basis, scores = work.basis, work.scores
    n_rows = basis.size
    for d in range(n_rows):
        _pivot_on(work, n, d, basis[d])
    tableau, pivot_row = work.tableaus[0], work.pivot_row
    entering, steps = 0, 0
    while entering < n and steps < MOST_STEPS:
        if tableau[n_rows, entering] <= TOLERANCE:
            entering += 1
            continue
        leaving, least = -1, np.inf
        for d in range(n_rows):
            if tableau[pivot_row[d], entering] > TOLERANCE:
                ratio = tableau[pivot_row[d], n] / tableau[pivot_row[d], entering]
                if leaving < 0 or ratio < least or (ratio == least and basis[d] < basis[leaving]):
                    leaving, least = d, ratio
        if leaving < 0:
            entering += 1  # an unbounded ray, which can only be rounding
            continue
        basis[leaving] = entering
        eliminate_row(tableau, n, pivot_row[leaving], entering)
        entering, steps = 0, steps + 1
    for c in range(n):
        scores[c] = tableau[n_rows, c]
    for d in range(n_rows):
        scores[basis[d]] = 0.0
    return entering == n


@lean
def basic_solution(work: Workspace, out: np.ndarray) -> bool:
    """Solve A x = b for a program of M columns, overwriting `out` (M,); False if A is singular.

    The tableau is destroyed.
    """
    n_rows = out.size
    for d in range(n_rows):
        if not _pivot_on(work, n_rows, d, d):
            return False
    for d in range(n_rows):
        out[d] = work.tableaus[0][work.pivot_row[d], n_rows]
    return True
