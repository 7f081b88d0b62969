"""Results that are told as counts: the number of pulls of an arm, and the sum of their rewards."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bestarm.core.plain import ordinary
from bestarm.live.labels import listed


class Counts(NamedTuple):
    """Pulls of one arm that are told together.

    Example:
        >>> Counts(arm=2, pulls=400, sums=(18.0,)).squares is None
        True
    """

    arm: Any  # its label; once it is checked, its index
    pulls: int
    sums: tuple[float, ...]  # of rewards, then of each cost
    squares: float | None = None  # sum of the squares of rewards, if sigma is unknown

    @property
    def scatter(self) -> float:
        """The sum of the squares of rewards less their mean; 0 if squares are not told."""
        return 0.0 if self.squares is None else self.squares - self.sums[0] ** 2 / self.pulls


def table_rows(table: Any, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """The rows of a table, in the order of some columns.

    Args:
        table: a DataFrame, whose index counts if it has names; or a mapping from columns to values.
        columns: their names.

    Raises:
        ValueError: a column is missing or unknown, or columns have different lengths.

    Example:
        >>> table_rows({"total": [3.0], "pulls": [40]}, ["pulls", "total"])
        [(40, 3.0)]
    """
    if hasattr(table, "reset_index"):
        named = any(name is not None for name in table.index.names)
        table = table.reset_index() if named else table
        table = {str(name): table[name].tolist() for name in table.columns}
    if not isinstance(table, Mapping):
        raise ValueError(f"table must be a DataFrame or a dictionary of columns, got {type(table)}")
    if set(table) != set(columns):
        got = listed(map(str, table)) or "none"
        raise ValueError(f"table must have the columns {listed(columns)}, got {got}")
    values = [[*ordinary(table[name])] for name in columns]
    if len({*map(len, values)}) > 1:
        raise ValueError("table must have columns of equal length")
    return [*zip(*values, strict=True)]


def added_up(counts: Sequence[Counts], shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Pulls, sums of rewards and scatter by arm, as arrays of this shape.

    Example:
        >>> pulls, sums, _ = added_up([Counts(1, 40, (3.0,))], (2,))
        >>> pulls.tolist(), sums.tolist()
        ([0.0, 40.0], [0.0, 3.0])
    """
    pulls, sums, scatter = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for arm_counts in counts:
        pulls.flat[arm_counts.arm] = arm_counts.pulls
        sums.flat[arm_counts.arm] = arm_counts.sums[0]
        scatter.flat[arm_counts.arm] = arm_counts.scatter
    return pulls, sums, scatter
