"""A cell of the arena, its instance, and the bound that its pulls are compared with."""

from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from bestarm import registry
from bestarm.common.arena import Arena
from bestarm.core.information import needed_information
from bestarm.core.pure_exploration.optimum import characteristic_time


class Entry(NamedTuple):
    """A cell, played at every delta of DELTAS that its instance allows."""

    family: str
    paper: str
    instance: str
    strategy: str
    rule: str
    reading: str


@cache
def arenas() -> dict[str, Arena]:
    """What each paper brings, of those that bring something."""
    return {
        paper: entry.module("arena").ARENA
        for paper, entry in registry.PAPERS.items()
        if find_spec(f"bestarm.{paper}.arena")
    }


def entry_instance(entry: Entry) -> Any:
    """The instance of a cell, as its paper's model."""
    family = arenas()[entry.paper].families[entry.family]
    return next(instance for instance in family.instances if instance.name == entry.instance)


@cache
def entry_time(entry: Entry) -> float:
    """T* of the instance of a cell."""
    arena, instance = arenas()[entry.paper], entry_instance(entry)
    if (time := arena.families[entry.family].time) is not None:
        return time(instance)
    assert arena.problem is not None
    return characteristic_time(*arena.problem(instance)).time


def entry_bound(entry: Entry, delta: float) -> float:
    """T* kl(delta, 1 - delta): mean pulls of every delta-correct strategy are at least this."""
    return entry_time(entry) * needed_information(delta)
