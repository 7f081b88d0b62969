"""What `list` and `show` print, kept from one process to the next: it takes long to find out."""

from collections.abc import Callable
from typing import Any

from bestarm.common.by_sources import by_sources
from bestarm.common.files import data_folder, files_hash


def kept(paper: str, name: str, compute: Callable[[], Any]) -> Any:
    """A value that follows from the sources, from data/ and from a paper's tables.

    Args:
        paper: its name.
        what: names the value.
        compute: makes it, if it is not kept; JSON holds it. Errors are not kept.
    """
    data = data_folder()
    files = [*data.rglob("*"), *data.parent.glob(f"figures/{paper}/*.csv")]
    inputs = files_hash(sorted(file for file in files if file.is_file()))
    return by_sources(f"{paper}, {inputs}: {name}", compute)
