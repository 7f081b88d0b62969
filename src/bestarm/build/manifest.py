"""The manifest: one line a target with the sha256 of its table, as `sha256sum -c` reads it."""

from collections.abc import Iterable
from pathlib import Path

from bestarm.core.files import sha256, write_text


def write_manifest(tables: Iterable[Path], path: Path | str) -> None:
    """Write the manifest of some tables, in the order given."""
    write_text(path, "".join(f"{sha256(table)}  {table}\n" for table in tables))


def changed_tables(manifest: Path, root: Path = Path()) -> list[str]:
    """The tables of a manifest that are missing under a folder, or not as it says."""
    entries = (line.split("  ") for line in manifest.read_text(encoding="utf-8").splitlines())
    return [
        table
        for digest, table in entries
        if not (root / table).is_file() or sha256(root / table) != digest
    ]
