"""What the rows of a table are called and how they look, as in the table's figure."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from bestarm.common.styles import BOUND, PUBLISHED, SPARE, Style

#: What rows have in place of a reading if no strategy played: see `tables.MEANINGS`.
NOT_PLAYED = ("published", "exact")
#: The statistic that figures draw as a line, if it has no other style.
LOWER_BOUND = "lower_bound"


class Names:
    """Names and styles of a table's strategies and readings, as its figure has them.

    Where the figure's first statistic has one strategy with several readings, these tell its lines
    apart, else strategies do.
    """

    def __init__(self, rows: pd.DataFrame, styles: Mapping[str, Style], first: str):
        played = rows[~rows.reading.isin(NOT_PLAYED)]
        estimates = played[played.statistic == first] if first else played
        readings = estimates.groupby("strategy").reading.nunique()
        #: Strategies that the figure shows in several readings.
        self.several = list(readings[readings > 1].index)
        self._alone = len(readings) == 1
        self._said = played.groupby("strategy").reading.nunique() > 1
        self._strategies = _styles(styles, rows.strategy, rows.algorithm)
        for name in set(rows[rows.statistic == LOWER_BOUND].strategy) - {*styles, *played.strategy}:
            self._strategies[name] = BOUND._replace(name=name)
        self._readings = _styles(styles, rows.reading)
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

    def style(self, row: Any) -> Style:
        """How a row's series is drawn."""
        if row.reading == "published":
            return PUBLISHED
        if row.reading != "exact" and self.several == [row.strategy]:
            return self._readings[row.reading]
        return self._strategies[row.strategy]

    def place(self, row: Any) -> tuple[int, int]:
        """The place of a row's series among all, in the order of the styles."""
        strategies, readings = self._order
        return strategies.index(row.strategy), readings.index(row.reading)


def _styles(
    table: Mapping[str, Style], names: Iterable[str], kinds: Iterable[str] | None = None
) -> dict[str, Style]:
    """As `named_styles`; a name may have the style of its kind, and spare styles are used again."""
    kinds_by_name = dict(zip(names, names if kinds is None else kinds, strict=True))
    styles = {name: style for name, style in table.items() if name in kinds_by_name}
    others = [name for name in kinds_by_name if name not in table]
    styles |= {
        name: table[kinds_by_name[name]]._replace(name=name)
        for name in others
        if kinds_by_name[name] in table
    }
    left = [name for name in others if name not in styles]
    styles |= {name: Style(*SPARE[k % len(SPARE)]) for k, name in enumerate(left)}
    return {name: style._replace(name=style.name or name) for name, style in styles.items()}
