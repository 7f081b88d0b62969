"""What every strategy of every paper must do; a new strategy adds rows, not code."""

from functools import cache

import numpy as np
import pytest

from bestarm import registry
from bestarm.common.paper import Cell, Paper, Readings, instance_facts
from bestarm.common.tables import COLUMNS
from bestarm.core.status import Status
from bestarm.core.strategy import Strategy
from bestarm.core.streams import run_streams
from bestarm.live.interactive import AskTell
from components import components

SIMULATIONS = {paper: registry.PAPERS[paper].simulation for paper in registry.PAPERS}
CASES = [
    (paper, strategy, reading)
    for paper, simulation in SIMULATIONS.items()
    for strategy, readings in simulation.readings.items()
    for reading in components(readings)
]
STEPPED = [case for case in CASES if SIMULATIONS[case[0]].steps]
#: No strategy of theirs tosses coins, so ask/tell objects have none; steps that are given some
#: would be compiled a second time.
WITHOUT_COINS = ("cbmai", "lagex")


@cache
def prepared(paper, strategy, reading, **setting):
    """Runs on the paper's own easy instance, by default under the default reading."""
    simulation = SIMULATIONS[paper]
    cell = Cell(
        simulation.easy.name, strategy, setting, reading or simulation.readings[strategy].default
    )
    return simulation.prepare(simulation.easy, cell)


def replicate(paper, strategy, reading, replication, **setting):
    """One run."""
    return prepared(paper, strategy, reading, **setting)(run_streams(17, replication))


@pytest.mark.parametrize(("paper", "strategy", "reading"), CASES)
def test_runs(paper, strategy, reading):
    """Runs stop, depend on their streams alone, count their pulls, and find the truth.

    The last in the truth's own terms, in seven of ten runs or more; delta is 0.1 or less. Pulls
    add up to tau by arm, or time steps do where a pull takes several.
    """
    runs = [replicate(paper, strategy, reading, r) for r in range(10)]
    for a, b in zip(runs[3], replicate(paper, strategy, reading, 3), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len({repr(run) for run in runs}) > 1
    assert all(run.status == Status.STOPPED for run in runs)
    for run in runs:
        by_arm = run.steps if "steps" in run._fields else run.pulls
        assert by_arm.sum() == run.tau
        assert (by_arm >= 0).all()
    answer = registry.PAPERS[paper].problems.truth(SIMULATIONS[paper].easy).answer
    assert sum(np.array_equal(run.answer, answer) for run in runs) >= 7


@pytest.mark.parametrize(("paper", "strategy", "reading"), CASES)
def test_respects_the_limit_on_pulls(paper, strategy, reading):
    """A fixed budget is never exceeded; a run of fixed confidence ends at the cap."""
    if "budget" in SIMULATIONS[paper].setting.model_fields:
        assert replicate(paper, strategy, reading, 0, budget=30).tau <= 30
    else:
        run = replicate(paper, strategy, reading, 0, cap=30, delta=1e-6)
        assert run.tau == 30
        assert run.status == Status.CAPPED


class Told(AskTell[int]):
    """A person who knows the arms by the numbers of the steps."""

    def _label(self, index):
        return index

    def _index(self, arm):
        return arm

    def _observation(self, index, *observed):
        return observed[0] if len(observed) == 1 else np.array(observed)


@pytest.mark.parametrize(("paper", "strategy", "reading"), STEPPED)
def test_both_drivers_make_the_same_pulls(paper, strategy, reading):
    """A compiled run, its steps in Python and a person who is asked: the same arms, the same state.

    Where simulations run these steps and no shorter way, their rows have these pulls as well.
    """
    simulation = SIMULATIONS[paper]
    setting = {"budget": 300} if "budget" in simulation.setting.model_fields else {"cap": 300}
    cell = Cell(simulation.easy.name, strategy, setting, reading)
    steps, rules, world, cap = simulation.steps(simulation.easy, cell)

    streams = run_streams(17, 2)
    state, arms = steps.start(rules), []
    coins = None if paper in WITHOUT_COINS else streams.coins
    for arm in steps.follow(world, rules, state, streams.environment, coins):
        arms.append(arm)
        if len(arms) == cap:
            steps.done(rules, state)  # as a person, who looks after every pull
            break

    streams = run_streams(17, 2)
    coins = None if paper in WITHOUT_COINS else streams.coins
    person, asked = Told(steps, rules, coins), []
    while len(asked) < cap and not person.done:
        asked.append(person.ask())
        told = steps.pull(world, person._state, asked[-1], streams.environment)
        person._tell(asked[-1], *np.atleast_1d(told))
    assert asked == arms
    assert_same(person._state, state)

    if isinstance(steps, Strategy):
        streams = run_streams(17, 2)
        played, stopped = steps.play(world, rules, cap, streams.environment, streams.coins)
        if not stopped:
            steps.done(rules, played)
        assert_same(played, state)


def assert_same(one, other):
    """All arrays of two states, which may be nested, or objects."""
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, tuple):
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif hasattr(one, "__dict__"):
        assert_same(tuple(vars(one).values()), tuple(vars(other).values()))
    else:
        assert one == other


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_paper_has_all_its_rooms(paper, root):
    known = registry.PAPERS[paper]
    known.module("reference")
    assert list(known.plots.draw) == list(known.targets)
    used = {name for target in known.targets.values() for name in target.experiments}
    assert used == set(known.experiments)
    run = replicate(paper, next(iter(known.simulation.readings)), "", 0)
    assert {"tau", "status", "answer", *known.simulation.failures} <= set(run._fields)
    assert (root / f"data/claims/{paper}.yaml").is_file()
    assert (root / f"data/published/{paper}.csv").is_file()


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_further_columns_have_names_of_their_own_and_meanings(paper):
    """Of instances, settings and options; none is a column that all tables have, or an outcome."""
    known = registry.PAPERS[paper]
    names = [name for some in known.extra_columns.values() for name in some]
    assert len(names) == len(set(names))
    assert all(text for some in known.extra_columns.values() for text in some.values())
    outcome = replicate(paper, next(iter(known.simulation.readings)), "", 0)
    assert not {*COLUMNS, *outcome._fields, "replication"} & set(names)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_family_and_parameters_tell_instances_apart(paper):
    known = registry.PAPERS[paper].problems
    instances = known.instances()
    facts = [instance_facts(instance.model_dump()) for instance in instances.values()]
    assert len({tuple(sorted(one.items())) for one in facts}) == len(instances)
    assert {name for one in facts for name in one} - {"family"} == set(known.parameters)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_cells_of_an_experiment_are_distinct_and_known(paper):
    simulation = registry.PAPERS[paper].simulation
    instances = registry.PAPERS[paper].problems.instances()
    for experiment in registry.PAPERS[paper].experiments.values():
        cells = [(c.instance, c.label, c.setting_label, c.reading) for c in experiment.cells]
        assert len(set(cells)) == len(cells)
        for cell in experiment.cells:
            assert cell.instance in instances
            assert cell.reading in simulation.readings[cell.strategy]


def test_readings_are_a_mapping_with_two_marks():
    readings = Readings({"a": 1, "b": 2}, default="b")
    assert (list(readings), readings["b"], len(readings)) == (["a", "b"], 2, 2)
    assert (readings.text, readings.default) == ("a", "b")
    assert Readings({"a": 1}).default == "a"
    with pytest.raises(ValueError, match="c: is none of a, b"):
        Readings({"a": 1, "b": 2}, text="c")


def test_two_experiments_of_one_name_are_refused(monkeypatch):
    paper = Paper("cbmai", "a copy")
    cells = paper.module("cells")
    monkeypatch.setattr(cells, "EXPERIMENTS", cells.EXPERIMENTS + cells.EXPERIMENTS[:1])
    with pytest.raises(ValueError, match="average: the name is used twice"):
        print(paper.experiments)
