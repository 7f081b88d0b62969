"""SFSR, SFSR-L and USLP: a state, the steps on it, and the loop that runs a replication.

A round's pulls of an arm only ever enter through their sums, and the sum of T Gaussian rewards is
one Gaussian; so a run costs the same whatever the budget (docs/readings.md).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from pydantic import Field

from bestarm.cbmai.problem import Instance, Noise, Problem
from bestarm.common.paper import Cell, Readings, Simulation
from bestarm.core.bases import (
    Workspace,
    basic_solution,
    make_workspace,
    reduced_values,
    score_bases,
)
from bestarm.core.compile import inlined, jit
from bestarm.core.inputs import Input, InputError, Pulls
from bestarm.core.status import Status
from bestarm.core.streams import Streams, streams_of

RUNNING, FOUND, INFEASIBLE = 0, 1, 2
STOPPED, FAILED = int(Status.STOPPED), int(Status.FAILED)
#: What State.clock holds: rounds done; phase; the column rejected first, -1 for none; normals used;
#: rounds whose scores were not found.
ROUND, PHASE, FIRST_REJECTED, NORMALS, UNSCORED = range(5)


class State(NamedTuple):
    """What a run has seen; every array is changed in place."""

    pulls: np.ndarray  # (K,)
    rewards: np.ndarray  # (K,) empirical means; of known arms the true ones
    costs: np.ndarray  # (L, K) likewise
    remaining: np.ndarray  # (K + L,) bool
    goals: np.ndarray  # (rounds,) pulls of every remaining unknown arm by the end of each round
    clock: np.ndarray  # (5,) from ROUND to UNSCORED
    columns: np.ndarray  # (K + L,) scratch
    work: Workspace  # scratch


class Outcome(NamedTuple):
    """One replication, a row of the shards. Columns are counted from 1, slacks after the arms."""

    tau: int  # pulls
    status: int  # STOPPED by itself, or FAILED if some round's scores were not found
    answer: np.ndarray  # (L + 1,) columns of the support, ascending; zeros for "infeasible"
    weights: np.ndarray  # (L + 1,) of the mixture they stand for, Remark 2; nan if infeasible
    reward: float  # true mean reward of that mixture
    violation: float  # its largest true excess over a bound, or 0
    first_rejected: int  # column rejected in round 1; 0 for none
    pulls: np.ndarray  # (K,)


def rejection_schedule(problem: Problem, budget: int) -> np.ndarray:
    """n_1, ..., n_{K-1} of Eq. (7): pulls of each remaining unknown arm by the end of round k.

        n_k = ceil((N - K0) / (Psi (K + 1 - k))),   Psi = sum_{j=1}^{K0} 1 / max(2, j - L)

    The total never exceeds N (Proposition 1). Fractions, since a rounded Psi can lift the quotient
    over a whole number.
    """
    n_costs, n_arms = problem.costs.shape
    n_unknown = problem.n_unknown
    psi = sum(Fraction(1, max(2, j - n_costs)) for j in range(1, n_unknown + 1))
    share = (budget - n_unknown) / psi
    return np.array([math.ceil(share / (n_arms + 1 - k)) for k in range(1, n_arms)], dtype=float)


def uniform_schedule(problem: Problem, budget: int) -> np.ndarray:
    """floor(N / K0) pulls of every unknown arm, in one round."""
    return np.array([budget // problem.n_unknown], dtype=float)


@inlined
def start(problem: Problem, goals: np.ndarray) -> State:
    """A fresh state with the pulls wanted by the end of each round."""
    n_costs, n_arms = problem.costs.shape
    rewards, costs = problem.rewards.copy(), problem.costs.copy()
    rewards[: problem.n_unknown] = 0.0
    costs[:, : problem.n_unknown] = 0.0
    return State(
        pulls=np.zeros(n_arms),
        rewards=rewards,
        costs=costs,
        remaining=np.ones(n_arms + n_costs, np.bool_),
        goals=goals,
        clock=np.array([0, RUNNING, -1, 0, 0]),
        columns=np.zeros(n_arms + n_costs, np.int64),
        work=make_workspace(n_costs + 1, n_arms + n_costs),
    )


@inlined
def goal(state: State) -> int:
    """Pulls that every remaining unknown arm has by the end of the current round."""
    return int(state.goals[state.clock[ROUND]])


@inlined
def load_estimates(state: State, problem: Problem) -> int:
    """Write the empirical program of the remaining columns, Eqs. (3) to (5), into the workspace.

        max r . p   s.t.   c p + s = cbar,  1 . p = 1,  p, s >= 0

    Columns within the first bound come first, so that infeasible bases come in runs: processors
    then guess right which way the enumeration branches.

    Returns:
        The number m of remaining columns; `state.columns[:m]` names them.
    """
    n_costs, n_arms = problem.costs.shape
    rewards, costs, bounds = state.rewards, state.costs, problem.bounds
    columns, program, remaining = state.columns, state.work.tableaus[0], state.remaining
    m = 0
    for l in range(n_costs):
        if remaining[n_arms + l]:
            columns[m] = n_arms + l
            program[: n_costs + 2, m] = 0.0
            program[l, m] = 1.0
            m += 1
    for within in (True, False):
        for a in range(n_arms):
            if remaining[a] and (costs[0, a] <= bounds[0]) == within:
                columns[m] = a
                for l in range(n_costs):
                    program[l, m] = costs[l, a]
                program[n_costs, m] = 1.0
                program[n_costs + 1, m] = rewards[a]
                m += 1
    for l in range(n_costs):
        program[l, m] = bounds[l]
    program[n_costs, m] = 1.0
    program[n_costs + 1, m] = 0.0
    return m


@inlined
def reject_lowest(state: State, m: int) -> None:
    """End a round: reject the lowest score, of equals the lowest index; stop after the last."""
    scores, columns = state.work.scores, state.columns
    lowest = 0
    for i in range(1, m):
        tie = scores[i] == scores[lowest] and columns[i] < columns[lowest]
        if scores[i] < scores[lowest] or tie:
            lowest = i
    state.remaining[columns[lowest]] = False
    if state.clock[ROUND] == 0:
        state.clock[FIRST_REJECTED] = columns[lowest]
    state.clock[ROUND] += 1
    if state.clock[ROUND] == state.goals.size:
        state.clock[PHASE] = FOUND


@inlined
def end_round_sfsr(state: State, problem: Problem) -> None:
    """Reject by the intersection value: the best value of a feasible basis with it, Eq. (6)."""
    m = load_estimates(state, problem)
    if score_bases(state.work, m) == -np.inf:
        state.clock[PHASE] = INFEASIBLE
    else:
        reject_lowest(state, m)


@inlined
def end_round_sfsr_l(state: State, problem: Problem) -> None:
    """Reject by the Lagrangian score mu - A^T lambda, lambda dual optimal, Eq. (8)."""
    m = load_estimates(state, problem)
    if score_bases(state.work, m) == -np.inf:
        state.clock[PHASE] = INFEASIBLE
    else:
        state.clock[UNSCORED] += not reduced_values(state.work, m)
        reject_lowest(state, m)


@inlined
def end_round_uslp(state: State, problem: Problem) -> None:
    """Keep an optimal basis of the empirical program, and stop."""
    m = load_estimates(state, problem)
    if score_bases(state.work, m) == -np.inf:
        state.clock[PHASE] = INFEASIBLE
    else:
        state.remaining[:] = False
        for i in state.work.basis:
            state.remaining[state.columns[i]] = True
        state.clock[PHASE] = FOUND


@inlined
def observe(state: State, arm: int, pulls: float, reward: float, costs: np.ndarray) -> None:
    """Record the sums of the reward and of the costs, (L,), of some pulls of an arm."""
    state.pulls[arm] += pulls
    share = 1.0 / state.pulls[arm]
    state.rewards[arm] += share * (reward - pulls * state.rewards[arm])
    for l in range(costs.size):
        state.costs[l, arm] += share * (costs[l] - pulls * state.costs[l, arm])


@inlined
def pull_round(state: State, truth: Problem, noise: Noise, normals: np.ndarray) -> None:
    """Draw the sums of all pulls that the current round wants, arm by arm, reward before costs."""
    drawn = np.empty(truth.bounds.size)
    used = state.clock[NORMALS]
    end = goal(state)
    for arm in range(truth.n_unknown):
        n = end - state.pulls[arm]
        if n > 0.0 and state.remaining[arm]:
            spread = math.sqrt(n)
            reward = n * truth.rewards[arm] + spread * noise.reward * normals[used]
            used += 1
            for l in range(drawn.size):
                drawn[l] = n * truth.costs[l, arm] + spread * noise.cost * normals[used]
                used += 1
            observe(state, arm, n, reward, drawn)
    state.clock[NORMALS] = used


@inlined
def answer(state: State, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The support of a run that is over, and its weights x = A^-1 b (Remark 2), both (L + 1,).

    Columns are counted from 0 and ascend; -1 and nan where the answer is "infeasible", nan where
    the support does not determine a mixture.
    """
    n_rows = problem.bounds.size + 1
    support = np.full(n_rows, -1)
    weights = np.full(n_rows, np.nan)
    if state.clock[PHASE] == FOUND:
        load_estimates(state, problem)
        solution = np.empty(n_rows)
        if not basic_solution(state.work, solution):
            solution[:] = np.nan
        columns = state.columns[:n_rows]
        for i in range(n_rows):
            place = (columns < columns[i]).sum()
            support[place] = columns[i]
            weights[place] = solution[i]
    return support, weights


@inlined
def outcome(state: State, truth: Problem) -> Outcome:
    """A run that is over, and what its mixture is truly worth."""
    support, weights = answer(state, truth)
    reward, violation = 0.0, 0.0
    for l in range(-1, truth.bounds.size):
        total = 0.0
        for i in range(support.size):
            if support[i] < truth.rewards.size:  # also for -1, whose weight is nan
                value = truth.rewards[support[i]] if l < 0 else truth.costs[l, support[i]]
                total += weights[i] * value
        if l < 0:
            reward = total
        elif not total - truth.bounds[l] <= violation:
            violation = total - truth.bounds[l]
    return Outcome(
        int(state.pulls.sum()),
        FAILED if state.clock[UNSCORED] else STOPPED,
        support + 1,
        weights,
        reward,
        violation,
        state.clock[FIRST_REJECTED] + 1,
        state.pulls,
    )


@jit
def run_sfsr(truth: Problem, noise: Noise, goals: np.ndarray, normals: np.ndarray) -> Outcome:
    """One replication of SFSR, Algorithm 1.

    Args:
        truth, noise: what is pulled.
        goals: (rounds,) the strategy's schedule.
        normals: independent standard normals, as many as `most_normals` says.
    """
    state = start(truth, goals)
    while state.clock[PHASE] == RUNNING:
        pull_round(state, truth, noise, normals)
        end_round_sfsr(state, truth)
    return outcome(state, truth)


@jit
def run_sfsr_l(truth: Problem, noise: Noise, goals: np.ndarray, normals: np.ndarray) -> Outcome:
    """One replication of SFSR-L: Algorithm 1 with the Lagrangian score."""
    state = start(truth, goals)
    while state.clock[PHASE] == RUNNING:
        pull_round(state, truth, noise, normals)
        end_round_sfsr_l(state, truth)
    return outcome(state, truth)


@jit
def run_uslp(truth: Problem, noise: Noise, goals: np.ndarray, normals: np.ndarray) -> Outcome:
    """One replication of USLP: as many pulls of every unknown arm as fit, then the program."""
    state = start(truth, goals)
    while state.clock[PHASE] == RUNNING:
        pull_round(state, truth, noise, normals)
        end_round_uslp(state, truth)
    return outcome(state, truth)


class Strategy(NamedTuple):
    """The compiled loop of a strategy, and how it spreads a budget over rounds."""

    run: Callable[[Problem, Noise, np.ndarray, np.ndarray], Outcome]
    schedule: Callable[[Problem, int], np.ndarray]


STRATEGIES = {
    "SFSR": Strategy(run_sfsr, rejection_schedule),
    "SFSR-L": Strategy(run_sfsr_l, rejection_schedule),
    "USLP": Strategy(run_uslp, uniform_schedule),
}
#: Nothing that changes a run is left open.
READINGS = {strategy: Readings({"as-written": None}) for strategy in STRATEGIES}


class Setting(Input):
    """What a run is asked, the same for every strategy."""

    budget: Pulls = Field(10_000, description="N, most pulls of a run")


def check_budget(budget: int, n_unknown: int, source: str) -> None:
    """Raises InputError unless N > K0, which Eq. (7) needs to pull every unknown arm."""
    if budget <= n_unknown:
        raise InputError(
            f"{source}: budget: must be greater than {n_unknown}, the number of unknown arms, "
            f"got {budget}"
        )


def most_normals(problem: Problem, goals: np.ndarray) -> int:
    """How many standard normals a run may use: one a reward or cost, unknown arm and round."""
    n_costs, n_arms = problem.costs.shape
    arms = (min(problem.n_unknown, n_arms + n_costs - k) for k in range(goals.size))
    return (n_costs + 1) * sum(arms)


def prepare(instance: Instance, cell: Cell) -> Callable[[Streams], Outcome]:
    """A function that runs one replication of a cell on its streams."""
    run, schedule = STRATEGIES[cell.strategy]
    problem, noise = instance.problem, instance.noise
    budget = Setting(**cell.setting).budget
    check_budget(budget, problem.n_unknown, instance.name)
    goals = schedule(problem, budget)
    normals = np.empty(most_normals(problem, goals))

    def replicate(streams: Streams) -> Outcome:
        streams.environment.standard_normal(out=normals)
        return run(problem, noise, goals, normals)

    return replicate


#: Small and quick to solve, for compiling and for tests.
EASY = Instance(
    name="easy", rewards=[0.0, 3.0, 1.0, 0.5], costs=[[0.0, 2.0, 1.9, 0.9]], bounds=[1.0]
)


def warm_up() -> None:
    """Compile every kernel of this module for the types that runs use."""
    for strategy in STRATEGIES:
        prepare(EASY, Cell(EASY.name, strategy, {}, "as-written"))(streams_of(0, 0))


SIMULATION = Simulation(
    READINGS,
    Setting,
    prepare,
    warm_up,
    EASY,
    code={name: strategy.run for name, strategy in STRATEGIES.items()},
)
