"""The delayed feedback paper's figures, one function per target, drawn from the target's table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bestarm.common.drawing import (
    WIDE,
    caption,
    dots,
    legend,
    new_figure,
    runs,
    series,
    spread,
    with_errors,
)
from bestarm.common.paper import Plots
from bestarm.common.styles import (
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
    Style,
    named_styles,
)
from bestarm.common.tables import pick
from bestarm.delayed import findings
from bestarm.delayed.problem import MODELS
from bestarm.delayed.tables import PANELS

STYLES = {
    "as-written": Style(BLUE, "o", name="as written"),
    "as-published": Style(VERMILION, "s", "--", "as published"),
    "guaranteed": Style(GREEN, "^", "-."),
    "published-split": Style(ORANGE, "v", name="published split"),
    "survivors": Style(PURPLE, "D"),
    "mixture": Style(GREEN, "X", name="mixture"),
    "all-running": Style(SKY, "P", name="all running"),
    "Full": Style(BLACK, "s", name="rewards alone"),
    "Partial": Style(BLUE, "o", name="partial feedback"),
}
#: By b: what the paper calls a row of Figure 1, and its name.
BATCHES = {1: "sequential", 10: "parallel"}
BATCH_NAMES: dict[Any, str] = {1: "sequential", 10: "parallel, b = r = 10"}
BATCH_STYLES: dict[Any, Style] = {
    1: Style(BLUE, "o", "", BATCH_NAMES[1]),
    10: Style(VERMILION, "s", "", BATCH_NAMES[10]),
}
TITLES = {"bounded": "bounded means", "free": "free means", "delays": "free means, n = 100"}
AXES = {"n": "number of arms n", "D": "delay D (steps)"}
SHOWN = ("as-written", "as-published", "guaranteed")
DELTA = 0.05
EVEN = "partial feedback / rewards alone"


#: Readings of Figure 1 once more.
ONCE_MORE = ("mixture", "as-written", "as-published")


def reading_styles() -> dict[str, Style]:
    return named_styles(STYLES, SHOWN)


def even_line(axes: Axes, vertical: bool = False) -> None:
    """A line at ratio 1, where partial feedback changes nothing."""
    (axes.axvline if vertical else axes.axhline)(1.0, color=GREY, lw=0.8)


def lowest(axes: Axes, table: pd.DataFrame, instance: str, batch: int) -> None:
    """The lowest ratio that the paper states for a panel, with its sampling error, if it does."""
    rows = pick(table, statistic="lowest_ratio", instance=instance)
    stated = pick(rows, reading="published", strategy=BATCHES[batch])
    if stated.empty:
        text = "no published value"
        axes.annotate(text, (0.97, 0.03), xycoords="axes fraction", ha="right", fontsize=6.5)
        return
    ours = pick(rows, reading="as-written", batch=batch).assign(strategy=BATCHES[batch])
    row = with_errors(stated, ours, log=True).iloc[0]
    axes.axhspan(row.low, row.high, color=BLACK, alpha=0.1, lw=0)
    axes.axhline(row.value, color=BLACK, lw=0.8)
    ends = np.concatenate([np.asarray(line.get_ydata(), float)[-2:] for line in axes.lines])
    below = bool(((row.value - 0.1 < ends) & (ends < row.value)).any())
    axes.annotate(
        "published lowest", (0.97, row.value), xycoords=axes.get_yaxis_transform(),
        xytext=(0, 2 if below else -2), textcoords="offset points", ha="right",
        va="bottom" if below else "top", fontsize=6.5,
    )  # fmt: skip


def panels_of_fig1(table: pd.DataFrame, readings: Sequence[str]) -> tuple[Figure, pd.DataFrame]:
    """The panels of Figure 1 under some readings; also the rows that are drawn."""
    rows = pick(table, statistic="time_ratio")
    rows = rows[rows.reading.isin(readings)]
    axis = rows.family.map(PANELS)
    rows = rows[(rows.x_name == axis) & rows.batch.isin(BATCHES)]
    figure = new_figure(WIDE, 4.1)
    facets = {
        "col": ("family", {name: TITLES[name] for name in PANELS}),
        "row": ("batch", BATCH_NAMES),
    }
    panels = series(figure, rows, STYLES, "reading", "x", **facets)
    for (i, j), axes in np.ndenumerate(panels):
        family, batch = list(PANELS)[j], list(BATCHES)[i]
        even_line(axes)
        lowest(axes, table, f"all {family}", batch)
        axes.set_xlabel(AXES[PANELS[family]] if i else "")
    for axes, name in zip(panels[:, 0], BATCH_NAMES.values(), strict=True):
        axes.set_ylabel(name)
    for column, family in zip(panels.T, PANELS, strict=True):
        ticks = sorted(pick(rows, family=family).x.unique())
        for axes in column:
            axes.set_xlim(0.8 * ticks[0], 1.25 * ticks[-1])
            axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
            axes.minorticks_off()
            if len(ticks) > 5:
                axes.tick_params(axis="x", rotation=45)
    figure.supylabel(f"mean time: {EVEN}", fontsize=8)
    legend(figure, named_styles(STYLES, readings))
    return figure, rows


#: The means of bounded arms: the text's, and those of the published program.
BOUNDED = {
    "bounded from 1": Style(BLUE, "o", "", "the text: i = 1, ..., n"),
    "bounded": Style(VERMILION, "s", "--", "the published program: i = 0, ..., n − 1"),
}


def means(table: pd.DataFrame) -> Figure:
    rows = pick(table, statistic="time_ratio", reading="as-written")
    rows = rows[rows.x_name == "n"]
    figure = new_figure(WIDE, 2.5)
    panels = series(figure, rows, BOUNDED, "family", "x", col=("batch", BATCH_NAMES))[0]
    ticks = sorted(rows.x.unique())
    for axes, batch in zip(panels, BATCHES, strict=True):
        even_line(axes)
        lowest(axes, table, "all bounded", batch)
        axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
        axes.minorticks_off()
        axes.set_xlabel(AXES["n"])
    panels[0].set_ylabel(f"mean time: {EVEN}", fontsize=7)
    legend(figure, BOUNDED)
    caption(
        figure,
        findings.means(table),
        "Time of Algorithm 2 as written over the time of racing on rewards alone on the same "
        "rewards, bounded means 5 − (i/n)^0.6, ratio of means, 95% intervals (paired); "
        f"{runs(rows.n)} per point, δ = {DELTA}, k = 0.2 n. Published: the lowest ratio that the "
        "text states, with the sampling error of n = 100 runs.",
    )
    return figure


def fig1(table: pd.DataFrame) -> Figure:
    figure, rows = panels_of_fig1(table, SHOWN)
    errors = pick(table, statistic="error_rate", strategy="Partial")
    cells = errors[errors.x.notna() & errors.reading.isin(SHOWN)]
    caption(
        figure,
        findings.shares_of_time(rows) + ".",
        "Time of Algorithm 2 and its parallel extension over the time of racing on rewards alone "
        "on the same rewards, ratio of means, 95% intervals (paired); "
        f"{runs(rows.n)} per point, δ = {DELTA}, k = 0.2 n. Published: the lowest ratio that the "
        "text states for a panel, with the sampling error of n = 100 runs; it states none for "
        "free means with n on the axis. Largest share of wrong answers of any point: "
        f"{cells.value.max():.3g}.",
    )
    return figure


def mixture(table: pd.DataFrame) -> Figure:
    figure, rows = panels_of_fig1(table, ONCE_MORE)
    points = pick(table, strategy="Partial", reading="mixture")
    points = points[points.family.isin(PANELS) & points.x.notna()]
    wrong, missed = (
        pick(points, statistic=name).value.max() for name in ("error_rate", "share_missed")
    )
    caption(
        figure,
        findings.mixture(rows),
        "Figure 1 with one bound from the likelihood of everything observed (prior worth one "
        "pull): mean time with partial feedback over mean time on rewards alone under the same "
        f"bound and on the same rewards, 95% intervals (paired); {runs(rows.n)} per point, "
        f"δ = {DELTA}, k = 0.2 n. Published: the lowest ratio that the text states for a panel, "
        "with the sampling error of n = 100 runs. Under the mixture, largest share of wrong "
        "answers of any point: "
        f"{wrong:.3g}; of runs in which some interval missed its mean: {missed:.3g}.",
    )
    return figure


def readings(table: pd.DataFrame) -> Figure:
    ratios = pick(table, statistic="time_ratio", strategy="Partial")
    wrong = pick(table, statistic="error_rate", strategy="Partial")
    titles = {"bounded n=10": "bounded means, n = 10", "free n=100": "free means, n = 100"}
    names = [name for name in STYLES if name in set(ratios.reading)]
    order = {name: STYLES[name].name or name for name in names}
    order |= {f"{name}+sigma": f"{text}, scale = σ" for name, text in order.items()}
    broken = set(wrong[wrong.low > DELTA].reading)
    figure = new_figure(WIDE, 3.1)
    lines = {name: text + " †" * (name in broken) for name, text in order.items()}
    rows = ratios.assign(line=ratios.reading.map(lines))
    col = ("instance", titles)
    panels = dots(figure, rows, BATCH_STYLES, list(lines.values()), "line", "batch", col=col)[0]
    for axes in panels:
        even_line(axes, vertical=True)
        axes.set(xlabel="ratio of mean times", xlim=(0.0, None))
        for edge in range(1, len(lines)):
            axes.axhline(edge - 0.5, color="#e3e3e3", lw=0.5)
    legend(figure, BATCH_STYLES, lines=False)
    caption(
        figure,
        findings.readings(table),
        "Mean time with partial feedback over mean time on rewards alone, on the same streams and "
        "under the same union bound and multiplier; 95% intervals (paired). Scale = σ: Lemma 1's "
        "scale read as one standard deviation. †: wrong in more than "
        f"δ = {DELTA} of runs, with 95% confidence. {runs(ratios.n)}.",
    )
    return figure


def models(table: pd.DataFrame) -> Figure:
    ratios = pick(table, statistic="time_ratio")
    ratios = ratios[ratios.reading.isin(SHOWN)]
    order = [f"{model}{random}" for random in ("", ", random delay") for model in MODELS]
    figure = new_figure(WIDE, 2.9)
    col = ("batch", BATCH_NAMES)
    for axes in dots(figure, ratios, STYLES, order, "instance", "reading", col=col)[0]:
        even_line(axes, vertical=True)
        axes.set_xlabel("ratio of mean times")
        for edge in range(1, len(order)):
            axes.axhline(edge - 0.5, color="#e3e3e3", lw=0.5)
    legend(figure, reading_styles(), lines=False)
    caption(
        figure,
        findings.models(table),
        "Twenty free means, k = 4, by what arrives before a pull ends and by its delay: 100 steps "
        "or uniform on 50 to 150. Mean time with partial feedback over mean time on rewards alone, "
        f"on the same streams, 95% intervals (paired). {runs(ratios.n)}.",
    )
    return figure


def coverage(table: pd.DataFrame) -> Figure:
    styles = {
        "alike, unbiased Full": Style(BLACK, "s", "", "rewards alone, Eq. (5)"),
        "alike, unbiased Partial": Style(BLUE, "o", "", "unbiased, Eq. (4)"),
        "alike, biased Partial": Style(VERMILION, "^", "", "biased, Eq. (6)"),
    }
    rows = pick(table, statistic="share_missed")
    rows = rows.assign(series=rows.instance + " " + rows.strategy)
    rows = rows[rows.series.isin(styles)]
    names = ["as-written", "published-split", "guaranteed"]
    lines = {name: STYLES[name].name or name for name in names}
    lines |= {f"{name}+sigma": f"{text}, scale = σ" for name, text in lines.items()}
    rows = rows.assign(line=rows.reading.map(lines))
    figure = new_figure(WIDE, 2.6)
    none = rows.status == "one-sided"  # only an upper bound
    rows = rows.assign(
        value=rows.value.mask(none, rows.high), low=rows.low.mask(none, 0.3 * rows.high)
    )
    axes = dots(figure, rows, styles, list(lines.values()), "line", "series", log=True)[0, 0]
    axes.axvline(DELTA, color=BOUND.colour, ls=BOUND.line)
    axes.set_xlabel("share of runs in which a confidence interval ever misses its mean")
    legend(figure, styles, lines=False)
    caption(
        figure,
        findings.coverage(rows),
        f"Two arms that are never told apart, watched for 5,000 steps, delay 10, δ = {DELTA} "
        "(dotted); 95% Wilson intervals; where no run missed, the one-sided upper bound, at the "
        "right end of its bar. Scale = σ: Lemma 1's scale read as one standard deviation. "
        f"{runs(rows.n)}.",
    )
    return figure


def fig2(table: pd.DataFrame, arms: pd.DataFrame) -> Figure:
    rows = pick(table, statistic="time_ratio")
    rows = rows[rows.reading.isin(SHOWN)]
    figure = new_figure(WIDE, 2.7)
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=[2.1, 1.0])[0]
    panels = series(left, rows, STYLES, "reading", "x", ("batch", BATCH_NAMES))[0]
    for axes, batch in zip(panels, BATCHES, strict=True):
        even_line(axes)
        lowest(axes, table, "all battery", batch)
    panels[0].set_ylabel(f"mean time:\n{EVEN}")
    ranked(right.subplots(), arms, "policies by mean life", "life (cycles)")
    panels[0].set_ylim(bottom=0.6)
    left.supxlabel("standard deviation of a forecast, σₚ (cycles)", fontsize=8)
    legend(figure, reading_styles())
    wrong = pick(table, statistic="error_rate", instance="all battery", strategy="Partial")
    caption(
        figure,
        findings.shares_of_time(rows) + ".",
        "Left and middle: mean time to find the best of 40 charging policies with forecasts of a "
        "cell's life over mean time on lives alone, on the same cells; 95% intervals (paired), "
        f"{runs(rows.n)} per point, δ = {DELTA}. Published: the lowest ratio in the text. "
        f"Share of wrong answers, all points: at most {wrong.value.max():.2g}. Right: the "
        "policies, mean and one standard deviation of the cells (band). Simulated with PyBaMM, "
        "a step is 50 cycles.",
    )
    return figure


def mip(table: pd.DataFrame, arms: pd.DataFrame) -> Figure:
    ratios = pick(table, statistic="time_ratio")
    stated = pick(ratios, reading="published")
    stated = stated.assign(batch=stated.strategy.map({v: k for k, v in BATCHES.items()}))
    ours = pick(ratios, strategy="Partial")
    ours = ours[ours.reading.isin(SHOWN)]
    like = pick(ours, reading="as-published")
    stated = with_errors(stated, like.assign(strategy=like.batch.map(BATCHES)), log=True)
    short = {1: "sequential", 10: "parallel"}
    rows = pd.concat([stated, ours]).assign(line=lambda d: d.batch.map(short))
    figure = new_figure(WIDE, 2.5)
    parts = figure.subfigures(1, 3, squeeze=False, width_ratios=[1.15, 1.0, 1.0])[0]
    first, second, third = parts
    with_published = STYLES | {"published": PUBLISHED}
    axes = dots(first, rows, with_published, list(short.values()), "line", "reading")[0, 0]
    even_line(axes, vertical=True)
    axes.set(title="time ratio", xlabel="ratio of mean times", xlim=(0.0, None))
    legend(figure, named_styles(with_published, rows.reading), lines=False)
    ranked(second.subplots(), arms, "cut strategies by mean", "final bound / start")
    axes = third.subplots()
    for name, style, at in (
        ("forecast_error", Style(BLUE, "o", name="rms error"), (4, -12)),
        ("forecast_spread", Style(VERMILION, "s", "--", "rms σₚ"), (4, 8)),
    ):
        points = pick(table, statistic=name).sort_values("x")
        axes.plot(
            points.x, points.value, style.line, marker=style.marker, ms=2.5, color=style.colour
        )
        place = (points.x.iloc[3], points.value.iloc[3])
        axes.annotate(
            style.name, place, at, textcoords="offset points", color=style.colour, fontsize=7
        )
    axes.set(title="forecasts", xlabel="step (100 iterations)", ylim=(0.0, None))
    axes.set_ylabel("error / start")
    wrong = pick(table, statistic="error_rate", strategy="Partial")
    caption(
        figure,
        f"{findings.shares_of_time(ours)}; the paper reports {spread(stated.value, '.0%')}.",
        "Left: mean time to find the best of 32 cut strategies with forecasts of the final bound "
        "over mean time on final bounds alone, on the same runs of SCIP; 95% intervals (paired), "
        f"{runs(ours.n)}, δ = {DELTA}; published with the sampling error of n = 100 runs as "
        f"published; largest share of wrong answers {wrong.value.max():.2g}. Middle: final bound "
        "in units of the start solution, mean and one standard deviation over the test problems "
        "(band). Right: error of forecasts and their σₚ = (UB − LB)/2, over all strategies and "
        "test problems still running.",
    )
    return figure


def ranked(axes: Axes, arms: pd.DataFrame, title: str, label: str) -> None:
    """Arms in the order of their means, with a band of one standard deviation."""
    arms = arms.sort_values("mean", ascending=False)
    rank = np.arange(1, len(arms) + 1)
    low, high = arms["mean"] - arms.sigma, arms["mean"] + arms.sigma
    axes.fill_between(rank, low, high, color=GREY, alpha=0.25, lw=0)
    axes.plot(rank, arms["mean"], "o", color=GREY, ms=2.2)
    axes.set(title=title, xlabel="rank", ylabel=label)


PLOTS = Plots(
    {
        "fig1": fig1,
        "means": means,
        "readings": readings,
        "models": models,
        "coverage": coverage,
        "fig2": fig2,
        "mip": mip,
        "mixture": mixture,
    },
    STYLES,
    {
        "fig1": "time_ratio",
        "means": "time_ratio",
        "readings": "time_ratio",
        "models": "time_ratio",
        "coverage": "share_missed",
        "fig2": "time_ratio",
        "mip": "time_ratio",
        "mixture": "time_ratio",
    },
)
