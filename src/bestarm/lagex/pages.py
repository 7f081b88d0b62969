"""Documentation tables of LAGEX: its example, its released programs, and Certified."""

from pathlib import Path

from bestarm.common.pages import FastRun, Pages
from bestarm.common.prose import Lines, as_table, number, percent_row
from bestarm.common.tables import groups, read_table
from bestarm.lagex.certified import pages as certified
from bestarm.lagex.released import pages as programs
from bestarm.lagex.released import peculiarity_pages as peculiarities

#: Shares of runs in docs/usage.md's example, by statistic.
EXAMPLE = {
    "prob_r_optimal": "worth within r of the best",
    "prob_feasible": "keeps the limit",
    "prob_far_over": "exceeds it by more than 0.1",
}


@as_table
def example_table(root: Path) -> Lines:
    """What the strategies recommend in LAGEX's example of docs/usage.md, as shares of runs."""
    table = read_table(root / "figures/lagex/example.csv")
    for strategy, group in groups(table, "strategy"):
        by = group.set_index("statistic")
        shares = {title: percent_row(by.loc[name]) for name, title in EXAMPLE.items()}
        median = number(by.value["median_stopping_time"])
        yield {"strategy": strategy, "median steps": median, **shares}


PAGES = Pages(
    short="LAGEX",
    parts={
        "docs/findings.md": {
            "programs summary": programs.program_summary,
            "certified": certified.cost_text,
        },
        "docs/usage.md": {"example": example_table, "menus": certified.menu_table},
        "docs/guarantees.md": {
            "certified parts": certified.part_table,
            "certified errors": certified.error_table,
            "certified directed": certified.directed_table,
        },
        "docs/readings.md": {
            "programs": programs.program_text,
            "programs medians": programs.program_table,
            "programs planned": peculiarities.planned_table,
        },
        "docs/authors/lagex.md": {
            "programs summary": programs.program_summary,
            "peculiarities": peculiarities.peculiarity_text,
            "peculiarities medians": peculiarities.peculiarity_table,
            "programs setup 2": programs.setup_2_table,
        },
    },
    fast_runs=(
        FastRun(
            ("Certified", "Certified-Uniform"),
            ("certified.runs.play_blocks",),
            "an arm's pulls in a block are one sum",
        ),
    ),
)
