"""The kept table of what it costs not to know sigma."""

import pandas as pd
from scipy import stats

from bestarm.baics.problem import instances
from bestarm.baics.unknown_sigma import COLUMNS, jobs, time_ratio
from provenance import described


def test_the_kept_table_is_the_one_described_and_keeps_delta():
    """Errors at a false alarm of one in a million."""
    kept = pd.read_csv(described("unknown-sigma/times.csv"))
    assert list(kept.columns) == COLUMNS
    assert [(row.instance, row.strategy, row.delta, row.runs) for row in kept.itertuples()] == [
        (instance.name, strategy, delta, runs)
        for instance, strategy, delta, runs in (job.arguments for job in jobs())
    ]
    most = stats.binom.isf(1e-6, kept.runs, kept.delta)
    assert (kept.wrong_known <= most).all()
    assert (kept.wrong_unknown <= most).all()
    assert (kept.low > 1.0).all()


def test_a_job_makes_a_row():
    row = time_ratio(instances()["no-feasible-arm"], "T-a-SCS", 0.1, 2)
    assert list(row) == COLUMNS
    assert row["ratio"] == row["unknown"] / row["known"]
