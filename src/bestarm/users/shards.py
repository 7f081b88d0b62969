"""One run of `bestarm run` on several machines: a shard each, and all of them merged."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict

from bestarm import registry
from bestarm.core.files import canonical_json
from bestarm.core.inputs import InputError
from bestarm.runs.plan import Plan
from bestarm.runs.play import Columns, joined
from bestarm.runs.rows import runs_of_table, table_of_runs
from bestarm.runs.shard import simulation_code
from bestarm.runs.tasks import fact_columns
from bestarm.users.results import RunResults
from bestarm.users.show_list import few

#: Under which a shard's file says what it is of.
MARK = b"bestarm run"


class Share(NamedTuple):
    """Which runs of each strategy a shard has: the `number`-th of `shards` parts, from 1.

    Example:
        >>> [Share(number, 3).of(10) for number in (1, 2, 3)]
        [range(0, 3), range(3, 6), range(6, 10)]
    """

    number: int
    shards: int

    def of(self, reps: int) -> range:
        """The replications, whose numbers fix their random streams."""
        return range(*(reps * part // self.shards for part in (self.number - 1, self.number)))


def share_from(text: str, reps: int) -> Share:
    """The share that an option names, such as 2/8. Raises InputError if it is none of the runs."""
    match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", text)
    share = Share(*map(int, match.groups())) if match else None
    if share is None or share.number > share.shards:
        raise InputError(f"--shard: must be I/N with I from 1 to N, such as 2/8, got {text}")
    if share.shards > reps:
        raise InputError(f"--shard: {reps:,} runs have at most {reps:,} shards, got {text}")
    return share


class Mark(BaseModel):
    """What a shard says of itself, in its file's metadata."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    plan: Plan
    reps: int  # of each strategy, in all shards
    share: Share
    outside: list[str]  # strategies that are not of this package
    plugins: str  # a hash of the files that they were loaded from
    code: str  # a hash of what simulates

    def differs_from(self, other: "Mark") -> str | None:
        """What another run has that this one has not; None for a shard of the same run."""
        pairs = {
            "version of bestarm": (self.code, other.code),
            "--reps": (self.reps, other.reps),
            "--seed": (self.plan.seed, other.plan.seed),
            "number of shards": (self.share.shards, other.share.shards),
            "plugin": (self.plugins, other.plugins),
            "instance": (self.plan.instances, other.plan.instances),
            "options or strategies": (self.plan, other.plan),
        }
        return next((name for name, (mine, its) in pairs.items() if mine != its), None)


def write_share(path: Path, results: RunResults, mark: Mark) -> None:
    """Write the runs of a shard, a row group per strategy and reading."""
    metadata = {MARK: canonical_json(mark.model_dump()).encode()}
    names = fact_columns([task for task, _ in results.results])
    tables = [table_of_runs(task, names, runs) for task, runs in results.results]
    schema = tables[0].schema.with_metadata(metadata)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table.replace_schema_metadata(metadata), row_group_size=10**6)


def merge(paths: Sequence[Path]) -> RunResults:
    """All runs of the shards of one run, as if one machine had made them.

    Args:
        paths: of all shards, in any order.

    Raises:
        InputError: a file is no shard or is damaged, two are of different runs or the same, or one
            is missing.
    """
    marks = {path: _read_mark(path) for path in paths}
    first, mark = next(iter(marks.items()))
    by_number: dict[int, Path] = {}
    for path, other in marks.items():
        if difference := mark.differs_from(other):
            raise InputError(f"{path}: is of another run than {first}: another {difference}")
        if (same := by_number.setdefault(other.share.number, path)) != path:
            raise InputError(f"{path}: is the same shard as {same}")
    shares = [Share(number, mark.share.shards) for number in range(1, mark.share.shards + 1)]
    if missing := [str(share.number) for share in shares if share.number not in by_number]:
        raise InputError(f"shards: of {mark.share.shards}, number {few(missing)} missing")
    if mark.code != simulation_code(mark.plan.paper):
        raise InputError(f"{first}: was made by another version of bestarm, which can merge it")
    _, tasks, names = mark.plan.work(registry.PAPERS[mark.plan.paper])
    parts = [_read_runs(by_number[share.number], names) for share in shares]
    results = [(task, joined(of_task)) for task, *of_task in zip(tasks, *parts, strict=True)]
    return RunResults(mark.plan, results, mark.reps, mark.outside)


def _read_mark(path: Path) -> Mark:
    """What a shard says of itself. Raises InputError if the file is none."""
    try:
        with path.open("rb") as file:
            metadata = pq.read_schema(file).metadata or {}
        return Mark(**json.loads(metadata[MARK]))
    except pa.ArrowException:
        raise InputError(f"{path}: is damaged, or no .parquet file") from None
    except (KeyError, ValueError, TypeError):
        raise InputError(f"{path}: is no shard that `bestarm run --shard` wrote") from None


def _read_runs(path: Path, names: Sequence[str]) -> list[Columns]:
    """The runs of each task. Raises InputError if the file is damaged."""
    try:
        with pq.ParquetFile(path) as file:
            groups = [file.read_row_group(place) for place in range(file.num_row_groups)]
    except (OSError, pa.ArrowException):
        raise InputError(f"{path}: is damaged; run this shard again") from None
    return [runs_of_table(names, group) for group in groups]
