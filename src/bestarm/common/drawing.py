"""The theme of all figures, drawing from tables by seaborn, and reproducible files."""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
import seaborn.objects as so
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from bestarm.common.p_values import Z95, published_sides
from bestarm.common.styles import BLACK, PUBLISHED, Style, named_styles
from bestarm.common.tables import pick
from bestarm.core.errors import InputError
from bestarm.core.files import replacing

#: Widths of figures in inches: of a page of text, and of half of it.
WIDE, HALF = 5.5, 2.75

THEME: dict[Any, Any] = sns.axes_style("ticks") | {
    "figure.dpi": 150,
    "savefig.dpi": 200,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],  # Verdana: as wide, if a page lacks the first
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "errorbar.capsize": 0,
    "hatch.linewidth": 0.5,
    "svg.hashsalt": "bestarm",
    "svg.fonttype": "none",  # text stays text
    "pdf.fonttype": 42,
}


def use_own_fonts() -> None:
    """From now on, this process draws with the fonts that come with Matplotlib, and no others.

    Matplotlib would also take fonts of the system, and keeps a list of all fonts in the user's
    cache. With other fonts, or a list that lacks some, the bytes of PDFs differ.
    """
    manager = font_manager.fontManager
    own = sorted(Path(mpl.get_data_path(), "fonts/ttf").glob("*.ttf"))
    if [font.fname for font in manager.ttflist] != list(map(str, own)):
        manager.ttflist = []
        for file in own:
            manager.addfont(str(file))


class SingleDrawFigure(Figure):
    """A figure that is drawn once per file.

    Matplotlib draws a figure that has a layout engine twice: once with nothing written, so that the
    engine runs. Here only the engine runs then.
    """

    def draw(self, renderer: Any) -> None:
        constrained = isinstance(self.get_layout_engine(), ConstrainedLayoutEngine)
        if constrained and self.canvas.is_saving():
            self.lay_out()
        else:
            with _computed_once():
                super().draw(renderer)

    def lay_out(self) -> None:
        """Place the axes, without drawing."""
        engine = self.get_layout_engine()
        if engine and self.axes:  # else there is nothing to lay out, of which Matplotlib warns
            with _computed_once():
                engine.execute(self)


@contextmanager
def _computed_once() -> Iterator[None]:
    """Within the block, Matplotlib computes an axis's ticks and a text's layout only once as long
    as what they follow from stays the same.

    It asks for the ticks of an axis up to ten times per drawing, and then for the extents of all
    their labels, which took two fifths of the time of a picture.
    """
    axes: Any = Axis
    texts: Any = Text
    ticks, layouts = axes._update_ticks, texts._get_layout

    def state_of_axis(axis: Any) -> tuple[Any, ...]:
        return (*axis.get_view_interval(), *axis.axes.bbox.bounds)

    def state_of_text(text: Any, renderer: Any) -> tuple[Any, ...]:
        place = text.get_ha(), text.get_va(), text._get_multialignment(), text.get_rotation_mode()
        font = hash(text.get_fontproperties())
        dpi = text.get_figure(root=True).dpi
        return text.get_text(), font, text.get_rotation(), place, dpi, id(renderer)

    axes._update_ticks = _kept(ticks, state_of_axis)
    texts._get_layout = _kept(layouts, state_of_text)
    try:
        yield
    finally:
        axes._update_ticks, texts._get_layout = ticks, layouts


def _kept(compute: Callable[..., Any], state: Callable[..., tuple[Any, ...]]) -> Callable[..., Any]:
    """A method whose last value for each object is given again as long as a state is the same."""
    values: dict[Any, tuple[tuple[Any, ...], Any]] = {}

    def method(owner: Any, *arguments: Any) -> Any:
        now = state(owner, *arguments)
        if owner not in values or values[owner][0] != now:
            values[owner] = now, compute(owner, *arguments)
        return values[owner][1]

    return method


def new_figure(width: float, height: float) -> SingleDrawFigure:
    """An empty figure of a size in inches, in the project's theme."""
    use_own_fonts()
    mpl.rcParams.update(THEME)
    return SingleDrawFigure(figsize=(width, height), layout="constrained")


def caption(figure: Figure, *parts: str) -> None:
    """Set the caption of a figure: kept in its files and in captions.csv, not drawn.

    Args:
        figure: what to describe.
        *parts: sentences; of a figure of results, the first says what came out.
    """
    figure.set_label(" ".join(parts))


def runs(counts: Iterable[int]) -> str:
    """`n = 10,000 runs`, or the range if counts differ; computed rows (n = 0) do not count."""
    seen = sorted({int(n) for n in counts} - {0})
    if not seen:
        return "computed, no simulation"
    return f"n = {seen[0]:,} runs" if len(seen) == 1 else f"n = {seen[0]:,} to {seen[-1]:,} runs"


def spread(values: Iterable[float], form: str = ".3g") -> str:
    """The least and the largest of some numbers, in words: `0.9 to 2`, or one number."""
    values = [*values] or [math.nan]
    ends = dict.fromkeys(format(end(values), form) for end in (min, max))
    return " to ".join(ends)


def over_published(table: pd.DataFrame, statistic: str, reading: str = "") -> str:
    """How many times the published values of a statistic ours are, in words: `0.9 to 2 times`.

    Args:
        table: of a target.
        statistic: with published rows, each for an instance and a strategy.
        reading: ours; if empty, for each published value the reading that comes nearest.
    """
    rows = table[table.statistic == statistic].set_index(["instance", "strategy"])
    stated = rows.value[rows.reading == "published"]
    ours = rows[rows.reading.eq(reading) if reading else rows.reading.ne("published")]
    ratios = (ours.value / stated.reindex(ours.index)).dropna()
    far = ratios.where(ratios >= 1.0, 1.0 / ratios)
    nearest = far == far.groupby(level=[0, 1]).transform("min")
    return f"{spread(ratios[nearest])} times"


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the one warning of pandas 3 about a keyword that seaborn 0.13.2 still gives."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="The copy keyword is deprecated", module="seaborn"
        )
        yield


def _looking(plot: so.Plot, styles: Mapping[str, Style]) -> so.Plot:
    scales: dict[str, Any] = {
        "fill": {name: name != PUBLISHED.name for name in styles},
        "color": {name: style.colour for name, style in styles.items()},
        "marker": {name: style.marker or "" for name, style in styles.items()},
        "linestyle": {name: style.line or "-" for name, style in styles.items()},
    }
    nominal = {prop: so.Nominal(values, order=list(styles)) for prop, values in scales.items()}
    return plot.scale(**nominal).theme(THEME)


def _panels(
    figure: Figure | SubFigure, cols: Mapping[str, str], rows: Mapping[str, str], before: int
) -> np.ndarray:
    """The axes that seaborn made, (rows, columns), with titles above and no other labels."""
    made = np.array(figure.axes[before:], dtype=object).reshape(len(rows) or 1, len(cols) or 1)
    for (i, j), axes in np.ndenumerate(made):
        title = list(cols.values())[j] if cols and i == 0 else ""
        axes.set(title=title, xlabel="", ylabel="")
    return made


def series(
    figure: Figure | SubFigure,
    rows: pd.DataFrame,
    styles_by_name: Mapping[str, Style],
    by: str = "strategy",
    log: str = "",
    col: tuple[str, Mapping[str, str]] = ("", {}),
    row: tuple[str, Mapping[str, str]] = ("", {}),
    share: bool | str = True,
) -> np.ndarray:
    """Values against x with their intervals, a line per strategy, a panel per facet.

    A share of 0 or 1 (status `one-sided`) is not joined: at the first x with one an arrow starts at
    the one-sided bound.

    Args:
        figure: what to fill.
        rows: of a table.
        styles_by_name: the paper's styles, by the values of the column `by`.
        by: the column that tells lines apart.
        log: the axes that are logarithmic: "", "x", "y" or "xy".
        col: a column whose values are columns of panels, and the titles of these.
        row: a column whose values are rows of panels.
        share: whether panels share the y axis; "row" if those of a row do.

    Returns:
        (rows, columns) of axes.

    Raises:
        ValueError: there are no rows; a figure must not be silently empty.
    """
    if rows.empty:
        raise ValueError("no rows of the table to draw")
    rows = rows.sort_values("x", ignore_index=True)
    styles = named_styles(styles_by_name, rows[by])
    seen = rows[rows.status != "one-sided"]
    low = seen.low.clip(lower=seen.value / 100.0) if "y" in log else seen.low
    drawn = _slim(seen.assign(low=low), "x", "value", "low", "high", by, col[0], row[0])
    plot = so.Plot(drawn, x="x", y="value", ymin="low", ymax="high", color=by)
    order = {"col": list(col[1]), "row": list(row[1])}
    plot = plot.facet(col[0] or None, row[0] or None, order={k: v for k, v in order.items() if v})
    plot = _looking(plot.share(x="col" if row[0] else True, y=share), styles)
    if any(style.line for style in styles.values()):
        plot = plot.add(so.Line(pointsize=3.8, edgewidth=0), marker=by, linestyle=by, legend=False)
    else:
        plot = plot.add(so.Dot(pointsize=4.2, edgewidth=0), marker=by, legend=False)
    plot = plot.add(so.Range(linewidth=0.9), legend=False)
    before = len(figure.axes)
    with _quiet():
        plot.on(figure).plot()
    panels = _panels(figure, col[1], row[1], before)
    for (i, j), axes in np.ndenumerate(panels):
        axes.set(**{f"{axis}scale": "log" for axis in log})
        here = pick(rows, **{col[0]: order["col"][j]}) if col[0] else rows
        here = pick(here, **{row[0]: order["row"][i]}) if row[0] else here
        for place, (name, style) in enumerate(styles.items()):
            shift = 1.12 ** (place - len(styles) / 2) if "x" in log else 1.0
            _bounds(axes, here[(here[by] == name) & (here.status == "one-sided")], style, shift)
    return panels


def _slim(rows: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Only the named columns, strings as Python objects: seaborn copies its rows many times."""
    selected = rows[[*dict.fromkeys(filter(None, columns))]]
    return selected.astype(dict.fromkeys(selected.select_dtypes("str"), object))


def _bounds(axes: Axes, rows: pd.DataFrame, style: Style, shift: float) -> None:
    """Arrows at the first x where no run, and at the first where every run, was counted."""
    if rows.empty:
        return
    for down in (True, False):
        first = rows[(rows.value == 0.0) == down].head(1)
        end = first.high if down else first.low
        limits: dict[str, Any] = {"uplims" if down else "lolims": True}
        axes.errorbar(first.x * shift, end, 0.35 * end, ls="", color=style.colour, lw=0.9, **limits)


def dots(
    figure: Figure | SubFigure,
    rows: pd.DataFrame,
    styles_by_name: Mapping[str, Style],
    order: Sequence[str],
    y: str = "strategy",
    by: str = "strategy",
    log: bool = False,
    col: tuple[str, Mapping[str, str]] = ("", {}),
) -> np.ndarray:
    """Values with their intervals as dots, a line per value of the column `y`.

    Args:
        figure: what to fill.
        rows: of a table.
        styles_by_name: the paper's styles, by the values of the column `by`.
        order: values of `y` from the top; their names for people if they have styles.
        y: the column of the lines.
        by: the column of the styles; several of a line stand below one another.
        log: whether the axis of values is logarithmic.
        col: a column whose values are panels, and the titles of these.

    Returns:
        (1, columns) of axes, each with its own scale of values.

    Raises:
        ValueError: there are no rows.
    """
    if rows.empty:
        raise ValueError("no rows of the table to draw")
    rows = rows.reset_index(drop=True)
    styles = named_styles(styles_by_name, rows[by])
    low = rows.low.clip(lower=rows.value / 100.0) if log else rows.low
    ends = {"low": low.fillna(rows.value), "high": rows.high.fillna(rows.value)}  # else no dot
    drawn = _slim(rows.assign(**ends), "value", "low", "high", y, by, col[0])
    plot = so.Plot(drawn, x="value", y=y, xmin="low", xmax="high", color=by)
    plot = plot.facet(col[0] or None, order=list(col[1]) or None).share(x=False, y=True)
    several = rows.duplicated([y, *filter(None, [col[0]])]).any()
    move = [so.Dodge(by=["color"])] if several else []
    plot = _looking(plot, styles).scale(y=so.Nominal(order=list(order)))
    plot = plot.add(so.Range(linewidth=1.0), *move, orient="y", legend=False)
    dot = so.Dot(pointsize=4.2, edgecolor=BLACK, edgewidth=0.3)
    plot = plot.add(dot, *move, orient="y", marker=by, fill=by, legend=False)
    before = len(figure.axes)
    with _quiet():
        plot.on(figure).plot()
    panels = _panels(figure, col[1], {}, before)
    names = named_styles(styles_by_name, order)
    for axes in panels[0]:
        axes.set_xscale("log" if log else "linear")
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
    panels[0, 0].set_yticks(range(len(order)), [names[name].name for name in order])
    return panels


def heat(axes: Axes, grid: np.ndarray, texts: np.ndarray, **style: Any) -> None:
    """A grid of numbers as shaded cells, set apart, with a text in each."""
    style = {"cbar": False, "linewidths": 1.5, "annot_kws": {"size": 7}} | style
    sns.heatmap(grid, ax=axes, annot=texts, fmt="", **style)
    axes.grid(False)
    axes.tick_params(length=0, rotation=0)


def legend(
    figure: Figure | SubFigure, styles: Mapping[str, Style], columns: int = 4, lines: bool = True
) -> None:
    """A legend above a figure; `lines`: whether its marks are joined."""
    handles = [
        Line2D([], [], color=k.colour, marker=k.marker, ls=k.line if lines or not k.marker else "",
               label=k.name or name, mfc="white" if name == PUBLISHED.name else None)
        for name, k in styles.items()
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center", ncols=columns)


def with_errors(stated: pd.DataFrame, ours: pd.DataFrame, log: bool = False) -> pd.DataFrame:
    """Published values with the intervals that tests give them: from ours, at the paper's count.

    Args:
        stated: published rows of a table.
        ours: rows of one reading, at most one for the strategy, instance and statistic of each;
            a published value without one stays without an interval.
        log: whether the interval is symmetric on a logarithmic scale.
    """
    key = ["instance", "strategy", "statistic"]
    mine = ours.drop_duplicates(key).set_index(key)
    rows = []
    for _, row in stated.iterrows():
        place = tuple(row[key])
        if place in mine.index and row.n > 0:
            both = published_sides(row.value, row.n, 0.0, mine.loc[place])
            side = both[1] if log else both[0]
            ends = np.array([side.value - Z95 * side.below, side.value + Z95 * side.above])
            row = row.copy()
            row["low"], row["high"] = np.exp(ends) if log else ends
        rows.append(row)
    return pd.DataFrame(rows, columns=stated.columns)


def published(
    axes: Axes, rows: pd.DataFrame, x: Any, y: Any, along: str = "x", label: str = "published"
) -> None:
    """Published values: white diamonds with intervals, labelled at the first.

    Args:
        axes: where.
        rows: as from `with_errors`.
        x: their places.
        y: the same.
        along: the axis of the values.
        label: written beside the first diamond; "" for none.
    """
    if rows.empty:
        return
    reach = np.nan_to_num(np.array([rows.value - rows.low, rows.high - rows.value], float))
    bars: dict[str, Any] = {f"{along}err": reach.clip(min=0.0)}
    style: dict[str, Any] = {"marker": PUBLISHED.marker, "color": BLACK, "ls": "", "zorder": 5}
    axes.errorbar(x, y, **bars, **style, mfc="white", ms=4, mew=0.8, elinewidth=0.8)
    if label:
        top = np.argmin(np.ravel(np.asarray(y))) if along == "x" else 0
        place = (np.ravel(np.asarray(x))[top], np.ravel(np.asarray(y))[top])
        axes.annotate(label, place, (4, 4), textcoords="offset points", fontsize=6.5, zorder=6)


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


def save(figure: Figure, *files: Path | str) -> None:
    """Write a figure to files that end in .svg, .png or .pdf; always the same bytes.

    All have the layout of the first. Their data hold the caption, that of the SVG also which of its
    scales are logarithmic anywhere.

    Raises:
        InputError: a file ends otherwise.
    """
    for path in files:
        if Path(path).suffix not in (".svg", ".png", ".pdf"):
            raise InputError(f"{path}: must end in .svg, .png or .pdf")
    text = str(figure.get_label())
    used = {a: {getattr(axes, f"get_{a}scale")() for axes in figure.axes} for a in "xy"}
    scales = [
        f"{a} {'log' if 'log' in scales_used else 'linear'}"
        for a, scales_used in used.items()
        if scales_used
    ]
    about = {
        "svg": {"Date": None, "Creator": None, "Description": text, "Keywords": scales},
        "png": {"Software": None, "Description": text},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Subject": text},
    }
    engine = figure.get_layout_engine()
    _drop_unseen_ticks(figure)
    for path in files:
        kind = Path(path).suffix[1:]
        fonts = _without_layout_tables() if kind == "pdf" else nullcontext()
        with replacing(path) as temporary, fonts:
            figure.savefig(temporary, format=kind, metadata=about[kind])
        figure.set_layout_engine(None)
    figure.set_layout_engine(engine)


def _drop_unseen_ticks(figure: Figure) -> None:
    """Make no minor ticks where none has a label: THEME gives them no length.

    A logarithmic axis has eight per decade, each with a place in every file.
    """
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            places: Any = axis.get_minorticklocs()
            if not any(axis.get_minor_formatter().format_ticks(places)):
                axis.set_minor_locator(NullLocator())


@contextmanager
def _without_layout_tables() -> Iterator[None]:
    """Leave the tables that place glyphs out of a PDF's fonts: its text is placed already.

    To cut them down to the glyphs of a figure took most of the time that embedding fonts takes.
    """
    from fontTools.subset import Options

    kept = Options._drop_tables_default
    Options._drop_tables_default = [*kept, "GDEF", "GPOS", "GSUB"]
    try:
        yield
    finally:
        Options._drop_tables_default = kept
