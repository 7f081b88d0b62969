"""Strategies of installed packages, by the entry points that name them."""

from importlib.metadata import EntryPoint, entry_points

#: Where installed packages name their strategies.
GROUP = "bestarm.strategies"


def installed() -> dict[str, EntryPoint]:
    """The strategies of installed packages, by name, not loaded yet."""
    return {entry_point.name: entry_point for entry_point in entry_points(group=GROUP)}
