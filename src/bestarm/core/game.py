"""Zero-sum matrix games with few rows, by the simplex method on a condensed tableau."""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import jit, lean

#: Pivots and reduced costs up to this size count as zero; entries of the tableau are near 1.
TOLERANCE = 1e-12
#: Pivots by the largest gain; after these the first gain is taken, which cannot cycle.
GREEDY_STEPS = 50
#: Limit on pivots, for the case that rounding makes them cycle.
MOST_STEPS = 1000


class Game(NamedTuple):
    """Buffers for games of at most m rows and n columns.

    Example:
        >>> make_game(2, 3).payoffs.shape
        (2, 3)
    """

    payoffs: np.ndarray  # (m, n) what the columns' player gets; kept
    tableau: np.ndarray  # (n + 1, m + 1)
    basic: np.ndarray  # (n,) variable of each row of the tableau: rows p_j as j, slacks as m + i
    free: np.ndarray  # (m,) variable of each of its columns


@jit
def make_game(most_rows: int, n_columns: int) -> Game:
    """Buffers for games of at most `most_rows` rows.

    Example:
        >>> make_game(2, 3).basic.size
        3
    """
    return Game(
        payoffs=np.zeros((most_rows, n_columns)),
        tableau=np.zeros((n_columns + 1, most_rows + 1)),
        basic=np.zeros(n_columns, np.int64),
        free=np.zeros(most_rows, np.int64),
    )


@lean
def solve_game(game: Game, n_rows: int, out: np.ndarray) -> float:
    """The best mixture of columns against every row: max_z min_j sum_i payoffs[j, i] z_i.

    With payoffs B scaled into [1, 2], z = y / sum(y) for the solution y of the dual of

        max_p sum(p)   s.t.  B' p <= 1,  p >= 0,

    whose slack basis is feasible (Dantzig 1951). A tableau of n rows and m columns is all there is:
    pivots exchange a variable p_j or slack at 0 with a basic one.

    Args:
        game: the payoffs are in its first rows; all but these is overwritten.
        n_rows: m, at least 1.
        out: (n,) overwritten with z, nonnegative with sum 1.

    Returns:
        The value.

    Example:
        >>> game, z = make_game(2, 2), np.zeros(2)
        >>> game.payoffs[:] = [[3.0, 0.0], [0.0, 1.0]]
        >>> round(solve_game(game, 2, z), 2), z.round(2).tolist()
        (0.75, [0.25, 0.75])
    """
    n = out.size
    low, span = _load(game, n_rows)
    for step in range(MOST_STEPS):
        column = _entering(game, n_rows, step < GREEDY_STEPS)
        if column < 0:
            break
        row = _leaving(game, column, n_rows)
        if row < 0:
            break
        _exchange(game, row, column, n_rows)
    total = 0.0
    out[:] = 0.0
    for j in range(n_rows):
        if game.free[j] >= n_rows:
            share = max(float(game.tableau[n, j]), 0.0)
            out[game.free[j] - n_rows] = share
            total += share
    out /= total
    return low + span * (1.0 / total - 1.0)


@lean
def _load(game: Game, n_rows: int) -> tuple[float, float]:
    """Write the slack basis of a game scaled by B = 1 + (payoffs - low) / span; low and span."""
    n = game.basic.size
    low, high = np.inf, -np.inf
    for j in range(n_rows):
        for i in range(n):
            low = min(low, game.payoffs[j, i])
            high = max(high, game.payoffs[j, i])
    span = high - low if high > low else 1.0
    for i in range(n):
        game.basic[i] = n_rows + i
        for j in range(n_rows):
            game.tableau[i, j] = 1.0 + (game.payoffs[j, i] - low) / span
        game.tableau[i, n_rows] = 1.0
    for j in range(n_rows):
        game.free[j] = j
        game.tableau[n, j] = -1.0
    game.tableau[n, n_rows] = 0.0
    return low, span


@lean
def _entering(game: Game, n_rows: int, greedy: bool) -> int:
    """The column that gains most, or the gaining one of the first variable; -1 if none gains."""
    costs, chosen = game.tableau[game.basic.size], -1
    for j in range(n_rows):
        if costs[j] < -TOLERANCE:
            if chosen < 0:
                chosen = j
            elif greedy:
                chosen = j if costs[j] < costs[chosen] else chosen
            elif game.free[j] < game.free[chosen]:
                chosen = j
    return chosen


@lean
def _leaving(game: Game, column: int, n_rows: int) -> int:
    """The row that blocks first; of ties that of the first variable. -1 if none blocks."""
    chosen, least = -1, np.inf
    for i in range(game.basic.size):
        pivot = game.tableau[i, column]
        if pivot > TOLERANCE:
            ratio = game.tableau[i, n_rows] / pivot
            tie = abs(ratio - least) <= TOLERANCE
            if (ratio < least and not tie) or (tie and game.basic[i] < game.basic[chosen]):
                chosen, least = i, ratio
    return chosen


@lean
def _exchange(game: Game, row: int, column: int, n_rows: int) -> None:
    """Pivot: the row's variable becomes free, the column's basic."""
    tableau = game.tableau
    pivot = tableau[row, column]
    for r in range(tableau.shape[0]):
        if r != row:
            factor = tableau[r, column] / pivot
            if factor != 0.0:
                for c in range(n_rows + 1):
                    if c != column:
                        tableau[r, c] -= factor * tableau[row, c]
            tableau[r, column] = -factor
    for c in range(n_rows + 1):
        tableau[row, c] /= pivot
    tableau[row, column] = 1.0 / pivot
    game.basic[row], game.free[column] = game.free[column], game.basic[row]
