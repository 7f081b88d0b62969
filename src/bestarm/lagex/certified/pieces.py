"""The largest shortfall of a policy against all that may be feasible, with certainty.

    max { mu (pi' - pi) + |pi' - pi|_h : pi' in simplex, rows_i pi' <= R_i(pi') for every i }

where R_i is the `reach` BELOW, |pi'|_u without directed sums, is the maximum of a convex function
over a set that is not convex, since R_i is on the larger side. R_i is the maximum of linear
functions, so it is convex. On a piece of the simplex with corners w_k, that of pi' = sum_k l_k w_k
is at most sum_k l_k R_i(w_k), so the part of the set there lies in the polytope

    { l in simplex : sum_k l_k (rows_i w_k - R_i(w_k)) <= 0 for every i },

at one of whose vertices the function is largest. All of them are visited. With the whole simplex as
the only piece this is the box of entry-wise bounds on A. A piece whose bound is above r is split
between two corners, at the point where a chord is furthest above R_i, until all are below,
or the worst vertex is in the set itself: then no splitting helps.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import jit, lean
from bestarm.lagex.certified.basic_solutions import (
    BasicSolutions,
    make_basic_solutions,
    next_vertex,
    restart,
)
from bestarm.lagex.certified.confidence import (
    BELOW,
    ConfidenceSet,
    largest_excess,
    reach,
    shortfall,
)

#: Most pieces that are looked at, and most that wait at a time.
MOST_PIECES, MOST_WAITING = 200, 40
#: `Pieces.splits` of a piece that was not split.
WHOLE = -1


class Pieces(NamedTuple):
    """Buffers, and after `largest_shortfall` the pieces that were looked at, depth first."""

    corners: np.ndarray  # (W, K, K) a row per corner, of the pieces that wait
    reaches: np.ndarray  # (d, K) BELOW, of the corners of the current piece
    error: np.ndarray  # (K,) buffer
    walk: BasicSolutions
    worst: np.ndarray  # (K,) the worst vertex, in shares of the corners
    point: np.ndarray  # (K,) the same as a policy; a buffer
    splits: np.ndarray  # (P, 2) corners i, j that were split between, or WHOLE
    shares: np.ndarray  # (P,) of i in the new corner, which replaces j in the next piece, then i
    looked_at: np.ndarray  # (1,) number of pieces


@jit
def make_pieces(n_arms: int, n_constraints: int) -> Pieces:
    """Buffers."""
    return Pieces(
        corners=np.zeros((MOST_WAITING, n_arms, n_arms)),
        reaches=np.zeros((n_constraints, n_arms)),
        error=np.zeros(n_arms),
        walk=make_basic_solutions(n_constraints + 1, n_arms + n_constraints),
        worst=np.zeros(n_arms),
        point=np.zeros(n_arms),
        splits=np.zeros((MOST_PIECES, 2), np.int64),
        shares=np.zeros(MOST_PIECES),
        looked_at=np.zeros(1, np.int64),
    )


@lean
def _load(seen: ConfidenceSet, corners: np.ndarray, pieces: Pieces) -> None:
    """The polytope of a piece, with a slack per constraint, for the walk over its vertices.

    Constraints are divided by their largest coefficient, so that entries are near 1.
    """
    d, k = seen.rows.shape
    system = pieces.walk.tableaus[0]
    for c in range(k):
        for i in range(d):
            pieces.reaches[i, c] = reach(seen, BELOW, i, corners[c], pieces.error)
        system[0, c] = 1.0
    for i in range(d):
        largest = 0.0
        for c in range(k):
            system[1 + i, c] = -pieces.reaches[i, c]
            for a in range(k):
                system[1 + i, c] += seen.rows[i, a] * corners[c, a]
            largest = max(largest, abs(system[1 + i, c]))
        for c in range(k):
            system[1 + i, c] /= largest if largest > 0.0 else 1.0
    for i in range(d + 1):
        for j in range(d):
            system[i, k + j] = 1.0 if i == 1 + j else 0.0
        system[i, k + d] = 1.0 if i == 0 else 0.0
    restart(pieces.walk)


@lean
def _worst_vertex(
    seen: ConfidenceSet, policy: np.ndarray, corners: np.ndarray, pieces: Pieces
) -> float:
    """The largest shortfall at a vertex of the loaded piece, left in `worst` and `point`.

    -inf if it has none.
    """
    walk, worst, point, k = pieces.walk, pieces.worst, pieces.point, policy.size
    largest = -np.inf
    while next_vertex(walk):
        _combine(walk, corners, point)
        value = shortfall(seen, policy, point)
        if value > largest:
            largest = value
            for c in range(k):
                worst[c] = 0.0
            for m in range(walk.columns.size):
                if walk.columns[m] < k:
                    worst[walk.columns[m]] = max(walk.values[m], 0.0)
    for a in range(k):
        point[a] = 0.0
        for c in range(k):
            point[a] += worst[c] * corners[c, a]
    return largest


@lean
def _combine(walk: BasicSolutions, corners: np.ndarray, point: np.ndarray) -> None:
    """The policy of a vertex."""
    k = point.size
    for a in range(k):
        point[a] = 0.0
    for m in range(walk.columns.size):
        c = walk.columns[m]
        if c < k:
            for a in range(k):
                point[a] += walk.values[m] * corners[c, a]


@lean
def worst_of_box(
    seen: ConfidenceSet, policy: np.ndarray, pieces: Pieces, point: np.ndarray
) -> float:
    """The bound with the whole simplex as the only piece; its vertex is left in `point`."""
    corners = pieces.corners[0]
    _reset(corners)
    _load(seen, corners, pieces)
    value = _worst_vertex(seen, policy, corners, pieces)
    for a in range(point.size):
        point[a] = pieces.point[a]
    return value


@lean
def _reset(corners: np.ndarray) -> None:
    """The whole simplex."""
    k = corners.shape[0]
    for c in range(k):
        for a in range(k):
            corners[c, a] = 1.0 if a == c else 0.0


@lean
def _split(seen: ConfidenceSet, waiting: int, pieces: Pieces) -> bool:
    """Split the last piece that waits into two; False if its worst vertex is a corner."""
    worst, reaches, point, k = pieces.worst, pieces.reaches, pieces.point, pieces.worst.size
    here, there = pieces.corners[waiting - 1], pieces.corners[waiting]
    most, first, second = 0.0, WHOLE, WHOLE
    for i in range(k):
        for j in range(i):
            if worst[i] > 0.0 and worst[j] > 0.0:
                for a in range(k):
                    point[a] = worst[i] * here[i, a] + worst[j] * here[j, a]
                for row in range(reaches.shape[0]):
                    chord = worst[i] * reaches[row, i] + worst[j] * reaches[row, j]
                    gained = chord - reach(seen, BELOW, row, point, pieces.error)
                    if gained > most:
                        most, first, second = gained, i, j
    if first == WHOLE:
        return False
    share = worst[first] / (worst[first] + worst[second])
    count = pieces.looked_at[0]
    pieces.splits[count, 0], pieces.splits[count, 1] = first, second
    pieces.shares[count] = share
    for c in range(k):
        for a in range(k):
            there[c, a] = here[c, a]
    for a in range(k):
        there[second, a] = share * here[first, a] + (1.0 - share) * here[second, a]
        here[first, a] = there[second, a]
    return True


@lean
def largest_shortfall(seen: ConfidenceSet, policy: np.ndarray, r: float, pieces: Pieces) -> float:
    """An upper bound on the maximum of this module, if it is at most r.

    Args:
        seen: the confidence set. policy: (K,) pi.
        r: above which it need not be known.
        pieces: overwritten; when the bound is finite, it holds the pieces that prove it.

    Returns:
        The bound; -inf if no policy may be feasible, inf if it was not shown to be at most r.
    """
    largest, waiting = -np.inf, 1
    pieces.looked_at[0] = 0
    _reset(pieces.corners[0])
    while waiting > 0:
        count, corners = pieces.looked_at[0], pieces.corners[waiting - 1]
        if count == MOST_PIECES:
            return np.inf
        _load(seen, corners, pieces)
        value = _worst_vertex(seen, policy, corners, pieces)
        if value <= r:
            largest = max(largest, value)
            pieces.splits[count, 0] = WHOLE
            waiting -= 1
        else:
            inside = largest_excess(seen, BELOW, pieces.point, -1.0, pieces.error) <= 0.0
            if inside or waiting == MOST_WAITING or not _split(seen, waiting, pieces):
                return np.inf
            waiting += 1
        pieces.looked_at[0] = count + 1
    return largest
