"""Which tables are worth hovering over, and how the browser draws them.

A table with values against a numeric x becomes curves; one with a statistic of many parts, such as
`mean_share:1;2`, a heat map; any other a line with a dot per strategy. The browser draws; here rows
are put into panels and series, with the names, colours, marks and dashes of the figures.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from bestarm.common.styles import PUBLISHED, Style
from bestarm.common.tables import lines
from bestarm.publish.site.names import LOWER_BOUND, NOT_PLAYED, Names

#: A line needs this many points, and a heat map this many columns, to be worth it.
FEWEST = 3
FEWEST_PARTS, MOST_LINES = 4, 60

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
About = Mapping[str, Iterable[str]]


def chart(
    table: pd.DataFrame,
    styles: Mapping[str, Style],
    first: str = "",
    about: About = MappingProxyType({}),
    log: Mapping[str, bool] = MappingProxyType({}),
) -> dict | None:
    """How a table is drawn, or None where there is nothing to hover over.

    Args:
        table: a target's table.
        styles: the paper's styles, by strategy or by reading.
        first: the statistic that the static picture shows first.
        about: further columns by the label that they are part of, `Paper.extra_columns`.
        log: for "x" and "y", whether these axes of the static picture are logarithmic.

    Returns:
        `kind`, `panels`, `series` (names and styles), `start` (a statistic), `beside` (statistics
        drawn with it), `log`, for curves `x_names` by panel, and `of`: for each row of the table
        its panels and its series, None if not drawn.
    """
    rows = table[table.value.notna()]
    for draw in (_curves, _heat_map, _dots):
        made = draw(rows, styles, first, about)
        if made is None:
            continue
        drawn = rows.loc[list(made["of"])]
        statistics = drawn[drawn.groupby("statistic").value.transform("nunique") > 1].statistic
        if first in set(statistics) or (not first and len(statistics)):
            start = first or statistics.iloc[0]
            of = [made["of"].get(row) for row in table.index]
            beside = _beside(drawn, made, start)
            return {**made, "of": of, "start": start, "beside": beside, "log": dict(log)}
    return None


def _beside(drawn: pd.DataFrame, made: dict[str, Any], start: str) -> list[str]:
    """Bounds in the unit of the first statistic, if they are series of their own."""
    at = {name: of.index for name, of in drawn.groupby("statistic")}
    if (
        start == LOWER_BOUND
        or LOWER_BOUND not in at
        or len(drawn.unit[[at[start][0], *at[LOWER_BOUND]]].unique()) > 1
    ):
        return []
    series = [{made["of"][row][1] for row in at[name]} for name in (start, LOWER_BOUND)]
    return [] if series[0] & series[1] else [LOWER_BOUND]


def _curves(
    rows: pd.DataFrame, styles: Mapping[str, Style], first: str, about: About
) -> dict | None:
    rows = rows[rows.x.notna()]
    if rows.empty:
        return None
    rows = pd.concat(_without_x(group, about) for _, group in rows.groupby("x_name", sort=False))
    rows = rows.sort_index()
    named = Names(rows, styles, first)
    titles = [rows[name] for name in ("instance", "x_name") if rows[name].nunique() > 1]
    # With several strategies in several readings there would be too many lines in one panel.
    split = rows.strategy.isin(named.several) & ~rows.reading.isin(NOT_PLAYED)
    split &= len(named.several) > 1
    if split.any():
        titles.append(rows.reading.map(named.reading).where(split, ""))
    series = [named.series(r, not s) for r, s in zip(lines(rows), split, strict=True)]
    placed = _placed(rows.assign(series=series), titles, about, ["x"])
    if placed is None:
        return None
    lengths = placed.groupby(["panel", "statistic", "series"]).x.transform("size")
    longest = lengths.groupby([placed.panel, placed.statistic]).transform("max")
    placed = placed[longest >= FEWEST]
    if placed.empty:
        return None
    axes = placed[placed.x_name != ""].drop_duplicates("panel").set_index("panel").x_name
    made = _made(placed, _series(placed, named))
    return {"kind": "curves", **made, "x_names": [axes.get(p, "x") for p in made["panels"]]}


def _heat_map(
    rows: pd.DataFrame, styles: Mapping[str, Style], first: str, about: About
) -> dict | None:
    named = Names(rows, styles, first)
    parts = rows.statistic.str.partition(":")
    rows = rows.assign(panel=parts[0], part=parts[2])[parts[2] != ""]
    if rows.empty:
        return None
    series = [named.series(row) for row in lines(rows)]
    if rows.instance.nunique() > 1:
        alike = len(set(series)) == 1
        both = zip(rows.instance, series, strict=True)
        series = [label if alike else f"{label}: {name}" for label, name in both]
    rows = rows.assign(series=series)
    sizes = rows.groupby("panel")[["part", "series"]].transform("nunique")
    rows = rows[(sizes.part >= FEWEST_PARTS) & sizes.series.between(2, MOST_LINES)]
    if (rows.reading == "published").all() or rows.duplicated(["panel", "series", "part"]).any():
        return None
    order = sorted(lines(rows.drop_duplicates("series")), key=named.place)
    return {"kind": "map", **_made(rows, [{"name": row.series} for row in order])}


def _dots(rows: pd.DataFrame, styles: Mapping[str, Style], first: str, about: About) -> dict | None:
    estimates = rows[rows.statistic == first]
    if len(estimates) and estimates.x.isna().all():
        rows = rows[rows.x.isna()]
    if rows.empty:
        return None
    named = Names(rows, styles, first)
    rows = rows.assign(series=[named.series(row) for row in lines(rows)])
    titles = [rows.instance] if rows.instance.nunique() > 1 else []
    placed = _placed(rows, titles, about, [])
    if placed is None:  # x tells these apart
        x = rows.x.map("{:g}".format).where(rows.x.notna(), "")
        placed = _placed(rows, [*titles, x], about, [])
    if placed is None:
        return None
    return {"kind": "dots", **_made(placed, _series(placed, named))}


def _without_x(rows: pd.DataFrame, about: About) -> pd.DataFrame:
    """Rows of one axis, whose labels do not say again what x says, as in `setup 1 m3=0.5`."""
    begins = {"instance": rows.family, "strategy": rows.algorithm, "setting": [""] * len(rows)}
    for label, names in about.items():
        names = [name for name in names if name in rows]
        on_axis = [name for name in names if (rows[name].eq(rows.x) | rows[name].isna()).all()]
        has_axis = rows[on_axis].notna().any(axis=1)
        others = rows[[name for name in names if name not in on_axis]]
        texts = [
            " ".join(filter(None, [begin, *given]))
            for begin, given in zip(begins[label], _given(others), strict=True)
        ]
        rows = rows.assign(**{label: rows[label].where(~has_axis, pd.Series(texts, rows.index))})
    return rows


def _settings(rows: pd.DataFrame, about: About) -> list[str]:
    """The settings by which rows differ, such as `batch=1`; as labelled if `about` has none."""
    if "setting" not in about:
        return rows.setting.tolist()
    names = [n for n in about["setting"] if n in rows and rows[n].nunique() > 1]
    names = [n for n in names if not (rows[n].eq(rows.x) | rows[n].isna()).all()]
    return [",".join(given) for given in _given(rows[names])]


def _given(rows: pd.DataFrame) -> Iterator[list[str]]:
    """What each row has values of, such as `batch=1`."""
    for _, *values in rows.itertuples(name=None):
        named = zip(rows.columns, values, strict=True)
        yield [f"{name}={value:g}" for name, value in named if pd.notna(value)]


def _placed(
    rows: pd.DataFrame, titles: Sequence[Iterable[str]], about: About, place: list[str]
) -> pd.DataFrame | None:
    """Rows with the panel that each is in, once per panel; None if nothing tells some apart.

    Args:
        rows: with their series.
        titles: what panels are named by, each a text per row. A row that says nothing of something,
            such as a published value of its setting, is in every panel that it fits.
        about: as for `chart`; settings are used where the titles do not tell rows apart.
        place: further columns that tell the rows of a series apart.
    """
    for more in ([], [_settings(rows, about)]):
        texts = [np.asarray(text, dtype=object).tolist() for text in (*titles, *more)]
        keys = list(zip(*texts, strict=True)) or [()] * len(rows)
        number = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        of = np.array([number[key] for key in keys])
        panels = [key for key in number if not any(_fits(key, k) and k != key for k in number)]
        fitting = [
            np.flatnonzero(np.array([_fits(key, panel) for key in number])[of]) for panel in panels
        ]
        names = np.repeat([" · ".join(filter(None, p)) for p in panels], list(map(len, fitting)))
        placed = rows.iloc[np.concatenate(fitting)].assign(panel=names)
        if not placed.duplicated(["panel", "series", "statistic", *place]).any():
            return placed
    return None


def _fits(key: tuple[str, ...], panel: tuple[str, ...]) -> bool:
    return all(part in ("", of) for part, of in zip(key, panel, strict=True))


def _made(placed: pd.DataFrame, series: list[dict[str, Any]]) -> dict[str, Any]:
    """Panels, series, and by row the places of its panels and of its series.

    Panels without a run, of bounds and published values alone, come last.
    """
    with_runs = placed.panel[~placed.reading.isin(NOT_PLAYED)]
    order = dict.fromkeys([*with_runs, *placed.panel])
    panels = {panel: k for k, panel in enumerate(order)}
    names = {line["name"]: k for k, line in enumerate(series)}
    of: dict[Any, tuple[list[int], int]] = {}
    for row in lines(placed):
        of.setdefault(row.Index, ([], names[row.series]))[0].append(panels[row.panel])
    return {"panels": list(panels), "series": series, "of": of}


def _series(placed: pd.DataFrame, named: Names) -> list[dict[str, Any]]:
    """Names and styles of series, in the order of the styles; other dashes if a style repeats."""
    seen: set[tuple[str, str, str | None]] = set()
    drawn = []
    for row in sorted(lines(placed.drop_duplicates("series")), key=named.place):
        style = named.style(row)
        mark, dash = (
            (style.colour, SYMBOLS.get(style.marker, "circle" if style.marker else "")),
            DASHES.get(style.line),
        )
        if dash and (*mark, dash) in seen:
            dash = next((d for d in OTHER_DASHES if (*mark, d) not in seen), dash)
        seen.add((*mark, dash))
        line = {"name": row.series, "colour": style.colour, "dash": dash, "symbol": mark[1]}
        drawn.append(line | ({"hollow": True} if style is PUBLISHED else {}))
    return drawn
