"""What `bestarm run` found on an instance: as tables for people and as a picture."""

import math
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from bestarm import registry
from bestarm.common.command import not_installed
from bestarm.common.paper import Cell
from bestarm.common.styles import Style, named_styles
from bestarm.common.user_strategies import READING
from bestarm.core.estimates import MEANINGS
from bestarm.core.status import Status
from bestarm.runs.plan import Plan
from bestarm.runs.play import Columns
from bestarm.runs.rows import table_of_runs
from bestarm.runs.tasks import Task, fact_columns
from bestarm.users.output import tables_that_fit

#: Statistics that count right answers; none of them is one where several arms are best.
SCORES = ("prob_correct", "error_rate")
#: Status of what a user strategy does not tell.
UNKNOWN = "not known"
#: What an estimate's status means, under a table that has some.
FOOTNOTES = {
    "restricted": "restricted: some runs reached the cap, and count as ended there",
    "undefined": "undefined: too many runs reached the cap, or too few are of that kind",
    "not scored": "not scored: several answers are best",
    UNKNOWN: f"{UNKNOWN}: cannot be seen from outside of the strategy",
}


class RunResults:
    """The runs of all cells, and what they say.

    Args:
        plan: what was simulated.
        results: its tasks with their runs.
        reps: runs of each cell.
        user_names: names of the strategies among them that are not of this package.
    """

    def __init__(
        self,
        plan: Plan,
        results: list[tuple[Task, Columns]],
        reps: int,
        user_names: Collection[str] = (),
    ) -> None:
        self.plan, self.results, self.reps = plan, results, reps
        self._user_names = user_names
        self._paper = registry.PAPERS[plan.paper]
        first = results[0][0]
        self._instance, self._truth = first.instance, first.truth
        self._scored = not self._paper.user_output.several(self._instance, self._truth)

    @cached_property
    def statistics(self) -> pd.DataFrame:
        """A row per strategy, reading and statistic."""
        meanings = {**MEANINGS, **self._paper.statistics.meanings}
        rows: list[dict[str, Any]] = []
        for (cell, *_), runs in self.results:
            with np.errstate(invalid="ignore"):  # shares of no pulls are nan
                estimates = self._paper.statistics.summarise(cell, self._truth, runs)
            for estimate in estimates:
                row = {"strategy": cell.label, "reading": cell.reading, **vars(estimate)}
                name = estimate.statistic.split(":")[0]
                unknown = name in chain(*self._unknown(cell).values())
                if unknown or (estimate.statistic in SCORES and not self._scored):
                    row |= {"value": math.nan, "low": math.nan, "high": math.nan}
                    row["status"] = UNKNOWN if unknown else "not scored"
                rows.append(row | {"meaning": meanings[name]})
        return pd.DataFrame(rows)

    def _unknown(self, cell: Cell) -> Mapping[str, tuple[str, ...]]:
        """Columns that the runs of a cell cannot have, with the statistics made of them."""
        return self._paper.user_strategies.unknown if cell.strategy in self._user_names else {}

    def runs(self) -> pa.Table:
        """A row per run: what the shards hold, whether it was right, and how it ended, in words."""
        tables: list[pa.Table] = []
        columns_of_names = fact_columns([task for task, _ in self.results])
        for task, runs in self.results:
            cell = task.cell
            right = self._paper.user_output.correct(cell, self._truth, runs)
            scored = right.tolist() if self._scored else [None] * self.reps
            ends = [Status(int(status)).message for status in runs["status"]]
            names = self._paper.user_output.answers(self._instance, runs)
            table = table_of_runs(task, columns_of_names, runs)
            for column, values in {"correct": scored, "end": ends, "answer_names": names}.items():
                kind = pa.bool_() if column == "correct" else pa.string()
                table = table.append_column(column, pa.array(values, kind))
            for column in self._unknown(cell):
                place, kind = table.column_names.index(column), table.schema.field(column).type
                table = table.set_column(place, column, pa.nulls(self.reps, kind))
            tables.append(table)
        return pa.concat_tables(tables)

    @property
    def title(self) -> str:
        cell = self.results[0][0].cell
        return f"{cell.instance}: {self.reps:,} runs per strategy, {cell.setting_label}"

    @property
    def headings(self) -> Mapping[str, str]:
        """Headings of the statistics that are printed."""
        return self._paper.user_output.columns

    @property
    def notes(self) -> list[str]:
        """What stands under a table of these statistics."""
        statistics = self.statistics[self.statistics.statistic.isin(list(self.headings))]
        words = [text for status, text in FOOTNOTES.items() if (statistics.status == status).any()]
        return ["[low, high]: 95% intervals", *words]

    def show(self, console: Console) -> None:
        """Print the statistics that the paper has columns for, with intervals.

        In one table, or in several where that would be wider than the terminal.
        """
        console.print(self.title, soft_wrap=True, highlight=False)
        for table in tables_that_fit(self.headings, partial(_table, self.statistics), console):
            console.print(table)
        for line in (*self.notes, *self._failures()):
            console.print(line, soft_wrap=True, highlight=False)

    def _failures(self) -> Iterator[str]:
        """A line for each kind of step that failed in some run, where the paper counts them."""
        for (cell, *_), runs in self.results:
            for name in self._paper.simulation.failures:
                if rounds := int(runs[name].sum()):
                    n_runs = int((runs[name] > 0).sum())
                    of = f"{cell.label} ({cell.reading})"
                    yield f"{of}: {rounds:,} rounds {name} in {n_runs:,} runs"

    def picture(self) -> Any:
        """The statistics of `show` with their intervals: a panel each, a line per strategy.

        Raises:
            InputError: the packages that draw are not installed.
        """
        try:
            from bestarm.common.drawing import HALF, new_figure
        except ModuleNotFoundError as error:
            raise not_installed(error.name or "") from None

        headings = self.headings
        by_cell = self.statistics.set_index(["strategy", "reading", "statistic"]).to_dict("index")
        cells = [task.cell for task, _ in self.results]
        styles = named_styles(self._paper.plots.styles, [cell.strategy for cell in cells])
        several = len({cell.reading for cell in cells} - {READING}) > 1
        columns = min(2, len(headings))
        lines = math.ceil(len(headings) / columns)
        figure = new_figure(HALF * columns, 0.4 + lines * (0.55 + 0.17 * len(cells)))
        panels = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
        for axes, (statistic, heading) in zip(panels, headings.items(), strict=False):
            for place, cell in enumerate(cells):
                estimate: Any = by_cell[cell.label, cell.reading, statistic]  # pyright: ignore
                _draw(axes, place, estimate, styles[cell.strategy])
            names = [f"{c.label} ({c.reading})" if several else c.label for c in cells]
            axes.set_yticks(range(len(cells)), names)
            axes.set(xlabel=heading, ylim=(len(cells) - 0.5, -0.5))
            axes.locator_params(axis="x", nbins=4)
        for axes in panels[len(headings) :]:
            axes.set_axis_off()
        figure.suptitle(f"{self.title}; 95% intervals", fontsize=8)
        return figure


MIDDLE: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7, "color": "gray"}


def _draw(axes: Any, place: int, estimate: dict[str, Any], style: Style) -> None:
    """An estimate with its interval on a line of its own; in words if it has no value.

    An arrow stands for an infinite upper end.
    """
    value = estimate["value"]
    if math.isnan(value):
        where = axes.get_yaxis_transform()
        axes.text(0.5, place, estimate["status"] or "none", transform=where, **MIDDLE)
        return
    low, high = estimate["low"], estimate["high"]
    if math.isinf(high):
        high = 2.0 * value - low
        axes.plot([high], [place], ">", color=style.colour, ms=4)
    reach = [[max(0.0, value - low)], [max(0.0, high - value)]]
    axes.errorbar([value], [place], xerr=reach, fmt=style.marker, color=style.colour, ms=4)


def _table(statistics: pd.DataFrame, headings: Mapping[str, str]) -> Table:
    """A line a strategy and reading, a column for each of some statistics."""
    table = Table()
    table.add_column("strategy", no_wrap=True)
    table.add_column("reading", no_wrap=True)
    for heading in headings.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for strategy, reading in dict.fromkeys(
        zip(statistics.strategy, statistics.reading, strict=True)
    ):
        rows = statistics[(statistics.strategy == strategy) & (statistics.reading == reading)]
        cells: dict[Any, Any] = rows.set_index("statistic").to_dict("index")
        table.add_row(strategy, reading, *(_text(cells[statistic]) for statistic in headings))
    return table


def _text(estimate: dict[str, Any]) -> str:
    """A value with its interval, and a word that a footnote explains."""
    if math.isnan(estimate["value"]):
        return f"– {estimate['status']}"
    whole = estimate["unit"] in ("pulls", "steps")
    value, low, high = (decimal(estimate[name], whole) for name in ("value", "low", "high"))
    text = value if math.isnan(estimate["low"]) else f"{value} [{low}, {high}]"
    return text + (" restricted" if estimate["status"] == "restricted" else "")


def decimal(number: float, whole: bool = False) -> str:
    """A number without decimals, or with three of them: with more if it were 0 or 1 otherwise.

    Example:
        >>> [decimal(x) for x in (0.25, 0.0, 0.00037, 0.99996, 1.0)]
        ['0.250', '0.000', '0.0004', '0.99996', '1.000']
    """
    if whole:
        return f"{number:,.0f}"
    places = 3
    while places < 9 and number not in (0.0, 1.0) and float(f"{number:.{places}f}") in (0.0, 1.0):
        places += 1
    return f"{number:.{places}f}"
