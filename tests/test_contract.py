"""What every strategy of every paper must do; a new strategy adds rows, not code."""

import numpy as np
import pytest

from bestarm.common.paper import Cell
from bestarm.core.status import Status
from bestarm.core.streams import streams_of
from bestarm.pipeline import registry

CASES = [
    (paper, strategy, reading)
    for paper in registry.PAPERS
    for strategy in registry.room(paper, "strategies").STRATEGIES
    for reading in registry.room(paper, "strategies").readings_of(strategy)
]


def replicate(paper, strategy, reading, replication, **setting):
    """One run on the paper's own easy instance."""
    strategies = registry.room(paper, "strategies")
    cell = Cell(strategies.EASY.name, strategy, setting, reading)
    return strategies.prepare(strategies.EASY, cell)(streams_of(17, replication))


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
        if "budget" in registry.room(paper, "strategies").Setting.model_fields:
            assert replicate(paper, strategy, reading, 0, budget=30).tau <= 30
        else:
            run = replicate(paper, strategy, reading, 0, cap=30, delta=1e-6)
            assert run.tau == 30
            assert run.status == Status.CAPPED

    def test_finds_the_truth_of_an_easy_instance(self, paper, strategy, reading):
        """In the truth's own terms, in seven of ten runs or more; delta is 0.1 or less."""
        easy = registry.room(paper, "strategies").EASY
        answer = registry.room(paper, "problem").truth(easy).answer
        found = [replicate(paper, strategy, reading, r).answer for r in range(10)]
        assert sum(np.array_equal(each, answer) for each in found) >= 7


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_paper_has_all_its_rooms(paper, root):
    for module in ("problem", "strategies", "experiments", "plots", "reference"):
        registry.room(paper, module)
    experiments, plots = registry.room(paper, "experiments"), registry.room(paper, "plots")
    for target in experiments.TARGETS:
        assert callable(getattr(plots, target.name.replace("-", "_")))
    names = [e.name for e in experiments.EXPERIMENTS]
    assert len(set(names)) == len(names)
    used = {name for target in experiments.TARGETS for name in target.experiments}
    assert used == set(names)
    assert (root / f"data/claims/{paper}.yaml").is_file()
    assert (root / f"data/published/{paper}.csv").is_file()


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_cells_of_an_experiment_are_distinct_and_known(paper):
    strategies = registry.room(paper, "strategies")
    instances = registry.room(paper, "problem").instances()
    for experiment in registry.room(paper, "experiments").EXPERIMENTS:
        cells = [(c.instance, c.label, c.setting_label, c.reading) for c in experiment.cells]
        assert len(set(cells)) == len(cells)
        for cell in experiment.cells:
            assert cell.instance in instances
            assert cell.reading in strategies.readings_of(cell.strategy)
