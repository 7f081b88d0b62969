"""Steps of a run that fail: each is counted, and none makes a run stop."""

from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest

from bestarm.common.paper import Cell
from bestarm.core.inputs import InputError
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from bestarm.lagex.interactive import LAGEX, LATS, CTnS, Uniform
from bestarm.lagex.paper import exploration, full_adagrad
from bestarm.lagex.paper.exploration import analyse, choose, done
from bestarm.lagex.paper.state import (
    FAR_CUT,
    INEXACT,
    LOST_POLICY,
    NEAR_CUT,
    NO_POLICY,
    PULLED,
    TIME,
    UNSOLVED,
    start,
)
from bestarm.lagex.problem import Instance, Problem, imdb, setup1
from bestarm.lagex.strategies import (
    EASY,
    FAILURES,
    READINGS,
    STEPS,
    Setting,
    make_rules,
    make_world,
    prepare,
)
from bestarm.lagex.vertices import LOST, make_vertex_search

HARD = setup1(0.5).problem


def rules(strategy, problem, reading="as-written", **setting):
    told = problem.variances, problem.limits, problem.matrix
    return make_rules(strategy, READINGS[strategy][reading], Setting(**setting), *told)


def known_state(problem, pulls):
    """A state that knows the means and the constraints after as many pulls of every arm."""
    state, k = start(rules("CTnS", problem)), problem.means.size
    state.counts[TIME], state.counts[PULLED] = k * pulls, k
    state.estimates.log_determinant[0] = k * np.log(1.0 + pulls)
    state.estimates.pulls[:], state.estimates.means[:] = pulls, problem.means
    return state


def with_far(state, others):
    """A state in which all vertices are listed elsewhere."""
    return state._replace(policies=state.policies._replace(far=others))


def test_a_run_does_not_stop_by_a_list_that_was_cut():
    state = known_state(HARD, 200_000)
    analyse(rules("CTnS", HARD), state)
    assert done(rules("CTnS", HARD), state)
    d, k = HARD.matrix.shape
    cut = with_far(state, make_vertex_search(k, d, 1))
    analyse(rules("CTnS", HARD), cut)
    assert not done(rules("CTnS", HARD), cut)
    assert cut.counts[FAR_CUT] == 1
    assert state.counts[FAR_CUT] == 1  # the same counters; nothing was counted before


def test_a_person_is_told_why_a_run_goes_on():
    strategy = Uniform(3, [0.5], sigma=0.01, r=0.0)
    d, k = 1, 3
    strategy._state = with_far(strategy._state, make_vertex_search(k, d, 1))
    means, costs = [1.0, 0.5, 0.2], [1.0, 0.2, 0.1]
    with pytest.warns(RuntimeWarning, match="more than 512 bases"):
        for _ in range(3000):
            strategy.tell(arm := strategy.ask(), means[arm], costs[arm])
            if strategy.failures["far_cut"]:
                break
    assert not strategy.done
    assert list(strategy.failures) == ["lost", "unsolved", "inexact", "near_cut", "far_cut"]


def test_vertices_near_the_best_may_be_too_many():
    """All vertices of twelve arms are within a tolerance of nine."""
    problem = imdb().problem
    state = known_state(problem, 5)
    analyse(rules("CTnS", problem, r=9.0), state)
    assert state.counts[NEAR_CUT] == 1
    analyse(rules("CTnS", problem, r=0.01), state)
    assert state.counts[NEAR_CUT] == 1


def test_an_allocation_that_is_not_finite_is_counted():
    state = known_state(HARD, 5)
    state.estimates.deviations[0] = np.nan
    analyse(rules("CTnS", HARD), state)
    assert not done(rules("CTnS", HARD), state)
    choose(rules("CTnS", HARD), state, None)
    assert state.counts[UNSOLVED] == 1
    np.testing.assert_array_equal(state.omega, 1.0 / HARD.means.size)


def random_model(seed):
    """Limits that a random mixture of few arms just keeps, and costs of any size."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(3, 7)), int(rng.integers(1, 4))
    matrix = rng.normal(size=(d, k))
    limits, scale = matrix @ rng.dirichlet(np.full(k, 0.3)), 10.0 ** rng.uniform(-6, 6)
    matrix, limits = scale * matrix, scale * limits
    return Problem(
        rng.normal(size=k), np.ones(k), matrix, limits, float(10.0 ** rng.uniform(-6, 1))
    )


@pytest.mark.parametrize("strategy", ["CTnS-WLag", "LATS", "PTnS", "CGE-WLag"])
def test_allocations_off_by_more_than_their_tolerance_are_counted(strategy):
    """Where estimates leave hardly any policy. Known limits are in their own unit: none is off."""
    found = 0
    for seed in range(400):
        rng, problem = np.random.default_rng(seed), random_model(seed)
        told = make_world(problem), rules(strategy, problem)
        found += STEPS.play(*told, 300, rng, rng)[0].counts[INEXACT]
    assert found > 0


def test_a_step_on_the_simplex_that_gives_up_is_counted(monkeypatch):
    monkeypatch.setattr(full_adagrad, "MOST_CHANGES", 1)
    rng = np.random.default_rng(0)
    gains, omega = rng.normal(size=6), np.full(6, 1.0 / 6.0)
    outer = np.outer(gains, gains)
    assert not full_adagrad.full_step.py_func(outer, gains, 5.0, omega.copy())
    assert full_adagrad.full_step(outer, gains, 5.0, omega.copy())


def test_a_lost_policy_is_no_empty_set(monkeypatch):
    state = known_state(HARD, 5)
    monkeypatch.setattr(exploration, "find_best", lambda _: LOST)
    assert not exploration.find_policy.py_func(rules("CTnS", HARD), state)
    assert state.policies.n_near[0] == exploration.NO_ALTERNATIVES
    assert state.counts[LOST_POLICY] == 1
    assert state.counts[NO_POLICY] == 0


@pytest.mark.parametrize("lost_at", [4, 5, 6])
def test_a_run_whose_last_policy_was_lost_has_failed(monkeypatch, lost_at):
    """The rule is looked at after three, after four, and for the last time after five pulls."""
    analyses = iter(range(4, 100))

    def find_best(polytope):
        found = as_it_is(polytope)
        return LOST if next(analyses) == lost_at else found

    as_it_is = exploration.find_best
    monkeypatch.setattr(exploration, "find_best", find_best)
    for name in ("find_policy", "analyse", "observe"):
        monkeypatch.setattr(exploration, name, getattr(exploration, name).py_func)

    def play(world, rules, cap, environment, coins):
        state = start(rules)
        steps = replace(STEPS, observe=exploration.observe)
        arms = steps.follow(world, rules, state, environment, None)  # Uniform tosses no coins
        assert len(list(islice(arms, cap))) == cap
        return state, False

    monkeypatch.setattr(exploration, "STEPS", SimpleNamespace(play=play))
    cell = Cell(EASY.name, "Uniform", {"cap": 5, "delta": 1e-9}, "as-written")
    run = prepare(EASY, cell)(run_streams(0, 0))
    assert run.status == (Status.FAILED if lost_at == 6 else Status.CAPPED)
    assert run.lost == (lost_at < 6)


def test_known_constraints_of_many_arms_are_checked_at_once():
    """Whether some policy keeps them, not by way of all that do."""
    rng = np.random.default_rng(5)
    matrix = rng.uniform(size=(4, 40))
    assert CTnS(matrix, matrix.mean(axis=1)).ask() == 0
    with pytest.raises(InputError, match="must allow some policy"):
        CTnS(matrix, np.full(4, -1.0))


def test_a_usual_run_has_no_failures():
    found = prepare(EASY, Cell(EASY.name, "LATS", {}, "as-written"))(run_streams(0, 1))
    assert [getattr(found, name) for name in FAILURES] == [0] * len(FAILURES)


def test_more_arms_and_constraints_than_bits_are_refused_by_name():
    row = {"coefficients": [0.1] * 64, "at_most": 1.0}
    with pytest.raises(ValueError, match="means, constraints: must be at most 64 together, got 65"):
        Instance(name="large", means=[0.0] * 64, constraints=[row])
    with pytest.raises(InputError, match="limits: together: must be a whole number from 3"):
        LAGEX(63, [1.0, 1.0])


def test_costs_far_above_their_deviation_leave_no_answer_but_a_policy():
    """Rounding of estimated rows a million times as large once made weights add up to 1.23."""
    rng = np.random.default_rng(133)
    s = LATS(3, [0.6e6], delta=0.1, r=0.5)
    for _ in range(10):
        arm = s.ask()
        noise = rng.standard_normal(2)
        s.tell(
            arm, [9.0, 0.0, 4.5][arm] + noise[0], [1e6 * ([1.0, 0.0, 0.5][arm] + 0.3 * noise[1])]
        )
        assert s.answer.sum() == pytest.approx(1.0, abs=1e-9)
