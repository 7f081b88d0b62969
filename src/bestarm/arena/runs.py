"""Runs of a cell, and what the kept table says of them."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bestarm import registry
from bestarm.arena.cells import GENERIC, SUBMITTED, submitted_cells
from bestarm.arena.entries import Entry, arenas, entry_bound, entry_instance, entry_time
from bestarm.arena.submissions import load_submission
from bestarm.common.paper import Cell
from bestarm.core.estimates import mean, proportion
from bestarm.core.pure_exploration.problem import best_answer
from bestarm.core.pure_exploration.steps import World, make_rules
from bestarm.core.pure_exploration.strategies import STRATEGIES
from bestarm.core.status import Status
from bestarm.core.streams import Streams, run_streams, stream_key
from bestarm.runs.play import Columns, Replicate, count, has_stopped, play

SEED = 2026
#: Runs of a cell, of one in the table of errors, and of one with a budget.
RUNS, RUNS_ERRORS, RUNS_BUDGET = 500, 2000, 2000
#: A run is cut off after so many times the lower bound.
CAP = 500
COUNTS = ("runs", "stopped", "wrong", "error", "error_low", "error_high")
COLUMNS = [*Entry._fields, "delta", "characteristic_time", "bound", *COUNTS]
#: The column of a time, which no two runs share.
MEASURED = "microseconds"
COLUMNS += ["ratio", "ratio_low", "ratio_high", "ratio_90", "ratio_99", MEASURED]
ERROR_COLUMNS = [*Entry._fields, "delta", *COUNTS]
BUDGET_COLUMNS = [*Entry._fields, "budget", *COUNTS]


class Run(NamedTuple):
    """What a row needs of a run."""

    tau: int
    status: int
    answer: int


class Play(NamedTuple):
    """How a cell is played.

    Args:
        replicate: plays a run on its streams; gives an outcome with `tau` and `status`.
        right: columns of outcomes -> (n,) whether the answers are right.
    """

    replicate: Replicate
    right: Callable[[Columns], np.ndarray]


def play_generic(entry: Entry, delta: float, cap: int) -> Play:
    """A strategy of core/pure_exploration."""
    make = arenas()[entry.paper].problem
    assert make is not None
    problem, means = make(entry_instance(entry))
    world = World(np.ascontiguousarray(means, float), np.sqrt(problem.variances))
    rules, steps = make_rules(problem, delta), STRATEGIES[entry.strategy]

    def replicate(streams: Streams) -> Run:
        state, stopped = steps.play(world, rules, cap, streams.environment, streams.coins)
        stopped = bool(stopped or steps.done(rules, state))
        status = Status.STOPPED if stopped else Status.CAPPED
        return Run(int(state.clock[0]), int(status), int(state.leader[0]))

    best = best_answer(problem, world.means)
    return Play(replicate, lambda columns: columns["answer"] == best)


def make_play(entry: Entry, arguments: dict[str, float]) -> Play:
    """How a cell is played under a setting: delta and a cap, or a budget."""
    if entry.reading == GENERIC:
        return play_generic(entry, arguments["delta"], round(arguments["cap"]))
    paper, instance = registry.PAPERS[entry.paper], entry_instance(entry)
    extra_setting = arenas()[entry.paper].families[entry.family].setting
    setting = paper.simulation.setting(**extra_setting, **arguments)
    cell = Cell(entry.instance, entry.strategy, setting.model_dump(), entry.reading)
    truth = paper.problems.truth(instance).model_dump()
    if entry.reading == SUBMITTED:
        strategy = load_submission(submitted_cells()[entry])
        replicate = paper.user_strategies.prepare(instance, setting, strategy)
    else:
        replicate = paper.simulation.prepare(instance, cell)
    return Play(replicate, lambda columns: paper.user_output.correct(cell, truth, columns))


def simulate(entry: Entry, arguments: dict[str, float], runs: int) -> Columns:
    """`tau`, whether it `stopped`, whether it is `right`, and `seconds`, run by run.

    Rewards depend on family, instance and delta or budget alone: all strategies get the same.
    """
    how = make_play(entry, arguments)
    how.replicate(run_streams(SEED, 0))  # compiles
    name, level = next(iter(arguments.items()))
    key = stream_key(SEED, "arena", entry.family, entry.instance, f"{name}={level:g}")
    seconds = []

    def timed(streams: Streams) -> Any:
        start = time.process_time()
        outcome = how.replicate(streams)
        seconds.append(time.process_time() - start)
        return outcome

    columns = play(timed, key, range(runs))
    return {
        "tau": columns.get("tau", np.zeros(runs)),
        "stopped": has_stopped(columns),
        "right": how.right(columns),
        "seconds": np.array(seconds),
    }


def until_sure(entry: Entry, delta: float, runs: int) -> Columns:
    """Runs at a delta, cut off at the cap."""
    cap = round(CAP * entry_bound(entry, delta))
    return simulate(entry, {"delta": delta, "cap": cap}, runs)


def error_counts(columns: Columns) -> dict[str, Any]:
    """Errors, with Wilson's interval."""
    counts = count(columns["stopped"], columns["right"])
    errors = proportion("error", counts.wrong, counts.runs)
    return dict(zip(COUNTS, (*counts, errors.value, errors.low, errors.high), strict=True))


def time_ratios(columns: Columns, bound: float) -> dict[str, float | None]:
    """Stopping times over the bound, with a t interval, and quantiles.

    Runs that were cut off count as ended there; a quantile among them is not known.
    """
    ratios = mean("ratio", "", columns["tau"] / bound, least=0.0)
    times = np.where(columns["stopped"], columns["tau"] / bound, np.inf)
    high = {p: float(np.quantile(times, p / 100, method="higher")) for p in (90, 99)}
    return {
        "ratio": ratios.value,
        "ratio_low": ratios.low,
        "ratio_high": ratios.high,
        **{f"ratio_{p}": value if np.isfinite(value) else None for p, value in high.items()},
    }


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """A row with six digits of every number."""
    return {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in row.items()}


def measure(fields: list[str], delta: float, runs: int) -> dict[str, Any]:
    """The row of a cell at a delta."""
    entry = Entry(*fields)
    columns, bound = until_sure(entry, delta, runs), entry_bound(entry, delta)
    setting = {"delta": delta, "characteristic_time": entry_time(entry), "bound": bound}
    pulls = {MEASURED: 1e6 * float(columns["seconds"].sum() / columns["tau"].sum())}
    return rounded(
        entry._asdict() | setting | error_counts(columns) | time_ratios(columns, bound) | pulls
    )


def count_errors(fields: list[str], delta: float, runs: int) -> dict[str, Any]:
    """The row of a proven rule in the table of errors."""
    entry = Entry(*fields)
    columns = until_sure(entry, delta, runs)
    return rounded(entry._asdict() | {"delta": delta} | error_counts(columns))


def spend(fields: list[str], budget: int, runs: int) -> dict[str, Any]:
    """The row of a strategy with a budget."""
    entry = Entry(*fields)
    columns = simulate(entry, {"budget": budget}, runs)
    return rounded(entry._asdict() | {"budget": budget} | error_counts(columns))


def run_count(entry: Entry) -> int:
    """How often a cell is played."""
    submission = submitted_cells().get(entry)
    return submission.runs if submission else RUNS
