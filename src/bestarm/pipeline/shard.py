"""Simulate a range of replications of all cells of a plan; a row a replication."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bestarm.common.codehash import code_hash
from bestarm.common.paper import Cell
from bestarm.core.files import replacing
from bestarm.core.inputs import InputError
from bestarm.core.streams import Streams, replication_streams
from bestarm.pipeline import registry
from bestarm.pipeline.plan import LABELS, Plan


def simulation_code(paper: str) -> str:
    """The hash of the code that a paper's rows depend on."""
    return code_hash("bestarm.pipeline.shard", f"bestarm.{paper}.strategies")


def simulate_cell(
    plan: Plan, cell: Cell, replications: Sequence[int], tick: Callable[[], None] = lambda: None
) -> dict[str, np.ndarray]:
    """Run some replications of a cell; the outcomes' fields as columns.

    Args:
        plan, cell: what to simulate.
        replications: their indices, which with the plan's seed fix every random number.
        tick: called after each replication, for progress.
    """
    instance = plan.instance(cell.instance)
    replicate = registry.PAPERS[plan.paper].simulation.prepare(instance, cell)
    return simulate_runs(replicate, plan.key(cell), replications, tick)


def simulate_runs(
    replicate: Callable[[Streams], Any],
    key: int,
    replications: Sequence[int],
    tick: Callable[[], None] = lambda: None,
) -> dict[str, np.ndarray]:
    """Run some replications on the streams of a key; as `simulate_cell`."""
    outcomes = []
    for streams in replication_streams(key, replications):
        outcomes.append(replicate(streams))
        tick()
    columns = {name: np.array(values) for name, values in _transpose(outcomes)}
    return {"replication": np.asarray(replications, dtype=np.int64), **columns}


def _transpose(outcomes: list) -> Iterator[tuple[str, tuple]]:
    return zip(outcomes[0]._fields, zip(*outcomes, strict=True), strict=True)


def cell_table(plan: Plan, cell: Cell, columns: dict[str, np.ndarray]) -> pa.Table:
    """A cell's rows: its labels, instance, setting and options, and the columns of its runs."""
    size = len(columns["replication"])
    labels = (cell.instance, cell.label, cell.setting_label, cell.reading, cell.strategy)
    said = dict(zip(LABELS, labels, strict=True)) | plan.facts(cell)
    arrays = {}
    for name in plan.cell_names:
        if isinstance(said.get(name), str):
            places, texts = pa.array(np.zeros(size, np.int32)), pa.array([said[name]])
            arrays[name] = pa.DictionaryArray.from_arrays(places, texts)
        else:
            number = None if said.get(name) is None else float(said[name])
            arrays[name] = pa.array([number] * size, pa.float64())
    for name, values in columns.items():
        arrays[name] = pa.array(list(values) if values.ndim > 1 else values)
    return pa.table(arrays)


def write_shard(plan: Plan, index: int, path: Path | str) -> None:
    """Simulate shard `index` and write it: one row group a cell, in the plan's order.

    The file's metadata holds the hashes of the plan and of the code, which readers check.
    """
    first = index * plan.per_shard
    replications = range(first, first + plan.per_shard)
    mark = {b"plan": plan.hash.encode(), b"code": simulation_code(plan.paper).encode()}
    with replacing(path) as temporary:
        writer = None
        for cell in plan.cell_objects():
            table = cell_table(plan, cell, simulate_cell(plan, cell, replications))
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
    wanted = {b"plan": plan.hash, b"code": simulation_code(plan.paper)}
    for key, expected in wanted.items():
        if metadata.get(key, b"").decode() != expected:
            raise InputError(
                f"{path}: was made from another {key.decode()}; delete it and run again"
            )
    return shard
