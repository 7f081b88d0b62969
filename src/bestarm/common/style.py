"""The style of all figures: palette, fonts, captions, and reproducible files."""

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from bestarm.common.files import replacing

# Okabe & Ito's palette, which colour-blind readers can distinguish, also by lightness in grey.
BLACK, GREY = "#000000", "#7f7f7f"
ORANGE, SKY, GREEN, YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
BLUE, VERMILION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"


class Look(NamedTuple):
    """How a strategy is drawn in every figure."""

    colour: str
    marker: str = "o"
    line: str = "-"


#: The look of uniform sampling, which more than one paper has.
UNIFORM = Look(GREY, "s", "--")
#: Reference marks.
BOUND = Look(BLACK, "", ":")
PUBLISHED = Look(BLACK, "D", "")

RC: dict[Any, Any] = {
    "figure.dpi": 150,
    "savefig.dpi": 150,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "errorbar.capsize": 2,
    "svg.hashsalt": "bestarm",
    "svg.fonttype": "path",
}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, in the project's style."""
    mpl.rcParams.update(RC)
    return Figure(figsize=(width, height), layout="constrained")


def caption(figure: Figure, text: str) -> None:
    """Write a caption under the figure, wrapped to its width."""
    lines = textwrap.fill(text, width=int(15.5 * figure.get_figwidth()))
    figure.supxlabel(lines, fontsize=8, color="#444444", x=0.01, ha="left")


def runs(counts: Iterable[int]) -> str:
    """`n = 300 runs`, or the range where counts differ; computed rows (n = 0) do not count."""
    seen = sorted({int(n) for n in counts} - {0})
    if not seen:
        return "computed, no simulation"
    return f"n = {seen[0]} runs" if len(seen) == 1 else f"n = {seen[0]} to {seen[-1]} runs"


def pick(table: pd.DataFrame, **columns) -> pd.DataFrame:
    """The rows of a table whose columns have these values."""
    for name, value in columns.items():
        table = table[table[name] == value]
    return table


def error_bars(
    axes: Axes, rows: pd.DataFrame, x, y, look: Look, horizontal: bool = False, **kwargs: Any
) -> None:
    """Draw a table's values with their intervals; set the axes' scales first.

    On a logarithmic axis an interval that reaches 0 or below ends at a hundredth of its value.

    Raises:
        ValueError: there are no rows; a figure must not be silently empty.
    """
    if rows.empty:
        raise ValueError("no rows of the table to draw")
    low = rows.low
    if (axes.get_xscale() if horizontal else axes.get_yscale()) == "log":
        low = low.clip(lower=rows.value / 100.0)
    reach = np.nan_to_num(np.array([rows.value - low, rows.high - rows.value])).clip(min=0.0)
    bars: dict[str, Any] = {"xerr": reach} if horizontal else {"yerr": reach}
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": look.line}
    axes.errorbar(x, y, **bars, **(style | kwargs))


def curve(axes: Axes, rows: pd.DataFrame, look: Look, label: str, shift: float = 1.0) -> None:
    """A table's values against x, both logarithmic, with intervals.

    At the first x with a share of 0 or 1 (status `one-sided`) an arrow starts at the one-sided
    bound, downwards for a share of 0 and else upwards. `shift`, a factor of x, keeps the arrows of
    several curves apart.

    Raises:
        ValueError: there are no rows.
    """
    if rows.empty:
        raise ValueError("no rows of the table to draw")
    rows = rows.sort_values("x")
    bound, seen = rows[rows.status == "one-sided"], rows[rows.status != "one-sided"]
    axes.plot([], [], color=look.colour, marker=look.marker, ls=look.line, ms=3.5, label=label)
    if len(seen):
        error_bars(axes, seen, seen.x, seen.value, look, ms=3.5)
    for down in (True, False):
        some = bound[(bound.value == 0.0) == down].head(1)
        end = some.high if down else some.low
        limits: dict[str, Any] = {"uplims" if down else "lolims": True}
        axes.errorbar(some.x * shift, end, 0.35 * end, ls="", color=look.colour, lw=1, **limits)


def plain_log_ticks(axis: Axis, crowded: float = np.inf) -> None:
    """Label a logarithmic axis 100, 200, 500, 1,000, ...

    Set its limits first. Labels are 100, 300, 1,000, ... if the limits are further apart than a
    factor `crowded`, and powers of ten alone if they are further apart than eight times that.
    """
    low, high = axis.get_view_interval()
    subs = (1.0,) if high > 8 * crowded * low else (1.0, 3.0)
    axis.set_major_locator(LogLocator(subs=subs if high > crowded * low else (1.0, 2.0, 5.0)))
    axis.set_major_formatter("{x:,.10g}")
    axis.set_minor_formatter(NullFormatter())


def save(figure: Figure, svg: Path | str, png: Path | str, pdf: Path | str | None = None) -> None:
    """Write a figure in all formats; the same figure gives the same bytes."""
    nothing = {
        "svg": {"Date": None, "Creator": None},
        "png": {"Software": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    for path, kind in ((svg, "svg"), (png, "png"), (pdf, "pdf")):
        if path is not None:
            with replacing(path) as temporary:
                figure.savefig(temporary, format=kind, metadata=nothing[kind])
