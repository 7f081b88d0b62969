"""Frank-Wolfe Sampling (Wang, Tzeng & Proutiere 2021) on the alternatives of BAICS."""

import math

import numpy as np

from bestarm.baics.alternatives import alternative_cost, supergradient
from bestarm.baics.e_values import UNKNOWN
from bestarm.baics.steps import (
    INITIAL_DRAWS,
    Rules,
    State,
    has_bets,
    log_e_value,
    needed_e_value,
    standard_problem,
    standardise,
    start_on,
    unbounded,
)
from bestarm.core.compile import inlined, jit, lean
from bestarm.core.game import solve_game


@jit
def start_fws(rules: Rules) -> State:
    """A state of Frank-Wolfe Sampling."""
    n_groups, constrained = rules.problem.weights.size, rules.problem.constrained
    return start_on(rules, rules.n_arms * n_groups, constrained + rules.n_arms)


@lean
def near_alternatives(rules: Rules, state: State, radius: float) -> int:
    """The subdifferential game of F at the iterate x: a row for each alternative that is near.

    Near are those with f_j(x) < min_i f_i(x) + radius, f_j half the cost (over `State.needs`).
    With h_j the gradient, f_j being homogeneous, the payoff of coordinate i in row j is
    (e_i - x) . h_j = h_ji - f_j(x).

    Returns:
        The number of rows, written into `state.game`; 0 if an alternative is at distance 0.
    """
    problem, best, least = standard_problem(rules, state), state.answer[0], np.inf
    standardise(rules, state)
    for i in range(state.costs.size):
        cost = alternative_cost(i, state.iterate, state.standard, problem, best, state.shift)
        state.costs[i] = 0.5 * cost / state.needs[i]
        least = min(least, state.costs[i])
    rows = 0
    for i in range(state.costs.size):
        if least > 0.0 and state.costs[i] < least + radius:
            alternative_cost(i, state.iterate, state.standard, problem, best, state.shift)
            supergradient(i, state.standard, problem, best, state.shift, state.gradient)
            for c in range(state.gradient.size):
                h = 0.5 * state.gradient.flat[c] / state.needs[i]
                state.game.payoffs[rows, c] = h - state.costs[i]
            rows += 1
    return rows


@lean
def level(rules: Rules, state: State) -> None:
    """Set `needs` to the GLR statistic that stopping needs, over the least that is needed of any.

    E-values of a proved rule lag behind half the cost, more for some kinds of alternatives than
    for others. F with f_j / needs_j in place of f_j levels the e-values instead of the costs.
    """
    least, problem = needed_e_value(rules), standard_problem(rules, state)
    standardise(rules, state)
    for i in range(state.needs.size):
        cost = alternative_cost(
            i, state.pulls, state.standard, problem, state.answer[0], state.shift
        )
        if cost < np.inf:
            lag = max(0.5 * cost - log_e_value(rules, state, i), 0.0)
            state.needs[i] = 1.0 + lag / least


@lean
def pooled_variance(state: State) -> float:
    """Of rewards about their means, over all (arm, subpopulation) pairs."""
    return state.e_values.scatter.sum() / (state.pulls.sum() - state.pulls.size)


@lean
def best_response(state: State, rows: int) -> None:
    """target = argmax_z min_j (z - x) . h_j over the simplex; ties go to the lowest index."""
    if rows > 1:
        solve_game(state.game, rows, state.target)
    else:
        state.target[:] = 0.0
        state.target[state.game.payoffs[0].argmax()] = 1.0


@lean
def step_share(rules: Rules) -> float:
    """The share of a Frank-Wolfe step that is taken: half of it where rewards are bet on.

    Then x_i, and so the pulls that follow it, go on at half of their pace at least while all of z
    is on other coordinates. Bets need that: they come into the polar cone by pulls of every one.
    """
    return 0.5 if has_bets(rules) else 1.0


@lean
def is_forced(time: int, n_coordinates: int) -> bool:
    """Whether the whole part of time / n is a square: these rounds explore."""
    whole = time // n_coordinates
    root = int(math.sqrt(whole) + 0.5)
    return root * root == whole


@inlined
def choose_fws(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """FWS: a Frank-Wolfe step of the allocation x, then the coordinate furthest behind it.

        z = argmax_z min_h (z - x) . h   over gradients h of alternatives nearer than F(x) + r_t,
        x <- x + s (z - x) / t,          argmax x_i / N_i,

    with r_t = t^-0.9 / (K L) as in the authors' experiments, s = 1 but for rates (`step_share`),
    and z uniform in forced rounds and while the empirical answer is tied. With `Rules.levelled`,
    alternatives are weighted anew (`level`) every K L pulls. With sigma unknown r_t is in units of
    the pooled variance.
    """
    n = state.pulls.size
    if state.clock[0] < INITIAL_DRAWS * n:
        return state.clock[0] % n
    first = unbounded(rules, state)
    if first >= 0:
        return first
    if rules.levelled and state.clock[0] % n == 0:
        level(rules, state)
    rows = 0
    if not is_forced(state.clock[0], n):
        radius = state.clock[0] ** -0.9 / n
        if rules.stopping == UNKNOWN:
            radius *= pooled_variance(state)
        rows = near_alternatives(rules, state, radius)
    if rows > 0:
        best_response(state, rows)
    else:
        state.target[:] = 1.0 / n
    choice, largest = 0, -np.inf
    for i in range(n):
        x = state.iterate.flat[i]
        x += step_share(rules) * (state.target[i] - x) / state.clock[0]
        state.iterate.flat[i] = x
        behind = x / state.pulls.flat[i] if state.pulls.flat[i] > 0.0 else np.inf
        if behind > largest:
            choice, largest = i, behind
    return choice
