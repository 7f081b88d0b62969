"""What holds of every call of the command line."""

import re
from pathlib import Path

from command_line import Result


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
