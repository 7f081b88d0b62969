"""The committed table of target `certified`: what it has to show, and that its parts fit."""

import numpy as np
import pytest

from bestarm.common.tables import read_table
from bestarm.core.estimates import wilson
from bestarm.core.information import needed_information
from bestarm.lagex.cells import CERTIFIED_DELTAS, CERTIFIED_INSTANCES, CERTIFIED_TOLERANCES
from bestarm.lagex.paper.bounds import learning_time
from bestarm.lagex.problem import instances

CELLS = len(CERTIFIED_INSTANCES) * len(CERTIFIED_TOLERANCES)
KEY = ["instance", "delta", "r"]


@pytest.fixture(scope="module")
def table(root):
    return read_table(root / "figures/lagex/certified.csv")


def values(table, statistic, strategy="Certified"):
    """Of a statistic, by instance, delta and r."""
    rows = table[(table.statistic == statistic) & (table.strategy == strategy)]
    assert not rows.duplicated(KEY).any()
    return rows.set_index(KEY).value


def test_it_takes_fewer_steps_than_uniform_pulls_on_every_instance(table):
    ratios = values(table, "median_ratio", "Certified / Certified-Uniform")
    assert len(ratios) == CELLS
    assert (ratios < 1.0).all()
    steps, uniform = (
        values(table, "median_stopping_time", strategy)
        for strategy in ("Certified", "Certified-Uniform")
    )
    np.testing.assert_allclose(ratios, (steps / uniform)[ratios.index], rtol=1e-4)


def test_shares_of_right_answers_are_compatible_with_delta(table):
    """Every run stopped; wrong ones are so few that no interval is above delta."""
    assert (values(table, "share_capped") == 0.0).all()
    wrong = table[(table.statistic == "error_rate") & (table.strategy == "Certified")]
    assert len(wrong) == CELLS * len(CERTIFIED_DELTAS)
    assert (wrong.low <= wrong.delta).all()
    checked = table[table.statistic == "error_check:wrong"]
    assert all(wilson(row.value, row.n)[1] <= row.delta for row in checked.itertuples())


@pytest.mark.parametrize("name", ["setup 1 m3=0.5", "triangle"])
def test_means_are_over_the_lower_bound(table, name):
    over, steps = (values(table, one) for one in ("mean_over_bound", "mean_stopping_time"))
    for delta in CERTIFIED_DELTAS:
        bound = learning_time(instances()[name].problem, 0.03).time * needed_information(delta)
        place = (name, delta, 0.03)
        assert over[place] == pytest.approx(steps[place] / bound, rel=1e-4)
        assert over[place] > 1.0


def test_runs_are_near_those_without_noise(table):
    """Medians and times that were computed by other code: within a half."""
    steps, times = (
        values(table, one) for one in ("median_stopping_time", "certificate_time:run without noise")
    )
    assert (np.abs(np.log(steps / times)) < np.log(3 / 2)).all()
