"""What docs/readings.md says of the paper's own figures, on the values read off them."""

from pathlib import Path

import pytest

from bestarm.lagex.problem import EASIER, setup1
from bestarm.verdicts.tables import read_published


@pytest.fixture(scope="module")
def boxes():
    table = read_published(Path(__file__).parents[2] / "data/published/lagex.csv")
    return table.set_index(["target", "strategy", "statistic"]).value


def test_figure_5_has_one_data_set_under_two_labels(boxes):
    for part in ("quartile_25", "quartile_75", "whisker:low", "whisker:high"):
        assert boxes["fig5 boxes", "CTnS-WLag", part] == boxes["fig5 boxes", "CGE-WLag", part]
    ones, others = (boxes["fig5", name, "median_stopping_time"] for name in ("LATS", "CTnS-WLag"))
    assert ones != others
    assert others == boxes["fig5", "CGE-WLag", "median_stopping_time"]


def test_figure_6_looks_like_mixed_caps(boxes):
    upper = boxes.xs(("fig6 boxes", "quartile_75"), level=("target", "statistic"))
    assert set(upper.index[upper == 2000.0]) == {
        *("LATS", "CTnS-WLag", "CGE-WLag", "PTnS", "Uniform"),
    }
    ends = boxes.xs(("fig6 boxes", "whisker:high"), level=("target", "statistic"))
    assert 2900.0 < ends[upper.index[upper == 2000.0]].min() <= ends.max() < 3000.0


def test_a_run_of_figure_6_is_shorter_than_a_pull_of_each_arm(boxes):
    arms = setup1(EASIER).problem.means.size
    assert boxes["fig6 boxes", "LAGEX", "whisker:low"] < arms
