"""The strategies, the readings of the paper, and how a cell becomes runs.

Beside the paper's strategies there are those of `certified/`.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from bestarm.common.paper import Cell, Readings, Simulation
from bestarm.core.inputs import Input, Probability, Pulls, Tolerance
from bestarm.core.status import Status
from bestarm.core.strategy import NO_CAP, Steps
from bestarm.core.streams import Streams, run_streams
from bestarm.core.units import power_of_two
from bestarm.lagex.certified import runs as certified
from bestarm.lagex.certified.state import INFEASIBLE, RUNNING
from bestarm.lagex.certified.steps import STEPS as CERTIFIED_STEPS
from bestarm.lagex.kernel_problem import Problem
from bestarm.lagex.paper.exploration import STEPS, run
from bestarm.lagex.paper.game import RATE
from bestarm.lagex.paper.state import (
    FAR_CUT,
    GAME,
    INEXACT,
    INSIDE,
    LOST_POLICY,
    NEAR_CUT,
    NO_POLICY,
    OPTIMISTIC,
    PENALISED,
    PROJECTED,
    SOLVED,
    TIME,
    UNIFORM,
    UNSOLVED,
    Rules,
)
from bestarm.lagex.problem import Constraint, Instance
from bestarm.lagex.vertices import alternatives, constraint_rows, nonempty, row_units
from bestarm.lagex.world import World


class Kind(NamedTuple):
    """The source and the region of a strategy's allocations, and what it knows (paper/state.py)."""

    source: int
    region: int
    known: bool = False  # whether the constraints are known


KINDS = {
    "LAGEX": Kind(GAME, PENALISED),
    "LATS": Kind(SOLVED, PENALISED),
    "CTnS": Kind(SOLVED, INSIDE, known=True),
    "CGE": Kind(GAME, INSIDE, known=True),
    "CTnS-WLag": Kind(SOLVED, INSIDE),
    "CGE-WLag": Kind(GAME, INSIDE),
    "PTnS": Kind(PROJECTED, INSIDE),
    "Uniform": Kind(UNIFORM, INSIDE),
}
STRATEGIES = dict.fromkeys(KINDS, STEPS)


class Reading(NamedTuple):
    """One reading of what the paper leaves open (docs/readings.md)."""

    ridge: bool = True  # whether estimates are those of Section 3.1, else averages
    sign: float = 1.0  # sign of r added to a gap: as derived, or -1 as in Theorem 4
    optimistic_policy: bool = False  # whether policies are from the optimistic set
    inside: bool = False  # whether LAGEX allocates inside the optimistic set
    full_matrix: bool = False  # whether LAGEX's AdaGrad is full-matrix
    released: bool = False  # whether the stopping rule is that of the released program
    rate: float = RATE  # AdaGrad's learning rate, of LAGEX


EVERY = {
    "as-written": Reading(),
    "averages": Reading(ridge=False),
    "printed-r": Reading(sign=-1.0),
    "optimistic-policy": Reading(optimistic_policy=True),
    "inside": Reading(inside=True),
    "full-adagrad": Reading(full_matrix=True),
    "released-stop": Reading(released=True),
    "averages+printed-r": Reading(ridge=False, sign=-1.0),
    "averages+released-stop": Reading(ridge=False, released=True),
    "printed-r+released-stop": Reading(sign=-1.0, released=True),
    "optimistic-policy+released-stop": Reading(optimistic_policy=True, released=True),
    "slow-adagrad": Reading(rate=0.1 * RATE),
    "fast-adagrad": Reading(rate=10.0 * RATE),
}


def strategy_readings(strategy: str) -> Readings[Reading]:
    """The readings that change a strategy's runs."""
    kind = KINDS[strategy]
    without = set()
    if kind.region != PENALISED:  # no optimistic set
        without.add("optimistic-policy")
    if kind.region != PENALISED or kind.source != GAME:  # the penalty of a solved problem is exact
        without |= {"inside", "full-adagrad", "slow-adagrad", "fast-adagrad"}
    if kind.known:  # no program of theirs was released with the paper
        without.add("released-stop")
    parts = {name: set(name.split("+")) for name in EVERY}
    return Readings({name: reading for name, reading in EVERY.items() if not parts[name] & without})


READINGS: dict[str, Readings[Any]] = {
    **{strategy: strategy_readings(strategy) for strategy in KINDS},
    **{strategy: Readings({"proven": None}) for strategy in certified.ADAPTIVE},
}


class Setting(Input):
    """The setting of a run, the same for every strategy."""

    delta: Probability = Field(0.1, description="maximum probability of a wrong answer, e.g. 0.05")
    r: Tolerance = Field(default=0.01, description="by how much the answer may fall short")
    cap: Pulls | None = Field(default=100_000, description="most pulls of a run")


class Outcome(NamedTuple):
    """One replication, a row of the shards."""

    tau: int  # pulls when the run ended
    status: int  # a `Status`
    answer: np.ndarray  # (K + d,) 1 for arms with weight in the policy, then for slack limits
    policy: np.ndarray  # (K,) what is recommended
    pulls: np.ndarray  # (K,)
    policy_violations: int  # rounds whose policy violates a true constraint
    allocation_violations: int  # rounds whose allocation does
    empty: int  # rounds in which no policy looked feasible, or (Certified) none can be
    lost: int  # rounds in which the best policy was not found though there is one
    unsolved: int  # rounds without an allocation, pulled uniformly
    inexact: int  # rounds whose allocation is less accurate than its tolerance
    near_cut: int  # rounds in which the vertices near the best policy, if listed, were too many
    far_cut: int  # rounds in which the run could not stop as all vertices were too many to list
    regret: float  # best feasible value minus the answer's true one; may be < 0 if infeasible
    excess: float  # largest true cost over its limit; negative if all have slack


#: Indices of State.counts for each kind of failure, by the names of `Outcome`.
FAILURES = {
    "lost": LOST_POLICY,
    "unsolved": UNSOLVED,
    "inexact": INEXACT,
    "near_cut": NEAR_CUT,
    "far_cut": FAR_CUT,
}


def make_rules(
    strategy: str,
    reading: Reading,
    setting: Setting,
    variances: np.ndarray,
    limits: np.ndarray,
    matrix: np.ndarray,
    cost_sigma: float = 1.0,
) -> Rules:
    """The rules of a strategy, in units of its own.

    That of rewards is a power of two near their standard deviation, that of a known row one near
    its largest entry. Costs that are learned are in units of `cost_sigma`, since the paper has
    costs of variance 1.

    Args:
        strategy, reading, setting: as named.
        variances: (K,) of rewards.
        limits: (d,) on costs.
        matrix: (d, K) mean costs, read only by strategies that know the constraints.
        cost_sigma: standard deviation of a cost, used only by the other strategies.
    """
    kind = KINDS[strategy]
    reward = power_of_two(math.sqrt(variances.max()))
    rows = (
        row_units(constraint_rows(matrix, limits))
        if kind.known
        else np.full(limits.size, cost_sigma)
    )
    # The program has no r; with the sign that the paper prints it has.
    r = 0.0 if reading.released and reading.sign > 0.0 else setting.r / reward
    return Rules(
        source=kind.source,
        region=OPTIMISTIC if reading.inside and kind.region == PENALISED else kind.region,
        known=kind.known,
        ridge=reading.ridge,
        optimistic_policy=reading.optimistic_policy and not kind.known,
        full_matrix=reading.full_matrix,
        rate=reading.rate,
        released=reading.released,
        extra=reading.released and kind.region == INSIDE and not kind.known,
        delta=setting.delta,
        r=r,
        added=reading.sign * r,
        variances=variances / reward**2,
        limits=limits / rows,
        matrix=matrix / rows[:, None],
        units=np.append(reward, rows),
    )


def make_world(problem: Problem, bernoulli: bool = False, units: np.ndarray | None = None) -> World:
    """The world of an instance, for simulations.

    Args:
        problem: the instance.
        bernoulli: whether rewards and costs are 0 or 1.
        units: of the `Rules`; without them observations are as a person would tell them.
    """
    return World(
        problem.means,
        np.sqrt(problem.variances),
        problem.matrix,
        problem.limits,
        problem.cost_sigma,
        units=np.ones(1 + problem.limits.size) if units is None else units,
        bernoulli=bernoulli,
    )


def steps(instance: Instance, cell: Cell) -> Steps:
    """A cell as steps. Every arm is pulled once, however small the cap."""
    problem, setting = instance.problem, Setting(**cell.setting)
    variances, limits, matrix = problem.variances, problem.limits, problem.matrix
    cap = max(setting.cap or NO_CAP, problem.means.size)
    if cell.strategy in certified.ADAPTIVE:
        options = certified.Options(**cell.options)
        parameters = (setting.delta, setting.r, options)
        rules = certified.make_rules(
            cell.strategy, *parameters, variances, problem.cost_sigma, limits
        )
        world = make_world(problem, instance.bernoulli, rules.units)
        return Steps(CERTIFIED_STEPS, rules, world, cap)
    reading = READINGS[cell.strategy][cell.reading]
    constants = variances, limits, matrix, problem.cost_sigma
    rules = make_rules(cell.strategy, reading, setting, *constants)
    world = make_world(problem, bernoulli=instance.bernoulli, units=rules.units)
    return Steps(STEPS, rules, world, cap)


def prepare(instance: Instance, cell: Cell) -> Callable[[Streams], Outcome]:
    """A function that runs one replication of a cell on its streams."""
    _, rules, world, cap = steps(instance, cell)
    problem = instance.problem
    best = nonempty(alternatives(problem.means, problem.matrix, problem.limits, 0.0)).value
    play = play_certified if cell.strategy in certified.ADAPTIVE else play_paper

    def replicate(streams: Streams) -> Outcome:
        fields = play(world, rules, cap, streams)
        policy = fields["policy"]
        return Outcome(
            **fields,
            regret=best - float(problem.means @ policy),
            excess=float((problem.matrix @ policy - problem.limits).max()),
        )

    return replicate


def play_paper(world: World, rules: Rules, cap: int, streams: Streams) -> dict[str, Any]:
    """A run of one of the paper's strategies, as fields of `Outcome`."""
    final = run(world, rules, cap, streams.environment)
    status = Status.STOPPED if final.stopped else Status.CAPPED
    counts = final.counts.tolist()
    return {
        "tau": counts[TIME],
        "status": int(Status.FAILED if final.lost else status),
        "answer": final.support,
        "policy": final.policy,
        "pulls": final.pulls.astype(np.int64),
        "policy_violations": int(final.broken[0]),
        "allocation_violations": int(final.broken[1]),
        "empty": counts[NO_POLICY],
        **{name: counts[place] for name, place in FAILURES.items()},
    }


def play_certified(world: World, rules: Any, cap: int, streams: Streams) -> dict[str, Any]:
    """A run of Certified, as fields of `Outcome`. Instances are feasible: "infeasible" is wrong."""
    final = certified.run(world, rules, cap, streams.environment)
    wrong = final.verdict == INFEASIBLE
    return {
        "tau": final.time,
        "status": int(Status.CAPPED if final.verdict == RUNNING else Status.STOPPED),
        "answer": 0 * final.support if wrong else final.support,
        "policy": np.full(final.policy.size, np.nan) if wrong else final.policy,
        "pulls": final.pulls.astype(np.int64),
        "policy_violations": int(final.broken[0]),
        "allocation_violations": int(final.broken[1]),
        "empty": final.unsafe,
        **dict.fromkeys(FAILURES, 0),
        "far_cut": final.unclosed,
    }


#: Small and quick to solve, for compiling and for tests.
EASY = Instance(
    name="easy",
    means=[1.2, 0.0, 0.4],
    constraints=[Constraint(coefficients=[1.0, 0.0, 0.0], at_most=0.3)],
    cost_sigma=0.1,
)


def warm_up() -> None:
    """Compile every kernel of this module for the types that runs use."""
    for strategy in READINGS:
        prepare(EASY, Cell(EASY.name, strategy, {}, READINGS[strategy].text))(run_streams(0, 0))
    prepare(EASY, Cell(EASY.name, "LATS", {"cap": 3}, "as-written"))(
        run_streams(0, 0)
    )  # a run that reaches its cap


SIMULATION = Simulation(
    READINGS,
    Setting,
    prepare,
    warm_up,
    EASY,
    options=dict.fromkeys(certified.ADAPTIVE, certified.Options),
    steps=steps,
    failures=tuple(FAILURES),
)
