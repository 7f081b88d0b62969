"""The steps of SFSR, SFSR-L and USLP on a state, and runs that draw a round's pulls as one sum.

A round's pulls of an arm enter only through their sums, and the sum of T Gaussian rewards is
Gaussian, that of T Bernoulli ones binomial. So the cost of a simulated run does not depend on the
budget (docs/readings.md).
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.cbmai.problem import Noise, Problem, cost_size
from bestarm.core.bases import (
    TOLERANCE,
    Workspace,
    basic_solution,
    make_workspace,
    reduced_values,
    score_bases,
)
from bestarm.core.compile import inlined, jit, lean
from bestarm.core.status import Status
from bestarm.core.units import power_of_two

RUNNING, FOUND, INFEASIBLE = 0, 1, 2
STOPPED, FAILED = int(Status.STOPPED), int(Status.FAILED)
#: How a round ends: by rejecting the lowest intersection value or Lagrangian score, or with an
#: optimal basis; PATIENT is INTERSECTION but goes on from infeasible rounds before the last.
INTERSECTION, LAGRANGIAN, BASIS, PATIENT = range(4)
#: Indices of State.counters: completed rounds; phase; the column rejected first, or -1; normals
#: used; rounds whose scores were not found.
ROUND, PHASE, FIRST_REJECTED, NORMALS, UNSCORED = range(5)


class Rules(NamedTuple):
    """What a strategy is given."""

    problem: Problem  # bounds, and the means of known arms; others are not read
    schedule: np.ndarray  # (rounds,) pulls of every remaining unknown arm by the end of each round
    score: int  # how a round ends
    keep_basis: bool  # whether columns of the optimal basis are never rejected


class State(NamedTuple):
    """The data of a run; every array is changed in place."""

    pulls: np.ndarray  # (K,) so far
    rewards: np.ndarray  # (K,) empirical means; true ones for known arms
    costs: np.ndarray  # (L, K) likewise
    remaining: np.ndarray  # (K + L,) whether a column is not rejected
    counters: np.ndarray  # (5,) from ROUND to UNSCORED
    columns: np.ndarray  # (K + L,) buffer: the columns of the loaded linear program
    sizes: np.ndarray  # (L + 2,) buffer: of the rows of the loaded linear program
    work: Workspace  # the loaded linear program


class Outcome(NamedTuple):
    """One replication, a row of the shards. Columns are counted from 1, slacks after the arms."""

    tau: int  # pulls
    status: int  # STOPPED, or FAILED if some round's scores were not found
    answer: np.ndarray  # (L + 1,) columns of the support, ascending; zeros for "infeasible"
    weights: np.ndarray  # (L + 1,) of the mixture, Remark 2; nan if infeasible
    reward: float  # true mean reward of that mixture
    violation: float  # its largest true excess over a bound, or 0
    first_rejected: int  # column rejected in round 1; 0 for none
    pulls: np.ndarray  # (K,)


@inlined
def start(rules: Rules) -> State:
    """An initial state."""
    problem = rules.problem
    n_costs, n_arms = problem.costs.shape
    rewards, costs = problem.rewards.copy(), problem.costs.copy()
    rewards[: problem.n_unknown] = 0.0
    costs[:, : problem.n_unknown] = 0.0
    return State(
        pulls=np.zeros(n_arms),
        rewards=rewards,
        costs=costs,
        remaining=np.ones(n_arms + n_costs, np.bool_),
        counters=np.array([0, RUNNING, -1, 0, 0]),
        columns=np.zeros(n_arms + n_costs, np.int64),
        sizes=np.ones(n_costs + 2),
        work=make_workspace(n_costs + 1, n_arms + n_costs + 1),
    )


@inlined
def done(rules: Rules, state: State) -> bool:
    """Whether the last round is over, or the run ended with an infeasible linear program."""
    return state.counters[PHASE] != RUNNING


@inlined
def pulls_needed(rules: Rules, state: State, arm: int) -> float:
    """Pulls that an unknown arm still needs in this round; 0 if it is rejected or the run over."""
    if state.counters[PHASE] != RUNNING or not state.remaining[arm]:
        return 0.0
    return max(rules.schedule[state.counters[ROUND]] - state.pulls[arm], 0.0)


@inlined
def choose(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """The arm that needs most pulls in this round."""
    most, arm = 0.0, 0
    for a in range(rules.problem.n_unknown):
        needed = pulls_needed(rules, state, a)
        if needed > most:
            most, arm = needed, a
    return arm


@inlined
def observe(rules: Rules, state: State, arm: int, observed: np.ndarray) -> None:
    """Record some pulls of an arm, and end rounds as long as no arm needs further pulls.

    Args:
        rules, state: of the run.
        arm: index of an unknown arm.
        observed: (L + 2,) the sums of rewards and of costs, and the number of pulls.
    """
    last = observed.size - 1
    record(state, arm, observed[last], observed[0], observed[1:last])
    while state.counters[PHASE] == RUNNING:
        short = False
        for a in range(rules.problem.n_unknown):
            short |= pulls_needed(rules, state, a) > 0.0
        if short:
            break
        end_round(rules, state)


@inlined
def record(state: State, arm: int, pulls: float, reward: float, costs: np.ndarray) -> None:
    """Record the sums of the reward and of the costs, (L,), of some pulls of an arm."""
    state.pulls[arm] += pulls
    share = 1.0 / state.pulls[arm]
    state.rewards[arm] += share * (reward - pulls * state.rewards[arm])
    for l in range(costs.size):
        state.costs[l, arm] += share * (costs[l] - pulls * state.costs[l, arm])


@inlined
def load_estimates(state: State, problem: Problem) -> int:
    """Write the empirical problem of the remaining columns, Eqs. (3) to (5), into the workspace.

        max r . p   s.t.   c p + s = cbar,  1 . p = 1,  p, s >= 0

    Every row is divided by a power of two near its size, for costs `cost_size`, mostly the bound,
    for rewards the largest; slacks are counted in that size. So it does not matter in which units
    costs and rewards are.

    Columns within the first bound come first, so that infeasible bases are consecutive, which helps
    the processor's branch prediction in the enumeration.

    Returns:
        The number m of remaining columns; `state.columns[:m]` names them.
    """
    n_costs, n_arms = problem.costs.shape
    rewards, costs, bounds = state.rewards, state.costs, problem.bounds
    columns, tableau, remaining = state.columns, state.work.tableaus[0], state.remaining
    sizes = state.sizes
    sizes[:] = 0.0
    for a in range(n_arms):
        if remaining[a]:
            for l in range(n_costs):
                sizes[l] = max(sizes[l], abs(costs[l, a]))
            sizes[n_costs + 1] = max(sizes[n_costs + 1], abs(rewards[a]))
    m = 0
    for l in range(n_costs):
        sizes[l] = cost_size(bounds[l], sizes[l])
        if remaining[n_arms + l]:
            columns[m] = n_arms + l
            tableau[: n_costs + 2, m] = 0.0
            tableau[l, m] = sizes[l]
            m += 1
    for within in (True, False):
        for a in range(n_arms):
            if remaining[a] and (costs[0, a] <= bounds[0]) == within:
                columns[m] = a
                for l in range(n_costs):
                    tableau[l, m] = costs[l, a]
                tableau[n_costs, m] = 1.0
                tableau[n_costs + 1, m] = rewards[a]
                m += 1
    for l in range(n_costs):
        tableau[l, m] = bounds[l]
    tableau[n_costs, m] = 1.0
    tableau[n_costs + 1, m] = 0.0
    for r in range(n_costs + 2):
        unit = power_of_two(sizes[r])
        for c in range(m + 1):
            tableau[r, c] /= unit
    return m


@inlined
def reject_lowest(rules: Rules, state: State, m: int, keep_basis: bool) -> None:
    """End a round: reject the lowest score (ties: the lowest index); stop after the last round.

    The columns of `work.basis` all have the largest score, so only ties make `keep_basis` matter.
    """
    scores, columns, basis = state.work.scores, state.columns, state.work.basis
    lowest = -1
    for i in range(m):
        kept = False
        if keep_basis:
            for j in basis:
                kept |= i == j
        if not kept and (lowest < 0 or (scores[i], columns[i]) < (scores[lowest], columns[lowest])):
            lowest = i
    state.remaining[columns[lowest]] = False
    if state.counters[ROUND] == 0:
        state.counters[FIRST_REJECTED] = columns[lowest]
    state.counters[ROUND] += 1
    if state.counters[ROUND] == rules.schedule.size:
        state.counters[PHASE] = FOUND


@inlined
def score_by_relaxation(state: State, problem: Problem, m: int) -> None:
    """Score every arm of an infeasible linear program by how much larger bounds must be to use it.

        scores[a] = -min { t : c p + s = cbar + t size, 1 . p = 1, p, s, t >= 0, a in the basis }

    All bounds grow by the same share t of their `cost_size`; t is one more column. Slacks get
    infinity: such a linear program tells nothing of them.

    Args:
        state: holds the linear program of m columns, which is overwritten.
        problem: its bounds.
        m: number of columns.
    """
    n_costs, n_arms = problem.costs.shape
    tableau, scores, sizes = state.work.tableaus[0], state.work.scores, state.sizes
    for r in range(n_costs + 1):
        tableau[r, m + 1] = tableau[r, m]
        tableau[r, m] = -sizes[r] / power_of_two(sizes[r]) if r < n_costs else 0.0
    tableau[n_costs + 1, : m + 2] = 0.0
    tableau[n_costs + 1, m] = -1.0
    score_bases(state.work, m + 1)
    for i in range(m):
        if state.columns[i] >= n_arms:
            scores[i] = np.inf


@inlined
def end_round(rules: Rules, state: State) -> None:
    """Reject a column by its score, or keep an optimal basis of the linear program and stop.

    The intersection value is the best value of a feasible basis with the column, Eq. (6); the
    Lagrangian score is mu - A^T lambda with lambda dual optimal, Eq. (8).
    """
    m = load_estimates(state, rules.problem)
    if score_bases(state.work, m) == -np.inf:
        if rules.score == PATIENT and state.counters[ROUND] < rules.schedule.size - 1:
            score_by_relaxation(state, rules.problem, m)
            reject_lowest(rules, state, m, False)
        else:
            state.counters[PHASE] = INFEASIBLE
    elif rules.score == BASIS:
        state.remaining[:] = False
        for i in state.work.basis:
            state.remaining[state.columns[i]] = True
        state.counters[PHASE] = FOUND
    else:
        if rules.score == LAGRANGIAN:
            state.counters[UNSCORED] += not reduced_values(state.work, m)
        reject_lowest(rules, state, m, rules.keep_basis)


class World(NamedTuple):
    """What is pulled in simulations."""

    truth: Problem
    noise: Noise
    observed: np.ndarray  # (L + 2,) buffer
    bernoulli: bool = False  # whether rewards and costs are 0 or 1, else Gaussian


@inlined
def pull(world: World, state: State, arm: int, environment: np.random.Generator) -> np.ndarray:
    """The reward and the costs of one pull, then 1, the number of pulls."""
    truth, noise, observed, bernoulli = world
    if bernoulli:
        draw_counts(truth, arm, 1.0, observed, environment)
    else:
        observed[0] = truth.rewards[arm] + noise.reward * environment.standard_normal()
        for l in range(truth.bounds.size):
            observed[1 + l] = truth.costs[l, arm] + noise.cost * environment.standard_normal()
    observed[observed.size - 1] = 1.0
    return observed


@inlined
def draw_counts(truth: Problem, arm: int, pulls: float, counts, environment) -> None:
    """Draw how many of some pulls of an arm have reward 1, and cost 1, into `counts`."""
    counts[0] = environment.binomial(np.int64(pulls), truth.rewards[arm])
    for l in range(truth.bounds.size):
        counts[1 + l] = environment.binomial(np.int64(pulls), truth.costs[l, arm])


@inlined
def pull_round(world: World, rules: Rules, state: State, normals: np.ndarray) -> None:
    """Draw the sums of all pulls of the current round, arm by arm, reward before costs."""
    truth, noise, observed, _ = world
    drawn = observed[1 : 1 + truth.bounds.size]
    used = state.counters[NORMALS]
    for arm in range(truth.n_unknown):
        n = pulls_needed(rules, state, arm)
        if n > 0.0:
            spread = math.sqrt(n)
            reward = n * truth.rewards[arm] + spread * noise.reward * normals[used]
            used += 1
            for l in range(drawn.size):
                drawn[l] = n * truth.costs[l, arm] + spread * noise.cost * normals[used]
                used += 1
            record(state, arm, n, reward, drawn)
    state.counters[NORMALS] = used


@inlined
def pull_round_of_counts(world: World, rules: Rules, state: State, environment) -> None:
    """The same of rewards and costs that are 0 or 1."""
    truth, _, counts, _ = world
    for arm in range(truth.n_unknown):
        n = pulls_needed(rules, state, arm)
        if n > 0.0:
            draw_counts(truth, arm, n, counts, environment)
            record(state, arm, n, counts[0], counts[1 : 1 + truth.bounds.size])


@inlined
def answer(state: State, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The support of a run that is over, and its weights x = A^-1 b (Remark 2), both (L + 1,).

    Columns are counted from 0 and ascend; -1 and nan where the answer is "infeasible", nan where
    the support does not determine a mixture. A negative weight means that the estimates of the
    support's arms break a limit, which only ties that reject a column of the optimal basis cause.
    """
    n_rows = problem.bounds.size + 1
    support = np.full(n_rows, -1)
    weights = np.full(n_rows, np.nan)
    if state.counters[PHASE] == FOUND:
        load_estimates(state, problem)
        solution = np.empty(n_rows)
        if not basic_solution(state.work, solution):
            solution[:] = np.nan
        columns, n_arms = state.columns[:n_rows], problem.rewards.size
        for i in range(n_rows):
            if -TOLERANCE <= solution[i] < 0.0:  # rounding
                solution[i] = 0.0
            if columns[i] >= n_arms:
                solution[i] *= state.sizes[columns[i] - n_arms]
            place = (columns < columns[i]).sum()
            support[place] = columns[i]
            weights[place] = solution[i]
    return support, weights


@inlined
def outcome(state: State, truth: Problem) -> Outcome:
    """The outcome of a run that is over, with the true reward and violation of its mixture."""
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
        FAILED if state.counters[UNSCORED] else STOPPED,
        support + 1,
        weights,
        reward,
        violation,
        state.counters[FIRST_REJECTED] + 1,
        state.pulls,
    )


@lean
def play_rounds(world: World, rules: Rules, state: State, normals: np.ndarray) -> None:
    """All rounds of a run; lean, since reference counting would take most of the time."""
    while not done(rules, state):
        pull_round(world, rules, state, normals)
        end_round(rules, state)


@jit
def run(
    truth: Problem,
    noise: Noise,
    schedule: np.ndarray,
    score: int,
    keep_basis: bool,
    normals: np.ndarray,
) -> Outcome:
    """One replication. Takes the fields of `Rules` one by one: passing a nested tuple is slow.

    Args:
        truth: the true means; the strategy does not read those of unknown arms.
        noise: standard deviations of a pull.
        schedule, score, keep_basis: see `Rules`.
        normals: independent standard normals, as many as `most_normals` says.
    """
    rules = Rules(truth, schedule, score, keep_basis)
    state = start(rules)
    observed = np.empty(truth.bounds.size + 2)
    play_rounds(World(truth, noise, observed, False), rules, state, normals)
    return outcome(state, truth)


@jit
def run_of_counts(
    truth: Problem,
    schedule: np.ndarray,
    score: int,
    keep_basis: bool,
    environment: np.random.Generator,
) -> Outcome:
    """One replication with rewards and costs that are 0 or 1; arguments as for `run`."""
    rules = Rules(truth, schedule, score, keep_basis)
    state = start(rules)
    world = World(truth, Noise(0.5, 0.5), np.empty(truth.bounds.size + 2), True)
    while not done(rules, state):
        pull_round_of_counts(world, rules, state, environment)
        end_round(rules, state)
    return outcome(state, truth)
