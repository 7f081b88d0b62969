"""When the directed rule stops: at T* if estimates are exact, and perhaps never without pulls."""

import math

import numpy as np
import pytest

from bestarm.baics.counts import observe_counts
from bestarm.baics.limits import exact_times
from bestarm.baics.pairs import GROWTH, HORIZON, LARGEST
from bestarm.baics.problem import PROBLEMS, Instance, characteristic_time, true_allocation
from bestarm.baics.steps import INITIAL_DRAWS
from bestarm.baics.strategies import prepare, steps
from bestarm.common.paper import Cell
from bestarm.core.status import Status
from bestarm.core.streams import run_streams

#: The third arm is so far behind that w* has the first pulled 49 times as often: its c is 7.
CLIPPED = Instance(name="clipped", means=[[1.0], [0.8], [0.0]], weights=[1.0], constrained=0)
KEPT = [PROBLEMS.instances()[name] for name in ("example1", "example2", "no-feasible-arm")]


@pytest.mark.parametrize("instance", [*KEPT, CLIPPED], ids=lambda one: one.name)
def test_with_exact_estimates_the_directed_rule_attains_the_characteristic_time(instance):
    deltas = [10.0**-e for e in (1, 4, 16, 64, 256)]
    unit = characteristic_time(instance) * np.log(1.0 / np.array(deltas))
    ratios = exact_times(instance, deltas) / unit
    assert (np.diff(ratios) < 0.01).all()
    assert 1.0 / GROWTH < ratios[-1] < 1.05


def test_the_exact_time_is_where_the_rule_itself_begins_to_hold():
    """Told exact rewards in the shares of w*, as counts; the initial draws are equal shares."""
    instance, delta = KEPT[0], 0.1
    strategy, rules, _, _ = steps(instance, Cell("", "T-a-SCS", {"delta": delta}, "proven"))
    state, means, share = strategy.start(rules), instance.standard_means, true_allocation(instance)
    pulls = np.full(share.shape, float(INITIAL_DRAWS))
    while not strategy.done(rules, state):
        observe_counts(rules, state, pulls, pulls * means, np.zeros(share.shape))
        pulls = (GROWTH - 1.0) * state.pulls.sum() * share
    time = exact_times(instance, [delta])[0]
    assert 0.9 * time < state.pulls.sum() < 1.1 * time


def test_the_clipped_arm_is_clipped():
    share = true_allocation(CLIPPED)[:, 0]
    assert math.sqrt(share[0] / share[2]) > 2.0 * LARGEST


def test_plans_are_made_more_often_than_their_horizon_ends():
    assert GROWTH - 1.0 <= HORIZON  # what the contraction in docs/guarantees.md needs


def test_a_constrained_subpopulation_that_is_never_visited_keeps_uniform_from_stopping():
    means = [[1.0, 0.3], [-1.0, 0.3]]
    stopped = {}
    for weight in (0.0, 0.5):
        instance = Instance(name="unvisited", means=means, weights=[1.0, weight], constrained=2)
        run = prepare(
            instance, Cell("unvisited", "Uniform", {"delta": 0.05, "cap": 8_000}, "proven")
        )
        stops = [run(run_streams(0, i)).status == Status.STOPPED for i in range(20)]
        stopped[weight] = sum(stops)
    assert stopped == {0.0: 0, 0.5: 20}
