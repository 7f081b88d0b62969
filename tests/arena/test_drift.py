"""Means that change with time: what is added to noise, in which order, and the kept table."""

import numpy as np
import pandas as pd

from bestarm.arena.drift import jobs
from bestarm.baics.novelty import boost_after
from bestarm.common.assumptions import CHANGES
from bestarm.common.files import data_folder
from bestarm.core.noise import DisturbedGenerator, shifts
from bestarm.linear.assumptions import ChangingPhases
from bestarm.linear.phased import Plan

from .kept_rows import named


def changed(name, drawn=0.0):
    return DisturbedGenerator(np.random.default_rng(0), np.array([drawn]), **CHANGES[name])


def test_a_week_is_the_same_on_average_and_a_trend_rises_by_one_sigma():
    week = shifts(changed("weekdays"), 7000)
    assert set(week.round(9)) == {0.2, -0.5}
    assert abs(week.mean()) < 1e-3  # a pull at the turn of days may round either way
    trend = shifts(changed("trend"), 10_000)
    np.testing.assert_allclose(trend[[0, 2499, 4999, 9999]], [-0.4998, 0.0, 0.5, 0.5], atol=1e-9)
    assert not shifts(changed("as assumed"), 100).any()
    np.testing.assert_array_equal(shifts(changed("trend", 100.0), 50), trend[100:150])


def test_compiled_shifts_are_part_of_the_noise():
    noise, normal = changed("weekdays"), np.random.default_rng(0)
    expected = shifts(noise, 600) + [normal.standard_normal() for _ in range(600)]
    np.testing.assert_allclose([noise.standard_normal() for _ in range(600)], expected)


def test_a_phase_has_the_changes_of_its_pulls_in_their_order():
    """As if it pulled one by one the arm that lacks most, the lowest index first."""

    class Once:
        start, survivors = 0.0, None

        def plan(self, *_):
            return Plan(np.array([3.0, 0.0, 5.0]), 0.0, True)

    noise = changed("trend", 40.0)
    change, left, sums = shifts(noise, 8), np.array([3, 0, 5]), np.zeros(3)
    for value in change:
        arm = int(np.argmax(left))
        left[arm] -= 1
        sums[arm] += value
    phases = ChangingPhases(Once(), noise)
    phases.plan(1, np.ones(3, bool), 0.0, 100)
    alone = np.random.default_rng(0).standard_normal(3)
    drawn = phases.standard_normal(3) - alone
    np.testing.assert_allclose(drawn * np.sqrt([3, 1, 5]), sums)
    assert noise.drawn[0] == 48.0


def test_novelty_halves():
    assert [boost_after(n) for n in (0.0, 500.0, 1000.0)] == [1.0, 0.5, 0.25]


def test_the_kept_table_has_a_row_per_job_and_rounds_keep_delta_on_weekdays():
    kept = pd.read_csv(data_folder() / "drift/errors.csv")
    rows = kept[["paper", "instance", "strategy", "noise"]].itertuples(index=False, name=None)
    assert [named(job) for job in jobs()] == list(rows)
    assert (kept.runs == [2000 if "rounds" not in name else 200 for name in kept.strategy]).all()
    assert (kept.wrong <= kept.stopped).all()
    rounds = kept[kept.strategy.str.contains("rounds") & kept.noise.isin(["weekdays"])]
    assert len(rounds) == 2
    assert (rounds.wrong <= rounds.delta * rounds.runs).all()
