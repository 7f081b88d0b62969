"""Where one algorithm has two drivers: a paper's steps, and the fast runs that simulations take."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

from bestarm import registry
from bestarm.common.pages import FastRun
from bestarm.common.paper import Cell
from bestarm.common.prose import markdown, number
from bestarm.core.strategy import STEPS

#: How the names of measurements begin, and end: of a strategy's runs as they are simulated, and of
#: the same by their steps.
DRIVER, SIMULATED, STEPPED = "driver: ", "as simulated", "by its steps"


def fast_runs(paper: str) -> dict[str, FastRun]:
    """The fast runs of a paper by strategy."""
    runs = registry.PAPERS[paper].pages.fast_runs
    return {name: fast for fast in runs for name in fast.strategies}


def measured_as(paper: str, strategy: str, driver: str) -> str:
    """The name of a measurement in bench.csv; `driver` is SIMULATED or STEPPED."""
    return f"{DRIVER}{paper}: {strategy}: {driver}"


def driver_table(bench: pd.DataFrame, paper: str) -> str:
    """A paper's steps, the fast run beside them, and what it buys on the whole paper.

    Args:
        bench: bench.csv.
        paper: its key.
    """
    simulation = registry.PAPERS[paper].simulation
    if simulation.steps is None:
        return (
            "No steps: runs are events, not rounds. Simulations and ask/tell objects share the "
            "functions that take in an event."
        )
    fast, groups = fast_runs(paper), {}
    for strategy in simulation.readings:
        cell = Cell(simulation.easy.name, strategy, {}, simulation.readings[strategy].default)
        steps = simulation.steps(simulation.easy, cell).strategy
        groups.setdefault((_names(paper, steps), fast.get(strategy)), []).append(strategy)
    rows = [
        {
            "strategies": ", ".join(strategies),
            "steps": names,
            "fast run": ", ".join(f"`{name}`" for name in run.functions) if run else "none",
            "what it does less": run.shorter if run else "–",
            "on the whole paper": _bought(bench, paper, strategies) if run else "–",
        }
        for (names, run), strategies in groups.items()
    ]
    return markdown(rows)


def _names(paper: str, steps: Any) -> str:
    """The five steps, those of a module or a class together."""
    by_place: dict[str, list[str]] = {}
    for step in STEPS:
        function = _plain(getattr(steps, step))
        module = function.__module__.removeprefix(f"bestarm.{paper}.").removeprefix("bestarm.")
        place, _, name = f"{module}.{function.__qualname__}".rpartition(".")
        by_place.setdefault(place, []).append(name)
    return "; ".join(f"`{place}`: {', '.join(names)}" for place, names in by_place.items())


def _plain(step: Callable[..., Any]) -> Any:
    """The function that a step was written as."""
    while isinstance(step, partial):
        step = step.func
    return getattr(step, "py_func", step)


def _bought(bench: pd.DataFrame, paper: str, strategies: list[str]) -> str:
    """The time of all runs at paper scale as simulated and by the steps, if it was measured."""
    seconds = bench.set_index("measure").value
    spent = []
    for driver in (SIMULATED, STEPPED):
        names = [measured_as(paper, strategy, driver) for strategy in strategies]
        spent.append(sum(float(seconds.get(name, float("nan"))) for name in names))
    simulated, stepped = spent
    if not simulated + stepped < float("inf"):
        return "not measured"
    times = number(stepped / simulated)
    return f"{number(simulated)} s in place of {number(stepped)} s: {times} times"
