"""Which tables are worth hovering over, and how the browser draws them.

A table with values against a numeric x becomes curves; one with a statistic of many parts, such as
`mean_share:1;2`, a heat map; any other a line with a dot per strategy. The browser draws; here rows
are put into panels and series, with the colours of the figures.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from bestarm.common.looks import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    Look,
)
from bestarm.common.tables import lines

#: A line needs this many points, and a heat map this many columns, to be worth it.
FEWEST = 3
FEWEST_PARTS, MOST_LINES = 4, 60

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)
DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "D": "diamond",
    "P": "cross",
    "X": "x",
    "*": "star",
}
OTHER_DASHES = [*DASHES.values(), "longdash", "longdashdot"]


def chart(
    table: pd.DataFrame,
    looks: Mapping[str, Look],
    first: str = "",
    about: Mapping[str, Iterable[str]] = MappingProxyType({}),
    log: Mapping[str, bool] = MappingProxyType({}),
) -> dict | None:
    """How a table is drawn, or None where there is nothing to hover over.

    Args:
        table: a target's table.
        looks: the paper's looks, by strategy or by reading.
        first: the statistic that the static picture shows first.
        about: further columns by the label that they are part of, `Paper.further`.
        log: for "x" and "y", whether these axes of the static picture are logarithmic.

    Returns:
        `kind`, `panels`, `series` (names and looks), `start` (a statistic), `log`, for curves
        `x_names` by panel, and `of`: for each row of the table its panel and series, None if not
        drawn.
    """
    for made in (_curves(table, looks, about), _heat_map(table), _dots(table, looks)):
        if made is None:
            continue
        drawn = table[[of is not None for of in made["of"]]]
        statistics = drawn[drawn.groupby("statistic").value.transform("nunique") > 1].statistic
        if first in set(statistics) or (not first and len(statistics)):
            return {**made, "start": first or statistics.iloc[0], "log": dict(log)}
    return None


def _curves(
    table: pd.DataFrame, looks: Mapping[str, Look], about: Mapping[str, Iterable[str]]
) -> dict | None:
    rows = table[table.x.notna()]
    if rows.empty:
        return None
    rows = pd.concat(_without_x(some, about) for _, some in rows.groupby("x_name", sort=False))
    rows = rows.sort_index().assign(
        panel=_joined(rows, ["instance", *(["x_name"] if rows.x_name.nunique() > 1 else [])]),
        series=_joined(rows, ["strategy", *(["reading"] if rows.reading.nunique() > 1 else [])]),
    )
    point = ["panel", "series", "statistic", "x"]
    if rows.duplicated(point).any():  # the setting tells these apart
        rows = rows.assign(panel=_joined(rows, ["panel", "setting"]))
    lengths = rows.groupby(["panel", "statistic", "series"]).x.transform("size")
    longest = lengths.groupby([rows.panel, rows.statistic]).transform("max")
    rows = rows[longest >= FEWEST]
    if rows.empty or rows.duplicated(point).any():
        return None
    x_names = rows.drop_duplicates("panel").x_name.tolist()
    series = _series(rows, looks)
    return {"kind": "curves", **_places(table, rows), "series": series, "x_names": x_names}


def _heat_map(table: pd.DataFrame) -> dict | None:
    parts = table.statistic.str.partition(":")
    rows = table.assign(panel=parts[0], part=parts[2])[parts[2] != ""]
    if rows.empty:
        return None
    names = [c for c in ("instance", "strategy", "reading") if rows[c].nunique() > 1]
    rows = rows.assign(series=_joined(rows, names))
    sizes = rows.groupby("panel")[["part", "series"]].transform("nunique")
    rows = rows[(sizes.part >= FEWEST_PARTS) & sizes.series.between(2, MOST_LINES)]
    if (rows.reading == "published").all() or rows.duplicated(["panel", "series", "part"]).any():
        return None
    series = [{"name": name} for name in rows.series.unique()]
    return {"kind": "map", **_places(table, rows), "series": series}


def _dots(table: pd.DataFrame, looks: Mapping[str, Look]) -> dict | None:
    rows = table[table.value.notna()]
    series = ["strategy", *(["reading"] if rows.reading.nunique() > 1 else [])]
    panel = [name for name in ("instance", "setting") if rows[name].nunique() > 1]
    rows = rows.assign(panel=_joined(rows, panel), series=_joined(rows, series))
    if rows.duplicated(point := ["panel", "series", "statistic"]).any():  # x tells these apart
        rows = rows.assign(panel=_joined(rows.assign(x=rows.x.map("{:g}".format)), [*panel, "x"]))
    if rows.empty or rows.duplicated(point).any():
        return None
    return {"kind": "dots", **_places(table, rows), "series": _series(rows, looks)}


def _without_x(rows: pd.DataFrame, about: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    """Rows of one axis, whose labels do not say again what x says, as in `setup 1 m3=0.5`."""
    begins = {"instance": rows.family, "strategy": rows.algorithm, "setting": [""] * len(rows)}
    for label, names in about.items():
        names = [name for name in names if name in rows]
        on_axis = [name for name in names if (rows[name].eq(rows.x) | rows[name].isna()).all()]
        said = rows[on_axis].notna().any(axis=1)
        others = rows[[name for name in names if name not in on_axis]]
        texts = [
            " ".join(filter(None, [begin, *(f"{k}={v:g}" for k, v in line.dropna().items())]))
            for begin, (_, line) in zip(begins[label], others.iterrows(), strict=True)
        ]
        rows = rows.assign(**{label: rows[label].where(~said, pd.Series(texts, rows.index))})
    return rows


def _joined(rows: pd.DataFrame, names: list[str]) -> list[str]:
    return [" · ".join(part for part in row if part) for row in rows[names].itertuples(False)]


def _places(table: pd.DataFrame, rows: pd.DataFrame) -> dict[str, Any]:
    """The panels, and every row's place among panels and series."""
    panels, series = list(rows.panel.unique()), list(rows.series.unique())
    of = pd.Series([None] * len(table), index=table.index, dtype=object)
    for row in lines(rows):
        of[row.Index] = [panels.index(row.panel), series.index(row.series)]
    return {"panels": panels, "of": of.tolist()}


def _series(rows: pd.DataFrame, looks: Mapping[str, Look]) -> list[dict[str, str | None]]:
    """Names and looks of curves: colours of the static figure, dashes where a colour repeats."""
    seen: dict[str, list[str]] = {}
    drawn = []
    for row in lines(rows.drop_duplicates("series")):
        look = looks.get(row.algorithm) or looks.get(row.reading)
        if row.reading == "published":
            drawn.append({"name": row.series, "colour": BLACK, "dash": None, "symbol": "diamond"})
            continue
        fallback = COLOURS[list(rows.algorithm.unique()).index(row.algorithm) % len(COLOURS)]
        colour = look.colour if look else fallback
        dashes = seen.setdefault(colour, [])
        dash = DASHES.get(look.line, "solid") if look else "solid"
        if dash in dashes:
            dash = next((d for d in OTHER_DASHES if d not in dashes), "dot")
        dashes.append(dash)
        symbol = SYMBOLS.get(look.marker, "circle") if look else "circle"
        drawn.append({"name": row.series, "colour": colour, "dash": dash, "symbol": symbol})
    return drawn
