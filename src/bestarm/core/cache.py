"""The folder of what is computed once and kept: compiled kernels, hashes of code."""

import os
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

from bestarm.core.errors import InputError


def cache_base() -> Path:
    """NUMBA_CACHE_DIR or the user's cache folder; if it cannot be written to, or the user has
    no home, a folder in the temporary one.

    Raises:
        InputError: none of them can be written to.
    """
    folder = os.environ.get("NUMBA_CACHE_DIR") or _of_the_user()
    with suppress(OSError):
        if folder and _is_writable(Path(folder)):
            return Path(folder)
    try:
        return _temporary_folder()
    except OSError as error:
        raise InputError(
            f"{error.filename or 'temporary folder'}: {error.strerror}; compiled kernels need a "
            "folder that can be written to, set NUMBA_CACHE_DIR to one"
        ) from None


def private_folder(base: Path, name: str) -> Path:
    """The folder of a name that is this user's, made if missing.

    If a folder of that name is another user's, the name ends in the user's number: files that
    others write are neither trusted nor, under their umask, readable.

    Raises:
        InputError: another user has made that one too.
    """
    for folder in (base / name, base / f"{name}-{os.getuid()}"):
        with suppress(FileExistsError):
            folder.mkdir()
        if _is_ours(folder):
            return folder
    raise InputError(
        f"{folder}: is another user's; compiled kernels need a folder of one's own, set "
        "NUMBA_CACHE_DIR to one"
    )


def _of_the_user() -> str | None:
    """The user's cache folder; None if the user has neither a home nor an entry in passwd."""
    try:
        folder = platformdirs.user_cache_dir("bestarm")
    except (RuntimeError, KeyError):
        return None
    return folder if Path(folder).is_absolute() else None


def _is_writable(folder: Path) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    return os.access(folder, os.W_OK | os.X_OK)


def _is_ours(folder: Path) -> bool:
    """Whether it is a folder, not a link to one, of this user."""
    status = folder.lstat()
    return status.st_uid == os.getuid() and stat.S_ISDIR(status.st_mode)


@cache
def _temporary_folder() -> Path:
    """A folder that other users cannot write to, since cached code is executed.

    The same folder every time, unless another user has created one of that name.
    """
    folder = Path(tempfile.gettempdir()) / f"bestarm-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if _is_ours(folder) and not folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return folder
    return Path(tempfile.mkdtemp(prefix="bestarm-"))
