"""The loops: against a slow retelling of the paper, and what any run must satisfy."""

import math

import numpy as np
import pytest
from scipy import stats

from bestarm.bai import reference
from bestarm.bai.families import FAMILIES, draw, mixing_cost, shrunk, transport
from bestarm.bai.problem import BOUNDARY, Instance, boundary
from bestarm.bai.strategies import READINGS, STRATEGIES, make_rules, prepare, steps
from bestarm.common.paper import Cell
from bestarm.core.status import Status
from bestarm.core.streams import run_streams

INSTANCE = Instance(name="three", means=[0.7, 0.45, 0.2])
DELTA = 0.1
SLOW = {
    ("Track-and-Stop", "as-written"): reference.track_and_stop,
    ("Track-and-Stop", "c-tracking"): lambda race: reference.track_and_stop(race, True),
    ("Chernoff-Racing", "as-written"): lambda race: reference.racing(race, False),
    ("Chernoff-Racing", "by-round"): lambda race: reference.racing(race, False, True),
    ("KL-LUCB", "as-written"): reference.kl_lucb,
    ("KL-Racing", "as-written"): lambda race: reference.racing(race, True),
    ("KL-Racing", "by-round"): lambda race: reference.racing(race, True, True),
}


def pulled(strategy, reading, instance=INSTANCE, seed=0, delta=DELTA, cap=None):
    """The arms of a run, and its last state."""
    cell = Cell(instance.name, strategy, {"delta": delta, "cap": cap}, reading)
    parts, streams = steps(instance, cell), run_streams(7, seed)
    state, arms = parts.strategy.start(parts.rules), []
    run = parts.strategy.follow(parts.world, parts.rules, state, streams.environment, streams.coins)
    for arm in run:
        arms.append(arm)
        if len(arms) == cap:
            break
    return arms, state


@pytest.mark.parametrize(("strategy", "reading"), SLOW)
@pytest.mark.parametrize("rewards", FAMILIES)
def test_pulls_are_those_of_the_paper_told_slowly(strategy, reading, rewards):
    """Every arm of two runs, up to 100 pulls, is one that the paper would pull; so is the end."""
    instance = Instance(name="three", means=INSTANCE.means, rewards=rewards)
    for seed in range(2):
        arms, state = pulled(strategy, reading, instance, seed, cap=100)
        environment, family = run_streams(7, seed).environment, FAMILIES[rewards]
        race = reference.Race(family, puller(instance, environment), 3, DELTA)
        told = SLOW[strategy, reading](race)
        allowed = next(told)
        for place, arm in enumerate(arms):
            assert arm in allowed, place
            allowed = next_allowed(told, arm)
        assert (allowed is None) == STRATEGIES[strategy].done(
            make_rules(strategy, family, 3, DELTA, READINGS[strategy][reading]), state
        )


def puller(instance, environment):
    """arm -> a reward."""
    return lambda arm: draw(instance.law, instance.means[arm], environment)


def next_allowed(told, arm):
    """The arms that may follow; None if the strategy has stopped."""
    try:
        return told.send(arm)
    except StopIteration:
        return None


@pytest.mark.parametrize("rewards", FAMILIES)
def test_proved_rule_stops_where_the_evidence_says(rewards):
    """Track-and-Stop, `proven`: at its last pull every pair's e-value exceeds ln((K-1)/delta)."""
    instance = Instance(name="three", means=INSTANCE.means, rewards=rewards)
    family, level = FAMILIES[rewards], math.log(2.0 / DELTA)
    for seed in range(3):
        _, state = pulled("Track-and-Stop", "proven", instance, seed)
        best, n = int(state.answer[0]), state.pulls
        for a in {0, 1, 2} - {best}:
            found = transport(
                family, shrunk(family, n[best]), state.means[best],
                shrunk(family, n[a]), state.means[a],
            )  # fmt: skip
            found -= mixing_cost(family, n[best], state.sums[best]) + mixing_cost(
                family, n[a], state.sums[a]
            )
            assert found > level


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", BOUNDARY)
def test_proved_rules_seldom_stop_at_a_tie(strategy, name):
    """300 runs of up to 200 pulls: no more wrong stops than 300 delta / 2 would give by chance.

    A false alarm in 10^6.
    """
    instance = boundary(name)
    setting = {"delta": 0.2, "cap": 200}
    run = prepare(instance, Cell(name, strategy, setting, "proven"))
    found = [run(run_streams(11, r)) for r in range(300)]
    wrong = sum(one.status == Status.STOPPED and one.answer != 1 for one in found)
    assert wrong <= stats.binom.ppf(1.0 - 1e-6, 300, 0.2)


def test_shares_tend_to_the_optimal_ones():
    """After 20,000 pulls with a delta that never stops; each tracking rule."""
    for reading in ("as-written", "c-tracking"):
        cell = Cell("three", "Track-and-Stop", {"delta": 1e-300, "cap": 20_000}, reading)
        found = prepare(INSTANCE, cell)(run_streams(3, 0))
        from bestarm.bai.problem import characteristic_time

        wanted = characteristic_time(INSTANCE).allocation
        np.testing.assert_allclose(found.pulls / found.tau, wanted, atol=0.03)


def test_every_arm_is_explored():
    """N_a >= sqrt(t) - K/2 at all times, but for the pulls that are being made up."""
    cell = Cell("far", "Track-and-Stop", {"delta": 1e-300, "cap": 2000}, "as-written")
    far = Instance(name="far", means=[0.9, 0.5, 0.001])
    found = prepare(far, cell)(run_streams(3, 0))
    assert found.pulls.min() >= math.sqrt(2000) - 1.5 - 3


def test_coin_ties_pull_a_leader():
    """With all rewards 0 every arm leads, and coins choose."""
    zero = Instance(name="zero", means=[0.0, 0.0, 0.0])
    arms, _ = pulled("Track-and-Stop", "coin-ties", zero, cap=60)
    written, _ = pulled("Track-and-Stop", "as-written", zero, cap=60)
    assert arms != written
    assert set(arms) == {0, 1, 2}
    assert max(written.count(a) for a in range(3)) <= 21


def test_races_pull_remaining_arms_equally():
    _, state = pulled("Chernoff-Racing", "as-written", seed=4)
    assert state.remaining.sum() == 1
    assert state.remaining[state.answer[0]] == 1
    counts = np.sort(state.pulls)
    assert counts[-1] - counts[-2] <= 1  # the last to leave left at the end of a round


def test_the_number_of_arms_counts_in_the_proved_threshold():
    strategies = {
        name: make_rules(name, 0, 5, DELTA, READINGS[name]["proven"]) for name in STRATEGIES
    }
    assert all(rules.proved for rules in strategies.values())
    assert [rules.intervals for rules in strategies.values()] == [False, False, False, True]
