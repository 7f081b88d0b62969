"""Make data/lagex-runs/runs.parquet: whole runs of the released programs.

    python -m bestarm.lagex.program_runs --out data/lagex-runs/runs.parquet

Runs of the same code in an existing table are reused, so a larger RUNS extends the table.
"""

import ast
import hashlib
from pathlib import Path
from types import ModuleType

import pandas as pd
import yaml

from bestarm.common.arithmetic import same_bits
from bestarm.common.generate import Job, command_line, finish, gather
from bestarm.core.files import replacing
from bestarm.lagex import program, program_solvers, slsqp
from bestarm.lagex.problem import EASIER, HARD, setup1

SEED = 2024
CAP = 100_000
#: By instance: delta, and the number of runs per program, limited by their duration.
RUNS = {setup1(EASIER).name: (0.01, 100), setup1(HARD).name: (0.01, 7)}
KEY = ["instance", "strategy", "replication"]


def wanted() -> list[tuple[str, str, int]]:
    """Instance, program and replication of every run, instance by instance."""
    return [
        (instance, name, r)
        for instance, (_, n) in RUNS.items()
        for r in range(n)
        for name in program.PROGRAMS
    ]


def make(out: Path, threads: int) -> None:
    """Run what is missing and write the table."""
    code = code_of(program, program_solvers, slsqp)
    old = kept(out, code)
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


def job(instance: str, name: str, replication: int) -> Job:
    """One run."""
    label = f"{instance}-{name}-{replication:03}".replace(" ", "_")
    delta, _ = RUNS[instance]
    return Job(label, program.simulate, (name, instance, delta, CAP, SEED, replication))


def kept(out: Path, code: str) -> pd.DataFrame:
    """The runs of an existing table if it was made by this code; else none."""
    try:
        provenance = yaml.safe_load(out.with_name("provenance.yaml").read_text())
        return pd.read_parquet(out) if provenance["code"] == code else pd.DataFrame()
    except OSError:
        return pd.DataFrame()


if __name__ == "__main__":
    command_line("bestarm.lagex.program_runs", __doc__ or "")
