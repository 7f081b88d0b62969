"""The kept tables of the arena, in one folder: cells.csv, errors.csv and budgets.csv.

Beside them fingerprints.csv has a line per row: what the row depended on when it was made.
"""

import hashlib
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from bestarm.arena.cells import budget_cells, cells, entry_deltas, smallest_cells, submitted_cells
from bestarm.arena.entries import Entry
from bestarm.arena.fingerprints import LAW, fingerprint
from bestarm.arena.runs import (
    BUDGET_COLUMNS,
    COLUMNS,
    ERROR_COLUMNS,
    MEASURED,
    RUNS_BUDGET,
    RUNS_ERRORS,
    SEED,
    count_errors,
    measure,
    run_count,
    spend,
)
from bestarm.common.arithmetic import same_bits
from bestarm.core.files import write_text
from bestarm.core.inputs import InputError
from bestarm.runs.kept import Job, KeptTable, gather

FINGERPRINTS = "fingerprints.csv"
#: Rows of tables by name and fingerprint: numbers, or their text as it was written.
Rows = dict[tuple[str, str], dict[str, Any]]


class Kind(NamedTuple):
    """A kind of row, and its table."""

    file: str
    columns: list[str]
    level: str  # the column after those of `Entry` that tells rows apart
    work: Callable[..., dict[str, Any]]


KINDS = {
    "cell": Kind("cells.csv", COLUMNS, "delta", measure),
    "errors": Kind("errors.csv", ERROR_COLUMNS, "delta", count_errors),
    "budget": Kind("budgets.csv", BUDGET_COLUMNS, "budget", spend),
}


def _name(kind: str, entry: Entry, level: float) -> str:
    return re.sub(r"[^\w=.]+", "-", " ".join((kind, *entry, f"{level:g}")))


def _job(kind: str, entry: Entry, level: float, runs: int) -> Job:
    code = fingerprint(entry, level, runs)
    return Job(_name(kind, entry, level), KINDS[kind].work, (list(entry), level, runs), code)


def jobs() -> list[Job]:
    """One for each row of cells.csv, then of errors.csv, then of budgets.csv."""
    every = [*cells(), *submitted_cells()]
    listed = [
        _job("cell", entry, delta, run_count(entry))
        for entry in every
        for delta in entry_deltas(entry)
    ]
    listed += [
        _job("errors", entry, delta, RUNS_ERRORS)
        for entry in smallest_cells()
        for delta in entry_deltas(entry)
    ]
    listed += [_job("budget", entry, budget, RUNS_BUDGET) for entry, budget in budget_cells()]
    return listed


def kept(folder: Path) -> Rows:
    """The rows of the tables of a folder, as written, by name and fingerprint."""
    if not (folder / FINGERPRINTS).exists():
        return {}
    fingerprints = _read(folder / FINGERPRINTS)
    codes = dict(zip(fingerprints["row"], fingerprints["fingerprint"], strict=True))
    rows: Rows = {}
    for kind, table_kind in KINDS.items():
        table = _read(folder / table_kind.file)
        if list(table.columns) != table_kind.columns:
            continue  # of another version
        for values in table.itertuples(index=False, name=None):
            row = dict(zip(table_kind.columns, values, strict=True))
            entry = Entry(*(row[column] for column in Entry._fields))
            name = _name(kind, entry, float(row[table_kind.level]))
            if name in codes:
                rows[name, codes[name]] = row
    return rows


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def write(jobs: list[Job], rows: Rows, folder: Path) -> dict[str, str]:
    """Write the rows of some jobs into the tables of a folder; the sha256 of each by its name."""
    tables = {
        table_kind.file: pd.DataFrame(
            [rows[job.name, job.code] for job in jobs if job.work is table_kind.work],
            columns=table_kind.columns,
            dtype=object,  # so that numbers are written as they are
        )
        for table_kind in KINDS.values()
    }
    codes = [(job.name, job.code) for job in jobs]
    tables[FINGERPRINTS] = pd.DataFrame(codes, columns=["row", "fingerprint"])
    for file, table in tables.items():
        write_text(folder / file, table.to_csv(index=False, lineterminator="\n"))
    return {file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in tables}


def make(out: Path, threads: int) -> None:
    """Play the cells that are new, or whose fingerprint is not that of the kept row; write all.

    Args:
        out: cells.csv; the other tables are beside it.
        threads: processes to run at a time.
    """
    _make(jobs(), out, threads)


def make_new(out: Path, threads: int) -> None:
    """As `make`, but rows that are there stay, with the fingerprint that they were made with."""
    codes = dict(kept(out.parent).keys())
    _make([job._replace(code=codes.get(job.name, job.code)) for job in jobs()], out, threads)


TABLE = KeptTable(
    "bestarm.arena",
    "stopping times over lower bounds, errors and time of every cell of the arena",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    (),  # see `sample`
    law=LAW,
)


def sample(every: list[Job], rows: dict[str, dict[str, Any]]) -> list[Job]:
    """Of each table, paper, strategy and reading the row that took least, to be played again.

    Args:
        every: all jobs.
        rows: kept ones by name.
    """
    least: dict[tuple, tuple[float, Job]] = {}
    for job in every:
        entry, level = Entry(*job.arguments[0]), job.arguments[1]
        played = rows.get(_name("cell", entry, level), {"ratio": level})
        work = float(played["ratio"]) * float(played.get("bound", 1.0))
        key = (job.work, entry.paper, entry.strategy, entry.reading)
        if job.name in rows and (key not in least or work < least[key][0]):
            least[key] = work, job
    return [job for _, job in least.values()]


def stamp(out: Path, threads: int) -> None:
    """Play `sample` again; if all numbers are the kept ones, stamp all rows with today's hashes.

    Times per pull are measured, and do not count. What has no row is not stamped.

    Raises:
        InputError: a row is not the kept one; the files stay as they were.
    """
    every = jobs()
    rows = {name: row for (name, _), row in kept(out.parent).items()}
    chosen = sample(every, rows)
    with same_bits(), tempfile.TemporaryDirectory() as folder:
        played = gather(chosen, Path(folder) / out.name, threads, "arena, sample")
    for job, counts in zip(chosen, played, strict=True):
        for column, value in counts.items():
            text = "" if value is None else str(value)
            if column != MEASURED and rows[job.name][column] != text:
                was = rows[job.name][column]
                raise InputError(f"{out}: {job.name}: {column} is {was}, and {text} when made now")
    present = [job for job in every if job.name in rows]
    hashes = write(present, {(job.name, job.code): rows[job.name] for job in present}, out.parent)
    del hashes[out.name]
    TABLE.stamped(out, {"beside": hashes, "made_again": [job.name for job in chosen]})


def _make(every: list[Job], out: Path, threads: int) -> None:
    if out.name != KINDS["cell"].file:
        raise InputError(f"{out}: must be named {KINDS['cell'].file}")
    rows = kept(out.parent)
    missing = [job for job in every if (job.name, job.code) not in rows]
    with same_bits():  # some pulls depend on the last bit of a design
        played = gather(missing, out, threads, "arena")
    for job, row in zip(missing, played, strict=True):
        rows[job.name, job.code] = row
    hashes = write(every, rows, out.parent)
    del hashes[out.name]
    TABLE.finish(out, more={"beside": hashes})
