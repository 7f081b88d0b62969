"""Demands are slopes of the bound, shares answer them best, blocks add up."""

import numpy as np
import pytest
from scipy.optimize import minimize

from bestarm.core.anytime import shrunk_counts
from bestarm.core.streams import run_streams
from bestarm.lagex.certified import reference
from bestarm.lagex.certified.allocation import RATE, demand, find_worst, plan_block
from bestarm.lagex.certified.confidence import shortfall
from bestarm.lagex.certified.pieces import largest_shortfall
from bestarm.lagex.certified.runs import Options, make_rules, play
from bestarm.lagex.certified.state import TIME, start
from bestarm.lagex.certified.steps import estimate, find_safe
from bestarm.lagex.problem import imdb, setup1
from bestarm.lagex.strategies import make_world

INSTANCES = {"setup 1": setup1(0.5), "imdb": imdb()}
every = pytest.mark.parametrize("name", INSTANCES)


def rules_for(name, strategy="Certified"):
    problem = INSTANCES[name].problem
    asked = (0.1, 0.1, Options(), problem.variances, problem.cost_sigma, problem.limits)
    return make_rules(strategy, *asked)


def at_a_check(name, strategy="Certified"):
    """A run of 20,000 pulls, with a safe policy, and its rules."""
    rules, world = rules_for(name, strategy), make_world(INSTANCES[name].problem)
    state = play(world, rules, 20_000, run_streams(3, 0).environment)
    estimate(rules, state)
    assert find_safe(rules, state)
    return state, rules


@every
def test_the_worst_alternative_may_be_feasible_and_is_bad(name):
    """Inside to rounding, and at least as bad as any of many others, to a twentieth."""
    state, _ = at_a_check(name)
    found, seen = find_worst(state), state.seen
    assert found == pytest.approx(shortfall(seen, state.policy, state.other))
    wider = seen._replace(u=seen.u * (1.0 + 1e-9))
    assert reference.may_be_feasible(wider, state.other[None])[0]
    others = np.random.default_rng(0).dirichlet(np.full(state.policy.size, 0.2), 100_000)
    others = others[reference.may_be_feasible(seen, others)]
    assert found >= 0.95 * reference.shortfalls(seen, state.policy, others).max()
    assert largest_shortfall(seen, state.policy, found - 1e-6, state.pieces) == np.inf


@every
def test_demands_are_the_slopes_of_the_bound(name):
    """By each 1 / N'_a: of the worst alternative's shortfall, and of the safe policy's value."""
    state, rules = at_a_check(name)
    before = state.demands.copy()
    find_worst(state)
    demand(rules, state)
    found = (state.demands - (1.0 - RATE) * before) / RATE
    slopes, seen = np.zeros(found.size), state.seen
    for a in range(found.size):
        for change in (0.1, -0.1):
            scale = np.ones(found.size)
            scale[a] += change
            moved = seen._replace(h=seen.h * scale, u=seen.u * scale)
            worst = find_worst(state._replace(seen=moved))
            slopes[a] += np.sign(change) * (worst - reference.best_safe_policy(moved, 0.0)[1])
    slopes *= shrunk_counts(state.pulls, rules.n0)
    np.testing.assert_allclose(found, slopes / slopes.sum(), atol=0.06)


@pytest.mark.parametrize("n0", [1.0, 1e3, 1e6])
def test_tracked_shares_minimise_what_is_demanded(n0):
    """With constant demands c, blocks lead to the least sum_a c_a / N'_a, to a thousandth."""
    rules = rules_for("setup 1")._replace(n0=n0)
    state = start(rules)
    state.demands[:] = np.array([0.4, 0.05, 0.3, 0.15, 0.08, 0.02])
    state.pulls[:], state.counts[TIME] = 1.0, 6
    while state.counts[TIME] < 10**6:
        plan_block(rules, state)
        state.pulls[:] += state.owed
        state.counts[TIME] += int(state.owed.sum())

    def cost(logits):
        pulls = np.exp(logits) / np.exp(logits).sum() * state.pulls.sum()
        return np.log((state.demands / shrunk_counts(pulls, n0)).sum())

    least = minimize(cost, np.zeros(6), method="BFGS").fun
    assert cost(np.log(state.pulls)) == pytest.approx(least, abs=1e-3)


@pytest.mark.parametrize("strategy", ["Certified", "Certified-Uniform"])
def test_blocks_add_up_and_no_arm_is_forgotten(strategy):
    """One more pull, or a twentieth; an arm that nothing demands gets the root of t over K."""
    rules = rules_for("setup 1", strategy)
    state = start(rules)
    state.demands[:] = np.array([1.0, 0, 0, 0, 0, 0])
    state.pulls[:], state.counts[TIME] = 1.0, 6
    while (time := int(state.counts[TIME])) < 10**5:
        plan_block(rules, state)
        assert state.owed.sum() == max(1, int(1.05 * time) - time)
        assert state.owed.min() >= 0.0
        assert (state.owed == state.owed.round()).all()
        state.pulls[:] += state.owed
        state.counts[TIME] += int(state.owed.sum())
    low = state.pulls.min()
    assert low >= 0.9 * np.sqrt(time) / 6
    assert low <= 1.2 * np.sqrt(time) / 6 if rules.adaptive else low >= 0.99 * time / 6
