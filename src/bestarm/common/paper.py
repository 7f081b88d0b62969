"""The words papers and the pipeline share: cells, experiments, targets.

A paper's `experiments.py` fills these in; `registry.py` says what else a paper provides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # simulation jobs start without pandas
    import pandas as pd


@dataclass(frozen=True)
class Cell:
    """One thing to simulate: instance x strategy x setting x reading."""

    instance: str
    strategy: str
    setting: Mapping[str, Any]  # what is asked, shared by strategies: streams depend on it
    reading: str
    options: Mapping[str, Any] = field(default_factory=dict)  # of the strategy alone
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


@dataclass(frozen=True)
class Experiment:
    """The cells behind one or more targets, simulated on the same replications."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Benchmark:
    """A cell whose speed `make bench` measures, over `runs` replications."""

    cell: Cell
    runs: int
    per: str  # the unit of work, such as "pull"
    work: Callable[[Any], int]  # how much of it an outcome took
    note: str = ""  # to stand beside the number
    instance: Any = None  # one made for it; else the paper's instance that the cell names


@dataclass(frozen=True)
class Sources:
    """What a target's table is made from."""

    summary: pd.DataFrame  # the summaries of its experiments, with a column `experiment`
    instances: Mapping[str, Any]  # name -> {"instance": ..., "truth": ...}
    published: pd.DataFrame  # data/published/PAPER.csv


@dataclass(frozen=True)
class Target:
    """One figure or table; `plots.py` holds a function of the same name that draws it."""

    name: str
    title: str
    tabulate: Callable[[Sources], pd.DataFrame]
    experiments: tuple[str, ...] = ()
    geometry: Callable[[Sources], pd.DataFrame] | None = None
