"""Make data/lagex-runs/runs.parquet: whole runs of the released programs.

    python -m bestarm.lagex.program_runs --out data/lagex-runs/runs.parquet

Runs of the same code in an existing table are reused, so a larger RUNS extends the table. Counts
are fixed before the runs are made: keeping those that have ended by some hour would prefer short
ones.
"""

import ast
import hashlib
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pandas as pd
import yaml

from bestarm.common.arithmetic import same_bits
from bestarm.common.generate import Job, command_line, finish, gather
from bestarm.core.files import replacing
from bestarm.lagex import program, program_solvers, slsqp
from bestarm.lagex.cells import OTHERS, SETUP_1
from bestarm.lagex.problem import EASIER, HARD, setup1

SEED = 2024
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
    code = code_of(program, program_solvers, slsqp)
    old = kept(out, code)
    have = set(old[KEY].itertuples(index=False, name=None)) if len(old) else set()
    missing = [run for run in wanted() if run not in have]
    with same_bits():  # SLSQP's points depend on the last bit
        found = gather([job(*run, code) for run in missing], out, threads, "programs' runs")
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
        more={"code": code},
    )


def code_of(*modules: ModuleType) -> str:
    """A hash of the modules' syntax trees, not of their imports: a change costs hours of runs."""
    trees = [ast.parse(Path(module.__file__).read_text(encoding="utf-8")) for module in modules]  # pyright: ignore[reportArgumentType]
    for node in (node for tree in trees for node in ast.walk(tree)):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node):
            node.body = node.body[1:]
    return hashlib.sha256("".join(map(ast.dump, trees)).encode()).hexdigest()[:16]


def job(instance: str, name: str, replication: int, code: str) -> Job:
    """One run; its result is reused while the code is the same."""
    label = f"{instance}-{name}-{replication:03}".replace(" ", "_")
    return Job(label, program.simulate, arguments_of(instance, name, replication), code)


def arguments_of(instance: str, name: str, replication: int) -> tuple:
    """The arguments of `program.simulate`."""
    setting = RUNS[instance].setting
    return name, instance, setting["delta"], setting["cap"], SEED, replication


def kept(out: Path, code: str) -> pd.DataFrame:
    """The runs of an existing table if it was made by this code; else none."""
    try:
        provenance = yaml.safe_load(out.with_name("provenance.yaml").read_text())
        return pd.read_parquet(out) if provenance["code"] == code else pd.DataFrame()
    except OSError:
        return pd.DataFrame()


if __name__ == "__main__":
    command_line("bestarm.lagex.program_runs", __doc__ or "")
