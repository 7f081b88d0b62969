"""A cell with all that its runs need."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bestarm.common.paper import Cell, Paper
from bestarm.common.user_strategies import Fault, UserStrategy
from bestarm.core.inputs import InputError
from bestarm.runs.play import Columns, Replicate, nothing, play

#: Columns of every table of runs that name the cell; with the replication they identify a row.
LABELS = ("instance", "strategy", "setting", "reading", "algorithm")


class Task(NamedTuple):
    """A cell of a plan with all that its runs need.

    Args:
        cell: what is run.
        key: names its random streams, which strategies and readings share.
        instance: as the paper's own model.
        truth: of the instance, as in instances.json.
        facts: instance, setting and options, as columns beside the labels.
        paper: whose cell it is.
        user_strategy: the user's strategy, if the cell is not of one of the paper's.
    """

    cell: Cell
    key: int
    instance: Any
    truth: dict[str, Any]
    facts: dict[str, Any]
    paper: Paper
    user_strategy: UserStrategy | None = None

    def prepare(self) -> Replicate:
        """A function that plays a run of the cell on its streams.

        Raises:
            InputError: a user's strategy cannot be played on this paper's instances.
        """
        if self.user_strategy is None:
            return self.paper.simulation.prepare(self.instance, self.cell)
        setting = self.paper.simulation.setting(**self.cell.setting)
        try:
            return self.paper.user_strategies.prepare(self.instance, setting, self.user_strategy)
        except Fault as fault:
            raise InputError(f"{self.user_strategy.name}: {fault}") from fault.__cause__


def run(task: Task, replications: Sequence[int], tick: Callable[[], None] = nothing) -> Columns:
    """Simulate some replications of a task; see `play`.

    Raises:
        InputError: a user's strategy fails, naming it and the run.
    """
    replicate = task.prepare()
    if task.user_strategy is None:
        return play(replicate, task.key, replications, tick)
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        tick()

    try:
        return play(replicate, task.key, replications, count)
    except Fault as fault:
        where = f"{task.user_strategy.name}: run {replications[done]}"
        raise InputError(f"{where}: {fault}") from fault.__cause__


def fact_columns(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The columns that say what a row is of; the others, what came of it."""
    return (*LABELS, *sorted({name for task in tasks for name in task.facts}))
