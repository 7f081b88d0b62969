"""Printing what a paper holds: its instances, targets, options, strategies and readings.

Nothing heavy is imported here: the lines are kept (`kept`).
"""

import textwrap
from collections.abc import Iterable

from rich.text import Text

from bestarm import registry
from bestarm.users.installed import installed
from bestarm.users.kept import kept
from bestarm.users.output import WIDTH, output


def list_paper(paper: str, every: bool = False) -> None:
    """Print a paper's instances, targets, options and strategies, on a screen of 80 columns.

    Args:
        paper: its name.
        every: all readings of every strategy in place of the default ones.
    """

    def compute() -> list[str]:
        from bestarm.users.paper_lines import paper_lines

        return [*paper_lines(registry.PAPERS[paper], every)]

    lines = kept(paper, "list --all" if every else "list", compute)
    title = f"{paper}: {registry.TITLES[paper]}"
    first, *rest = textwrap.wrap(title, WIDTH, subsequent_indent="  ")
    console = output()
    console.print(Text.assemble((paper, "bold"), first.removeprefix(paper)), soft_wrap=True)
    for line in [*rest, *lines]:
        console.print(line, soft_wrap=True, highlight=False)


def list_installed() -> None:
    """Print the strategies of installed packages, if there are any."""
    for name, point in installed().items():
        output().print(f"installed: {name} ({point.value})", soft_wrap=True, highlight=False)


def few(names: Iterable[str], most: int = 16) -> str:
    """Names in one line; of many the first, and how many more there are."""
    names = list(names)
    left = len(names) - 4
    return ", ".join(names if len(names) <= most else [*names[:4], f"... ({left} more)"])
