"""Make a table of data/ by many long jobs, in parallel, so that an interrupted run can go on."""

import argparse
import datetime
import hashlib
import json
import multiprocessing
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from bestarm.common.codehash import code_hash
from bestarm.core.files import write_json, write_text
from bestarm.core.inputs import InputError

#: Jobs after which a worker process is replaced, since solvers leak memory.
PER_PROCESS = 10


class Job(NamedTuple):
    """A call whose result is plain JSON."""

    name: str  # of its file
    work: Callable[..., Any]
    arguments: tuple
    code: str = ""  # hash of what the result depends on, if it is not all that `work` imports


def parts_folder(out: Path) -> Path:
    """The folder beside the table that holds results until all are complete."""
    return out.with_name(f".{out.name}.parts")


def part(job: Job, out: Path, code: str = "") -> Path:
    """The file of a job's result; `code` if the job has none of its own."""
    return parts_folder(out) / f"{job.code or code}-{job.name}.json"


def gather(jobs: Sequence[Job], out: Path, threads: int, title: str) -> list:
    """The results of all jobs, in the order of `jobs`.

    Each result is written to a file when its job ends, named by the job and a hash of its code; a
    later call reuses it.

    Args:
        jobs: module-level functions with their arguments.
        out: the table they are for; results are kept beside it.
        threads: processes to run at a time.
        title: of the progress bar.

    Raises:
        InputError: if a worker process ended, for lack of memory for example. Jobs that are
            running go on to their end; others do not begin.
    """
    every = code_hash(*{job.work.__module__ for job in jobs if not job.code})
    paths = [part(job, out, every) for job in jobs]
    missing = [i for i, path in enumerate(paths) if not path.exists()]
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        Progress(*columns, console=Console(stderr=True)) as progress,
        ThreadPoolExecutor(threads) as pool,
    ):
        task = progress.add_task(title, total=len(jobs), completed=len(jobs) - len(missing))

        def keep(i: int, result: Any) -> None:
            write_json(paths[i], result)
            progress.advance(task)

        waiting = iter([(i, jobs[i]) for i in missing])
        for thread in as_completed([pool.submit(_work, waiting, keep) for _ in range(threads)]):
            thread.result()
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def _work(waiting: Iterator[tuple[int, Job]], keep: Callable[[int, Any], None]) -> None:
    """Do jobs while any wait, in a process that is replaced after PER_PROCESS of them.

    A pool of several processes does not replace them reliably: `max_tasks_per_child` can wait for
    ever (https://github.com/python/cpython/issues/115634).
    """
    fresh = multiprocessing.get_context("spawn")
    name = ""
    try:
        while True:
            with ProcessPoolExecutor(1, fresh) as process:
                for _ in range(PER_PROCESS):
                    if (following := next(waiting, None)) is None:
                        return
                    number, job = following
                    name = job.name
                    keep(number, process.submit(job.work, *job.arguments).result())
    except BaseException as error:
        for _ in waiting:  # none begins any more
            pass
        if isinstance(error, BrokenProcessPool):
            why = "its process ended, perhaps for lack of memory; what is done is kept"
            raise InputError(f"{name}: {why}, run it again to go on") from None
        raise


def finish(
    out: Path,
    module: str,
    what: str,
    seeds: dict,
    packages: Sequence[str],
    more: dict | None = None,
) -> None:
    """Write provenance.yaml beside a complete table, and remove its parts.

    Args:
        out: the table.
        module: the module that makes it.
        what: its content, in one line.
        seeds: by what is seeded.
        packages: distributions whose versions matter.
        more: further entries.
    """
    provenance = {
        "table": out.name,
        "sha256": hashlib.sha256(out.read_bytes()).hexdigest(),
        "what": what,
        "command": f"python -m {module} --out data/{out.parent.name}/{out.name}",
        "made": datetime.date.today().isoformat(),
        "seeds": seeds,
        "versions": {"Python": platform.python_version(), **{p: version(p) for p in packages}},
        **(more or {}),
    }
    text = yaml.safe_dump(provenance, sort_keys=False, allow_unicode=True, width=100)
    write_text(out.with_name("provenance.yaml"), text)
    shutil.rmtree(parts_folder(out), ignore_errors=True)


def command_line(module: str, description: str) -> None:
    """`python -m MODULE --out TABLE [--threads N]`: call the module's `make`.

    With `--forecast`, of modules that have a `forecast`: print that and make nothing. With `--new`,
    of modules that have a `make_new`: call that.
    """
    parser = argparse.ArgumentParser(
        f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="table to write")
    parser.add_argument("--threads", type=int, default=2, help="processes to run at a time")
    made = import_module(module)  # by name, so that worker processes find its functions
    if hasattr(made, "forecast"):
        help = "print what is missing and about how long it takes"
        parser.add_argument("--forecast", action="store_true", help=help)
    if hasattr(made, "make_new"):
        help = "make the rows that are not there; keep the others, though code may have changed"
        parser.add_argument("--new", action="store_true", help=help)
    asked = parser.parse_args()
    make = made.make_new if getattr(asked, "new", False) else made.make
    try:
        if getattr(asked, "forecast", False):
            print(made.forecast(asked.out))
        else:
            make(asked.out, asked.threads)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
