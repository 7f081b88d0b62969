"""Count the rounds of simulated runs in which some step failed, by the names of `Outcome`.

python -m bestarm.lagex.failures [results/paper/lagex]
"""

import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from bestarm.lagex.strategies import FAILURES

COLUMNS = ["tau", *FAILURES]


def counted(results: Path) -> pd.DataFrame:
    """Rounds and runs with each failure in all shards under a folder, and all rounds and runs."""
    rounds, runs = pd.Series(0, COLUMNS), pd.Series(0, COLUMNS)
    for shard in sorted(results.rglob("shard-*.parquet")):
        found = pq.read_table(shard, columns=COLUMNS).to_pandas()
        rounds += found.sum()
        runs += (found > 0).sum()
    return pd.DataFrame({"rounds": rounds, "runs": runs}).rename({"tau": "all"})


if __name__ == "__main__":
    print(counted(Path(*(sys.argv[1:] or ["results/paper/lagex"]))).to_string())
