"""The pure-exploration game as a strategy: a learner of gains against the nearest instance."""

import math

import numpy as np

from bestarm.core.compile import lean
from bestarm.core.pure_exploration.optimum import set_all
from bestarm.core.pure_exploration.problem import displace, pieces, spread, weigh
from bestarm.core.pure_exploration.steps import Rules, State, neglected, track_target

#: Places in `State.numbers`: the mixability gap of AdaHedge, and the answer of its gains.
GAP, ANSWER = range(2)


@lean
def hedge(gains: np.ndarray, gap: float, out: np.ndarray) -> None:
    """AdaHedge's distribution: proportional to exp(eta gains), eta = ln K / gap.

    Uniform on the largest gains while the gap is 0.
    """
    largest, total = -np.inf, 0.0
    for a in range(out.size):
        largest = max(largest, gains[a])
    for a in range(out.size):
        behind = gains[a] - largest
        if gap > 0.0:
            out[a] = math.exp(math.log(out.size) / gap * behind)
        else:
            out[a] = 1.0 if behind == 0.0 else 0.0
        total += out[a]
    for a in range(out.size):
        out[a] /= total


@lean
def learn(gains: np.ndarray, gap: float, played: np.ndarray, new: np.ndarray) -> float:
    """Add new gains; the mixability gap grows by ln(sum w exp(eta new)) / eta - w . new >= 0."""
    mean, largest, mixed = 0.0, -np.inf, 0.0
    for a in range(new.size):
        gains[a] += new[a]
        mean += played[a] * new[a]
        if played[a] > 0.0:
            largest = max(largest, new[a])
    if gap > 0.0:
        eta = math.log(new.size) / gap
        for a in range(new.size):
            mixed += played[a] * math.exp(eta * (new[a] - largest))
        largest += math.log(mixed) / eta
    return gap + max(largest - mean, 0.0)


@lean
def choose_game(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """The game of Degenne, Koolen & Menard (2019, Algorithm 1); of linear bandits LinGame.

    AdaHedge plays w_t, the nearest instance lambda to it answers, and arm a gains

        max over nearby means of (mu_a - lambda_a)^2 / (2 sigma_a^2)
            = (|mu^_a - lambda_a| + sqrt(2 ln(t) Var mu^_a))^2 / (2 sigma_a^2),

    with Var mu^_a = sigma^2 |x_a|^2 in the norm of the inverse design for linear bandits (LinGame,
    Degenne, Menard, Shang & Valko 2020, Algorithm 1). The sum of w is tracked. The learner starts
    anew when the leading answer changes; the papers keep one for each answer (`choose_learners`).
    """
    problem, time, k = rules.problem, state.clock[0], state.pulls.size
    arm = neglected(rules, state)
    if time < problem.explored.size:
        return arm
    gains, new, leader = state.point.w, state.point.v, state.leader[0]
    if state.numbers[ANSWER] != leader or time == problem.explored.size:
        state.numbers[ANSWER], state.numbers[GAP] = leader, 0.0
        set_all(gains, 0.0)
    hedge(gains, state.numbers[GAP], state.target)
    weigh(problem, state.work, state.target)
    nearest, least = -1, np.inf
    for i in range(pieces(problem)):
        cost = displace(problem, state.work, i, leader, state.means, state.shift)
        if cost < least:
            nearest, least = i, cost
    if nearest >= 0:
        displace(problem, state.work, nearest, leader, state.means, state.shift)
        weigh(problem, state.work, state.pulls)
        spread(problem, state.work, new)
        for a in range(k):
            far = abs(state.shift[a]) + math.sqrt(2.0 * math.log(time) * new[a])
            new[a] = 0.5 * far * far / problem.variances[a]
        state.numbers[GAP] = learn(gains, state.numbers[GAP], state.target, new)
    choice = track_target(state)
    return arm if arm >= 0 else choice
