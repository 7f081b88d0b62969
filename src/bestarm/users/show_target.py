"""Printing a target's table: a row per strategy and reading, a column per statistic.

Nothing heavy is imported here: what is printed is kept (`kept`).
"""

from functools import partial

from rich import box
from rich.table import Table

from bestarm.users.output import WIDTH, output, tables_that_fit

#: The first columns of a printed table; the last is left out where no row has it.
ROW = ("strategy", "reading", "x")
#: A row: what its first columns say, and by statistic the runs behind it and its text.
Row = tuple[list[str], dict[str, tuple[float, str]]]
FOOTNOTE = "* some runs reached the cap, and count as ended there; – not defined"


def print_target(view: dict) -> None:
    """Print the table of a target, in 80 columns or the width of the terminal.

    Args:
        view: what `target_view` gives.
    """
    console = output(WIDTH)
    for title, statistics, rows in view["parts"]:
        console.print(title, soft_wrap=True, highlight=False, style="bold")
        headings = {name: name for name in statistics}
        for grid in tables_that_fit(headings, partial(_grid, rows), console):
            console.print(grid)
    digits = f"all digits and columns: {view['file']}"
    for note in ("[low, high]: 95% intervals, to three digits", digits):
        console.print(note, soft_wrap=True, highlight=False)
    if view["marked"]:
        console.print(FOOTNOTE, soft_wrap=True, highlight=False)


def _grid(rows: list[Row], headings: dict[str, str]) -> Table:
    """Some statistics of the rows of a part, and how many runs are behind them."""
    rows = [(key, row) for key, row in rows if row.keys() & headings.keys()]
    width = len(ROW) if any(key[-1] != "nan" for key, _ in rows) else len(ROW) - 1
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ROW[:width]:
        grid.add_column(name, overflow="fold", justify="right" if name == "x" else "left")
    grid.add_column("runs", justify="right", no_wrap=True)
    for heading in headings.values():
        grid.add_column(heading, justify="right", no_wrap=True)
    for key, row in rows:
        counts = [row[name][0] for name in headings if name in row]
        texts = [row[name][1] if name in row else "" for name in headings]
        grid.add_row(*key[:width], f"{max(counts):,.0f}", *texts)
    return grid
