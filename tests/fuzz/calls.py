"""The command line, called in this process: a start of Python takes longer than most examples."""

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import NamedTuple

from bestarm import cli


class Result(NamedTuple):
    """What a person sees of a call."""

    code: int
    out: str
    err: str


def bestarm(*arguments: object) -> Result:
    """Call the command line with these arguments; any exception but an exit goes through."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    before, sys.argv = sys.argv, ["bestarm", *map(str, arguments)]
    code = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = before
    out.flush()
    err.flush()
    return Result(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


def tree(folder: Path) -> dict[Path, bytes]:
    """Every file and folder below a folder, with content."""
    return {p: p.read_bytes() if p.is_file() else b"" for p in sorted(folder.rglob("*"))}


def check(result: Result) -> None:
    """It worked and says nothing on standard error, or one line there says what is wrong."""
    if result.code == 0:
        assert result.err == ""
        return
    assert result.code == 2, result
    assert result.out == ""
    assert re.fullmatch(r"error: .*: .+\n", result.err), result.err
    assert result.err[:-1].isprintable(), result.err
