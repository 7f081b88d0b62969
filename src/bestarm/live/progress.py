"""The picture of a live experiment, to show to people: decision, estimates, shares of results."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator, PercentFormatter, StrMethodFormatter

from bestarm.common.drawing import WIDE, new_figure
from bestarm.common.styles import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from bestarm.live.combinations import Interval
from bestarm.live.lines import ALL, ANSWER, TOTAL, Line, Row

#: Looks of arms in their order, then from the first again; the answer's.
STYLES = [(c, m) for m, c in product("osD^v", (BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE))]
ANSWER_STYLE = (BLACK, "P")
#: Most rows of a panel and lines of the title.
MOST_ROWS, MOST_LINES = 60, 4
#: Size of the title, and widths of its lines, of a name and of one of two names, in points.
TITLE_SIZE, LINE_WIDTH, NAME_WIDTH, HALF_WIDTH = 9.0, 72.0 * (WIDE - 0.2), 110.0, 75.0
#: What stands behind the name of an arm that was dropped.
DROPPED = " (dropped)"
#: Points of a curve, at most about as many.
POINTS = 300
#: Heights in inches: of a row, of a panel beside its rows, and of the title's line.
ROW, PANEL, TITLE = 0.2, 0.65, 0.2


def draw_progress(
    title: str,
    arms: Sequence[str],
    rows: Sequence[Row],
    results: Sequence[tuple[int, str, int]],
    control: str,
) -> Figure:
    """Estimates with their intervals, a panel per quantity; beside them shares of results by arm.

    Args:
        title: the decision in words.
        arms: their names, in the order of their styles.
        rows: of the summary.
        results: of all that was told, in that order: the number of its event, arm and pulls.
        control: the arm that others are compared with: their differences are drawn; "" for none.
    """
    styles = {arm: STYLES[i % len(STYLES)] for i, arm in enumerate(arms)} | {ANSWER: ANSWER_STYLE}
    panels = _panels(rows, control)
    heights = [PANEL + ROW * len(drawn) for drawn in panels.values()] or [PANEL + 4 * ROW]
    lines = title_lines(title)
    height = sum(heights) + TITLE * len(lines) + 0.1
    figure = new_figure(WIDE, max(height, 2.4 if results else height))
    wide = (1.7, 1.0) if results else (1.0,)
    grid = figure.add_gridspec(len(heights), len(wide), width_ratios=wide, height_ratios=heights)
    if not panels:
        figure.add_subplot(grid[0, 0]).set(xlabel="no results yet", xticks=[], yticks=[])
    for place, (quantity, drawn) in enumerate(panels.items()):
        axes = figure.add_subplot(grid[place, 0])
        _draw_estimates(axes, drawn, styles, bool(control))
        axes.set_xlabel(_said(quantity, control), parse_math=False)
    if results:
        _draw_shares(figure.add_subplot(grid[:, 1]), arms, results, styles)
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=TITLE_SIZE, parse_math=False)
    return figure


def title_lines(text: str) -> list[str]:
    """A text in lines that fit into a figure; one that is too long ends in dots."""
    lines = [""]
    for word in map(_short, text.split()):
        longer = f"{lines[-1]} {word}".strip()
        if _width(longer) <= LINE_WIDTH:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > MOST_LINES:
        *kept, last = lines[:MOST_LINES]
        lines = [*kept, f"{last.rpartition(' ')[0]} ..."]
    return lines


def _panels(rows: Sequence[Row], control: str) -> dict[str, list[tuple[Line, Interval]]]:
    """By quantity the lines to draw, with what is drawn of them, segment by segment."""
    panels: dict[str, list[tuple[Line, Interval]]] = {}
    for line, difference in rows:
        drawn = difference if control else line.interval
        if not math.isnan(drawn.estimate):
            quantity = "reward" if line.quantity == TOTAL else line.quantity
            panels.setdefault(quantity, []).append((line, drawn))
    by_quantity = {quantity: _sorted(drawn) for quantity, drawn in panels.items()}
    if control:
        own = Line(control, "", 0, 0.0, 0.0, 0.0), Interval(0.0, 0.0, 0.0)
        by_quantity = {quantity: [own, *drawn] for quantity, drawn in by_quantity.items()}
    return by_quantity


def _sorted(drawn: list[tuple[Line, Interval]]) -> list[tuple[Line, Interval]]:
    """First those over all segments, then segment by segment; of too many the highest of all."""
    segments = list(dict.fromkeys(line.segment for line, _ in drawn))
    if len(drawn) > MOST_ROWS and len(segments) > 1:
        drawn = [row for row in drawn if row[0].quantity == TOTAL]
    if len(drawn) > MOST_ROWS:
        kept = sorted(drawn, key=lambda row: -row[1].estimate)[:MOST_ROWS]
        drawn = [row for row in drawn if row in kept]
    return sorted(drawn, key=lambda row: (row[0].quantity != TOTAL, segments.index(row[0].segment)))


def _said(quantity: str, control: str) -> str:
    if not control:
        return _short(quantity)
    return f"{_short(quantity)}: difference from {_short(control)}\n(filled: differs from 0)"


def _width(text: str) -> float:
    """Of a text in the size of the title, in points."""
    font = FontProperties(family="DejaVu Sans", size=TITLE_SIZE)
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def _short(name: str, width: float = NAME_WIDTH) -> str:
    """A name in one line, cut if it is long."""
    name = " ".join(name.split())
    if _width(name) <= width:
        return name
    return next(
        cut for n in range(min(len(name), 60), -1, -1) if _width(cut := f"{name[:n]}...") <= width
    )


def _label(line: Line) -> str:
    suffix = DROPPED if line.status == "dropped" else ""
    if not line.segment:
        return _short(line.arm, NAME_WIDTH - _width(suffix)) + suffix
    segment = ALL if line.quantity == TOTAL else _short(line.segment, HALF_WIDTH)
    return f"{segment}: {_short(line.arm, HALF_WIDTH - _width(suffix))}{suffix}"


def _draw_estimates(
    axes: Axes,
    drawn: list[tuple[Line, Interval]],
    styles: dict[str, tuple[str, str]],
    compared: bool,
) -> None:
    """A row each: a mark, its interval, and a tick at its limit.

    Of differences those that leave out 0 are filled.
    """
    for place, (line, interval) in enumerate(drawn):
        colour, marker = styles[line.arm]
        filled = interval.apart or not compared
        ends = [end for end in (interval.low, interval.high) if math.isfinite(end)]
        if len(ends) == 2:
            axes.plot(ends, [place, place], color=colour)
        face = colour if filled else "white"
        axes.plot(interval.estimate, place, marker, color=colour, mfc=face, ms=4.5, zorder=3)
        if not compared and not math.isnan(line.limit):
            axes.plot(line.limit, place, "|", color=BLACK, ms=9, mew=1.5)
    if compared:
        axes.axvline(0.0, color=BLACK, lw=0.8)
    axes.set_yticks(range(len(drawn)), [_label(line) for line, _ in drawn], parse_math=False)
    axes.set_ylim(len(drawn) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(4))


def _draw_shares(
    axes: Axes,
    arms: Sequence[str],
    results: Sequence[tuple[int, str, int]],
    styles: dict[str, tuple[str, str]],
) -> None:
    """The share that each arm has of the results until then, against their number."""
    place = {arm: i for i, arm in enumerate(arms)}
    _, events = np.unique([event for event, _, _ in results], return_inverse=True)
    kept = np.unique(np.linspace(0, events[-1], POINTS).astype(int))
    columns = np.array([place[arm] for _, arm, _ in results])
    pulls = np.zeros((len(kept), len(arms)))
    cells = np.searchsorted(kept, events) * len(arms) + columns
    np.add.at(pulls.ravel(), cells, [n for _, _, n in results])
    so_far = pulls.cumsum(axis=0)
    total = so_far.sum(axis=1)
    for arm, share in zip(arms, (so_far / total[:, None]).T, strict=True):
        colour, marker = styles[arm]
        axes.plot(total, share, color=colour)
        axes.plot(total[-1], share[-1], marker, color=colour, ms=4.5, clip_on=False)
    axes.set(
        ylabel="share of results so far", xlabel="results", ylim=(0.0, 1.0), xlim=(0, total[-1])
    )
    axes.xaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
