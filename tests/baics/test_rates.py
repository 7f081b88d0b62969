"""The kept table of what rates cost BAICS."""

import pandas as pd
from scipy import stats

from bestarm.baics import rates
from provenance import described


def test_the_kept_table_is_the_one_described_and_keep_delta():
    """Errors at a false alarm of one in a million."""
    kept = pd.read_csv(described("rates/times.csv"))
    assert list(kept.columns) == rates.COLUMNS
    assert [(row.instance, row.strategy, row.runs) for row in kept.itertuples()] == [
        job.arguments for job in rates.jobs()
    ]
    assert (kept.wrong_bets <= stats.binom.isf(1e-6, rates.RUNS, rates.SETTING["delta"])).all()


def test_a_price_is_of_the_same_streams():
    row = rates.time_ratio("near 1/2", "Uniform", 2)
    assert list(row) == rates.COLUMNS
    assert row["ratio"] == row["bets"] / row["yardstick"]
