"""From shards to a tidy summary: one line a cell and statistic, each with its interval."""

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bestarm.common.paper import Paper
from bestarm.common.tables import assemble, cell_rows
from bestarm.core.inputs import InputError
from bestarm.runs.plan import Plan
from bestarm.runs.play import Columns
from bestarm.runs.rows import runs_of_table
from bestarm.runs.shard import open_shard
from bestarm.runs.tasks import Task

#: Runs of a cell that are held at a time where tallies are kept; as many are summed up at once, so
#: that up to here the last bit of a sum is that of all runs together.
BLOCK = 100_000
#: Shards whose footers are kept. One of hundreds of cells takes longer to read than a cell's runs.
FOOTERS = 16

#: A shard's file, and its footer if it is kept.
Shard = tuple[Path, pq.FileMetaData | None]


def summary_rows(task: Task, runs: Columns, level: float = 0.95) -> list[dict[str, Any]]:
    """The lines of a task in a summary, from all of its runs.

    Args:
        task: whose runs they are.
        runs: its runs.
        level: of the intervals.
    """
    estimates = task.paper.statistics.summarise(task.cell, task.truth, runs, level)
    return cell_rows(task.cell, estimates, **task.facts)


def summarise(plan: Plan, paper: Paper, paths: list[Path]) -> pd.DataFrame:
    """Summarise an experiment from its shards 0, 1, ....

    Where the paper's statistics come from tallies, memory does not depend on the number of shards;
    else it holds all runs of one cell.

    Raises:
        InputError: a shard is damaged, of another plan or code, or not the one of its place.
    """
    shards: list[Shard] = []
    for index, path in enumerate(paths):
        footer = check_shard(plan, index, path)
        shards.append((path, footer if index < FOOTERS else None))
    tally, rows = paper.statistics.tally, []
    _, tasks, names = plan.work(paper)
    for position, task in enumerate(tasks):
        if tally is None:
            rows += summary_rows(task, cell_runs(names, shards, position))
            continue
        n_shards = max(1, BLOCK // plan.per_shard)
        blocks = (shards[first : first + n_shards] for first in range(0, len(shards), n_shards))
        tallies = (
            tally.of(task.cell, task.truth, cell_runs(names, block, position)) for block in blocks
        )
        rows += cell_rows(task.cell, tally.estimates(reduce(_add, tallies)), **task.facts)
    return assemble(rows)


def _add(tally: dict, other: dict) -> dict:
    return {name: value + other[name] for name, value in tally.items()}


def check_shard(plan: Plan, index: int, path: Path) -> pq.FileMetaData:
    """A shard's footer. Raises InputError if the file is not shard `index` of a plan."""
    with open_shard(path, plan) as shard:
        footer = shard.metadata
        replications = _read(path, shard, 0, ["replication"])["replication"].to_numpy()
    first = index * plan.per_shard
    if not np.array_equal(replications, np.arange(first, first + plan.per_shard)):
        raise InputError(
            f"{path}: does not hold replications {first} to {first + plan.per_shard - 1}; "
            "delete it and run again"
        )
    return footer


def cell_runs(names: Sequence[str], shards: list[Shard], position: int) -> Columns:
    """The runs of a cell in some shards, which are opened one after the other."""
    groups = []
    for path, footer in shards:
        with pq.ParquetFile(path, metadata=footer) as shard:
            groups.append(_read(path, shard, position))
    return runs_of_table(names, pa.concat_tables(groups))


def _read(
    path: Path, shard: pq.ParquetFile, position: int, columns: list[str] | None = None
) -> pa.Table:
    """A shard's rows of a cell. Raises InputError if they are damaged."""
    try:
        return shard.read_row_group(position, columns=columns)
    except (OSError, pa.ArrowException):
        raise InputError(f"{path}: is damaged; delete it and run again") from None
