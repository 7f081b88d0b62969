"""Make data/lagex-runs/runs.parquet: whole runs of the released programs.

    python -m bestarm.lagex.program_runs --out data/lagex-runs/runs.parquet

Runs of the same LAW in an existing table are reused, so a larger RUNS extends the table. Counts
are fixed before the runs are made: keeping those that have ended by some hour would prefer short
ones.
"""

from pathlib import Path
from typing import NamedTuple

import pandas as pd
import yaml

from bestarm.common.arithmetic import same_bits
from bestarm.common.generate import Job, command_line, finish, gather
from bestarm.core.files import replacing
from bestarm.lagex import program
from bestarm.lagex.cells import OTHERS, SETUP_1
from bestarm.lagex.problem import EASIER, HARD, setup1

SEED = 2024
#: Another number if the programs' code changes so that some run would not be the same to the last
#: bit; then all runs are made anew. A test makes some of the kept ones again.
LAW = 1
KEY = ["instance", "strategy", "replication"]
EASY_NAME, HARD_NAME, IMDB_NAME = setup1(EASIER).name, setup1(HARD).name, "imdb"
#: Roughly the processor seconds of a run, by instance and program.
SECONDS = {
    instance: dict(zip(program.PROGRAMS, seconds, strict=True))
    for instance, seconds in {
        EASY_NAME: (13, 70, 6, 5, 13, 3),
        HARD_NAME: (300, 700, 72, 83, 266, 32),
        IMDB_NAME: (400, 1450, 88, 126, 222, 42),
    }.items()
}


def within(instance: str, minutes: float) -> dict[str, int]:
    """The number of runs of each program, at least one, in as many processor minutes each."""
    return {name: max(1, round(60 * minutes / s)) for name, s in SECONDS[instance].items()}


class Plan(NamedTuple):
    """What is run on an instance."""

    setting: dict  # of the instance's experiment: delta and the cap
    counts: dict[str, int]  # runs by program


RUNS = {
    EASY_NAME: Plan(SETUP_1, dict.fromkeys(program.PROGRAMS, 100)),
    HARD_NAME: Plan(SETUP_1, dict.fromkeys(program.PROGRAMS, 7)),
    IMDB_NAME: Plan(OTHERS, within(IMDB_NAME, minutes=20)),
}


def wanted() -> list[tuple[str, str, int]]:
    """Instance, program and replication of every run, the longest first."""
    runs = [
        (instance, name, r)
        for instance, plan in RUNS.items()
        for name, n in plan.counts.items()
        for r in range(n)
    ]
    return sorted(runs, key=lambda run: -SECONDS[run[0]][run[1]])


def make(out: Path, threads: int) -> None:
    """Run what is missing and write the table."""
    old = kept(out, LAW)
    have = set(old[KEY].itertuples(index=False, name=None)) if len(old) else set()
    missing = [run for run in wanted() if run not in have]
    with same_bits():  # SLSQP's points depend on the last bit
        found = gather([job(*run) for run in missing], out, threads, "programs' runs")
    new = [dict(zip(KEY, run, strict=True)) | row for run, row in zip(missing, found, strict=True)]
    table = pd.concat([old, pd.DataFrame(new)], ignore_index=True)
    with replacing(out) as temporary:
        ordered = table.sort_values(KEY, ignore_index=True)
        ordered.to_parquet(temporary, compression="zstd", index=False)
    finish(
        out,
        "bestarm.lagex.program_runs",
        what=f"{len(table)} runs of the released programs, as bestarm.lagex.program computes them",
        seeds={"runs": SEED},
        packages=("numpy", "scipy"),
        more={"law": LAW},
    )


def job(instance: str, name: str, replication: int) -> Job:
    """One run; its result is reused while the law is the same."""
    label = f"{instance}-{name}-{replication:03}".replace(" ", "_")
    return Job(label, program.simulate, arguments_of(instance, name, replication), f"law{LAW}")


def arguments_of(instance: str, name: str, replication: int) -> tuple:
    """The arguments of `program.simulate`."""
    setting = RUNS[instance].setting
    return name, instance, setting["delta"], setting["cap"], SEED, replication


def kept(out: Path, law: int) -> pd.DataFrame:
    """The runs of an existing table if they are of this law; else none."""
    try:
        provenance = yaml.safe_load(out.with_name("provenance.yaml").read_text(encoding="utf-8"))
        return pd.read_parquet(out) if provenance["law"] == law else pd.DataFrame()
    except OSError:
        return pd.DataFrame()


if __name__ == "__main__":
    command_line("bestarm.lagex.program_runs", __doc__ or "")
