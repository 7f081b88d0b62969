"""The steps of the strategies, as core/strategy.py has them: on a state, compiled."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.bai.families import divergence, draw, mixing_cost, shrunk, transport, upper
from bestarm.bai.optimum import find_allocation
from bestarm.core.compile import inlined, jit, lean
from bestarm.core.information import stylised_threshold
from bestarm.core.tracking import track

#: Relative size of the last Newton step to an allocation that is tracked; what is left is about
#: its square, a pull in 10,000.
ACCURACY = 1e-2
NONE = -1


class Rules(NamedTuple):
    """What a strategy is given, and how it reads the paper."""

    family: int  # of FAMILIES
    n_arms: int  # K
    delta: float  # maximum probability of a wrong answer
    proved: bool  # the threshold by mixtures; else beta(t, delta) = ln((1 + ln t) / delta)
    cumulative: bool  # C-tracking; else D-tracking
    coin_ties: bool  # one of several leaders, drawn, is pulled; else they share w*
    by_round: bool  # of a race: t in beta counts rounds; else pulls
    intervals: bool  # of a race: KL intervals decide; else the GLR statistic


class State(NamedTuple):
    """The data of a run, the allocation, and buffers; every array is changed in place."""

    clock: np.ndarray  # (1,) pulls so far
    answer: np.ndarray  # (1,) remaining arm of the largest empirical mean
    pulls: np.ndarray  # (K,)
    sums: np.ndarray  # (K,) of rewards
    means: np.ndarray  # (K,) empirical, 0 without pulls
    remaining: np.ndarray  # (K,) 1 for arms that no race has eliminated, else 0
    rounds: np.ndarray  # (1,) of a race: pulls of every remaining arm when it last compared them
    pending: np.ndarray  # (1,) of KL-LUCB: the second arm of a round, or NONE
    failed: np.ndarray  # (1,) of Track-and-Stop: arm that was last too near to stop
    compared: np.ndarray  # (2,) of KL-LUCB: pulls when `done` last looked, and the challenger then
    ends: np.ndarray  # (K,) of KL-LUCB: upper ends when last computed
    target: np.ndarray  # (K,) w* of the empirical means
    tracked: np.ndarray  # (K,) of C-tracking: sum of the floored targets
    floored: np.ndarray  # (K,) buffer
    work: np.ndarray  # (3, K) see `find_allocation`
    numbers: np.ndarray  # (2,) likewise


class World(NamedTuple):
    """What is pulled in simulations."""

    family: int
    means: np.ndarray  # (K,) of Gaussian rewards in units of sigma


@inlined
def pull(world: World, state: State, arm: int, environment: np.random.Generator) -> float:
    """A reward."""
    return draw(world.family, world.means[arm], environment)


@jit
def start(rules: Rules) -> State:
    """A state without pulls."""
    k = rules.n_arms
    return State(
        clock=np.zeros(1, np.int64),
        answer=np.zeros(1, np.int64),
        pulls=np.zeros(k),
        sums=np.zeros(k),
        means=np.zeros(k),
        remaining=np.ones(k, np.int64),
        rounds=np.zeros(1, np.int64),
        pending=np.full(1, NONE),
        failed=np.zeros(1, np.int64),
        compared=np.full(2, NONE),
        ends=np.zeros(k),
        target=np.zeros(k),
        tracked=np.ones(k),  # the first pull of each arm
        floored=np.zeros(k),
        work=np.zeros((3, k)),
        numbers=np.full(2, -1.0),
    )


@lean
def observe(rules: Rules, state: State, arm: int, reward: float) -> None:
    """Record a reward."""
    state.clock[0] += 1
    state.pulls[arm] += 1.0
    state.sums[arm] += reward
    state.means[arm] = state.sums[arm] / state.pulls[arm]
    leader = NONE
    for a in range(state.pulls.size):
        if not state.remaining[a] or state.pulls[a] == 0.0:
            continue
        if leader < 0 or state.means[a] > state.means[leader]:
            leader = a
    state.answer[0] = max(leader, 0)


@inlined
def fewest(state: State) -> int:
    """The remaining arm with fewest pulls; ties go to the lowest index."""
    least = NONE
    for a in range(state.pulls.size):
        if state.remaining[a] and (least < 0 or state.pulls[a] < state.pulls[least]):
            least = a
    return least


# E-values.


@inlined
def arm_cost(rules: Rules, state: State, arm: int) -> float:
    """What mixing costs on an arm under the proved threshold; 0 under the other."""
    return mixing_cost(rules.family, state.pulls[arm], state.sums[arm]) if rules.proved else 0.0


@inlined
def counted(rules: Rules, state: State, arm: int) -> float:
    """The pulls of an arm that count in its e-value."""
    return shrunk(rules.family, state.pulls[arm]) if rules.proved else state.pulls[arm]


@inlined
def pair_statistic(rules: Rules, state: State, best: int, other: int) -> float:
    """Z_{b,a}, the GLR statistic of mu_b <= mu_a; with the proved threshold of counted pulls."""
    return transport(
        rules.family,
        counted(rules, state, best), state.means[best],
        counted(rules, state, other), state.means[other],
    )  # fmt: skip


@inlined
def pair_level(rules: Rules, state: State) -> float:
    """What `pair_statistic` has to exceed, beside the mixing costs of both arms.

    beta(t, delta) as in Section 6; or ln((K - 1) / delta): a wrong answer is one of K - 1 pairs
    with the best arm (docs/guarantees.md).
    """
    if rules.proved:
        return math.log((rules.n_arms - 1) / rules.delta)
    time = state.rounds[0] if rules.by_round else state.clock[0]
    return stylised_threshold(time, rules.delta)


@inlined
def refuted(rules: Rules, state: State, best: int, other: int) -> bool:
    """Whether the e-value for mu_b > mu_a is enough."""
    if not state.means[best] > state.means[other]:
        return False
    level, statistic = pair_level(rules, state), pair_statistic(rules, state, best, other)
    if not (rules.proved and statistic > level):
        return statistic > level
    return statistic > level + arm_cost(rules, state, best) + arm_cost(rules, state, other)


@inlined
def interval_level(rules: Rules, state: State, arm: int) -> float:
    """The level of an arm's interval {q: N d(mean, q) <= level}, N the counted pulls.

    beta(t, delta); or ln(K / delta) and the arm's mixing cost.
    """
    if rules.proved:
        return math.log(rules.n_arms / rules.delta) + arm_cost(rules, state, arm)
    return pair_level(rules, state)


@lean
def upper_end(rules: Rules, state: State, arm: int) -> float:
    """The upper end of an arm's interval; searched for from where it was last."""
    level = interval_level(rules, state, arm) / counted(rules, state, arm)
    state.ends[arm] = upper(rules.family, state.means[arm], level, state.ends[arm])
    return state.ends[arm]


@inlined
def reaches(rules: Rules, state: State, arm: int, value: float) -> bool:
    """Whether a value is in an arm's interval."""
    reach = counted(rules, state, arm) * divergence(rules.family, state.means[arm], value)
    return reach <= interval_level(rules, state, arm)


@inlined
def lies_above(rules: Rules, state: State, arm: int, value: float) -> bool:
    """Whether an arm's whole interval lies above a value."""
    return state.means[arm] > value and not reaches(rules, state, arm, value)


@lean
def disjoint(rules: Rules, state: State, best: int, worst: int) -> bool:
    """Whether the whole interval of one arm lies above that of another.

    Not if both hold the middle of the means, which spares most searches for an end.
    """
    middle = 0.5 * (state.means[best] + state.means[worst])
    if reaches(rules, state, best, middle) and reaches(rules, state, worst, middle):
        return False
    return lies_above(rules, state, best, upper_end(rules, state, worst))


# Track-and-Stop.


@lean
def done_track_and_stop(rules: Rules, state: State) -> bool:
    """Chernoff's stopping rule, Eq. (8): the leader is better than every other arm.

    The arm that was too near last is looked at first: it mostly is again.
    """
    if state.pulls[fewest(state)] == 0.0:
        return False
    best, failed = state.answer[0], state.failed[0]
    if failed != best and not refuted(rules, state, best, failed):
        return False
    for a in range(state.pulls.size):
        if a != best and not refuted(rules, state, best, a):
            state.failed[0] = a
            return False
    return True


@lean
def choose_track_and_stop(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """Tracking of w*(mu^), which is computed before every pull.

    D-tracking: an arm with fewer than sqrt(t) - K/2 pulls, else argmax_a t w_a - N_a.
    C-tracking: argmax_a of the sum of all floored w_a so far - N_a, see `track`.
    """
    least, time, k = fewest(state), state.clock[0], state.pulls.size
    if state.pulls[least] == 0.0:
        return least
    best = state.answer[0]
    if rules.coin_ties:
        ties = 0
        for a in range(k):
            ties += state.means[a] == state.means[best]
        if ties > 1:
            left = int(coins.random() * ties)
            for a in range(k):
                if state.means[a] == state.means[best]:
                    if left == 0:
                        return a
                    left -= 1
    target = state.target
    if not rules.cumulative and state.pulls[least] < math.sqrt(time) - 0.5 * k:
        return least
    find_allocation(
        rules.family, state.means, best, ACCURACY, state.work, state.numbers, target
    )  # fmt: skip
    if rules.cumulative:
        return track(target, state.pulls, time, state.tracked, state.floored)
    choice, largest = 0, -np.inf
    for a in range(k):
        lag = time * target[a] - state.pulls[a]
        if lag > largest:
            choice, largest = a, lag
    return choice


# KL-LUCB.


@lean
def challenger(rules: Rules, state: State) -> tuple[int, float]:
    """The arm other than the leader with the highest upper end, and that end.

    Ends are only computed of arms whose interval holds the highest one so far.
    """
    best, high = NONE, -np.inf
    for a in range(state.pulls.size):
        if a == state.answer[0]:
            continue
        if best < 0 or state.means[a] >= high or reaches(rules, state, a, high):
            end = upper_end(rules, state, a)
            if end > high:
                best, high = a, end
    return best, high


@lean
def done_kl_lucb(rules: Rules, state: State) -> bool:
    """Between rounds: the leader's interval lies above the highest upper end of the others."""
    if state.pending[0] >= 0 or state.pulls[fewest(state)] == 0.0:
        return False
    state.compared[0] = state.clock[0]
    state.compared[1], high = challenger(rules, state)
    return lies_above(rules, state, state.answer[0], high)


@lean
def choose_kl_lucb(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """KL-LUCB (Kaufmann & Kalyanakrishnan 2013): in each round the leader, then its challenger."""
    least, second = fewest(state), state.pending[0]
    if state.pulls[least] == 0.0:
        return least
    if second >= 0:
        state.pending[0] = NONE
        return second
    if state.compared[0] != state.clock[0]:  # with trials that are outstanding
        state.compared[1], _ = challenger(rules, state)
    state.pending[0] = state.compared[1]
    return state.answer[0]


# Races.


@lean
def observe_race(rules: Rules, state: State, arm: int, reward: float) -> None:
    """Record a reward; at the end of a round of all remaining arms eliminate the worst, if it is.

    With equal pulls r the GLR statistic is r d(mu_b, m) + r d(mu_w, m), m the middle of both means.
    """
    observe(rules, state, arm, reward)
    complete = int(state.pulls[fewest(state)])
    if complete <= state.rounds[0]:
        return
    state.rounds[0] = complete
    best, worst = state.answer[0], NONE
    for a in range(state.pulls.size):
        if state.remaining[a] and (worst < 0 or state.means[a] < state.means[worst]):
            worst = a
    if worst == best:
        return
    if rules.intervals:
        out = disjoint(rules, state, best, worst)
    else:
        out = refuted(rules, state, best, worst)
    if out:
        state.remaining[worst] = 0


@lean
def done_race(rules: Rules, state: State) -> bool:
    """Whether a single arm remains."""
    left = 0
    for a in range(state.remaining.size):
        left += state.remaining[a]
    return left == 1


@lean
def choose_race(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """The remaining arms in turn."""
    return fewest(state)
