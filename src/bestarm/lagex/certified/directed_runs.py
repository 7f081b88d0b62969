"""Make data/certified-directed/runs.csv: pulls of Certified with directed sums and without.

python -m bestarm.lagex.certified.directed_runs --out data/certified-directed/runs.csv
"""

from itertools import product

import numpy as np

from bestarm.common.paper import Cell
from bestarm.core.streams import stream_key
from bestarm.lagex.cells import CERTIFIED_DELTAS, CERTIFIED_INSTANCES, CERTIFIED_TOLERANCES
from bestarm.lagex.problem import instances
from bestarm.lagex.statistics import ROUNDING
from bestarm.lagex.strategies import prepare
from bestarm.runs.kept import Job, KeptTable, command_line
from bestarm.runs.play import has_stopped, play

SEED, RUNS, DELTA = 2023, 100, min(CERTIFIED_DELTAS)
#: Shares of the rows' delta for directed sums.
SHARES = (0.0, 0.5)
COLUMNS = ["instance", "delta", "r", "directed", "runs", "stopped", "wrong", "mean", "deviation"]


def pulls(name: str, r: float, directed: float, runs: int) -> dict:
    """A row: mean and standard deviation of the pulls, and the number of wrong answers."""
    setting = {"delta": DELTA, "r": r, "cap": None}
    cell = Cell(name, "Certified", setting, "proven", options={"directed": directed})
    key = stream_key(SEED, "lagex", "certified-directed", name, cell.setting_label)
    columns = play(prepare(instances()[name], cell), key, range(runs))
    right = (columns["excess"] <= ROUNDING) & (columns["regret"] <= r + ROUNDING)
    return {
        "instance": name,
        "delta": DELTA,
        "r": r,
        "directed": directed,
        "runs": runs,
        "stopped": int(has_stopped(columns).sum()),
        "wrong": int((~right).sum()),
        "mean": round(float(np.mean(columns["tau"])), 1),
        "deviation": round(float(np.std(columns["tau"], ddof=1)), 1),
    }


def jobs() -> list[Job]:
    """One for each instance, tolerance and share."""
    grid = product(CERTIFIED_INSTANCES, CERTIFIED_TOLERANCES, SHARES)
    return [
        Job(f"{name.replace(' ', '-')}-{r:g}-{share:g}", pulls, (name, r, share, RUNS))
        for name, r, share in grid
    ]


TABLE = KeptTable(
    "bestarm.lagex.certified.directed_runs",
    f"pulls of Certified with and without directed sums, {RUNS:,} runs per instance and r",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("triangle-0.1-0.5", "setup-2-easy-0.1-0"),
    COLUMNS,
)


if __name__ == "__main__":
    command_line("bestarm.lagex.certified.directed_runs", __doc__ or "")
