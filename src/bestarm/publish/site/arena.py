"""The page of the arena: its pictures, and a line per cell."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bestarm.arena import PICTURES
from bestarm.common.tables import lines
from bestarm.publish.site.pictures import widths
from bestarm.publish.site.texts import slug

#: What a reader may choose cells by: column of the kept table, and its label.
CHOICES = {"family": "Family", "delta": "δ", "rule": "Rule", "strategy": "Strategy"}
#: Columns of the page.
COLUMNS = (
    *("family", "instance", "strategy", "rule", "δ", "pulls/bound", "from", "to"),
    *("90%", "99%", "wrong, %", "at most, %", "above δ (95%)", "µs per pull", "bound", "runs"),
)


class PictureView(NamedTuple):
    """A picture that has been drawn."""

    name: str
    title: str
    caption: str
    widths: tuple[int, int]  # in CSS pixels: the least, and the most


class CellView(NamedTuple):
    """A cell at a delta."""

    keys: dict[str, str]  # what it is chosen by
    values: tuple[str, ...]  # in the order of COLUMNS


def picture_views(root: Path, captions: dict[tuple[str, str], str]) -> list[PictureView]:
    """The arena's pictures, of those that have been drawn."""
    files = {name: root / f"figures/arena/{name}.svg" for name in PICTURES}
    return [
        PictureView(name, PICTURES[name], captions.get(("arena", name), ""), widths(data))
        for name, data in ((n, path.read_bytes()) for n, path in files.items() if path.is_file())
    ]


def choices(cells: pd.DataFrame) -> dict[str, dict[str, str]]:
    """By column of CHOICES: what it holds, by the key that rows have for it."""
    return {
        column: {slug(str(value)): f"{value}" for value in cells[column].unique()}
        for column in CHOICES
    }


def cell_views(cells: pd.DataFrame) -> list[CellView]:
    """The kept table's cells, in its order; numbers have no commas, so that they can be sorted."""
    return [
        CellView(
            {column: slug(str(getattr(row, column))) for column in CHOICES},
            (
                *(row.family, row.instance, row.strategy, row.rule, f"{row.delta:g}"),
                f"{'> ' if row.stopped < row.runs else ''}{short(row.ratio)}",
                *map(short, (row.ratio_low, row.ratio_high, row.ratio_90, row.ratio_99)),
                *(f"{100 * error:.1f}" for error in (row.error, row.error_high)),
                "yes" if row.error_low > row.delta else "",
                *(short(row.microseconds), short(row.bound), str(row.runs)),
            ),
        )
        for row in lines(cells)
    ]


def short(value: float) -> str:
    """A number in three digits, or all before the point; nothing if it is not known.

    Example:
        >>> [short(v) for v in (0.01234, 5.0, 1745.83, float("nan"))]
        ['0.0123', '5', '1746', '']
    """
    if pd.isna(value):
        return ""
    return f"{value:.0f}" if value >= 100.0 else f"{value:.3g}"
