"""Proved stopping rules: e-values against the slow version, and errors where they are likely."""

import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from bestarm.baics import reference_e_values as reference
from bestarm.baics.alternatives import NO_ARM, best_feasible_arm, make_problem
from bestarm.baics.e_values import (
    DIRECTED,
    ELLIPSOID,
    INFEASIBLE,
    INTERVALS,
    MEAN_WEIGHT,
    MIXTURE,
    PAIR_WEIGHT,
    PRIOR_PULLS,
    excluded,
    half_width,
    log_excluded,
    log_feasible,
    log_infeasible,
    log_mixture,
    log_one_side,
    log_unknown,
    make_e_values,
    refuted_unknown,
)
from bestarm.baics.pairs import lower_bound
from bestarm.baics.problem import Instance
from bestarm.baics.steps import log_e_value
from bestarm.baics.strategies import READINGS, STRATEGIES, prepare, steps
from bestarm.common.paper import Cell
from bestarm.common.tables import read_table
from bestarm.core.compile import jit
from bestarm.core.inputs import InputError
from bestarm.core.status import Status
from bestarm.core.streams import run_streams

#: Truths where a wrong answer is as good as right: nothing but delta keeps a run from it. The right
#: answer is the first of tied arms.
BOUNDARY = {
    "infeasible by 1e-9": ([[0.5, -1e-9], [-0.4, -0.3]], 0),
    "two tied": ([[0.5, 0.3], [0.3, 0.5]], 1),
    "three tied": ([[0.4, 0.4], [0.4, 0.4], [0.4, 0.4]], 1),
    "tied, one at a vertex": ([[0.4, 0.2], [0.6, 0.0]], 1),
    "an arm at 0": ([[0.0, 0.0], [-0.5, 0.5]], 1),
}
#: The same with other rewards: further fields of the instance.
REWARDS = {
    "two tied": {"sigma": [[0.2, 1.0], [2.0, 0.5]]},
    "infeasible by 1e-9": {"sigma": [[1.0, 0.1], [1.0, 0.2]]},
    "rates": {
        "means": [[0.5, 0.3 - 1e-9], [0.2, 0.2]],
        "minimum": [0.4, 0.3],
        "rewards": "bernoulli",
    },
    "none": {
        "means": [[0.05, 0.0], [0.03, 0.02 - 1e-9]],
        "minimum": [0.05, 0.0],
        "rewards": "bernoulli",
    },
    "rare": {"means": [[0.02, 0.02], [0.02, 0.02]], "minimum": 0.02, "rewards": "bernoulli"},
}
RIGHT = {"rates": 0, "none": 1, "rare": 1}
PROVEN = [(s, r) for s, named in READINGS.items() for r in named if "proven" in r]
#: Every proven strategy and reading at one of the truths, every kind of e-value at all of them.
AT_TRUTHS = [
    (strategy, reading, list(BOUNDARY)[i % len(BOUNDARY)])
    for kind in (
        [pair for pair in PROVEN if pair[1].endswith("proven")],
        [pair for pair in PROVEN if pair[1].endswith("mixture")],
        [pair for pair in PROVEN if pair[1].endswith("sigma")]
        + [("T-a-S", "proven-unknown-sigma")],
    )
    for i, (strategy, reading) in enumerate(kind)
]
#: Runs of a test of errors, and wrong stops that a rule which errs in a share DELTA exceeds once in
#: 10^6 times. One that errs in 30% of its runs is seen with probability 0.99.
RUNS, DELTA = 200, 0.1
MOST = stats.binom.isf(1e-6, RUNS, DELTA)


def wrong_stops(instance, strategy, reading, answer):
    """Of RUNS runs of at most 1500 pulls."""
    cell = Cell(instance.name, strategy, {"delta": DELTA, "cap": 1500}, reading)
    replicate = prepare(instance, cell)
    found = [replicate(run_streams(31, r)) for r in range(RUNS)]
    return sum(run.status == Status.STOPPED and run.answer != answer for run in found)


def drawn(seed, n_arms=3, n_groups=4, constrained=3):
    """Pulls, means and a problem; of every third seed no arm is feasible."""
    rng = np.random.default_rng(seed)
    pulls = rng.integers(1, 400, (n_arms, n_groups)).astype(float)
    means = rng.normal(0.2, 0.6, (n_arms, n_groups))
    if seed % 3 == 0:
        means[:, 0] = -np.abs(means[:, 0])
    problem = make_problem(rng.dirichlet(np.ones(n_groups)), constrained, np.ones(means.shape))
    return pulls, means, problem, best_feasible_arm(means, problem)


@pytest.mark.parametrize("seed", range(12))
def test_mixture_evidence_is_that_of_the_slow_version(seed):
    pulls, means, problem, best = drawn(seed)
    sigma = np.random.default_rng(seed).uniform(0.3, 2.0, means.shape) if seed % 2 else 1.0
    problem = make_problem(problem.weights, problem.constrained, np.ones(means.shape) * sigma)
    best = best_feasible_arm(means / sigma, problem)
    buffers = make_e_values(3, 4, MIXTURE).buffers
    for i in range(problem.constrained + len(means)):
        found = log_mixture(i, pulls, means / sigma, problem, best, buffers)
        none = None if best == NO_ARM else best
        expected = reference.mixture(i, pulls, means, *problem[:2], none, PRIOR_PULLS, sigma)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


def of_rates(rewards, floor):
    """(1, L) pulls and means of an arm, above the floor and in units of sigma 1/2."""
    means = [(x.mean() - c) / 0.5 for x, c in zip(rewards, floor, strict=True)]
    return np.array([[float(x.size) for x in rewards]]), np.array([means])


@pytest.mark.parametrize("seed", range(8))
def test_beta_evidence_is_that_of_the_slow_version(seed):
    """For every subpopulation "infeasible" is tested, and "feasible" by the average."""
    rng = np.random.default_rng(seed)
    floor = rng.uniform(0.02, 0.9, 3)
    rates = np.clip(floor + rng.normal(0.0, 0.2, 3), 0.0, 1.0)
    rewards = [rng.binomial(1, p, int(rng.integers(3, 200))).astype(float) for p in rates]
    if seed % 4 == 0:
        rewards = [0.3 * x + 0.1 for x in rewards]  # not 0 or 1, but between
    pulls, means = of_rates(rewards, floor)
    sides = []
    for l, (x, c) in enumerate(zip(rewards, floor, strict=True)):
        expected = reference.one_side(x, c, below=False, weight=MEAN_WEIGHT)
        assert log_feasible(floor, pulls, means, 0, l) == pytest.approx(expected, abs=1e-6)
        sides.append(reference.one_side(x, c, below=True, weight=MEAN_WEIGHT))
    found = log_infeasible(floor, make_e_values(1, 3, DIRECTED), pulls, means, 3, 0)
    assert found == pytest.approx(special.logsumexp(sides) - math.log(3), abs=1e-6)


@pytest.mark.parametrize(
    ("least", "below", "value"),
    [(0.0, False, np.inf), (1.0, False, -np.inf), (0.0, True, -np.inf), (1.0, True, np.inf)],
)
def test_beta_e_values_at_minima_of_0_and_1(least, below, value):
    """No rate is below 0, so none is infeasible; one failure shows a rate below 1."""
    assert log_one_side(4.0, (0.75 - least) / 0.5, least, below) == value
    assert log_one_side(4.0, 0.0, 1.0, below=True) == -np.inf


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("least", [0.05, 0.5, 0.8])
def test_beta_e_value_is_on_average_at_most_1(least, below):
    """Under every mean of the side that is tested: a sum over all numbers of successes."""
    for count in (1, 4, 30):
        successes = np.arange(count + 1)
        e_values = np.exp(
            [log_one_side(count, (s / count - least) / 0.5, least, below) for s in successes]
        )
        far = 1.0 if below else 0.0
        for mean in np.linspace(least, far, 6):
            chances = stats.binom.pmf(successes, count, mean)
            assert chances @ e_values <= 1.0 + 1e-9


@jit
def ever_reached(coins, runs, pulls, least, below, level):
    """Runs of Bernoulli rewards of mean `least` in which the e-value ever reaches the level."""
    reached = 0
    for _ in range(runs):
        successes = 0.0
        for n in range(1, pulls + 1):
            successes += coins.random() < least
            if log_one_side(n, (successes / n - least) / 0.5, least, below) > level:
                reached += 1
                break
    return reached


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("least", [0.02, 0.5])
def test_beta_evidence_holds_at_all_times(least, below):
    """A rule that errs in a share delta fails once in 10^6."""
    runs, delta = 2000, 0.1
    coins = np.random.default_rng(5)
    reached = ever_reached(coins, runs, 2000, least, below, math.log(1.0 / delta))
    assert 0 < reached <= stats.binom.isf(1e-6, runs, delta)


@pytest.mark.parametrize(("strategy", "reading", "truth"), AT_TRUTHS)
def test_errors_at_the_boundary_are_rarer_than_delta(strategy, reading, truth):
    """What a rule promises does not depend on how pulls are chosen, so that a truth is tried with
    one strategy per kind of e-value. The figure `boundary` has 2,000 runs of each of its cells."""
    means, answer = BOUNDARY[truth]
    instance = Instance(name=truth, means=means, weights=[0.5, 0.5])
    assert wrong_stops(instance, strategy, reading, answer) <= MOST


def test_every_proven_reading_and_every_kind_of_evidence_at_all_truths_is_tried():
    assert {(s, r) for s, r, _ in AT_TRUTHS} == set(PROVEN)
    tried = {(r.rsplit("+")[-1].rsplit("-")[-1], truth) for _, r, truth in AT_TRUTHS}
    assert len(tried) == 3 * len(BOUNDARY)


@pytest.mark.parametrize(
    ("reading", "truth"),
    [
        *(
            (reading, truth)
            for reading in ("maximiser+proven", "proven-mixture")
            for truth in REWARDS
        ),
        ("maximiser+proven-unknown-sigma", "two tied"),
        ("maximiser+proven-unknown-sigma", "infeasible by 1e-9"),
    ],
)
def test_errors_at_the_boundary_with_other_rewards(reading, truth):
    """As the test above."""
    means, answer = BOUNDARY.get(truth, (None, RIGHT.get(truth)))
    fields = {"name": truth, "means": means, "weights": [0.5, 0.5]} | REWARDS[truth]
    assert wrong_stops(Instance(**fields), "T-a-SCS", reading, answer) <= MOST


def test_error_rates_of_the_paper_scale_are_below_delta(root):
    """Upper Wilson limits of the figure `boundary`, in which the paper's rule exceeds it."""
    table = read_table(root / "figures/baics/boundary.csv")
    wrong = table[table.statistic == "wrong_stops"]
    proved = wrong.reading.str.contains("proven")
    assert set(wrong.delta[proved]) == {0.1, 0.05, 0.01}
    assert (wrong.n == 1000).all()
    assert (wrong.high <= wrong.delta)[proved].all()
    assert (wrong.low > wrong.delta)[~proved].any()


def test_the_paper_s_rule_errs_too_often_at_the_boundary():
    """So such truths show a rule that is wrong: here with twenty subpopulations of mean 0."""
    instance = Instance(name="zeros", means=[[0.0] * 20, [-1.0] * 20], weights=[1.0] * 20)
    wrong = {}
    for reading in ("as-written", "proven-mixture"):
        cell = Cell("zeros", "T-a-SCS", {"delta": 0.1, "cap": 1500}, reading)
        replicate = prepare(instance, cell)
        found = [replicate(run_streams(31, r)) for r in range(100)]
        wrong[reading] = sum(r.status == Status.STOPPED and r.answer != 1 for r in found)
    bar = stats.binom.isf(1e-6, 100, 0.1)
    assert wrong["as-written"] > bar >= wrong["proven-mixture"]


def half_normal(u, v, n1):
    """ln of the mixture, by the normal distribution's own functions."""
    z = u / math.sqrt(v + n1)
    return 0.5 * math.log(n1 / (v + n1)) + z * z / 2 + math.log(2) + stats.norm.logcdf(z)


@pytest.mark.parametrize("name", ["answer", "none"])
def test_directed_evidence_is_that_of_a_slow_retelling(name):
    """Every pull of a run: sums by hand from its coefficients, then the e-value by its definition.

    The pair's bound is the kernel's own, which tests/baics/test_pairs.py compares with its program.
    """
    means = {
        "answer": [[0.2, 0.6, 0.8], [0.4, 0.4, 0.3], [-0.2, 1.0, 1.5]],
        "none": [[0.4, -0.3, 0.2], [-0.4, 0.4, 0.3], [-0.2, -0.5, 0.5]],
    }[name]
    instance = Instance(name=name, means=means, weights=[0.2, 0.3, 0.5], constrained=2)
    cell = Cell(name, "T-a-SCS", {"delta": 0.1}, "maximiser+proven")
    strategy, rules, world, _ = steps(instance, cell)
    streams, state = run_streams(7, 0), strategy.start(rules)
    below, variance, level = np.zeros(3), np.zeros(3), math.log(3 / 0.1)
    while state.clock[0] < 400:
        pair = strategy.choose(rules, state, streams.coins)
        (k, l), before = divmod(int(pair), 3), state.means.copy()
        reward = world.means[k, l] + streams.environment.standard_normal()
        if l < 2 and before[k, l] < 0.0:
            c = before[k, l] / before[k, :2].min()
            below[k], variance[k] = below[k] - c * reward, variance[k] + c * c
        strategy.observe(rules, state, pair, reward)
    best, e_values = state.answer[0], state.e_values
    assert (best == NO_ARM) == (name == "none")
    for l in range(2):
        total = state.pulls[best, l] * state.means[best, l]
        told = half_normal(total, state.pulls[best, l], MEAN_WEIGHT)
        expected = math.inf if best == NO_ARM else told
        assert log_e_value(rules, state, l) == pytest.approx(expected, rel=1e-9)
    for k in range(3):
        told = half_normal(below[k], variance[k], MEAN_WEIGHT)
        if best != NO_ARM and k != best:
            share = level - math.log(ELLIPSOID)
            parts = (e_values.pairs, share, state.pulls, state.means, rules.problem, best, k)
            u = lower_bound(*parts, e_values.buffers)
            pair = half_normal(u, e_values.pairs.variance[best, k], PAIR_WEIGHT)
            both = (1 - INFEASIBLE) * math.exp(pair) + INFEASIBLE * math.exp(told)
            told = math.log((1 - ELLIPSOID) * both)
        expected = math.inf if k == best else told
        assert log_e_value(rules, state, 2 + k) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("delta", [0.2, 1e-6])
def test_a_run_stops_when_the_least_evidence_exceeds_k_over_delta(delta):
    """Just below and just beyond ln(K / delta), by the scale of all means."""
    instance = Instance(name="x", means=[[1.0, 0.8], [0.5, 0.2], [0.1, -1.0]], weights=[0.4, 0.6])
    cell = Cell("x", "Uniform", {"delta": delta}, "proven-mixture")
    strategy, rules, world, _ = steps(instance, cell)
    state = strategy.start(rules)
    state.clock[0], state.answer[0] = 700, 0
    state.pulls[:] = [[100.0, 50.0], [80.0, 60.0], [200.0, 210.0]]

    def excess(scale):
        state.means[:] = scale * world.means
        return min(log_e_value(rules, state, i) for i in range(5)) - math.log(3 / delta)

    scale = optimize.brentq(excess, 0.01, 100.0, xtol=1e-13)
    for factor in (1 - 1e-6, 1 + 1e-6):
        excess(factor * scale)
        assert strategy.done(rules, state) == (factor > 1)


def played(instance, cell, pulls):
    """A run of so many pulls, and its rewards by (arm, subpopulation)."""
    strategy, rules, world, _ = steps(instance, cell)
    streams, state = run_streams(7, 0), strategy.start(rules)
    n_arms, n_groups = world.means.shape
    rewards = [[[] for _ in range(n_groups)] for _ in range(n_arms)]
    while state.clock[0] < pulls:
        pair = int(strategy.choose(rules, state, streams.coins))
        reward = strategy.pull(world, state, pair, streams.environment)
        rewards[pair // n_groups][pair % n_groups].append(reward)
        strategy.observe(rules, state, pair, reward)
    return strategy, rules, state, [[np.array(x) for x in row] for row in rewards]


@pytest.mark.parametrize("pulls", [60, 300])
@pytest.mark.parametrize("sigma", [1.0, [[0.5, 1.0, 2.0], [1.0, 0.3, 1.0], [0.7, 0.7, 0.2]]])
@pytest.mark.parametrize("name", ["answer", "none"])
def test_with_sigma_unknown_kinds_are_excluded_as_by_the_slow_version(name, sigma, pulls):
    """Just below and beyond the e-value that is found, and at ln(K / delta), from raw rewards."""
    means = {
        "answer": [[0.3, 0.6, 0.8], [0.4, 0.4, 0.3], [-0.6, 1.0, 1.5]],
        "none": [[0.4, -0.9, 0.2], [-0.9, 0.4, 0.3], [-0.2, -0.9, 0.5]],
    }[name]
    fields = {"weights": [0.2, 0.3, 0.5], "constrained": 2, "sigma": sigma}
    instance = Instance(name=name, means=means, **fields)
    cell = Cell(name, "T-a-SCS", {"delta": 0.1}, "maximiser+proven-unknown-sigma")
    strategy, rules, state, rewards = played(instance, cell, pulls)
    best, level = int(state.answer[0]), math.log(3 / 0.1)
    assert (best == NO_ARM) == (name == "none")
    data = (state.e_values, state.pulls, state.means, rules.problem, best)
    none = None if best == NO_ARM else best
    given = (instance.problem.weights, 2, none, MEAN_WEIGHT, INTERVALS)
    for i in range(5):
        e_values = log_excluded(i, level, *data)
        assert log_unknown(i, level, *data) >= e_values
        near = [] if e_values in (0.0, math.inf) else [e_values - 1e-6, e_values + 1e-6]
        for at in (0.5, level, 2 * level, *near):
            assert excluded(i, at, *data) == (e_values > at)
            assert excluded(i, at, *data) == reference.excluded(i, rewards, at, *given)
    ends = reference.t_interval(rewards[0][0], level, MEAN_WEIGHT)
    half = half_width(level, state.e_values, state.pulls, 0, 0)
    assert half == pytest.approx((ends[1] - ends[0]) / 2, rel=1e-6)
    everything = all(refuted_unknown(i, level, *data) for i in range(5))
    assert everything == (min(log_unknown(i, level, *data) for i in range(5)) > level)
    assert strategy.done(rules, state) == everything


def test_scatter_keeps_its_digits_far_from_zero():
    """A mean of 10^8 sigma, of which a sum of squares keeps no digit."""
    rules = steps(
        Instance(name="x", means=[[1.0], [0.0]], weights=[1.0]),
        Cell("x", "Uniform", {"delta": 0.1}, "proven-unknown-sigma"),
    ).rules
    kernels = STRATEGIES["Uniform"]
    state, rewards = kernels.start(rules), 1e8 + np.random.default_rng(0).normal(size=200)
    for reward in rewards:
        kernels.observe(rules, state, 0, reward)
    assert state.e_values.scatter[0, 0] == pytest.approx(200 * rewards.var(), rel=1e-6)


def test_rates_have_no_unknown_sigma():
    cell = Cell("x", "Uniform", {"delta": 0.1}, "proven-unknown-sigma")
    rates = Instance(name="x", means=[[0.5], [0.4]], weights=[1.0], rewards="bernoulli")
    with pytest.raises(InputError, match="proven-unknown-sigma: needs Gaussian rewards"):
        steps(rates, cell)
