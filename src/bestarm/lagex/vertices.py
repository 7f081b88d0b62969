"""The best policy of {pi in simplex : A pi <= b} and its alternatives, the other vertices.

Policies sum to one, so A pi <= b is (A - b 1^T) pi + slack = 0, and with x = (pi, slack) the
feasible set is {x >= 0 : columns x = (1, 0, ..., 0)}: d + 1 rows, K + d columns. A vertex is a
basis of d + 1 columns; its edges are the columns outside it. Estimates change little per round,
so a warm start from the last basis needs only a few simplex steps; all bases are enumerated only if
the last basis is neither primal nor dual feasible.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.bases import (
    Workspace,
    eliminate_row,
    load_program,
    make_workspace,
    score_bases,
)
from bestarm.core.compile import inlined, jit, lean
from bestarm.core.units import power_of_two
from bestarm.lagex.world import BROKEN

#: Entries of tableaus (which are near 1) up to this size count as zero.
TOLERANCE = 1e-11
#: How far the weights of a policy may be from adding up to 1.
WHOLE = 1e-9
#: Simplex steps per round before all bases are enumerated.
MOST_STEPS = 50
#: Most bases whose edges are followed: the best vertex's and those of vertices within r of it.
MOST_BASES = 12
#: The same if all vertices are needed.
ALL_BASES = 512
#: The same outside of simulated runs.
LISTED = 6144
#: Most columns, K + d: a basis is stored as the bits of a 64-bit number.
MOST_COLUMNS = 64
#: Results of a search for the best vertex.
FOUND, EMPTY, LOST = range(3)
#: Policies whose entries differ by at most this are the same vertex.
SAME = 1e-9


class Polytope(NamedTuple):
    """A set of policies, means to maximise, and the best vertex; K arms, d constraints.

    Made by `make_polytope`, written by `load`, solved by `find_best`.
    """

    columns: np.ndarray  # (d + 1, K + d)
    values: np.ndarray  # (K + d,) means, then 0 for slacks
    rhs: np.ndarray  # (d + 1,) 1, 0, ..., 0
    basis: np.ndarray  # (d + 1,) of the best vertex; starts with -1 before one was found
    tableau: np.ndarray  # (d + 1, K + d + 1) of that basis
    reduced_costs: np.ndarray  # (K + d,) reduced costs of that basis
    policy: np.ndarray  # (K,) the best vertex
    work: Workspace


class VertexSearch(NamedTuple):
    """The alternatives of the best vertex, found along the edges of at most n bases."""

    steps: np.ndarray  # (n (K + d), K) pi' - pi
    gaps: np.ndarray  # (n (K + d),) gaps mu . (pi - pi')
    slots: np.ndarray  # (n (K + d),) identifiers, stable while the bases stay the same
    bases: np.ndarray  # (n, d + 1) the visited bases
    masks: np.ndarray  # (n,) the same bases as bits
    tableau: np.ndarray  # (d + 1, K + d + 1) buffer
    cut: np.ndarray  # (1,) whether there were more than n bases, so that vertices may be missing


@jit
def make_polytope(n_arms: int, n_constraints: int) -> Polytope:
    """Buffers for a set of policies."""
    m, n = n_constraints + 1, n_arms + n_constraints
    rhs = np.zeros(m)
    rhs[0] = 1.0
    return Polytope(
        columns=np.zeros((m, n)),
        values=np.zeros(n),
        rhs=rhs,
        basis=np.full(m, -1),
        tableau=np.zeros((m, n + 1)),
        reduced_costs=np.zeros(n),
        policy=np.full(n_arms, 1.0 / n_arms),
        work=make_workspace(m, n),
    )


@jit
def make_vertex_search(n_arms: int, n_constraints: int, most_bases: int) -> VertexSearch:
    """Buffers for the vertices along the edges of `most_bases` bases."""
    m, n = n_constraints + 1, n_arms + n_constraints
    return VertexSearch(
        steps=np.zeros((most_bases * n, n_arms)),
        gaps=np.zeros(most_bases * n),
        slots=np.zeros(most_bases * n, np.int64),
        bases=np.zeros((most_bases, m), np.int64),
        masks=np.zeros(most_bases, np.int64),
        tableau=np.zeros((m, n + 1)),
        cut=np.zeros(1, np.bool_),
    )


@inlined
def load(polytope: Polytope, means: np.ndarray, rows: np.ndarray) -> None:
    """Set the polytope to {pi : rows pi <= 0}, rows = A - b 1^T of shape (d, K), and the means."""
    columns, values = polytope.columns, polytope.values
    d, k = rows.shape
    for a in range(k):
        columns[0, a] = 1.0
        values[a] = means[a]
        for i in range(d):
            columns[1 + i, a] = rows[i, a]
    for i in range(d):
        columns[1 + i, k + i] = 1.0


@lean
def form_tableau(
    columns: np.ndarray, rhs: np.ndarray, basis: np.ndarray, tableau: np.ndarray
) -> bool:
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
        eliminate_row(tableau, n, k, column)
    return True


@inlined
def update_reduced_costs(
    tableau: np.ndarray, values: np.ndarray, basis: np.ndarray, reduced: np.ndarray
) -> None:
    """reduced = values_B B^-1 columns - values, the reduced costs of all columns."""
    m = basis.size
    for j in range(values.size):
        reduced[j] = -values[j]
        for k in range(m):
            reduced[j] += values[basis[k]] * tableau[k, j]


@inlined
def longest_step(tableau: np.ndarray, column: int) -> float:
    """How far a column can enter before a basic variable reaches zero; infinite if none does."""
    m, n = tableau.shape
    length = np.inf
    for k in range(m):
        if tableau[k, column] > TOLERANCE:
            length = min(length, max(tableau[k, n - 1], 0.0) / tableau[k, column])
    return length


@lean
def repair(
    columns: np.ndarray,
    values: np.ndarray,
    rhs: np.ndarray,
    basis: np.ndarray,
    tableau: np.ndarray,
    reduced: np.ndarray,
) -> bool:
    """Move from the last basis to an optimal one by simplex steps; False if that fails.

    Primal steps if the basis is feasible, dual steps if its reduced costs are nonnegative; ties go
    to the lowest index (Bland's rule).
    """
    m, n = columns.shape
    if basis[0] < 0 or not form_tableau(columns, rhs, basis, tableau):
        return False
    for _ in range(MOST_STEPS):
        update_reduced_costs(tableau, values, basis, reduced)
        leaving, entering = -1, -1
        for k in range(m):
            if tableau[k, n] < -TOLERANCE and (leaving < 0 or basis[k] < basis[leaving]):
                leaving = k
        for j in range(n):
            if reduced[j] < -TOLERANCE:
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
                    ratio = max(reduced[j], 0.0) / -tableau[leaving, j]
                    if ratio < least:
                        entering, least = j, ratio
        if leaving < 0 or entering < 0:
            return False
        basis[leaving] = entering
        eliminate_row(tableau, n, leaving, entering)
    return False


@jit
def find_best_cold(polytope: Polytope) -> int:
    """`find_best` from a cold start, by enumerating all bases: FOUND, EMPTY or LOST."""
    columns, values, rhs, basis, tableau, reduced, _, work = polytope
    load_program(work, columns, rhs, values)
    if score_bases(work, values.size) == -np.inf:
        return EMPTY
    basis[:] = work.basis
    repaired = repair(columns, values, rhs, basis, tableau, reduced)
    return FOUND if repaired and is_policy(basis, tableau, values.size) else LOST


@inlined
def is_policy(basis: np.ndarray, tableau: np.ndarray, n: int) -> bool:
    """Whether the weights of a feasible basis add up to 1, as those of an accurate tableau do."""
    k, total = n - basis.size + 1, 0.0
    for r in range(basis.size):
        if basis[r] < k:
            total += max(tableau[r, n], 0.0)
    return abs(total - 1.0) <= WHOLE


@inlined
def find_best(polytope: Polytope) -> int:
    """argmax { mu . pi : pi feasible }, a vertex, left in `polytope`.

    The search has a warm start at the last basis.

    Returns:
        FOUND; EMPTY if there is no feasible policy; LOST if there is one, but the simplex steps
        from the best of all bases failed, or rounding is too large, as where estimated costs are
        a million times their standard deviation.
    """
    columns, values, rhs, basis, tableau, reduced, policy, _ = polytope
    outcome = FOUND
    if not (
        repair(columns, values, rhs, basis, tableau, reduced)
        and is_policy(basis, tableau, values.size)
    ):
        outcome = find_best_cold(polytope)
    if outcome != FOUND:
        basis[0] = -1
        return outcome
    k, n = policy.size, values.size
    for a in range(k):
        policy[a] = 0.0
    for r in range(basis.size):
        if basis[r] < k:
            policy[basis[r]] = max(tableau[r, n], 0.0)
    return FOUND


@inlined
def basis_mask(basis: np.ndarray, without: int, entering: int) -> int:
    """A basis as the bits of its columns, with the one at place `without` replaced."""
    mask = np.int64(1) << np.int64(entering)
    for k in range(basis.size):
        if k != without:
            mask |= np.int64(1) << np.int64(basis[k])
    return mask  # pyright: ignore[reportReturnType]


@inlined
def is_new(steps: np.ndarray, gaps: np.ndarray, count: int, gap: float) -> bool:
    """Whether step `count`, with this gap, is nonzero and leads to a vertex not in the list yet."""
    k = steps.shape[1]
    moved = 0.0
    for a in range(k):
        moved = max(moved, abs(steps[count, a]))
    if not moved > SAME:
        return False
    for v in range(count):
        if abs(gaps[v] - gap) <= SAME:
            apart = 0.0
            for a in range(k):
                apart = max(apart, abs(steps[v, a] - steps[count, a]))
            if not apart > SAME:
                return False
    return True


@inlined
def add_bases(
    others: VertexSearch,
    n_bases: int,
    visited: int,
    tableau: np.ndarray,
    j: int,
    length: float,
) -> int:
    """List the bases at the end of the edge of column j that are not listed yet.

    Sets `others.cut` if the list is full.

    Returns:
        The number of listed bases.
    """
    bases, masks = others.bases, others.masks
    m, n = bases.shape[1], tableau.shape[1] - 1
    for row in range(m):
        if (
            tableau[row, j] > TOLERANCE
            and tableau[row, n] <= (length + TOLERANCE) * tableau[row, j]
        ):
            mask, new = basis_mask(bases[visited], row, j), True
            for seen in range(n_bases):
                new &= masks[seen] != mask
            if new and n_bases == masks.size:
                others.cut[0] = True
            elif new:
                for c in range(m):
                    bases[n_bases, c] = bases[visited, c]
                bases[n_bases, row] = j
                masks[n_bases] = mask
                n_bases += 1
    return n_bases


@inlined
def reduced_cost(tableau: np.ndarray, values: np.ndarray, basis: np.ndarray, j: int) -> float:
    """The reduced cost of column j, with the bits that `update_reduced_costs` gives it."""
    cost = -values[j]
    for row in range(basis.size):
        cost += values[basis[row]] * tableau[row, j]
    return cost


@inlined
def step_to(
    tableau: np.ndarray,
    basis: np.ndarray,
    policy: np.ndarray,
    main: bool,
    j: int,
    length: float,
    step: np.ndarray,
) -> None:
    """The end of the edge of column j, `length` away, minus `policy`, the vertex of `main`."""
    k, n = policy.size, tableau.shape[1] - 1
    for a in range(k):
        step[a] = 0.0 if main else -policy[a]
    if j < k:
        step[j] += length
    for row in range(basis.size):
        a = basis[row]
        if a < k:
            step[a] += (0.0 if main else tableau[row, n]) - length * tableau[row, j]


@lean
def find_alternatives(polytope: Polytope, reach: float, others: VertexSearch) -> int:
    """List the alternatives pi' of the best vertex pi, after `find_best`.

    These are the vertices adjacent to it, which decide the lower bound if r = 0 (projection lemma).
    With r > 0 a more distant vertex may matter, because it counts as (gap + r)^2 / |pi' - pi|^2. So
    neighbours of every vertex with a gap of at most `reach` are included too, if a chain of such
    vertices leads there. This also covers nearly degenerate vertices, which estimates split into
    several that are close together.

    Columns of a basis have no edge, and its mask says which these are. The best vertex's reduced
    costs are those that `repair` ended with: the same sums in the same order.

    Args:
        polytope: as `find_best` leaves it.
        reach: r, or infinity for all vertices.
        others: overwritten.

    Returns:
        The number of alternatives, without duplicates; some may be missing if `others.cut` is set.
    """
    columns, values, rhs, basis, best_tableau, reduced, policy, _ = polytope
    steps, gaps, slots, bases, masks, other_tableau, cut = others
    k, n, m = policy.size, values.size, basis.size
    for c in range(m):
        bases[0, c] = basis[c]
    masks[0] = basis_mask(basis, 0, basis[0])
    cut[0] = False
    best = 0.0
    for a in range(k):
        best += values[a] * policy[a]
    listed, n_bases, visited = 0, 1, 0
    while visited < n_bases:
        main, here = visited == 0, bases[visited]
        tableau = best_tableau if main else other_tableau
        if not main and not form_tableau(columns, rhs, here, tableau):
            cut[0] = True
            visited += 1
            continue
        value = 0.0
        for row in range(m):
            value += values[here[row]] * tableau[row, n]
        for j in range(n):
            if masks[visited] >> j & 1:
                continue
            cost = reduced[j] if main else reduced_cost(tableau, values, here, j)
            length = longest_step(tableau, j)
            if length == np.inf:
                continue
            step_to(tableau, here, policy, main, j, length, steps[listed])
            gap = length * cost if main else best - value + length * cost
            if is_new(steps, gaps, listed, gap):
                gaps[listed] = max(gap, 0.0)
                slots[listed] = visited * n + j
                listed += 1
            if gap <= reach + TOLERANCE:
                n_bases = add_bases(others, n_bases, visited, tableau, j, length)
        visited += 1
    return listed


@inlined
def find_edge(polytope: Polytope, j: int, others: VertexSearch) -> bool:
    """List the alternative at the end of the edge of column j alone, with the bits that
    `find_alternatives` gives it; False if there is none, as if j is in the basis.

    Args:
        polytope: as `find_best` leaves it.
        others: its first place is overwritten.
    """
    tableau, basis = polytope.tableau, polytope.basis
    length = longest_step(tableau, j)
    if length == np.inf:
        return False
    step_to(tableau, basis, polytope.policy, True, j, length, others.steps[0])
    others.gaps[0] = max(length * polytope.reduced_costs[j], 0.0)
    return is_new(others.steps, others.gaps, 0, others.gaps[0])


def constraint_rows(matrix: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """(d, K) A - b 1^T: on policies, rows pi <= 0 is equivalent to A pi <= b."""
    return np.ascontiguousarray(np.asarray(matrix, float) - np.asarray(limits, float)[:, None])


def row_units(rows: np.ndarray) -> np.ndarray:
    """(d,) powers of two, over which the largest entry of a row (d, K) is from 1/2 to 1."""
    return np.array([power_of_two(2.0 * size) for size in np.abs(rows).max(axis=1)])


class Alternatives(NamedTuple):
    """The best policy and its alternatives."""

    policy: np.ndarray  # (K,)
    value: float  # mu . policy
    steps: np.ndarray  # (V, K) pi' - pi
    gaps: np.ndarray  # (V,) mu . (pi - pi'), nonnegative


def alternatives(
    means: np.ndarray, matrix: np.ndarray, limits: np.ndarray, reach: float
) -> Alternatives | None:
    """The best vertex and its alternatives (see `find_alternatives`); None if the set is empty.

    Args:
        means: (K,). matrix: (d, K), limits: (d,) the policies have matrix @ pi <= limits.
        reach: largest gap of vertices whose neighbours are included. If negative, only vertices
            adjacent to the best one are listed.

    Raises:
        ValueError: more than MOST_COLUMNS arms and constraints.
        ArithmeticError: the best vertex was not found, or there are more than LISTED bases.
    """
    d, k = np.shape(matrix)
    if k + d > MOST_COLUMNS:
        raise ValueError(f"arms and constraints: must be at most {MOST_COLUMNS}, got {k + d}")
    means, rows = np.asarray(means, dtype=float), constraint_rows(matrix, limits)
    unit = power_of_two(float(np.abs(means).max()))
    polytope, most_bases = make_polytope(k, d), MOST_BASES
    load(polytope, means / unit, rows / row_units(rows)[:, None])
    status = find_best(polytope)
    if status == EMPTY:
        return None
    if status == LOST:
        raise ArithmeticError("the best policy was not found: simplex steps failed")
    while True:
        others = make_vertex_search(k, d, most_bases)
        count = find_alternatives(polytope, reach / unit, others)
        if not others.cut[0]:
            break
        if most_bases >= LISTED:
            raise ArithmeticError(f"the set of policies has more than {LISTED} bases")
        most_bases *= 2
    policy = polytope.policy
    gaps = unit * others.gaps[:count]
    return Alternatives(policy, float(policy @ means), others.steps[:count].copy(), gaps)


def nonempty(polytope: Alternatives | None) -> Alternatives:
    """Its argument, for a set that must not be empty. Raises ArithmeticError if it is (None)."""
    if polytope is None:
        raise ArithmeticError("no policy satisfies the constraints")
    return polytope


def every_alternative(
    means: np.ndarray, matrix: np.ndarray, limits: np.ndarray
) -> Alternatives | None:
    """The best vertex and all others; None if the set is empty. Not for use in loops."""
    return alternatives(means, matrix, limits, np.inf)


@jit
def best_support(polytope: Polytope) -> np.ndarray:
    """(K + d,) 1 for arms with weight in the best vertex, then for slack constraints."""
    support = np.zeros(polytope.tableau.shape[1] - 1, np.int64)
    for row in range(polytope.basis.size):
        if polytope.basis[row] >= 0 and polytope.tableau[row, support.size] > BROKEN:
            support[polytope.basis[row]] = 1
    return support
