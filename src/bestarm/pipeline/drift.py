"""Make data/drift/errors.csv: errors of strategies when mean rewards change with time.

python -m bestarm.pipeline.drift --out data/drift/errors.csv
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestarm.baics.novelty import boost_after, with_novelty
from bestarm.baics.rounds import InRounds
from bestarm.baics.strategies import Outcome
from bestarm.common.generate import Job, command_line, finish, gather
from bestarm.common.paper import Cell
from bestarm.core.files import write_text
from bestarm.core.noise import shifts
from bestarm.core.status import Status
from bestarm.core.strategy import NO_CAP, Strategy
from bestarm.core.streams import Streams
from bestarm.linear.least_squares import make_fit, refit
from bestarm.linear.strategies import outcome
from bestarm.pipeline import registry
from bestarm.pipeline.assumptions import (
    BY_PULL,
    CASES,
    COLUMNS,
    SEED,
    Case,
    classes,
    disturbed,
    row,
)

RUNS = 2000
#: Of rounds, which are played pull by pull in Python.
RUNS_IN_PYTHON = 200
#: How means change, as `Disturbed` has it, in units of sigma and of pulls.
CHANGES: dict[str, dict[str, float]] = {
    "as assumed": {},
    "weekdays": {"week": 0.5, "period": 700.0},
    "trend": {"trend": 1.0, "period": 5000.0},
}
#: Of BAICS, see baics/novelty.py.
NOVELTY = "novelty"
ROUNDS = "Uniform, in rounds"
#: Most pulls where a strategy has no cap of its own: if means change it may never stop.
CAP = 100_000


def of_novelty(case: Case, strategy: str, runs: int) -> dict[str, Any]:
    """A row: runs of a strategy of BAICS with an arm that is new."""
    paper = registry.PAPERS[case.paper]
    instance = paper.problems.instances()[case.instance]
    cell = Cell(case.instance, strategy, case.setting, paper.simulation.readings[strategy].default)
    assert paper.simulation.steps is not None
    steps, rules, world, cap = paper.simulation.steps(instance, cell)
    pull = with_novelty(steps.pull, *world.means.shape)
    steps = replace(steps, name=f"{steps.name} novelty", pull=pull, cache=False)

    def replicate(streams: Streams) -> Outcome:
        state, stopped = steps.play(world, rules, cap, streams.environment, streams.coins)
        return outcome_of(state, stopped)

    return row(case, instance, strategy, replicate, NOVELTY, runs, {})


def in_phases(case: Case, strategy: str, change: str, runs: int) -> dict[str, Any]:
    """A row: XY-Adaptive or RAGE, which pull in phases.

    A phase pulls the arm that lacks most pulls (`Phased.choose`), so the order of its pulls, and
    how much means have changed by each, is known before; the noise of an arm's sum is one draw.
    """
    paper = registry.PAPERS[case.paper]
    instance: Any = paper.problems.instances()[case.instance]
    reading = paper.simulation.readings[strategy].default
    assert paper.simulation.steps is not None
    steps = paper.simulation.steps(instance, Cell(case.instance, strategy, case.setting, reading))
    phases, means, cap = steps.rules.phases, steps.world.means, steps.cap

    def replicate(streams: Streams) -> Any:
        noise: Any = streams.environment
        active, pulls = np.ones(means.size, np.bool_), np.zeros(means.size)
        fit, reached, phase, complete = make_fit(steps.rules.arms, 0.0), phases.start, 0, True
        while active.sum() > 1 and complete:
            phase += 1
            plan = phases.plan(phase, active, reached, cap - int(pulls.sum()))
            pulls, reached, complete = pulls + plan.counts, plan.reached, plan.complete
            if complete:
                counts = plan.counts.astype(int)
                arms = np.repeat(np.arange(means.size), counts)
                left = np.concatenate([np.arange(n, 0, -1) for n in counts])
                arms = arms[np.lexsort((arms, -left))]
                change_sums = np.bincount(arms, shifts(noise, arms.size), means.size)
                noise.drawn[0] += arms.size
                fit.counts[:] = plan.counts
                normals = noise.generator.standard_normal(means.size)
                fit.sums[:] = counts * means + change_sums + np.sqrt(counts) * normals
                refit(fit)
                active = phases.survivors(fit, phase, active, int(pulls.sum()))
        return outcome(fit, pulls, complete, active)

    return row(case, instance, strategy, replicate, change, runs, CHANGES[change])


def in_rounds(case: Case, change: str, runs: int) -> dict[str, Any]:
    """A row: `Uniform` in rounds."""
    paper = registry.PAPERS[case.paper]
    instance: Any = paper.problems.instances()[case.instance]
    cell = Cell(case.instance, "Uniform", case.setting, "proven")
    assert paper.simulation.steps is not None
    _, rules, world, cap = paper.simulation.steps(instance, cell)
    n_arms, n_groups = world.means.shape
    rounds = InRounds(np.array(instance.weights), instance.sigmas, bounded=False)

    def pull(world: Any, state: Any, pair: int, environment: Any) -> float:
        reward = world.means.flat[pair] + environment.standard_normal()
        if change == NOVELTY and pair // n_groups == n_arms - 1:
            reward += boost_after(float(state.clock[0]))
        return reward

    steps = Strategy("rounds", rounds.start, rounds.done, rounds.choose, rounds.observe, pull)

    def replicate(streams: Streams) -> Outcome:
        state = rounds.start(rules)
        stopped = steps.resume(
            world, rules, state, cap or NO_CAP, streams.environment, streams.coins
        )
        return outcome_of(state, stopped)

    return row(case, instance, ROUNDS, replicate, change, runs, CHANGES.get(change, {}))


def outcome_of(state: Any, stopped: bool) -> Outcome:
    """The outcome of a run of BAICS."""
    status = Status.STOPPED if stopped else Status.CAPPED
    answer, pulls = int(state.answer[0]) + 1, state.pulls.ravel().astype(np.int64)
    return Outcome(int(state.clock[0]), answer, int(status), pulls)


def jobs() -> list[Job]:
    """One for each row."""
    made: list[tuple[Callable[..., Any], tuple]] = []
    for case in CASES:
        if "cap" in case.setting:
            case = case._replace(setting=case.setting | {"cap": case.setting["cap"] or CAP})
        for strategy in classes(case.paper):
            if strategy in case.left_out:
                continue
            for name, change in CHANGES.items():
                if strategy in BY_PULL:
                    made.append((in_phases, (case, strategy, name, RUNS)))
                else:
                    made.append((disturbed, (case, strategy, name, RUNS, change)))
            if case.paper == "baics":
                made.append((of_novelty, (case, strategy, RUNS)))
        if case.paper == "baics":
            changes = (*CHANGES, NOVELTY)
            made += [(in_rounds, (case, change, RUNS_IN_PYTHON)) for change in changes]
    return [Job(f"{number:03}", *parts) for number, parts in enumerate(made)]


def make(out: Path, threads: int) -> None:
    """Simulate and write the table."""
    rows = pd.DataFrame(gather(jobs(), out, threads, "drift"), columns=COLUMNS)
    write_text(out, rows.to_csv(index=False, lineterminator="\n"))
    runs = f"{RUNS:,} runs per strategy, {RUNS_IN_PYTHON} in rounds"
    what = f"wrong answers when means change with time ({runs})"
    finish(out, "bestarm.pipeline.drift", what, {"runs": SEED}, ("numpy", "numba"))


if __name__ == "__main__":
    command_line("bestarm.pipeline.drift", __doc__ or "")
