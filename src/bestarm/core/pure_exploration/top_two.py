"""A Top-Two rule: a challenger to the leading answer, and which of its arms to pull."""

import numpy as np

from bestarm.core.compile import lean
from bestarm.core.pure_exploration.optimum import evaluate
from bestarm.core.pure_exploration.steps import Rules, State, neglected


@lean
def choose_top_two(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """Top-Two: the piece of least transport cost, one of its arms by the information-directed rule.

        i = argmin_i f_i(N),      P(a) = N_a (d f_i / d N_a) / f_i(N)

    The leader is the answer for the estimates and the challenger what is nearest to refuting it
    (EB-TC of Jourdan et al. 2022); a is drawn in proportion to what it tells (You, Qin, Wang & Yang
    2023; Qin & You 2023 for other problems than the best arm). The shares sum to 1 by homogeneity.
    For the best arm, sigma = 1, the leader's share is N_c / (N_b + N_c) with challenger c.
    """
    arm, k = neglected(rules, state), state.pulls.size
    if arm >= 0:
        return arm
    for a in range(k):  # one without pulls would never be drawn
        if state.pulls[a] ** 2 * k < state.clock[0]:
            return a
    point = state.point
    n = evaluate(
        rules.problem, state.work, state.leader[0], state.means, state.pulls,
        point.costs, point.gradients, state.shift,
    )  # fmt: skip
    nearest, last = -1, -1
    for i in range(n):
        if nearest < 0 or point.costs[i] < point.costs[nearest]:
            nearest = i
    if nearest >= 0 and point.costs[nearest] > 0.0:
        left = coins.random() * point.costs[nearest]
        for a in range(state.pulls.size):
            share = state.pulls[a] * point.gradients[nearest, a]
            if share > 0.0:
                last, left = a, left - share
            if left < 0.0:
                break
    if last >= 0:
        return last
    explored, last = rules.problem.explored, 0  # a tie: whatever was pulled least
    for j in range(1, explored.size):
        if state.pulls[explored[j]] < state.pulls[explored[last]]:
            last = j
    return explored[last]
