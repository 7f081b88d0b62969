"""Two-stage, the naive strategy of Section 3.2: which arms are feasible, then the best of these."""

import numpy as np

from bestarm.baics.alternatives import NO_ARM, Problem, scaled
from bestarm.baics.steps import INITIAL_DRAWS, Rules, State, draw_group
from bestarm.core.compile import inlined, lean
from bestarm.core.gaussian_bai import bai_allocation
from bestarm.core.information import stylised_threshold

#: What has been decided about an arm.
FEASIBLE, INFEASIBLE = 1, -1


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
        weight = scaled(problem.scale, arm, l, problem.weights[l])
        value += weight * state.means[arm, l]
        variance += weight**2 / state.pulls[arm, l]
    return value, variance


@lean
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
