"""The best k arms by an ask/tell object: the same run as the core's, answers and arguments."""

import itertools

import numpy as np
import pytest
from scipy import optimize, stats

from bestarm.bai import TopK
from bestarm.bai.bets import BOX, make_bets, plan_bets, record_bets, upper_bound
from bestarm.baics import reference_bets as reference
from bestarm.core.bets import log_wealth
from bestarm.core.inputs import InputError
from bestarm.core.pure_exploration.steps import World, make_rules
from bestarm.core.pure_exploration.strategies import STRATEGIES
from bestarm.core.pure_exploration.top_arms import top_arms
from bestarm.core.strategy import NO_CAP
from bestarm.core.streams import run_streams

MEANS = np.array([1.0, 0.0, 0.8, 0.2])


@pytest.mark.parametrize("top", [1, 2, 3])
def test_same_run_as_the_core(top):
    unit, streams = 0.25, run_streams(3, top)
    world, rules = World(MEANS / unit, np.ones(4)), make_rules(top_arms(4, top), 0.1)
    state, _ = STRATEGIES["Game"].play(world, rules, NO_CAP, streams.environment, streams.coins)
    s, environment = (
        TopK(4, top, rewards="gaussian", sigma=unit),
        run_streams(3, top).environment,
    )
    while not s.done:
        arm = s.ask()
        s.tell(arm, unit * (world.means[arm] + environment.standard_normal()))
    assert s.pulls.tolist() == state.pulls.tolist()
    assert s.answer == sorted(np.argsort(-MEANS)[:top].tolist())


def stops(sums, pulls, answer, delta, tolerance=0.0):
    """The stopping rule of Gaussian rewards by its definition: every exchange is ruled out."""
    k, inside = len(pulls), set(answer)
    shrunk, mixing_cost = pulls**2 / (pulls + 30.0), 0.5 * np.log1p(pulls / 30.0)
    means, pairs = sums / pulls, len(inside) * (k - len(inside))
    for a, c in itertools.product(inside, set(range(k)) - inside):
        weight = shrunk[a] * shrunk[c] / (shrunk[a] + shrunk[c])
        e_values = 0.5 * weight * (means[a] - means[c] + tolerance) ** 2
        if e_values <= np.log(pairs / delta) + mixing_cost[a] + mixing_cost[c]:
            return False
    return True


@pytest.mark.parametrize(("means", "tolerance"), [([1.8, 0.2, 1.4], 0.0), ([1.4, 1.4, 1.4], 0.9)])
def test_it_stops_when_every_exchange_is_ruled_out(means, tolerance):
    options = {"delta": 0.2, "rewards": "gaussian", "tolerance": tolerance}
    s, rng = TopK(3, 2, **options), np.random.default_rng(5)
    sums, pulls = np.zeros(3), np.zeros(3)
    while not s.done:
        arm = s.ask()
        reward = means[arm] + rng.normal()
        s.tell(arm, reward)
        sums[arm], pulls[arm] = sums[arm] + reward, pulls[arm] + 1.0
        if pulls.all():
            assert s.done == stops(sums, pulls, s.answer, 0.2, tolerance)
    assert tolerance or s.answer == [0, 2]


def bet_on(s, arm, reward, told):
    """Tell a reward; enter the bets on it, of every pair that has one."""
    bets, arms = s._bets, range(len(s._arms))
    for b, a in itertools.permutations(arms, 2):
        if arm in (b, a) and bets.planned[b] and not bets.planned[a]:
            row = int(arm == a)
            c, m = bets.coefficients[b, a, row], bets.centres[b, a]
            told.setdefault((b, a), []).append(reference.Bet(row, 0, c, m, reward))
    s.tell(s._arms[arm], reward)


def test_rates_stop_when_the_bets_on_every_exchange_have_won():
    """Against the product of all bets of a run, at the worst means of the box."""
    s, rng = TopK(["a", "b", "c"], 2, delta=0.2), np.random.default_rng(5)
    rates, told = {"a": 0.9, "b": 0.1, "c": 0.7}, {}
    while not s.done:
        arm = s.ask()
        bet_on(s, "abc".index(arm), float(rng.random() < rates[arm]), told)
        if s.pulls.all():
            best = ["abc".index(name) for name in s.answer]
            found = []
            for b, a in itertools.product(best, {0, 1, 2} - set(best)):
                of_pair, rows = told.get((b, a), []), [b, a]
                box = s._bets.low[rows, None], s._bets.high[rows, None]
                worst = reference.worst_rates(of_pair, *box, np.ones(1), [0.0], 0)
                e_values = (1.0 - BOX) * reference.log_e_value(of_pair, worst)
                found.append(e_values)
            expected = pytest.approx(np.log(found), rel=1e-8, abs=1e-8)
            assert s._statistics()[0].ravel() == expected
            assert s.done == (min(found) > 2 / 0.2)
    assert s.answer == ["a", "c"]
    table = s.summary().set_index("arm")
    assert table.status.to_dict() == {"a": "among the best", "b": "worse", "c": "among the best"}
    assert all(table.low[arm] <= rate <= table.high[arm] for arm, rate in rates.items())
    assert s.why_not_done() == "It has stopped: ['a', 'c']."


def test_tied_rates_are_hardly_ever_told_apart():
    """At most delta of runs stop at all where two arms tie; a false alarm once in 10^6."""
    stopped, runs, delta = 0, 60, 0.2
    for seed in range(runs):
        s, rng = TopK(2, 1, delta=delta), np.random.default_rng(seed)
        for _ in range(300):
            s.tell(s.ask(), float(rng.random() < 0.3))
            if s.done:
                break
        stopped += s.done
    assert stopped <= stats.binom.isf(1e-6, runs, 2 * delta)  # either arm may be called better


@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.3, 0.3), (0.2, 0.6), (0.97, 1.0)])
def test_bets_are_on_average_at_most_fair_over_all_sequences(rates):
    """The mixture at W . mu, exactly, after up to ten pulls that follow luck."""
    answer, mu = np.array([1, 0]), np.array(rates)
    now = [(make_bets(2), np.zeros(2), np.zeros(2))]
    for _ in range(10):
        after = []
        for bets, pulls, sums in now:
            arm = int(2 * sums[0] + 3 * sums[1] + pulls[0]) % 2 if pulls.all() else int(pulls[0])
            for reward in (0.0, 1.0):
                one = type(bets)(*(array.copy() for array in bets))
                n, s = pulls.copy(), sums.copy()
                record_bets(one, arm, 1.0, reward)
                n[arm], s[arm] = n[arm] + 1.0, s[arm] + reward
                if n.all():
                    plan_bets(one, 5.0, n, s, answer)
                after.append((one, n, s))
        now = after
        chances = [(mu**s * (1.0 - mu) ** (n - s)).prod() for _, n, s in now]
        slack = [bets.centred[0, 1] - bets.moved[0, 1] @ mu for bets, *_ in now]
        fair = [log_wealth(x[0].wealth[0, 1], y) for x, y in zip(now, slack, strict=True)]
        assert np.dot(chances, np.exp(fair)) <= 1.0 + 1e-9
    assert max(np.abs(bets.moved[0, 1]).max() for bets, *_ in now) > 0.5


@pytest.mark.parametrize("margin", [0.0, 0.05, 0.3])
def test_with_a_margin_the_bound_is_that_of_a_linear_program(margin):
    """max W . mu over the box and mu_b <= mu_a - margin, after bets of a run."""
    s, rng = TopK(2, 1, delta=0.2), np.random.default_rng(2)
    for n in range(1, 200):
        arm = s.ask()
        s.tell(arm, float(rng.random() < (0.6, 0.5)[arm]))
        if n % 40 == 0:
            bets, (b, a) = s._bets, (s.answer[0], 1 - s.answer[0])
            box = [(bets.low[arm], bets.high[arm]) for arm in (b, a)]
            worst = optimize.linprog(-bets.moved[b, a], [[1.0, -1.0]], [-margin], bounds=box)
            assert worst.status == 0
            assert upper_bound(bets, b, a, margin) == pytest.approx(-worst.fun, abs=1e-9)


@pytest.mark.parametrize("rewards", ["bernoulli", "gaussian"])
def test_equally_good_arms_end_within_a_tolerance(rewards):
    given = {"tolerance": 0.2, "rewards": rewards} | ({"sigma": 0.5} if rewards[0] == "g" else {})
    s, rng = TopK(["a", "b", "c"], 2, **given), np.random.default_rng(3)
    for arm in "abc":
        s.tell(arm, 0.5)
    assert " by more than 0.2: the test statistic is " in s.why_not_done()
    while not s.done:
        s.tell(s.ask(), float(rng.random() < 0.5))
    assert s.told < 3000
    assert [*s.summary().status].count("not much better") == 1
    assert TopK.from_dict(s.to_dict()).to_dict() == s.to_dict()


@pytest.mark.parametrize("rewards", ["bernoulli", "gaussian"])
def test_answers_beyond_the_tolerance_are_rare_under_attack(rewards):
    """At 30%, the best arm being better by little more than the tolerance; 60 runs.

    Pulls are of the best arm if it looks bad, so that it stays so, and else of the others. A right
    strategy errs in more runs once in a million.
    """
    wrong, sigma = 0, {} if rewards == "bernoulli" else {"sigma": 0.5}
    for seed in range(60):
        s = TopK(3, 1, delta=0.3, tolerance=0.2, rewards=rewards, **sigma)
        rng = np.random.default_rng(seed)
        while not s.done and s.told < 400:
            looks_bad = s.pulls.all() and s.means[0] < s.means[1:].max()
            arm = s.told % 3 if not looks_bad else 1 + s.told % 2
            reward = rng.normal((0.71, 0.5, 0.5)[arm], 0.5)
            if rewards == "bernoulli":
                reward = float(rng.random() < (0.71, 0.5, 0.5)[arm])
            s.tell(arm, reward)
        wrong += s.done and s.answer != [0]
    assert wrong <= stats.binom.isf(1e-6, 60, 0.3)


def test_why_not_done_names_the_nearest_exchange():
    s = TopK(["a", "b", "c"], 1, delta=1e-6)
    assert s.why_not_done() == "Some arms have no result yet."
    for arm, reward in (("a", 1.0), ("b", 0.0), ("c", 0.5)) * 4:
        s.tell(arm, reward)
    assert "c may be better than a: the test statistic is" in s.why_not_done()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"top": 3}, "TopK: top: must be a whole number from 1 to 2, got 3"),
        ({"top": 1.5}, "TopK: top: must be a whole number"),
        ({"n_arms": 63}, "TopK: n_arms: must be at most 62, got 63"),
        ({"rewards": "poisson"}, "TopK: rewards: must be one of bernoulli, gaussian, got"),
        ({"sigma": 2.0}, "TopK: sigma: must be left out unless rewards are gaussian"),
        ({"tolerance": -0.1}, "TopK: tolerance: must be a positive number, got -0.1"),
        ({"delta": 2.0}, "TopK: delta: must be less than 1"),
    ],
)
def test_refused_arguments(options, said):
    with pytest.raises(InputError, match=said):
        TopK(**{"n_arms": 3, "top": 1} | options)
