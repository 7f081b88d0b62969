"""Make data/drift/errors.csv: errors of strategies when mean rewards change with time.

python -m bestarm.arena.drift --out data/drift/errors.csv
"""

from collections.abc import Callable
from typing import Any

from bestarm.arena.assumptions import (
    COLUMNS,
    SEED,
    brought,
    disturbed,
    instance_and_cell,
    other,
    row,
    strategies,
)
from bestarm.common.assumptions import CHANGES, Case
from bestarm.runs.kept import Job, KeptTable, command_line

RUNS = 2000
#: Most pulls where a strategy has no cap of its own: if means change it may never stop.
CAP = 100_000


def in_phases(case: Case, strategy: str, change: str, runs: int) -> dict[str, Any]:
    """A row: a strategy that is played phase by phase."""
    instance, cell = instance_and_cell(case, strategy)
    prepare = brought()[case.paper].in_phases
    assert prepare is not None
    return row(case, instance, strategy, prepare(instance, cell), change, runs, CHANGES[change])


def capped(case: Case) -> Case:
    """A case with a cap, if its strategies know caps."""
    if "cap" not in case.setting:
        return case
    return case._replace(setting=case.setting | {"cap": case.setting["cap"] or CAP})


def jobs() -> list[Job]:
    """One for each row."""
    made: list[tuple[Callable[..., Any], tuple]] = []
    for assumptions in brought().values():
        for case in map(capped, assumptions.cases):
            for strategy in strategies(case):
                if strategy in assumptions.ask_tell:
                    made += [(in_phases, (case, strategy, name, RUNS)) for name in CHANGES]
                else:
                    made += [
                        (disturbed, (case, strategy, name, RUNS, change))
                        for name, change in CHANGES.items()
                    ]
                made += [
                    (other, (paper_row, paper_row.runs))
                    for paper_row in assumptions.changing(case, strategy)
                ]
            made += [
                (other, (paper_row, paper_row.runs))
                for paper_row in assumptions.changing(case, None)
            ]
    return [Job(f"{number:03}", *parts) for number, parts in enumerate(made)]


TABLE = KeptTable(
    "bestarm.arena.drift",
    f"wrong answers when means change with time ({RUNS:,} runs per strategy, fewer in rounds)",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("026", "027", "047", "049", "071", "098", "112"),  # a quick one of each paper and function
    COLUMNS,
)


if __name__ == "__main__":
    command_line("bestarm.arena.drift", __doc__ or "")
