"""The best policy of {pi in simplex : A pi <= b} and the vertices it has to be told apart from.

Policies sum to one, so A pi <= b is (A - b 1^T) pi + slack = 0, and with x = (pi, slack) the
feasible set is {x >= 0 : columns x = (1, 0, ..., 0)}: d + 1 rows, K + d columns. A vertex is a
basis of d + 1 columns; its edges are the columns outside it. Estimates change a little a round,
so the last basis is tried first and a few simplex steps repair it; all bases are looked at
only where neither the primal nor the dual can be repaired.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.bases import Workspace, load_program, make_workspace, score_bases
from bestarm.core.compile import inlined, jit

#: Entries of tableaus are near 1; what is smaller than this is rounding.
TOLERANCE = 1e-11
#: Simplex steps a round before all bases are looked at.
MOST_STEPS = 50
#: Bases whose edges are followed: the best vertex's and those of vertices within r of it.
MOST_BASES = 12
#: The same where all vertices are asked for.
ALL_BASES = 512
#: Policies whose entries differ by no more than this are the same vertex.
SAME = 1e-9


@jit
def load(columns: np.ndarray, values: np.ndarray, means: np.ndarray, rows: np.ndarray) -> None:
    """Write a set {pi : rows pi <= 0}, rows = A - b 1^T of shape (d, K), and means to maximise."""
    d, k = rows.shape
    columns[:] = 0.0
    values[:] = 0.0
    for a in range(k):
        columns[0, a] = 1.0
        values[a] = means[a]
        for i in range(d):
            columns[1 + i, a] = rows[i, a]
    for i in range(d):
        columns[1 + i, k + i] = 1.0


@inlined
def eliminate(tableau: np.ndarray, row: int, column: int) -> None:
    """Make a column a unit vector with its 1 in a row, in place."""
    m, n = tableau.shape
    inverse = 1.0 / tableau[row, column]
    for c in range(n):
        tableau[row, c] *= inverse
    for r in range(m):
        if r != row:
            factor = tableau[r, column]
            for c in range(n):
                tableau[r, c] -= factor * tableau[row, c]


@jit
def factorise(columns: np.ndarray, rhs: np.ndarray, basis: np.ndarray, tableau: np.ndarray) -> bool:
    """tableau = B^-1 (columns | rhs) with B = columns[:, basis]; False if B is singular."""
    m, n = columns.shape
    for r in range(m):
        for c in range(n):
            tableau[r, c] = columns[r, c]
        tableau[r, n] = rhs[r]
    for k in range(m):
        column = basis[k]
        pivot = k
        for r in range(k + 1, m):
            if abs(tableau[r, column]) > abs(tableau[pivot, column]):
                pivot = r
        if not abs(tableau[pivot, column]) > TOLERANCE:
            return False
        if pivot != k:
            for c in range(n + 1):
                swap = tableau[k, c]
                tableau[k, c] = tableau[pivot, c]
                tableau[pivot, c] = swap
        eliminate(tableau, k, column)
    return True


@inlined
def price(tableau: np.ndarray, values: np.ndarray, basis: np.ndarray, gaps: np.ndarray) -> None:
    """gaps = values_B B^-1 columns - values: what a unit of each column costs."""
    m = basis.size
    for j in range(values.size):
        gaps[j] = -values[j]
        for k in range(m):
            gaps[j] += values[basis[k]] * tableau[k, j]


@inlined
def longest_step(tableau: np.ndarray, column: int) -> float:
    """How far a column can enter before a basic variable reaches zero; infinite if none does."""
    m, n = tableau.shape
    length = np.inf
    for k in range(m):
        if tableau[k, column] > TOLERANCE:
            length = min(length, max(tableau[k, n - 1], 0.0) / tableau[k, column])
    return length


@jit
def repair(
    columns: np.ndarray,
    values: np.ndarray,
    rhs: np.ndarray,
    basis: np.ndarray,
    tableau: np.ndarray,
    gaps: np.ndarray,
) -> bool:
    """Bring the last basis to an optimal one by simplex steps; False where that fails.

    Primal steps if the basis is feasible, dual steps if its gaps are nonnegative, with the lowest
    index where several columns would do (Bland's rule).
    """
    m, n = columns.shape
    if basis[0] < 0 or not factorise(columns, rhs, basis, tableau):
        return False
    for _ in range(MOST_STEPS):
        price(tableau, values, basis, gaps)
        leaving, entering = -1, -1
        for k in range(m):
            if tableau[k, n] < -TOLERANCE and (leaving < 0 or basis[k] < basis[leaving]):
                leaving = k
        for j in range(n):
            if gaps[j] < -TOLERANCE:
                entering = j
                break
        if leaving < 0 and entering < 0:
            return True
        if leaving >= 0 and entering >= 0:
            return False
        if leaving < 0:
            length = longest_step(tableau, entering)
            for k in range(m):
                if (
                    tableau[k, entering] > TOLERANCE
                    and tableau[k, n] <= (length + TOLERANCE) * tableau[k, entering]
                    and (leaving < 0 or basis[k] < basis[leaving])
                ):
                    leaving = k
        else:
            least = np.inf
            for j in range(n):
                if tableau[leaving, j] < -TOLERANCE:
                    ratio = max(gaps[j], 0.0) / -tableau[leaving, j]
                    if ratio < least:
                        entering, least = j, ratio
        if leaving < 0 or entering < 0:
            return False
        basis[leaving] = entering
        eliminate(tableau, leaving, entering)
    return False


@jit
def search(
    columns: np.ndarray,
    values: np.ndarray,
    rhs: np.ndarray,
    basis: np.ndarray,
    tableau: np.ndarray,
    gaps: np.ndarray,
    work: Workspace,
) -> bool:
    """The same from nothing, by looking at all bases; False if the set is empty."""
    n = values.size
    load_program(work, columns, rhs, values)
    if score_bases(work, n) == -np.inf:
        return False
    basis[:] = work.basis
    return repair(columns, values, rhs, basis, tableau, gaps)


@jit
def find_best(
    columns: np.ndarray,
    values: np.ndarray,
    rhs: np.ndarray,
    basis: np.ndarray,
    tableau: np.ndarray,
    gaps: np.ndarray,
    policy: np.ndarray,
    work: Workspace,
) -> bool:
    """argmax { mu . pi : pi feasible }, a vertex; False, and nothing written, if there is none.

    Args:
        columns, values: the set and the means, see `load`.
        rhs: (d + 1,) 1, 0, ..., 0.
        basis: (d + 1,) the last one, or -1 in its first place; updated.
        tableau, gaps: overwritten with those of the best basis.
        policy: (K,) overwritten with the best policy.
        work: scratch for d + 1 rows and K + d columns.
    """
    if not repair(columns, values, rhs, basis, tableau, gaps) and not search(
        columns, values, rhs, basis, tableau, gaps, work
    ):
        basis[0] = -1
        return False
    k, n = policy.size, values.size
    for a in range(k):
        policy[a] = 0.0
    for r in range(basis.size):
        if basis[r] < k:
            policy[basis[r]] = max(tableau[r, n], 0.0)
    return True


@inlined
def mask_of(basis: np.ndarray, without: int, entering: int) -> int:
    """A basis as the bits of its columns, with the one in a place exchanged for another."""
    mask = np.int64(1) << np.int64(entering)
    for k in range(basis.size):
        if k != without:
            mask |= np.int64(1) << np.int64(basis[k])
    return mask


@jit
def find_alternatives(
    columns: np.ndarray,
    values: np.ndarray,
    rhs: np.ndarray,
    basis: np.ndarray,
    tableau: np.ndarray,
    gaps: np.ndarray,
    policy: np.ndarray,
    reach: float,
    bases: np.ndarray,
    masks: np.ndarray,
    other: np.ndarray,
    steps: np.ndarray,
    falls: np.ndarray,
    slots: np.ndarray,
) -> int:
    """The vertices pi' that the best one, pi, has to be told apart from, after `find_best`.

    Those adjacent to it, which decide the lower bound if r = 0 (projection lemma). With r > 0 a
    vertex further away may, because it counts as (gap + r)^2 / |pi' - pi|^2. So the vertices
    adjacent to any whose gap is at most `reach` are taken too, if a chain of such leads there.
    Where edges nearly meet, estimates split one vertex into several a short way apart; this looks
    past them.

    Args:
        columns, values, rhs, basis, tableau, gaps, policy: as `find_best` leaves them.
        reach: r, or infinity for all vertices.
        bases, masks, other: scratch, (n, d + 1), (n,) and like `tableau`, for n bases at most.
        steps: (n (K + d), K) overwritten; its v-th row is pi' - pi.
        falls: overwritten with the gaps mu . (pi - pi').
        slots: overwritten with a name for each, the same as long as the bases are.

    Returns:
        How many there are, each once.
    """
    k, n = policy.size, values.size
    m = basis.size
    for c in range(m):
        bases[0, c] = basis[c]
    masks[0] = mask_of(basis, 0, basis[0])
    best = 0.0
    for a in range(k):
        best += values[a] * policy[a]
    found, known, visited = 0, 1, 0
    while visited < known:
        here, main = bases[visited], visited == 0
        visited += 1
        if main:
            other[:, :] = tableau
        elif not factorise(columns, rhs, here, other):
            continue
        value = 0.0
        for row in range(m):
            value += values[here[row]] * other[row, n]
        for j in range(n):
            cost, inside = -values[j], False
            for row in range(m):
                cost += values[here[row]] * other[row, j]
                inside |= here[row] == j
            length = longest_step(other, j)
            if inside or length == np.inf:
                continue
            step = steps[found]
            for a in range(k):
                step[a] = 0.0 if main else -policy[a]
            if j < k:
                step[j] += length
            for row in range(m):
                a = here[row]
                if a < k:
                    step[a] += (0.0 if main else other[row, n]) - length * other[row, j]
            moved = 0.0
            for a in range(k):
                moved = max(moved, abs(step[a]))
            gap = length * cost if main else best - value + length * cost
            new = moved > SAME
            for v in range(found):
                if new and abs(falls[v] - gap) <= SAME:
                    apart = 0.0
                    for a in range(k):
                        apart = max(apart, abs(steps[v, a] - step[a]))
                    new = apart > SAME
            if new:
                falls[found] = max(gap, 0.0)
                slots[found] = (visited - 1) * n + j
                found += 1
            if gap <= reach + TOLERANCE:
                for row in range(m):
                    if (
                        known < masks.size
                        and other[row, j] > TOLERANCE
                        and other[row, n] <= (length + TOLERANCE) * other[row, j]
                    ):
                        mask, new = mask_of(here, row, j), True
                        for seen in range(known):
                            new &= masks[seen] != mask
                        if new:
                            for c in range(m):
                                bases[known, c] = here[c]
                            bases[known, row] = j
                            masks[known] = mask
                            known += 1
    return found


def rows_of(matrix: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """(d, K) A - b 1^T: on policies, rows pi <= 0 says the same as A pi <= b."""
    return np.ascontiguousarray(np.asarray(matrix, float) - np.asarray(limits, float)[:, None])


class Alternatives(NamedTuple):
    """The best policy and others."""

    policy: np.ndarray  # (K,)
    value: float  # mu . policy
    steps: np.ndarray  # (V, K) pi' - pi
    gaps: np.ndarray  # (V,) mu . (pi - pi'), nonnegative


def alternatives(
    means: np.ndarray,
    matrix: np.ndarray,
    limits: np.ndarray,
    reach: float,
    most_bases: int = MOST_BASES,
) -> Alternatives | None:
    """The best vertex and those of `find_alternatives`, each once; None if the set is empty."""
    d, k = np.shape(matrix)
    m, n = d + 1, k + d
    means = np.asarray(means, dtype=float)
    columns, values, rhs = np.zeros((m, n)), np.zeros(n), np.eye(m)[0]
    load(columns, values, means, rows_of(matrix, limits))
    state = columns, values, rhs, np.full(m, -1), np.zeros((m, n + 1)), np.zeros(n), np.zeros(k)
    if not find_best(*state, make_workspace(m, n)):
        return None
    steps, falls = np.zeros((most_bases * n, k)), np.zeros(most_bases * n)
    count = find_alternatives(
        *state,
        reach,
        np.zeros((most_bases, m), np.int64),
        np.zeros(most_bases, np.int64),
        np.zeros((m, n + 1)),
        steps,
        falls,
        np.zeros(most_bases * n, np.int64),
    )
    _, first = np.unique(steps[:count].round(9), axis=0, return_index=True)
    first = np.sort(first)
    policy = state[-1]
    return Alternatives(policy, float(policy @ means), steps[first], falls[first])


def every_alternative(
    means: np.ndarray, matrix: np.ndarray, limits: np.ndarray
) -> Alternatives | None:
    """The best vertex and all others; None if the set is empty. Not for use in loops."""
    return alternatives(means, matrix, limits, np.inf, 8 * ALL_BASES)
