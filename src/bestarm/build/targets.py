"""What a build can be asked for by name."""

from collections.abc import Collection
from pathlib import Path

from bestarm.common.names import advice

#: Where a build writes what has names of figures and experiments.
FOLDERS = ("figures", "results")


def unknown_target(
    name: str, targets: Collection[str], rules: Collection[str], made: bool
) -> str | None:
    """What is wrong with a target that somebody asks a build for, in a line; None if nothing is.

    Args:
        name: of a file or of a rule.
        targets: files of figures, tables and summaries that can be made.
        rules: names of rules.
        made: whether some rule makes files that are named like it.

    Example:
        >>> unknown_target("figures/bacis/all", ["figures/baics/all"], [], False)
        'figures/bacis/all: nothing makes this; did you mean figures/baics/all?'
    """
    path = Path(name)
    folder = path.parts[0] if path.parts else ""
    is_figure = folder in FOLDERS and path.name != "instances.json" and "shard-" not in path.name
    if path.as_posix() in targets or name in rules or (made and not is_figure) or path.is_file():
        return None
    otherwise = "`bestarm list` names targets, as figures/PAPER/TARGET.svg"
    return f"{name}: nothing makes this; {advice(name, [*targets, *rules], otherwise)}"
