"""Standard output, for tables and texts."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

#: Columns of a terminal that texts fit in.
WIDTH = 80


def output(width: int = 240) -> Console:
    """Standard output: as wide as the terminal, or of some width in a file or pipe.

    Without markup: names that people give may hold square brackets and colons.
    """
    return Console(width=None if sys.stdout.isatty() else width, markup=False, emoji=False)


def names_in_lines(names: Iterable[str], indent: str, width: int = WIDTH) -> Iterator[str]:
    """Names with commas between them, in lines of some width; no name is split.

    Args:
        names: any.
        indent: of the first line; the others begin under its end.
        width: of a line.

    Example:
        >>> for line in names_in_lines(["one", "two", "three"], "  names ", 20):
        ...     print(line)
          names one, two,
                three
    """
    line, first = indent, True
    for name in names:
        if not first and len(line) + len(name) + 3 > width:
            yield line + ","
            line, first = " " * len(indent), True
        line += name if first else f", {name}"
        first = False
    yield line


def tables_that_fit(
    headings: Mapping[str, str], make: Callable[[dict[str, str]], Table], console: Console
) -> Iterator[Table]:
    """A table of columns, divided into as few tables as the width of the terminal allows.

    Args:
        headings: of the columns, by name.
        make: a table of some of them.
        console: the terminal.
    """
    unlimited = console.options.update(max_width=1_000)
    columns: dict[str, str] = {}
    for name, heading in headings.items():
        wider = columns | {name: heading}
        width = Measurement.get(console, unlimited, make(wider)).maximum
        if width > console.width and columns:
            yield make(columns)
            wider = {name: heading}
        columns = wider
    yield make(columns)
