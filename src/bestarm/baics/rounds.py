"""Every (arm, subpopulation) once per round, in random order: a rule for means that change.

Its answer is right for means averaged over the rounds so far (docs/guarantees.md).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestarm.baics.alternatives import NO_ARM, best_feasible_arm
from bestarm.baics.steps import Rules
from bestarm.core.anytime import shrunk_counts

#: Rounds that the priors are worth, fixed before the first one.
PRIOR_ROUNDS = 30.0


@dataclass
class RoundState:
    """The data of a run; every array is changed in place."""

    clock: np.ndarray  # (1,) pulls so far
    rounds: np.ndarray  # (1,) that are complete; means and leads rest on these
    answer: np.ndarray  # (1,) best feasible arm of the means, or NO_ARM
    pulls: np.ndarray  # (K, L)
    sums: np.ndarray  # (K, L) of rewards
    means: np.ndarray  # (K, L)
    leads: np.ndarray  # (K, K) sums over rounds of sum_l q_l (reward of one arm - of another)
    order: np.ndarray  # (K L,) of this round
    drawn: np.ndarray  # (1,) whether this round has an order
    told: np.ndarray  # (K L,) whether this round has a reward of the pair, or waits for it
    rewards: np.ndarray  # (K, L) of this round


class RoundRule:
    """The steps. With probability 1 - delta no stop is ever wrong for the means averaged so far.

    A round's reward of (k, l) and its lead of an arm over another are each one observation whose
    mean, given the rounds before, is the average over the order. Their averages over n rounds have
    intervals at all n at once, of M K + K (K - 1) / 2 streams, which share delta.

    Args:
        weights: (L,) q.
        sigmas: (K, L) of rewards.
        bounded: whether rewards are from 0 to 1: then means may change within a round too. Else
            all pulls of a round have to have the same change.
    """

    def __init__(self, weights: np.ndarray, sigmas: np.ndarray, *, bounded: bool) -> None:
        self._q = (weights / weights.sum()) * sigmas  # of rewards in units of sigma
        squares = (self._q**2).sum(axis=1)
        spread = np.sqrt(squares[:, None] + squares)
        self._spread = np.ones_like(spread) if bounded else spread

    def start(self, rules: Rules) -> RoundState:
        k, l = self._q.shape
        return RoundState(
            clock=np.zeros(1, np.int64),
            rounds=np.zeros(1),
            answer=np.full(1, NO_ARM),
            pulls=np.zeros((k, l)),
            sums=np.zeros((k, l)),
            means=np.zeros((k, l)),
            leads=np.zeros((k, k)),
            order=np.arange(k * l),
            drawn=np.zeros(1, np.bool_),
            told=np.zeros(k * l, np.bool_),
            rewards=np.zeros((k, l)),
        )

    def choose(self, rules: Rules, state: RoundState, coins: np.random.Generator) -> int:
        if not state.drawn[0]:
            state.order[:] = coins.permutation(state.order.size)
            state.drawn[0] = True
        return int(state.order[np.argmin(state.told[state.order])])

    def observe(self, rules: Rules, state: RoundState, pair: int, reward: float) -> None:
        state.clock[0] += 1
        state.pulls.flat[pair] += 1.0
        state.rewards.flat[pair] = reward
        state.told[pair] = True
        if not state.told.all():
            return
        state.told[:] = state.drawn[0] = False
        state.rounds[0] += 1.0
        state.sums += state.rewards
        state.means[:] = state.sums / state.rounds[0]
        qualities = (self._q * state.rewards).sum(axis=1)
        state.leads += qualities[:, None] - qualities
        state.answer[0] = best_feasible_arm(state.means, rules.problem)

    def done(self, rules: Rules, state: RoundState) -> bool:
        if not state.rounds[0] or state.told.any():
            return False
        return min(self.log_e_values(rules, state)) > self.needed(rules)

    def needed(self, rules: Rules) -> float:
        """ln(number of streams / delta)."""
        k, m = rules.n_arms, rules.problem.constrained
        return math.log((m * k + k * (k - 1) / 2) / rules.delta)

    def log_e_values(self, rules: Rules, state: RoundState) -> list[float]:
        """ln of the e-values against all kinds, numbered as in `alternative_cost`."""
        n, m, best = float(state.rounds[0]), rules.problem.constrained, int(state.answer[0])
        above = log_above(state.means, n)[:, :m]
        below = log_above(-state.means, n)[:, :m].max(axis=1, initial=-math.inf)
        if best == NO_ARM:
            return [math.inf] * m + below.tolist()
        ahead = log_above(state.leads[best] / self._spread[best] / max(n, 1.0), n)
        others = np.maximum(below, ahead)
        others[best] = math.inf
        return above[best].tolist() + others.tolist()


def log_above(mean: Any, n: float) -> np.ndarray:
    """ln of the e-value for an average of n means above 0; -infinity if the data's is not.

    The mixture of `core/anytime.py`, of observations with scale 1, looked at on one side.

    Example:
        >>> [round(float(x), 2) for x in log_above([0.5, -0.5], 60.0)]
        [4.45, -inf]
    """
    exponent = 0.5 * shrunk_counts(n, PRIOR_ROUNDS) * np.square(mean)
    return np.where(np.asarray(mean) > 0.0, exponent - 0.5 * math.log1p(n / PRIOR_ROUNDS), -np.inf)
