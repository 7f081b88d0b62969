"""The random search of Theorem 3.2: against cases by hand, and it sees a wrong formula."""

import numpy as np
import pytest

from bestarm.baics import brute_force
from bestarm.baics.problem import Instance, true_allocation


def instance(means, sizes=(0.5, 0.5)):
    return Instance(name="x", means=means, weights=sizes)


def test_answers_are_the_best_feasible_arms():
    instances = np.array(
        [
            [[1.0, 1.0], [3.0, -0.1], [0.0, 0.5]],
            [[-1.0, 1.0], [3.0, -0.1], [0.0, 0.5]],
            [[-1.0, 1.0], [3.0, -0.1], [0.0, -0.5]],
        ]
    )
    assert brute_force.answers(instances, np.array([0.5, 0.5]), 2).tolist() == [0, 2, -1]


@pytest.mark.parametrize(
    ("means", "cost"),
    [
        ([[0.2, 1.0], [-3.0, 0.5]], 0.25 * 0.2**2),  # making arm 1 infeasible is cheapest
        ([[-1.0, 1.0], [-2.0, -2.0]], 0.25 * 1.0),  # making arm 1 feasible is
        ([[2.0, 2.0], [1.5, 1.5]], 0.25 * 4 * 0.25**2),  # all means meet in the middle
    ],
)
def test_the_search_finds_the_least_cost_by_hand(means, cost, monkeypatch):
    monkeypatch.setattr(brute_force, "POINTS", 300)
    one, w = instance(means), np.full((2, 2), 0.25)
    found = brute_force.least_cost(w, one, np.random.default_rng(1))
    assert found == pytest.approx(cost, rel=1e-3)
    assert found >= cost * (1.0 - 1e-9)
    assert brute_force.formula(w, one) == pytest.approx(cost)


def test_a_formula_without_feasibility_is_seen(monkeypatch):
    monkeypatch.setattr(brute_force, "POINTS", 200)
    monkeypatch.setattr(brute_force, "ALLOCATIONS", 2)
    one = instance([[0.2, 1.0], [-3.0, 0.5]])
    optimal = true_allocation(one)
    right = brute_force.cost_ratios(one, optimal, np.random.default_rng(1))
    assert right == pytest.approx(np.ones(2), rel=1e-3)
    real = brute_force.alternative_cost
    swaps = lambda i, *rest: np.inf if i < 2 else real(i, *rest)  # noqa: E731
    monkeypatch.setattr(brute_force, "alternative_cost", swaps)
    wrong = brute_force.cost_ratios(one, optimal, np.random.default_rng(1))
    assert (wrong < 0.9).all()
