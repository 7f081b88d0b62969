"""Printing an instance of a paper, or of a user, with its ground truth; or a paper's target.

Nothing heavy is imported here: what is printed of a paper is kept (`kept`).
"""

from typing import Any

from rich.table import Table

from bestarm import registry
from bestarm.core.errors import InputError
from bestarm.registry.names import near_part
from bestarm.users.kept import kept
from bestarm.users.output import output
from bestarm.users.show_target import print_target


def show_named(name: str) -> None:
    """Print PAPER/INSTANCE or PAPER/TARGET. Raises InputError if there is no such thing."""
    paper, _, part = name.partition("/")
    if paper not in registry.PAPERS or not part:
        near = f"`bestarm list {paper}` names those of {paper}"
        if paper not in registry.PAPERS:
            near = near_part(name, f"papers are {', '.join(registry.PAPERS)}")
        raise InputError(f"{name}: must be PAPER/INSTANCE or PAPER/TARGET; {near}")

    def compute() -> dict[str, Any]:
        from bestarm.users.views import part_view

        return part_view(paper, part)

    view = kept(paper, f"show {part}", compute)
    if "instance" in view:
        print_instance(view["instance"])
    if "target" in view:
        print_target(view["target"])


def print_instance(view: dict[str, Any]) -> None:
    """Print an instance's tables, its ground truth, and its lower bound under a setting.

    Args:
        view: what `instance_view` gives.
    """
    console = output()
    for title, columns, rows in view["tables"]:
        grid = Table("", title=title, title_justify="left")
        for column in columns:
            grid.add_column(column, justify="right", overflow="fold")
        for row in rows:
            grid.add_row(*row)
        console.print(grid)
    facts = Table(title=view["title"], title_justify="left", show_header=False)
    for fact in view["facts"]:
        facts.add_row(*fact)
    if facts.row_count:
        console.print(facts)
