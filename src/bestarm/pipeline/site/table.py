"""A target's table as pages show it: no column that says the same in every row."""

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
    left_out = [c for c in table.columns if c not in columns(table)]
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


def shown(value: Any) -> str:
    """A value as a cell of the page says it."""
    value = plain(value)
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def preview(table: pd.DataFrame) -> list[list[str]]:
    """The first rows, as texts."""
    return [[shown(v) for v in row] for row in table[columns(table)].head(ROWS).itertuples(False)]


def script(key: str, table: pd.DataFrame, chart: dict | None) -> str:
    """All rows, and how they are drawn, as a script: a page opened as a file cannot fetch data."""
    rows = [[plain(v) for v in row] for row in table[columns(table)].itertuples(False)]
    data = {"columns": columns(table), "rows": rows, "chart": chart}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"bestarm.receive({json.dumps(key)}, {text});\n"
