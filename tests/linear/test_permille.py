"""Runs tested every per mille of their pulls, against literal ones and those tested every pull."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bestarm.common.paper import Cell
from bestarm.core.normals import in_blocks
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from bestarm.linear import reference
from bestarm.linear.allocation import TWO_STEP, all_pairs
from bestarm.linear.confidence import radius
from bestarm.linear.least_squares import make_fit
from bestarm.linear.permille import (
    DENSE,
    PERMILLE,
    is_tested,
    next_test,
    pulls_between_tests,
    run_fully_adaptive_permille,
)
from bestarm.linear.problem import Problem
from bestarm.linear.steps import StaticRules
from bestarm.linear.strategies import HONEST_PERMILLE, prepare, prepare_permille, static_sequence
from linear.instances import WIDTHS, drawn, near_pair

CAP = 5000


@given(n=st.one_of(st.integers(0, 3 * DENSE), st.integers(0, 10**9)))
def test_tests_are_less_than_a_permille_apart(n):
    later = next_test(n)
    assert 0 < later - n <= max(1, n // 1024)
    assert is_tested(PERMILLE, later)
    between = range(n + 1, later)
    assert not any(is_tested(PERMILLE, between[i]) for i in {0, len(between) // 2} if between)
    assert is_tested(PERMILLE, n) == reference.is_tested_permille(n)


def test_pulls_between_tests_are_those_of_the_sequence():
    sequence = np.random.default_rng(0).integers(0, 3, 9001)
    whole = pulls_between_tests(sequence, 0, 3)
    ends = [n for n in range(1, 9002) if reference.is_tested_permille(n)]
    assert len(whole) == len(ends)
    for end, pulls in zip(ends, whole.cumsum(axis=0), strict=True):
        assert pulls.tolist() == np.bincount(sequence[:end], minlength=3).tolist()
    np.testing.assert_array_equal(pulls_between_tests(sequence, 4096, 3), whole[3072:])


def static(case, cap=CAP):
    """A run of G and a literal one: pulls, whether it stopped, and pulls by arm."""
    (d, n_arms), seed, width, strength = case
    arms, _, means = drawn(seed, d, n_arms, strength)
    problem = Problem(arms, means, strength)
    sequence, w = static_sequence("G", problem, TWO_STEP), WIDTHS[width]
    rules = StaticRules(arms, w, sequence, None, PERMILLE)
    run = prepare_permille(rules, problem, cap)(run_streams(seed, 0))
    *literal, counts = reference.run_static_permille(
        arms,
        means,
        lambda n: radius(w, n),
        sequence.prefix(cap)[:cap],
        sequence.n_initial,
        run_streams(seed, 0).environment,
    )
    return (run.tau, run.status == Status.STOPPED, run.pulls.tolist()), (*literal, counts.tolist())


STATIC = [((2, 3), 0, "growing", 0.6), ((3, 4), 1, "biased", 1.0), ((3, 6), 2, "constant", 0.25)]


@pytest.mark.parametrize("case", STATIC, ids=str)
def test_static_runs_are_literal_ones(case):
    run, literal = static(case)
    assert run == literal


def test_static_runs_are_long_enough_to_tell():
    stops = [static(case)[0] for case in STATIC]
    assert all(stopped for _, stopped, _ in stops)
    assert sum(n > DENSE for n, _, _ in stops) >= 2


@pytest.mark.parametrize("cap", [1, 3, DENSE + 1, 3001])
def test_a_cap_between_tests_ends_a_static_run_without_one(cap):
    run, literal = static(((2, 3), 0, "growing", 0.01), cap)
    assert run == literal
    assert run[:2] == (cap, False)


def fully_adaptive(case, cap=CAP):
    """A run of Fully-Adaptive and a literal one: pulls, whether it stopped, and pulls by arm."""
    (d, n_arms), seed, width, strength = case
    arms, _, means = drawn(seed, d, n_arms, strength)
    fit, w = make_fit(arms, 0.0), WIDTHS[width]
    with in_blocks(np.random.default_rng(seed)) as normals:
        run = run_fully_adaptive_permille(fit, means, w, all_pairs(n_arms), TWO_STEP, cap, normals)
    *literal, counts = reference.run_fully_adaptive_permille(
        arms, means, lambda n: radius(w, n), TWO_STEP, 0.0, cap, np.random.default_rng(seed)
    )
    return (*run, fit.counts.tolist()), (*literal, counts.tolist())


ADAPTIVE = [((2, 3), 0, "growing", 0.5), ((3, 4), 1, "biased", 0.7), ((2, 5), 3, "growing", 0.25)]


@pytest.mark.parametrize("case", ADAPTIVE, ids=str)
def test_fully_adaptive_runs_are_literal_ones(case):
    run, literal = fully_adaptive(case)
    assert run == literal


def test_fully_adaptive_runs_are_long_enough_to_tell():
    stops = [fully_adaptive(case)[0] for case in ADAPTIVE]
    assert sum(stopped and n > DENSE for n, stopped, _ in stops) >= 2


@pytest.mark.parametrize("cap", [2, DENSE + 1])
def test_a_cap_between_tests_ends_a_fully_adaptive_run_without_one(cap):
    run, literal = fully_adaptive(((2, 3), 0, "growing", 0.01), cap)
    assert run == literal
    assert run[:2] == (cap, False)


def taus(strategy, reading, omega, seed, runs):
    """(runs,) stopping times with two arms at an angle of omega, at delta = 0.5."""
    instance = near_pair(omega)
    replicate = prepare(instance, Cell("near", strategy, {"delta": 0.5}, reading))
    return np.array([replicate(run_streams(seed, r)).tau for r in range(runs)])


@pytest.mark.parametrize("strategy", ["G", "Fully-Adaptive"])
def test_short_runs_are_those_with_a_test_at_every_pull(strategy):
    often, seldom = (taus(strategy, reading, 0.5, 1, 50) for reading in ("honest", HONEST_PERMILLE))
    assert often.max() < DENSE
    np.testing.assert_array_equal(often, seldom)


@pytest.mark.parametrize("strategy", ["G", "Fully-Adaptive"])
def test_long_runs_have_the_law_of_those_with_a_test_at_every_pull(strategy):
    """But for a per mille; false alarms 0.001. A fifth more or fewer pulls are seen."""
    often, seldom = (
        taus(strategy, reading, 0.06, seed, 400)
        for seed, reading in enumerate(("honest", HONEST_PERMILLE))
    )
    assert np.median(seldom) > 4 * DENSE
    assert all(is_tested(PERMILLE, tau) for tau in seldom)
    assert stats.ks_2samp(often, seldom).pvalue > 0.001
    for factor in (0.8, 1.2):
        assert stats.ks_2samp(often, factor * seldom).pvalue < 0.001
