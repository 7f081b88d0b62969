"""The kept table of what rates cost BAICS."""

import numpy as np
import pandas as pd
from scipy import stats

from bestarm.baics import rates
from bestarm.baics.alternatives import optimal_allocation
from bestarm.baics.e_values import plan_ahead
from bestarm.baics.problem import solve
from bestarm.baics.reference_bets import nearest_rates
from bestarm.baics.steps import needed_e_value, standard_problem, standardise
from bestarm.baics.strategies import DEFAULTS, steps
from bestarm.common.paper import Cell
from provenance import described


def test_the_kept_table_is_the_one_described_and_keep_delta():
    """Errors at a false alarm of one in a million."""
    kept = pd.read_csv(described("rates/times.csv"))
    assert list(kept.columns) == rates.COLUMNS
    assert [(row.instance, row.strategy, row.runs) for row in kept.itertuples()] == [
        job.arguments for job in rates.jobs()
    ]
    assert (kept.wrong_bets <= stats.binom.isf(1e-6, rates.RUNS, rates.SETTING["delta"])).all()


def test_a_price_is_of_the_same_streams():
    row = rates.time_ratio("near 1/2", "Uniform", 2)
    assert list(row) == rates.COLUMNS
    assert row["ratio"] == row["bets"] / row["yardstick"]


KNOWN = rates.instance("3 to 6%")


def allocation(pulls):
    """What T-a-SCS tracks after so many pulls of each pair, with estimates that are right."""
    cell = Cell(KNOWN.name, "T-a-SCS", rates.SETTING, DEFAULTS["T-a-SCS"])
    kernels, rules, *_ = steps(KNOWN, cell)
    state = kernels.start(rules)
    state.pulls[:], state.means[:], state.answer[0] = pulls, KNOWN.standard_means, 0
    data = (int(state.pulls.sum()), state.pulls, state.means, rules.problem, 0)
    plan_ahead(state.e_values, needed_e_value(rules), *data)
    standardise(rules, state)
    optimal_allocation(state.standard, standard_problem(rules, state), 0, state.iterate)
    return state.iterate


def test_allocations_nearly_attain_the_time_of_rates_as_errors_vanish():
    """Nearest rates depend on pulls, and allocations on these: after a few rounds of both."""
    w, means = np.ones((3, 2)), np.array(KNOWN.means)
    for _ in range(3):
        w = allocation(1e9 * w).copy()
    q = KNOWN.problem.weights
    nats = [nearest_rates(1e3 * w[[0, k]], means[[0, k]], q, KNOWN.floor, 0)[0] for k in (1, 2)]
    assert 1e3 / min(nats) < 1.04 * solve(KNOWN).time


def test_an_arm_that_errors_may_hide_is_not_given_up():
    """With few pulls it gets more than at its estimate; all alike if it may be the answer."""
    settled, few = allocation(1e9)[2].sum(), np.array([[3e3, 3e3], [3e3, 3e3], [3e2, 3e2]])
    assert allocation(few)[2].sum() > 1.5 * settled
    assert (allocation(20.0) == 1.0 / 6.0).all()
