"""The style of strategies, and box plots of stopping times and violations, for plots.py."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from bestarm.common.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PUBLISHED,
    PURPLE,
    SKY,
    VERMILION,
    YELLOW,
    Look,
    pick,
    plain_log_ticks,
)

LOOKS = {
    "LAGEX": Look(BLUE, "o"),
    "LATS": Look(VERMILION, "^"),
    "CTnS-WLag": Look(ORANGE, "v"),
    "CGE-WLag": Look(SKY, "D"),
    "PTnS": Look(YELLOW, "P"),
    "Uniform": Look(GREY, "s", "--"),
    "CTnS": Look(GREEN, "X"),
    "CGE": Look(PURPLE, "*"),
}
#: Strategies that are given the constraints: drawn separately and hatched.
KNOWING = ("CTnS", "CGE")
LINES = {
    "known lower bound": (BLACK, ":", "lower bound"),
    "inside lower bound": (BLACK, "-.", "the same, feasible allocations"),
    "BAI lower bound": (VERMILION, ":", "lower bound without constraints"),
    "unknown lower bound": (PURPLE, "-", "lower bound, constraints unknown"),
}
READING_NAMES = {"as-written": "as written", "released-stop": "with the released stopping rule"}
#: Offset and height of a box within a strategy's row, by reading, in units of the row.
PLACES = {"as-written": (-0.16, 0.34), "released-stop": (0.24, 0.2)}
QUANTILES = [
    *("quantile_05", "quartile_25", "median_stopping_time", "quartile_75", "quantile_95"),
]
ENTRIES = {
    "ours, as written": Patch(facecolor=GREY, edgecolor=BLACK),
    "ours, released stopping rule": Patch(facecolor=GREY, alpha=0.4, edgecolor=BLACK),
    "told the constraints": Patch(facecolor="white", edgecolor=BLACK, hatch="////"),
    "published median": Line2D([], [], color=BLACK, marker="D", ls="", mfc="white", ms=5),
}
BOXES = (
    "Boxes: quartiles and median over runs, whiskers: 5% and 95%; the lower, pale box is with the "
    "released stopping rule (released-stop)"
)


def value_of(rows: pd.DataFrame, statistic: str) -> float:
    """The one value of a statistic; nan if it is undefined or missing."""
    found = pick(rows, statistic=statistic).value
    return float(found.iloc[0]) if len(found) else np.nan


def box(axes: Axes, rows: pd.DataFrame, names: list[str], at: float, height: float, look: dict):
    """A box of quartiles, with the median and whiskers that are defined.

    If the upper quartile lies among capped runs the box extends to the right edge.
    """
    low, quartile, median, upper, high = (value_of(rows, name) for name in names)
    if np.isnan(quartile):
        return
    end = axes.get_xlim()[1] if np.isnan(upper) else upper
    axes.add_patch(Rectangle((quartile, at - height / 2), end - quartile, height, lw=0.8, **look))
    if not np.isnan(median):
        axes.plot([median] * 2, [at - height / 2, at + height / 2], color=BLACK, lw=1.4)
    for inner, outer in ((quartile, low), (upper, high)):
        if not np.isnan(inner + outer):
            axes.plot([inner, outer], [at, at], color=BLACK, lw=0.7, zorder=1)


def fill_of(strategy: str, reading: str) -> dict:
    """How a strategy's box is filled."""
    pale = reading == "released-stop"
    return {
        "facecolor": LOOKS[strategy].colour,
        "edgecolor": BLACK,
        "alpha": 0.4 if pale else 1.0,
        "hatch": "////" if strategy in KNOWING else None,
        "zorder": 2,
    }


def strategies_of(table: pd.DataFrame) -> list[str]:
    """The strategies of a table, in the order of LOOKS."""
    here = set(table.strategy)
    return [name for name in LOOKS if name in here]


def stopping_times(axes: Axes, table: pd.DataFrame, instance: str, bounds: Sequence[str]) -> None:
    """Boxes of stopping times, one row per strategy, with lower bounds and published medians."""
    ours = table[(table.instance == instance) & (table.reading != "published")]
    order = strategies_of(ours)
    lines = {name: value_of(pick(ours, strategy=name), "lower_bound") for name in bounds}
    medians = published_medians(table)
    spans = ours[ours.statistic.isin(QUANTILES) & ours.strategy.isin(order)].value
    spans = pd.concat([spans, medians.value, pd.Series(lines.values())])
    axes.set_xscale("log")
    axes.set_xlim(0.8 * spans.min(), 1.25 * spans.max())
    for place, strategy in enumerate(order):
        for reading, (shift, height) in PLACES.items():
            rows = pick(ours, strategy=strategy, reading=reading)
            if len(rows):
                box(axes, rows, QUANTILES, place + shift, height, fill_of(strategy, reading))
                note_capped(axes, rows, place + shift)
    for name, value in lines.items():
        axes.axvline(value, color=LINES[name][0], ls=LINES[name][1], lw=1.1)
    marks(axes, medians, order)
    rows_of_strategies(axes, order)
    plain_log_ticks(axes.xaxis, crowded=50.0)


def note_capped(axes: Axes, rows: pd.DataFrame, at: float) -> None:
    """Write the number of capped runs beside their box."""
    capped = pick(rows, statistic="share_capped").iloc[0]
    if capped.value > 0.0:
        axes.annotate(
            f"{round(capped.value * capped.n)} of {capped.n:g} capped",
            (1.0, at),
            xycoords=axes.get_yaxis_transform(),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            color=GREY,
        )


def published_medians(table: pd.DataFrame) -> pd.DataFrame:
    """The published values of a table that are not lower bounds."""
    return table[(table.reading == "published") & (table.statistic != "lower_bound")]


def marks(axes: Axes, published: pd.DataFrame, order: list[str]) -> None:
    """Diamonds at the published medians."""
    published = published[published.strategy.isin(order)]
    at = np.array([order.index(name) for name in published.strategy]) - PLACES["released-stop"][0]
    axes.plot(
        published.value, at, PUBLISHED.marker, color=PUBLISHED.colour, mfc="white", ms=5, zorder=4
    )


def rows_of_strategies(axes: Axes, order: list[str]) -> None:
    """Label the rows; a line separates strategies that know the constraints."""
    axes.set_yticks(range(len(order)), order)
    axes.set_ylim(len(order) - 0.5, -0.6)
    axes.grid(visible=False, axis="y")
    if order[-1] in KNOWING:
        axes.axhline(len(order) - 2.5, color=GREY, lw=0.6)


def legend(figure: Figure, entries: list[str], bounds: Sequence[str]) -> None:
    """Legend of boxes, lines and diamonds: some entries of ENTRIES, and the lower bounds drawn."""
    shown = {name: ENTRIES[name] for name in entries}
    for name in bounds:
        colour, line, label = LINES[name]
        shown[label] = Line2D([], [], color=colour, ls=line)
    columns = 3 if figure.get_figwidth() > 7.0 else 2
    figure.legend(shown.values(), shown.keys(), loc="outside upper center", ncols=columns)
