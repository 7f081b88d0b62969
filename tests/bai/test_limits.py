"""When strategies for one mean per arm stop, and when they do not."""

import math

import numpy as np

from bestarm.bai.bets import log_better, make_bets, plan_bets, record_bets
from bestarm.bai.families import FAMILIES
from bestarm.bai.limits import exact_time
from bestarm.bai.problem import Instance, characteristic_time
from bestarm.bai.steps import done_track_and_stop, start
from bestarm.bai.strategies import READINGS, make_rules, prepare
from bestarm.common.paper import Cell
from bestarm.core.status import Status
from bestarm.core.streams import run_streams


def test_with_exact_estimates_the_proved_rule_attains_the_characteristic_time():
    for rewards in ("bernoulli", "gaussian", "poisson", "exponential"):
        instance = Instance(name="three", means=[0.6, 0.5, 0.2], rewards=rewards)
        time = characteristic_time(instance).time
        ratios = [exact_time(instance, 10.0**-e) / (time * e * math.log(10)) for e in (1, 16, 256)]
        assert ratios[0] > ratios[1] > ratios[2] > 1.0
        assert ratios[2] < 1.05


def test_the_exact_time_is_where_the_rule_itself_begins_to_hold():
    instance = Instance(name="three", means=[0.6, 0.5, 0.2])
    found, delta = characteristic_time(instance), 0.05
    reading = READINGS["Track-and-Stop"]["proven"]
    rules = make_rules("Track-and-Stop", FAMILIES[instance.rewards], 3, delta, reading)
    time, state, holds = exact_time(instance, delta), start(rules), []
    for part in (0.99, 1.01):
        state.pulls[:] = part * time * found.allocation
        state.means[:] = instance.means
        state.sums[:] = state.pulls * state.means
        state.clock[0] = int(state.pulls.sum())
        holds.append(bool(done_track_and_stop(rules, state)))
    assert holds == [False, True]


def test_at_a_tie_runs_hardly_ever_stop():
    instance = Instance(name="tied", means=[0.5, 0.5])
    for strategy in READINGS:
        run = prepare(instance, Cell("tied", strategy, {"delta": 0.05, "cap": 1_000}, "proven"))
        stops = sum(run(run_streams(0, i)).status == Status.STOPPED for i in range(100))
        assert stops <= 29  # of Bin(100, 2 delta) more than that has probability 1e-8


def growth(better, worse):
    """Differences of ln wealth per decade of pulls, from 1e11 on, with exact rates."""
    bets, pulls, rates = make_bets(2), np.full(2, 10.0), np.array([better, worse])
    answer, decade, ends = np.array([1, 0]), 1e11, []
    while len(ends) < 3:
        bets.next_plan[0] = 0
        plan_bets(bets, 6.0, pulls, pulls * rates, answer)
        for arm in (0, 1):
            record_bets(bets, arm, 0.03 * pulls[arm], 0.03 * pulls[arm] * rates[arm])
        pulls *= 1.03
        if pulls.sum() > decade:
            ends.append(log_better(bets, 0, 1, 0.0))
            decade *= 10.0
    return np.diff(ends)


def test_bets_never_tell_rates_that_hardly_differ():
    assert (growth(0.5, 0.4997) > 0.0).all()
    assert (growth(0.5, 0.4999) < 0.0).all()
    assert (growth(0.05, 0.04997) > 0.0).all()
    assert (growth(0.05, 0.04999) < 0.0).all()
