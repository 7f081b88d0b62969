"""Where the allocation solver starts, and that it ends in the same place wherever that is."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bestarm.lagex import reference
from bestarm.lagex.paper import dual
from bestarm.lagex.paper.allocation import ACCURACY, alternative_costs, information, pad
from bestarm.lagex.paper.exploration import restore_weights, save_weights
from bestarm.lagex.vertices import alternatives
from lagex.polytopes import polytopes, smooth_polytopes

seeds = st.integers(0, 2**32)


def problem(p, r=0.01):
    """Padded costs and constraints of a random set of policies with alternatives."""
    found = alternatives(p.means, p.matrix, p.limits, r)
    assume(len(found.gaps) > 0)
    costs = reference.costs(found.steps, found.gaps, p.variances, r)
    padded = np.zeros_like(costs)
    pad(costs, len(costs), ACCURACY, padded)
    return padded, np.ascontiguousarray(p.rows - 0.1)


def solved(costs, rows, tolerance, omega, solver):
    missed = dual.solve(dual.AllocationProblem(costs, len(costs), rows), tolerance, omega, solver)
    return information(costs, len(costs), omega), missed


def fresh(costs, rows):
    solver, omega = dual.make_solver(*costs.shape, len(rows)), np.zeros(costs.shape[1])
    dual.cold_start(solver, len(costs))
    return omega, solver


@given(polytopes, seeds, st.sampled_from([1e-3, 1e-2, 0.1]))
def test_from_the_last_programs_solution_and_from_nothing_is_the_same(p, seed, noise):
    """Twenty rounds of estimates that move."""
    costs, rows = problem(p)
    rng = np.random.default_rng(seed)
    omega, solver = fresh(costs, rows)
    for _ in range(20):
        costs *= np.exp(noise * rng.standard_normal((len(costs), 1)))
        rows += 0.1 * noise * rng.standard_normal(rows.shape)
        warm, missed = solved(costs, rows, ACCURACY, omega, solver)
        start, cold = fresh(costs, rows)
        wanted, cold_missed = solved(costs, rows, ACCURACY, start, cold)
        if max(missed, cold_missed) <= ACCURACY:
            assert warm == pytest.approx(wanted, rel=20.0 * ACCURACY)
            assert (rows @ omega).max(initial=-1.0) <= ACCURACY


@given(smooth_polytopes, seeds, st.sampled_from([0.02, 0.5]))
def test_multipliers_follow_the_allocation_as_least_squares_say(p, seed, noise):
    costs, rows = problem(p)
    omega, solver = fresh(costs, rows)
    solved(costs, rows, ACCURACY, omega, solver)
    count, (d, k) = len(costs), rows.shape
    rows += noise * np.random.default_rng(seed).standard_normal(rows.shape)
    before = solver.y.copy()
    positive = [i for i in range(d) if before[count + 1 + i] > 0.0]
    follow(costs, rows, omega, solver)
    q = before[:count] @ costs
    wanted = q / omega**2 / (q / omega).sum()
    design = np.column_stack([np.ones(k), *(rows[i] for i in positive)])
    root = np.sqrt(omega / wanted)
    found = np.linalg.lstsq(root[:, None] * design, root * wanted, rcond=None)[0]
    z = before[count] + before[count + 1 :] @ rows
    near = (np.abs(z - wanted) <= dual.DRIFT * wanted).all()
    expected = before.copy()
    if positive and not near and (found[1:] > 0.0).all():
        expected[[count, *(count + 1 + i for i in positive)]] = found
    assert solver.y == pytest.approx(expected, rel=1e-6, abs=1e-9)


def follow(costs, rows, omega, solver):
    dual._follow(dual.AllocationProblem(costs, len(costs), rows), omega, solver)


def test_an_arm_that_only_a_constraint_asks_for_keeps_its_share():
    """q and z of the third arm are almost zero, so a change of its limit by 1% changes z many
    times over; multipliers that follow give an allocation near the last one."""
    costs, rows = np.zeros((1, 3)), np.array([[0.6, 0.6, -0.4]])
    pad(np.array([[2.0, 2.0, 0.0]]), 1, ACCURACY, costs)
    omega, solver = fresh(costs, rows)
    solved(costs, rows, ACCURACY, omega, solver)
    assert omega == pytest.approx([0.2, 0.2, 0.6], abs=1e-3)

    def allocation(y):
        share = np.sqrt(y[:1] @ costs / np.maximum(y[1] + y[2:] @ moved, 1e-12))
        return share / share.sum()

    moved = rows + np.array([[0.0, 0.0, 0.01]])
    assert allocation(solver.y)[2] < 0.1
    follow(costs, moved, omega, solver)
    assert allocation(solver.y) == pytest.approx(omega, abs=0.01)


@given(st.floats(0.86, 1.24), st.floats(1e-6, 1.0))
def test_a_step_is_exact_where_slopes_go_as_the_inverse_root(u, best):
    """Slope (best / p)^(1/2) - 1, at p = u^2 best; Newton's change is 2 p (1 - u)."""
    p = u * u * best
    assert dual._moved(p, 2.0 * p * (1.0 - u), True) == pytest.approx(best, rel=1e-9)


def test_multipliers_and_long_steps_are_moved_straight():
    assert dual._moved(1.0, 0.2, False) == 1.2
    assert dual._moved(1.0, 2.0, True) == 3.0
    assert dual._moved(1.0, -0.9, True) == pytest.approx(0.1)
    assert dual._moved(1.0, -1.0, True) == 0.0


def test_weights_are_remembered_by_slot_and_move_with_their_costs():
    weights, scales, last = np.zeros(6), np.zeros(6), np.zeros(7, np.int64)
    y = np.array([0.7, 0.2, 0.1, 0.0])
    save_weights(weights, scales, last, np.array([4, 1, 3]), np.array([1.0, 2.0, 1.0]), 3, y)
    restore_weights(weights, scales, np.array([1, 4, 2]), np.array([6.0, 1.0, 5.0]), 3, 6, y)
    assert y == pytest.approx([1.8 / 2.5, 0.7 / 2.5, 0.0, 0.0])


def test_of_alternatives_that_are_mostly_new_those_of_the_best_vertex_start_alike():
    weights, scales, last = np.zeros(6), np.zeros(6), np.zeros(7, np.int64)
    y = np.array([0.7, 0.3, 0.0])
    save_weights(weights, scales, last, np.array([4, 1]), np.ones(2), 2, y)
    restore_weights(weights, scales, np.array([0, 1, 5]), np.ones(3), 3, 2, y)
    assert y.tolist() == [0.5, 0.5, 0.0]
    save_weights(weights, scales, last, np.array([0]), np.ones(1), 1, np.array([1.0]))
    assert weights.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


@given(polytopes, st.sampled_from([0.0, ACCURACY, 1e-2]))
def test_costs_of_alternatives(p, accuracy):
    found = alternatives(p.means, p.matrix, p.limits, 0.01)
    assume(len(found.gaps) > 0)
    exact = reference.costs(found.steps, found.gaps, p.variances, 0.01)
    wanted, out, roots = exact.copy(), np.zeros_like(exact), np.zeros(len(exact))
    pad(exact, len(exact), accuracy, wanted)
    alternative_costs(
        found.steps, found.gaps, len(exact), 0.01, np.sqrt(p.variances), accuracy, out, roots
    )
    assert out == pytest.approx(wanted, rel=1e-9)
    assert roots == pytest.approx(np.sqrt(exact).sum(axis=1), rel=1e-9)
