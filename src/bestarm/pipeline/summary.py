"""From shards to a tidy summary: one line a cell and statistic, each with its interval."""

from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bestarm.common.tables import assemble, cell_rows
from bestarm.core.inputs import InputError
from bestarm.pipeline import registry
from bestarm.pipeline.plan import Plan
from bestarm.pipeline.shard import open_shard

#: Runs of a cell that are held at a time where tallies are kept; as many are summed up at once, so
#: that up to here the last bit of a sum is that of all runs together.
BLOCK = 100_000
#: Shards whose footers are kept. One of hundreds of cells takes longer to read than a cell's runs.
FOOTERS = 16

#: A shard's file, and its footer if it is kept.
Shard = tuple[Path, pq.FileMetaData | None]


def summarise(plan: Plan, paths: list[Path]) -> pd.DataFrame:
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
    statistics = registry.PAPERS[plan.paper].statistics
    rows = []
    for position, cell in enumerate(plan.cell_objects()):
        truth = plan.instances[cell.instance]["truth"]
        if statistics.tally is not None:
            some = max(1, BLOCK // plan.per_shard)
            blocks = (shards[first : first + some] for first in range(0, len(shards), some))
            tallies = (
                statistics.tally.of(cell, truth, runs_of(plan, block, position)) for block in blocks
            )
            estimates = statistics.tally.estimates(reduce(_add, tallies))
        else:
            estimates = statistics.summarise(cell, truth, runs_of(plan, shards, position))
        rows += cell_rows(cell, estimates, **plan.facts(cell))
    return assemble(rows)


def _add(one: dict, other: dict) -> dict:
    return {name: value + other[name] for name, value in one.items()}


def check_shard(plan: Plan, index: int, path: Path) -> pq.FileMetaData:
    """A shard's footer. Raises InputError if the file is not shard `index` of a plan."""
    with open_shard(path, plan) as shard:
        footer = shard.metadata
        found = _read(path, shard, 0, ["replication"])["replication"].to_numpy()
    first = index * plan.per_shard
    if not np.array_equal(found, np.arange(first, first + plan.per_shard)):
        raise InputError(
            f"{path}: does not hold replications {first} to {first + plan.per_shard - 1}; "
            "delete it and run again"
        )
    return footer


def runs_of(plan: Plan, shards: list[Shard], position: int) -> dict[str, np.ndarray]:
    """The runs of a cell in some shards, which are opened one after the other."""
    groups = []
    for path, footer in shards:
        with pq.ParquetFile(path, metadata=footer) as shard:
            groups.append(_read(path, shard, position))
    return outcomes_of(plan, pa.concat_tables(groups))


def _read(
    path: Path, shard: pq.ParquetFile, position: int, columns: list[str] | None = None
) -> pa.Table:
    """A shard's rows of a cell. Raises InputError if they are damaged."""
    try:
        return shard.read_row_group(position, columns=columns)
    except (OSError, pa.ArrowException):
        raise InputError(f"{path}: is damaged; delete it and run again") from None


def outcomes_of(plan: Plan, table: pa.Table) -> dict[str, np.ndarray]:
    """What came of a cell's runs, by column; lists of equal length become 2-dimensional arrays."""
    columns = {}
    for name in table.column_names:
        if name in plan.cell_names:
            continue
        column = table[name].combine_chunks()
        if pa.types.is_list(column.type):
            columns[name] = column.flatten().to_numpy().reshape(len(column), -1)
        else:
            columns[name] = column.to_numpy()
    return columns
