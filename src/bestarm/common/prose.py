"""Numbers and tables in Markdown."""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any, ParamSpec

import pandas as pd


def wrapped(paragraph: str) -> str:
    """A paragraph in lines of at most 100 letters, code kept together."""
    whole = re.sub(r"`[^`]+`", lambda m: "\0".join(m[0].split()), " ".join(paragraph.split()))
    lines = textwrap.fill(whole, 100, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ")


def number(value) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def percent(share: float, low: float, high: float, digits: int = 1) -> str:
    """A share in percent with its interval.

    Example:
        >>> percent(0.0312, 0.0221, 0.0436)
        '3.1% (2.2 to 4.4)'
    """
    value, *ends = (f"{100 * part:.{digits}f}" for part in (share, low, high))
    return f"{value}% ({' to '.join(ends)})"


def percent_row(row: Any, digits: int = 1) -> str:
    """`percent` of a row or an estimate with `value`, `low` and `high`."""
    return percent(row.value, row.low, row.high, digits)


def printed(text) -> str:
    """A published number, all its digits, with commas between thousands."""
    whole, point, rest = str(text).partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.isdigit() else str(text)


def markdown(table: pd.DataFrame | Iterable[Mapping[str, Any]]) -> str:
    """A table, or its lines as heading -> cell.

    Example:
        >>> print(markdown([{"arm": "a", "mean": 0.5}]))
        | arm | mean |
        | --- | --- |
        | a | 0.5 |
    """
    if not isinstance(table, pd.DataFrame):
        table = pd.DataFrame(list(table))
    lines = [table.columns, ["---"] * len(table.columns), *table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


#: The lines of a table, each as heading -> cell.
Lines = Iterator[Mapping[str, Any]]
Arguments = ParamSpec("Arguments")


def as_table(lines: Callable[Arguments, Lines]) -> Callable[Arguments, str]:
    """Makes a function that returns a table in Markdown of one that yields the table's lines."""

    @wraps(lines)
    def table(*args: Arguments.args, **options: Arguments.kwargs) -> str:
        return markdown(lines(*args, **options))

    return table
