"""Steps of the strategies against slow references: numpy, scipy, and nearest instances by hand."""

import math
from functools import partial
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


def d_tracking(states):
    """Allocations at geometric times; the latest one, times t."""
    renewal, share = 0, np.empty(0)
    for t, state in enumerate(states, K):
        if t > renewal:
            share, renewal = characteristic_time(PROBLEM, state.means, 1e-3).allocation, 1.1 * t
        arm = forced(state)
        yield int((t * share - state.pulls).argmax()) if arm is None else arm


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


def half_top_two(states):
    """The leader with probability 1/2, else the challenger of least transport cost."""
    coins = streams_of(3, 0).coins
    for state in states:
        arm = forced(state)
        if arm is None:
            leads, n, mu = int(state.means.argmax()), state.pulls, state.means
            costs = n[leads] * n / (n[leads] + n) * (mu[leads] - mu) ** 2
            costs[leads] = np.inf
            arm = leads if coins.random() < 0.5 else int(costs.argmin())
            coins.random()  # which of the arms that rise or fall; there is one
        yield arm


def game(states, keep=False):
    """AdaHedge (de Rooij et al. 2014) with its mixability gap, against the nearest instance.

    With `keep`, a learner goes on where it was when its answer last led.
    """
    tracked, learners, leader = np.ones(K), {}, -1
    for t, state in enumerate(states, K):
        if state.leader[0] != leader and not keep:
            learners.clear()
        leader = state.leader[0]
        gains, gap = learners.get(leader, (np.zeros(K), 0.0))
        eta = math.log(K) / gap if gap else np.inf
        w = softmax(eta * gains) if gap else (gains == gains.max()) / (gains == gains.max()).sum()
        away = np.abs(state.means - nearest(PROBLEM, state.means, w).alternative)
        new = 0.5 * (away + np.sqrt(2.0 * math.log(t) / state.pulls)) ** 2
        gains = gains + new
        mixed = logsumexp(eta * new, b=w) / eta if gap else new[w > 0.0].max()
        learners[leader] = (gains, gap + max(mixed - w @ new, 0.0))
        tracked += w
        arm = forced(state)
        yield int((tracked - state.pulls).argmax()) if arm is None else arm


REFERENCES = {
    "TrackAndStop": track_and_stop,
    "FrankWolfe": frank_wolfe,
    "TopTwo": top_two,
    "Game": game,
    "DTrackAndStop": d_tracking,
    "HalfTopTwo": half_top_two,
    "LearnersGame": partial(game, keep=True),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_arms_are_those_of_a_slow_reference(name):
    states = [play(STRATEGIES[name], MEANS, 1e-300, t)[0] for t in range(K, K + PULLS + 1)]
    arms = [int((b.pulls - a.pulls).argmax()) for a, b in pairwise(states)]
    assert list(REFERENCES[name](states[:-1])) == arms


def test_learners_go_on_where_they_were():
    """With means nearly tied the leader changes and comes back; the game then plays differently."""
    close = np.array([0.02, 0.0, 0.0, 0.0])
    arms = {}
    for name in ("Game", "LearnersGame"):
        states = [play(STRATEGIES[name], close, 1e-300, t)[0] for t in range(K, K + 201)]
        arms[name] = [int((b.pulls - a.pulls).argmax()) for a, b in pairwise(states)]
        assert list(REFERENCES[name](states[:-1])) == arms[name]
    assert arms["Game"] != arms["LearnersGame"]
