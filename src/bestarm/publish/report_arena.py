"""The arena in words and tables: who wins, who errs, and what was submitted."""

from pathlib import Path

import pandas as pd

from bestarm.arena import summary
from bestarm.arena.cells import PROVEN, WRITTEN
from bestarm.arena.submissions import submissions
from bestarm.common.prose import Lines, as_table, markdown, number, wrapped
from bestarm.common.tables import groups, lines
from bestarm.live.labels import listed

FOLDER = "data/arena"


def arena_text(root: Path) -> str:
    """Three sentences for README.md."""
    cells = pd.read_csv(root / FOLDER / "cells.csv")
    errors = pd.read_csv(root / FOLDER / "errors.csv")
    table = summary.by_family(cells)
    first = table[(table.place == "winner") & (table.delta == table.delta.max())]
    wins = "; ".join(f"{row.family}, `{row.strategy}`: {row.ratio:.1f}" for row in lines(first))
    within = int((errors.error_high <= errors.delta).sum())
    written = cells[cells.rule == WRITTEN]
    above = written[written.error_low > written.delta].strategy.unique()
    text = (
        f"In the [arena](docs/arena.md) {cells.strategy.nunique()} strategies meet on "
        f"{len(cells[['family', 'instance']].drop_duplicates())} instances of "
        f"{cells.family.nunique()} kinds, and their mean pulls are compared with the least that "
        f"any delta-correct strategy needs. Of those with a proved stopping rule, these need "
        f"least at δ = {table.delta.max():g}, in multiples of the bound: {wins}. In "
        f"{errors.runs.max():,} runs each, the error rate is at most δ with 95% confidence in "
        f"{within} of {len(errors)} checks of proved rules; of the papers' own rules, "
        f"{listed(f'`{name}`' for name in above)} err more often than δ with 95% confidence "
        "([picture](figures/arena/fixed-confidence.svg))."
    )
    return wrapped(text)


@as_table
def arena_table(root: Path) -> Lines:
    """Every strategy by family at the largest delta, best first."""
    table = summary.confidences(root / FOLDER)
    table = table[table.delta == table.delta.max()]
    for family, group in groups(table, "family"):
        for row in lines(group.sort_values(["rule", "ratio"], key=_proven_first)):
            errs = " (above δ with 95% confidence)" if row.above else ""
            more = "> " if row.cut else ""
            yield {
                "family": family,
                "strategy": f"**{row.strategy}**" if row.place == "winner" else row.strategy,
                "rule": row.rule,
                "mean": f"{more}{number(row.ratio)} ({number(row.low)} to {number(row.high)})",
                "90%": _or_dash(row.ratio_90),
                "99%": _or_dash(row.ratio_99),
                "most errors": f"{100 * row.error:.1f}%{errs}",
                "µs per pull": number(row.microseconds),
            }


def _proven_first(column: pd.Series) -> pd.Series:
    return column == WRITTEN if column.name == "rule" else column


def _or_dash(value: float) -> str:
    return "–" if pd.isna(value) else number(value)


@as_table
def arena_cells(root: Path) -> Lines:
    """The instances, with their bounds and how many cells each has."""
    cells = pd.read_csv(root / FOLDER / "cells.csv")
    for (family, instance), group in groups(cells, "family", "instance"):
        bounds = {d: at_delta.bound.iloc[0] for d, at_delta in groups(group, "delta")}
        played = group.drop_duplicates(["strategy", "rule"])
        yield {
            "family": family,
            "instance": instance,
            "T*": number(group.characteristic_time.iloc[0]),
            **{f"bound, δ = {d:g}": number(bounds.get(d, "–")) for d in (0.1, 0.01)},
            "proven rules": int((played.rule == PROVEN).sum()),
            "papers' own": int((played.rule == WRITTEN).sum()),
        }


@as_table
def arena_errors(root: Path) -> Lines:
    """Wrong answers of every proven rule in many runs."""
    errors = pd.read_csv(root / FOLDER / "errors.csv")
    for (family, instance, strategy), group in groups(errors, "family", "instance", "strategy"):
        cells = {
            f"δ = {row.delta:g}": f"{row.wrong} (to {100 * row.error_high:.2f}%)"
            for row in lines(group)
        }
        names = {"family": family, "instance": instance, "strategy": strategy}
        yield {**names, "runs": f"{group.runs.iloc[0]:,}", **cells}


def arena_submissions(root: Path) -> str:
    """What is under arena/."""
    return markdown(
        {
            "name": submission.name,
            "promise": submission.promise,
            "papers": ", ".join(submission.papers),
            "reference": submission.reference,
            "licence": submission.licence,
        }
        for submission in submissions(root / "arena")
    )
