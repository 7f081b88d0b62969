"""The pictures of verdicts: all results, and each paper's forest plot of numbers and scorecard."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, NullFormatter

from bestarm import registry
from bestarm.common.drawing import WIDE, caption, new_figure
from bestarm.common.styles import BLUE, GREEN, ORANGE, SKY, VERMILION
from bestarm.core.errors import InputError
from bestarm.publish.styles import STYLES
from bestarm.verdicts.claims import FACTOR, KINDS
from bestarm.verdicts.outcome import NOT_TESTABLE, TEXT
from bestarm.verdicts.scoreboard import (
    COARSE,
    DIFFERS_ALL,
    FROM_PROGRAM,
    FROM_READING,
    FROM_TEXT,
    NOT_FIXED,
    STANDINGS,
    of_papers,
)
from bestarm.verdicts.table import as_frame, read_verdicts

#: How a result stands in the picture of all: a label, a colour and a hatch.
RESULT_SHADES = {
    FROM_TEXT: ("replicates from the text", GREEN, ""),
    FROM_READING: ("replicates from a named reading", BLUE, ""),
    COARSE: ("compatible, but known too coarsely", SKY, ""),
    FROM_PROGRAM: ("agrees with the authors' program", ORANGE, ""),
    NOT_FIXED: ("the text does not fix the experiment", "#d0d0d0", ""),
    DIFFERS_ALL: ("differs from all of these", VERMILION, "xxx"),
    NOT_TESTABLE: ("not testable", "white", "////"),
}
#: A forest has at most this many lines below one another; more claims are drawn in panels.
MOST_LINES, FOREST_PANELS = 25, 3
#: A forest's axis; ratios beyond it end in arrows.
NARROWEST, WIDEST = 0.1, 10.0
#: Height of a line of the forest and of a scorecard, in inches.
FOREST_LINE, SCORE_LINE = 0.14, 0.16
#: Half the height of another reading's tick, in lines of the forest.
TICK = 0.22
#: Columns of scorecard.csv that are counts.
COUNTS = ["confirmed", "errs", "differs", "open", "claims"]
#: A scorecard shows at most this many readings: those that most claims are credited to.
MOST_READINGS = 40


def draw(name: str, table: Path) -> Figure:
    """An overview by name, from its table.

    Args:
        name: `results`, `forest-PAPER` or `scorecard-PAPER`.
        table: results.csv, claims.csv or scorecard.csv.

    Raises:
        InputError: there is none of that name.
    """
    kind, _, paper = name.partition("-")
    if name == "results":
        return results(pd.read_csv(table))
    if kind == "forest" and paper in registry.COUNTED:
        return forest(as_frame(read_verdicts(table)), paper)
    if kind == "scorecard" and paper in registry.COUNTED:
        return scorecard(pd.read_csv(table), paper)
    papers = ", ".join(registry.COUNTED)
    raise InputError(
        f"{name}: must be results, forest-PAPER or scorecard-PAPER, PAPER one of {papers}"
    )


def results(table: pd.DataFrame) -> Figure:
    """Every paper's published results by what became of them.

    Args:
        table: results.csv.
    """
    titles = {p: registry.PAPERS[p].pages.short or p for p in registry.COUNTED}
    counts = pd.crosstab(table.paper, table.standing)
    counts = counts.reindex(index=list(titles), columns=list(STANDINGS), fill_value=0)
    figure = new_figure(WIDE, 0.3 * len(titles) + 1.15)
    axes = figure.subplots()
    for standing, bars in _stacked(axes, counts, RESULT_SHADES, ec="#666666", lw=0.4).items():
        _, colour, hatch = RESULT_SHADES[standing]
        plain = [f"{n}" if n and not hatch else "" for n in counts[standing]]
        axes.bar_label(bars, plain, label_type="center", fontsize=7, color=_on(colour))
    axes.set_yticks(range(len(titles)), list(titles.values()))
    axes.set_ylim(len(titles) - 0.4, -0.6)
    axes.set_xlim(0.0, 1.02 * max(counts.sum(axis=1).max(), 1.0))
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("published results")
    drawn = [RESULT_SHADES[standing] for standing in STANDINGS if counts[standing].any()]
    entries = [Patch(fc=c, hatch=h, ec="#666666", lw=0.4, label=text) for text, c, h in drawn]
    figure.legend(handles=entries, loc="outside upper left", ncols=2, fontsize=7.5)
    testable = len(table) - counts[NOT_TESTABLE].sum()
    replicated = counts[[FROM_TEXT, FROM_READING]].sum().sum()
    caption(
        figure,
        f"Of {testable} published results that can be tested {replicated} replicate, "
        f"{counts[FROM_TEXT].sum()} of them from the paper's text alone; "
        f"{counts[DIFFERS_ALL].sum()} differ from every reading that we tried. Of the others the "
        "text does not fix the experiment, or the data do not settle them. A result is what one "
        "experiment gives for one strategy in one environment.",
    )
    return figure


def _on(colour: str) -> str:
    """White or black, whichever can be read on a colour."""
    return "white" if np.dot(to_rgb(colour), (0.299, 0.587, 0.114)) < 0.5 else "black"


def forest(verdicts: pd.DataFrame, paper: str) -> Figure:
    """Every number of a paper that can be tested: published over ours.

    Args:
        verdicts: the lines of claims.csv.
        paper: one of its papers.
    """
    every = of_papers(verdicts[verdicts.kind.eq("number") & verdicts.paper.eq(paper)])
    numbers = every[every.ratio.notna()]
    if numbers.empty:
        figure = new_figure(WIDE, 1.0)
        text = _nothing_to_draw(every)
        figure.text(0.5, 0.5, text.replace(". ", ".\n"), ha="center", va="center")
        caption(figure, text)
        return figure
    panels = _forest_panels(numbers, paper)
    width = min(len(panels), FOREST_PANELS)
    names = list(panels.values())
    heights = [max(map(len, names[k : k + width])) for k in range(0, len(names), width)]
    figure = new_figure(WIDE, FOREST_LINE * sum(heights) + 0.35 * len(heights) + 0.9)
    grid = figure.subplots(len(heights), width, squeeze=False, height_ratios=heights)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for k, (axes, title) in enumerate(zip(grid.flat, panels, strict=False)):
        claims = panels[title]
        _forest_panel(axes, numbers, claims, heights[k // width])
        axes.set_title(title, fontsize=7.5)
        if len(panels) == 1:
            _forest_readings(axes, numbers, claims)
        else:
            axes.set_yticklabels(_without_shared(claims))
    counts_by_verdict = every.drop_duplicates("id").verdict.value_counts()
    _forest_legend(figure, counts_by_verdict)
    counts = every.id.nunique(), numbers.id.nunique()
    caption(figure, _forest_caption(counts_by_verdict, *counts, len(panels) == 1))
    return figure


def _forest_panels(numbers: pd.DataFrame, paper: str) -> dict[str, list[str]]:
    """Claims by panel: all in one or, of more than MOST_LINES, those of an environment each."""
    names = list(numbers.id.unique())
    if len(names) <= MOST_LINES:
        return {"": names}
    panels: dict[str, list[str]] = {}
    for name in names:
        panels.setdefault(_environment(paper, name), []).append(name)
    return panels


def _without_shared(claims: list[str]) -> list[str]:
    """Names of claims without the parts, after the first, that all of them have.

    Example:
        >>> _without_shared(["fig5-median-lagex", "fig8-median-lats"])
        ['fig5-lagex', 'fig8-lats']
    """
    parts = [name.split("-") for name in claims]
    shared = set.intersection(*map(set, parts))
    return ["-".join([first, *(p for p in rest if p not in shared)]) for first, *rest in parts]


def _environment(paper: str, claim: str) -> str:
    """Where the target of a claim was run, as its title has it after a comma; else its name."""
    name = claim.partition("-")[0]
    target = registry.PAPERS[paper].targets.get(name)
    return target.title.partition(", ")[2] or name if target else name


def _forest_caption(verdicts: "pd.Series[int]", n_claims: int, n_drawn: int, named: bool) -> str:
    """What came out, and what is drawn."""
    left_out = n_claims - n_drawn
    return (
        f"Of {n_claims} published numbers: {_counts(verdicts)}. Marks: published over ours, under "
        "the reading that the verdict rests on"
        + (", named on the right" if named else "")
        + ": one that is confirmed, else a compatible one, else the nearest. Thick bars: 95% "
        "interval of our runs; thin bars: with the paper's sampling error and rounding. Shares are "
        "tested by their difference."
        + (f" {left_out} have no ratio and are not drawn." if left_out else "")
    )


def _counts(verdicts: "pd.Series[int]") -> str:
    """How many claims have each verdict."""
    return ", ".join(
        f"{verdicts[name]} {name.replace('differs', 'differ')}"
        for name in STYLES
        if name in verdicts
    )


def _nothing_to_draw(numbers: pd.DataFrame) -> str:
    """Why a paper has no picture of its numbers."""
    if numbers.empty:
        return "No claim is a published number. The scorecard has the paper's claims."
    verdicts = numbers.drop_duplicates("id").verdict.value_counts()
    return (
        f"Of {verdicts.sum()} published numbers: {_counts(verdicts)}; there is none to compare "
        "with ours. The scorecard has the paper's other claims."
    )


def _forest_legend(figure: Figure, verdicts: "pd.Series[int]") -> None:
    drawn = [style for verdict, style in STYLES.items() if verdict in verdicts]
    marks = [
        Line2D([], [], color=style.colour, marker=style.marker, fillstyle=style.fill, ms=5, ls="")
        for style in drawn
    ]
    labels = [
        f"{style.label}: {verdicts[verdict]}" for verdict, style in STYLES.items() if style in drawn
    ]
    marks += [Line2D([], [], color="#999999", marker="|", ms=5, ls=""), Patch(color="#e8f1e4")]
    labels += ["other readings", f"within {FACTOR - 1:.0%}"]
    figure.legend(marks, labels, loc="outside upper left", ncols=3, fontsize=7)


def _forest_panel(axes: Axes, numbers: pd.DataFrame, claims: list[str], height: int) -> None:
    """A line per claim, in a panel with room for `height` lines."""
    axes.axvspan(1 / FACTOR, FACTOR, color="#e8f1e4", lw=0)
    axes.axvline(1.0, color="#777777", lw=0.6)
    axes.set(xscale="log", xlim=(NARROWEST, WIDEST), ylim=(height - 0.4, -0.6))
    axes.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    axes.set_xticks([0.2, 0.5, 2, 5], minor=True)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", labelsize=7)
    axes.tick_params(axis="y", length=0, pad=2)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("published / ours", fontsize=7)
    axes.spines["left"].set_visible(False)
    axes.set_yticks(range(len(claims)), claims, fontsize=6)
    for place, name in enumerate(claims):
        _forest_line(axes, place, numbers[numbers.id == name])


def _decisive(readings: pd.DataFrame) -> pd.Series:
    """The line of a claim that its verdict rests on."""
    first = readings.iloc[0]
    under = first.under if isinstance(first.under, str) else ""
    return readings[readings.reading == under].iloc[0] if under else first


def _forest_readings(axes: Axes, numbers: pd.DataFrame, claims: list[str]) -> None:
    """On the right the readings that verdicts rest on, where it is not the paper's text."""
    for place, name in enumerate(claims):
        readings = numbers[numbers.id == name]
        first, decisive = readings.iloc[0], _decisive(readings)
        is_text = decisive.reading == first.reading and first.basis == TEXT
        if isinstance(first.under, str) and first.under and not is_text:
            where = axes.get_yaxis_transform()
            axes.text(1.02, place, first.under, transform=where, fontsize=6, va="center")


def _forest_line(axes: Axes, place: int, readings: pd.DataFrame) -> None:
    """One claim: a mark for its verdict, bars, and ticks for the other readings."""
    first, decisive = readings.iloc[0], _decisive(readings)
    others = readings.ratio[readings.reading != decisive.reading].clip(NARROWEST, WIDEST)
    others = sorted({float(f"{ratio:.3g}") for ratio in others})  # one tick where several would be
    ends = [place - TICK, place + TICK, np.nan]  # one line with gaps takes less space than marks
    axes.plot(np.repeat(others, 3), np.tile(ends, len(others)), color="#aaaaaa", lw=0.6)
    style = STYLES[first.verdict]
    for low, high, width in (
        (decisive.ratio_low, decisive.ratio_high, 0.7),
        (decisive.ratio_low_ours, decisive.ratio_high_ours, 2.0),
    ):
        ends = np.clip([low, high], NARROWEST, WIDEST)
        axes.plot(ends, [place, place], color=style.colour, lw=width, solid_capstyle="butt")
    beyond = decisive.ratio < NARROWEST or decisive.ratio > WIDEST
    marker = ("<" if decisive.ratio < 1.0 else ">") if beyond else style.marker
    inside: dict[str, Any] = {"facecolors": style.colour if style.fill == "full" else "white"}
    colours: dict[str, Any] = (
        {"color": style.colour} if marker == "_" else {"edgecolors": style.colour, **inside}
    )
    place_x = min(max(decisive.ratio, NARROWEST), WIDEST)
    mark = axes.scatter(
        place_x, place, s=18, marker=marker, zorder=3, clip_on=False, linewidths=0.8, **colours
    )
    mark.set_urls([f"{first.paper}.html#claim-{first.id}"])
    if style.fill == "left":
        axes.plot(
            place_x,
            place,
            marker=style.marker,
            fillstyle="left",
            color=style.colour,
            markerfacecoloralt="white",
            ms=4.2,
            mew=0.8,
            zorder=4,
        )


#: Columns of a scorecard by how a claim stands: a label, a colour and a hatch.
SHADES = {
    "confirmed": ("confirmed", BLUE, ""),
    "errs": ("confirmed, but errs more often than delta", ORANGE, "///"),
    "open": ("compatible or inconclusive", "#d9d0e3", ""),
    "differs": ("differs", VERMILION, "xxx"),
}


def scorecard(table: pd.DataFrame, paper: str) -> Figure:
    """What each reading of a paper supports, by kind of claim.

    Args:
        table: scorecard.csv.
        paper: one of its papers.
    """
    rows = table[table.paper == paper]
    names = _most_telling(rows)
    kinds = [kind for kind in KINDS if kind in set(rows.kind)]
    figure = new_figure(WIDE, SCORE_LINE * len(names) + 0.9)
    panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for axes, kind in zip(panels, kinds, strict=True):
        of_kind = rows[rows.kind == kind].set_index("reading")[COUNTS].reindex(names, fill_value=0)
        parts = of_kind.assign(confirmed=of_kind.confirmed - of_kind.errs)[list(SHADES)]
        _stacked(axes, parts, SHADES, ec="white", lw=0.3)
        axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
        axes.set_title({"identity": "identities"}.get(kind, f"{kind}s"))
        axes.set_xlabel("claims")
    panels[0].set_yticks(range(len(names)), names, fontsize=7)
    for axes in panels[1:]:
        axes.tick_params(axis="y", length=0)
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    drawn = {name: shade for name, shade in SHADES.items() if rows[name].any()}
    entries = [Patch(fc=c, hatch=h, ec="white", label=text) for text, c, h in drawn.values()]
    columns = len(entries) if len(entries) < len(SHADES) else 2  # all in a line are too wide
    figure.legend(handles=entries, loc="outside upper left", ncols=columns, fontsize=8)
    left_out = rows.reading.nunique() - len(names)
    more = f" {left_out} readings that support fewer numbers are in scorecard.csv."
    caption(
        figure,
        best_reading(rows),
        "Claims tested under each reading. A number is confirmed under a reading only if all "
        "numbers of its published row are." + (more if left_out else ""),
    )
    return figure


def best_reading(rows: pd.DataFrame) -> str:
    """The reading that confirms most claims without erring too often."""
    sums = rows[rows.reading != "exact"].groupby("reading", sort=False)[COUNTS].sum()
    confirmed = sums.confirmed - sums.errs
    if not confirmed.any():
        return "No reading confirms a claim."
    name = str(confirmed.idxmax())
    return (
        f"Reading {name} confirms most claims, {confirmed[name]} of the {sums.claims[name]} tested "
        f"under it, and contradicts {sums.differs[name]}."
    )


def _most_telling(rows: pd.DataFrame) -> list[str]:
    """The readings to show, in the table's order: if too many, those that support most numbers."""
    names = list(rows.reading.unique())
    if len(names) <= MOST_READINGS:
        return names
    numbers = rows[rows.kind == "number"].set_index("reading")
    merit = numbers.confirmed + 1e-3 * numbers.open
    other = [name for name in names if name not in merit.index]
    best = merit.sort_values(ascending=False, kind="stable").index[: MOST_READINGS - len(other)]
    return [name for name in names if name in {*best, *other}]


def _stacked(
    axes: Axes, widths: pd.DataFrame, shades: Mapping[str, tuple[str, str, str]], **edges: Any
) -> dict[str, BarContainer]:
    """A bar per row of widths, in parts from left to right; the containers of the parts."""
    left, drawn = np.zeros(len(widths)), {}
    for name in widths:
        _, colour, hatch = shades[str(name)]
        width = widths[name].to_numpy(float)
        drawn[str(name)] = axes.barh(
            range(len(widths)), width, left=left, fc=colour, hatch=hatch, **edges
        )
        left = left + width
    axes.grid(axis="y", visible=False)
    return drawn
