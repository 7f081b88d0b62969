"""Streams become outcomes, columns and counts; each against a plain loop."""

from typing import NamedTuple

import numpy as np
import pytest

from bestarm.common.paper import Cell, Experiment
from bestarm.common.user_strategies import Fault, UserStrategy
from bestarm.core.inputs import InputError
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from bestarm.registry import PAPERS
from bestarm.runs.plan import Plan, describe_instances, make_plan
from bestarm.runs.play import count, has_stopped, joined, outcome_columns, play
from bestarm.runs.tasks import fact_columns, run


class Outcome(NamedTuple):
    tau: int
    status: int
    pulls: np.ndarray


def replicate(streams):
    pulls = streams.environment.integers(0, 9, 3)
    return Outcome(int(pulls.sum()), int(streams.coins.integers(0, 2)), pulls)


def test_a_run_depends_on_its_number_alone():
    """As streams made anew give it, in whatever order and part."""
    found = play(replicate, 7, range(10))
    expected = [replicate(run_streams(7, number)) for number in range(10)]
    np.testing.assert_array_equal(found["tau"], [one.tau for one in expected])
    np.testing.assert_array_equal(found["pulls"], [one.pulls for one in expected])
    parts = joined(play(replicate, 7, part) for part in (range(4), range(4, 5), range(5, 10)))
    assert parts.keys() == found.keys() == {"replication", *Outcome._fields}
    for name, values in found.items():
        np.testing.assert_array_equal(parts[name], values)


def test_every_run_ticks():
    ticks = []
    play(replicate, 7, [5, 3], lambda: ticks.append(0))
    assert len(ticks) == 2


@pytest.mark.parametrize("seed", range(20))
def test_counts_are_those_of_a_loop(seed):
    rng = np.random.default_rng(seed)
    outcomes = [Outcome(1, int(rng.integers(0, 3)), np.zeros(1)) for _ in range(30)]
    right = rng.random(30) < 0.5
    counts = [0, 0, 0]
    for outcome, is_right in zip(outcomes, right, strict=True):
        counts[0] += 1
        counts[1] += outcome.status == Status.STOPPED
        counts[2] += outcome.status == Status.STOPPED and not is_right
    runs = outcome_columns(outcomes) | {"replication": np.arange(30)}
    assert count(has_stopped(runs), right) == tuple(counts)


def test_runs_without_a_status_stopped():
    """Those with a budget."""
    assert has_stopped({"replication": np.arange(3)}).tolist() == [True] * 3


@pytest.fixture(scope="module")
def plan():
    paper = PAPERS["baics"]
    easy = paper.simulation.easy
    settings = ({"delta": 0.1, "cap": 30}, {"delta": 0.2, "cap": 30})
    cells = tuple(
        Cell(easy.name, strategy, setting, "as-written", {"step": 0.5} if at else {})
        for at, setting in enumerate(settings)
        for strategy in ("T-a-SCS", "Uniform")
    )
    return make_plan(
        "baics", Experiment("e", cells), 7, 2, describe_instances(paper, {easy.name: easy})
    )


def test_a_plan_from_its_own_text_is_the_same(plan):
    again = Plan.model_validate_json(plan.model_dump_json())
    assert again == plan
    assert again.hash == plan.hash
    assert all(isinstance(cell, Cell) for cell in again.cells)


def test_tasks_have_all_that_runs_need(plan):
    tasks = plan.tasks(PAPERS["baics"])
    assert [task.cell for task in tasks] == list(plan.cells)
    assert tasks[0].key == tasks[1].key != tasks[2].key
    assert all(task.instance == PAPERS["baics"].simulation.easy for task in tasks)
    assert fact_columns(tasks)[:5] == ("instance", "strategy", "setting", "reading", "algorithm")
    assert {"delta", "cap", "step"} <= set(fact_columns(tasks))
    assert plan.work(PAPERS["baics"]).names == fact_columns(tasks)
    assert tasks[3].facts["delta"] == 0.2


def test_a_fault_of_a_users_strategy_names_it_and_the_run(plan):
    """The number is that of the run, wherever its part begins."""

    class Fails:
        def __init__(self, n_arms):
            self.fails = False

        def ask(self):
            raise ValueError("oh")

        def tell(self, *_):
            pass

        done = False
        answer = None

    cell = Cell(plan.cells[0].instance, "Fails", {"delta": 0.1}, "own")
    one = plan.model_copy(update={"cells": (cell,)})
    (task,) = one.tasks(PAPERS["baics"], {"Fails": UserStrategy("Fails", Fails)})
    with pytest.raises(InputError, match=r"^Fails: run 4: ") as error:
        run(task, range(4, 6))
    assert not isinstance(error.value.__cause__, Fault)
