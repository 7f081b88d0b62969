"""From shards to a tidy summary: one line a cell and statistic, each with its interval."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bestarm.core.inputs import InputError
from bestarm.pipeline import registry
from bestarm.pipeline.plan import Plan
from bestarm.pipeline.shard import open_shard
from bestarm.pipeline.tables import assemble, cell_rows


def summarise(plan: Plan, shards: list[Path]) -> pd.DataFrame:
    """Summarise an experiment, holding one cell of all shards in memory at a time.

    Raises:
        InputError: a shard is damaged, of another plan or code, or given twice.
    """
    summarise_cell = registry.room(plan.paper, "experiments").summarise
    files = [(path, open_shard(path, plan)) for path in shards]
    rows = []
    for position, cell in enumerate(plan.cell_objects()):
        runs = columns_of(pa.concat_tables([_rows(*file, position) for file in files]))
        if np.unique(runs["replication"]).size != runs["replication"].size:
            raise InputError(f"{plan.experiment}: some shards hold the same replications")
        truth = plan.instances[cell.instance]["truth"]
        rows += cell_rows(cell, summarise_cell(cell, truth, runs))
    return assemble(rows)


def _rows(path: Path, shard: pq.ParquetFile, position: int) -> pa.Table:
    """The rows of a shard's cell. Raises InputError if they are damaged."""
    try:
        return shard.read_row_group(position)
    except (OSError, pa.ArrowException):
        raise InputError(f"{path}: is damaged; delete it and run again") from None


def columns_of(table: pa.Table) -> dict[str, np.ndarray]:
    """A cell's outcome columns; lists of equal length become two-dimensional arrays."""
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        if pa.types.is_list(column.type):
            columns[name] = column.flatten().to_numpy().reshape(len(column), -1)
        elif not pa.types.is_dictionary(column.type):
            columns[name] = column.to_numpy()
    return columns
