"""`make verify`: check the kept results by simulating again, without touching figures/.

On the platform that bytes are promised for (`differences` is empty) the replications of scale quick
are simulated, and their rows must have the kept hashes. Elsewhere, or when asked, other seeds are
simulated, at least FEWEST runs a cell, and the tables made of them must agree with those under
figures/ (`agreement` says how); all the tests together raise a false alarm with probability at most
FALSE_ALARMS. Either way the computed numbers of every table are computed anew.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from bestarm import registry
from bestarm.common.arithmetic import same_bits
from bestarm.common.names import advice
from bestarm.common.paper import Cell, Target
from bestarm.common.tables import KEY, assemble, lines, make_sources, read_table, target_table
from bestarm.core.inputs import InputError
from bestarm.registry.names import names_of_parts
from bestarm.registry.scales import read_scale
from bestarm.runs.plan import Plan, describe_instances, make_plan
from bestarm.runs.summary import summary_rows
from bestarm.runs.tasks import run
from bestarm.runs.workers import Workers
from bestarm.verify.agreement import (
    COMPUTED,
    PRINTED,
    as_written,
    computed_differ,
    fresh_level,
    paired,
    simulated,
    verdicts,
)
from bestarm.verify.hashes import SCALE, differences, read_hashes, rows_hash, rows_key

#: Runs of a cell with independent seeds. Of 30 the median can still be told to be wrong at the
#: level of one test in tens of thousands: all on one side has probability 2^-30.
FEWEST = 30
#: The probability that any of the independent tests rejects what is right.
FALSE_ALARMS = 1e-3
#: Added to the root seed for independent runs.
OTHER_SEED = 1_000_003
#: Disagreements of a target that are spelled out.
MOST_SHOWN = 3


@dataclass(frozen=True)
class Job:
    """One cell to simulate."""

    plan: Plan  # of this cell alone
    replications: int
    level: float  # of the intervals of its summary

    @property
    def cell(self) -> Cell:
        return self.plan.cells[0]

    @property
    def key(self) -> tuple:
        return rows_key(self.plan.paper, self.plan.experiment, self.cell, self.replications)


@dataclass(frozen=True)
class Rows:
    """What is kept of a simulated cell: the hash of its rows, and its lines of the summary."""

    key: tuple
    hash: str
    summary: list[dict]


def simulate(job: Job) -> Rows:
    """Simulate a cell, hash its rows and summarise them."""
    (task,) = job.plan.tasks(registry.PAPERS[job.plan.paper])
    runs = run(task, range(job.replications))
    return Rows(job.key, rows_hash(runs), summary_rows(task, runs, job.level))


def chosen(names: Iterable[str]) -> dict[str, list[Target]]:
    """Targets by paper, for names PAPER or PAPER/TARGET; all for no names.

    Raises:
        InputError: there is no such paper or target.
    """
    by_paper: dict[str, dict[str, Target]] = {}
    for name in names or registry.PAPERS:
        paper, _, target = name.partition("/")
        if paper not in registry.PAPERS:
            papers = f"papers are {', '.join(registry.PAPERS)}"
            every_name = [*registry.PAPERS, *names_of_parts(instances=False)]
            near = advice(name, every_name, papers)
            raise InputError(f"{name}: must be PAPER or PAPER/TARGET; {near}")
        targets = registry.PAPERS[paper].targets.values()
        named = {t.name: t for t in targets if target in ("", t.name)}
        if not named:
            allowed = [t.name for t in targets]
            near = advice(target, allowed, f"only {', '.join(allowed)}")
            raise InputError(f"{name}: {paper} has no target {target}; {near}")
        by_paper.setdefault(paper, {}).update(named)
    return {paper: list(targets.values()) for paper, targets in by_paper.items()}


class Verification:
    """One run of `make verify`.

    Args:
        root: the checkout.
        names: papers and targets, all if empty.
        independent: simulate other seeds even where bytes are promised.
        cores: processes; None simulates in this one, whose BLAS may have several threads.
        fewest: runs a cell, if independent.

    Raises:
        InputError: an unknown name, or `root` is no checkout.
    """

    def __init__(
        self,
        root: Path,
        names: Iterable[str],
        independent: bool,
        cores: int | None,
        fewest: int = FEWEST,
    ) -> None:
        self.root, self.cores, self.fewest = root, cores, fewest
        if not (root / "figures").is_dir() or not (root / "workflow/scales").is_dir():
            raise InputError(
                f"{root.resolve()}: is not a checkout of the project, whose figures/, data/ and "
                "workflow/ verify compares with; run it in one"
            )
        self.targets = chosen(names)
        self.reasons = ["asked for"] if independent else differences(root / "requirements.lock")
        self.independent = bool(self.reasons)
        self.hashes = read_hashes(root / "data/verify/hashes.csv") if not self.independent else {}
        self.scale = read_scale(root / f"workflow/scales/{SCALE}.yaml")
        self.tests = sum(int(simulated(t).sum()) for t in self._kept_tables())
        self.alpha = FALSE_ALARMS / max(self.tests, 1)
        self.instances: dict[str, dict] = {}
        self.futures: dict[tuple[str, str], list[Future]] = {}

    def run(self) -> bool:
        """Check every target, a line each; whether all agree."""
        self._say_what()
        wrong = 0
        with worker_pool(self.cores) as pool, self._progress() as progress:
            bar = progress.add_task("cells", total=self._n_cells())
            for paper in self.targets:
                progress.update(bar, description=f"compiling {paper}")
                self._submit(paper, pool, lambda: progress.advance(bar))
            progress.update(bar, description="cells")
            for paper, targets in self.targets.items():
                for target in targets:
                    troubles, checked = self.check(paper, target)
                    wrong += bool(troubles)
                    _print_line(f"{paper}/{target.name}", troubles, checked)
        total = sum(map(len, self.targets.values()))
        runs = sum(f.result().key[-1] for each in self.futures.values() for f in each)
        word = "agree" if self.independent else "are the same"
        cells = self._n_cells()
        print(f"{total - wrong} of {total} targets {word} ({runs:,} runs of {cells:,} cells)")
        return wrong == 0

    def check(self, paper: str, target: Target) -> tuple[list[str], str]:
        """What is wrong with a target, and what was looked at."""
        cells = {n: [f.result() for f in self.futures[paper, n]] for n in target.experiments}
        summaries = {
            name: as_written(assemble(*(cell.summary for cell in each)))
            for name, each in cells.items()
        }
        published = read_table(self.root / f"data/published/{paper}.csv")
        sources = make_sources(summaries, self.instances[paper], published)
        pairs = paired(self._kept(paper, target), as_written(target_table(target, sources)))
        tolerance = COMPUTED if self.independent else PRINTED
        troubles = [_say_row(r) for r in lines(computed_differ(pairs, tolerance))]
        if not self.independent:
            all_cells = [cell for each in cells.values() for cell in each]
            different = [cell.key for cell in all_cells if self.hashes.get(cell.key) != cell.hash]
            checked = f"{len(all_cells)} cells" if all_cells else "computed, no simulation"
            return troubles + [self._say_cell(key) for key in different], checked
        runs = pairs[simulated(pairs) & pairs["_merge"].eq("both")]
        direct = runs.set_index(KEY).index.isin(sources.summary.set_index(KEY).index)
        all_cells = verdicts(runs[direct], self.alpha)
        troubles += [_say_row(r) for r in lines(runs[direct][all_cells.eq(False)])]
        return troubles, f"{all_cells.notna().sum()} of {len(runs)} estimates tested"

    def _submit(self, paper: str, pool: Executor, done) -> None:
        """Compile a paper's kernels, then hand in the cells of its experiments."""
        registry.PAPERS[paper].simulation.warm_up()
        described = describe_instances(
            registry.PAPERS[paper], registry.PAPERS[paper].problems.instances()
        )
        self.instances[paper] = json.loads(json.dumps(described))
        for name in self._experiments(paper):
            size = self.scale.papers[paper][name].replications
            seed = self.scale.seed
            if self.independent:
                size, seed = max(size, self.fewest), seed + OTHER_SEED
            experiment = registry.PAPERS[paper].experiments[name]
            level = fresh_level(self.alpha) if self.independent else 0.95
            alone = [replace(experiment, cells=(cell,)) for cell in experiment.cells]
            plans = [
                make_plan(paper, of_cell, seed, size, self.instances[paper]) for of_cell in alone
            ]
            jobs = [Job(plan, size, level) for plan in plans]
            self.futures[paper, name] = [pool.submit(simulate, job) for job in jobs]
            for future in self.futures[paper, name]:
                future.add_done_callback(lambda _: done())

    def _experiments(self, paper: str) -> Iterable[str]:
        """Those of the targets, each once."""
        return dict.fromkeys(e for t in self.targets[paper] for e in t.experiments)

    def _n_cells(self) -> int:
        return sum(
            len(registry.PAPERS[paper].experiments[name].cells)
            for paper in self.targets
            for name in self._experiments(paper)
        )

    def _kept(self, paper: str, target: Target) -> pd.DataFrame:
        return read_table(self.root / f"figures/{paper}/{target.name}.csv")

    def _kept_tables(self) -> Iterator[pd.DataFrame]:
        for paper in registry.PAPERS:
            for target in registry.PAPERS[paper].targets.values():
                yield self._kept(paper, target)

    def _say_what(self) -> None:
        on = "in this process" if self.cores is None else f"on {self.cores} cores"
        if self.independent:
            print(
                f"Simulating other seeds {on}, at least {self.fewest} runs a cell "
                f"({'; '.join(self.reasons)}).\nTables must agree with those under figures/; "
                f"at most {self.tests} tests, together one false alarm in {1 / FALSE_ALARMS:,.0f}."
            )
        else:
            print(
                f"Simulating the replications of scale {SCALE} again, {on}. Every row must be "
                "the same\n(Linux x86-64, Python 3.11, the locked packages; --independent tries "
                "other seeds)."
            )

    def _say_cell(self, key: tuple) -> str:
        _, experiment, instance, strategy, setting, reading, _ = key
        reason = "other rows" if key in self.hashes else "no hash is kept (make verify-hashes)"
        return f"{experiment}: {strategy} on {instance}, {setting}, {reading}: {reason}"

    def _progress(self) -> Progress:
        times = (TimeElapsedColumn(), "left", TimeRemainingColumn())
        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), *times)
        return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())


class _SerialExecutor(Executor):
    """Runs jobs at once, in this process."""

    def submit(self, fn, /, *args, **kwargs) -> Future:
        future: Future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def worker_pool(cores: int | None) -> Iterator[Executor]:
    """Processes that compute the same bits whatever the environment; or, for None, this one."""
    if cores is None:
        yield _SerialExecutor()
        return
    with same_bits(), Workers(cores) as pool:
        try:
            yield pool
        except BaseException:  # an interrupt must not wait for all that was handed in
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _say_row(row) -> str:
    names = [row.instance, row.strategy, row.setting, row.reading]
    where = ", ".join(name for name in names if name)
    at = "" if row.x != row.x else f" at {row.x_name} = {row.x:g}"
    kept, fresh = (_say_value(row, end) for end in ("", "_fresh"))
    return f"{where}{at}: {row.statistic} is {kept}, here {fresh}"


def _say_value(row, end: str) -> str:
    value, low, high = (getattr(row, name + end) for name in ("value", "low", "high"))
    if value != value:
        return "missing"
    return f"{value:g}" if not low < high else f"{value:g} [{low:g}, {high:g}]"


def _print_line(name: str, troubles: list[str], checked: str) -> None:
    print(f"{'MISMATCH' if troubles else 'ok':9}{name:28}{checked}", flush=True)
    for trouble in troubles[:MOST_SHOWN]:
        print(f"         {trouble}")
    if len(troubles) > MOST_SHOWN:
        print(f"         and {len(troubles) - MOST_SHOWN} more")
