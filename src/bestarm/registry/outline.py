"""What the workflow and scale files need to know of the papers, without importing them."""

from functools import cache
from hashlib import sha256
from typing import NamedTuple

from pydantic import TypeAdapter

from bestarm import registry
from bestarm.common import codehash
from bestarm.common.by_sources import by_sources
from bestarm.common.paper import Paper


class TargetOutline(NamedTuple):
    """A `Target` without its functions."""

    name: str
    title: str
    experiments: tuple[str, ...]
    geometry: bool  # whether it has a table of its geometry
    kept: tuple[str, ...]  # tables under data/ among its inputs


class Outline(NamedTuple):
    """A `Paper` without its functions."""

    experiments: dict[str, str]  # by name, a hash of its cells
    targets: dict[str, TargetOutline]  # by name
    kept: tuple[str, ...]  # tables under data/ that instances are made from


_OUTLINES = TypeAdapter(dict[str, Outline])


def make_outline(paper: Paper) -> Outline:
    """The outline of a paper, which imports it."""
    return Outline(
        {
            name: sha256(repr(experiment.cells).encode()).hexdigest()[:16]
            for name, experiment in paper.experiments.items()
        },
        {
            name: TargetOutline(
                name, target.title, target.experiments, target.geometry is not None, target.kept
            )
            for name, target in paper.targets.items()
        },
        paper.problems.kept,
    )


@cache
def outlines() -> dict[str, Outline]:
    """The outlines of all papers, by name; kept between processes."""

    def compute() -> dict[str, list]:
        every = {name: make_outline(paper) for name, paper in registry.PAPERS.items()}
        return _OUTLINES.dump_python(every, mode="json")

    return _OUTLINES.validate_python(by_sources("outlines", compute))


@cache
def code_hash(*modules: str) -> str:
    """`bestarm.common.codehash.code_hash`, kept between processes."""
    return by_sources(f"code_hash {' '.join(modules)}", lambda: codehash.code_hash(*modules))
