"""The folder of inputs, and one hash of several files."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from bestarm.core.errors import InputError


def data_folder() -> Path:
    """The papers' inputs: data/ of the package if it came as a wheel, else of the checkout.

    A wheel has the instances and the tables they are made from, and figures/ beside them.

    Raises:
        InputError: there is neither.
    """
    package = Path(__file__).parents[1]
    folders = (package / "data", package.parents[1] / "data")
    for folder in folders:
        if folder.is_dir():
            return folder
    raise InputError(f"{folders[1]}: is missing, and with it the papers' instances")


def files_hash(files: Iterable[Path]) -> str:
    """One hash of some files' names and contents, in the order given."""
    digest = hashlib.sha256()
    for file in map(Path, files):
        digest.update(f"{file.name}\n".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]
