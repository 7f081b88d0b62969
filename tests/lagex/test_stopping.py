"""When the paper's rule stops for certain, whatever the rewards are."""

import math

import pytest

from bestarm.common.paper import Cell
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from bestarm.lagex.problem import Constraint, Instance
from bestarm.lagex.strategies import prepare

R, DELTA = 0.6, 0.1
TIED = Instance(
    name="tied",
    means=[1.0, 1.0, 1.0],
    constraints=[Constraint(coefficients=[1.0, 0.0, 0.5], at_most=0.6)],
    cost_sigma=0.1,
)


@pytest.mark.parametrize("strategy", ["LAGEX", "LATS", "Uniform"])
def test_a_run_stops_once_every_arm_has_enough_pulls_though_all_policies_tie(strategy):
    run = prepare(TIED, Cell("tied", strategy, {"delta": DELTA, "r": R}, "as-written"))
    largest = 0.0
    for i in range(10):
        row = run(run_streams(0, i))
        assert row.status == Status.STOPPED
        assert row.empty == row.near_cut == row.far_cut == row.lost == 0
        enough = 4.0 * math.log((1.0 + math.log(math.log(row.tau))) / DELTA) / R**2
        assert min(row.pulls) <= enough + 1.0
        largest = max(largest, min(row.pulls) / enough)
    assert largest > 0.25  # the bound is near what it bounds
