"""Top-Two rules: a challenger to the leading answer, and which of their arms to pull."""

import numpy as np

from bestarm.core.compile import lean
from bestarm.core.pure_exploration.optimum import evaluate
from bestarm.core.pure_exploration.problem import displace, pieces, weigh
from bestarm.core.pure_exploration.steps import Rules, State, neglected

#: The fixed share of pulls for the leader, beta.
BETA = 0.5


@lean
def choose_top_two(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """Top-Two: the piece of least transport cost, one of its arms by the information-directed rule.

        i = argmin_i f_i(N),      P(a) = N_a (d f_i / d N_a) / f_i(N)

    The leader is the answer for the estimates and the challenger what is nearest to refuting it
    (EB-TC of Jourdan et al. 2022); a is drawn in proportion to what it tells (You, Qin, Wang & Yang
    2023; Qin & You 2023 for other problems than the best arm). The shares sum to 1 by homogeneity.
    For the best arm, sigma = 1, the leader's share is N_c / (N_b + N_c) with challenger c.
    """
    arm = behind(rules, state)
    if arm >= 0:
        return arm
    point, shares = state.point, state.target
    n = evaluate(
        rules.problem, state.work, state.leader[0], state.means, state.pulls,
        point.costs, point.gradients, state.shift,
    )  # fmt: skip
    nearest, choice = -1, -1
    for i in range(n):
        if nearest < 0 or point.costs[i] < point.costs[nearest]:
            nearest = i
    if nearest >= 0 and point.costs[nearest] > 0.0:
        for a in range(shares.size):
            shares[a] = state.pulls[a] * point.gradients[nearest, a]
        choice = draw(shares, point.costs[nearest], coins)
    return choice if choice >= 0 else least_pulled(rules, state)


@lean
def choose_half_top_two(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """Top-Two with the fixed share beta = 1/2 of the leader (Russo 2016; Jourdan et al. 2022).

    With probability beta an arm whose mean falls in the nearest instance with another answer, else
    one whose mean rises there; among these by the shares of `choose_top_two`. For the best arm that
    is the leader, or the challenger: shares tend to the best ones with beta for the leader, which
    take at most twice the pulls of w* (Russo 2016, Lemma 3). For other problems nothing is proved.
    """
    arm = behind(rules, state)
    if arm >= 0:
        return arm
    problem, leader, shift, shares = rules.problem, state.leader[0], state.shift, state.target
    weigh(problem, state.work, state.pulls)
    nearest, least = -1, np.inf
    for i in range(pieces(problem)):
        cost = displace(problem, state.work, i, leader, state.means, shift)
        if cost < least:
            nearest, least = i, cost
    choice = -1
    if nearest >= 0 and least > 0.0:
        displace(problem, state.work, nearest, leader, state.means, shift)
        falling = coins.random() < BETA
        chosen, total = 0.0, 0.0
        for a in range(shares.size):
            shares[a] = 0.5 * state.pulls[a] * shift[a] * shift[a] / problem.variances[a]
            total += shares[a]
            chosen += shares[a] if (shift[a] > 0.0) == falling else 0.0
        if chosen > 0.0:
            for a in range(shares.size):
                if (shift[a] > 0.0) != falling:
                    shares[a] = 0.0
            total = chosen
        choice = draw(shares, total, coins)
    return choice if choice >= 0 else least_pulled(rules, state)


@lean
def behind(rules: Rules, state: State) -> int:
    """An arm that must be pulled first, or -1: one without pulls would never be drawn."""
    arm, k = neglected(rules, state), state.pulls.size
    if arm >= 0:
        return arm
    for a in range(k):
        if state.pulls[a] ** 2 * k < state.clock[0]:
            return a
    return -1


@lean
def draw(shares: np.ndarray, total: float, coins: np.random.Generator) -> int:
    """An arm with probability shares / total, or -1 if all shares are 0."""
    choice, left = -1, coins.random() * total
    for a in range(shares.size):
        if shares[a] > 0.0:
            choice, left = a, left - shares[a]
        if left < 0.0:
            break
    return choice


@lean
def least_pulled(rules: Rules, state: State) -> int:
    """The explored arm with fewest pulls, for ties of answers."""
    explored, least = rules.problem.explored, 0
    for j in range(1, explored.size):
        if state.pulls[explored[j]] < state.pulls[explored[least]]:
            least = j
    return explored[least]
