"""Directed sums: what they bound, against cvxpy; how often they miss; and runs that use them."""

import hashlib
import math

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from bestarm.common.files import data_folder
from bestarm.core.anytime import half_normal_log, half_normal_threshold
from bestarm.core.streams import run_streams
from bestarm.lagex.certified import directed_runs, reference
from bestarm.lagex.certified.certificate import certificate
from bestarm.lagex.certified.cone import best_safe_policy, make_cone_solver
from bestarm.lagex.certified.confidence import ABOVE, BELOW, largest_excess, reach
from bestarm.lagex.certified.directed import half_normal_bound
from bestarm.lagex.certified.pages import DIRECTED
from bestarm.lagex.certified.runs import Options, make_rules, play
from bestarm.lagex.certified.state import POLICY, VERDICT
from bestarm.lagex.certified.steps import done, observe, start
from bestarm.lagex.problem import instances
from bestarm.lagex.strategies import make_world
from lagex.certified.confidence_sets import confidence_set

FALSE_ALARM, SHARE = 1e-6, 0.5
PROBLEM = instances()["setup 1 m3=1.3"].problem
D, K = PROBLEM.matrix.shape


def rules_for(delta: float, r: float, directed: float = SHARE, problem=PROBLEM):
    options = Options(directed=directed)
    known = problem.variances, problem.cost_sigma, problem.limits
    return make_rules("Certified", delta, r, options, *known)


def random_directions(seed: int, k: int, d: int):
    """Evidence with a direction for each side, and gaps that matter for policies near it."""
    rng, seen = np.random.default_rng(seed), confidence_set(seed, k, d)
    w = rng.dirichlet(np.ones(k), 2) * rng.uniform(0.1, 1e4)
    sizes = np.sqrt((w**2 * seen.u).sum(axis=1))
    gaps = sizes[:, None] * rng.choice([0.0, 0.1, 0.5, 0.99, 2.0, np.inf], (2, d))
    return seen._replace(directions=w, gaps=gaps), rng


@pytest.mark.parametrize("seed", range(12))
def test_the_reach_is_the_maximum_that_cvxpy_finds(seed):
    """And its gradient attains it, inside of the ellipsoid and of the half-space."""
    k, d = 2 + seed % 5, 1 + seed % 3
    seen, rng = random_directions(seed, k, d)
    for side in (ABOVE, BELOW):
        for i in range(d):
            error, w = np.zeros(k), seen.directions[side]
            for spread in (0.01, 1.0):  # policies near the direction, and others
                point = (1.0 - spread) * w / w.sum() + spread * rng.dirichlet(np.ones(k))
                value = reach(seen, side, i, point, error)
                assert value == pytest.approx(reference.reach(seen, side, i, point), rel=1e-4)
                assert point @ error == pytest.approx(value, rel=1e-7)
                assert (error**2 / seen.u).sum() <= 1.0 + 1e-7  # a difference, near W
                gap = seen.gaps[side, i]
                assert w @ error <= gap + 1e-9 * math.sqrt((w * w) @ seen.u)


@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-6])
@pytest.mark.parametrize("variance", [0.0, 3.0, 1e5])
def test_the_closed_form_is_above_the_mixtures_threshold_and_close(delta, variance):
    level, n1 = math.log(1.0 / delta), 30.0
    bound = half_normal_bound(level, variance, n1)
    least = half_normal_threshold(level, variance, n1)
    assert least <= bound <= least * (1.0 + 0.5 * delta)
    assert half_normal_log(bound, variance, n1) >= level


@pytest.mark.parametrize("seed", range(8))
def test_the_safe_policy_is_safe_and_better_where_its_direction_is_bounded(seed):
    """It lies between that of the ellipsoid and Clarabel's, which finds the least radius."""
    k, d = 2 + seed % 5, 1 + seed % 3
    seen, solver, error = (
        confidence_set(seed, k, d, "smooth", 0.05),
        make_cone_solver(k, d),
        np.zeros(k),
    )
    if not best_safe_policy(seen, 0.0, 1e-7, solver):
        pytest.skip("no policy is safe")
    plain = solver.x[:k].copy()
    seen.directions[ABOVE] = 7.0 * plain
    seen.gaps[ABOVE] = 0.2 * 7.0 * math.sqrt(seen.u @ plain**2)
    assert best_safe_policy(seen, 0.0, 1e-7, solver)
    policy, wanted = solver.x[:k], reference.best_safe_policy(seen, 0.0)
    assert wanted is not None
    assert largest_excess(seen, ABOVE, policy, 1.0, error) < 0.0
    assert seen.means @ plain < seen.means @ policy <= wanted[1] + 1e-5
    assert reference.excess_at_most(seen, policy) <= 1e-6


def blocks_of(rules, environment, costs, state=None):
    """Play a run block by block; yields its state after each."""
    state = start(rules) if state is None else state
    while not done(rules, state):
        for arm in np.flatnonzero(state.owed):
            n = state.owed[arm]
            noise = math.sqrt(n) * environment.standard_normal(1 + D)
            sums = n * np.array([PROBLEM.means[arm], *costs[:, arm]]) + noise
            observe(rules, state, int(arm), np.array([*sums, n]))
        yield state


def test_the_truth_leaves_no_more_often_than_stated_and_now_and_then():
    """At a large delta: sides and rows together have SHARE delta d / (1 + d); 1e-6 by chance."""
    delta, runs, left, least, most = 0.9, 150, 0, 2, 0.0
    rules = rules_for(delta, 0.5)
    rows = PROBLEM.matrix - PROBLEM.limits[:, None]
    for seed in range(runs):
        beyond = -np.inf
        for state in blocks_of(rules, run_streams(11, seed).environment, PROBLEM.matrix):
            errors = (rows - state.seen.rows) @ state.seen.directions.T  # (d, 2)
            gaps, known = state.seen.gaps, np.isfinite(state.seen.gaps)
            apart = np.array([errors[:, ABOVE], -errors[:, BELOW]]) - gaps
            beyond = max(beyond, apart[known].max(initial=-np.inf))
            most = max(most, abs(state.directed.coefficients).max())
        left += beyond > 0.0
    assert least <= left <= stats.binom.ppf(1.0 - FALSE_ALARM, runs, SHARE * delta * D / (1 + D))
    assert most > 1.0


def test_coefficients_do_not_depend_on_the_costs_that_they_multiply():
    """The same run with three different last costs: the same W and Q, but other Y."""
    rules, ends = rules_for(0.1, 0.3), []
    for shift in (0.0, 1.0, -50.0):
        environment, state = run_streams(12, 0).environment, start(rules)
        for blocks, _ in enumerate(blocks_of(rules, environment, PROBLEM.matrix, state)):
            if blocks == 80:
                break
        arm = int(state.owed.argmax())
        assert state.directed.coefficients[:, arm].any()
        state.owed[arm] += 1.0  # so that this pull does not end the block
        observe(rules, state, arm, np.array([0.0, *[shift] * D, 1.0]))
        ends.append([part.copy() for part in state.directed])
    for _, moved, sums, squares in ends[1:]:
        np.testing.assert_array_equal(moved, ends[0][1])
        np.testing.assert_array_equal(squares, ends[0][3])
        assert abs(sums - ends[0][2]).max() > 0.1


def test_runs_are_shorter_and_their_answers_right():
    """On an instance whose stopping times vary little; without a share there are no sums."""
    times, movies = {}, instances()["imdb"].problem
    for directed in (0.0, SHARE):
        rules = rules_for(0.01, 0.01, directed, movies)
        world, times[directed] = make_world(movies, units=rules.units), []
        for seed in range(20):
            state = play(world, rules, 10**9, run_streams(13, seed).environment)
            assert state.counts[VERDICT] == POLICY
            assert (movies.matrix @ state.policy <= movies.limits).all()
            times[directed].append(state.pulls.sum())
            assert (state.directed.squares > 0.0).all() == (directed > 0.0)
    assert stats.ttest_ind(times[SHARE], times[0.0], alternative="less").pvalue < 0.001


def test_a_certificate_does_not_hold_directed_sums():
    rules = rules_for(0.1, 0.5)
    state = play(
        make_world(PROBLEM, units=rules.units), rules, 10**9, run_streams(5, 0).environment
    )
    with pytest.raises(ValueError, match="directed sums"):
        certificate(state, rules, 0.1)


def test_the_kept_table_is_whole_and_of_its_provenance():
    path = data_folder() / DIRECTED
    said = yaml.safe_load((path.parent / "provenance.yaml").read_text())
    assert hashlib.sha256(path.read_bytes()).hexdigest() == said["sha256"]
    table = pd.read_csv(path)
    assert list(table) == directed_runs.COLUMNS
    assert len(table) == len(directed_runs.jobs())
    assert (table.stopped == table.runs).all()
    assert (table.wrong <= stats.binom.ppf(1.0 - FALSE_ALARM, table.runs, table.delta)).all()
