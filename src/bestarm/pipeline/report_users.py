"""What users are told of errors, in numbers: tables for README.md and docs/usage.md."""

from pathlib import Path

import pandas as pd

from bestarm.common.tables import groups, lines, read_table
from bestarm.pipeline.prose import markdown, number

#: Shares of runs in docs/usage.md's example, by statistic.
EXAMPLE = {
    "prob_r_optimal": "worth within r of the best",
    "prob_feasible": "keeps the limit",
    "prob_far_over": "exceeds it by more than 0.1",
}


def segment_table(root: Path) -> str:
    """How often T-a-SCS stops with a wrong answer, by the number of segments, at delta = 0.05."""
    table = read_table(root / "figures/baics/segments.csv")
    wrong = table[(table.statistic == "wrong_stops") & (table.reading == "as-written")]
    rows = [
        {
            "segments": f"{row.x:.0f}",
            "wrong answers": _share(row),
            "runs": f"{row.n:,.0f}",
        }
        for row in lines(wrong.sort_values("x"))
    ]
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
