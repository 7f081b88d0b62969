"""The types that papers and the rooms above them share, and the modules of a paper's folder::

    problem.py      PROBLEMS: Problems
    strategies.py   SIMULATION: Simulation
    cells.py        EXPERIMENTS: tuple[Experiment, ...]
    statistics.py   STATISTICS: Statistics
    targets.py      TARGETS: tuple[Target, ...]
    user_output.py      USER_OUTPUT: UserOutput
    user_strategies.py  USER_STRATEGIES: UserStrategies, if user strategies may play its instances
    plots.py        PLOTS: Plots
    arena.py        ARENA: Arena, if it takes part in the arena
    assumptions.py  ASSUMPTIONS: Assumptions, if errors are counted when assumptions do not hold
    pages.py        PAGES: Pages, if pages of the documentation have parts of its own
    reference.py    slow versions, for tests

`Paper` imports a module on first use, so that a simulation job does not load plots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from pydantic import AfterValidator, Field

from bestarm.common.pages import Pages
from bestarm.core.inputs import Input, InputError, short
from bestarm.core.streams import Streams

if TYPE_CHECKING:  # simulation jobs start without pandas and matplotlib
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

    from bestarm.common.styles import Style
    from bestarm.common.user_strategies import UserStrategies
    from bestarm.core.estimates import Estimate
    from bestarm.core.strategy import Steps

Reading = TypeVar("Reading")
Value = TypeVar("Value")
#: One for all arms, or one each.
PerArm = Value | Annotated[list[Value], Field(min_length=1)]


def _told_apart(names: list[str] | None) -> list[str] | None:
    if names and (len(set(names)) < len(names) or not all(names)):
        raise ValueError(f"must be distinct and not empty, got {short(names)}")
    return names


#: Of arms or other parts of an instance; distinct, so that an answer tells which it is.
Names = Annotated[
    list[str] | None, AfterValidator(_told_apart), Field(description="names, for people")
]


@dataclass(frozen=True)
class Cell:
    """One thing to simulate: instance x strategy x setting x reading.

    Example:
        >>> cell = Cell("example1", "T-a-SCS", {"delta": 0.1}, "as-written", {"step": 0.5})
        >>> cell.label, cell.setting_label
        ('T-a-SCS step=0.5', 'delta=0.1')
    """

    instance: str
    strategy: str
    setting: Mapping[str, Any]  # shared by all strategies, such as delta: streams depend on it
    reading: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])  # the strategy's own
    x_name: str = ""  # the axis this cell is a point of, if any
    x: float | None = None

    @property
    def label(self) -> str:
        """The strategy with its options, as tables name it."""
        return " ".join([self.strategy, *(f"{k}={v:g}" for k, v in sorted(self.options.items()))])

    @property
    def setting_label(self) -> str:
        """The setting as tables name it and streams are keyed by it."""
        return self.setting_without("")

    def setting_without(self, part: str) -> str:
        """The same without a part of the setting."""
        kept = sorted(item for item in self.setting.items() if item[0] != part)
        return ",".join(f"{k}={_plain(v)}" for k, v in kept)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


class BaseInstance(Input):
    """The fields of every paper's instances.

    Example:
        >>> BaseInstance(name="gap=0.5", family="gap", parameters={"gap": 0.5}).family
        'gap'
    """

    name: str = Field(min_length=1, description="of the instance; the file's if left out")
    source: str = Field(default="", description="where the numbers are from")
    family: str = Field(
        default="", description="instances of a family differ in parameters alone; else the name"
    )
    parameters: dict[str, float] = Field(
        default={}, description="its place in the family, by name of the parameter"
    )


def instance_facts(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Family and parameters of an instance (a dict) as columns of tables.

    Example:
        >>> instance_facts({"name": "gap=0.5", "family": "gap", "parameters": {"gap": 0.5}})
        {'family': 'gap', 'gap': 0.5}
    """
    return {"family": instance["family"] or instance["name"], **instance["parameters"]}


@dataclass(frozen=True)
class Experiment:
    """The cells behind one or more targets, simulated on the same replications.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> sorted({cell.strategy for cell in PAPERS["baics"].experiments["two-stage"].cells})
        ['T-a-SCS', 'Two-stage']
    """

    name: str
    cells: tuple[Cell, ...]
    streams: str = ""  # the experiment whose random streams its runs have, if not its own
    shared_over: str = ""  # a part of the setting over which cells have the same streams


@dataclass(frozen=True)
class Sources:
    """The inputs of a target's table.

    Example:
        >>> import pandas as pd
        >>> Sources(pd.DataFrame({"experiment": ["x"]}), {}, pd.DataFrame()).summary.experiment[0]
        'x'
    """

    summary: pd.DataFrame  # the summaries of its experiments, with a column `experiment`
    instances: Mapping[str, Any]  # name -> {"instance": ..., "truth": ...}
    published: pd.DataFrame  # data/published/PAPER.csv


@dataclass(frozen=True)
class Target:
    """One figure or table, drawn by the entry of `PLOTS` with its name.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> PAPERS["baics"].targets["table1"].experiments
        ('example1',)
    """

    name: str
    title: str
    tabulate: Callable[[Sources], pd.DataFrame]
    experiments: tuple[str, ...] = ()
    geometry: Callable[[Sources], pd.DataFrame] | None = None
    kept: tuple[str, ...] = ()  # tables under data/ among its inputs
    columns: Mapping[str, str] = field(default_factory=dict[str, str])  # meanings, of its geometry


def _as_it_is(data: dict[str, Any], path: Path) -> dict[str, Any]:
    return data


@dataclass(frozen=True)
class Problems:
    """A paper's instances and their ground truth.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> problems = PAPERS["baics"].problems
        >>> problems.truth(problems.instances()["example1"]).answer
        1
    """

    instance: type[BaseInstance]
    instances: Callable[[], dict[str, Any]]  # the paper's, by name
    truth: Callable[[Any], Input]  # the ground truth of an instance
    with_files: Callable[[dict[str, Any], Path], dict[str, Any]] = _as_it_is  # reads files it names
    files: tuple[str, ...] = ()  # fields that may name a file instead
    kept: tuple[str, ...] = ()  # tables under data/ that instances are made from
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])  # meanings


class Readings(Mapping[str, Reading]):
    """The readings of a strategy that can change its runs, by name and in order.

    Args:
        named: at least one.
        text: name of the reading that follows the paper's text; by default the first.
        default: name of the reading that users get; by default `text`.

    Raises:
        ValueError: `text` or `default` is not a name of `named`.

    Example:
        >>> readings = Readings({"as-written": 1, "guaranteed": 2}, default="guaranteed")
        >>> readings.text, readings[readings.default]
        ('as-written', 2)
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

    def chosen(self, name: Any, source: str) -> Reading:
        """The reading that a person asks for.

        Raises:
            InputError: naming `source`, and what is allowed.
        """
        if isinstance(name, str) and name in self._named:
            return self._named[name]
        allowed = f"must be one of {', '.join(self._named)}, got {short(name)}"
        raise InputError(f"{source}: {allowed}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)


@dataclass(frozen=True)
class Simulation:
    """The strategies, and how a cell becomes runs.

    A run is an outcome, a NamedTuple whose fields are the columns of the shards: `tau`, pulls or
    time steps; `status`, a `Status`; `answer`; and more.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> from bestarm.core.streams import run_streams
        >>> simulation = PAPERS["baics"].simulation
        >>> cell = Cell(simulation.easy.name, "Uniform", {"delta": 0.1}, "as-written")
        >>> run = simulation.prepare(simulation.easy, cell)(run_streams(0, 0))
        >>> bool(run.tau == run.pulls.sum())
        True
    """

    readings: Mapping[str, Readings[Any]]  # by strategy, in the paper's order
    setting: type[Input]  # such as delta and cap, the same for every strategy
    prepare: Callable[[Any, Cell], Callable[[Streams], Any]]  # instance, cell -> replicate
    warm_up: Callable[[], None]  # compiles every kernel
    easy: Any  # an instance that every strategy solves quickly, for compiling and tests
    options: Mapping[str, type[Input]] = field(
        default_factory=dict[str, type[Input]]
    )  # by strategy, its own options
    steps: Callable[[Any, Cell], Steps] | None = None  # a cell as `Steps`, if it has rounds
    failures: tuple[str, ...] = ()  # columns that count rounds with a numerical failure

    def arguments(self, cell: Cell) -> dict[str, Any]:
        """The setting of a cell with its defaults, and its options, as columns of tables."""
        return {**self.setting(**cell.setting).model_dump(), **cell.options}

    def reading_names(self) -> list[str]:
        """The names of the readings of all strategies, without duplicates."""
        return list(dict.fromkeys(name for readings in self.readings.values() for name in readings))


class Tally(NamedTuple):
    """Statistics from counts and moments, which can be added up without keeping all runs.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> isinstance(PAPERS["cbmai"].statistics.tally, Tally)
        True
    """

    of: Callable[
        [Cell, dict[str, Any], dict[str, np.ndarray]], dict[str, Any]
    ]  # cell, truth, runs -> tally; tallies add up with +
    estimates: Callable[[dict[str, Any]], list[Estimate]]  # from the sum of a cell's tallies


@dataclass(frozen=True)
class Statistics:
    """How the runs of a cell are summarised.

    `summarise(cell, truth, runs, level)` takes the truth of the cell's instance as in
    instances.json, the runs as columns of the shards, and the level of intervals.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> "wrong_stops" in PAPERS["baics"].statistics.meanings
        True
    """

    summarise: Callable[..., list[Estimate]]
    meanings: Mapping[str, str]  # of the statistics, keyed by their names before a colon
    tally: Tally | None = None


def _never(*_: Any) -> bool:
    return False


@dataclass(frozen=True)
class UserOutput:
    """What `bestarm run`, `bound` and `show` print for an instance.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> PAPERS["baics"].user_output.columns["mean_stopping_time"]
        'mean pulls'
    """

    columns: Mapping[str, str]  # statistic -> heading of its column
    bounds: Callable[
        [dict[str, Any], dict[str, Any]], list[Estimate]
    ]  # truth, setting -> known bounds
    describe: Callable[[Any, dict[str, Any]], dict[str, pd.DataFrame]]  # instance, truth -> tables
    correct: Callable[[Cell, dict[str, Any], dict[str, np.ndarray]], np.ndarray]  # by run
    # instance, runs -> answers in words; None for none, since an arm may be called "none"
    answers: Callable[[Any, dict[str, np.ndarray]], Sequence[str | None]]
    several: Callable[[Any, dict[str, Any]], bool] = _never  # instance, truth -> several are best
    bound_options: Sequence[str] = ()  # what of the setting the bounds depend on
    certificate: Callable[[Any], str] | None = None  # instance -> JSON that `bestarm check` takes


@dataclass(frozen=True)
class Plots:
    """How the targets are drawn.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> PAPERS["baics"].plots.styles["T-a-SCS"].marker
        'o'
    """

    draw: Mapping[str, Callable[..., Figure]]  # by target; takes its table and any geometry
    styles: Mapping[str, Style] = field(default_factory=dict[str, Any])  # by strategy or reading
    first: Mapping[str, str] = field(default_factory=dict[str, str])  # statistic drawn first


@dataclass(frozen=True)
class Paper:
    """A paper: its folder under src/bestarm, and the modules in it.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> list(PAPERS["delayed"].simulation.readings)
        ['Full', 'Partial']
    """

    name: str
    title: str

    @property
    def extra_columns(self) -> dict[str, dict[str, str]]:
        """Meanings of the further columns of tables, grouped by the label they are part of."""
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

    def module(self, name: str) -> Any:
        """A module of the paper's folder."""
        return import_module(f"bestarm.{self.name}.{name}")

    @cached_property
    def problems(self) -> Problems:
        return self.module("problem").PROBLEMS

    @cached_property
    def simulation(self) -> Simulation:
        return self.module("strategies").SIMULATION

    @cached_property
    def experiments(self) -> Mapping[str, Experiment]:
        """By name."""
        return _by_name(self.module("cells").EXPERIMENTS)

    @cached_property
    def statistics(self) -> Statistics:
        return self.module("statistics").STATISTICS

    @cached_property
    def targets(self) -> Mapping[str, Target]:
        """By name."""
        return _by_name(self.module("targets").TARGETS)

    @cached_property
    def user_output(self) -> UserOutput:
        return self.module("user_output").USER_OUTPUT

    @cached_property
    def user_strategies(self) -> UserStrategies:
        return self.module("user_strategies").USER_STRATEGIES

    @cached_property
    def pages(self) -> Pages:
        """Empty if the paper has no module of them."""
        return self.module("pages").PAGES if find_spec(f"bestarm.{self.name}.pages") else Pages()

    @cached_property
    def plots(self) -> Plots:
        return self.module("plots").PLOTS


def _described(model: type[Input]) -> dict[str, str]:
    return {name: field.description or "" for name, field in model.model_fields.items()}


def _by_name(parts: Sequence[Any]) -> dict[str, Any]:
    by_name: dict[str, Any] = {}
    for part in parts:
        if part.name in by_name:
            raise ValueError(f"{part.name}: the name is used twice")
        by_name[part.name] = part
    return by_name
