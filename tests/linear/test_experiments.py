"""What the committed tables must say of the readings that the code names."""

import math

import pytest

from bestarm.linear.strategies import CHOICES, CLOSEST, grid, named_readings
from bestarm.pipeline.tables import read_table


@pytest.mark.parametrize("strategy", CLOSEST)
def test_closest_is_the_reading_nearest_to_the_published_budget(root, strategy):
    table = read_table(root / "figures/linear/readings.csv")
    ratios = table[(table.strategy == strategy) & (table.statistic == "budget_ratio")]
    assert set(ratios.reading) == set(grid(strategy))
    distance = ratios.set_index("reading").value.map(lambda r: abs(math.log(r)))
    assert distance.idxmin() == CLOSEST[strategy]


def test_every_reading_is_tried():
    widths = 3 * 4
    sizes = {s: widths * math.prod(map(len, CHOICES[s].values())) for s in CLOSEST}
    sizes["Fully-Adaptive"] += 2  # Proposition 2
    assert {s: len(grid(s)) for s in CLOSEST} == sizes
    assert all(next(iter(named_readings(s))) == "honest" for s in CLOSEST)
