"""SFSR, SFSR-L, USLP and a patient SFSR, their schedules, and how a cell becomes runs."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from pydantic import Field

from bestarm.cbmai.problem import Instance, Problem
from bestarm.cbmai.steps import (
    BASIS,
    INTERSECTION,
    LAGRANGIAN,
    PATIENT,
    Outcome,
    Rules,
    World,
    choose,
    done,
    observe,
    pull,
    run,
    run_of_counts,
    start,
)
from bestarm.common.paper import Cell, Readings, Simulation
from bestarm.core.inputs import Input, InputError, Pulls
from bestarm.core.strategy import NO_CAP, Steps, Strategy
from bestarm.core.streams import Streams, run_streams

#: More than the relative error of n_k before it is rounded up.
ROUNDING = 1e-12
#: Normals of a run that are drawn at once, 1 GB.
MOST_NORMALS = 10**9 // 8


def rejection_schedule(problem: Problem, budget: int) -> np.ndarray:
    """n_1, ..., n_{K-1} of Eq. (7): pulls of each remaining unknown arm by the end of round k.

        n_k = ceil((N - K0) / (Psi (K + 1 - k))),   Psi = sum_{j=1}^{K0} 1 / max(2, j - L)

    The total never exceeds N (Proposition 1). Where rounding could change a ceiling, all are
    computed with fractions, whose sum takes long for many arms.
    """
    n_costs, n_arms = problem.costs.shape
    n_unknown = problem.n_unknown
    denominators = np.maximum(2, np.arange(1, n_unknown + 1) - n_costs).tolist()
    columns = np.arange(n_arms, 1, -1)  # K + 1 - k
    rounded = (budget - n_unknown) / math.fsum(1.0 / j for j in denominators) / columns
    if (np.abs(rounded - np.rint(rounded)) > ROUNDING * rounded).all():
        return np.ceil(rounded)
    share = (budget - n_unknown) / sum(Fraction(1, j) for j in denominators)
    return np.array([math.ceil(share / k) for k in columns.tolist()], dtype=float)


def uniform_schedule(problem: Problem, budget: int) -> np.ndarray:
    """floor(N / K0) pulls of every unknown arm, in one round."""
    return np.array([budget // problem.n_unknown], dtype=float)


STEPS = Strategy("cbmai", start, done, choose, observe, pull, lean=True)
#: The paper's, and one that is not.
OF_PAPER = ("SFSR", "SFSR-L", "USLP")
STRATEGIES: dict[str, Strategy] = dict.fromkeys((*OF_PAPER, "SFSR-patient"), STEPS)
#: How the strategies differ: their schedule, and how a round ends.
PLANS = {
    "SFSR": (rejection_schedule, INTERSECTION),
    "SFSR-L": (rejection_schedule, LAGRANGIAN),
    "USLP": (uniform_schedule, BASIS),
    "SFSR-patient": (rejection_schedule, PATIENT),
}


class Reading(NamedTuple):
    """How ties are broken, which Algorithm 1 leaves open."""

    keep_basis: bool  # whether columns of the optimal basis are never rejected


WRITTEN = {"as-written": Reading(False)}  # ties go to the lowest index
EVERY = Readings(WRITTEN | {"feasible-ties": Reading(True)}, default="feasible-ties")
#: USLP rejects nothing.
READINGS = dict.fromkeys(STRATEGIES, EVERY) | {"USLP": Readings(WRITTEN)}


class Setting(Input):
    """The setting of a run, the same for every strategy."""

    budget: Pulls = Field(10_000, description="N, most pulls of a run")


def check_budget(budget: int, n_unknown: int, source: str) -> None:
    """Raises InputError unless N > K0, which Eq. (7) needs to pull every unknown arm."""
    if budget <= n_unknown:
        raise InputError(
            f"{source}: budget: must be greater than {n_unknown}, the number of unknown arms, "
            f"got {budget}"
        )


def make_rules(strategy: str, problem: Problem, budget: int, keep_basis: bool) -> Rules:
    """The rules of a strategy; the reading says `keep_basis`."""
    make_schedule, score = PLANS[strategy]
    return Rules(problem, make_schedule(problem, budget), score, keep_basis)


def most_normals(problem: Problem, schedule: np.ndarray) -> int:
    """Upper bound on the normals of a run: one per reward or cost, unknown arm and round."""
    n_costs, n_arms = problem.costs.shape
    arms = (min(problem.n_unknown, n_arms + n_costs - k) for k in range(schedule.size))
    return (n_costs + 1) * sum(arms)


def steps(instance: Instance, cell: Cell) -> Steps:
    """A cell as steps; simulations draw the pulls of a round at once instead."""
    problem, noise = instance.problem, instance.noise
    budget = Setting(**cell.setting).budget
    check_budget(budget, problem.n_unknown, instance.name)
    world = World(problem, noise, np.zeros(problem.bounds.size + 2), instance.bernoulli)
    keep_basis = READINGS[cell.strategy][cell.reading].keep_basis
    rules = make_rules(cell.strategy, problem, budget, keep_basis)
    return Steps(STRATEGIES[cell.strategy], rules, world, NO_CAP)


def prepare(instance: Instance, cell: Cell) -> Callable[[Streams], Outcome]:
    """A function that runs one replication of a cell on its streams."""
    (problem, schedule, score, keep), noise = steps(instance, cell).rules, instance.noise
    n_normals = most_normals(problem, schedule)
    if n_normals > MOST_NORMALS:
        raise InputError(
            f"{instance.name}: {cell.strategy}: a run may draw {n_normals:,} rewards and costs, "
            f"must be at most {MOST_NORMALS:,}: it needs fewer arms"
        )
    normals = np.empty(n_normals)

    def replicate(streams: Streams) -> Outcome:
        streams.environment.standard_normal(out=normals)
        return run(problem, noise, schedule, score, keep, normals)

    def replicate_counts(streams: Streams) -> Outcome:
        return run_of_counts(problem, schedule, score, keep, streams.environment)

    return replicate_counts if instance.bernoulli else replicate


#: Small and quick to solve, for compiling and for tests.
EASY = Instance(
    name="easy", rewards=[0.0, 3.0, 1.0, 0.5], costs=[[0.0, 2.0, 1.9, 0.9]], bounds=[1.0]
)


def warm_up() -> None:
    """Compile every kernel of this paper for the types that runs use."""
    for strategy in STRATEGIES:
        prepare(EASY, Cell(EASY.name, strategy, {}, "as-written"))(run_streams(0, 0))


SIMULATION = Simulation(READINGS, Setting, prepare, warm_up, EASY, steps=steps)
