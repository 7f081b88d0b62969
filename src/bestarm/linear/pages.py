"""What linear bandits compute for pages: the fast runs beside their steps, and a rule's cost."""

from pathlib import Path

import pandas as pd

from bestarm.common.pages import FastRun, Pages
from bestarm.common.prose import markdown, number
from bestarm.common.tables import lines


def self_normalised_table(root: Path) -> str:
    """Pulls of the self-normalised rule over those of the published ones, from the kept table."""
    rows = [
        {
            "instance": row.instance,
            "strategy": row.strategy,
            "published rule": number(row.published),
            "`counts_all`": number(row.self_normalised),
            "ratio": f"{row.ratio:.2f} ({row.low:.2f} to {row.high:.2f})",
        }
        for row in lines(pd.read_csv(root / "data/self-normalised/times.csv"))
    ]
    return markdown(pd.DataFrame(rows))


PAGES = Pages(
    short="linear",
    parts={"docs/guarantees.md": {"self-normalised times": self_normalised_table}},
    fast_runs=(
        FastRun(
            ("G", "XY", "XY-Oracle"),
            (
                "static.run_static",
                "spaced.run_static_spaced",
                "permille.run_static_permille",
            ),
            "the sequence of arms is computed once for all runs; the stopping rule is not "
            "evaluated where it cannot hold; rewards between two tests may be one sum per arm",
        ),
        FastRun(
            ("XY-Adaptive", "RAGE"),
            ("phased.run_phased",),
            "the rewards of a phase are one sum per arm",
        ),
        FastRun(
            ("Fully-Adaptive",),
            (
                "adaptive.run_fully_adaptive",
                "spaced.run_fully_adaptive_spaced",
                "permille.run_fully_adaptive_permille",
            ),
            "the inverse is updated, and arms are not eliminated where none can be; rewards "
            "between two tests may be one sum per arm",
        ),
        FastRun(("LinGapE",), ("adaptive.run_lingape",), "the inverse is updated"),
    ),
)
