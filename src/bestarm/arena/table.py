"""The kept tables of the arena, in one folder: cells.csv, errors.csv and budgets.csv."""

import hashlib
import re
from pathlib import Path

import pandas as pd

from bestarm.arena.cells import (
    Entry,
    budget_cells,
    cells,
    deltas_of,
    smallest_cells,
    submitted_cells,
)
from bestarm.arena.runs import (
    BUDGET_COLUMNS,
    COLUMNS,
    ERROR_COLUMNS,
    RUNS_BUDGET,
    RUNS_ERRORS,
    SEED,
    count_errors,
    measure,
    runs_of,
    spend,
)
from bestarm.common.arithmetic import same_bits
from bestarm.common.generate import Job, finish, gather
from bestarm.core.files import write_text

ERRORS, BUDGETS = "errors.csv", "budgets.csv"


def _name(kind: str, entry: Entry, level: float) -> str:
    return re.sub(r"[^\w=.]+", "-", " ".join((kind, *entry, f"{level:g}")))


def jobs() -> list[Job]:
    """One for each row of cells.csv, then of errors.csv, then of budgets.csv."""
    every = [*cells(), *submitted_cells()]
    found = [
        Job(_name("cell", entry, delta), measure, (list(entry), delta, runs_of(entry)))
        for entry in every
        for delta in deltas_of(entry)
    ]
    found += [
        Job(_name("errors", entry, delta), count_errors, (list(entry), delta, RUNS_ERRORS))
        for entry in smallest_cells()
        for delta in deltas_of(entry)
    ]
    found += [
        Job(_name("budget", entry, budget), spend, (list(entry), budget, RUNS_BUDGET))
        for entry, budget in budget_cells()
    ]
    return found


def make(out: Path, threads: int) -> None:
    """Play what is missing and write the tables; `out` is cells.csv."""
    every = jobs()
    with same_bits():  # some pulls depend on the last bit of a design
        rows = gather(every, out, threads, "arena")
    tables = {
        out: (measure, COLUMNS),
        out.with_name(ERRORS): (count_errors, ERROR_COLUMNS),
        out.with_name(BUDGETS): (spend, BUDGET_COLUMNS),
    }
    hashes = {}
    for path, (work, columns) in tables.items():
        some = [row for job, row in zip(every, rows, strict=True) if job.work is work]
        table = pd.DataFrame(some, columns=columns)
        write_text(path, table.to_csv(index=False, lineterminator="\n"))
        hashes[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    what = "stopping times over lower bounds, errors and time of every cell of the arena"
    more = {"beside": {name: hashes[name] for name in (ERRORS, BUDGETS)}}
    finish(out, "bestarm.arena", what, {"runs": SEED}, ("numpy", "numba"), more)
