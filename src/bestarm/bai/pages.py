"""Documentation tables of best-arm identification: draws as delta shrinks."""

from pathlib import Path

import pandas as pd

from bestarm.bai.cells import SWEPT
from bestarm.bai.limits import exact_time
from bestarm.bai.problem import PROBLEMS, characteristic_time
from bestarm.common.pages import Pages
from bestarm.common.prose import markdown, number
from bestarm.common.tables import groups, lines, read_table
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


#: Rules of figures/bai/standard in the order of the table's columns, by reading.
RULES = {
    "proven": "mixtures",
    "bets": "bets",
    "kaufmann-koolen": "Kaufmann & Koolen",
    "betting-intervals": "betting intervals",
}


def standard_table(root: Path) -> str:
    """Mean draws by stopping rule on the same samples, with their ratio to those of mixtures."""
    table = read_table(root / "figures/bai/standard.csv")
    rows = []
    for (law, arms), group in groups(table.sort_values(["instance", "x"]), "instance", "x"):
        cells = {(row.statistic, row.reading): row for row in lines(group)}
        row = {"means of the best arm and of the others": law, "arms": f"{arms:.0f}"}
        for reading, name in RULES.items():
            time, ratio = (cells.get((s, reading)) for s in ("mean_stopping_time", "budget_ratio"))
            row[name] = number(time.value) if time else "–"
            row[name] += f" ({ratio.value:.2f})" if ratio else ""
        rows.append(row | {"runs": number(cells["mean_stopping_time", "proven"].n)})
    return markdown(pd.DataFrame(rows))


PAGES = Pages(
    parts={
        "docs/guarantees.md": {
            "draws in the limit": limit_table,
            "beside the standard": standard_table,
        }
    }
)
