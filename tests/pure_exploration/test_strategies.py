"""Strategies on a problem: their pulls are those of slow references, allocations tend to w*, errors
are rare, `compare` plays them."""

import math
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise
from types import FunctionType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, linprog
from scipy.special import logsumexp, softmax
from scipy.stats import binom

from bestarm import compare
from bestarm.core.pure_exploration import characteristic_time, nearest, top_arms
from bestarm.core.pure_exploration.d_tracking import choose_d_tracking
from bestarm.core.pure_exploration.frank_wolfe import choose_fws
from bestarm.core.pure_exploration.learners import choose_learners
from bestarm.core.pure_exploration.playing import choose_game
from bestarm.core.pure_exploration.problem import (
    best_answer,
    discount,
    displace,
    estimate,
    make_work,
    mixing_cost,
    spread,
    weigh,
)
from bestarm.core.pure_exploration.steps import World, make_rules
from bestarm.core.pure_exploration.strategies import STRATEGIES
from bestarm.core.pure_exploration.top_two import choose_half_top_two
from bestarm.core.pure_exploration.track_and_stop import choose_track_and_stop
from bestarm.core.streams import run_streams
from bestarm.linear.problem import instances
from bestarm.linear.pure_exploration import TopTwo, far_apart, features, problem_and_means

MEANS, SIGMA = np.array([1.0, 0.5, 0.3, 0.0]), np.array([1.0, 0.7, 1.3, 0.9])
PROBLEM, VARIANCES, K = top_arms(4, sigma=SIGMA), SIGMA**2, 4
#: Pulls of a run that are compared with those of a reference.
PULLS = 60
#: Those whose loops take little time to compile. Others are played by it in long tests only, and
#: compared with their references in plain Python.
COMPILED = ("TopTwo", "Game")
strategies = pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[] if one in COMPILED else [pytest.mark.long]) for one in STRATEGIES],
)


def play(strategy, means, delta, cap, replication=0):
    streams = run_streams(3, replication)
    world = World(means, SIGMA)
    rules = make_rules(PROBLEM, delta)
    return strategy.play(world, rules, cap, streams.environment, streams.coins)


def half_time(means, variances):
    """The least 1 / min_i f_i(w) of allocations with 1/2 for the best arm b, by bisection.

    All f_i = gap_i^2 / (2 (2 sigma_b^2 + sigma_i^2 / w_i)) are the same at the best one.
    """
    best = int(means.argmax())
    halves = (means[best] - np.delete(means, best)) ** 2 / 2.0
    twice, others = 2.0 * variances[best], np.delete(variances, best)
    excess = lambda f: (others * f / (halves - twice * f)).sum() - 0.5  # noqa: E731
    return 1.0 / brentq(excess, 0.0, halves.min() / twice * (1.0 - 1e-12))


def plain(function, **used):
    """A compiled function in plain Python, which calls others of its module as they are given."""
    code = function.py_func
    return FunctionType(code.__code__, code.__globals__ | used, code.__name__)


CHOICES = {
    "TrackAndStop": plain(choose_track_and_stop),
    "FrankWolfe": plain(choose_fws),
    "DTrackAndStop": plain(choose_d_tracking, choose_track_and_stop=plain(choose_track_and_stop)),
    "HalfTopTwo": plain(choose_half_top_two),
    "LearnersGame": plain(choose_learners, choose_game=plain(choose_game)),
}


def first_states(name, means, pulls):
    """States of a run: after K pulls, and after each of as many further ones as are given."""
    if name in COMPILED:
        return [play(STRATEGIES[name], means, 1e-300, t)[0] for t in range(K, K + pulls + 1)]
    strategy, streams, found = (
        replace(STRATEGIES[name], choose=CHOICES[name]),
        run_streams(3, 0),
        [],
    )
    rules, world = make_rules(PROBLEM, 1e-300), World(means, SIGMA)
    state = strategy.start(rules)
    for _ in strategy.follow(world, rules, state, streams.environment, streams.coins):
        read = {part: getattr(state, part).copy() for part in ("pulls", "means", "leader")}
        found.append(state._replace(**read))
        if len(found) == K + pulls:
            return found[K - 1 :]
    raise AssertionError("the run has ended")


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
                slow = VARIANCES[best] / x[best] + VARIANCES[c] / x[c]
                for a in (best, c):
                    far = (state.means[best] - state.means[c]) * VARIANCES[a] / x[a] / slow
                    row[a] = 0.5 * far**2 / VARIANCES[a]
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
    coins = run_streams(3, 0).coins
    for state in states:
        arm = forced(state)
        if arm is None:
            found = nearest(PROBLEM, state.means, state.pulls)
            shares = state.pulls * found.gradient / found.cost
            arm = int(np.searchsorted(np.cumsum(shares), coins.random()))
        yield arm


def half_top_two(states):
    """The leader with probability 1/2, else the challenger of least transport cost."""
    coins = run_streams(3, 0).coins
    for state in states:
        arm = forced(state)
        if arm is None:
            leads, n, mu = int(state.means.argmax()), state.pulls, state.means
            costs = (mu[leads] - mu) ** 2 / (VARIANCES[leads] / n[leads] + VARIANCES / n)
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
        width = np.sqrt(2.0 * math.log(t) * VARIANCES / state.pulls)
        new = 0.5 * (away + width) ** 2 / VARIANCES
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
    states = first_states(name, MEANS, PULLS)
    arms = [int((b.pulls - a.pulls).argmax()) for a, b in pairwise(states)]
    assert list(REFERENCES[name](states[:-1])) == arms


def test_learners_go_on_where_they_were():
    """With means nearly tied the leader changes and comes back; the game then plays differently."""
    close = np.array([0.02, 0.0, 0.0, 0.0])
    arms = {}
    for name in ("Game", "LearnersGame"):
        states = first_states(name, close, 200)
        arms[name] = [int((b.pulls - a.pulls).argmax()) for a, b in pairwise(states)]
        assert list(REFERENCES[name](states[:-1])) == arms[name]
    assert arms["Game"] != arms["LearnersGame"]


@given(st.lists(st.floats(0.01, 10.0), min_size=1, max_size=6))
def test_half_of_the_pulls_for_the_leader_costs_at_most_twice_the_time(gaps):
    """T* <= T*_{1/2} <= 2 T* (Russo 2016, Lemma 3)."""
    means = np.array([0.0, *(-gap for gap in gaps)])
    best = characteristic_time(top_arms(means.size), means).time
    assert best * (1.0 - 1e-6) <= half_time(means, np.ones(means.size)) <= 2.0 * best * (1.0 + 1e-6)


@strategies
def test_allocations_tend_to_the_best_one(name):
    """At the end of a long run they attain 95% of 1 / T* for its estimates; the game is slower.

    For the true means the share also depends on errors of the estimates, about 0.02 here, which
    move w*: in one run of three it is 0.87.
    """
    state, _ = play(STRATEGIES[name], MEANS, 1e-300, 100_000)
    share = state.pulls / state.pulls.sum()
    attained = nearest(PROBLEM, state.means, share).cost
    half = name == "HalfTopTwo"
    attained *= (
        half_time(state.means, VARIANCES)
        if half
        else characteristic_time(PROBLEM, state.means).time
    )
    assert attained > (0.85 if name.endswith("Game") else 0.95)


@strategies
def test_errors_are_at_most_delta(name):
    """Gaps are small, so that errors happen. A rule that keeps delta fails once in 10^6 times; one
    that errs in 30% of its runs is seen with probability 0.99."""
    means, delta, runs = np.array([0.3, 0.0, 0.0, 0.0]), 0.1, 200
    found = [play(STRATEGIES[name], means, delta, 100_000, run) for run in range(runs)]
    wrong = sum(int(state.leader[0]) != best_answer(PROBLEM, means) for state, _ in found)
    assert all(stopped for _, stopped in found)
    assert wrong <= binom.isf(1e-6, runs, delta)


@pytest.mark.parametrize("top", [1, 2])
def test_evidence_pays_for_each_of_its_arms_and_for_all_pairs(top):
    """ln(k (K - k)), which only counts with several pairs, and 1/2 ln(1 + N / 30) of both arms."""
    problem, pulls = top_arms(5, top), np.array([3.0, 50.0, 2000.0, 7.0, 1.0])
    answer = best_answer(problem, np.arange(5.0, 0.0, -1.0))
    for a in range(top):
        for c in range(top, 5):
            wanted = math.log(top * (5 - top)) + 0.5 * np.log1p(pulls[[a, c]] / 30.0).sum()
            found = mixing_cost(problem, make_work(problem), 5 * a + c, answer, pulls)
            assert found == pytest.approx(wanted)


@pytest.mark.long
def test_compare_plays_them_on_features_that_are_nearly_dependent():
    """The first five of these six arms are; pulls are within 25 T*, as for other instances.

    With forced pulls of the first five, runs took up to 400 T*.
    """
    problem, means = problem_and_means(instances()["random K=6 seed=0"])
    found = compare("linear/random K=6 seed=0", [TopTwo], reps=100, delta=0.1, cores=1).runs
    assert found.tau.mean() < 25.0 * characteristic_time(problem, means).time
    assert 100 - found.correct.sum() <= binom.isf(1e-6, 100, 0.1)


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
    found = mixing_cost(problem, work, int(other), int(best), pulls.astype(float))
    assert found == pytest.approx(volume)


@given(st.integers(0, 10**6))
def test_linear_estimates_are_least_squares(seed):
    """And their variances those of a linear regression."""
    rng = np.random.default_rng(seed)
    problem, pulls, means = features(rng.normal(size=(5, 3))), rng.integers(1, 99, 5), np.empty(5)
    x, work, sums, variances = problem.arms, make_work(problem), rng.normal(size=5), np.empty(5)
    inverse = np.linalg.inv(x.T @ (pulls[:, None] * x))
    estimate(problem, work, pulls.astype(float), sums, means)
    assert means == pytest.approx(x @ inverse @ x.T @ sums)
    weigh(problem, work, pulls.astype(float))
    spread(problem, work, variances)
    assert variances == pytest.approx(np.diag(x @ inverse @ x.T))
