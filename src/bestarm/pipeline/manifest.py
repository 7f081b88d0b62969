"""The manifest: one line a target with the sha256 of its table, as `sha256sum -c` reads it."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from bestarm.core.files import write_text


def write_manifest(tables: Iterable[Path], path: Path | str) -> None:
    """Write the manifest of some tables, in the order given."""
    lines = [f"{hashlib.sha256(Path(t).read_bytes()).hexdigest()}  {t}\n" for t in tables]
    write_text(path, "".join(lines))


def files_hash(files: Iterable[Path]) -> str:
    """One hash of some files' names and contents, in the order given."""
    digest = hashlib.sha256()
    for file in map(Path, files):
        digest.update(f"{file.name}\n".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]
