"""Hashes of simulated rows, kept in git so that anyone can check that theirs are the same.

data/verify/hashes.csv has a line a cell: the hash of its first replications, those of scale quick.
A smaller scale is a prefix of a larger one, so these rows are among those behind the tables under
figures/.
"""

import hashlib
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from packaging.requirements import Requirement

from bestarm import registry
from bestarm.common.codehash import NUMBERS_FROM
from bestarm.common.paper import Cell, Paper
from bestarm.core.files import write_text
from bestarm.core.inputs import InputError, read_text
from bestarm.registry.scales import read_scale
from bestarm.runs.plan import Plan, plan_from
from bestarm.runs.rows import runs_of_table
from bestarm.runs.shard import open_shard

#: The scale whose replications are hashed.
SCALE = "quick"
#: What names a cell's rows.
KEY = ["paper", "experiment", "instance", "strategy", "setting", "reading", "replications"]


def rows_hash(columns: dict[str, np.ndarray]) -> str:
    """The first 16 hex digits of the sha256 of some rows, given as columns (n,) or (n, m).

    Columns count in the order of their names, as 64-bit numbers, all NaNs alike.
    """
    digest = hashlib.sha256()
    for name, values in sorted(columns.items()):
        values = np.asarray(values)
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), np.nan, values).astype("<f8")
        else:
            values = values.astype("<i8")
        digest.update(f"{name}{values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:16]


def differences(lock: Path) -> list[str]:
    """Why bytes are not promised here: how this platform differs from the one they are kept for."""
    listed = []
    if (platform.system(), platform.machine()) not in (("Linux", "x86_64"), ("Linux", "AMD64")):
        listed.append(f"{platform.system()} on {platform.machine()} is not Linux on x86-64")
    if sys.version_info[:2] != (3, 11):
        listed.append(f"Python {platform.python_version()} is not 3.11")
    pinned = [Requirement(line) for line in re.findall(r"^[\w-]+==[^\\\n]+", read_text(lock), re.M)]
    here = {pin.name: pin.specifier for pin in pinned if not pin.marker or pin.marker.evaluate()}
    for name in NUMBERS_FROM:
        if name not in here or version(name) not in here[name]:
            listed.append(f"{name} {version(name)} is not the one in {lock.name}")
    return listed


def rows_key(paper: str, experiment: str, cell: Cell, replications: int) -> tuple:
    """What names the rows of a cell, in the order of KEY."""
    labels = (cell.instance, cell.label, cell.setting_label, cell.reading)
    return (paper, experiment, *labels, replications)


def read_hashes(path: Path) -> dict[tuple, str]:
    """The kept hashes by key. Raises InputError if the file is missing or is none."""
    try:
        table = pd.read_csv(path, keep_default_na=False, dtype=str).astype({"replications": int})
        return dict(zip(table[KEY].itertuples(index=False, name=None), table.sha256, strict=True))
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"{path}: is not a file of hashes ({error})") from None


def write_hashes(results: Path, scales: Path, out: Path) -> None:
    """Hash the shards of scale quick under a folder of results, into the file of kept hashes.

    Raises:
        InputError: instances or a shard are missing, damaged, or of another plan or code.
    """
    scale = read_scale(scales / f"{SCALE}.yaml")
    lines = []
    for paper in registry.PAPERS.values():
        folder = results / SCALE / paper.name
        for name, size in scale.papers[paper.name].items():
            instances = folder / "instances.json"
            plan = plan_from(paper, name, scale.seed, size.per_shard, instances)
            lines += hash_experiment(plan, paper, folder / name, size.shards)
    table = pd.DataFrame(lines, columns=[*KEY, "sha256"]).drop_duplicates()
    write_text(out, table.to_csv(index=False, lineterminator="\n"))


def hash_experiment(plan: Plan, paper: Paper, folder: Path, shards: int) -> Iterator[tuple]:
    """Key and hash of every cell of an experiment, from the folder of its shards."""
    files = [open_shard(folder / f"shard-{index}.parquet", plan) for index in range(shards)]
    size = shards * plan.per_shard
    _, tasks, names = plan.work(paper)
    for position, task in enumerate(tasks):
        groups = [file.read_row_group(position) for file in files]
        rows = runs_of_table(names, pa.concat_tables(groups))
        yield (*rows_key(plan.paper, plan.experiment, task.cell, size), rows_hash(rows))
