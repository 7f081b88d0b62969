"""What every strategy of every paper must do; a new strategy adds rows, not code."""

import numpy as np
import pytest

from bestarm.common.paper import Cell, Paper, Readings, facts_of
from bestarm.common.tables import COLUMNS
from bestarm.core.status import Status
from bestarm.core.streams import streams_of
from bestarm.pipeline import registry

CASES = [
    (paper, strategy, reading)
    for paper in registry.PAPERS
    for strategy in registry.PAPERS[paper].simulation.readings
    for reading in registry.PAPERS[paper].simulation.readings[strategy]
]


def replicate(paper, strategy, reading, replication, **setting):
    """One run on the paper's own easy instance, by default under the default reading."""
    simulation = registry.PAPERS[paper].simulation
    reading = reading or simulation.readings[strategy].default
    cell = Cell(simulation.easy.name, strategy, setting, reading)
    return simulation.prepare(simulation.easy, cell)(streams_of(17, replication))


@pytest.mark.parametrize(("paper", "strategy", "reading"), CASES)
class TestStrategy:
    def test_is_a_function_of_its_streams(self, paper, strategy, reading):
        one, two = (replicate(paper, strategy, reading, 3) for _ in range(2))
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_another_replication_is_another_run(self, paper, strategy, reading):
        assert len({repr(replicate(paper, strategy, reading, r)) for r in range(8)}) > 1

    def test_pulls_add_up(self, paper, strategy, reading):
        """By arm, to tau; in time steps where a pull takes several."""
        run = replicate(paper, strategy, reading, 1)
        by_arm = run.steps if "steps" in run._fields else run.pulls
        assert by_arm.sum() == run.tau
        assert (by_arm >= 0).all()

    def test_stops_on_an_easy_instance(self, paper, strategy, reading):
        for replication in range(5):
            assert replicate(paper, strategy, reading, replication).status == Status.STOPPED

    def test_respects_the_limit_on_pulls(self, paper, strategy, reading):
        """A fixed budget is never exceeded; a run of fixed confidence ends at the cap."""
        if "budget" in registry.PAPERS[paper].simulation.setting.model_fields:
            assert replicate(paper, strategy, reading, 0, budget=30).tau <= 30
        else:
            run = replicate(paper, strategy, reading, 0, cap=30, delta=1e-6)
            assert run.tau == 30
            assert run.status == Status.CAPPED

    def test_finds_the_truth_of_an_easy_instance(self, paper, strategy, reading):
        """In the truth's own terms, in seven of ten runs or more; delta is 0.1 or less."""
        easy = registry.PAPERS[paper].simulation.easy
        answer = registry.PAPERS[paper].problems.truth(easy).answer
        found = [replicate(paper, strategy, reading, r).answer for r in range(10)]
        assert sum(np.array_equal(each, answer) for each in found) >= 7


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_paper_has_all_its_rooms(paper, root):
    known = registry.PAPERS[paper]
    known.room("reference")
    assert list(known.plots.draw) == list(known.targets)
    assert set(known.simulation.code) <= set(known.simulation.readings)
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
    names = [name for some in known.further.values() for name in some]
    assert len(names) == len(set(names))
    assert all(text for some in known.further.values() for text in some.values())
    outcome = replicate(paper, next(iter(known.simulation.readings)), "", 0)
    assert not {*COLUMNS, *outcome._fields, "replication"} & set(names)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_family_and_parameters_tell_instances_apart(paper):
    known = registry.PAPERS[paper].problems
    instances = known.instances()
    facts = [facts_of(instance.model_dump()) for instance in instances.values()]
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
    cells = paper.room("cells")
    monkeypatch.setattr(cells, "EXPERIMENTS", cells.EXPERIMENTS + cells.EXPERIMENTS[:1])
    with pytest.raises(ValueError, match="average: two have this name"):
        print(paper.experiments)
