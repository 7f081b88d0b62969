"""Make data/assumptions/errors.csv: errors of strategies when assumptions do not hold.

python -m bestarm.arena.assumptions --out data/assumptions/errors.csv
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np

from bestarm import registry
from bestarm.common.assumptions import NOISE, Assumptions, Case, Row
from bestarm.common.paper import Cell
from bestarm.common.user_strategies import UserRun, UserStrategy
from bestarm.core.noise import DisturbedGenerator
from bestarm.core.streams import Streams, stream_key
from bestarm.runs.kept import Job, KeptTable, command_line
from bestarm.runs.play import count, has_stopped, play
from bestarm.users import plugins

SEED, RUNS = 2024, 1000
#: Of ask/tell classes that are played because simulations draw sums of pulls.
RUNS_ASK_TELL = 100
COLUMNS = ["paper", "instance", "strategy", "noise", "delta", "runs", "stopped", "wrong", "median"]


@cache
def brought() -> dict[str, Assumptions]:
    """What each paper brings, of those that bring something."""
    return {
        paper: entry.module("assumptions").ASSUMPTIONS
        for paper, entry in registry.PAPERS.items()
        if find_spec(f"bestarm.{paper}.assumptions")
    }


def classes(paper: str) -> dict[str, Any]:
    """The paper's ask/tell classes by their names in tables."""
    module = import_module(f"bestarm.{paper}")
    kinds = [getattr(module, name) for name in module.__all__]
    return {str(plugins.name_of_ours(kind, paper)): kind for kind in kinds}


def strategies(case: Case) -> Iterator[str]:
    """The strategies that play a case."""
    return (name for name in classes(case.paper) if name not in case.left_out)


def row(
    case: Case,
    instance: Any,
    strategy: str,
    replicate: Callable[[Any], Any],
    noise: str,
    runs: int,
    disturbance: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Counts over runs on streams that depend on the case and the noise alone.

    Args:
        case, instance, strategy, runs: what is played, and how often.
        replicate: plays it on streams.
        noise: the name of what is not as assumed.
        disturbance: of `DisturbedGenerator`; that of the noise's name in NOISE if left out.
    """
    paper = registry.PAPERS[case.paper]
    setting = paper.simulation.setting(**case.setting).model_dump()
    key = stream_key(SEED, case.paper, "assumptions", case.instance, noise)
    disturbance = NOISE.get(noise) if disturbance is None else disturbance

    def disturbed(streams: Streams) -> Any:
        environment: Any = streams.environment
        if disturbance is not None:
            environment = DisturbedGenerator(environment, np.zeros(1), **disturbance)
        return replicate(SimpleNamespace(environment=environment, coins=streams.coins))

    runs_by_column = play(disturbed, key, range(runs))
    truth = paper.problems.truth(instance).model_dump()
    right = paper.user_output.correct(
        Cell(case.instance, strategy, setting, "default"), truth, runs_by_column
    )
    return {
        "paper": case.paper,
        "instance": case.instance,
        "strategy": strategy,
        "noise": noise,
        "delta": setting.get("delta"),
        **count(has_stopped(runs_by_column), right)._asdict(),
        "median": float(np.median(runs_by_column["tau"])),
    }


def disturbed(
    case: Case, strategy: str, noise: str, runs: int, disturbance: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A row: runs with noise that is not what the strategy is told; arguments as for `row`."""
    paper, assumptions = registry.PAPERS[case.paper], brought()[case.paper]
    instance, cell = instance_and_cell(case, strategy)
    if assumptions.answer is not None:
        replicate = by_step(case.paper, instance, cell)
    elif strategy in assumptions.ask_tell:
        user_strategy = UserStrategy(strategy, classes(case.paper)[strategy])
        replicate = paper.user_strategies.prepare(
            instance, paper.simulation.setting(**case.setting), user_strategy
        )
    else:
        replicate = paper.simulation.prepare(instance, cell)
    return row(case, instance, strategy, replicate, noise, runs, disturbance)


def instance_and_cell(case: Case, strategy: str) -> tuple[Any, Cell]:
    """The instance of a case, and a strategy on it at its default reading."""
    paper = registry.PAPERS[case.paper]
    reading = paper.simulation.readings[strategy].default
    cell = Cell(case.instance, strategy, case.setting, reading)
    return paper.problems.instances()[case.instance], cell


def by_step(paper: str, instance: Any, cell: Cell) -> Callable[[Any], Any]:
    """A function that plays the compiled steps of a cell pull by pull, with the paper's outcome."""
    simulation, user_strategies = (
        registry.PAPERS[paper].simulation,
        registry.PAPERS[paper].user_strategies,
    )
    answer = brought()[paper].answer
    assert simulation.steps is not None
    assert user_strategies.rounds is not None
    assert answer is not None
    steps, rules, world, cap = simulation.steps(instance, cell)
    outcome = user_strategies.rounds(instance, simulation.setting(**cell.setting)).outcome

    def replicate(streams: Streams) -> Any:
        state, stopped = steps.play(world, rules, cap, streams.environment, streams.coins)
        tau = int(state.pulls.sum())
        return outcome(UserRun(tau, stopped, answer(state), state.pulls, None))

    return replicate


def other(paper_row: Row, runs: int) -> dict[str, Any]:
    """A row that a paper makes itself."""
    instance, replicate = paper_row.make(*paper_row.arguments)
    return row(
        paper_row.case,
        instance,
        paper_row.strategy,
        replicate,
        paper_row.noise,
        runs,
        paper_row.disturbance,
    )


def jobs() -> list[Job]:
    """One for each row."""
    made: list[tuple[Callable[..., Any], tuple]] = []
    for assumptions in brought().values():
        for case in assumptions.cases:
            for strategy in strategies(case):
                runs = RUNS_ASK_TELL if strategy in assumptions.ask_tell else RUNS
                made += [(disturbed, (case, strategy, noise, runs)) for noise in NOISE]
    for assumptions in brought().values():
        made += [(other, (paper_row, paper_row.runs)) for paper_row in assumptions.others()]
    return [Job(f"{number:03}", *parts) for number, parts in enumerate(made)]


TABLE = KeptTable(
    "bestarm.arena.assumptions",
    f"wrong answers in {RUNS:,} runs per strategy when assumptions do not hold",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("015", "041", "071", "106", "125", "128", "130"),  # one per paper, and of rates
    COLUMNS,
    law=3,
)


if __name__ == "__main__":
    command_line("bestarm.arena.assumptions", __doc__ or "")
