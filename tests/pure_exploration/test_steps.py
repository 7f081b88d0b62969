"""Steps of the strategies against slow references: numpy, scipy, and nearest instances by hand."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import logsumexp, softmax

from bestarm.core.pure_exploration import characteristic_time, nearest
from bestarm.core.pure_exploration.strategies import STRATEGIES
from bestarm.core.streams import streams_of
from pure_exploration.test_strategies import MEANS, PROBLEM, play

K, PULLS = MEANS.size, 60


def forced(state):
    """The arm with fewest pulls, if it has less than sqrt(t / K)."""
    least = int(state.pulls.argmin())
    return least if state.pulls[least] < math.sqrt(state.pulls.sum() / K) else None


def track_and_stop(states):
    """Allocations at geometric times; C-tracking."""
    tracked, renewal, share = np.ones(K), 0, np.empty(0)
    for t, state in enumerate(states, K):
        if t > renewal:
            share, renewal = characteristic_time(PROBLEM, state.means, 1e-3).allocation, 1.1 * t
        tracked += share
        arm = forced(state)
        yield int((tracked - state.pulls).argmax()) if arm is None else arm


def frank_wolfe(states):
    """Wang, Tzeng & Proutiere (2021), Algorithm 1; the game by linear programming."""
    x = np.full(K, 1.0 / K)
    for t, state in enumerate(states, K):
        best, z = int(state.means.argmax()), np.full(K, 1.0 / K)
        if math.isqrt(t // K) ** 2 != t // K:
            others = [c for c in range(K) if c != best]
            gradients = np.zeros((K - 1, K))
            for row, c in zip(gradients, others, strict=True):
                half = 0.5 * (state.means[best] - state.means[c]) ** 2
                row[best] = half * (x[c] / (x[best] + x[c])) ** 2
                row[c] = half * (x[best] / (x[best] + x[c])) ** 2
            costs = gradients @ x
            near = costs < costs.min() + t**-0.9 / K
            payoffs = gradients[near] - costs[near, None]
            z = linprog(  # max v  s.t.  payoffs z >= v, z in the simplex
                np.append(np.zeros(K), -1.0),
                A_ub=np.column_stack([-payoffs, np.ones(len(payoffs))]),
                b_ub=np.zeros(len(payoffs)),
                A_eq=[[1.0] * K + [0.0]],
                b_eq=[1.0],
                bounds=[(0.0, None)] * K + [(None, None)],
            ).x[:K]
        x += (z - x) / t
        yield int((x / state.pulls).argmax())


def top_two(states):
    """The nearest piece; an arm by its share of the cost."""
    coins = streams_of(3, 0).coins
    for state in states:
        arm = forced(state)
        if arm is None:
            found = nearest(PROBLEM, state.means, state.pulls)
            shares = state.pulls * found.gradient / found.cost
            arm = int(np.searchsorted(np.cumsum(shares), coins.random()))
        yield arm


def game(states):
    """AdaHedge (de Rooij et al. 2014) with its mixability gap, against the nearest instance."""
    tracked, gains, gap, leader = np.ones(K), np.zeros(K), 0.0, -1
    for t, state in enumerate(states, K):
        if state.leader[0] != leader:
            leader, gains, gap = state.leader[0], np.zeros(K), 0.0
        eta = math.log(K) / gap if gap else np.inf
        w = softmax(eta * gains) if gap else (gains == gains.max()) / (gains == gains.max()).sum()
        away = np.abs(state.means - nearest(PROBLEM, state.means, w).alternative)
        new = 0.5 * (away + np.sqrt(2.0 * math.log(t) / state.pulls)) ** 2
        gains = gains + new
        mixed = logsumexp(eta * new, b=w) / eta if gap else new[w > 0.0].max()
        gap += max(mixed - w @ new, 0.0)
        tracked += w
        arm = forced(state)
        yield int((tracked - state.pulls).argmax()) if arm is None else arm


REFERENCES = {
    "TrackAndStop": track_and_stop,
    "FrankWolfe": frank_wolfe,
    "TopTwo": top_two,
    "Game": game,
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_arms_are_those_of_a_slow_reference(name):
    states = [play(STRATEGIES[name], MEANS, 1e-300, t)[0] for t in range(K, K + PULLS + 1)]
    arms = [int((b.pulls - a.pulls).argmax()) for a, b in pairwise(states)]
    assert list(REFERENCES[name](states[:-1])) == arms
