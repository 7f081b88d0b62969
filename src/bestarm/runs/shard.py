"""Simulate a range of replications of all cells of a plan: one row per replication."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bestarm.common.codehash import code_hash
from bestarm.common.paper import Paper
from bestarm.core.files import replacing
from bestarm.core.inputs import InputError
from bestarm.runs.plan import Plan
from bestarm.runs.rows import table_of_runs
from bestarm.runs.tasks import run


def simulation_code(paper: str) -> str:
    """The hash of the code that a paper's rows depend on."""
    return code_hash("bestarm.runs.shard", f"bestarm.{paper}.strategies")


def write_shard(plan: Plan, paper: Paper, index: int, path: Path | str) -> None:
    """Simulate shard `index` and write it: one row group a cell, in the plan's order.

    The file's metadata holds the hashes of the plan and of the code, which readers check.
    """
    first = index * plan.per_shard
    replications = range(first, first + plan.per_shard)
    work = plan.work(paper)
    mark = {b"plan": work.plan.encode(), b"code": simulation_code(plan.paper).encode()}
    with replacing(path) as temporary:
        writer = None
        for task in work.tasks:
            table = table_of_runs(task, work.names, run(task, replications))
            table = table.replace_schema_metadata(mark)
            writer = writer or pq.ParquetWriter(temporary, table.schema, compression="zstd")
            writer.write_table(table, row_group_size=plan.per_shard)
        if writer is not None:
            writer.close()


def open_shard(path: Path | str, plan: Plan) -> pq.ParquetFile:
    """Open a shard of `plan`. Raises InputError if it is unreadable or of another plan or code."""
    try:
        shard = pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid):
        raise InputError(f"{path}: is missing or damaged; delete it and run again") from None
    metadata = shard.schema_arrow.metadata or {}
    required = {b"plan": plan.hash, b"code": simulation_code(plan.paper)}
    for key, expected in required.items():
        if metadata.get(key, b"").decode() != expected:
            raise InputError(
                f"{path}: was made from another {key.decode()}; delete it and run again"
            )
    return shard
