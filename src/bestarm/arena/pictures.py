"""Pictures of the arena: ratios to the bound, who wins, and errors at equal budgets."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import NullFormatter

from bestarm.arena import summary
from bestarm.arena.cells import PROVEN, WRITTEN
from bestarm.common.drawing import WIDE, caption, heat, new_figure, plain_log_ticks, runs
from bestarm.common.styles import BLACK, BLUE, GREY
from bestarm.common.tables import groups, lines

#: Height of a line, in inches.
LINE = 0.165
#: Lines that a title and an axis of a ranking take.
ABOVE = 3.6
#: Ratios and error rates of the lightest and the darkest cell.
RATIOS, RATES = (1.0, 100.0), (1e-3, 1.0)
#: Titles of the two parts of the heat map, and their colours.
PARTS = {PROVEN: ("proven rules", "Blues"), WRITTEN: ("the papers' own rules", "Greys")}


def folded(name: str) -> str:
    """A name of a family in short lines.

    Example:
        >>> folded("good mixture, unknown limits").splitlines()
        ['good', 'mixture,', 'unknown', 'limits']
    """
    lines: list[str] = []
    for word in name.split():
        if lines and len(lines[-1]) + len(word) < 11:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def short(value: float) -> str:
    """A ratio in at most three digits.

    Example:
        >>> [short(v) for v in (0.1234, 3.456, 34.56, 345.6)]
        ['0.12', '3.5', '35', '346']
    """
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def fixed_confidence(table: pd.DataFrame) -> Figure:
    """Mean pulls over the lower bound: a line per strategy, columns by family and delta.

    Args:
        table: of `summary.by_family`.
    """
    columns = list(dict.fromkeys(zip(table.family, table.delta, strict=True)))
    parts = {rule: list(table[table.rule == rule].strategy.unique()) for rule in PARTS}
    heights = [len(names) for names in parts.values() if names]
    figure = new_figure(WIDE, LINE * sum(heights) + 1.5)
    rules = [rule for rule, names in parts.items() if names]
    panels = figure.subplots(len(rules), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, rule in zip(panels, rules, strict=True):
        rows = table[table.rule == rule]
        title, colours = PARTS[rule]
        numbers = {(r.strategy, r.family, r.delta): r for r in lines(rows)}
        places = {
            (i, j): numbers[name, *column]
            for i, name in enumerate(parts[rule])
            for j, column in enumerate(columns)
            if (name, *column) in numbers
        }
        texts = {at: f"{'>' if r.cut else ''}{short(r.ratio)}" for at, r in places.items()}
        values = {at: r.ratio for at, r in places.items()}
        _grid(axes, parts[rule], len(columns), values, texts, RATIOS, colours)
        _marks(axes, places)
        axes.set_xticks(np.arange(len(columns)) + 0.5, [f"{delta:g}" for _, delta in columns])
        axes.set_ylabel(title, fontsize=7.5)
    _families(panels[0], [family for family, _ in columns])
    panels[-1].set_xlabel("maximum probability of a wrong answer, δ")
    _legend(figure, above=True)
    caption(
        figure,
        _errors_and_winner(table),
        "Mean pulls over the least that any delta-correct strategy needs, T* kl(δ, 1 − δ); for "
        "unknown limits over what learning them takes. Geometric means over the instances of a "
        f"family, {runs(table.runs // table.instances)} per instance. Hatched: errs more often "
        "than δ on some instance, with 95% confidence. The winner is the proven rule with the "
        "least mean; a thin frame: its interval overlaps the winner's. >: some runs were cut off.",
    )
    return figure


def _errors_and_winner(table: pd.DataFrame) -> str:
    """In how many cells rules err more often than delta, and who wins most often."""
    above = table.groupby("rule").above.sum()
    cells = table.rule.value_counts()
    n_columns = len(table.drop_duplicates(["family", "delta"]))
    return (
        f"Rules err more often than δ in {above.get(PROVEN, 0)} of {cells.get(PROVEN, 0)} cells if "
        f"they are proven, and in {above.get(WRITTEN, 0)} of {cells.get(WRITTEN, 0)} as the papers "
        f"have them. {most_often(table, 'least mean of proven rules', n_columns)}"
    )


def most_often(table: pd.DataFrame, what: str, n_columns: int) -> str:
    """Who wins in most columns; ties share a column."""
    wins = table.strategy[table.place == "winner"].value_counts()
    if wins.empty:
        return "No rule wins."
    names = " and ".join(wins.index[wins == wins.max()])
    return f"Most often, in {wins.max()} of {n_columns} columns, the {what} is that of {names}."


def _grid(
    axes: Axes,
    names: Sequence[str],
    width: int,
    values: dict[tuple[int, int], float],
    texts: dict[tuple[int, int], str],
    scale: tuple[float, float],
    colours: str,
) -> None:
    """A heat map of logarithms on the part of a palette that is light enough to read text on."""
    grid, words = np.full((len(names), width), np.nan), np.full((len(names), width), "", object)
    low, high = np.log(scale)
    for at, value in values.items():
        grid[at], words[at] = (np.log(max(value, scale[0])) - low) / (high - low), texts[at]
    style: dict[str, Any] = {"cmap": colours, "vmin": -0.1, "vmax": 1.4, "linewidths": 1.0}
    heat(axes, grid, words, annot_kws={"size": 6.5}, mask=np.isnan(grid), **style)
    axes.set_yticks(np.arange(len(names)) + 0.5, list(names), fontsize=7)


def _marks(axes: Axes, places: dict[tuple[int, int], Any]) -> None:
    """Frames of winners, hatches of strategies that err too often."""
    for (i, j), row in places.items():
        if getattr(row, "above", False):
            style = {"hatch": "////", "fill": False, "ec": "#d55e00", "lw": 0.0, "alpha": 0.6}
            axes.add_patch(Rectangle((j, i), 1, 1, **style))
        if row.place:
            wide = 1.6 if row.place == "winner" else 0.6
            frame = Rectangle((j + 0.06, i + 0.08), 0.88, 0.84, fill=False, ec=BLACK, lw=wide)
            axes.add_patch(frame)


def _families(axes: Axes, families: Sequence[str]) -> None:
    """Names above the columns of each, and lines between them."""
    for family in dict.fromkeys(families):
        first, n = families.index(family), families.count(family)
        where = {"ha": "center", "va": "bottom", "fontsize": 6.5}
        axes.text(first + n / 2, -0.15, folded(family), **where)  # pyright: ignore
    for panel in axes.figure.axes:
        for j in range(1, len(families)):
            if families[j] != families[j - 1]:
                panel.axvline(j, color="#777777", lw=0.6)


def _legend(figure: Figure, above: bool) -> None:
    entries = [
        Patch(fill=False, ec=BLACK, lw=1.6, label="winner"),
        Patch(fill=False, ec=BLACK, lw=0.6, label="not told apart from it"),
    ]
    if above:
        entries.append(
            Patch(fill=False, hatch="////", ec="#d55e00", lw=0, label="errs more often than δ")
        )
    figure.legend(handles=entries, loc="outside lower center", ncols=len(entries))


def winners(table: pd.DataFrame) -> Figure:
    """Every proven rule by family, best first: mean, 90 and 99% quantiles, microseconds a pull.

    Args:
        table: of `summary.best`.
    """
    fit = table[table.delta == table.delta.max()]
    families = [(str(name), rows) for name, rows in groups(fit, "family")]
    half = [families[k::2] for k in range(2)]
    tallest = max(sum(len(rows) + ABOVE for _, rows in column) for column in half)
    figure = new_figure(WIDE, LINE * tallest + 0.35)
    parts: Any = figure.subfigures(1, 2)
    for part, column in zip(parts, half, strict=True):
        left = tallest - sum(len(rows) + ABOVE for _, rows in column)
        heights = [*(len(rows) for _, rows in column), max(left, 0.01)]
        panels = part.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        panels[-1].set_axis_off()
        for axes, (family, rows) in zip(panels, column, strict=False):
            _ranking(axes, family, rows.sort_values("ratio"))
    caption(
        figure,
        f"{_range(fit)} Proven rules at δ = {fit.delta.max():g}, best first. Dots: mean pulls "
        "over the least that any delta-correct strategy needs, with 95% intervals; ticks: 90 and "
        "99% quantiles of pulls over the same. Geometric means over the instances of a family. "
        "Grey, on the right: microseconds per pull in simulation.",
    )
    return figure


def _range(table: pd.DataFrame) -> str:
    """What winners need, in words."""
    ratios = table.ratio[table.place == "winner"]
    if ratios.empty:
        return "No rule wins."
    low, high = short(ratios.min()), short(ratios.max())
    return f"The best rule of a family takes {low} to {high} times the least possible mean."


def _won(family: str, rows: pd.DataFrame) -> str:
    """The title of a ranking: who wins, and by what factor above the bound."""
    first = rows[rows.place == "winner"]
    if first.empty:
        return f"{family}\nno winner"
    return f"{family}\n{first.strategy.iloc[0]}: {short(first.ratio.iloc[0])} times the bound"


def _ranking(axes: Axes, family: str, rows: pd.DataFrame) -> None:
    places = np.arange(len(rows))
    axes.hlines(places, rows.ratio, rows.ratio_99, color=BLUE, lw=0.5)
    for quantile, size in (("ratio_90", 4.0), ("ratio_99", 6.0)):
        axes.plot(rows[quantile], places, "|", color=BLUE, ms=size, mew=0.8)
    reach = [rows.ratio - rows.low, rows.high - rows.ratio]
    axes.errorbar(rows.ratio, places, xerr=reach, fmt="o", color=BLUE, ms=3.2)
    axes.set_yticks(places, list(rows.strategy), fontsize=6.5)
    axes.set(
        title=_won(family, rows), xscale="log", xlim=(1.0, 200.0), ylim=(len(rows) - 0.5, -0.5)
    )
    plain_log_ticks(axes.xaxis, crowded=20)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y", visible=False)
    where: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
    for place, row in enumerate(lines(rows)):
        text = f"{row.microseconds:.2g} µs"
        axes.text(1.03, place, text, fontsize=6, color=GREY, **where)


def fixed_budget(table: pd.DataFrame) -> Figure:
    """Error rates at equal budgets: a line per strategy, columns by family and budget.

    Args:
        table: of `summary.by_budget`.
    """
    columns = list(dict.fromkeys(zip(table.family, table.budget, strict=True)))
    names = list(table.strategy.unique())
    figure = new_figure(WIDE, LINE * len(names) + 1.35)
    axes = figure.subplots()
    rows = {(names.index(r.strategy), columns.index((r.family, r.budget))): r for r in lines(table)}
    texts = {at: f"{100 * r.error:.1f}" for at, r in rows.items()}
    values = {at: max(r.error, RATES[0]) for at, r in rows.items()}
    _grid(axes, names, len(columns), values, texts, RATES, "Blues")
    _marks(axes, rows)
    budgets = [f"{budget:,}" for _, budget in columns]
    axes.set_xticks(np.arange(len(columns)) + 0.5, budgets, fontsize=6)
    axes.set_xlabel("budget, in pulls")
    _families(axes, [family for family, _ in columns])
    _legend(figure, above=False)
    caption(
        figure,
        most_often(table, "lowest error rate", len(columns)),
        "Wrong answers, in percent, at equal budgets: means over the instances of a family, "
        f"{runs(table.runs // table.instances)} per instance. The winner has the lowest error "
        "rate; a thin frame: its 95% interval overlaps the winner's.",
    )
    return figure


#: By name of PICTURES: the table of the kept ones in a folder, and how it is drawn.
DRAWN: dict[str, tuple[Callable[[Path], pd.DataFrame], Callable[[pd.DataFrame], Figure]]] = {
    "fixed-confidence": (summary.confidences, fixed_confidence),
    "winners": (summary.best, winners),
    "fixed-budget": (summary.budgets, fixed_budget),
}
