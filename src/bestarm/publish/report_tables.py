"""The column dictionary of docs/tables.md: what every table under figures/ holds."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from bestarm import registry
from bestarm.common import tables
from bestarm.common.paper import Paper
from bestarm.common.prose import markdown, number, wrapped
from bestarm.core import estimates
from bestarm.core.inputs import InputError
from bestarm.verdicts import scoreboard, table

#: Tables over all papers.
OVERALL = {
    "claims.csv": table.MEANINGS,
    "headline.csv": scoreboard.HEADLINE_MEANINGS,
    "results.csv": scoreboard.RESULTS_MEANINGS,
    "scorecard.csv": scoreboard.SCORECARD_MEANINGS,
}


def example(root: Path) -> str:
    """A figure, and some of the rows that it is drawn from."""
    rows = tables.read_table(root / f"figures/{registry.EXAMPLE}.csv")
    rows = rows[rows.statistic.eq("mean_stopping_time") & rows.reading.eq("as-written")]
    columns = ["instance", "strategy", "reading", "statistic", "value", "low", "high", "n"]
    text = (
        f"*`figures/{registry.EXAMPLE}.csv` has the numbers behind every mark of this figure. "
        "These are three of its rows and some of its columns: the mean stopping times as written.*"
    )
    picture = f"![A figure: each mark is a row of its table](../figures/{registry.EXAMPLE}.svg)"
    cells = rows[columns].map(lambda cell: number(cell) if isinstance(cell, float) else cell)
    return "\n\n".join([picture, wrapped(text), markdown(cells)])


def dictionary(root: Path) -> str:
    """Every column of every table under figures/, with what it means.

    Raises:
        InputError: a table has a column that nothing says the meaning of.
    """
    parts = ["## Every figure's table", _meanings("column", tables.MEANINGS)]
    parts += ["Statistics that several papers have:", _meanings("statistic", estimates.MEANINGS)]
    for paper in registry.PAPERS.values():
        parts += _paper(root, paper)
    parts.append("## Over all papers")
    for name, meanings in OVERALL.items():
        _extra_columns(root / "figures" / name, meanings)
        parts += [f"`figures/{name}`:", _meanings("column", meanings)]
    return "\n\n".join(parts)


def _paper(root: Path, paper: Paper) -> Iterator[str]:
    yield f"## {paper.title}"
    meanings = {
        name: text for described in paper.extra_columns.values() for name, text in described.items()
    }
    if meanings:
        of = {name: label for label, described in paper.extra_columns.items() for name in described}
        rows = [(f"`{name}`", of[name], text) for name, text in meanings.items()]
        yield markdown(pd.DataFrame(rows, columns=["extra column", "part of", "meaning"]))
    yield _meanings("statistic", paper.statistics.meanings)
    lines, shapes = [], {}
    for target in paper.targets.values():
        path = f"figures/{paper.name}/{target.name}"
        extra = _extra_columns(root / f"{path}.csv", tables.MEANINGS | meanings)
        lines.append((f"`{path}.csv`", ", ".join(f"`{name}`" for name in extra)))
        if target.geometry:
            _extra_columns(root / f"{path}.geometry.csv", target.columns)
            shapes.setdefault(tuple(target.columns.items()), []).append(f"`{path}.geometry.csv`")
    yield markdown(pd.DataFrame(lines, columns=["table", "its extra columns"]))
    for columns, paths in shapes.items():
        yield f"{', '.join(paths)}:"
        yield _meanings("column", dict(columns))


def _extra_columns(path: Path, meanings: Mapping[str, str]) -> list[str]:
    """The columns of a table that not every table has. Raises InputError for an unknown one."""
    columns = pd.read_csv(path, nrows=0).columns
    for name in columns:
        if not meanings.get(name):
            raise InputError(f"{path}: {name}: nothing says what this column means")
    return [name for name in columns if name not in tables.COLUMNS]


def _meanings(heading: str, meanings: Mapping[str, str]) -> str:
    rows = [(f"`{name}`", text) for name, text in meanings.items()]
    return markdown(pd.DataFrame(rows, columns=[heading, "meaning"]))
