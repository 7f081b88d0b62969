"""How well the shards of a paper-scale build fill cores, from what Snakemake measured of each."""

import csv
import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

CORES = (2, 16, 64)


class Shard(NamedTuple):
    """A shard's job: seconds, and which it was."""

    seconds: float
    name: str  # PAPER/EXPERIMENT/shard-I


class Balance(NamedTuple):
    """The end of all jobs on some cores, over what it would be if they filled the cores."""

    cores: int
    ratio: float
    total: float  # seconds of all jobs
    longest: Shard
    shards: int


def balances(build: Path) -> Iterator[Balance]:
    """Of `build`, a folder of results/benchmarks, on each number of cores; none without shards."""
    shards = [_shard(path, build) for path in sorted(build.rglob("shard-*.tsv"))]
    total = sum(shard.seconds for shard in shards)
    for cores in CORES if shards else ():
        end = finish((shard.seconds for shard in shards), cores)
        yield Balance(cores, end * cores / total, total, max(shards), len(shards))


def finish(seconds: Iterable[float], cores: int) -> float:
    """When the last of some jobs ends, if each free core takes the longest that is left.

    Example:
        >>> finish([3.0, 1.0, 1.0, 1.0, 2.0], 2)
        4.0
    """
    free = [0.0] * cores
    for spent in sorted(seconds, reverse=True):
        heapq.heapreplace(free, free[0] + spent)
    return max(free)


def _shard(path: Path, build: Path) -> Shard:
    with path.open(newline="") as file:
        spent = sum(float(line["s"]) for line in csv.DictReader(file, delimiter="\t"))
    return Shard(spent, path.relative_to(build).with_suffix("").as_posix())
