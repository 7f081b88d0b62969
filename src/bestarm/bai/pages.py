"""Documentation tables of best-arm identification: draws as delta shrinks."""

from pathlib import Path

import pandas as pd

from bestarm.bai.cells import SWEPT
from bestarm.bai.limits import exact_time
from bestarm.bai.problem import PROBLEMS, characteristic_time
from bestarm.common.pages import Pages
from bestarm.common.prose import markdown
from bestarm.common.tables import lines, read_table
from bestarm.core.information import needed_information


def limit_table(root: Path) -> str:
    """Draws of Track-and-Stop over the lower bound as delta shrinks, and with exact estimates."""
    instance = PROBLEMS.instances()[SWEPT]
    table = read_table(root / "figures/bai/asymptotics.csv")
    measured = table[(table.statistic == "bound_ratio") & (table.reading == "proven")]
    rows = []
    for row in lines(measured.sort_values("x", ascending=False)):
        bound = characteristic_time(instance).time * needed_information(row.x)
        rows.append(
            {
                "δ": f"{row.x:g}",
                "exact estimates": f"{exact_time(instance, row.x) / bound:.2f}",
                "runs": f"{row.value:.2f} ({row.low:.2f} to {row.high:.2f})",
            }
        )
    return markdown(pd.DataFrame(rows))


PAGES = Pages(parts={"docs/guarantees.md": {"draws in the limit": limit_table}})
