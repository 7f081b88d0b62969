"""The figure of target `certified`."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from bestarm.common.drawing import (
    WIDE,
    SingleDrawFigure,
    caption,
    dots,
    legend,
    new_figure,
    runs,
)
from bestarm.common.styles import BLACK, BOUND, GREEN, named_styles
from bestarm.common.tables import pick
from bestarm.lagex import findings
from bestarm.lagex.boxes import STYLES

#: Instances in the order of panels.
TITLES = {
    "setup 1 m3=0.5": "setup 1 hard",
    "setup 1 m3=1.3": "setup 1 easy",
    "setup 1 printed m3=0.5": "printed hard",
    "setup 1 printed m3=1.3": "printed easy",
    "setup 2 hard": "setup 2 hard",
    "setup 2 easy": "setup 2 easy",
    "imdb": "IMDB",
    "triangle": "triangle",
    "perturbed eps=0": "section 1",
    "example": "three menus",
}
STRATEGIES = ("Certified", "Certified-Uniform", "LAGEX", "LATS", "unknown lower bound")
SHARES = {
    "prob_feasible": "keeps all limits",
    "prob_r_optimal": "within r of the best",
    "prob_correct": "both",
}
#: Lines of the last panel: what is compared with the best fixed allocation.
RATIOS = {
    "run without noise": "a run without noise",
    "uniform": "pulls uniform",
    "without splitting of the box": "one box around the costs",
    "without the union bound": "no union bound",
    "without the mixture": "no mixture",
    "without the alternatives' cost doubt": "others' costs known",
    "without these together, but the box": "the last three together",
}
DELTA, R_SHARES, R_RATIOS = 0.1, 0.1, 0.01
#: Of places, as shares of the figure or its part.
DIGITS = 5


def certified(table: pd.DataFrame) -> Figure:
    """Steps over r; shares of right answers; what the parts of the certificate cost."""
    figure = new_figure(WIDE, 7.4)
    sizes = [1.5, 1.05, 0.95]
    steps, shares, parts = figure.subfigures(3, 1, squeeze=False, height_ratios=sizes)[:, 0]
    at_delta = table[table.delta == DELTA]
    draw_steps(steps, at_delta)
    draw_shares(shares, at_delta)
    left, right = parts.subplots(1, 2, width_ratios=[1.35, 1.0])
    draw_ratios(left, at_delta)
    draw_over_bound(right, at_delta)
    legend(figure, named_styles(STYLES, STRATEGIES), 3)
    settle(figure)
    checked = table[table.statistic == "error_check:wrong"]
    wrong = f"{round(float((checked.value * checked.n).sum())):,}"
    medians = pick(table, statistic="median_stopping_time")
    caption(
        figure,
        findings.certified(at_delta, R_SHARES),
        f"δ = {DELTA:g}. Above: median steps over r, with the interval from 5% to 95% of runs; "
        "LAGEX and LATS are capped at 100,000; the lower bound is on medians, and left out where "
        f"it is 0. {runs(medians.n)} per point. Middle: shares of "
        f"right answers at r = {R_SHARES:g}, with 95% intervals; dotted: 1 − δ. In "
        f"{checked.n.sum():,} further runs of Certified, on these instances and 30 random linear "
        f"programs, at δ = 0.1 and 0.01, {wrong} answers were wrong. Below left: steps at which "
        "the certificate closes if all estimates equal the truth, over those of the best fixed "
        f"allocation, r = {R_RATIOS:g}; a dot per instance, a bar at the median. Below right: "
        "Certified's mean steps over their lower bound; a line per instance.",
    )
    return figure


def settle(figure: SingleDrawFigure) -> None:
    """Lay a figure with parts out and round what comes out.

    Matplotlib's solver adds in an order that changes from run to run, so the last bits differ.
    """
    figure.lay_out()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        box = part.bbox_relative
        box.set_points(np.round(box.get_points(), DIGITS))
        for text in part.texts:
            x, y = text.get_position()
            text.set_position((round(x, DIGITS), round(y, DIGITS)))
        for axes in part.axes:
            axes.set_position(Bbox(np.round(axes.get_position().get_points(), DIGITS)))


def draw_steps(part: SubFigure, table: pd.DataFrame) -> None:
    """Steps over r, a panel for each instance."""
    panels = part.subplots(2, 5, sharex=True, sharey=True)
    for axes, (instance, title) in zip(panels.flat, TITLES.items(), strict=True):
        for strategy, style in named_styles(STYLES, STRATEGIES).items():
            rows = pick(table, instance=instance, strategy=strategy)
            least = strategy.endswith("lower bound")
            name = "median_lower_bound" if least else "median_stopping_time"
            line = pick(rows[rows.value > 0.0], statistic=name).sort_values("x")
            marks = {"color": style.colour, "marker": style.marker, "ls": style.line}
            axes.plot(line.x, line.value, **marks, ms=3.0, lw=0.9)
            if not least:
                low, high = (
                    pick(rows, statistic=f"quantile_{end}").set_index("x").value
                    for end in ("05", "95")
                )
                axes.vlines(low.index, low, high.reindex(low.index), color=style.colour, lw=0.8)
        axes.set(xscale="log", yscale="log", title=title)
        log_ticks(axes)
    part.supxlabel("r", fontsize=8)
    part.supylabel("steps", fontsize=8)


def log_ticks(axes: Axes) -> None:
    """Ticks at the values of r, and at every second power of ten."""
    axes.xaxis.set_major_locator(FixedLocator([0.01, 0.03, 0.1, 0.3]))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", labelsize=6)
    axes.yaxis.set_major_locator(LogLocator(100.0))


def draw_shares(part: SubFigure, table: pd.DataFrame) -> None:
    """Shares of right answers, a line for each instance."""
    rows = table[(table.x == R_SHARES) & table.strategy.isin(("Certified", "LAGEX", "LATS"))]
    rows = rows[rows.statistic.isin(SHARES) & rows.instance.isin(TITLES)]
    columns = ("statistic", SHARES)
    panels = dots(part, rows, STYLES, list(TITLES), y="instance", col=columns)[0]
    panels[0].set_yticks(range(len(TITLES)), list(TITLES.values()))
    for axes in panels:
        axes.set(xlim=(-0.04, 1.04))
        axes.set_xticks([0, 0.5, 1], ["0", "½", "1"])
        axes.axvline(1.0 - DELTA, color=BOUND.colour, ls=BOUND.line, lw=1.0)
    part.supxlabel(f"share of runs, r = {R_SHARES:g}", fontsize=8)


def draw_ratios(axes: Axes, table: pd.DataFrame) -> None:
    """What the allocation and each part of the certificate cost."""
    for place, which in enumerate(RATIOS):
        values = pick(table, statistic=f"certificate_ratio:{which}", x=R_RATIOS).value
        axes.plot(values, np.full(len(values), place), "o", color=GREEN, ms=3.2, alpha=0.6, mew=0)
        middle = float(values.median())
        axes.plot([middle, middle], [place - 0.3, place + 0.3], color=BLACK, lw=1.2)
    axes.axvline(1.0, color=BOUND.colour, ls=BOUND.line, lw=1.0)
    axes.set(xscale="log", xlabel="steps over the best fixed allocation's")
    axes.set_yticks(range(len(RATIOS)), list(RATIOS.values()))
    axes.set_ylim(len(RATIOS) - 0.5, -0.5)
    axes.xaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 5]))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())


def draw_over_bound(axes: Axes, table: pd.DataFrame) -> None:
    """Mean steps over the lower bound on them, over r."""
    rows = pick(table, statistic="mean_over_bound").sort_values("x")
    for _, line in rows.groupby("instance"):
        axes.plot(line.x, line.value, "D-", color=GREEN, ms=2.6, lw=0.8, alpha=0.7)
    axes.set(xscale="log", yscale="log", xlabel="r", ylabel="steps over lower bound")
    log_ticks(axes)
    axes.yaxis.set_major_locator(FixedLocator([5, 10, 20, 50, 100]))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
