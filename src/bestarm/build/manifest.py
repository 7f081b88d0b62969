"""The manifest: one line a target with the sha256 of its table, as `sha256sum -c` reads it."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from bestarm.core.files import write_text


def write_manifest(tables: Iterable[Path], path: Path | str) -> None:
    """Write the manifest of some tables, in the order given."""
    lines = [f"{hashlib.sha256(Path(t).read_bytes()).hexdigest()}  {t}\n" for t in tables]
    write_text(path, "".join(lines))
