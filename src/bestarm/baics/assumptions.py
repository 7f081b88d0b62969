"""How strategies of BAICS are played when assumptions do not hold, on rates, and on a new arm."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bestarm.baics.novelty import boost_after, with_novelty
from bestarm.baics.problem import PROBLEMS, Instance
from bestarm.baics.rates import told_sigma
from bestarm.baics.rounds import RoundRule
from bestarm.baics.strategies import SIMULATION, make_replication, prepare
from bestarm.common.assumptions import CHANGES, Assumptions, Case, Replicate, Row
from bestarm.common.paper import Cell
from bestarm.core.strategy import NO_CAP, Steps, Strategy

#: Rates, played by a rule that knows what they are, by one that is told their sub-Gaussian scale
#: only, both proved, and by one that is told the standard deviation of each, as if they were
#: Gaussian. The second is next to instances with another answer.
RATES: dict[str, dict[str, Any]] = {
    "rates": {"means": [[0.12, 0.10], [0.05, 0.20]], "minimum": [0.08, 0.05]},
    "rates at the minimum": {"means": [[0.02 - 1e-9, 0.06], [0.01, 0.01]], "minimum": 0.02},
}
CAPS = {"rates": 50_000, "rates at the minimum": 3000}
TOLD: dict[str, Callable[[np.ndarray], np.ndarray] | None] = {
    "0 or 1": None,
    "sigma 1/2": lambda means: np.full(means.shape, 0.5),
    "sigma of each rate": lambda means: np.sqrt(means * (1.0 - means)),
}
RUNS_ON_RATES = 1000
RUNS_ON_NOVELTY = 2000
#: Of rounds, which are played pull by pull in Python.
RUNS_IN_ROUNDS = 200
#: Means that change as novelty.py has it.
NOVELTY = "novelty"


def case_cell(case: Case, strategy: str, reading: str = "") -> Cell:
    """A strategy on a case, at its default reading if none is named."""
    readings = SIMULATION.readings[strategy]
    return Cell(case.instance, strategy, case.setting, reading or readings.default)


def on_rates(case: Case, strategy: str, told: str) -> tuple[Any, Replicate]:
    """Bernoulli rewards, by a strategy that is told so, or some sigma instead."""
    fields = {"name": case.instance, "weights": [1.0, 1.0]} | RATES[case.instance]
    instance, cell = Instance(**fields, rewards="bernoulli"), case_cell(case, strategy)
    sigma_from = TOLD[told]
    if sigma_from is None:
        return instance, prepare(instance, cell)
    sigma = sigma_from(np.array(instance.means))
    return instance, make_replication(told_sigma(instance, cell, sigma))


def on_novelty(case: Case, strategy: str) -> tuple[Any, Replicate]:
    """A strategy with an arm that is new."""
    assert SIMULATION.steps is not None
    instance = PROBLEMS.instances()[case.instance]
    steps, rules, world, cap = SIMULATION.steps(instance, case_cell(case, strategy))
    pull = with_novelty(steps.pull, *world.means.shape)
    steps = replace(steps, name=f"{steps.name} novelty", pull=pull, cache=False)
    return instance, make_replication(Steps(steps, rules, world, cap))


def in_rounds(case: Case, change: str) -> tuple[Any, Replicate]:
    """`Uniform` in rounds while means change."""
    assert SIMULATION.steps is not None
    instance: Any = PROBLEMS.instances()[case.instance]
    _, rules, world, cap = SIMULATION.steps(instance, case_cell(case, "Uniform", "proven"))
    n_arms, n_groups = world.means.shape
    rounds = RoundRule(np.array(instance.weights), instance.sigmas, bounded=False)

    def pull(world: Any, state: Any, pair: int, environment: Any) -> float:
        reward = world.means.flat[pair] + environment.standard_normal()
        if change == NOVELTY and pair // n_groups == n_arms - 1:
            reward += boost_after(float(state.clock[0]))
        return reward

    steps = Strategy("rounds", rounds.start, rounds.done, rounds.choose, rounds.observe, pull)
    return instance, make_replication(Steps(steps, rules, world, cap or NO_CAP))


def others() -> Iterator[Row]:
    """Rows on rates."""
    for name in RATES:
        case = Case("baics", name, {"cap": CAPS[name]})
        for told in TOLD:
            made = (on_rates, (case, "T-a-SCS", told))
            yield Row(case, "T-a-SCS", told, RUNS_ON_RATES, *made)


def changing(case: Case, strategy: str | None) -> Iterator[Row]:
    """Rows on novelty, and of rounds."""
    if strategy is not None:
        yield Row(case, strategy, NOVELTY, RUNS_ON_NOVELTY, on_novelty, (case, strategy), {})
        return
    for change in (*CHANGES, NOVELTY):
        made = (in_rounds, (case, change), CHANGES.get(change, {}))
        yield Row(case, "Uniform, in rounds", change, RUNS_IN_ROUNDS, *made)


ASSUMPTIONS = Assumptions(
    (Case("baics", "example1", {"cap": 20_000}), Case("baics", "two tied", {"cap": 1500})),
    others=others,
    changing=changing,
)
