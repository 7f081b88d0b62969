"""Make a table of data/ in many long jobs: in processes, with progress, a stop losing little."""

import argparse
import datetime
import hashlib
import json
import multiprocessing
import platform
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from bestarm.common.codehash import code_hash
from bestarm.common.files import write_json, write_text
from bestarm.core.inputs import InputError

#: A process is replaced after so many jobs: solvers keep some of what they are given.
PER_PROCESS = 10


class Job(NamedTuple):
    """A call whose result is plain JSON."""

    name: str  # of its file
    work: Callable[..., Any]
    arguments: tuple


def parts_folder(out: Path) -> Path:
    """Where results wait beside the table until all are there."""
    return out.with_name(f".{out.name}.parts")


def gather(jobs: Sequence[Job], out: Path, threads: int, title: str) -> list:
    """The results of all jobs, in their order, whatever finishes first.

    Each is kept in a file as it comes, named by the job and the code that made it, and not made
    again by a later call.

    Args:
        jobs: functions of modules and their arguments.
        out: the table they are for.
        threads: processes to run at a time.
        title: of the progress bar.
    """
    code = code_hash(*{job.work.__module__ for job in jobs})
    paths = [parts_folder(out) / f"{code}-{job.name}.json" for job in jobs]
    missing = [i for i, path in enumerate(paths) if not path.exists()]
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    fresh = multiprocessing.get_context("spawn")
    with (
        Progress(*columns, console=Console(stderr=True)) as progress,
        fresh.Pool(threads, maxtasksperchild=PER_PROCESS) as pool,
    ):
        task = progress.add_task(title, total=len(jobs), completed=len(jobs) - len(missing))
        for i, result in pool.imap_unordered(_do, [(i, jobs[i]) for i in missing]):
            write_json(paths[i], result)
            progress.advance(task)
    return [json.loads(path.read_text()) for path in paths]


def _do(numbered: tuple[int, Job]) -> tuple[int, Any]:
    """A job's result, with its number."""
    number, job = numbered
    return number, job.work(*job.arguments)


def finish(
    out: Path,
    module: str,
    what: str,
    seeds: dict,
    packages: Sequence[str],
    more: dict | None = None,
) -> None:
    """Write provenance.yaml beside a table that is complete, and remove its parts.

    Args:
        out: the table.
        module: what makes it.
        what: it holds, in a line.
        seeds: by what they seed.
        packages: distributions whose versions matter.
        more: to write down too.
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
    """`python -m MODULE --out TABLE [--threads N]`: call the module's `make`."""
    parser = argparse.ArgumentParser(
        f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="table to write")
    parser.add_argument("--threads", type=int, default=2, help="processes to run at a time")
    asked = parser.parse_args()
    try:
        # by name, so that the processes started for it find its functions
        import_module(module).make(asked.out, asked.threads)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
