"""What strategies on a `Problem` share: data, estimates, the stopping rule and simulated rewards.

They are steps on a state, as core/strategy.py has them.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.core.game import Game, make_game
from bestarm.core.pure_exploration.optimum import Point, make_point
from bestarm.core.pure_exploration.problem import (
    best_answer,
    discount,
    displace,
    estimate,
    make_work,
    mixing_cost,
    pieces,
    report,
)


class Rules(NamedTuple):
    """What a strategy is given."""

    problem: Any
    log_inverse: float  # ln(1/delta)


def make_rules(problem: Any, delta: float) -> Rules:
    """The rules of a strategy that errs with probability at most delta."""
    return Rules(problem, math.log(1.0 / delta))


class State(NamedTuple):
    """The data of a run, the allocation, and buffers; every array is changed in place."""

    clock: np.ndarray  # (1,) pulls so far
    leader: np.ndarray  # (1,) the right answer for the estimates
    answer: np.ndarray  # the same as reported
    pulls: np.ndarray  # (K,)
    sums: np.ndarray  # (K,) of rewards
    means: np.ndarray  # (K,) estimates
    failed: np.ndarray  # (1,) piece that was last found too near to stop
    target: np.ndarray  # (K,) the allocation of this round
    tracked: np.ndarray  # (K,) sum of the targets, or their average
    numbers: np.ndarray  # (2,) of the strategy
    shift: np.ndarray  # (K,) buffer
    work: Any
    point: Point  # buffers
    game: Game  # of Frank-Wolfe Sampling, else for no rows


@jit
def start_on(rules: Rules, game_rows: int) -> State:
    """A state; the first pulls, of `explored` arms, count as tracked.

    Args:
        rules: the rules of the run.
        game_rows: pieces that a game may have.
    """
    problem = rules.problem
    k = problem.variances.size
    tracked = np.zeros(k)
    for a in problem.explored:
        tracked[a] = 1.0
    return State(
        clock=np.zeros(1, np.int64),
        leader=np.full(1, -2),  # no answer
        answer=problem.blank.copy(),
        pulls=np.zeros(k),
        sums=np.zeros(k),
        means=np.zeros(k),
        failed=np.zeros(1, np.int64),
        target=np.zeros(k),
        tracked=tracked,
        numbers=np.zeros(2),
        shift=np.zeros(k),
        work=make_work(problem),
        point=make_point(pieces(problem), k),
        game=make_game(game_rows, k),
    )


@jit
def start(rules: Rules) -> State:
    """A state of a strategy without a game."""
    return start_on(rules, 0)


@lean
def observe(rules: Rules, state: State, arm: int, reward: float) -> None:
    """Record a reward."""
    state.clock[0] += 1
    state.pulls[arm] += 1.0
    state.sums[arm] += reward
    if state.clock[0] >= rules.problem.explored.size:
        estimate(rules.problem, state.work, state.pulls, state.sums, state.means)
        leader = best_answer(rules.problem, state.means)
        if leader != state.leader[0]:
            state.leader[0] = leader
            report(rules.problem, leader, state.answer)


@lean
def done(rules: Rules, state: State) -> bool:
    """Stop when every piece is refuted: f_i - price_i > ln(1/delta) at the discounted pulls.

    The piece that failed last is looked at first: it mostly fails again.
    """
    if state.clock[0] < rules.problem.explored.size:
        return False
    discount(rules.problem, state.work, state.pulls)
    if not refuted(rules, state, state.failed[0]):
        return False
    for i in range(pieces(rules.problem)):
        if not refuted(rules, state, i):
            state.failed[0] = i
            return False
    return True


@lean
def refuted(rules: Rules, state: State, i: int) -> bool:
    """Whether the e-value against piece i is enough, or there is no such piece."""
    leader = state.leader[0]
    cost = displace(rules.problem, state.work, i, leader, state.means, state.shift)
    if cost == np.inf:
        return True
    least = rules.log_inverse
    return (
        cost > least
        and cost - mixing_cost(rules.problem, state.work, i, leader, state.pulls) > least
    )


@lean
def neglected(rules: Rules, state: State) -> int:
    """An explored arm that must be pulled so that estimates converge, or -1.

    One with less than sqrt(t / n) pulls, n the number of explored arms. Garivier & Kaufmann (2016)
    have sqrt(t) - n/2, which takes sqrt(n) times as many pulls; any power of t would do.
    """
    explored, least = rules.problem.explored, 0
    if state.clock[0] < explored.size:
        return explored[state.clock[0]]
    for j in range(1, explored.size):
        if state.pulls[explored[j]] < state.pulls[explored[least]]:
            least = j
    arm = explored[least]
    return arm if state.pulls[arm] ** 2 * explored.size < state.clock[0] else -1


@lean
def track_target(state: State) -> int:
    """C-tracking: add the target; the arm that lags furthest behind the sum of targets."""
    choice, largest = 0, -np.inf
    for a in range(state.pulls.size):
        state.tracked[a] += state.target[a]
        lag = state.tracked[a] - state.pulls[a]
        if state.target[a] > 0.0 and lag > largest:
            choice, largest = a, lag
    return choice


class World(NamedTuple):
    """What is pulled in simulations."""

    means: np.ndarray  # (K,)
    deviations: np.ndarray  # (K,)


@inlined
def pull(world: World, state: State, arm: int, environment: np.random.Generator) -> float:
    """A Gaussian reward."""
    return world.means[arm] + world.deviations[arm] * environment.standard_normal()
