"""Make data/drift/errors.csv: errors of strategies when mean rewards change with time.

python -m bestarm.arena.drift --out data/drift/errors.csv
"""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from bestarm import registry
from bestarm.arena.assumptions import (
    BY_PULL,
    CASES,
    COLUMNS,
    SEED,
    Case,
    classes,
    disturbed,
    row,
)
from bestarm.baics.novelty import boost_after, with_novelty
from bestarm.baics.rounds import InRounds
from bestarm.baics.strategies import replication_of
from bestarm.common.paper import Cell
from bestarm.core.noise import Disturbed, shifts
from bestarm.core.strategy import NO_CAP, Steps, Strategy
from bestarm.core.streams import Streams
from bestarm.linear.phased import Phases, Plan
from bestarm.linear.strategies import prepare_phased
from bestarm.runs.kept import Job, KeptTable, command_line

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

    replicate = replication_of(Steps(steps, rules, world, cap))
    return row(case, instance, strategy, replicate, NOVELTY, runs, {})


class ChangingPhases:
    """Phases, and in place of a generator the noise of an arm's sum while means change.

    A phase pulls the arm that lacks most pulls (`Phased.choose`), so the order of its pulls, and
    how much means have changed by each, is known before; the rest of an arm's sum is one draw.
    """

    def __init__(self, phases: Phases, noise: Disturbed) -> None:
        self._phases, self._noise, self.start = phases, noise, phases.start
        self.survivors = phases.survivors

    def plan(self, phase: int, active: np.ndarray, reached: float, most: int) -> Plan:
        plan = self._phases.plan(phase, active, reached, most)
        self._counts = plan.counts.astype(int)
        return plan

    def standard_normal(self, n_arms: int) -> np.ndarray:
        """(n_arms,) the sums of the phase, less means, over the roots of their numbers of pulls."""
        arms = np.repeat(np.arange(n_arms), self._counts)
        left = np.concatenate([np.arange(n, 0, -1) for n in self._counts])
        arms = arms[np.lexsort((arms, -left))]
        changes = np.bincount(arms, shifts(self._noise, arms.size), n_arms)
        self._noise.drawn[0] += arms.size
        roots = np.sqrt(np.maximum(self._counts, 1))
        return self._noise.generator.standard_normal(n_arms) + changes / roots


def in_phases(case: Case, strategy: str, change: str, runs: int) -> dict[str, Any]:
    """A row: XY-Adaptive or RAGE, which pull in phases."""
    paper = registry.PAPERS[case.paper]
    instance = paper.problems.instances()[case.instance]
    reading = paper.simulation.readings[strategy].default
    assert paper.simulation.steps is not None
    steps = paper.simulation.steps(instance, Cell(case.instance, strategy, case.setting, reading))

    def replicate(streams: Streams) -> Any:
        noise: Any = streams.environment
        changing: Any = ChangingPhases(steps.rules.phases, noise)
        rules = steps.rules._replace(phases=changing)
        play: Any = prepare_phased(rules, steps.world, steps.cap)
        return play(SimpleNamespace(environment=changing))

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

    replicate = replication_of(Steps(steps, rules, world, cap or NO_CAP))
    return row(case, instance, ROUNDS, replicate, change, runs, CHANGES.get(change, {}))


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


TABLE = KeptTable(
    "bestarm.arena.drift",
    "wrong answers when means change with time "
    f"({RUNS:,} runs per strategy, {RUNS_IN_PYTHON} in rounds)",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("026", "027", "047", "049", "071", "098", "112"),  # a quick one of each paper and function
    COLUMNS,
)


if __name__ == "__main__":
    command_line("bestarm.arena.drift", __doc__ or "")
