"""The files that `bestarm run` writes."""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bestarm.common.command import not_installed, told
from bestarm.core.files import replacing
from bestarm.core.inputs import InputError
from bestarm.users.results import RunResults
from bestarm.users.shards import Mark, write_share
from bestarm.users.tables import as_latex, as_markdown

STANDARD_OUTPUT = "-"
#: Endings of files, by option. CSV and JSON may have any that is not of another option.
FORMATS = {
    "out": [".parquet"],
    "csv": [".csv"],
    "json": [".json"],
    "table": [".tex", ".md"],
    "plot": [".pdf", ".png", ".svg"],
}
ANY_ENDING = ("csv", "json")
#: The option whose files have an ending.
OPTIONS = {ending: name for name, endings in FORMATS.items() for ending in endings}


class Files:
    """Where the results go, opened before the work, so that it is not done in vain.

    Args:
        out, csv, json, table, plot: files; `-` is standard output for CSV and JSON; None for none.

    Raises:
        InputError: a file has an ending of another kind, two options name one file, or what draws
            is not installed.
    """

    def __init__(self, **paths: Path | None) -> None:
        self._paths = {name: path for name, path in paths.items() if path is not None}
        for name, path in self._paths.items():
            _check_ending(name, path)
        if "plot" in self._paths and find_spec("matplotlib") is None:
            raise not_installed("matplotlib")
        if len(self.printed) > 1:
            raise InputError("--csv, --json: only one of them can be standard output")
        options: dict[Path, str] = {}
        for name, path in self._paths.items():
            other = options.setdefault(path.resolve(), name)
            if other != name and name not in self.printed:
                raise InputError(f"--{other}, --{name}: {path} is one file, they need two")

    def only_runs(self) -> None:
        """Raise InputError unless the file of runs is all that is written: of a shard, which others
        are to be merged with, statistics are none of the whole run."""
        for name in self._paths:
            if name != "out":
                raise InputError(f"--{name}: is for whole runs; `bestarm merge` writes it")
        if not self._paths:
            raise InputError("--out: is needed with --shard, for `bestarm merge`")

    def spare(self, inputs: Mapping[str, Path]) -> None:
        """Raise InputError if a file to be written is one of those that are read.

        Args:
            inputs: these files by what they are, such as "the instance".
        """
        for label, read in inputs.items():
            for name, path in self._paths.items():
                if path.exists() and read.exists() and path.samefile(read):
                    raise InputError(f"{path}: is {label}; --{name} must name another file")

    @property
    def printed(self) -> list[str]:
        """The formats that go to standard output, which nothing else is printed to then."""
        return [name for name, path in self._paths.items() if str(path) == STANDARD_OUTPUT]

    def __enter__(self) -> "Files":
        with ExitStack() as opening:
            self._open = {
                name: opening.enter_context(replacing(path))
                for name, path in self._paths.items()
                if name not in self.printed
            }
            self._stack = opening.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def write(self, results: RunResults, mark: Mark | None = None) -> None:
        """Write what was asked for, each file whole or not at all.

        Args:
            results: what to write.
            mark: what the file of runs says of itself if it is a shard; None if it is whole.

        Raises:
            InputError: a file cannot be written, naming it.
        """
        for name, path in self._open.items():
            try:
                if mark and name == "out":
                    write_share(path, results, mark)
                else:
                    self._write(name, path, results)
            except OSError as error:
                error.filename = None  # that of the temporary file
                raise InputError(told(error, f"{self._paths[name]}: not written")) from None
        for name in self.printed:
            sys.stdout.flush()
            sys.stdout.buffer.write(_text(name, results, "").encode())  # as in a file: UTF-8

    def _write(self, name: str, path: Path, results: RunResults) -> None:
        ending = self._paths[name].suffix
        if name == "out":
            pq.write_table(results.runs(), path, compression="zstd")
        elif name == "plot":
            results.picture().savefig(path, format=ending[1:], dpi=200)
        else:
            path.write_text(_text(name, results, ending), encoding="utf-8", newline="\n")

    def said(self, results: RunResults) -> Iterator[str]:
        """A line for each file."""
        what = {
            "out": f"{results.reps * len(results.results):,} runs",
            "plot": "the picture",
            "csv": "the statistics",
            "json": "the statistics",
            "table": "the table",
        }
        for name, path in self._paths.items():
            if name not in self.printed:
                yield f"{what[name]} written to {path}"


def _check_ending(name: str, path: Path) -> None:
    """Raise InputError for a file whose ending says that it is of another kind."""
    if path.is_dir() or path.suffix in FORMATS[name]:
        return
    if name not in ANY_ENDING:
        raise InputError(f"--{name}: must end in {' or '.join(FORMATS[name])}, got {path}")
    if other := OPTIONS.get(path.suffix.lower()):
        raise InputError(
            f"--{name}: writes {name.upper()}, and {path} ends in {path.suffix}: --{other} writes "
            "such files"
        )


def _text(name: str, results: RunResults, ending: str) -> str:
    if name == "table":
        return as_latex(results) if ending == ".tex" else as_markdown(results)
    return _csv(results) if name == "csv" else _json(results)


def _csv(results: RunResults) -> str:
    return results.statistics.to_csv(index=False, lineterminator="\n")


def _json(results: RunResults) -> str:
    """Null where a number is not defined, or infinite: JSON has neither."""
    rows = results.statistics.replace(math.inf, math.nan).astype(object)
    rows = rows.where(rows.notna(), None)
    cell = results.results[0][0].cell
    whole = {"instance": cell.instance, "paper": results.plan.paper, "seed": results.plan.seed}
    whole |= {"runs": results.reps, "setting": dict(cell.setting)}
    return json.dumps(whole | {"statistics": rows.to_dict("records")}, indent=1) + "\n"
