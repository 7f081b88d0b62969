"""What `bestarm run` found on an instance: as tables for people, as files, as a picture."""

import json
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from bestarm.common.custom import READING
from bestarm.common.looks import Look, looks_of
from bestarm.common.paper import Cell
from bestarm.core.estimates import MEANINGS
from bestarm.core.files import replacing
from bestarm.core.inputs import InputError
from bestarm.core.status import Status
from bestarm.pipeline import registry
from bestarm.pipeline.plan import Plan
from bestarm.pipeline.shard import cell_table

Runs = dict[str, np.ndarray]
#: Statistics that count right answers; none of them is one where several arms are best.
SCORES = ("prob_correct", "error_rate")
#: Status of what a strategy from outside does not tell.
UNKNOWN = "not known"
#: What an estimate's status means, under a table that has some.
FOOTNOTES = {
    "restricted": "restricted: some runs reached the cap, and count as ended there",
    "undefined": "undefined: too many runs reached the cap, or too few are of that kind",
    "not scored": "not scored: several answers are best",
    UNKNOWN: f"{UNKNOWN}: cannot be seen from outside of the strategy",
}
STANDARD_OUTPUT = "-"
FORMATS = {"out": [".parquet"], "plot": [".pdf", ".png", ".svg"]}


class Found:
    """The runs of all cells, and what they say.

    Args:
        plan: what was simulated.
        results: cells with their runs.
        reps: runs of each cell.
        outside: names of the strategies among them that are not of this package.
    """

    def __init__(
        self,
        plan: Plan,
        results: list[tuple[Cell, Runs]],
        reps: int,
        outside: Collection[str] = (),
    ) -> None:
        self.plan, self.results, self.reps = plan, results, reps
        self._outside = outside
        self._paper = registry.PAPERS[plan.paper]
        self._name = results[0][0].instance
        self._truth = plan.instances[self._name]["truth"]
        self._instance = plan.instance(self._name)
        self._scored = not self._paper.own.several(self._instance, self._truth)

    @cached_property
    def statistics(self) -> pd.DataFrame:
        """A row per strategy, reading and statistic."""
        known = {**MEANINGS, **self._paper.statistics.meanings}
        rows: list[dict[str, Any]] = []
        for cell, runs in self.results:
            with np.errstate(invalid="ignore"):  # shares of no pulls are nan
                estimates = self._paper.statistics.summarise(cell, self._truth, runs)
            for one in estimates:
                row = {"strategy": cell.label, "reading": cell.reading, **vars(one)}
                name = one.statistic.split(":")[0]
                unknown = name in chain(*self._unknown(cell).values())
                if unknown or (one.statistic in SCORES and not self._scored):
                    row |= {"value": math.nan, "low": math.nan, "high": math.nan}
                    row["status"] = UNKNOWN if unknown else "not scored"
                rows.append(row | {"meaning": known[name]})
        return pd.DataFrame(rows)

    def _unknown(self, cell: Cell) -> Mapping[str, tuple[str, ...]]:
        """Columns that the runs of a cell cannot have, with the statistics made of them."""
        return self._paper.custom.unknown if cell.strategy in self._outside else {}

    def runs(self) -> pa.Table:
        """A row per run: what the shards hold, whether it was right, and how it ended, in words."""
        tables: list[pa.Table] = []
        for cell, runs in self.results:
            right = self._paper.own.correct(cell, self._truth, runs)
            scored = right.tolist() if self._scored else [None] * self.reps
            ends = [Status(int(status)).message for status in runs["status"]]
            names = self._paper.own.answers(self._instance, runs)
            table = cell_table(self.plan, cell, runs)
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
        return f"{self._name}: {self.reps:,} runs a strategy, {self.results[0][0].setting_label}"

    def show(self, console: Console) -> None:
        """Print the statistics that the paper has columns for, with intervals.

        In one table, or in several where that would be wider than the terminal.
        """
        found = self.statistics
        headings = self._paper.own.columns
        console.print(self.title, soft_wrap=True, highlight=False)
        for some in _columns_that_fit(found, headings, console):
            console.print(_table(found, some))
        notes = ["[low, high]: 95% intervals"]
        shown = found[found.statistic.isin(list(headings))]
        notes += [words for status, words in FOOTNOTES.items() if (shown.status == status).any()]
        for line in (*notes, *self._failures()):
            console.print(line, soft_wrap=True, highlight=False)

    def _failures(self) -> Iterator[str]:
        """A line for each kind of step that failed in some run, where the paper counts them."""
        for cell, runs in self.results:
            for name in self._paper.simulation.failures:
                if rounds := int(runs[name].sum()):
                    some = int((runs[name] > 0).sum())
                    of = f"{cell.label} ({cell.reading})"
                    yield f"{of}: {rounds:,} rounds {name} in {some:,} runs"

    def picture(self) -> Any:
        """The statistics of `show` with their intervals: a panel each, a line per strategy."""
        from bestarm.common.style import HALF, new_figure

        headings = self._paper.own.columns
        known = self.statistics.set_index(["strategy", "reading", "statistic"]).to_dict("index")
        cells = [cell for cell, _ in self.results]
        looks = looks_of(self._paper.plots.looks, [cell.strategy for cell in cells])
        several = len({cell.reading for cell in cells} - {READING}) > 1
        columns = min(2, len(headings))
        lines = math.ceil(len(headings) / columns)
        figure = new_figure(HALF * columns, 0.4 + lines * (0.55 + 0.17 * len(cells)))
        panels = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
        for axes, (statistic, heading) in zip(panels, headings.items(), strict=False):
            for place, cell in enumerate(cells):
                one: Any = known[cell.label, cell.reading, statistic]  # pyright: ignore
                _draw(axes, place, one, looks[cell.strategy])
            names = [f"{c.label} ({c.reading})" if several else c.label for c in cells]
            axes.set_yticks(range(len(cells)), names)
            axes.set(xlabel=heading, ylim=(len(cells) - 0.5, -0.5))
            axes.locator_params(axis="x", nbins=4)
        for axes in panels[len(headings) :]:
            axes.set_axis_off()
        figure.suptitle(f"{self.title}; 95% intervals", fontsize=8)
        return figure


MIDDLE: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7, "color": "gray"}


def _draw(axes: Any, place: int, one: dict[str, Any], look: Look) -> None:
    """An estimate with its interval on a line of its own; in words if it has no value.

    An arrow stands for an infinite upper end.
    """
    value = one["value"]
    if math.isnan(value):
        where = axes.get_yaxis_transform()
        axes.text(0.5, place, one["status"] or "none", transform=where, **MIDDLE)
        return
    low, high = one["low"], one["high"]
    if math.isinf(high):
        high = 2.0 * value - low
        axes.plot([high], [place], ">", color=look.colour, ms=4)
    reach = [[max(0.0, value - low)], [max(0.0, high - value)]]
    axes.errorbar([value], [place], xerr=reach, fmt=look.marker, color=look.colour, ms=4)


def _columns_that_fit(
    found: pd.DataFrame, headings: Mapping[str, str], console: Console
) -> list[dict[str, str]]:
    """Headings, divided into as few tables as the width of the terminal allows."""
    unlimited = console.options.update(max_width=1_000)
    parts: list[dict[str, str]] = [{}]
    for statistic, heading in headings.items():
        wider = parts[-1] | {statistic: heading}
        width = Measurement.get(console, unlimited, _table(found, wider)).maximum
        if width <= console.width or not parts[-1]:
            parts[-1] = wider
        else:
            parts.append({statistic: heading})
    return parts


def _table(found: pd.DataFrame, headings: Mapping[str, str]) -> Table:
    """A line a strategy and reading, a column for each of some statistics."""
    table = Table()
    table.add_column("strategy", no_wrap=True)
    table.add_column("reading", no_wrap=True)
    for heading in headings.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for strategy, reading in dict.fromkeys(zip(found.strategy, found.reading, strict=True)):
        rows = found[(found.strategy == strategy) & (found.reading == reading)]
        cells: dict[Any, Any] = rows.set_index("statistic").to_dict("index")
        table.add_row(strategy, reading, *(_text(cells[statistic]) for statistic in headings))
    return table


def _text(one: dict[str, Any]) -> str:
    """A value with its interval, and a word that a footnote explains."""
    if math.isnan(one["value"]):
        return f"– {one['status']}"
    digits = ",.0f" if one["unit"] in ("pulls", "steps") else ".3f"
    text = f"{one['value']:{digits}}"
    if not math.isnan(one["low"]):
        text += f" [{one['low']:{digits}}, {one['high']:{digits}}]"
    return text + (" restricted" if one["status"] == "restricted" else "")


class Files:
    """Where the results go, opened before the work, so that it is not done in vain.

    Args:
        instance: the file that none of them may be.
        out, csv, json, plot: files; `-` is standard output for CSV and JSON; None for none.
    """

    def __init__(self, instance: Path, **wanted: Path | None) -> None:
        self._wanted = {name: path for name, path in wanted.items() if path is not None}
        for name, path in self._wanted.items():
            if path.exists() and instance.exists() and path.samefile(instance):
                raise InputError(f"{path}: is the instance; --{name} must name another file")
            allowed = FORMATS.get(name, [])
            if allowed and path.suffix not in allowed and not path.is_dir():
                raise InputError(f"--{name}: must end in {' or '.join(allowed)}, got {path}")
        if len(self.printed) > 1:
            raise InputError("--csv, --json: only one of them can be standard output")

    @property
    def printed(self) -> list[str]:
        """The formats that go to standard output, which nothing else is printed to then."""
        return [name for name, path in self._wanted.items() if str(path) == STANDARD_OUTPUT]

    def __enter__(self) -> "Files":
        with ExitStack() as opening:
            self._open = {
                name: opening.enter_context(replacing(path))
                for name, path in self._wanted.items()
                if name not in self.printed
            }
            self._stack = opening.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def write(self, found: Found) -> None:
        """Write what was asked for, each file whole or not at all."""
        if "out" in self._open:
            pq.write_table(found.runs(), self._open["out"], compression="zstd")
        if "plot" in self._open:
            kind = self._wanted["plot"].suffix[1:]
            found.picture().savefig(self._open["plot"], format=kind, dpi=200)
        texts = {"csv": _csv, "json": _json}
        for name, text_of in texts.items():
            if name in self.printed:
                print(text_of(found), end="")
            elif name in self._open:
                self._open[name].write_text(text_of(found), encoding="utf-8", newline="\n")

    def said(self, found: Found) -> Iterator[str]:
        """A line for each file."""
        what = {
            "out": f"{found.reps * len(found.results):,} runs",
            "plot": "the picture",
            "csv": "the statistics",
            "json": "the statistics",
        }
        for name, path in self._wanted.items():
            if name not in self.printed:
                yield f"{what[name]} written to {path}"


def _csv(found: Found) -> str:
    return found.statistics.to_csv(index=False, lineterminator="\n")


def _json(found: Found) -> str:
    """Null where a number is not defined, or infinite: JSON has neither."""
    rows = found.statistics.replace(math.inf, math.nan).astype(object)
    rows = rows.where(rows.notna(), None)
    cell = found.results[0][0]
    whole = {"instance": cell.instance, "paper": found.plan.paper, "seed": found.plan.seed}
    whole |= {"runs": found.reps, "setting": dict(cell.setting)}
    return json.dumps(whole | {"statistics": rows.to_dict("records")}, indent=1) + "\n"
