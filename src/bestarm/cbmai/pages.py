"""Documentation tables of CBMAI: error rates by kind of instance, and its fast run."""

from pathlib import Path

from bestarm.common.pages import FastRun, Pages
from bestarm.common.prose import Lines, as_table
from bestarm.common.tables import read_table

#: Instances of figures/cbmai/patient by what they are, the last two without a feasible mixture.
PATIENT = {
    "average": ("A1", "A2", "A3"),
    "hard": ("H1", "H2", "H3"),
    "random": (),
    "two constraints": ("D1P", "D2P", "D3P", "D1I", "D2I", "D3I"),
    "three constraints": ("three-constraints",),
    "infeasible: too dear": ("too-dear",),
    "infeasible: conflict": ("conflict",),
}


@as_table
def patient_table(root: Path) -> Lines:
    """Mean error rate of CBMAI's strategies over instances and budgets, by kind of instance."""
    table = read_table(root / "figures/cbmai/patient.csv")
    table = table[(table.statistic == "error_rate") & (table.other == "")]
    kinds = {name: kind for kind, names in PATIENT.items() for name in names}
    table = table.assign(kind=table.instance.map(kinds).fillna("random"))
    for kind in PATIENT:
        of_kind = table[table.kind == kind]
        rates = of_kind.groupby("strategy", sort=False).value.mean()
        percentages = {str(name): f"{100 * value:.1f}%" for name, value in rates.items()}
        yield {"instances": f"{kind} ({of_kind.instance.nunique()})", **percentages}


PAGES = Pages(
    short="CBMAI",
    parts={"docs/guarantees.md": {"patient": patient_table}},
    fast_runs=(
        FastRun(
            ("SFSR", "SFSR-L", "USLP", "SFSR-patient"),
            ("steps.run", "steps.run_of_counts"),
            "an arm's pulls in a round are one sum",
        ),
    ),
)
