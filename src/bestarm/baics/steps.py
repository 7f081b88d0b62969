"""The steps of the strategies, as core/strategy.py has them: on a state, compiled."""

from typing import NamedTuple

import numpy as np

from bestarm.baics.alternatives import (
    NO_ARM,
    Problem,
    all_alternatives_beyond,
    alternative_cost,
    best_feasible_arm,
    optimal_allocation,
    supergradient,
)
from bestarm.core.compile import inlined, jit
from bestarm.core.gaussian_bai import bai_allocation
from bestarm.core.information import stylised_threshold
from bestarm.core.simplex import project_to_simplex
from bestarm.core.tracking import track

#: Draws of each (arm, subpopulation) before any strategy starts to choose (Section 5.1).
INITIAL_DRAWS = 5
#: What Two-stage has decided about an arm.
FEASIBLE, INFEASIBLE = 1, -1


class Rules(NamedTuple):
    """What a strategy is given: the problem, when to stop, and how T-a-SCS moves its allocation."""

    n_arms: int  # K
    problem: Problem
    delta: float  # maximum probability of a wrong answer
    glr_factor: float  # factor of F in the stopping statistic: 1/2 in Eq. (10)
    step: float  # alpha, the size of a projected supergradient step
    inner_steps: int  # such steps per pull; 0 tracks the exact maximiser
    tie_coins: bool  # whether ties between nearest alternatives are broken by coins, else by order


class State(NamedTuple):
    """The data and the allocation of a run; every array is changed in place."""

    clock: np.ndarray  # (1,) pulls so far
    answer: np.ndarray  # (1,) best feasible arm of the empirical means, or NO_ARM
    decided: np.ndarray  # (K,) by Two-stage: FEASIBLE, INFEASIBLE, or 0 while undecided
    pulls: np.ndarray  # (K, L)
    sums: np.ndarray  # (K, L) of rewards
    means: np.ndarray  # (K, L) empirical
    iterate: np.ndarray  # (K, L) T-a-SCS's supergradient iterate, on the simplex
    target: np.ndarray  # (n,) the allocation to track: over (arm, subpopulation), or arms
    tracked: np.ndarray  # (n,) sum of the floored targets so far
    floored: np.ndarray  # (n,) buffer of the tracking step
    gradient: np.ndarray  # (K, L) buffer
    shift: np.ndarray  # (2, L) buffer


@jit
def start_on(rules: Rules, n_targets: int) -> State:
    """An initial state; the initial draws count as tracked, so all lags start at 0.

    Args:
        rules: the rules of the run.
        n_targets: K L for a strategy that tracks (arm, subpopulation) pairs, K for arms.
    """
    n_arms, n_groups = rules.n_arms, rules.problem.weights.size
    pairs = (n_arms, n_groups)
    return State(
        clock=np.zeros(1, np.int64),
        answer=np.full(1, NO_ARM),
        decided=np.zeros(n_arms, np.int64),
        pulls=np.zeros(pairs),
        sums=np.zeros(pairs),
        means=np.zeros(pairs),
        iterate=np.full(pairs, 1.0 / (n_arms * n_groups)),
        target=np.zeros(n_targets),
        tracked=np.full(n_targets, INITIAL_DRAWS * n_arms * n_groups / n_targets),
        floored=np.zeros(n_targets),
        gradient=np.zeros(pairs),
        shift=np.zeros((2, n_groups)),
    )


@jit
def start(rules: Rules) -> State:
    """A state of a strategy that tracks arms, or nothing."""
    return start_on(rules, rules.n_arms)


@jit
def start_pairs(rules: Rules) -> State:
    """A state of a strategy that tracks (arm, subpopulation) pairs."""
    return start_on(rules, rules.n_arms * rules.problem.weights.size)


@inlined
def observe(rules: Rules, state: State, pair: int, reward: float) -> None:
    """Record a reward of the (arm, subpopulation) with flat index `pair`."""
    k, l = divmod(pair, rules.problem.weights.size)
    state.clock[0] += 1
    state.pulls[k, l] += 1.0
    state.sums[k, l] += reward
    state.means[k, l] = state.sums[k, l] / state.pulls[k, l]
    state.answer[0] = best_feasible_arm(state.means, rules.problem)


@inlined
def done(rules: Rules, state: State) -> bool:
    """The stopping rule of every strategy: Z(t) > beta(t, delta), after the initial draws.

    Z(t) = glr_factor F_mu^(N(t)), with glr_factor = 1/2 in Eq. (10).
    """
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size:
        return False
    level = stylised_threshold(state.clock[0], rules.delta) / rules.glr_factor
    return all_alternatives_beyond(
        level, state.pulls, state.means, rules.problem, state.answer[0], state.shift
    )


@inlined
def supergradient_step(rules: Rules, state: State, coins) -> None:
    """iterate <- P(iterate + alpha dF_mu^(iterate)), Section 4.1, P the projection on the simplex.

    For sparse iterates many alternatives have cost 0; which of them gives the supergradient is
    decided by fair coins, or by their order (`Rules.tie_coins`).
    """
    problem, best = rules.problem, state.answer[0]
    least = np.inf
    nearest = 0
    ties = 0
    for i in range(problem.constrained + state.pulls.shape[0]):
        cost = alternative_cost(i, state.iterate, state.means, problem, best, state.shift)
        if cost < least:
            least, nearest, ties = cost, i, 1
        elif cost == least and rules.tie_coins:
            ties += 1
            if coins.random() * ties < 1.0:
                nearest = i
    alternative_cost(nearest, state.iterate, state.means, problem, best, state.shift)
    supergradient(nearest, state.means, problem, best, state.shift, state.gradient)
    flat = state.iterate.reshape(-1)
    gradient = state.gradient.reshape(-1)
    for i in range(flat.size):
        flat[i] += rules.step * gradient[i]
    project_to_simplex(flat, 0.0, flat)


@inlined
def choose_ta_scs(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """T-a-SCS: track the allocation that maximises F for the empirical means, Eq. (9).

    If no arm looks feasible the maximiser is known in closed form and tracked instead, and the
    iterate stays as it is. The iterate is also kept when the empirical answer changes.
    """
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size:
        return state.clock[0] % state.pulls.size
    target = state.target.reshape(state.pulls.shape)
    if rules.inner_steps == 0 or state.answer[0] == NO_ARM:
        optimal_allocation(state.means, rules.problem, state.answer[0], target)
    else:
        for _ in range(rules.inner_steps):
            supergradient_step(rules, state, coins)
        for i in range(target.size):
            target.flat[i] = state.iterate.flat[i]
    return track(
        state.target, state.pulls.reshape(-1), state.clock[0], state.tracked, state.floored
    )


@jit
def draw_group(weights: np.ndarray, coins) -> int:
    """A subpopulation, drawn with probability q_l."""
    left = coins.random()
    for l in range(weights.size - 1):
        left -= weights[l]
        if left < 0.0:
            return l
    return weights.size - 1


@inlined
def choose_ta_s(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """T-a-S: track the arms' optimal allocation for plain identification of the best quality.

    Garivier & Kaufmann (2016) on the K empirical qualities; the subpopulation is drawn from q.
    """
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size:
        return state.clock[0] % state.pulls.size
    n_arms, n_groups = state.pulls.shape
    arms = state.gradient.reshape(-1)  # buffer: qualities, then pulls
    for k in range(n_arms):
        arms[k] = 0.0
        for l in range(n_groups):
            arms[k] += rules.problem.weights[l] * state.means[k, l]
    bai_allocation(arms[:n_arms], state.target)
    for k in range(n_arms):
        arms[k] = state.pulls[k].sum()
    arm = track(state.target, arms[:n_arms], state.clock[0], state.tracked, state.floored)
    return arm * n_groups + draw_group(rules.problem.weights, coins)


@inlined
def choose_uniform(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """Uniform: an arm with probability 1/K, and a subpopulation drawn from q."""
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size:
        return state.clock[0] % state.pulls.size
    n_arms, n_groups = state.pulls.shape
    arm = min(int(n_arms * coins.random()), n_arms - 1)
    return arm * n_groups + draw_group(rules.problem.weights, coins)


@inlined
def decide(rules: Rules, state: State) -> int:
    """Stage one of Two-stage: decide the feasibility of arms at level delta / 2.

    An arm is decided when the GLR statistic against the opposite hypothesis passes the threshold:
    half min_l N_l mu_l^2 over its constrained means if it looks feasible, half sum N_l mu_l^2 over
    the negative ones if not.

    Returns:
        The number of undecided arms.
    """
    level = stylised_threshold(state.clock[0], 0.5 * rules.delta) / rules.glr_factor
    left = 0
    for k in range(state.decided.size):
        if state.decided[k] == 0:
            least, below = np.inf, 0.0
            for l in range(rules.problem.constrained):
                cost = state.pulls[k, l] * state.means[k, l] ** 2
                least = min(least, cost)
                if state.means[k, l] < 0.0:
                    below += cost
            if below > level:
                state.decided[k] = INFEASIBLE
            elif below == 0.0 and least > level:
                state.decided[k] = FEASIBLE
            else:
                left += 1
    return left


@inlined
def quality(problem: Problem, state: State, arm: int) -> tuple[float, float]:
    """The empirical quality of an arm, and its variance."""
    value, variance = 0.0, 0.0
    for l in range(problem.weights.size):
        value += problem.weights[l] * state.means[arm, l]
        variance += problem.weights[l] ** 2 / state.pulls[arm, l]
    return value, variance


@jit
def two_stage_cost(problem: Problem, state: State) -> float:
    """min (m_b - m_k)^2 / (v_b + v_k) over the arms found feasible, of quality m and variance v.

    b is the best of them, and becomes the answer. With fewer than two such arms the cost is
    infinite.
    """
    best, highest, spread = NO_ARM, -np.inf, 0.0
    for k in range(state.decided.size):
        if state.decided[k] == FEASIBLE:
            value, variance = quality(problem, state, k)
            if value > highest:
                best, highest, spread = k, value, variance
    state.answer[0] = best
    least = np.inf
    for k in range(state.decided.size):
        if state.decided[k] == FEASIBLE and k != best:
            value, variance = quality(problem, state, k)
            least = min(least, (highest - value) ** 2 / (spread + variance))
    return least


@inlined
def done_two_stage(rules: Rules, state: State) -> bool:
    """Two-stage stops when all arms are decided and the best feasible one is too, at delta / 2."""
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size or decide(rules, state) > 0:
        return False
    level = stylised_threshold(state.clock[0], 0.5 * rules.delta) / rules.glr_factor
    return two_stage_cost(rules.problem, state) > level


@inlined
def choose_two_stage(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """Two-stage: the least pulled pair of the undecided arms, then plain identification.

    The second stage pulls, of the arms found feasible, the one furthest behind its share in
    Garivier & Kaufmann's allocation for their qualities; the subpopulation is drawn from q.
    Section 3.2 argues that such a strategy is inefficient.
    """
    if state.clock[0] < INITIAL_DRAWS * state.pulls.size:
        return state.clock[0] % state.pulls.size
    n_arms, n_groups = state.pulls.shape
    fewest, pair = np.inf, 0
    for k in range(n_arms):
        if state.decided[k] == 0:
            for l in range(n_groups):
                if state.pulls[k, l] < fewest:
                    fewest, pair = state.pulls[k, l], k * n_groups + l
    if fewest < np.inf:
        return pair
    qualities = state.gradient.reshape(-1)  # buffer: qualities of the feasible arms
    count = 0
    for k in range(n_arms):
        if state.decided[k] == FEASIBLE:
            qualities[count] = quality(rules.problem, state, k)[0]
            count += 1
    bai_allocation(qualities[:count], state.target[:count])
    arm, largest, place = 0, -np.inf, 0
    for k in range(n_arms):
        if state.decided[k] == FEASIBLE:
            lag = state.target[place] * state.clock[0] - state.pulls[k].sum()
            if lag > largest:
                arm, largest = k, lag
            place += 1
    return arm * n_groups + draw_group(rules.problem.weights, coins)


class World(NamedTuple):
    """What is pulled in simulations; rewards have unit variance."""

    means: np.ndarray  # (K, L)


@inlined
def pull(world: World, state: State, pair: int, environment: np.random.Generator) -> float:
    """A reward of the (arm, subpopulation) with flat index `pair`."""
    return world.means.flat[pair] + environment.standard_normal()
