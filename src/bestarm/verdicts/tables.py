"""Rows of tables and published numbers, found by what a claim names of them."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bestarm.common.tables import lines
from bestarm.core.inputs import InputError
from bestarm.verdicts.claims import TableRow


class PublishedNumber(NamedTuple):
    """A published number with its own precision: a line of data/published/PAPER.csv."""

    printed: str  # as printed or read off
    value: float
    n: float  # the paper's runs behind it; nan if it is computed
    half_unit: float  # half of the last printed digit, or the error of reading it off
    precision: str  # print, or plot
    cap: float  # at which the paper's runs stop; nan if they do not
    own_error: float  # standard error of its logarithm by the paper's own repetition; nan if none

    @property
    def rounding(self) -> float:
        """By how much its logarithm may be off, by its rounding or its plot."""
        part = self.half_unit / self.value if self.value else 1.0
        return -math.log1p(-part) if part < 1.0 else math.inf


def read_published(path: Path | str) -> pd.DataFrame:
    """data/published/PAPER.csv, the numbers as texts too. Raises InputError naming the file."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        table["printed"] = table.printed.where(table.printed != "", table.value)
        if "own_error" not in table:
            table["own_error"] = ""
        for name in ("value", "n", "half_unit", "cap", "own_error"):
            table[name] = pd.to_numeric(table[name])
        table["n"] = table.n.where(table.n > 0)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: is not a table of published values ({error})") from None
    return table


class Tables:
    """The targets' tables of one paper at one scale, and what it published.

    Claims ask for the same rows again and again, under other readings and margins. A row comes as
    a named tuple: reading a value of it takes a thousandth of the time of one of a pandas row.
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame], published: pd.DataFrame | None = None):
        self.tables = tables
        self._published = pd.DataFrame() if published is None else published
        self._found: dict[str, Any] = {}

    def find(self, row: TableRow, reading: str) -> Any:
        """The one row meant, under a reading, with columns as attributes.

        Raises InputError when there is none, or several.
        """
        return self._once(f"{reading} {row!r}", lambda: self._find(row, reading))

    def find_if_there(self, row: TableRow) -> Any:
        """The one row meant, which names its reading; None if there is none.

        Raises InputError when there are several.
        """
        rows = self._rows(row, "")
        return self.find(row, "") if rows else None

    def published(self, row: TableRow) -> PublishedNumber:
        """The published number of a row. Raises InputError when there is none, or several."""
        return self._once(repr(row), lambda: self._find_published(row))

    def _once(self, name: str, look_up: Callable[[], Any]) -> Any:
        if name not in self._found:
            self._found[name] = look_up()
        return self._found[name]

    def _find(self, row: TableRow, reading: str) -> Any:
        rows = self._rows(row, reading)
        if len(rows) != 1:
            criteria = _criteria(row, reading)
            raise InputError(
                f"claims: {len(rows)} rows of {row.target} match {criteria}, 1 is wanted"
            )
        return rows[0]

    def _rows(self, row: TableRow, reading: str) -> list[Any]:
        """All rows that are meant."""
        if row.target is None or row.target not in self.tables:
            raise InputError(f"claims name target {row.target}, which has no table")
        criteria = _criteria(row, reading)
        near = self._once(f"rows {row.target}", lambda: self._by_reading(row.target))
        return [
            line
            for line in near[criteria["reading"], criteria.get("statistic")]
            if all(_is_near(getattr(line, k), v, k) for k, v in criteria.items())
        ]

    def _by_reading(self, target: str | None) -> dict[tuple[str, str | None], list]:
        """The rows of a table by reading and statistic; all of a reading under None."""
        rows: dict[tuple[str, str | None], list] = defaultdict(list)
        for line in lines(self.tables[str(target)]):
            rows[line.reading, line.statistic].append(line)
            rows[line.reading, None].append(line)
        return rows

    def _find_published(self, row: TableRow) -> PublishedNumber:
        names = ("target", "instance", "strategy", "statistic")
        criteria = {k: v for k, v in row.model_dump(exclude_none=True).items() if k in names}
        rows = matching(self._published, criteria)
        if len(rows) != 1:
            raise InputError(f"claims: {len(rows)} published numbers match {criteria}, 1 is wanted")
        return PublishedNumber(**{name: rows.iloc[0][name] for name in PublishedNumber._fields})


def _criteria(row: TableRow, reading: str) -> dict[str, Any]:
    """The columns of a row that is meant, with their values."""
    criteria = row.model_dump(exclude={"target"}, exclude_none=True)
    criteria.setdefault("reading", reading)
    return criteria


def _is_near(value: Any, expected: Any, column: str) -> bool:
    """Whether a row has a wanted value; those of `x` may differ by rounding."""
    return (
        abs(value - expected) <= 1e-5 * abs(expected) if column == "x" else bool(value == expected)
    )


def matching(table: pd.DataFrame, criteria: Mapping) -> pd.DataFrame:
    """The rows of a table with these values."""
    keep = np.ones(len(table), dtype=bool)
    for column, value in criteria.items():
        values = table[column]
        keep &= np.isclose(values, value, rtol=1e-5) if column == "x" else (values == value)
    return table[keep]
