"""Printing a target's table: a row per strategy and reading, a column per statistic."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd
from rich import box
from rich.table import Table

from bestarm.common.files import data_folder
from bestarm.common.tables import groups, lines, read_table
from bestarm.core.inputs import InputError
from bestarm.users.output import WIDTH, output, tables_that_fit
from bestarm.users.tables import significant

#: What tells the rows of a printed table apart; the last is left out where no row has it.
ROW = ["strategy", "reading", "x"]
FOOTNOTE = "* some runs reached the cap, and count as ended there; – not defined"


def print_target(paper: str, target: str) -> None:
    """Print the table of a target, in 80 columns or the width of the terminal.

    Raises:
        InputError: the table is not there.
    """
    name = f"figures/{paper}/{target}.csv"
    path = data_folder().parent / name
    if not path.is_file():
        raise InputError(f"{path}: is missing; `snakemake {name}` makes it (from the checkout)")
    table = read_table(path)
    console = output(WIDTH)
    for title, part in _parts(table):
        console.print(title, soft_wrap=True, highlight=False, style="bold")
        headings = {name: name for name in part.statistic.unique()}
        for grid in tables_that_fit(headings, partial(_grid, _rows(part)), console):
            console.print(grid)
    for note in ("[low, high]: 95% intervals, to three digits", f"all digits and columns: {name}"):
        console.print(note, soft_wrap=True, highlight=False)
    if table.status.isin(["restricted", "undefined"]).any():
        console.print(FOOTNOTE, soft_wrap=True, highlight=False)


def _parts(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows by instance and setting, which are the titles; not by what the axis has."""
    if table.empty:
        return
    axis = [*zip(table.x_name, table.x, strict=True)]
    short = table.assign(
        instance=[_without_axis(n, *at, " ") for n, at in zip(table.instance, axis, strict=True)],
        setting=[_without_axis(s, *at, ",") for s, at in zip(table.setting, axis, strict=True)],
    )
    key = ["instance", "setting", "x_name", *ROW, "statistic"]
    table = table if short.duplicated(key).any() else short
    for (instance, setting, axis), part in groups(table, "instance", "setting", "x_name"):
        words = [instance, setting, f"x: {axis}" if axis else ""]
        yield "; ".join(word for word in words if word), part


def _without_axis(label: str, axis: str, x: float, between: str) -> str:
    """A label without the part that says the value of the axis."""
    if not axis or math.isnan(x):
        return label
    return between.join(part for part in label.split(between) if part != f"{axis}={x:g}")


def _rows(part: pd.DataFrame) -> dict[tuple[str, ...], dict[str, Any]]:
    """The estimates of each printed row by statistic, under what tells the row apart."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for estimate in lines(part.sort_values(ROW)):
        key = (estimate.strategy, estimate.reading, f"{estimate.x:g}")
        found.setdefault(key, {})[estimate.statistic] = estimate
    return found


def _grid(rows: dict[tuple[str, ...], dict[str, Any]], headings: dict[str, str]) -> Table:
    """Some statistics of the rows of a part, and how many runs are behind them."""
    rows = {key: row for key, row in rows.items() if row.keys() & headings.keys()}
    width = len(ROW) if any(key[-1] != "nan" for key in rows) else len(ROW) - 1
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ROW[:width]:
        grid.add_column(name, overflow="fold", justify="right" if name == "x" else "left")
    grid.add_column("runs", justify="right", no_wrap=True)
    for heading in headings.values():
        grid.add_column(heading, justify="right", no_wrap=True)
    for key, row in rows.items():
        counts = [row[name].n for name in headings if name in row]
        texts = [_text(row[name]) if name in row else "" for name in headings]
        grid.add_row(*key[:width], f"{max(counts):,.0f}", *texts)
    return grid


def _text(estimate: Any) -> str:
    """A number with its interval if it has one, and a mark if a footnote explains it."""
    if math.isnan(estimate.value):
        return "–"
    text = significant(estimate.value)
    if estimate.low < estimate.high:
        text += f" [{significant(estimate.low)}, {significant(estimate.high)}]"
    return text + "*" * (estimate.status == "restricted")
