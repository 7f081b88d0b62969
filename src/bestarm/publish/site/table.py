"""A target's table as pages show it: no column that says the same in every row."""

import itertools
import json
import math
from typing import Any

import pandas as pd

#: Rows that stand on the page itself; the others come when asked for.
ROWS = 20
ALWAYS = ("statistic", "value", "low", "high", "n", "status")


def columns(table: pd.DataFrame) -> list[str]:
    """The columns to show: those that tell rows apart, and the numbers."""
    return [c for c in table.columns if c in ALWAYS or table[c].nunique(dropna=False) > 1]


def same(table: pd.DataFrame) -> dict[str, str]:
    """The columns left out, with what they say in every row."""
    kept = columns(table)
    left_out = [c for c in table.columns if c not in kept]
    values = {c: plain(table[c].iloc[0]) for c in left_out} if len(table) else {}
    return {c: str(value) for c, value in values.items() if value not in ("", None)}


def plain(value: Any) -> Any:
    """A value as JSON holds it: None where undefined, infinity as a sign."""
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return int(value) if value == int(value) and abs(value) < 1e15 else float(value)


def cell_text(value: Any) -> str:
    """A value as a cell of the page says it."""
    value = plain(value)
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def preview(table: pd.DataFrame) -> list[list[str]]:
    """The first rows, as texts."""
    return [
        [cell_text(v) for v in row] for row in table[columns(table)].head(ROWS).itertuples(False)
    ]


def _compact(values: list[Any]) -> list[Any] | dict[str, list[Any]]:
    names = {name: at for at, name in enumerate(dict.fromkeys(values))}
    if len(names) > len(values) / 2:
        return values
    at = [names[value] for value in values]
    runs = [n for place, same in itertools.groupby(at) for n in (place, len(list(same)))]
    shorter = {"runs": runs} if len(runs) < len(at) else {"at": at}
    return {"names": list(names), **shorter}


def script(key: str, table: pd.DataFrame, chart: dict | None) -> str:
    """All rows, and how they are drawn, as a script: a page opened as a file cannot fetch data.

    A column is its values or, if these repeat, {names, at}: the different ones, and for each row
    the place of its own among them. In {names, runs} each place is followed by how often it comes.
    """
    values = {
        name: _compact([plain(v) for v in table[name].to_numpy().tolist()])
        for name in columns(table)
    }
    if chart is not None:
        places = [of or ([-1], -1) for of in chart["of"]]
        panels = [group if len(group) > 1 else group[0] for group, _ in places]
        chart = chart | {"of": {"panel": panels, "series": [s for _, s in places]}}
    data = {"columns": values, "chart": chart}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"bestarm.receive({json.dumps(key)}, {text});\n"
