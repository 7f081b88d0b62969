"""Frank-Wolfe Sampling: every step against a slow retelling, and where its pulls go."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from bestarm.baics import reference
from bestarm.baics.alternatives import nearest_alternative
from bestarm.baics.frank_wolfe import is_forced
from bestarm.baics.problem import Instance, characteristic_time
from bestarm.baics.steps import INITIAL_DRAWS, log_e_value
from bestarm.baics.strategies import steps
from bestarm.common.paper import Cell
from bestarm.core.streams import run_streams

EXAMPLE1 = Instance(
    name="example1",
    means=[[0.2, 0.6, 0.8], [0.4, 0.4, 0.3], [-0.2, 1.0, 1.5]],
    weights=[0.2, 0.3, 0.5],
)
NONE = Instance(name="none", means=[[0.8, -0.9], [-0.9, -0.2]], weights=[0.5, 0.5])


def halves(x, means, instance):
    """Half the cost at x of every kind of alternative that exists, and its gradient, both by
    enumeration of active sets."""
    q, m = instance.problem[:2]
    best = reference.best_feasible_arm(means, q, m)
    found = []
    for i in range(m + len(means)):
        gradient, k = np.zeros_like(means), i - m
        if best is None and k >= 0:
            gradient[k, :m] = np.minimum(means[k, :m], 0.0) ** 2 / 2
        elif best is not None and k < 0:
            gradient[best, i] = means[best, i] ** 2 / 2
        elif best is not None and k != best:
            shift = reference.swap_by_enumeration(x, means, q, m, best, k)[1]
            gradient[[best, k]] = shift**2 / 2
        else:
            continue
        found.append((float((x * gradient).sum()), gradient.ravel(), i))
    return found


def response(x, near):
    """The value of the game max_z min_h (z - x) . h, by a linear program."""
    rows = np.array([gradient - value for value, gradient in near])
    found = linprog(
        np.append(np.zeros(x.size), -1.0),
        A_ub=np.hstack([-rows, np.ones((len(rows), 1))]),
        b_ub=np.zeros(len(rows)),
        A_eq=np.append(np.ones(x.size), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * x.size + [(None, None)],
    )
    return -found.fun


@pytest.mark.parametrize("instance", [EXAMPLE1, NONE], ids=["example1", "none"])
@pytest.mark.parametrize("reading", ["as-written", "levelled+proven"])
def test_every_step_is_what_the_paper_tells(instance, reading):
    """Forced rounds, the game's value at the answer z, the move of x, and the coordinate pulled."""
    cell = Cell(instance.name, "FWS", {"delta": 1e-9}, reading)
    strategy, rules, world, _ = steps(instance, cell)
    streams, state = run_streams(3, 0), strategy.start(rules)
    n, games = state.pulls.size, 0
    while state.clock[0] < INITIAL_DRAWS * n + 80:
        t, x, pulls = int(state.clock[0]), state.iterate.ravel().copy(), state.pulls.ravel().copy()
        costs = halves(state.iterate.copy(), state.means, instance) if pulls.all() else []
        pair = strategy.choose(rules, state, streams.coins)
        if t < INITIAL_DRAWS * n:
            assert pair == t % n
        else:
            scaled = [(f / state.needs[i], h / state.needs[i]) for f, h, i in costs]
            least, z = min(f for f, _ in scaled), state.target
            if math.isqrt(t // n) ** 2 == t // n:
                np.testing.assert_array_equal(z, np.full(n, 1 / n))
            else:
                near = [(f, h) for f, h in scaled if f < least + t**-0.9 / n]
                value = min(z @ h - f for f, h in near)
                assert value == pytest.approx(response(x, near), abs=1e-7)
                games += len(near) > 1
            np.testing.assert_allclose(state.iterate.ravel(), x + (z - x) / t, atol=1e-15)
            assert pair == np.argmax(state.iterate.ravel() / pulls)
        strategy.observe(rules, state, pair, strategy.pull(world, state, pair, streams.environment))
    assert games > 5


def test_needs_are_what_evidence_lags_behind_the_glr_statistic():
    cell = Cell("example1", "FWS", {"delta": 0.1}, "levelled+proven")
    strategy, rules, world, _ = steps(EXAMPLE1, cell)
    streams, state = run_streams(3, 1), strategy.start(rules)
    for _ in strategy.follow(world, rules, state, streams.environment, streams.coins):
        if state.clock[0] == 60 * 9:
            break
    level, pulls = math.log(3 / 0.1), state.pulls.copy()
    lags = {
        i: max(f - log_e_value(rules, state, i), 0.0)
        for f, _, i in halves(pulls, state.means, EXAMPLE1)
    }
    strategy.choose(rules, state, streams.coins)
    for i, lag in lags.items():
        assert state.needs[i] == pytest.approx(1 + lag / level, rel=1e-6)
    assert max(lags.values()) > 0.5


def test_forced_rounds_are_those_of_squares():
    forced = [t for t in range(9, 200) if is_forced(t, 9)]
    assert forced == [t for t in range(9, 200) if t // 9 in (1, 4, 9, 16)]
    assert is_forced(9 * 10**12, 9)
    assert not is_forced(9 * (10**12 + 1), 9)


@pytest.mark.parametrize("instance", [EXAMPLE1, NONE], ids=["example1", "none"])
def test_the_allocation_tends_to_an_optimal_one(instance):
    """F_mu(N(t)/t) reaches max F_mu = 2/T*, to what forced exploration and estimates cost."""
    cell = Cell(instance.name, "FWS", {"delta": 1e-300, "cap": 100_000}, "as-written")
    strategy, rules, world, cap = steps(instance, cell)
    streams = run_streams(99, 2)
    state, _ = strategy.play(world, rules, cap, streams.environment, streams.coins)
    best = 0 if instance is EXAMPLE1 else -1
    shares = state.pulls / state.pulls.sum()
    value = nearest_alternative(shares, world.means, instance.problem, best, state.shift)
    assert value * characteristic_time(instance) / 2 > 0.9
