"""Make a table of data/ by many long jobs, in parallel, so that an interrupted run can go on."""

import datetime
import json
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pandas as pd
import pyarrow.parquet as pq
import typer
import yaml
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from bestarm.common.definitions import definitions_hash
from bestarm.core.files import sha256, write_json, write_text
from bestarm.core.inputs import InputError
from bestarm.runs.workers import Workers

#: Jobs after which a worker process is replaced, since solvers leak memory.
PER_PROCESS = 10
#: What options of the command do.
STAMP = "Make a sample of the rows again; if they are the kept ones, write that beside the table."
FORECAST = "Print what is missing and about how long it takes, of tables that can say so."
NEW = "Make the rows that are not there; keep the others, though code may have changed."
COMPLETE = "Make nothing; add the groups of rows that are complete among the parts made so far."


class Job(NamedTuple):
    """A call whose result is plain JSON."""

    name: str  # of its file
    work: Callable[..., Any]
    arguments: tuple
    code: str = ""  # what the result depends on, if it is not the definitions that `work` uses


def parts_folder(out: Path) -> Path:
    """The folder beside the table that holds results until all are complete."""
    return out.with_name(f".{out.name}.parts")


def part(job: Job, out: Path, code: str = "") -> Path:
    """The file of a job's result; `code` if the job has none of its own."""
    return parts_folder(out) / f"{job.code or code}-{job.name}.json"


def gather(jobs: Sequence[Job], out: Path, threads: int, title: str) -> list:
    """The results of all jobs, in the order of `jobs`.

    Each result is written to a file when its job ends, named by the job and a hash of what it
    computes; a later call reuses it.

    Args:
        jobs: module-level functions with their arguments.
        out: the table they are for; results are kept beside it.
        threads: processes to run at a time.
        title: of the progress bar.

    Raises:
        InputError: if a worker process ended, for lack of memory for example. Jobs that are
            running go on to their end; others do not begin.
    """
    every = {job.work for job in jobs if not job.code}
    codes = {work: definitions_hash(work) for work in every}
    paths = [part(job, out, codes.get(job.work, "")) for job in jobs]
    missing = [i for i, path in enumerate(paths) if not path.exists()]
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    workers = Workers(threads, PER_PROCESS)
    with Progress(*columns, console=Console(stderr=True)) as progress, workers:
        task = progress.add_task(title, total=len(jobs), completed=len(jobs) - len(missing))
        running = {workers.submit(jobs[i].work, *jobs[i].arguments): i for i in missing}
        try:
            for done in as_completed(running):
                if done.exception() is None:
                    write_json(paths[running[done]], done.result())
                    progress.advance(task)
        except BaseException:  # an interrupt, or a full disk
            workers.shutdown(wait=False, cancel_futures=True)
            raise
    for done, i in running.items():  # jobs begin in order: the first error is no other job's
        if error := done.exception():
            raise _named(error, jobs[i].name)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def _named(error: BaseException, name: str) -> BaseException:
    """An error of a job; with the job's name if its process ended."""
    if not isinstance(error, BrokenProcessPool):
        return error
    why = "its process ended, perhaps for lack of memory; what is done is kept"
    return InputError(f"{name}: {why}, run it again to go on")


@dataclass(frozen=True)
class KeptTable:
    """A table under data/ that is made by jobs, seldom, and kept with its provenance.

    Args:
        module: that makes it, see `command_line`.
        what: its content, in one line.
        seeds: by what is seeded.
        packages: distributions whose versions matter.
        jobs: what makes its rows, in order; a job's result is a row or a list of rows.
        sample: names of the jobs that `stamp` does again, quick ones.
        columns: of the table; those of the rows if empty.
        written: arguments of `DataFrame.to_csv`.
        save: jobs, their results, path -> writes the table, if it is no CSV file of these rows.
        law: another number if the code changes so that some row would not be the same. Where the
            code lives is no matter.
    """

    module: str
    what: str
    seeds: Mapping[str, Any]
    packages: Sequence[str]
    jobs: Callable[[], Sequence[Job]]
    sample: Sequence[str]
    columns: Sequence[str] = ()
    written: Mapping[str, Any] = field(default_factory=dict[str, Any])
    save: Callable[[Sequence[Job], list, Path], None] | None = None
    law: int = 1

    def make(self, out: Path, threads: int) -> None:
        """Do all jobs and write the table, with its provenance beside it."""
        jobs = self.jobs()
        self.write(jobs, gather(jobs, out, threads, out.parent.name), out)
        self.finish(out)

    def write(self, jobs: Sequence[Job], results: list, out: Path) -> None:
        """Write the table of some jobs."""
        if self.save is not None:
            self.save(jobs, results, out)
            return
        rows = [
            row for result in results for row in (result if isinstance(result, list) else [result])
        ]
        table = pd.DataFrame(rows, columns=list(self.columns) or None)
        write_text(out, table.to_csv(index=False, lineterminator="\n", **self.written))

    def finish(self, out: Path, what: str = "", more: Mapping[str, Any] | None = None) -> None:
        """`describe` a complete table, and remove its parts."""
        self.describe(out, what, more)
        shutil.rmtree(parts_folder(out), ignore_errors=True)

    def describe(self, out: Path, what: str = "", more: Mapping[str, Any] | None = None) -> None:
        """Write provenance.yaml beside a table.

        Args:
            out: the table.
            what: its content, if it depends on what was made.
            more: further entries.
        """
        python = {"Python": platform.python_version()}
        made = {
            "what": what or self.what,
            "command": self._command(out),
            "made": datetime.date.today().isoformat(),
            "seeds": dict(self.seeds),
            "versions": python | {package: version(package) for package in self.packages},
            "law": self.law,
        }
        described = {"table": out.name, "sha256": sha256(out)} | made | dict(more or {})
        write_provenance(out, described)

    def stamp(self, out: Path, threads: int) -> None:
        """Do the jobs of `sample` again and, if all of their rows are kept ones, write today's law.

        Raises:
            InputError: a row is not kept as it is made now; the provenance stays as it was.
        """
        jobs = [job for job in self.jobs() if job.name in self.sample]
        if missing := set(self.sample) - {job.name for job in jobs}:
            raise InputError(f"{out}: has no job {', '.join(sorted(missing))}")
        with tempfile.TemporaryDirectory() as folder:
            again = Path(folder) / out.name
            self.write(jobs, gather(jobs, again, threads, f"{out.parent.name}, sample"), again)
            check_rows(again, out)
        self.stamped(out)

    def stamped(self, out: Path, more: Mapping[str, Any] | None = None) -> None:
        """Write today's law and command into the provenance of a table, and what was done again."""
        path = out.with_name("provenance.yaml")
        provenance: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        if provenance["sha256"] != sha256(out):
            raise InputError(f"{out}: is not the file that {path} describes")
        now = {"command": self._command(out), "law": self.law, "made_again": list(self.sample)}
        write_provenance(out, provenance | now | dict(more or {}))

    def _command(self, out: Path) -> str:
        return f"python -m {self.module} --out data/{out.parent.name}/{out.name}"


def write_provenance(out: Path, described: Mapping[str, Any]) -> None:
    """Write provenance.yaml beside a table."""
    text = yaml.safe_dump(dict(described), sort_keys=False, allow_unicode=True, width=100)
    write_text(out.with_name("provenance.yaml"), text)


def check_rows(again: Path, kept: Path) -> None:
    """Raises InputError if a row of `again` is not one of `kept`, to the byte."""
    kept_lines = set(lines(kept))
    for line in lines(again):
        if line not in kept_lines:
            raise InputError(f"{kept}: has no row {line}, which its code makes now")


def lines(path: Path) -> list[str]:
    """The rows of a table as texts, of a CSV file as they are written."""
    if path.suffix == ".csv":
        return path.read_text(encoding="utf-8").splitlines()
    return [repr(row) for row in pq.read_table(path).to_pylist()]


def command_line(module: str, description: str) -> None:
    """`python -m MODULE --out TABLE [--threads N]`: make the table that is the module's TABLE.

    With `--stamp`: do the jobs of its sample again, see `KeptTable.stamp`. With `--forecast`, of
    modules that have a `forecast`: print that and make nothing. With `--new` or `--complete`, of
    modules that have a `make_new` or a `make_complete`: call that. Modules may have a `make` and a
    `stamp` of their own.
    """
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command(help=description)
    def main(
        out: Annotated[Path, typer.Option(help="Table to write.")],
        threads: Annotated[int, typer.Option(help="Processes to run at a time.", min=1)] = 2,
        stamp: Annotated[bool, typer.Option("--stamp", help=STAMP)] = False,
        forecast: Annotated[bool, typer.Option("--forecast", help=FORECAST)] = False,
        new: Annotated[bool, typer.Option("--new", help=NEW)] = False,
        complete: Annotated[bool, typer.Option("--complete", help=COMPLETE)] = False,
    ) -> None:
        made = import_module(module)  # by name, so that worker processes find its functions
        try:
            if forecast:
                print(_module_part(made, "forecast")(out))
            elif new:
                _module_part(made, "make_new")(out, threads)
            elif complete:
                _module_part(made, "make_complete")(out, threads)
            else:
                _module_part(made, "stamp" if stamp else "make")(out, threads)
        except InputError as error:
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(2) from None

    app()


def _module_part(made: Any, name: str) -> Callable[..., Any]:
    """What a module does itself, or else its TABLE. Raises InputError if neither does."""
    part = getattr(made, name, None) or getattr(made.TABLE, name, None)
    if part is None:
        raise InputError(f"--{name.removeprefix('make_')}: {made.__name__} has none")
    return part
