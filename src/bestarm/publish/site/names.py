"""What the rows of a table are called and how they look, as in the table's figure."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from bestarm.common.looks import BOUND, PUBLISHED, SPARE, Look

#: What rows have in place of a reading if no strategy played: see `tables.MEANINGS`.
NOT_PLAYED = ("published", "exact")
#: The statistic that figures draw as a line, if it has no other look.
LOWER_BOUND = "lower_bound"


class Names:
    """Names and looks of a table's strategies and readings, as its figure has them.

    Where the figure's first statistic has one strategy with several readings, these tell its lines
    apart, else strategies do.
    """

    def __init__(self, rows: pd.DataFrame, looks: Mapping[str, Look], first: str):
        played = rows[~rows.reading.isin(NOT_PLAYED)]
        estimates = played[played.statistic == first] if first else played
        readings = estimates.groupby("strategy").reading.nunique()
        #: Strategies that the figure shows in several readings.
        self.several = list(readings[readings > 1].index)
        self._alone = len(readings) == 1
        self._said = played.groupby("strategy").reading.nunique() > 1
        self._strategies = _looks(looks, rows.strategy, rows.algorithm)
        for name in set(rows[rows.statistic == LOWER_BOUND].strategy) - {*looks, *played.strategy}:
            self._strategies[name] = BOUND._replace(name=name)
        self._readings = _looks(looks, rows.reading)
        self._order = [*self._strategies], [*self._readings]

    def reading(self, name: str) -> str:
        """A reading's name for people."""
        return self._readings[name].name

    def series(self, row: Any, say_reading: bool = True) -> str:
        """The name of a row's series: the strategy and, if it has several, the reading."""
        strategy, reading = self._strategies[row.strategy].name, self.reading(row.reading)
        if row.reading == "published":
            return f"{strategy}, published"
        if row.reading == "exact" or not (say_reading and self._said.get(row.strategy, False)):
            return strategy
        return reading if self._alone and row.strategy in self.several else f"{strategy}, {reading}"

    def look(self, row: Any) -> Look:
        """How a row's series is drawn."""
        if row.reading == "published":
            return PUBLISHED
        if row.reading != "exact" and self.several == [row.strategy]:
            return self._readings[row.reading]
        return self._strategies[row.strategy]

    def place(self, row: Any) -> tuple[int, int]:
        """The place of a row's series among all, in the order of the looks."""
        strategies, readings = self._order
        return strategies.index(row.strategy), readings.index(row.reading)


def _looks(
    table: Mapping[str, Look], names: Iterable[str], kinds: Iterable[str] | None = None
) -> dict[str, Look]:
    """As `named_looks`; a name may have the look of its kind, and spare looks are used again."""
    kinds_by_name = dict(zip(names, names if kinds is None else kinds, strict=True))
    looks = {name: look for name, look in table.items() if name in kinds_by_name}
    others = [name for name in kinds_by_name if name not in table]
    looks |= {
        name: table[kinds_by_name[name]]._replace(name=name)
        for name in others
        if kinds_by_name[name] in table
    }
    left = [name for name in others if name not in looks]
    looks |= {name: Look(*SPARE[k % len(SPARE)]) for k, name in enumerate(left)}
    return {name: look._replace(name=look.name or name) for name, look in looks.items()}
