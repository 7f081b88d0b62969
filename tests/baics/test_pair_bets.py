"""E-values of pairs on rates: exact on short runs, bounds that hold, bets of the past."""

import itertools
import math

import numpy as np
import pytest

from bestarm import baics
from bestarm.baics import reference_bets as reference
from bestarm.baics.alternatives import best_feasible_arm, make_problem
from bestarm.baics.bets import (
    HORIZON,
    Bets,
    bound_means,
    box_level,
    log_bets,
    make_bets,
    nearest_rates,
    plan_bets,
    record_bets,
    upper_bound,
)
from bestarm.baics.counts import observe_counts
from bestarm.baics.e_values import BOX, INFEASIBLE, log_infeasible
from bestarm.baics.pairs import Buffers
from bestarm.baics.problem import Instance
from bestarm.baics.steps import log_e_value, observe
from bestarm.baics.strategies import steps
from bestarm.common.paper import Cell
from bestarm.core.bets import FRACTIONS, LARGEST, log_wealth
from bestarm.core.streams import run_streams


def problem(weights, floor, constrained, n_arms=2):
    """A problem of rates."""
    q = np.array(weights)
    return make_problem(q, constrained, np.full((n_arms, q.size), 0.5), np.array(floor))


def buffers(shape):
    return Buffers(np.zeros(shape), np.zeros(shape), np.zeros((2, shape[1])))


def standard(rates, floor):
    """As a state has means: above the floor, in units of sigma 1/2."""
    return (np.asarray(rates) - floor) / 0.5


# Exact expectations.


class Path:
    """All that a run of the rule may know after some pulls, bets for the answer of the means."""

    def __init__(self, given, bets, wins, losses, level):
        self.given, self.bets, self.wins, self.losses = given, bets, wins, losses
        self.level = level  # ln of the needed e-value
        self.crossed = False

    def after(self, pair, reward):
        """The path with one more pull."""
        shape = self.wins.shape
        bets = Bets(*(array.copy() for array in self.bets))
        wins, losses = self.wins.copy(), self.losses.copy()
        arm, l = divmod(pair, shape[1])
        record_bets(bets, self.given.floor, arm, l, 1.0, reward)
        (wins if reward else losses)[arm, l] += 1.0
        pulls = wins + losses
        rates = np.where(pulls > 0, wins / np.maximum(pulls, 1.0), self.given.floor)
        means = standard(rates, self.given.floor)
        best = best_feasible_arm(means, self.given)
        data = (int(pulls.sum()), pulls, means, self.given, best, buffers(shape))
        plan_bets(bets, box_level(self.level, shape[1], BOX), *data)
        path = Path(self.given, bets, wins, losses, self.level)
        e_values = log_bets(bets, self.given, 0, 1) + math.log1p(-BOX)
        path.crossed = self.crossed or e_values > self.level
        return path

    def choice(self):
        """What is pulled next: a rule that follows luck, and is no function of pulls alone."""
        luck = int(3 * self.wins.sum() + 5 * self.losses[0].sum() + self.wins[-1].sum())
        return luck % self.wins.size

    def chance(self, rates):
        return float((rates**self.wins * (1.0 - rates) ** self.losses).prod())

    def fair(self, rates):
        """The mixture at W . mu in place of U: a supermartingale under the rates mu."""
        slack = self.bets.centred[0, 1] - (self.bets.moved[0, 1] * (rates - self.given.floor)).sum()
        return math.exp(log_wealth(self.bets.wealth[0, 1], slack))


def paths(given, n_groups, pulls, level):
    """All paths, by number of pulls."""
    shape = (2, n_groups)
    now = [Path(given, make_bets(*shape), np.zeros(shape), np.zeros(shape), level)]
    for _ in range(pulls):
        now = [path.after(path.choice(), reward) for path in now for reward in (0.0, 1.0)]
        yield now


CASES = {
    "one subpopulation": (problem([1.0], [0.0], 0), 10),
    "one with a minimum": (problem([1.0], [0.4], 1), 10),
    "two, one constrained": (problem([0.3, 0.7], [0.5, 0.0], 1), 9),
}
RATES = (0.0, 0.05, 0.4, 0.5, 0.9, 1.0)


def of_the_kind(given, n_groups):
    """Rates in which arm 2 is feasible and at least as good as arm 1, many of them ties."""
    q, m = given.weights, given.constrained
    for flat in itertools.product(RATES, repeat=2 * n_groups):
        rates = np.array(flat).reshape(2, n_groups)
        if q @ rates[1] >= q @ rates[0] and (rates[1, :m] >= given.floor[:m]).all():
            yield rates


@pytest.mark.parametrize("name", CASES)
def test_the_mixture_is_on_average_at_most_1_over_all_sequences(name):
    """Exactly, after every number of pulls, under rates of any kind."""
    given, pulls = CASES[name]
    truths = list(of_the_kind(given, given.weights.size))
    truths += [np.full((2, given.weights.size), p) for p in (0.03, 0.97)]
    staked = 0.0
    for every in paths(given, given.weights.size, pulls, math.log(4.0)):
        staked = max(staked, *(float(np.abs(path.bets.moved[0, 1]).max()) for path in every))
        for rates in truths:
            assert sum(path.chance(rates) * path.fair(rates) for path in every) <= 1.0 + 1e-9
    assert staked > 0.5


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("needed", [1.5, 3.0])
def test_a_true_kind_is_rejected_no_more_often_than_promised_over_all_sequences(name, needed):
    """The probability that the e-value ever exceeds a level, exactly, under rates of the kind."""
    given, pulls = CASES[name]
    *_, every = paths(given, given.weights.size, pulls, math.log(needed))
    chances = [
        sum(path.chance(rates) for path in every if path.crossed)
        for rates in of_the_kind(given, given.weights.size)
    ]
    assert 0.0 < max(chances) <= 1.0 / needed


# Kernels against the slow versions.


def drawn(seed, n_groups=3, constrained=2):
    """Two arms with sums of a pair whose W is near the cone, or not, and a box."""
    rng = np.random.default_rng(seed)
    floor = np.zeros(n_groups)
    floor[:constrained] = rng.uniform(0.02, 0.1, constrained)
    given = problem(rng.dirichlet(np.ones(n_groups)), floor, constrained)
    pulls = rng.integers(20, 400, (2, n_groups)).astype(float)
    rates = rng.uniform(0.01, 0.5, (2, n_groups))
    rates[0] = np.maximum(rates[0], floor + 0.05)
    while given.weights @ rates[0] < given.weights @ rates[1]:
        rates[1] *= 0.8
    bets, theta = make_bets(2, n_groups), rng.uniform(10.0, 200.0)
    s = rng.uniform(0.0, 30.0, n_groups) * (np.arange(n_groups) < constrained)
    cone = np.array([theta * given.weights, -theta * given.weights - s])
    bets.moved[0, 1] = cone + rng.normal(0.0, (0.3, 3.0, 30.0)[seed % 3], cone.shape)
    means = standard(rates, floor)
    bound_means(bets, math.log(3000.0), pulls, means, floor)
    return bets, given, pulls, rates, means


def as_bets(moved):
    """A pull of each coordinate with all of W as its coefficient."""
    return [reference.Bet(r, l, moved[r, l], 0.0, 0.0) for r, l in np.ndindex(*moved.shape)]


def box_of(bets, given):
    return bets.low + given.floor, bets.high + given.floor


@pytest.mark.parametrize("seed", range(1, 41))  # of 0 the box holds no such rates
def test_the_bound_is_the_optimum_of_its_program(seed):
    """The least over the cone is the largest over the kind, which is a linear program."""
    bets, given, *_ = drawn(seed)
    floor, m = given.floor, given.constrained
    worst = reference.worst_rates(
        as_bets(bets.moved[0, 1]), *box_of(bets, given), given.weights, floor, m
    )
    expected = (bets.moved[0, 1] * (worst - floor)).sum()
    assert upper_bound(bets, given, 0, 1) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_nearest_rates_solve_their_program(seed):
    _, given, pulls, rates, means = drawn(seed)
    work = buffers(rates.shape)
    nearest_rates(pulls, means, given, 0, 1, work)
    shrunk = (pulls * rates + 0.5) / (pulls + 1.0)
    np.testing.assert_allclose(work.means, shrunk - given.floor, rtol=1e-12)
    cost, nearest = reference.nearest_rates(
        pulls, shrunk, given.weights, given.floor, given.constrained
    )
    found = shrunk - work.shift
    kl = shrunk * np.log(shrunk / found) + (1 - shrunk) * np.log((1 - shrunk) / (1 - found))
    assert (pulls * kl).sum() == pytest.approx(cost, rel=2e-3, abs=1e-6)
    np.testing.assert_allclose(found, nearest, rtol=0.02, atol=2e-3)


@pytest.mark.parametrize("seed", range(12))
def test_bets_solve_their_program(seed):
    """Before they are cut to what is allowed."""
    bets, given, pulls, rates, means = drawn(seed)
    work = buffers(rates.shape)
    plan_bets(bets, math.log(3000.0), 1000, pulls, means, given, 0, work)
    m, c = bets.centres[1], bets.coefficients[1]
    assert (c * m <= 1.0 + 1e-12).all()
    assert (c * (1.0 - m) >= -1.0 - 1e-12).all()
    shrunk = (pulls * rates + 0.5) / (pulls + 1.0)
    stakes = (shrunk - m) / (m * (1.0 - m))
    x = min(2.0 * max((stakes * m).max(), (-stakes * (1.0 - m)).max()), LARGEST)
    means_above, variance = shrunk - given.floor, m * (1.0 - m)
    given_to = (bets.moved[0, 1], HORIZON * pulls, variance, means_above)
    expected = reference.best_coefficients(*given_to, given.weights, given.constrained, x)
    cut = np.clip(expected, -1.0 / (1.0 - m), 1.0 / m)
    np.testing.assert_allclose(c, cut, rtol=1e-3, atol=1e-3)
    assert (bets.planned[0], bets.next_plan[0]) == (0, 1031)


INSTANCE = Instance(
    name="rates",
    means=[[0.3, 0.5, 0.4], [0.35, 0.3, 0.3], [0.1, 0.6, 0.5]],
    weights=[0.2, 0.3, 0.5],
    minimum=[0.2, 0.25],
    constrained=2,
    rewards="bernoulli",
)


def started(strategy="T-a-SCS", reading="maximiser+proven", delta=0.1):
    kernels, rules, world, _ = steps(INSTANCE, Cell("rates", strategy, {"delta": delta}, reading))
    return kernels, rules, world, kernels.start(rules)


@pytest.mark.parametrize("strategy", ["T-a-SCS", "Uniform"])
def test_evidence_is_that_of_a_slow_retelling(strategy):
    """Every pull of a run: the product of its bets, at the worst rates of the box."""
    reading = {"T-a-SCS": "maximiser+proven", "Uniform": "proven"}[strategy]
    kernels, rules, world, state = started(strategy, reading)
    streams, floor, told = run_streams(3, 0), rules.problem.floor, {}
    while state.clock[0] < 600:
        pair = int(kernels.choose(rules, state, streams.coins))
        reward = float(world.values[pair, int(streams.environment.random() < world.chances[pair])])
        (arm, l), b = divmod(pair, 3), int(state.e_values.bets.planned[0])
        for k in range(3):
            if b >= 0 and k != b and arm in (b, k):
                row = int(arm == k)
                c = float(state.e_values.bets.coefficients[k, row, l])
                m = float(state.e_values.bets.centres[k, row, l])
                told.setdefault((b, k), []).append(
                    reference.Bet(row, l, c, m, round(floor[l] + 0.5 * reward))
                )
        kernels.observe(rules, state, pair, reward)
    best, bets = int(state.answer[0]), state.e_values.bets
    for k in {0, 1, 2} - {best}:
        rows = [best, k]
        box = (bets.low + floor)[rows], (bets.high + floor)[rows]
        worst = reference.worst_rates(told[best, k], *box, rules.problem.weights, floor, 2)
        infeasible = log_infeasible(floor, state.e_values, state.pulls, state.means, 2, k)
        both = (1 - INFEASIBLE) * reference.log_e_value(told[best, k], worst)
        both += INFEASIBLE * math.exp(infeasible)
        expected = math.log((1 - BOX) * both)
        assert log_e_value(rules, state, 2 + k) == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert len(told) > 2


def test_a_bet_does_not_depend_on_the_reward_that_it_is_on():
    """W and Z after a pull are the same for any reward; l is not."""
    found = []
    for last in (0.0, 1.0, 0.25):
        kernels, rules, world, state = started()
        streams = run_streams(4, 0)
        for t in range(300):
            pair = int(kernels.choose(rules, state, streams.coins))
            drawn_reward = kernels.pull(world, state, pair, streams.environment)
            given = standard(last, rules.problem.floor[pair % 3]) if t == 299 else drawn_reward
            kernels.observe(rules, state, pair, float(given))
        found.append(state.e_values.bets)
    for other in found[1:]:
        np.testing.assert_array_equal(other.moved, found[0].moved)
        np.testing.assert_array_equal(other.centred, found[0].centred)
        assert (other.wealth != found[0].wealth).any()
    chord = 0.75 * found[0].wealth + 0.25 * found[1].wealth
    np.testing.assert_allclose(found[2].wealth, chord, rtol=1e-9, atol=1e-12)


def test_counts_are_bets_that_were_planned_before_them():
    """A batch of one is a pull; of a larger one W and Z do not depend on its rewards."""
    kernels, rules, world, state = started()
    twin, streams = kernels.start(rules), run_streams(5, 0)
    for _ in range(200):
        pair = int(kernels.choose(rules, state, streams.coins))
        reward = float(kernels.pull(world, state, pair, streams.environment))
        pulls, sums = np.zeros((3, 3)), np.zeros((3, 3))
        pulls.flat[pair], sums.flat[pair] = 1.0, reward
        observe(rules, state, pair, reward)
        observe_counts(rules, twin, pulls, sums, np.zeros((3, 3)))
    one, other = state.e_values.bets, twin.e_values.bets
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    moved = []
    for rate in (0.0, 1.0):
        copy = kernels.start(rules)
        for to, what in zip(copy.e_values.bets, one, strict=True):
            to[:] = what
        sums = standard(np.full((3, 3), rate), rules.problem.floor) * 40.0
        observe_counts(rules, copy, np.full((3, 3), 40.0), sums, np.zeros((3, 3)))
        moved.append(copy.e_values.bets.moved)
    np.testing.assert_array_equal(moved[0], moved[1])
    assert (moved[0] != one.moved).any()


def test_wins_in_a_row_are_evidence_for_who_asks():
    """Ask and tell: the statistic of an object is the e-value of the steps."""
    s = baics.TaSCS(2, [1.0], constrained=0, rewards="bernoulli", delta=0.05)
    while not s.done:
        arm, group = s.ask()
        s.tell((arm, group), float(arm == 0))
    assert s.answer == 0
    assert s.told < 60
    assert s.statistic == pytest.approx(log_e_value(s._rules, s._state, 1))
    assert FRACTIONS.size == s._state.e_values.bets.wealth.shape[2]
