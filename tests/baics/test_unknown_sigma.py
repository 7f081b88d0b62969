"""The kept table of what it costs not to know sigma."""

import pandas as pd
from scipy import stats

from bestarm.baics.unknown_sigma import COLUMNS, RUNS, jobs, time_ratio
from provenance import described


def test_the_kept_table_is_the_one_described_and_keeps_delta():
    """Errors at a false alarm of one in a million."""
    kept = pd.read_csv(described("unknown-sigma/times.csv"))
    assert list(kept.columns) == COLUMNS
    assert [(row.instance, row.strategy, row.runs) for row in kept.itertuples()] == [
        job.arguments for job in jobs()
    ]
    most = stats.binom.isf(1e-6, RUNS, 0.1)
    assert (kept.wrong_known <= most).all()
    assert (kept.wrong_unknown <= most).all()
    assert (kept.low > 1.0).all()


def test_a_job_makes_a_row():
    row = time_ratio("no-feasible-arm", "T-a-SCS", 2)
    assert list(row) == COLUMNS
    assert row["ratio"] == row["unknown"] / row["known"]
