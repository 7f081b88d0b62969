"""Printing an instance of a paper, or of a user, with its ground truth."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn
from rich.table import Table

from bestarm import registry
from bestarm.common.paper import Paper
from bestarm.core.estimates import MEANINGS, Estimate
from bestarm.core.inputs import InputError
from bestarm.registry.names import near_part
from bestarm.runs.plan import describe_instances
from bestarm.users.output import output
from bestarm.users.show_target import print_target


@contextmanager
def _working(what: str) -> Iterator[None]:
    """Say on a terminal what takes long, and for how long so far; nothing remains of it."""
    columns = (SpinnerColumn(), "{task.description}", TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as p:
        p.add_task(what, total=None)
        yield


def show_named(name: str) -> None:
    """Print PAPER/INSTANCE or PAPER/TARGET. Raises InputError if there is no such thing."""
    paper, _, part = name.partition("/")
    if paper not in registry.PAPERS or not part:
        near = f"`bestarm list {paper}` names those of {paper}"
        if paper not in registry.PAPERS:
            near = near_part(name, f"papers are {', '.join(registry.PAPERS)}")
        raise InputError(f"{name}: must be PAPER/INSTANCE or PAPER/TARGET; {near}")
    known = registry.PAPERS[paper]
    instances, targets = known.problems.instances(), known.targets
    if part not in instances and part not in targets:
        near = near_part(name, f"see `bestarm list {paper}`")
        raise InputError(f"{name}: {paper} has no such instance or target; {near}")
    if part in instances:
        setting = known.simulation.setting().model_dump()
        print_instance(paper, instances[part], setting)
    if part in targets:
        print_target(paper, part)


def print_instance(paper: str, instance, setting: dict) -> None:
    """Print an instance's tables, its ground truth, and its lower bound under a setting."""
    known = registry.PAPERS[paper]
    with _working("computing the ground truth"):
        truth = describe_instances(known, {instance.name: instance})[instance.name]["truth"]
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


def _grid(title: str, frame: pd.DataFrame) -> Table:
    grid = Table("", title=title, title_justify="left")
    for column in frame.columns:
        grid.add_column(str(column), justify="right", overflow="fold")
    for name, row in frame.iterrows():
        cells = [_text(value) for value in row]
        grid.add_row(str(name), *cells)
    return grid


def _text(value) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.5g}"
    return str(value)


def _exact(estimate: Estimate) -> str:
    return f"{estimate.value:.6g} {'' if estimate.unit == 'index' else estimate.unit}".strip()


def _meaning(paper: Paper, statistic: str) -> str:
    return {**MEANINGS, **paper.statistics.meanings}[statistic.split(":")[0]]
