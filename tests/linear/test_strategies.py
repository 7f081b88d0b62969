"""Readings and their widths, coverage, error rates, and how cells become runs."""

import math

import numpy as np
import pytest
from scipy import stats

from bestarm.common.paper import Cell
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from bestarm.linear import reference
from bestarm.linear.allocation import ARGMIN_MAX, TWO_STEP
from bestarm.linear.confidence import radius
from bestarm.linear.least_squares import make_fit
from bestarm.linear.phased import EQ_18, FIGURE_3
from bestarm.linear.problem import Problem, paper_instance
from bestarm.linear.strategies import (
    CLOSEST,
    EASY,
    HONEST,
    HONEST_PERMILLE,
    NO_CAP,
    READINGS,
    STRATEGIES,
    adaptive_width,
    deterministic_budget,
    grid,
    make_rules,
    outcome,
    prepare,
    static_sequence,
    static_width,
)
from linear.instances import near_pair, pair_directions

FALSE_ALARM = 1e-3
CONSTANTS = {"1": 1.0, "sqrt2": math.sqrt(2.0), "2sqrt2": 2.0 * math.sqrt(2.0)}


def log_term(name, n, n_arms, delta):
    return {
        "log1": math.log(1.0 / delta),
        "logK": math.log(n_arms / delta),
        "logK2": math.log(n_arms**2 / delta),
        "logn": math.log(6.0 / math.pi**2 * n**2 * n_arms**2 / delta),
    }[name]


@pytest.mark.parametrize("log", ["log1", "logK", "logK2", "logn"])
@pytest.mark.parametrize("c", CONSTANTS)
def test_widths_are_those_of_proposition_1(c, log):
    reading = grid("G")[f"{c}*{log}+two-step"]
    adaptive = grid("Fully-Adaptive")[f"{c}*{log}+two-step"]
    for d in (2, 5):
        problem = paper_instance(d).problem
        for n in (d + 1, 1000, 10**6):
            wanted = CONSTANTS[c] * math.sqrt(log_term(log, n, d + 1, 0.05))
            assert radius(static_width(reading, d + 1, 0.05), n) == pytest.approx(wanted)
            width = adaptive_width(adaptive, problem, 0.05)
            assert radius(width, n) == pytest.approx(math.sqrt(d) * wanted)


def test_proposition_2_is_as_printed():
    """sigma sqrt(d log((1 + n L^2 / eta) / delta)) + sqrt(eta) ||theta||, eta = sigma = 1."""
    reading = READINGS["Fully-Adaptive"]["prop2+two-step"]
    for n in (4, 1000):
        problem = paper_instance(3).problem
        wanted = math.sqrt(3.0 * math.log((1.0 + n) / 0.1)) + 2.0
        assert radius(adaptive_width(reading, problem, 0.1), n) == pytest.approx(wanted)
        longer = problem._replace(arms=3.0 * problem.arms, norm=0.5)
        wanted = math.sqrt(3.0 * math.log((1.0 + 9.0 * n) / 0.1)) + 0.5
        assert radius(adaptive_width(reading, longer, 0.1), n) == pytest.approx(wanted)


def test_widths_do_not_fall():
    problem = paper_instance(4).problem
    ns = np.unique(np.geomspace(5, 1e8, 200).astype(int))
    for reading in READINGS["Fully-Adaptive"].values():
        for width in (static_width(reading, 5, 0.05), adaptive_width(reading, problem, 0.05)):
            assert (np.diff([radius(width, n) for n in ns]) >= 0.0).all()


def test_readings_are_every_combination_the_issue_names():
    sizes = {"G": 24, "XY": 24, "XY-Adaptive": 96, "XY-Oracle": 48, "Fully-Adaptive": 26}
    assert {name: len(grid(name)) for name in sizes} == sizes
    for name in sizes:
        assert list(READINGS[name])[:3] == ["honest", "closest", HONEST_PERMILLE]
        assert len(set(grid(name).values())) == sizes[name]
        assert CLOSEST[name] in grid(name)
    assert list(READINGS["RAGE"]) == list(READINGS["LinGapE"]) == ["as-written"]


def test_a_reading_is_what_its_name_says():
    one = grid("XY-Adaptive")["2sqrt2*logK+argmin-max+fig3+kept-out"]
    assert one == (2.0 * math.sqrt(2.0), "logK", ARGMIN_MAX, FIGURE_3, False, False, False, 1)
    other = grid("XY-Adaptive")["1*log1+two-step+eq18+rebuilt"]
    assert other == (1.0, "log1", TWO_STEP, EQ_18, True, False, False, 1)
    assert not grid("XY-Oracle")["1*log1+two-step+empirical"].true_gaps
    assert grid("XY-Oracle")["1*log1+two-step+true-gaps"].true_gaps


def test_the_honest_union_bound_adds_up():
    """Two-sided Gaussian tails beyond u are at most exp(-u^2 / 2); pairs are K (K - 1) / 2.

    Summed over n from 2 on, what the honest width leaves is less than delta for every K.
    """
    u = np.linspace(0.0, 12.0, 200)
    assert (2.0 * stats.norm.sf(u) <= np.exp(-(u**2) / 2.0)).all()
    over_n = math.pi**2 / 6.0 - 1.0
    for n_arms in (2, 3, 10, 1000):
        pairs = n_arms * (n_arms - 1) / 2.0
        for delta in (0.2, 0.01):
            width = static_width(HONEST, n_arms, delta)
            one = math.exp(-(radius(width, 1) ** 2) / 2.0)  # at n it is this over n^2
            assert math.exp(-(radius(width, 7) ** 2) / 2.0) == pytest.approx(one / 49.0)
            assert pairs * one * over_n < delta


def violations(width, runs=2000, n=2000):
    """Runs of G in which any difference of two arms leaves the width at any n' <= n."""
    problem = near_pair(0.3).problem
    sequence = static_sequence("G", problem, TWO_STEP).prefix(n)[:n]
    pulled = problem.arms[sequence]
    inverse = np.linalg.inv(np.cumsum(pulled[:, :, None] * pulled[:, None], axis=0)[1:])
    y = pair_directions(problem.arms)
    lengths = np.sqrt(np.einsum("id,nde,ie->ni", y, inverse, y))
    wide = np.array([radius(width, m) for m in range(2, n + 1)])
    rng, violated = np.random.default_rng(17), 0
    for _ in range(runs):
        moved = np.cumsum(pulled * rng.standard_normal(n)[:, None], axis=0)[1:]
        away = np.einsum("id,nde,ne->ni", y, inverse, moved)
        violated += (abs(away) > wide[:, None] * lengths).any()
    return violated


@pytest.mark.parametrize("delta", [0.2, 0.02])
def test_the_honest_width_covers(delta):
    """Fails with a chance below 1e-3 if the chance of a violation is delta."""
    runs = 1000
    found = violations(static_width(HONEST, 3, delta), runs)
    assert found <= stats.binom.ppf(1.0 - FALSE_ALARM, runs, delta)


def test_a_width_without_union_bounds_does_not_cover():
    width = static_width(grid("G")["1*log1+two-step"], 3, 0.2)
    assert violations(width, 200) > stats.binom.ppf(1.0 - FALSE_ALARM, 200, 0.2)


def errors(strategy, reading, delta, runs=400, omega=0.3):
    """Wrong answers among runs of the paper's instance with a wider angle, and their mean pulls."""
    cell = Cell("near", strategy, {"delta": delta}, reading)
    replicate = prepare(near_pair(omega), cell)
    found = [replicate(run_streams(23, r)) for r in range(runs)]
    return sum(run.answer != 1 for run in found), np.mean([run.tau for run in found])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_error_rates_are_at_most_delta(strategy):
    """Fails with a chance below 1e-3 if the error rate is delta."""
    wrong, tau = errors(strategy, READINGS[strategy].default, 0.2)
    assert wrong <= stats.binom.ppf(1.0 - FALSE_ALARM, 400, 0.2)
    assert tau > 100


@pytest.mark.parametrize("strategy", ["G", "XY"])
def test_the_reading_closest_to_the_table_errs_more_than_delta(strategy):
    wrong, _ = errors(strategy, "1*log1+two-step", 0.05, omega=0.05)
    assert wrong > stats.binom.ppf(1.0 - FALSE_ALARM, 400, 0.05)


def excess_of_the_honest_adaptive_width(n, d, n_arms, delta, factor):
    """Its square, with a factor, minus a valid bound on ||theta_hat_n - theta||^2 in A_n's norm.

    After a first pull of every arm, A_0, the mixture of normals N(0, A_0^-1) gives

        log(det A_n / det A_0) + 2 log(2 / delta) + chi2_d quantile(1 - delta / 2),

    and A_n <= (n - K + 1) A_0, since no arm has more pulls than that.
    """
    bound = d * np.log(n - n_arms + 1) + 2.0 * math.log(2.0 / delta)
    bound += stats.chi2(d).isf(delta / 2.0)
    return 2.0 * factor * np.log(6.0 / math.pi**2 * n**2 * n_arms**2 / delta) - bound


def numbers_of_pulls(n_arms):
    return n_arms - 1 + np.unique(np.geomspace(1, 1e8, 200).astype(int))


@pytest.mark.parametrize("delta", [0.9, 0.2, 0.05, 0.01, 1e-6, 1e-100])
def test_the_honest_adaptive_width_exceeds_a_mixture_bound(delta):
    """Whatever the arms are; for d = 1 the width has the factor of d = 2."""
    for d in range(1, 31):
        for n_arms in {max(d, 2), d + 1, 2 * d, 51}:
            problem = Problem(np.ones((n_arms, d)), np.zeros(n_arms), 1.0)
            factor = adaptive_width(HONEST, problem, delta).scale
            factor /= static_width(HONEST, n_arms, delta).scale
            n = numbers_of_pulls(n_arms)
            excess = excess_of_the_honest_adaptive_width(n, d, n_arms, delta, factor)
            assert (excess > 0.0).all()


def test_designs_grow_at_most_as_their_first_pulls():
    """A_n <= (n - K + 1) A_0 for arms that nearly lie in a plane."""
    rng = np.random.default_rng(0)
    arms = rng.normal(size=(6, 3)) * [1.0, 1.0, 1e-4]
    for _ in range(50):
        counts = 1 + rng.multinomial(int(rng.integers(0, 40)), rng.dirichlet(np.ones(6)))
        first, design = arms.T @ arms, arms.T * counts @ arms
        gap = np.linalg.eigvalsh((counts.sum() - 5) * first - design)
        assert gap.min() >= -1e-12 * gap.max()


def test_a_mixture_bound_is_not_exceeded_by_a_smaller_factor():
    """So that the test above can fail: without d, and with 1 for d = 1."""
    n = numbers_of_pulls(11)
    assert (excess_of_the_honest_adaptive_width(n, 10, 11, 0.05, 1.0) < 0.0).any()
    n = numbers_of_pulls(2)
    assert (excess_of_the_honest_adaptive_width(n, 1, 2, 1e-6, 1.0) < 0.0).any()


def test_deterministic_budget_is_the_first_place_where_eq_4_holds():
    problem = EASY.problem
    for strategy in ("G", "XY", "XY-Oracle"):
        rules = make_rules(strategy, problem, HONEST, 0.05)
        found = deterministic_budget(rules, problem.means, NO_CAP)
        width = static_width(HONEST, 3, 0.05)
        shared = static_sequence(strategy, problem, TWO_STEP)
        wanted = reference.true_gaps_hold(
            problem.arms,
            problem.means,
            lambda n, w=width: radius(w, n),
            shared.prefix(found + 10),
            shared.n_initial,
        )
        assert found == wanted
        assert deterministic_budget(rules, problem.means, found - 1) == 0


def test_an_outcome_is_the_best_estimate_and_its_lead():
    """Of the arms left, if these are given; the lead is then over all others."""
    fit = make_fit(np.eye(3), 0.0)
    fit.values[:] = [1.0, 4.0, 3.5]
    pulls = np.array([2.0, 3.0, 4.0])
    run = outcome(fit, pulls, True)
    assert run[:4] == (9, Status.STOPPED, 2, pytest.approx(0.5))
    run = outcome(fit, pulls, False, np.array([True, False, True]))
    assert run[:4] == (9, Status.CAPPED, 3, pytest.approx(-0.5))
    assert run.pulls.tolist() == [2, 3, 4]


def test_oracle_stops_after_the_same_pulls_whatever_the_rewards():
    cell = Cell("near", "XY-Oracle", {}, "honest")
    replicate = prepare(near_pair(0.3), cell)
    runs = [replicate(run_streams(1, r)) for r in range(10)]
    problem = near_pair(0.3).problem
    rules = make_rules("XY-Oracle", problem, HONEST, 0.05)
    budget = deterministic_budget(rules, problem.means, NO_CAP)
    assert {run.tau for run in runs} == {budget}
    assert len({run.lead for run in runs}) == 10


def test_sigma_is_a_unit():
    """Rewards and their noise in another unit: the same runs."""
    small = near_pair(0.3)
    large = small.model_copy(update={"theta": [20.0, 0.0], "sigma": 10.0})
    for strategy in STRATEGIES:
        cell = Cell("near", strategy, {"delta": 0.2}, READINGS[strategy].default)
        one, two = (prepare(i, cell)(run_streams(2, 0)) for i in (small, large))
        assert one.tau == two.tau
        np.testing.assert_array_equal(one.pulls, two.pulls)
