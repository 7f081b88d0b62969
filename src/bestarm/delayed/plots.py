"""The delayed feedback paper's figures, one function per target, drawn from the target's table."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from bestarm.common.paper import Plots
from bestarm.common.style import (
    BLACK,
    BLUE,
    BOUND,
    GREEN,
    GREY,
    ORANGE,
    PUBLISHED,
    PURPLE,
    SKY,
    VERMILION,
    Look,
    caption,
    error_bars,
    new_figure,
    pick,
    runs,
)
from bestarm.delayed.problem import MODELS
from bestarm.delayed.tables import PANELS

LOOKS = {
    "as-written": Look(BLUE, "o"),
    "as-published": Look(VERMILION, "s", "--"),
    "guaranteed": Look(GREEN, "^", "-."),
    "published-split": Look(ORANGE, "v"),
    "survivors": Look(PURPLE, "D"),
    "all-running": Look(SKY, "P"),
}
#: The rows of Figure 1 by b: what the paper calls them, and how they are labelled.
ROWS = {1: ("sequential", "sequential"), 10: ("parallel", "parallel, b = r = 10")}
TITLES = {"bounded": "bounded means", "free": "free means", "delays": "free means, n = 100"}
AXES = {"n": "number of arms n", "D": "delay D (steps)"}
SHOWN = ("as-written", "as-published", "guaranteed")
DELTA = 0.05
EVEN = "mean time with partial feedback /\nmean time on rewards alone"


def even_line(axes: Axes, vertical: bool = False) -> None:
    """A line at ratio 1, where partial feedback changes nothing."""
    (axes.axvline if vertical else axes.axhline)(1.0, color=GREY, lw=0.8)


def fig1(table: pd.DataFrame) -> Figure:
    figure = new_figure(7.6, 5.6)
    panels = figure.subplots(2, 3, sharey=True)
    ratios = pick(table, statistic="time_ratio")
    for i, (batch, (published, row)) in enumerate(ROWS.items()):
        for j, (panel, x_name) in enumerate(PANELS.items()):
            axes = panels[i, j]
            axes.set_xscale("log")
            even_line(axes)
            some = pick(ratios, batch=batch, family=panel)
            for reading in SHOWN:
                rows = pick(some, reading=reading).sort_values("x")
                error_bars(axes, rows, rows.x, rows.value, LOOKS[reading], ms=4, label=reading)
            stated = pick(table, instance=f"all {panel}", reading="published", strategy=published)
            for value in stated.value:
                axes.axhline(value, color=PUBLISHED.colour, ls=":", label="published lowest")
            ticks = sorted(some.x.unique())
            axes.set_xticks(ticks, [f"{x:g}" for x in ticks], fontsize=7.5)
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set(title=TITLES[panel] if i == 0 else "", xlabel=AXES[x_name] if i else "")
        panels[i, 0].set_ylabel(f"{row}\n{EVEN}", fontsize=8)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncol=4)
    errors = pick(table, statistic="error_rate", strategy="Partial")
    cells = errors[errors.x.notna() & errors.reading.isin(SHOWN)]
    caption(
        figure,
        "Time of Algorithm 2 and its parallel extension over the time of racing on rewards alone "
        "on the same rewards, ratio of means, 95% intervals (paired); "
        f"{runs(ratios.n)} a point, δ = {DELTA}, k = 0.2 n. Largest share of wrong answers of any "
        f"point: {cells.value.max():.3g}.",
    )
    return figure


def readings(table: pd.DataFrame) -> Figure:
    figure = new_figure(7.6, 4.6)
    instances = list(pick(table, statistic="time_ratio").instance.unique())
    panels = figure.subplots(1, len(instances), sharey=True)
    ratios = pick(table, statistic="time_ratio", strategy="Partial")
    wrong = pick(table, statistic="error_rate", strategy="Partial")
    names = [f"{name}{sigma}" for sigma in ("", "+sigma") for name in LOOKS]
    for axes, instance in zip(panels, instances, strict=True):
        even_line(axes, vertical=True)
        for shift, (batch, (_, row)), look in zip(
            (-0.12, 0.12),
            ROWS.items(),
            (Look(BLUE, "o", ""), Look(VERMILION, "s", "")),
            strict=True,
        ):
            rows = pick(ratios, instance=instance, batch=batch).set_index("reading").loc[names]
            at = np.arange(len(names)) + shift
            error_bars(axes, rows, rows.value, at, look, horizontal=True, ms=4, label=row)
        bad = pick(wrong, instance=instance)
        bad = set(bad[bad.low > DELTA].reading)
        labels = [f"{name}{' †' if name in bad else ''}" for name in names]
        axes.set_yticks(range(len(names)), labels, fontsize=8)
        axes.set(title=instance, xlabel="ratio of mean times", xlim=(0.0, None))
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncol=2)
    caption(
        figure,
        "Mean time with partial feedback over mean time on rewards alone, on the same streams and "
        "under the same union bound and multiplier; 95% intervals (paired). Daggers, if any: "
        f"surely wrong in more than δ = {DELTA} of runs. {runs(ratios.n)}.",
    )
    return figure


def models(table: pd.DataFrame) -> Figure:
    figure = new_figure(7.6, 3.9)
    panels = figure.subplots(1, 2, sharey=True)
    ratios = pick(table, statistic="time_ratio")
    order = [f"{model}{random}" for random in ("", ", random delay") for model in MODELS]
    for axes, (batch, (_, row)) in zip(panels, ROWS.items(), strict=True):
        even_line(axes, vertical=True)
        for place, reading in enumerate(SHOWN):
            rows = pick(ratios, batch=batch, reading=reading).set_index("instance").loc[order]
            look = LOOKS[reading]._replace(line="")
            at = np.arange(len(order)) + 0.2 * (place - 1)
            error_bars(axes, rows, rows.value, at, look, horizontal=True, ms=4, label=reading)
        axes.set_yticks(range(len(order)), order, fontsize=8)
        axes.set(title=row, xlabel="ratio of mean times")
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncol=3)
    caption(
        figure,
        "Twenty free means, k = 4, by what arrives before a pull ends and by its delay: 100 steps "
        "or uniform on 50 to 150. Mean time with partial feedback over mean time on rewards alone, "
        "on the same streams, 95% intervals (paired). "
        f"{runs(ratios.n)}.",
    )
    return figure


def coverage(table: pd.DataFrame) -> Figure:
    figure = new_figure(6.4, 3.6)
    axes = figure.subplots()
    axes.set_xscale("log")
    rows = pick(table, statistic="share_missed")
    series = {
        ("alike, unbiased", "Full"): (Look(BLACK, "s", ""), "rewards alone, Eq. (5)"),
        ("alike, unbiased", "Partial"): (Look(BLUE, "o", ""), "unbiased, Eq. (4)"),
        ("alike, biased", "Partial"): (Look(VERMILION, "^", ""), "biased, Eq. (6)"),
    }
    names = ["as-written", "published-split", "guaranteed"]
    names += [f"{name}+sigma" for name in names]
    for shift, ((instance, strategy), (look, label)) in zip(
        (-0.2, 0.0, 0.2), series.items(), strict=True
    ):
        some = pick(rows, instance=instance, strategy=strategy)
        at = some.reading.map(names.index) + shift
        seen, none = some.status != "one-sided", some.status == "one-sided"
        axes.plot([], [], look.marker, color=look.colour, label=label)
        if seen.any():
            error_bars(axes, some[seen], some[seen].value, at[seen], look, horizontal=True)
        axes.errorbar(
            some[none].high,
            at[none],
            xerr=0.3 * some[none].high,
            xuplims=True,
            ls="",
            color=look.colour,
        )
    axes.axvline(DELTA, color=BOUND.colour, ls=BOUND.line)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("share of runs in which a confidence interval ever misses its mean")
    figure.legend(loc="outside upper center", ncol=3)
    caption(
        figure,
        f"Two arms that are never told apart, watched for 5,000 steps, delay 10, δ = {DELTA} "
        "(dotted); 95% Wilson intervals, arrows: one-sided upper bounds where none missed. "
        f"{runs(rows.n)}.",
    )
    return figure


def fig2(table: pd.DataFrame, arms: pd.DataFrame) -> Figure:
    figure = new_figure(7.6, 3.9)
    panels = figure.subplots(1, 3)
    panels[0].sharey(panels[1])
    ratios = pick(table, statistic="time_ratio")
    for axes, (batch, (published, row)) in zip(panels, ROWS.items(), strict=False):
        axes.set_xscale("log")
        even_line(axes)
        for reading in SHOWN:
            rows = pick(ratios, batch=batch, reading=reading).sort_values("x")
            error_bars(axes, rows, rows.x, rows.value, LOOKS[reading], ms=4, label=reading)
        stated = pick(table, reading="published", statistic="lowest_ratio", strategy=published)
        for value in stated.value:
            axes.axhline(value, color=PUBLISHED.colour, ls=":", label="published lowest")
        axes.set(title=row, xlabel="sd of a forecast, σₚ (cycles)")
    panels[0].set_ylabel(EVEN, fontsize=8)
    ranked(panels[2], arms, "policies by mean life", "life (cycles)")
    handles = {}
    for axes in panels[:2]:
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncol=4)
    wrong = pick(table, statistic="error_rate", instance="all battery", strategy="Partial")
    caption(
        figure,
        "Left and middle: mean time to find the best of 40 charging policies with forecasts of a "
        "cell's life over mean time on lives alone, on the same cells; 95% intervals (paired), "
        f"{runs(ratios.n)} a point, δ = {DELTA}. Share of wrong answers, all points: at most "
        f"{wrong.value.max():.2g}. Right: the policies, bars one standard deviation of the cells. "
        "Simulated with PyBaMM, a step is 50 cycles.",
    )
    return figure


def mip(table: pd.DataFrame, arms: pd.DataFrame) -> Figure:
    figure = new_figure(7.6, 4.2)
    panels = figure.subplots(1, 3)
    ratios = pick(table, statistic="time_ratio")
    even_line(panels[0], vertical=True)
    for place, (batch, (published, _)) in enumerate(ROWS.items()):
        here = pick(ratios, batch=batch)
        for i, reading in enumerate(SHOWN):
            rows = pick(here, reading=reading)
            look = LOOKS[reading]._replace(line="")
            at = [place + 0.2 * (i - 1)]
            label = reading if place == 0 else None
            error_bars(panels[0], rows, rows.value, at, look, horizontal=True, label=label)
        stated = pick(ratios, reading="published", strategy=published)
        panels[0].plot(
            stated.value,
            [place] * len(stated),
            PUBLISHED.marker,
            color=PUBLISHED.colour,
            label="published" if place == 0 else None,
        )
    panels[0].set_yticks(range(len(ROWS)), ["sequential", "parallel,\nb = r = 10"])
    panels[0].set(title="time ratio", xlabel="ratio of mean times", ylim=(1.5, -0.5))
    ranked(panels[1], arms, "cut strategies by mean", "final bound / start solution")
    for name, look, label in (
        ("forecast_error", Look(BLUE, "o"), "error (rms)"),
        ("forecast_spread", Look(VERMILION, "s", "--"), "σₚ = (UB − LB)/2 (rms)"),
    ):
        rows = pick(table, statistic=name).sort_values("x")
        panels[2].plot(
            rows.x, rows.value, look.line, marker=look.marker, ms=3, color=look.colour, label=label
        )
    panels[2].set(title="forecasts", xlabel="step (100 LP iterations)", ylim=(0.0, None))
    panels[2].set_ylabel("in units of the start solution", fontsize=8)
    panels[2].legend(fontsize=7.5)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncol=4)
    ours = pick(ratios, strategy="Partial")
    wrong = pick(table, statistic="error_rate", strategy="Partial")
    caption(
        figure,
        "Left: mean time to find the best of 32 cut strategies with forecasts of the final bound "
        "over mean time on final bounds alone, on the same runs of SCIP; 95% intervals (paired), "
        f"{runs(ours.n)}, δ = {DELTA}; largest share of wrong answers {wrong.value.max():.2g}. "
        "Middle: bars one standard deviation over the test problems. Right: over all strategies "
        "and test problems still running.",
    )
    return figure


def ranked(axes: Axes, arms: pd.DataFrame, title: str, label: str) -> None:
    """Arms in the order of their means, with bars of one standard deviation."""
    rank = np.arange(1, len(arms) + 1)
    axes.errorbar(rank, arms["mean"], arms.sigma, color=GREY, marker="o", ms=2.5, ls="", lw=0.8)
    axes.set(title=title, xlabel="rank")
    axes.set_ylabel(label, fontsize=8)


PLOTS = Plots(
    {
        "fig1": fig1,
        "readings": readings,
        "models": models,
        "coverage": coverage,
        "fig2": fig2,
        "mip": mip,
    },
    LOOKS,
)
