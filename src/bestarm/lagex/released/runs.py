"""Make data/lagex-runs/runs.parquet: whole runs of the released programs.

    python -m bestarm.lagex.released.runs --out data/lagex-runs/runs.parquet
    python -m bestarm.lagex.released.runs --out data/lagex-runs/runs.parquet --forecast
    python -m bestarm.lagex.released.runs --out data/lagex-runs/runs.parquet --complete

Runs of the same LAW in an existing table are reused, so larger counts extend the table; a command
that was interrupted goes on where it was. Counts are fixed before the runs are made: keeping those
that have ended by some hour would prefer short ones. So a cell (instance, delta, program, and what
is switched off) has all of its planned runs, or those of an earlier, smaller plan, or none;
--complete adds the cells that are done while others are not. No released file has setup 2: its runs
are those of the programs' code in the paper's other environment. On easy, where runs are shortest,
the programs also run without one of their peculiarities, and without all.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import yaml

from bestarm.common.arithmetic import same_bits
from bestarm.core.files import replacing
from bestarm.lagex.cells import OTHERS, SETUP_1, SHORT
from bestarm.lagex.problem import EASIER, HARD, setup1
from bestarm.lagex.released import program
from bestarm.runs.kept import Job, KeptTable, command_line, gather, part

SEED, CAP = 2024, SETUP_1["cap"]
#: Another number if the programs' code changes so that some run would not be the same to the last
#: bit; then all runs are made anew. A test makes some of the kept ones again. SLSQP and the rest of
#: a round compiled, instead of called from SciPy, changed no bit and left it as it is.
LAW = 1
#: Jobs that are done again before the law is stamped: the shortest run of each quick program.
SAMPLE = tuple(f"setup_1_m3=1.3-0.01-{run}" for run in ("CGE-WLag-048", "PTnS-092", "Uniform-091"))
KEY = ["instance", "delta", "strategy", "without", "replication"]
EASY_NAME, HARD_NAME, IMDB_NAME = setup1(EASIER).name, setup1(HARD).name, "imdb"


class Plan(NamedTuple):
    """What is run on an instance at a delta."""

    instance: str
    delta: float
    runs: int  # per program
    seconds: tuple[float, ...]  # of a run, roughly, in the order of the programs
    without: str = ""  # what is switched off, see `program.variant`
    cap: int = CAP  # rounds


#: Also those of setup 2, where no run has been timed.
HARD_SECONDS = (63, 74, 13, 54, 78, 18)
EASY_SECONDS = (9, 4, 9, 4, 19, 5)
PLANS = (
    Plan(EASY_NAME, SETUP_1["delta"], 250, EASY_SECONDS),
    Plan(HARD_NAME, SETUP_1["delta"], 30, HARD_SECONDS),
    Plan(IMDB_NAME, OTHERS["delta"], 30, (103, 81, 35, 53, 104, 20)),
    *(
        Plan(EASY_NAME, SETUP_1["delta"], 20, EASY_SECONDS, without, cap=SHORT["cap"])
        for without in (*program.PECULIARITIES, program.ALL)
    ),
    *(
        Plan(f"setup 2 {name}", delta, 20, HARD_SECONDS)
        for name in ("hard", "easy")
        for delta in (0.01, 0.1)
    ),
)


class Run(NamedTuple):
    """One run of the table: its KEY."""

    instance: str
    delta: float
    strategy: str
    without: str
    replication: int

    @property
    def cell(self) -> tuple:
        """All but the replication."""
        return self[:-1]


def planned_runs() -> dict[Run, float]:
    """Every run with its processor seconds, roughly, the longest first."""
    runs = {
        Run(plan.instance, plan.delta, name, plan.without, r): seconds
        for plan in PLANS
        for name, seconds in zip(program.PROGRAMS, plan.seconds, strict=True)
        if program.can_be_without(name, plan.without)
        for r in range(plan.runs)
    }
    return dict(sorted(runs.items(), key=lambda run: -run[1]))


def missing(old: pd.DataFrame) -> dict[Run, float]:
    """Those of `planned_runs` that a table lacks."""
    have = set(old[KEY].itertuples(index=False, name=None)) if len(old) else set()
    return {run: seconds for run, seconds in planned_runs().items() if run not in have}


def forecast(out: Path) -> str:
    """How many runs a table lacks, and about how many processor hours they take."""
    runs = {
        run: seconds
        for run, seconds in missing(kept(out, LAW)).items()
        if not part(job(run), out).exists()
    }
    lines = []
    for plan in PLANS:
        of_plan = [s for r, s in runs.items() if r[:2] == plan[:2] and r.without == plan.without]
        name = f"{plan.instance}{f' without {plan.without}' if plan.without else ''}"
        hours = sum(of_plan) / 3600.0
        lines.append(f"{name}, delta {plan.delta:g}: {len(of_plan)} runs, {hours:.1f} h")
    return "\n".join([*lines, f"together: {len(runs)} runs, {sum(runs.values()) / 3600.0:.1f} h"])


def make(out: Path, threads: int) -> None:
    """Run what is missing and write the table."""
    old = kept(out, LAW)
    runs = list(missing(old))
    with same_bits():  # SLSQP's points depend on the last bit
        rows_made = gather([job(run) for run in runs], out, threads, "programs' runs")
    TABLE.finish(out, add(old, dict(zip(runs, rows_made, strict=True)), out))


def make_complete(out: Path, threads: int) -> None:
    """Add every cell to the table all of whose runs have been made, and of other cells no run.

    Makes no run; the parts stay where they are, so that `make` goes on from them.
    """
    del threads
    old = kept(out, LAW)
    cells = defaultdict(list)
    for run in missing(old):
        cells[run.cell].append(run)
    done = {
        run: part(job(run), out)
        for runs in cells.values()
        if all(part(job(run), out).exists() for run in runs)
        for run in runs
    }
    rows_made = {run: json.loads(path.read_text(encoding="utf-8")) for run, path in done.items()}
    TABLE.describe(out, add(old, rows_made, out))


def add(old: pd.DataFrame, rows_made: dict[Run, dict], out: Path) -> str:
    """Write a table with more runs. Returns what it holds, in words."""
    new = [run._asdict() | row for run, row in rows_made.items()]
    table = pd.concat([old, pd.DataFrame(new)], ignore_index=True)
    write(table, out)
    return f"{len(table)} {TABLE.what}"


def write(table: pd.DataFrame, out: Path) -> None:
    """Write runs in the order of their KEY."""
    with replacing(out) as temporary:
        ordered = table.sort_values(KEY, ignore_index=True)
        ordered.to_parquet(temporary, compression="zstd", index=False)


def job(run: Run) -> Job:
    """One run; its result is reused while the law is the same."""
    name = f"{run.strategy}{f'-without-{run.without}' if run.without else ''}"
    label = f"{run.instance}-{run.delta:g}-{name}-{run.replication:03}".replace(" ", "_")
    return Job(label, program.simulate, simulate_arguments(run), f"law{LAW}")


def jobs() -> list[Job]:
    """One for each run that is wanted."""
    return [job(run) for run in planned_runs()]


def save(jobs: Sequence[Job], rows_made: list[dict], out: Path) -> None:
    """Write some runs."""
    rows = []
    for job, row in zip(jobs, rows_made, strict=True):
        name, instance, delta, _, _, replication, without = job.arguments
        rows.append(Run(instance, delta, name, without, replication)._asdict() | row)
    write(pd.DataFrame(rows), out)


def simulate_arguments(run: Run) -> tuple:
    """The arguments of `program.simulate`."""
    cap = next(p.cap for p in PLANS if (p.instance, p.without) == (run.instance, run.without))
    return run.strategy, run.instance, run.delta, cap, SEED, run.replication, run.without


def kept(out: Path, law: int) -> pd.DataFrame:
    """The runs of an existing table if they are of this law; else none."""
    try:
        provenance = yaml.safe_load(out.with_name("provenance.yaml").read_text(encoding="utf-8"))
        return pd.read_parquet(out) if provenance["law"] == law else pd.DataFrame()
    except OSError:
        return pd.DataFrame()


TABLE = KeptTable(
    "bestarm.lagex.released.runs",
    "runs of the released programs, as bestarm.lagex.released.program computes them",
    {"runs": SEED},
    ("numpy", "scipy"),
    jobs,
    SAMPLE,
    save=save,
    law=LAW,
)


def stamp(out: Path, threads: int) -> None:
    """`KeptTable.stamp`, in the arithmetic that runs are made in."""
    with same_bits():
        TABLE.stamp(out, threads)


if __name__ == "__main__":
    command_line("bestarm.lagex.released.runs", __doc__ or "")
