"""The kept table of what it costs not to know sigma."""

import hashlib

import pandas as pd
import yaml
from scipy import stats

from bestarm.baics.unknown_sigma import COLUMNS, RUNS, jobs, price
from bestarm.common.files import data_folder


def test_the_kept_table_is_the_one_described_and_keeps_delta():
    """Errors at a false alarm of one in a million."""
    path = data_folder() / "unknown-sigma/times.csv"
    provenance = yaml.safe_load(path.with_name("provenance.yaml").read_text())
    assert provenance["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    kept = pd.read_csv(path)
    assert list(kept.columns) == COLUMNS
    assert [(row.instance, row.strategy, row.runs) for row in kept.itertuples()] == [
        job.arguments for job in jobs()
    ]
    most = stats.binom.isf(1e-6, RUNS, 0.1)
    assert (kept.wrong_known <= most).all()
    assert (kept.wrong_unknown <= most).all()
    assert (kept.low > 1.0).all()


def test_a_job_makes_a_row():
    row = price("no-feasible-arm", "T-a-SCS", 2)
    assert list(row) == COLUMNS
    assert row["ratio"] == row["unknown"] / row["known"]
