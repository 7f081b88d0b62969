"""Atomic writing of files."""

import contextlib
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bestarm.core.errors import InputError


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends without error.

    A symbolic link is followed: the file that it leads to is replaced. A file that is replaced
    keeps its mode and, if the system allows it, its owner; a new one gets its mode from the umask.

    Raises:
        InputError: the folder cannot be made or written to, or `path` is a folder, a device or a
            link that leads back to itself.
    """
    if Path(path).is_dir():
        raise InputError(f"{path}: is a folder, a file is wanted")
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise InputError(f"{path}: is a symbolic link that leads back to itself")
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is not a regular file")
    made = [folder for folder in target.parents if not folder.exists()]
    temporary = None
    try:
        temporary = _beside(target)
        yield temporary
        _copy_access(target, temporary)
        temporary.replace(target)
    except BaseException:
        if temporary:
            temporary.unlink(missing_ok=True)
        for folder in made:
            with contextlib.suppress(OSError):  # not created, or another process writes there
                folder.rmdir()
        raise


def _beside(path: Path) -> Path:
    """An empty temporary file in the folder of `path`, which is created if missing.

    While it is written, nobody else may read what becomes the content of a private file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        mode = 0o600 if path.exists() else 0o666  # less the umask
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        return temporary
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{path.parent}: is a file, a folder is wanted") from None
    except OSError as error:
        raise InputError(f"{path.parent}: {error.strerror}") from None


def _copy_access(old: Path, new: Path) -> None:
    """Give a file the mode of another that is there and, where allowed, its owner and group."""
    with contextlib.suppress(FileNotFoundError):
        access = old.stat()
        for owner in (-1, access.st_uid):  # a group of one's own is allowed to everyone
            with contextlib.suppress(OSError):
                os.chown(new, owner, access.st_gid)
        new.chmod(stat.S_IMODE(access.st_mode))


def write_text(path: Path | str, text: str) -> None:
    """Write text atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def sha256(path: Path | str) -> str:
    """The hash of a file's bytes."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def write_json(path: Path | str, value: Any) -> None:
    """Write JSON atomically, indented and with sorted keys."""
    write_text(path, json.dumps(value, sort_keys=True, indent=1, allow_nan=False) + "\n")
