"""Strategies on a problem: allocations tend to w*, errors are rare, `compare` plays them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom

from bestarm import compare
from bestarm.core.pure_exploration import characteristic_time, nearest, top_arms
from bestarm.core.pure_exploration.problem import (
    best_answer,
    discount,
    displace,
    make_work,
    price,
)
from bestarm.core.pure_exploration.steps import World, rules_of
from bestarm.core.pure_exploration.strategies import STRATEGIES
from bestarm.core.streams import streams_of
from bestarm.linear.problem import instances
from bestarm.linear.pure_exploration import TopTwo, far_apart, features, problem_of

PROBLEM, MEANS = top_arms(4), np.array([1.0, 0.5, 0.3, 0.0])
strategies = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)


def play(strategy, means, delta, cap, replication=0):
    streams = streams_of(3, replication)
    world = World(means, np.ones(means.size))
    rules = rules_of(PROBLEM, delta)
    return strategy.play(world, rules, cap, streams.environment, streams.coins)


def half_time(means):
    """The least 1 / min_i f_i(w) of allocations with 1/2 for the best arm, by bisection.

    All f_i = w_i / (1/2 + w_i) gap_i^2 / 4 are the same at the best one.
    """
    quarters = (means.max() - np.delete(means, means.argmax())) ** 2 / 4.0
    others = lambda f: (0.5 * f / (quarters - f)).sum() - 0.5  # noqa: E731
    return 1.0 / brentq(others, 0.0, quarters.min() * (1.0 - 1e-12))


@given(st.lists(st.floats(0.01, 10.0), min_size=1, max_size=6))
def test_half_of_the_pulls_for_the_leader_costs_at_most_twice_the_time(gaps):
    """T* <= T*_{1/2} <= 2 T* (Russo 2016, Lemma 3)."""
    means = np.array([0.0, *(-gap for gap in gaps)])
    best = characteristic_time(top_arms(means.size), means).time
    assert best * (1.0 - 1e-6) <= half_time(means) <= 2.0 * best * (1.0 + 1e-6)


@strategies
def test_allocations_tend_to_the_best_one(strategy):
    """At the end of a long run they attain 95% of 1 / T* for its estimates; the game is slower.

    For the true means the share also depends on errors of the estimates, about 0.02 here, which
    move w*: in one run of three it is 0.87.
    """
    state, _ = play(strategy, MEANS, 1e-300, 100_000)
    share = state.pulls / state.pulls.sum()
    attained = nearest(PROBLEM, state.means, share).cost
    half = strategy.name.endswith("HalfTopTwo")
    attained *= half_time(state.means) if half else characteristic_time(PROBLEM, state.means).time
    assert attained > (0.85 if strategy.name.endswith("Game") else 0.95)


@strategies
def test_errors_are_at_most_delta(strategy):
    """Gaps are small, so that errors happen; a rule that keeps delta fails once in 10^6 times."""
    means, delta, runs = np.array([0.3, 0.0, 0.0, 0.0]), 0.1, 200
    found = [play(strategy, means, delta, 100_000, run) for run in range(runs)]
    wrong = sum(int(state.leader[0]) != best_answer(PROBLEM, means) for state, _ in found)
    assert all(stopped for _, stopped in found)
    assert wrong <= binom.isf(1e-6, runs, delta)


def test_compare_plays_them_on_features_that_are_nearly_dependent():
    """The first five of these six arms are; pulls are within 25 T*, as for other instances.

    With forced pulls of the first five, runs took up to 400 T*.
    """
    problem, means = problem_of(instances()["random K=6 seed=0"])
    found = compare("linear/random K=6 seed=0", [TopTwo], reps=100, delta=0.1, cores=1).runs
    assert found.tau.mean() < 25.0 * characteristic_time(problem, means).time
    assert 100 - found.correct.sum() <= binom.isf(1e-6, 100, 0.1)
    rules, world = rules_of(problem, 0.1), World(means, problem.variances)
    for run in range(20):
        streams = streams_of(3, run)
        game = STRATEGIES["Game"].play(world, rules, 2000, streams.environment, streams.coins)
        assert game[1]


@given(st.integers(0, 10**6))
def test_forced_pulls_are_of_arms_far_apart(seed):
    """The volume of greedily chosen arms is at least 1 / d! of the largest (Civril & Magdon-Ismail
    2009, Theorem 8)."""
    x = np.random.default_rng(seed).normal(size=(6, 3))
    largest = max(abs(np.linalg.det(x[list(some)])) for some in combinations(range(6), 3))
    assert abs(np.linalg.det(x[far_apart(x)])) >= largest / 6.0


@given(st.integers(0, 10**6))
def test_the_linear_discount_and_price_are_those_of_the_mixture(seed):
    """They are the cost of the design A (A + P)^-1 A, and 1/2 ln(det(A + P) / det P)."""
    rng = np.random.default_rng(seed)
    problem, pulls, means = features(rng.normal(size=(5, 3))), rng.integers(1, 99, 5), np.empty(5)
    x, prior, work, shift = problem.arms, problem.prior, make_work(problem), np.empty(5)
    a = x.T @ (pulls[:, None] * x)
    means = x @ rng.normal(size=3)
    best, other = np.argsort(-means)[:2]
    discount(problem, work, pulls.astype(float))
    y = x[best] - x[other]
    shrunk = a @ np.linalg.inv(a + prior) @ a
    wanted = (means[best] - means[other]) ** 2 / (2.0 * y @ np.linalg.inv(shrunk) @ y)
    assert displace(problem, work, int(other), int(best), means, shift) == pytest.approx(wanted)
    volume = 0.5 * (np.linalg.slogdet(a + prior)[1] - np.linalg.slogdet(prior)[1])
    found = price(problem, work, int(other), int(best), pulls.astype(float))
    assert found == pytest.approx(volume)
