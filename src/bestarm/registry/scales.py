"""How many replications each experiment has at each scale: workflow/scales/SCALE.yaml."""

from pathlib import Path
from typing import Any

from pydantic import model_validator

from bestarm import registry
from bestarm.core.inputs import Input, InputError, PositiveInt, load, parse
from bestarm.registry.outline import outlines

SCALES = ("paper", "quick", "smoke")


class Size(Input):
    """Replications of an experiment, and how many of them one shard holds."""

    replications: PositiveInt
    per_shard: PositiveInt

    @model_validator(mode="after")
    def _divides(self):
        # A shard that is not full would change when replications are added.
        if self.replications % self.per_shard:
            raise ValueError(
                f"replications must be a multiple of per_shard, got {self.replications} "
                f"and {self.per_shard}; the next is {(self.shards + 1) * self.per_shard}"
            )
        return self

    @property
    def shards(self) -> int:
        return self.replications // self.per_shard

    def with_replications(self, replications: Any, source: str) -> "Size":
        """As many shards of the same size as hold what was asked for.

        Raises:
            InputError: naming `source`; it is no multiple of per_shard, or no positive integer.
        """
        return parse(Size, {"replications": replications, "per_shard": self.per_shard}, source)


class Scale(Input):
    """One scale: the root seed and the size of every experiment."""

    seed: int
    papers: dict[str, dict[str, Size]]


def read_scale(path: Path) -> Scale:
    """Read a scale file. Raises InputError if an experiment is missing or unknown."""
    scale = load(Scale, path)
    for paper in registry.PAPERS:
        required = set(outlines()[paper].experiments)
        given = set(scale.papers.get(paper, {}))
        for name in sorted(required ^ given):
            problem = (
                "is required" if name in required else f"unknown, allowed are {sorted(required)}"
            )
            raise InputError(f"{path}: papers.{paper}.{name}: {problem}")
    for paper in scale.papers.keys() - registry.PAPERS.keys():
        raise InputError(f"{path}: papers.{paper}: unknown, allowed are {list(registry.PAPERS)}")
    return scale
