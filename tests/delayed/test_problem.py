"""Instances, their ground truth, and how cells become runs and tables."""

import numpy as np
import pandas as pd
import pytest

from bestarm.common.paper import Cell
from bestarm.core.estimates import ratio_of_means
from bestarm.core.inputs import InputError, parse
from bestarm.core.streams import run_streams
from bestarm.delayed.cells import EXPERIMENTS
from bestarm.delayed.problem import Instance, bounded, free, instances, truth
from bestarm.delayed.strategies import (
    EASY,
    ON_REWARDS,
    READINGS,
    STRATEGIES,
    ResultCache,
    prepare,
    recommended_arms,
)
from bestarm.delayed.tables import of_panel

GOOD = {"name": "x", "means": [1.0, 3.0, 2.0], "top": 1, "sigma_p": 1.0, "delay": 5}


def test_the_papers_means():
    np.testing.assert_allclose(bounded(10).means[:2], [5.0, 5.0 - 0.1**0.6])
    np.testing.assert_allclose(bounded(10, first=1).means[::9], [5.0 - 0.1**0.6, 4.0])
    assert free(10).means == [20.0, 19.0, 18.0, 17.0, 16.0, 15.0, 14.0, 13.0, 12.0, 11.0]
    assert [free(n).top for n in (10, 20, 50, 100)] == [2, 4, 10, 20]


def test_truth_by_hand():
    known = truth(Instance(**GOOD | {"means": [1.0, 5.0, 2.0, 4.0], "top": 2, "sigma": 2.0}))
    assert known.answer == [2, 4]
    assert known.gaps == [3.0, 3.0, 2.0, 2.0]
    assert known.hardness == pytest.approx(4.0 / 9.0 * 2 + 1.0 * 2)
    everything = truth(Instance(**GOOD | {"top": 3}))
    assert everything.answer == [1, 2, 3]
    assert everything.gaps is everything.hardness is None


def test_delays_of_all_or_by_arm():
    for delay, low, high in (
        (5, [5, 5, 5], [5, 5, 5]),
        ({"low": 2, "high": 4}, [2, 2, 2], [4, 4, 4]),
        ([1, {"low": 2, "high": 3}, 9], [1, 2, 9], [1, 3, 9]),
    ):
        model = Instance(**GOOD | {"delay": delay}).problem
        assert (model.low.tolist(), model.high.tolist()) == (low, high)
    instance = Instance(**GOOD | {"delay": [1, {"low": 2, "high": 3}, 9]})
    assert Instance(**instance.model_dump()) == instance


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"top": 4}, "top: must be at most the number of arms, 3, got 4"),
        ({"means": [1.0, 2.0, 2.0]}, "means: must have a unique top 1"),
        ({"delay": 0}, "delay.1.low: must be greater than 0, got 0"),
        ({"delay": [1, 2]}, "delay: must have 3 entries to fit means, got 2"),
        ({"delay": {"low": 3, "high": 2}}, "high: must be at least low, 3, got 2"),
        ({"sigma_p": None}, "sigma_p: is required with feedback unbiased"),
        ({"feedback": "full"}, "sigma_p: is not used with feedback full"),
        ({"feedback": "biased"}, "bias: is required with feedback biased"),
        ({"bias": [1.0, 1.0, 1.0]}, "bias: is not used with feedback unbiased"),
        ({"arms": ["a"]}, "arms: must have 3 entries to fit means, got 1"),
    ],
)
def test_bad_instances_are_explained(change, message):
    with pytest.raises(InputError, match=message):
        parse(Instance, GOOD | change, "file")


def test_answer_of_a_capped_run():
    """The accepted arm 2, then the best estimate that survives; never a rejected arm."""
    sets = np.array([0, 2, 1, 0])
    centres = np.array([1.0, 9.0, 0.0, 2.0])
    assert recommended_arms(sets, centres, 2).tolist() == [2, 3]
    assert recommended_arms(sets, centres, 3).tolist() == [0, 2, 3]


@pytest.mark.parametrize("reading", READINGS["Partial"])
def test_the_run_alongside_is_that_of_full(reading):
    """tau_full is what the cell of Full with the same streams and union bound gives."""
    full = READINGS["Partial"][reading].alone
    for batch in (1, 3):
        setting = {"batch": batch}
        ours = prepare(EASY, Cell("easy", "Partial", setting, reading))
        theirs = prepare(EASY, Cell("easy", "Full", setting, full))
        for r in range(5):
            ON_REWARDS.clear()
            found = ours(run_streams(1, r)).tau_full
            ON_REWARDS.clear()
            assert found == theirs(run_streams(1, r)).tau


def test_a_remembered_run_is_the_run_that_would_be_simulated():
    """Whatever the order of cells, instances, settings and replications."""
    asked = [
        (instance, Cell(instance.name, strategy, {"batch": batch, "delta": delta}, reading), r)
        for instance in (EASY, EASY.model_copy(update={"means": [0.0, 3.0, 0.5, 2.0]}))
        for batch, delta in ((1, 0.05), (2, 0.05), (1, 0.2))
        for strategy in STRATEGIES
        for reading in READINGS[strategy]
        for r in range(2)
    ]

    def alone(instance, cell, r):
        outcome = prepare(instance, cell)(run_streams(1, r))
        full = cell.strategy == "Full"
        return outcome.tau_full, outcome.full_status, outcome.steps.tolist() if full else None

    fresh = []
    for instance, cell, r in asked:
        ON_REWARDS.clear()
        fresh.append(alone(instance, cell, r))
    assert len({tau for tau, *_ in fresh}) > len(asked) / 10
    ON_REWARDS.clear()
    assert [alone(*one) for one in asked] == fresh
    assert [alone(*one) for one in reversed(asked)] == fresh[::-1]


def test_no_more_is_remembered_than_asked():
    remembered, made = ResultCache(2), []

    def simulate():
        made.append(len(made) + 1)
        return made[-1]

    assert [remembered.get((key,), simulate) for key in "abaca"] == [1, 2, 1, 3, 4]


def test_shuffled_arms_keep_their_numbers():
    """Whatever the order of a run, its pulls and answer are told by the instance's own arms."""
    instance = Instance(
        name="shuffled", means=[0.0, 50.0, 1.0], sigma_p=0.1, sigma=0.1, delay=[4, 9, 5],
        shuffled=True,
    )  # fmt: skip
    replicate = prepare(instance, Cell("shuffled", "Partial", {}, "as-written"))
    runs = [replicate(run_streams(3, r)) for r in range(20)]
    for run in runs:
        assert run.answer.tolist() == [2]
        assert (run.steps >= run.finished * [4, 9, 5]).all()
        assert run.steps.sum() == run.tau
    assert len({run.tau for run in runs}) > 1  # the order matters for the time


def test_ratio_of_means_covers():
    """Of 1000 intervals about 95% hold the ratio; false alarm below 1e-6."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        below = rng.gamma(4.0, 1.0, 60)
        e = ratio_of_means("time_ratio", 0.5 * below + rng.gamma(2.0, 0.5, 60), below)
        held += e.low <= 0.75 <= e.high
    assert 910 <= held <= 980


def test_panel_extremes_by_hand():
    shared = {"unit": "", "status": "", "n": 10}
    rows = [
        {"statistic": "time_ratio", "x": x, "value": v, "low": v - h, "high": v + h, **shared}
        for x, v, h in ((10, 0.9, 0.03), (20, 0.7, 0.1), (50, 0.8, 0.04))
    ]
    rows += [
        {"statistic": s, "x": x, "value": v, "low": 0.0, "high": 1.0, **shared}
        for s in ("error_rate", "share_slower")
        for x, v in ((10, 0.1), (20, 0.0), (50, 0.3))
    ]
    found = {e.statistic: e for e in of_panel(pd.DataFrame(rows))}
    assert (found["lowest_ratio"].value, found["highest_ratio"].value) == (0.7, 0.9)
    assert found["ratio_change"].value == pytest.approx(-0.1)
    assert found["ratio_change"].high == pytest.approx(-0.05)
    assert (found["error_rate"].value, found["error_rate"].n) == (pytest.approx(4 / 30), 30)


def test_every_figure_has_its_instances():
    cells = [cell for experiment in EXPERIMENTS for cell in experiment.cells]
    assert {cell.instance for cell in cells} <= set(instances())
    panels = {(cell.x_name, cell.setting["batch"]) for cell in cells if cell.x_name}
    assert panels == {(name, batch) for name in ("n", "D", "sigma_p") for batch in (1, 10)}
