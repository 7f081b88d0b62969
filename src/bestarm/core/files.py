"""Atomic writing of files."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bestarm.core.inputs import InputError


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends without error.

    Raises:
        InputError: the folder cannot be made or written to, or `path` is a folder or a device.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder, a file is wanted")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a regular file")
    made = [folder for folder in path.parents if not folder.exists()]
    temporary = None
    try:
        temporary = _beside(path)
        yield temporary
        temporary.replace(path)
    except BaseException:
        if temporary:
            temporary.unlink(missing_ok=True)
        for folder in made:
            with contextlib.suppress(OSError):  # not created, or another process writes there
                folder.rmdir()
        raise


def _beside(path: Path) -> Path:
    """An empty temporary file in the folder of `path`, which is created if missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        Path(name).chmod(0o644)
        return Path(name)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{path.parent}: is a file, a folder is wanted") from None
    except OSError as error:
        raise InputError(f"{path.parent}: {error.strerror}") from None


def write_text(path: Path | str, text: str) -> None:
    """Write text atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def write_json(path: Path | str, value: Any) -> None:
    """Write JSON atomically, indented and with sorted keys."""
    write_text(path, json.dumps(value, sort_keys=True, indent=1, allow_nan=False) + "\n")
