"""What is printed of an instance and its ground truth, or of a target, as plain values."""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

from bestarm import registry
from bestarm.common.files import data_folder
from bestarm.common.paper import Paper
from bestarm.common.tables import groups, lines, read_table
from bestarm.core.errors import InputError
from bestarm.core.estimates import MEANINGS, Estimate
from bestarm.registry.names import near_part
from bestarm.runs.plan import describe_instances
from bestarm.users.show_target import ROW, Row
from bestarm.users.tables import significant


def part_view(paper: str, part: str) -> dict[str, Any]:
    """What is printed of the instance and of the target of a name.

    Raises:
        InputError: there is neither, or the target's table is missing.
    """
    parts = registry.PAPERS[paper]
    instances, view = parts.problems.instances(), {}
    if part in parts.targets:
        view["target"] = target_view(paper, part)
    if part in instances:
        setting = parts.simulation.setting().model_dump()
        view["instance"] = instance_view(paper, instances[part], setting)
    if not view:
        near = near_part(f"{paper}/{part}", f"see `bestarm list {paper}`")
        raise InputError(f"{paper}/{part}: {paper} has no such instance or target; {near}")
    return view


def instance_view(paper: str, instance: Any, setting: dict[str, Any]) -> dict[str, Any]:
    """An instance's tables, its ground truth, and its lower bound under a setting."""
    parts = registry.PAPERS[paper]
    with _working("computing the ground truth"):
        truth = describe_instances(parts, {instance.name: instance})[instance.name]["truth"]
    at = ", ".join(f"{name} = {setting[name]:g}" for name in parts.user_output.bound_options)
    facts: list[tuple[str, str, str]] = []
    for estimate in parts.user_output.bounds(truth, setting):
        name, value = estimate.statistic, _exact(estimate)
        if name == "best_arm":
            several = parts.user_output.several(instance, truth)
            only = ["none", *instance.arm_names][int(estimate.value)]
            facts.append((name, "several" if several else only, "the true answer"))
        else:
            facts.append((name, value, _meaning(parts, name).partition("; or ")[0]))
    return {
        "tables": [_table(*named) for named in parts.user_output.describe(instance, truth).items()],
        "title": f"ground truth and bounds{f' ({at})' if at else ''}",
        "facts": facts,
    }


def _table(title: str, frame: pd.DataFrame) -> tuple[str, list[str], list[list[str]]]:
    rows = [[str(name), *map(_cell, row)] for name, row in frame.iterrows()]
    return title, [str(column) for column in frame.columns], rows


def target_view(paper: str, target: str) -> dict[str, Any]:
    """The table of a target.

    Raises:
        InputError: the table is not there.
    """
    name = f"figures/{paper}/{target}.csv"
    path = data_folder().parent / name
    if not path.is_file():
        raise InputError(f"{path}: is missing; `snakemake {name}` makes it (from the checkout)")
    table = read_table(path)
    parts = [(title, [*part.statistic.unique()], _rows(part)) for title, part in _parts(table)]
    marked = bool(table.status.isin(["restricted", "undefined"]).any())
    return {"file": name, "parts": parts, "marked": marked}


def _parts(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows by instance and setting, which are the titles; not by what the axis has."""
    if table.empty:
        return
    axis = [*zip(table.x_name, table.x, strict=True)]
    short = table.assign(
        instance=[_without_axis(n, *at, " ") for n, at in zip(table.instance, axis, strict=True)],
        setting=[_without_axis(s, *at, ",") for s, at in zip(table.setting, axis, strict=True)],
    )
    key = ["instance", "setting", "x_name", *ROW, "statistic"]
    table = table if short.duplicated(key).any() else short
    for (instance, setting, axis), part in groups(table, "instance", "setting", "x_name"):
        words = [instance, setting, f"x: {axis}" if axis else ""]
        yield "; ".join(word for word in words if word), part


def _without_axis(label: str, axis: str, x: float, between: str) -> str:
    """A label without the part that says the value of the axis."""
    if not axis or math.isnan(x):
        return label
    return between.join(part for part in label.split(between) if part != f"{axis}={x:g}")


def _rows(part: pd.DataFrame) -> list[Row]:
    """The estimates of each printed row by statistic, after what tells the row apart."""
    estimates: dict[tuple[str, ...], dict[str, tuple[float, str]]] = {}
    for estimate in lines(part.sort_values([*ROW])):
        key = (estimate.strategy, estimate.reading, f"{estimate.x:g}")
        estimates.setdefault(key, {})[estimate.statistic] = (float(estimate.n), _text(estimate))
    return [([*key], row) for key, row in estimates.items()]


def _text(estimate: Any) -> str:
    """A number with its interval if it has one, and a mark if a footnote explains it."""
    if math.isnan(estimate.value):
        return "–"
    text = significant(estimate.value)
    if estimate.low < estimate.high:
        text += f" [{significant(estimate.low)}, {significant(estimate.high)}]"
    return text + "*" * (estimate.status == "restricted")


@contextmanager
def _working(what: str) -> Iterator[None]:
    """Say on a terminal what takes long, and for how long so far; nothing remains of it."""
    columns = (SpinnerColumn(), "{task.description}", TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as p:
        p.add_task(what, total=None)
        yield


def _cell(value) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.5g}"
    return str(value)


def _exact(estimate: Estimate) -> str:
    return f"{estimate.value:.6g} {'' if estimate.unit == 'index' else estimate.unit}".strip()


def _meaning(paper: Paper, statistic: str) -> str:
    return {**MEANINGS, **paper.statistics.meanings}[statistic.split(":")[0]]
