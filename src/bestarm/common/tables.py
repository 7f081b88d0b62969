"""Tidy tables: the shape of every summary and every target's CSV."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from bestarm.common.paper import Cell, Sources, Target, instance_facts
from bestarm.core.estimates import Estimate
from bestarm.core.files import write_text
from bestarm.core.inputs import InputError

#: The columns of every table, in order; the first seven identify a row and sort it. After them come
#: the parameters of a paper's instances, its settings and its options, if a table has any.
COLUMNS = [
    *("instance", "strategy", "setting", "reading", "x_name", "x", "statistic"),
    *("unit", "value", "low", "high", "n", "status"),
    *("family", "algorithm", "other"),
]
KEY = COLUMNS[:7]
NUMBERS = ("x", "value", "low", "high")
TEXTS = tuple(name for name in COLUMNS if name not in (*NUMBERS, "n"))
#: Columns that summaries have in `Sources` and that tables do not keep.
ASIDE = ("experiment",)
#: The last part of a statistic's name, and which quantile it is.
QUANTILES = {
    "quantile_05": 0.05,
    "quartile_25": 0.25,
    "median": 0.5,
    "median_stopping_time": 0.5,
    "quartile_75": 0.75,
    "quantile_95": 0.95,
}

MEANINGS = {
    "instance": "what is played; for people, like the other labels",
    "strategy": "who plays it, with its options; in a comparison, both of them",
    "setting": "what is asked of a run",
    "reading": "how the paper is read; `exact` for what is computed, `published` for its numbers",
    "x_name": "the axis that a row is a point of",
    "x": "where on that axis",
    "statistic": "what the value is, then after a colon which of several; see below",
    "unit": "of the value",
    "value": "the number, to six digits",
    "low": "lower end of its 95% interval; of a computed number, the number",
    "high": "upper end; infinite if it lies among capped runs",
    "n": "runs behind it; 0 if it is computed",
    "status": "`exact`: computed; `published`; `restricted`: a mean over capped runs too, which "
    "would be larger without the cap; `undefined`; `one-sided`: the interval is a bound",
    "family": "of the instance: those of one family differ in the columns of its parameters alone",
    "algorithm": "the strategy without its options",
    "other": "in a comparison, the strategy that the first is compared with",
}


def cell_rows(cell: Cell, estimates: Iterable[Estimate], **also: Any) -> list[dict]:
    """Estimates of a cell as rows of a table.

    Args:
        cell: the cell they belong to.
        estimates: one per row.
        also: further columns, such as the family of an instance.
    """
    names = {
        "instance": cell.instance,
        "strategy": cell.label,
        "setting": cell.setting_label,
        "reading": cell.reading,
        "x_name": cell.x_name,
        "x": cell.x,
        "algorithm": cell.strategy,
    }
    arguments = {**cell.setting, **cell.options}
    return [{**names, **arguments, **also, **asdict(estimate)} for estimate in estimates]


def comparison_rows(
    cell: Cell, other: str, estimates: Iterable[Estimate], by: str = "/", **also: Any
) -> list[dict]:
    """Estimates that compare a cell's strategy with another.

    Args:
        cell: the cell of the first strategy.
        other: the second strategy.
        estimates: one per row.
        by: the sign between them in the label, "/" for ratios or "-" for differences.
        also: further columns.
    """
    label = f"{cell.label} {by} {other}"
    return cell_rows(cell, estimates, **also, strategy=label, other=other)


def published_rows(published: pd.DataFrame, target: str) -> pd.DataFrame:
    """The published values of a target, as rows of its table."""
    rows = published[published.target == target]
    rows = rows[[name for name in COLUMNS if name in rows]]
    named = {"reading": "published", "setting": "", "x_name": "", "status": "published"}
    return rows.assign(**named, algorithm=rows.strategy)


def assemble(*parts: pd.DataFrame | list[dict]) -> pd.DataFrame:
    """Put rows from several places into one table."""
    frames = [pd.DataFrame(part).astype(object) for part in parts]
    table = pd.concat([pd.DataFrame(columns=COLUMNS, dtype=object), *(f for f in frames if len(f))])
    table = table.drop(columns=[name for name in ASIDE if name in table])
    texts = table[list(TEXTS)].fillna("")
    return table.assign(**texts).reset_index(drop=True)


def with_instances(table: pd.DataFrame, instances: Mapping[str, Any]) -> pd.DataFrame:
    """A table with the families and parameters of its instances filled in where missing.

    Args:
        table: any.
        instances: name -> {"instance": ..., "truth": ...}, as in instances.json.
    """
    facts_by_name = {
        name: instance_facts(contents["instance"]) for name, contents in instances.items()
    }
    facts = pd.DataFrame.from_dict(facts_by_name, orient="index").reindex(table.instance)
    for name in facts:
        filled = facts[name].set_axis(table.index)
        if name in table:
            is_there = table[name].notna() & (table[name] != "")
            filled = table[name].where(is_there, filled)
        table = table.assign(**{str(name): filled.fillna("") if name in TEXTS else filled})
    return table


def lines(table: pd.DataFrame) -> Iterator[Any]:
    """The rows of a table, with columns as attributes."""
    return table.astype(object).itertuples()  # Arrow's texts are slow to go through one by one


def pick(table: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    """The rows of a table whose columns have these values."""
    for name, value in columns.items():
        table = table[table[name] == value]
    return table


def groups(table: pd.DataFrame, *names: str) -> Iterator[tuple[Any, pd.DataFrame]]:
    """(values, rows) for each combination of values of some columns; of one column the value."""
    by: Any = list(names) if len(names) > 1 else next(iter(names))
    return iter(table.groupby(by, sort=False))


def write_table(table: pd.DataFrame, path: Path | str) -> None:
    """Write a table: sorted, floats to 6 significant digits, the same bytes every time."""
    extra = sorted(set(table.columns) - set(COLUMNS))
    extra = [name for name in extra if table[name].notna().any()]
    numbers = dict.fromkeys([*NUMBERS, *extra], float) | {"n": int}
    table = table[[*COLUMNS, *extra]].astype(numbers)
    ordered = table.sort_values(KEY, kind="stable", na_position="first")
    write_text(path, ordered.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def read_table(path: Path | str) -> pd.DataFrame:
    """Read a table, or a data file of published values.

    Raises:
        InputError: naming the file, which cannot be read.
    """
    try:
        names = list(pd.read_csv(path, nrows=0).columns)
        # Of so few rows, Arrow's texts take longer to pick from and to go through.
        with pd.option_context("mode.string_storage", "python"):
            table = pd.read_csv(
                path,
                dtype=dict.fromkeys(TEXTS, str),
                keep_default_na=False,
                na_values={name: [""] for name in names if name not in TEXTS},
            )
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: is not a table that can be read ({error})") from None
    return table


def write_geometry(shapes: pd.DataFrame, path: Path | str) -> None:
    """Write the geometry of a figure: any columns, in the order given, to 6 digits."""
    write_text(path, shapes.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def read_geometry(path: Path | str) -> pd.DataFrame:
    """Read what `write_geometry` wrote."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def read_sources(
    target: Target, summaries: list[Path], instances: Path, published: Path
) -> Sources:
    """Read the inputs of a target; `summaries` are in the order of its experiments."""
    frames = dict(zip(target.experiments, map(read_table, summaries), strict=True))
    described = json.loads(Path(instances).read_text(encoding="utf-8"))
    return make_sources(frames, described, read_table(published))


def make_sources(
    summaries: Mapping[str, pd.DataFrame], instances: Mapping[str, Any], published: pd.DataFrame
) -> Sources:
    """The inputs of a target, from summaries by experiment."""
    frames = [frame.assign(experiment=name) for name, frame in summaries.items()]
    summary = pd.concat(frames or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)
    return Sources(summary, instances, published)


def target_table(target: Target, sources: Sources) -> pd.DataFrame:
    """A target's table."""
    return with_instances(target.tabulate(sources), sources.instances)
