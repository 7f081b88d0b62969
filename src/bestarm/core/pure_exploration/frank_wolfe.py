"""Frank-Wolfe Sampling (Wang, Tzeng & Proutiere 2021)."""

import math

import numpy as np

from bestarm.core.compile import jit, lean
from bestarm.core.game import solve_game
from bestarm.core.pure_exploration.optimum import evaluate, smallest
from bestarm.core.pure_exploration.problem import pieces
from bestarm.core.pure_exploration.steps import Rules, State, start_on


@jit
def start_fws(rules: Rules) -> State:
    """A state of Frank-Wolfe Sampling."""
    return start_on(rules, pieces(rules.problem))


@lean
def best_response(state: State, n: int, radius: float) -> None:
    """target = argmax_z min_j (z - x) . h_j over gradients h_j of the pieces that are near.

    Near are those with f_j(x) < min_i f_i(x) + radius; x . h_j = f_j(x), by homogeneity.

    Args:
        state: costs and gradients of the first n pieces at x are in its `point`.
        n: number of pieces; with 0, or one at distance 0, the target is uniform.
        radius: r.
    """
    point, payoffs, k = state.point, state.game.payoffs, state.target.size
    least, rows, last = smallest(point.costs, n), 0, 0
    for i in range(n):
        if least > 0.0 and point.costs[i] < least + radius:
            for a in range(k):
                payoffs[rows, a] = point.gradients[i, a] - point.costs[i]
            rows, last = rows + 1, i
    if rows > 1:
        solve_game(state.game, rows, state.target)
        return
    largest = 0
    for a in range(k):
        state.target[a] = 1.0 / k if rows == 0 else 0.0
        if point.gradients[last, a] > point.gradients[last, largest]:
            largest = a
    if rows == 1:
        state.target[largest] = 1.0


@lean
def choose_fws(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """FWS: a Frank-Wolfe step of the allocation x, then the arm furthest behind it (Algorithm 1).

        z = argmax_z min_h (z - x) . h   over gradients h of pieces nearer than F(x) + r_t,
        x <- x + (z - x) / t,            argmax x_a / N_a,

    with r_t = t^-0.9 / K as in the authors' experiments, and z uniform over the explored arms in
    forced rounds, those in which the whole part of t / K is a square.
    """
    explored, time, x, k = rules.problem.explored, state.clock[0], state.tracked, state.target.size
    if time < explored.size:
        return explored[time]
    if time == explored.size:
        for a in range(k):
            x[a] /= time
    whole = time // k
    if int(math.sqrt(whole) + 0.5) ** 2 == whole:
        for a in range(k):
            state.target[a] = 0.0
        for a in explored:
            state.target[a] = 1.0 / explored.size
    else:
        point = state.point
        n = evaluate(
            rules.problem, state.work, state.leader[0], state.means, x,
            point.costs, point.gradients, state.shift,
        )  # fmt: skip
        best_response(state, n, time**-0.9 / k)
    choice, largest = 0, -1.0
    for a in range(k):
        x[a] += (state.target[a] - x[a]) / time
        behind = x[a] / state.pulls[a] if state.pulls[a] > 0.0 else np.inf
        if x[a] > 0.0 and behind > largest:
            choice, largest = a, behind
    return choice
