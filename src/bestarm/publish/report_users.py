"""What users are told of errors, in numbers: tables for README.md and docs/usage.md."""

from pathlib import Path

import pandas as pd

from bestarm.common.prose import markdown, number
from bestarm.common.tables import groups, read_table

#: Shares of runs in docs/usage.md's example, by statistic.
EXAMPLE = {
    "prob_r_optimal": "worth within r of the best",
    "prob_feasible": "keeps the limit",
    "prob_far_over": "exceeds it by more than 0.1",
}


#: Stopping rules of T-a-SCS with the exact maximiser, by reading.
STOPPING = {"maximiser": "the paper's rule", "maximiser+proven": "proved rule"}


def segment_table(root: Path) -> str:
    """Wrong answers and pulls by the number of segments, at delta = 0.05, by stopping rule."""
    table = read_table(root / "figures/baics/guarantee.csv")
    rows = []
    for segments, some in groups(table[table.x.notna()].sort_values("x"), "x"):
        by = {key: rows.iloc[0] for key, rows in groups(some, "statistic", "reading")}
        wrong = {f"wrong, {says}": _share(by["wrong_stops", r]) for r, says in STOPPING.items()}
        medians = {r: by["median_stopping_time", r].value for r in STOPPING}
        pulls = {f"pulls, {says}": number(medians[r]) for r, says in STOPPING.items()}
        rows.append({"segments": f"{segments:.0f}", **wrong, **pulls})
    return markdown(pd.DataFrame(rows))


def example_table(root: Path) -> str:
    """What the strategies recommend in LAGEX's example of docs/usage.md, as shares of runs."""
    table = read_table(root / "figures/lagex/example.csv")
    rows = []
    for strategy, some in groups(table, "strategy"):
        by = some.set_index("statistic")
        shares = {title: _share(by.loc[name]) for name, title in EXAMPLE.items()}
        median = number(by.value["median_stopping_time"])
        rows.append({"strategy": strategy, "median steps": median, **shares})
    return markdown(pd.DataFrame(rows))


def _share(row) -> str:
    return f"{100 * row.value:.1f}% ({100 * row.low:.1f} to {100 * row.high:.1f})"
