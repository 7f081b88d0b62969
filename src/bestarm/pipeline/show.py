"""Printing what a paper holds: its parts, an instance, a target's table."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from bestarm.common.files import data_folder
from bestarm.common.paper import BaseInstance, Paper, Simulation
from bestarm.common.tables import read_table
from bestarm.core.estimates import MEANINGS, Estimate
from bestarm.core.inputs import InputError
from bestarm.pipeline import registry
from bestarm.pipeline.claims import read_ledger
from bestarm.pipeline.plan import describe_instances
from bestarm.pipeline.plugins import installed
from bestarm.pipeline.validity import NOT_PROVEN, guarantees


def output() -> Console:
    """Standard output: as wide as the terminal, or wide enough for tables in a file or pipe.

    Without markup: names that people give may hold square brackets and colons.
    """
    width = None if sys.stdout.isatty() else 240
    return Console(width=width, markup=False, emoji=False)


@contextmanager
def _working(what: str) -> Iterator[None]:
    """Say on a terminal what takes long, and for how long so far; nothing remains of it."""
    columns = (SpinnerColumn(), "{task.description}", TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as p:
        p.add_task(what, total=None)
        yield


def list_paper(paper: str) -> None:
    """Print a paper's strategies, readings, instances and targets, a line each."""
    known = registry.PAPERS[paper]
    console = output()
    console.print(Text.assemble((paper, "bold"), f": {known.title}"), soft_wrap=True)
    lines = {
        "strategies": known.simulation.readings,
        "readings": [few(known.simulation.reading_names())],
        "instances": _families(known.problems.instances()),
        "targets": known.targets,
    }
    for heading, names in lines.items():
        console.print(f"  {heading:11}{', '.join(names)}", soft_wrap=True, highlight=False)
    for line in option_lines(known.simulation):
        console.print(f"  {line}", soft_wrap=True, highlight=False)
    if "delta" in known.simulation.setting.model_fields:
        console.print(_guarantees(known))


def list_installed() -> None:
    """Print the strategies of installed packages, if there are any."""
    for name, point in installed().items():
        output().print(f"installed: {name} ({point.value})", soft_wrap=True, highlight=False)


def _guarantees(paper: Paper) -> Table:
    """What is known of each strategy's promise to err with probability at most delta, by reading.

    Proofs are those of the ledger; refutations are computed from the tables that are there.
    """
    folder = data_folder()
    paths = {name: folder.parent / f"figures/{paper.name}/{name}.csv" for name in paper.targets}
    tables = {name: read_table(path) for name, path in paths.items() if path.is_file()}
    found = guarantees(read_ledger(folder / f"claims/{paper.name}.yaml"), tables)
    last = Column("readings (* the default of `bestarm run`)", overflow="fold")
    grid = Table("strategy", "guarantee", last)
    for strategy, readings in paper.simulation.readings.items():
        by: dict[str, list[str]] = {}
        for name in readings:
            kind, _, remark = found.get((strategy, name), NOT_PROVEN).partition(" (")
            marked = name + "*" * (name == readings.default)
            by.setdefault(kind, []).append(f"{marked} ({remark}" if remark else marked)
        for kind, names in by.items():
            grid.add_row(strategy, kind, few(names))
    return grid


def option_lines(simulation: Simulation) -> Iterator[str]:
    """What `run` and `bound` may be asked of a paper: option, default, meaning and range."""
    of = {"": simulation.setting} | dict(simulation.options)
    for strategy, model in of.items():
        for name, known in model.model_json_schema()["properties"].items():
            limits = known | next(iter(known.get("anyOf", [])), {})
            words = {
                "exclusiveMinimum": "above",
                "minimum": "at least",
                "exclusiveMaximum": "below",
                "maximum": "at most",
            }
            ranges = [f"{word} {limits[key]:,g}" for key, word in words.items() if key in limits]
            if {"type": "null"} in known.get("anyOf", []):
                ranges.append("or none")
            default = "none" if known["default"] is None else known["default"]
            option = f"--{name.replace('_', '-')} {str(default).lower()}"
            which = f" ({strategy})" if strategy else ""
            parts = [known["description"] + which, *ranges]
            yield f"{option:17}{', '.join(parts)}"


def few(names: Iterable[str], most: int = 16) -> str:
    """Names in one line; of many the first, and how many more there are."""
    names = list(names)
    left = len(names) - 4
    return ", ".join(names if len(names) <= most else [*names[:4], f"... ({left} more)"])


def _families(instances: Mapping[str, BaseInstance]) -> list[str]:
    """Names, with those that end in different values of a parameter put together."""
    groups: dict[str, list[str]] = {}
    for name, instance in instances.items():
        values = (f"{value:g}" for value in instance.parameters.values())
        value = next((value for value in values if name.endswith(f"={value}")), "")
        groups.setdefault(name.removesuffix(value), []).append(value)
    return [
        f"{stem}{{{', '.join(_shortened(values))}}}" if len(values) > 1 else f"{stem}{values[0]}"
        for stem, values in groups.items()
    ]


def _shortened(values: list[str], most: int = 12) -> list[str]:
    return values if len(values) <= most else [*values[:2], "...", values[-1]]


def show_named(name: str) -> None:
    """Print PAPER/INSTANCE or PAPER/TARGET. Raises InputError if there is no such thing."""
    paper, _, part = name.partition("/")
    if paper not in registry.PAPERS or not part:
        raise InputError(
            f"{name}: must be PAPER/INSTANCE or PAPER/TARGET, papers are "
            f"{', '.join(registry.PAPERS)}; `bestarm list` names all"
        )
    known = registry.PAPERS[paper]
    instances, targets = known.problems.instances(), known.targets
    if part in instances:
        setting = known.simulation.setting().model_dump()
        print_instance(paper, instances[part], setting)
    elif part in targets:
        _print_target(paper, part)
    else:
        raise InputError(
            f"{name}: {paper} has no such instance or target; see `bestarm list {paper}`"
        )
    if part in instances and part in targets:
        _print_target(paper, part)


def print_instance(paper: str, instance, setting: dict) -> None:
    """Print an instance's tables, what is true of it, and its lower bound under a setting."""
    known = registry.PAPERS[paper]
    with _working("computing what is true of it"):
        truth = describe_instances(paper, {instance.name: instance})[instance.name]["truth"]
    frames = known.own.describe(instance, truth)
    at = ", ".join(f"{name} = {setting[name]:g}" for name in known.own.bound_options)
    title = f"ground truth and bounds{f' ({at})' if at else ''}"
    facts = Table(title=title, title_justify="left", show_header=False)
    for estimate in known.own.bounds(truth, setting):
        name, value = estimate.statistic, _exact(estimate)
        if name == "best_arm":
            several = known.own.several(instance, truth)
            only = ["none", *instance.arm_names][int(estimate.value)]
            facts.add_row(name, "several" if several else only, "the true answer")
        else:
            facts.add_row(name, value, _meaning(known, name).partition("; or ")[0])
    console = output()  # nothing is printed before everything is known
    for title, frame in frames.items():
        console.print(_grid(title, frame))
    if facts.row_count:
        console.print(facts)


def _print_target(paper: str, target: str) -> None:
    name = f"figures/{paper}/{target}.csv"
    path = data_folder().parent / name
    if not path.is_file():
        raise InputError(f"{path}: is missing; `snakemake {name}` makes it (from the checkout)")
    table = read_table(path)
    keep = [c for c in table.columns if c in ("value", "n") or table[c].nunique() > 1]
    output().print(_grid(name, table[keep], index=False))


def _grid(title: str, frame: pd.DataFrame, index: bool = True) -> Table:
    grid = Table(title=title, title_justify="left")
    if index:
        grid.add_column("")
    for column in frame.columns:
        grid.add_column(str(column), justify="right", overflow="fold")
    for name, row in frame.iterrows():
        cells = [_text(value) for value in row]
        grid.add_row(*([str(name)] if index else []), *cells)
    return grid


def _text(value) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.5g}"
    return str(value)


def _exact(estimate: Estimate) -> str:
    return f"{estimate.value:.6g} {'' if estimate.unit == 'index' else estimate.unit}".strip()


def _meaning(paper: Paper, statistic: str) -> str:
    return {**MEANINGS, **paper.statistics.meanings}[statistic.split(":")[0]]
