"""What a paper is: the words papers and the pipeline share, and the rooms of a paper's folder.

    problem.py      PROBLEMS: Problems
    strategies.py   SIMULATION: Simulation
    cells.py        EXPERIMENTS: tuple[Experiment, ...]
    statistics.py   STATISTICS: Statistics
    targets.py      TARGETS: tuple[Target, ...]
    own.py          OWN: Own
    plots.py        PLOTS: Plots
    reference.py    slow versions, for tests

`Paper` imports a room when it is asked for, so that a simulation job does not load plots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import Field

from bestarm.core.inputs import Input
from bestarm.core.streams import Streams

if TYPE_CHECKING:  # simulation jobs start without pandas and matplotlib
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

    from bestarm.common.style import Look
    from bestarm.core.estimates import Estimate
    from bestarm.core.strategy import Steps

Reading = TypeVar("Reading")


@dataclass(frozen=True)
class Cell:
    """One thing to simulate: instance x strategy x setting x reading."""

    instance: str
    strategy: str
    setting: Mapping[str, Any]  # what is asked, shared by strategies: streams depend on it
    reading: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of the strategy alone
    x_name: str = ""  # the axis this cell is a point of, if any
    x: float | None = None

    @property
    def label(self) -> str:
        """The strategy with its options, as tables name it."""
        return " ".join([self.strategy, *(f"{k}={v:g}" for k, v in sorted(self.options.items()))])

    @property
    def setting_label(self) -> str:
        """The setting as tables name it and streams are keyed by it."""
        return ",".join(f"{k}={_plain(v)}" for k, v in sorted(self.setting.items()))


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


class BaseInstance(Input):
    """What every paper's instance has."""

    name: str = Field(min_length=1)
    source: str = ""
    family: str = ""  # instances of one family differ in parameters alone; left out: the name
    parameters: dict[str, float] = Field(default={})  # what tells it from its family, by name


def facts_of(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Family and parameters of an instance, given as plain values, as columns of tables."""
    return {"family": instance["family"] or instance["name"], **instance["parameters"]}


@dataclass(frozen=True)
class Experiment:
    """The cells behind one or more targets, simulated on the same replications."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Sources:
    """What a target's table is made from."""

    summary: pd.DataFrame  # the summaries of its experiments, with a column `experiment`
    instances: Mapping[str, Any]  # name -> {"instance": ..., "truth": ...}
    published: pd.DataFrame  # data/published/PAPER.csv


@dataclass(frozen=True)
class Target:
    """One figure or table, drawn by the entry of `PLOTS` with its name."""

    name: str
    title: str
    tabulate: Callable[[Sources], pd.DataFrame]
    experiments: tuple[str, ...] = ()
    geometry: Callable[[Sources], pd.DataFrame] | None = None
    kept: tuple[str, ...] = ()  # tables under data/ that it is made from too
    columns: Mapping[str, str] = field(default_factory=dict[str, str])  # meanings, of its geometry


def _as_it_is(data: dict[str, Any], path: Path) -> dict[str, Any]:
    return data


@dataclass(frozen=True)
class Problems:
    """Instances, and what is true of them."""

    instance: type[BaseInstance]
    instances: Callable[[], dict[str, Any]]  # the paper's, by name
    truth: Callable[[Any], Input]  # what later stages need to know of an instance
    with_files: Callable[[dict[str, Any], Path], dict[str, Any]] = _as_it_is  # files a file names
    kept: tuple[str, ...] = ()  # tables under data/ that instances are made from
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])  # meanings, of families


class Readings(Mapping[str, Reading]):
    """The readings of a strategy that can change its runs, by name and in order.

    Args:
        named: at least one.
        text: the paper's own words; the first if left out.
        default: what users get; the paper's text if left out.
    """

    def __init__(self, named: Mapping[str, Reading], text: str = "", default: str = "") -> None:
        self._named = dict(named)
        self.text = text or next(iter(self._named))
        self.default = default or self.text
        for mark in (self.text, self.default):
            if mark not in self._named:
                raise ValueError(f"{mark}: is none of {', '.join(self._named)}")

    def __getitem__(self, name: str) -> Reading:
        return self._named[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)


@dataclass(frozen=True)
class Simulation:
    """The strategies, and how a cell becomes runs.

    A run is an outcome, a NamedTuple whose fields are the columns of the shards: `tau`, pulls or
    time steps; `status`, a `Status`; `answer`; and more.
    """

    readings: Mapping[str, Readings[Any]]  # by strategy, in the paper's order
    setting: type[Input]  # what a run is asked, the same for every strategy
    prepare: Callable[[Any, Cell], Callable[[Streams], Any]]  # instance and cell to replications
    warm_up: Callable[[], None]  # compiles every kernel
    easy: Any  # an instance that every strategy solves quickly
    options: Mapping[str, type[Input]] = field(
        default_factory=dict[str, type[Input]]
    )  # of a strategy alone
    steps: Callable[[Any, Cell], Steps] | None = None  # a cell as steps, where its pulls are rounds
    failures: tuple[str, ...] = ()  # columns that count the rounds in which some step failed

    def asked(self, cell: Cell) -> dict[str, Any]:
        """The whole setting of a cell, and the options that it gives, as columns of tables."""
        return {**self.setting(**cell.setting).model_dump(), **cell.options}

    def reading_names(self) -> list[str]:
        """The readings of all strategies, each once."""
        return list(dict.fromkeys(name for some in self.readings.values() for name in some))


class Tally(NamedTuple):
    """Statistics of runs from counts and moments, which add up, so that none has to be held."""

    of: Callable[
        [Cell, dict[str, Any], dict[str, np.ndarray]], dict[str, Any]
    ]  # some runs; sums with +
    estimates: Callable[[dict[str, Any]], list[Estimate]]  # of a cell, from the sum


@dataclass(frozen=True)
class Statistics:
    """What a cell's runs come to.

    `summarise(cell, truth, runs, level)` takes the truth of the cell's instance as in
    instances.json, the runs as columns of the shards, and the level of intervals.
    """

    summarise: Callable[..., list[Estimate]]
    meanings: Mapping[str, str]  # of the paper's own statistics, by their names before a colon
    tally: Tally | None = None


@dataclass(frozen=True)
class Own:
    """What the command line prints of an instance."""

    columns: Mapping[str, str]  # statistics of runs, and how they head the columns
    bounds: Callable[
        [dict[str, Any], dict[str, Any]], list[Estimate]
    ]  # from truth and setting: what is known
    describe: Callable[
        [Any, dict[str, Any]], dict[str, pd.DataFrame]
    ]  # instance and truth as tables


@dataclass(frozen=True)
class Plots:
    """How targets are drawn."""

    draw: Mapping[str, Callable[..., Figure]]  # by target; takes its table, and its geometry
    looks: Mapping[str, Look] = field(default_factory=dict[str, Any])  # by strategy or reading


@dataclass(frozen=True)
class Paper:
    """A paper: its folder under src/bestarm, and the rooms in it."""

    name: str
    title: str

    @property
    def further(self) -> dict[str, dict[str, str]]:
        """What further columns of tables mean, by the label whose parts they are."""
        simulation = self.simulation
        return {
            "instance": dict(self.problems.parameters),
            "setting": _described(simulation.setting),
            "strategy": {
                name: f"of {strategy}: {meaning}"
                for strategy, model in simulation.options.items()
                for name, meaning in _described(model).items()
            },
        }

    def room(self, module: str) -> Any:
        """A module of the paper's folder."""
        return import_module(f"bestarm.{self.name}.{module}")

    @cached_property
    def problems(self) -> Problems:
        return self.room("problem").PROBLEMS

    @cached_property
    def simulation(self) -> Simulation:
        return self.room("strategies").SIMULATION

    @cached_property
    def experiments(self) -> Mapping[str, Experiment]:
        """By name."""
        return _by_name(self.room("cells").EXPERIMENTS)

    @cached_property
    def statistics(self) -> Statistics:
        return self.room("statistics").STATISTICS

    @cached_property
    def targets(self) -> Mapping[str, Target]:
        """By name."""
        return _by_name(self.room("targets").TARGETS)

    @cached_property
    def own(self) -> Own:
        return self.room("own").OWN

    @cached_property
    def plots(self) -> Plots:
        return self.room("plots").PLOTS


def _described(model: type[Input]) -> dict[str, str]:
    return {name: known.description or "" for name, known in model.model_fields.items()}


def _by_name(things: Sequence[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for thing in things:
        if thing.name in found:
            raise ValueError(f"{thing.name}: two have this name")
        found[thing.name] = thing
    return found
