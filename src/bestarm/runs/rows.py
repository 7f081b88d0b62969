"""Runs as the rows of a table, and back: one schema for shards and for users' files."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from bestarm.runs.play import Columns
from bestarm.runs.tasks import LABELS, Task


def table_of_runs(task: Task, names: Sequence[str], runs: Columns) -> pa.Table:
    """The runs of a task: its labels, instance, setting and options, and what came of it.

    Args:
        task: whose runs they are.
        names: the columns that say what a row is of, as `fact_columns` all tasks of the table.
        runs: columns, one entry per run.
    """
    size, cell = len(runs["replication"]), task.cell
    labels = (cell.instance, cell.label, cell.setting_label, cell.reading, cell.strategy)
    facts = dict(zip(LABELS, labels, strict=True)) | task.facts
    arrays = {}
    for name in names:
        if isinstance(facts.get(name), str):
            places, texts = pa.array(np.zeros(size, np.int32)), pa.array([facts[name]])
            arrays[name] = pa.DictionaryArray.from_arrays(places, texts)
        else:
            number = None if facts.get(name) is None else float(facts[name])
            arrays[name] = pa.array([number] * size, pa.float64())
    for name, values in runs.items():
        arrays[name] = pa.array(list(values) if values.ndim > 1 else values)
    return pa.table(arrays)


def runs_of_table(names: Sequence[str], table: pa.Table) -> Columns:
    """What came of a task's runs; lists of equal length become 2-dimensional arrays."""
    columns = {}
    for name in table.column_names:
        if name in names:
            continue
        column = table[name].combine_chunks()
        if pa.types.is_list(column.type):
            columns[name] = column.flatten().to_numpy().reshape(len(column), -1)
        else:
            columns[name] = column.to_numpy()
    return columns
