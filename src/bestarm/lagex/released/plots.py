"""Pictures of the released programs: beside the paper, and without some of their peculiarities."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from bestarm.common.drawing import WIDE, caption, dots, legend, new_figure, plain_log_ticks, runs
from bestarm.common.styles import BLUE, GREY, VERMILION, Style
from bestarm.common.tables import pick
from bestarm.core.estimates import least_runs
from bestarm.lagex import findings
from bestarm.lagex.boxes import KNOWING, STYLES, box_lines, boxes, single_value, strategies_in
from bestarm.lagex.released.kept import SETUP_2, TITLES
from bestarm.lagex.released.program import SWITCHED_OFF, reading_without

#: Statistics at the ends of the whiskers, by reading.
WHISKERS = {
    "published": ("whisker:low", "whisker:high"),
    "program": ("quantile_05", "quantile_95"),
    "as-written": ("quantile_05", "quantile_95"),
}
TIMES, VIOLATIONS = "", "policy_violations:"
AXES = {TIMES: "steps until stopping", VIOLATIONS: "rounds that break a limit"}


def programs(table: pd.DataFrame) -> Figure:
    """Published, of the program and as written, side by side: stopping times and violations."""
    others = setup_2(table)
    figure = new_figure(WIDE, 5.6 + (2.9 if others else 0.0))
    parts: Any = [figure]
    if others:
        parts = figure.subfigures(2, 1, squeeze=False, height_ratios=[5.6, 2.9])[:, 0]
    above = table[table.instance.isin(TITLES)]
    titles = {title: above[above.instance == name] for name, title in TITLES.items()}
    panels(parts[0], titles, {TIMES: above, VIOLATIONS: above})
    if others:
        panels(parts[1], others, {VIOLATIONS: pd.concat(others.values())})
        parts[1].suptitle("setup 2, which is in no released file", x=0.01, ha="left", fontsize=8)
    caption(
        figure,
        findings.programs(above),
        "From the top for each strategy: published (white), the released program (dark), as "
        "written (pale). Boxes: quartiles and median over runs; whiskers: 5% and 95%, published "
        "ones as drawn. Those that reach 0 leave the axis. If a quantile lies among capped runs "
        f"the box is open. Fewer than {least_runs(0.5)} runs give no 95% interval of a median, "
        f"fewer than {least_runs(0.25)} none of a quartile. Setup 1 with the six arms of the "
        "released programs, which lack CTnS and CGE. "
        f"{about_setup_2(others)}"
        f"{runs(pick(above, reading='as-written', statistic='median_stopping_time').n)} per "
        "box, as written and published.",
    )
    return figure


def about_setup_2(others: Mapping[str, pd.DataFrame]) -> str:
    """What the caption says of setup 2; nothing if it was not run."""
    if not others:
        return ""
    rows = pd.concat(others.values())
    written = pick(rows, reading="as-written", statistic="policy_violations:median").n
    return (
        "Below: no released file has setup 2; its runs are those of the programs' code in the "
        "paper's other environment, at values of δ that may have been run, "
        f"{runs(program_counts(rows))} per program and {runs(written)} as written. Its stopping "
        "times are not published. Above: "
    )


def setup_2(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Rows of setup 2 by the title of a panel, of each environment and delta that was run."""
    panels = {}
    for instance, title in SETUP_2.items():
        here = table[table.instance == instance]
        for delta in sorted(set(here[here.reading == "program"].delta)):
            at_delta = (here.delta == delta) | (here.reading == "published")
            panels[f"{title}, δ = {delta:g}"] = here[at_delta]
    return panels


def panels(
    figure: Figure | SubFigure,
    titles: Mapping[str, pd.DataFrame],
    kinds: Mapping[str, pd.DataFrame],
) -> None:
    """Boxes of each environment, a column, and of each of `kinds`, a row.

    Args:
        figure: what to fill.
        titles: rows of an environment by its title.
        kinds: of quantities, TIMES or VIOLATIONS; with the rows that say which boxes there are.
    """
    grid, narrow = (
        figure.subplots(len(kinds), len(titles), squeeze=False),
        len(titles) > len(TITLES),
    )
    for row, (kind, table) in zip(grid, kinds.items(), strict=True):
        lines = box_lines(table, strategies_in(table, but=KNOWING), WHISKERS)
        for axes, here in zip(row, titles.values(), strict=True):
            spans(axes, here, lines, kind)
            plain_log_ticks(axes.xaxis, crowded=2.0 if narrow else 8.0)
            axes.set_xlabel("" if narrow else AXES[kind])
            if axes is not row[0]:
                axes.set_yticklabels([])
        if narrow:
            figure.supxlabel(AXES[kind], fontsize=8)
    for axes, (title, here) in zip(grid[0], titles.items(), strict=True):
        counts = program_counts(here)
        extremes = sorted({min(counts, default=0), max(counts, default=0)})
        seen = "–".join(f"{int(n):,}" for n in extremes)
        of = f"{seen} program runs" if len(counts) else "programs not run"
        axes.set_title(title if narrow else f"{title} ({of})")


def program_counts(rows: pd.DataFrame) -> pd.Series:
    """The numbers of runs of the programs."""
    return pick(rows, reading="program", statistic="median_stopping_time").n


def spans(axes: Axes, here: pd.DataFrame, lines: list[tuple[str, str]], kind: str) -> None:
    """Boxes of one environment and one of TIMES and VIOLATIONS."""
    median = f"{kind}median" if kind else "median_stopping_time"
    names = {
        reading: [
            f"{kind}{low}", f"{kind}quartile_25", median, f"{kind}quartile_75", f"{kind}{high}",
        ]
        for reading, (low, high) in WHISKERS.items()
    }  # fmt: skip
    listed = [name for group in names.values() for name in group]
    axes.set_xscale("log")
    played = here.strategy.isin([strategy for strategy, _ in lines])
    quantiles = here[played & here.statistic.isin(listed)].copy()
    quantiles["value"] = quantiles.value.clip(lower=1.0)
    boxes(axes, quantiles, lines, names, whole="program")
    ends = quantiles.value[quantiles.value > 4.0]
    axes.set_xlim(0.8 * ends.min(), 1.3 * ends.max())


#: Lines of the picture below by their readings: what is switched off.
LINES = {reading_without(without): name for without, name in SWITCHED_OFF.items()}


def peculiarities(table: pd.DataFrame) -> Figure:
    """Medians of the released programs with one of their peculiarities switched off at a time."""
    medians = pick(table, statistic="median_stopping_time")
    ours = medians[medians.reading.isin(LINES)].assign(line=lambda rows: rows.reading)
    cap = float(ours.cap.iloc[0])
    order = strategies_in(ours)
    figure = new_figure(WIDE, 4.4)
    styles = {reading: Style(BLUE, "o", name=name) for reading, name in LINES.items()}
    drawn = ours.dropna(subset=["value"]).assign(high=lambda rows: rows.high.clip(upper=2.0 * cap))
    limits = (0.8 * min(medians.value.min(), drawn.low.min()), 1.05 * cap)
    parts = figure.subfigures(2, 1, squeeze=False)[:, 0]
    for part, programs_drawn in zip(parts, (order[:3], order[3:]), strict=True):
        titles = {strategy: STYLES[strategy].name or strategy for strategy in programs_drawn}
        rows = drawn[drawn.strategy.isin(programs_drawn)]
        drawn_axes = dots(part, rows, styles, list(LINES), y="line", by="line", log=True,
                       col=("strategy", titles))[0]  # fmt: skip
        for axes, strategy in zip(drawn_axes, programs_drawn, strict=True):
            here = pick(medians, strategy=strategy)
            for reading, colour, style in (
                ("published", VERMILION, "-"),
                ("as-written", GREY, ":"),
            ):
                value = single_value(pick(here, reading=reading), "median_stopping_time")
                axes.axvline(value, color=colour, ls=style, lw=1.0, zorder=0.5)
            for place, reading in enumerate(LINES):
                _note(axes, pick(here, reading=reading), place)
            axes.set_xlim(*limits)
            plain_log_ticks(axes.xaxis, crowded=10.0)
            axes.axhline(0.5, color="#dddddd", lw=0.5)
        part.supylabel("switched off", fontsize=8)
        part.supxlabel("median steps", fontsize=8)
    marks = {"published": Style(VERMILION, "", "-", "published median")}
    legend(figure, marks | {"ours": Style(GREY, "", ":", "as written")})
    released = pick(ours, reading="program").n
    without = ours[ours.reading != "program"].n
    caption(
        figure,
        findings.peculiarities(ours),
        "The released programs on setup 1 easy, δ = 0.01, with one peculiarity switched off at a "
        f"time: medians with 95% intervals, {runs(released)} as released, "
        f"{without_counts(without)}. Runs end at {cap:,.0f} steps; an interval that reaches the "
        "right edge has no upper end. –: the program has no such "
        "peculiarity, or no other one for the last line to switch off with it.",
    )
    return figure


def without_counts(counts: pd.Series) -> str:
    """How many runs there are without a peculiarity, in words."""
    return f"{runs(counts)} without it" if counts.any() else "none yet without it"


def _note(axes: Axes, median: pd.DataFrame, place: int) -> None:
    """Say at a line why it has no mark."""
    if median.empty:
        text = "–"
    elif not median.n.iloc[0]:
        text = "not run"
    elif np.isnan(median.value.iloc[0]):
        text = "half or more capped"
    else:
        return
    axes.text(
        0.97, place, text, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=6
    )
