"""What the committed tables must say of the readings that the code names."""

import math

import pandas as pd
import pytest

from bestarm.common.tables import read_table
from bestarm.linear.plots import near
from bestarm.linear.strategies import CHOICES, CLOSEST, READINGS, grid


@pytest.mark.parametrize("strategy", CLOSEST)
def test_closest_is_the_honest_reading_with_the_width_nearest_to_the_published_budget(
    root, strategy
):
    table = read_table(root / "figures/linear/readings.csv")
    ratios = table[(table.strategy == strategy) & (table.statistic == "budget_ratio")]
    assert set(ratios.reading) >= set(grid(strategy))
    distance = ratios.set_index("reading").value.map(lambda r: abs(math.log(r)))
    ours = READINGS[strategy]["honest"]
    honest = [
        name
        for name, reading in grid(strategy).items()
        if not reading.proposition_2
        and all(getattr(reading, field) == getattr(ours, field) for field in CHOICES[strategy])
    ]
    assert distance[honest].idxmin() == CLOSEST[strategy]


def test_bold_in_the_grid_is_what_the_ledger_does_not_refute(root):
    """But for means over capped runs, which are lower bounds and never bold."""
    table = read_table(root / "figures/linear/readings.csv")
    claims = pd.read_csv(root / "figures/claims.csv")
    claims = claims[(claims.paper == "linear") & claims.id.str.startswith("fig5-budget-")]
    claims = claims[claims.reason != "capped"].set_index(["id", "reading"])
    ratios = table[(table.statistic == "budget_ratio") & (table.status != "restricted")]
    published_runs = table[table.reading == "published"].n.min()
    seen = 0
    for row in ratios.itertuples():
        one = f"fig5-budget-{row.strategy.lower()}", row.reading
        if one in claims.index:
            bold = near(pd.Series(row._asdict()), published_runs)
            assert bold == ("differs" not in claims.outcome[one]), one
            seen += 1
    assert seen > 50


def test_every_reading_is_tried():
    widths = 3 * 4
    sizes = {s: widths * math.prod(map(len, CHOICES[s].values())) for s in CLOSEST}
    sizes["Fully-Adaptive"] += 2  # Proposition 2
    assert {s: len(grid(s)) for s in CLOSEST} == sizes
    assert all(READINGS[s].text == "honest" for s in CLOSEST)
