"""The styles of LAGEX's strategies and readings, and box plots from quantiles, for plots.py."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from bestarm.common.drawing import legend, plain_log_ticks, published, with_errors
from bestarm.common.styles import (
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
    Style,
    named_styles,
)
from bestarm.common.tables import pick

#: Strategies that are given the constraints: drawn last, and named so.
KNOWING = ("CTnS", "CGE")
STYLES = {
    "LAGEX": Style(BLUE, "o"),
    "LATS": Style(VERMILION, "^"),
    "CTnS-WLag": Style(ORANGE, "v"),
    "CGE-WLag": Style(SKY, "D"),
    "PTnS": Style(YELLOW, "P"),
    "Uniform": Style(GREY, "s", "--"),
    "CTnS": Style(GREEN, "X", name="CTnS, limits known"),
    "CGE": Style(PURPLE, "*", name="CGE, limits known"),
    "Certified": Style(GREEN, "D"),
    "Certified-Uniform": Style(GREY, "s", "--", "Certified, pulls uniform"),
    "published": PUBLISHED,
    "as-written": Style(BLUE, "o", name="as written"),
    "released-stop": Style(SKY, "s", "--", "released stopping rule"),
    "program": Style(GREEN, "^", name="released program"),
    "averages": Style(VERMILION, "v", name="plain averages"),
    "printed-r": Style(PURPLE, "X", name="r as printed"),
    "inside": Style(GREEN, "P", name="allocates inside"),
    "full-adagrad": Style(ORANGE, "*", name="full AdaGrad"),
    "optimistic-policy": Style(GREY, "h", name="optimistic policy"),
    "known lower bound": Style(BLACK, "", ":", "lower bound, constraints known"),
    "inside lower bound": Style(BLACK, "", "-.", "lower bound, allocations feasible too"),
    "BAI lower bound": Style(VERMILION, "", ":", "lower bound without constraints"),
    "unknown lower bound": Style(PURPLE, "", "-", "lower bound, constraints unknown"),
}
#: Names of the second line of a strategy, and so on, in box plots.
SECOND = {"as-written": "as written", "released-stop": "released rule", "program": "program"}
QUANTILES = [
    *("quantile_05", "quartile_25", "median_stopping_time", "quartile_75", "quantile_95"),
]
BOXES = "Boxes: quartiles and median, whiskers: 5% and 95%; an open box ends among capped runs"


def single_value(rows: pd.DataFrame, statistic: str) -> float:
    """The one value of a statistic; nan if it is undefined or missing."""
    values = pick(rows, statistic=statistic).value
    return float(values.iloc[0]) if len(values) else np.nan


def pale(colour: str) -> str:
    """A colour mixed with white."""
    red, green, blue = (0.35 * part + 0.65 for part in to_rgb(colour))
    return to_hex((red, green, blue))


def strategies_in(table: pd.DataFrame, but: Sequence[str] = ()) -> list[str]:
    """The strategies that play in a table: known ones in the order of LOOKS, then others."""
    played = table[(table.other == "") & ~table.strategy.str.endswith("lower bound")]
    return list(named_styles(STYLES, set(played.strategy) - set(but)))


def box_lines(
    rows: pd.DataFrame, order: Sequence[str], readings: Iterable[str]
) -> list[tuple[str, str]]:
    """The strategies with the readings that they have in a table: the lines of a box plot."""
    there = set(zip(rows.strategy, rows.reading, strict=True))
    return [line for line in product(order, readings) if line in there]


def boxes(
    axes: Axes,
    rows: pd.DataFrame,
    lines: Sequence[tuple[str, str]],
    quantiles: Mapping[Any, Sequence[str]],
    whole: str = "as-written",
) -> None:
    """Boxes from five quantiles, a line per strategy and reading; set the scale of x first.

    A quantile that lies among capped runs is beyond the axis: the box is open. A box without a
    lower quartile is left out. (By Matplotlib: seaborn's boxes are of runs, not of quantiles.)

    Args:
        axes: where.
        rows: of one instance.
        lines: as from `box_lines`.
        quantiles: by reading: five statistics, from low to high.
        whole: the reading whose boxes are not pale.
    """
    styles = named_styles(STYLES, [strategy for strategy, _ in lines])
    far = 1e3 * rows.value.replace(np.inf, np.nan).max()
    for place, (strategy, reading) in enumerate(lines):
        its_rows = pick(rows, strategy=strategy, reading=reading)
        values = [single_value(its_rows, name) for name in quantiles[reading]]
        low, lower, middle, upper, high = values
        if np.isnan(lower):
            continue
        colour = styles[strategy].colour
        fill = "white" if reading == "published" else colour if reading == whole else pale(colour)
        ends = {"whislo": np.fmin(low, lower), "whishi": np.fmax(high, upper)}
        box = {"q1": lower, "med": middle, "q3": upper} | ends
        axes.bxp(
            [{name: far if np.isnan(end) else end for name, end in box.items()}],
            positions=[place], widths=0.72, orientation="horizontal", patch_artist=True,
            showfliers=False, showcaps=False, manage_ticks=False,
            boxprops={"facecolor": fill, "edgecolor": BLACK, "linewidth": 0.7},
            whiskerprops={"color": BLACK, "linewidth": 0.7},
            medianprops={"color": BLACK, "linewidth": 1.3},
        )  # fmt: skip
    first = {strategy: place for place, (strategy, _) in reversed(list(enumerate(lines)))}
    axes.set_yticks(
        range(len(lines)),
        [
            styles[strategy].name if first[strategy] == place else SECOND[reading]
            for place, (strategy, reading) in enumerate(lines)
        ],
    )
    axes.set(xlabel="", ylabel="", ylim=(len(lines) - 0.4, -0.6))
    axes.grid(visible=False, axis="y")
    for place, (label, (strategy, _)) in enumerate(zip(axes.get_yticklabels(), lines, strict=True)):
        if first[strategy] < place:
            label.set(fontsize=6, color="#555555")
        else:
            axes.axhline(place - 0.5, color="#dddddd", lw=0.5)


def stopping_times(axes: Axes, table: pd.DataFrame, instance: str, bounds: Sequence[str]) -> None:
    """Boxes of stopping times, with lower bounds and published medians."""
    ours = table[(table.instance == instance) & (table.reading != "published")]
    order = strategies_in(ours)
    bound_values = {name: single_value(pick(ours, strategy=name), "lower_bound") for name in bounds}
    medians = table[(table.reading == "published") & (table.statistic != "lower_bound")]
    mine = pick(ours, reading="as-written")
    medians = with_errors(medians.assign(instance=instance), mine, log=True)
    medians = medians[medians.strategy.isin(order)]
    spans = ours[ours.statistic.isin(QUANTILES) & ours.strategy.isin(order)].value
    spans = pd.concat([spans, medians.value, pd.Series(bound_values.values())])
    axes.set_xscale("log")
    readings = dict.fromkeys(("as-written", "released-stop"), QUANTILES)
    lines = box_lines(ours, order, readings)
    boxes(axes, ours, lines, readings)
    axes.set_xlim(0.8 * spans.min(), 1.3 * spans.max())
    for place, (strategy, reading) in enumerate(lines):
        note_capped(axes, pick(ours, strategy=strategy, reading=reading), place)
    for name, value in bound_values.items():
        axes.axvline(value, color=STYLES[name].colour, ls=STYLES[name].line, zorder=0.5)
    at = [lines.index((strategy, "as-written")) for strategy in medians.strategy]
    published(axes, medians, medians.value, at, label="")
    plain_log_ticks(axes.xaxis, crowded=20.0)


def note_capped(axes: Axes, rows: pd.DataFrame, at: float) -> None:
    """Write the number of capped runs beside their box."""
    capped = pick(rows, statistic="share_capped")
    if len(capped) and capped.value.iloc[0] > 0.0:
        axes.annotate(
            f"{round(capped.value.iloc[0] * capped.n.iloc[0])} capped",
            (1.0, at),
            xycoords=axes.get_yaxis_transform(),
            xytext=(2, 0),
            textcoords="offset points",
            va="center",
            fontsize=5.5,
            color="#555555",
        )


def bounds_legend(figure: Figure, bounds: Sequence[str], stated: bool = True) -> None:
    """The legend of lower bounds, and of published medians."""
    marks = {"published": PUBLISHED._replace(name="published median")} if stated else {}
    legend(figure, marks | named_styles(STYLES, bounds), 2)
