"""The command line, called in this process: a start of Python takes longer than most commands.

`test_cli.test_a_process_of_its_own_does_the_same` compares a call with a start.
"""

import logging
import os
import runpy
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import matplotlib as mpl


class Result(NamedTuple):
    """What a person sees of a command."""

    code: int
    out: str
    err: str


def bestarm(*arguments: object, cwd: Path | str = ".", module: str = "bestarm") -> Result:
    """Call `python -m bestarm`, or another module, with arguments in a folder; any exception but
    an exit goes through."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = printed_to(out.fileno(), err.fileno(), arguments, cwd, module)
        out.seek(0)
        err.seek(0)
        return Result(code, out.read().decode(), err.read().decode())


def printed_to(
    out: int,
    err: int,
    arguments: Sequence[object],
    cwd: Path | str = ".",
    module: str = "bestarm",
) -> int:
    """The exit code of a command that prints to open files, with all that its processes and
    compiled code print."""
    with _as_it_was(), chdir(cwd), _stream(1, "stdout", out), _stream(2, "stderr", err):
        sys.argv = [module, *map(str, arguments)]
        sys.path.insert(0, str(Path.cwd()))
        warnings.filterwarnings("ignore", f"'{module}' found in sys.modules", RuntimeWarning)
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as ended:
            if not isinstance(ended.code, str):
                return ended.code or 0
            print(ended.code, file=sys.stderr)
            return 1
        return 0


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Afterwards this process has the settings that it had before."""
    root = logging.getLogger()
    level, handlers = root.level, [*root.handlers]
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with (
        mock.patch.dict(os.environ),
        mock.patch.object(sys, "argv", sys.argv),
        mock.patch.object(sys, "path", [*sys.path]),
        warnings.catch_warnings(),
        mpl.rc_context(),
    ):
        try:
            yield
        finally:
            root.level, root.handlers[:] = level, handlers
            for number, handler in signals.items():
                signal.signal(number, handler)


@contextmanager
def _stream(number: int, name: str, file: int) -> Iterator[None]:
    """Let a standard stream go to an open file: Python's, and the descriptor below it."""
    getattr(sys, name).flush()
    kept = os.dup(number)
    os.dup2(file, number)
    errors = "backslashreplace" if number == 2 else "strict"
    try:
        with (
            open(number, "w", encoding="utf-8", errors=errors, closefd=False) as stream,
            mock.patch.object(sys, name, stream),
        ):
            yield
    finally:
        os.dup2(kept, number)
        os.close(kept)
