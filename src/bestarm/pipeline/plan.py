"""The plan of an experiment: all a shard needs to know, and a hash that names it."""

import hashlib
import json
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from bestarm.common.paper import Cell, Experiment, facts_of
from bestarm.core.files import canonical_json
from bestarm.core.inputs import InputError, parse
from bestarm.core.streams import stream_key
from bestarm.pipeline import registry

#: Columns of every shard that name the cell; with the replication they identify a row.
LABELS = ("instance", "strategy", "setting", "reading", "algorithm")


class Plan(BaseModel):
    """Cells, instances and seed of one experiment. The replication count is not part of it, so
    that more replications extend the old ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paper: str
    experiment: str
    seed: int
    per_shard: int
    cells: list[dict[str, Any]]  # the fields of `Cell`
    instances: dict[str, dict[str, Any]]  # of the cells, by name: {"instance": ..., "truth": ...}

    @property
    def hash(self) -> str:
        return hashlib.sha256(canonical_json(self.model_dump()).encode()).hexdigest()[:16]

    def cell_objects(self) -> list[Cell]:
        return [Cell(**fields) for fields in self.cells]

    def key(self, cell: Cell) -> int:
        """Names the random streams of a cell: strategies and readings share them."""
        return stream_key(self.seed, self.paper, self.experiment, cell.instance, cell.setting_label)

    def facts(self, cell: Cell) -> dict[str, Any]:
        """Instance, setting and options of a cell, as columns beside its labels."""
        known = facts_of(self.instances[cell.instance]["instance"])
        return known | registry.PAPERS[self.paper].simulation.asked(cell)

    @cached_property
    def cell_names(self) -> tuple[str, ...]:
        """The columns of shards that say what a row is of; the others, what came of it."""
        further = {name for cell in self.cell_objects() for name in self.facts(cell)}
        return (*LABELS, *sorted(further))

    def instance(self, name: str):
        """An instance as the paper's own model."""
        model = registry.PAPERS[self.paper].problems.instance
        return parse(model, self.instances[name]["instance"], f"instance {name}")


def make_plan(
    paper: str, experiment: Experiment, seed: int, per_shard: int, instances: dict[str, Any]
) -> Plan:
    """Plan an experiment on the given instances (all those of the paper, or more)."""
    used = {cell.instance for cell in experiment.cells}
    return Plan(
        paper=paper,
        experiment=experiment.name,
        seed=seed,
        per_shard=per_shard,
        cells=[asdict(cell) for cell in experiment.cells],
        instances={name: instances[name] for name in sorted(used)},
    )


def describe_instances(paper: str, instances: dict[str, Any]) -> dict[str, Any]:
    """Each instance with its ground truth, as plain values: the instances.json of a paper."""
    truth = registry.PAPERS[paper].problems.truth
    return {
        name: {"instance": i.model_dump(), "truth": truth(i).model_dump()}
        for name, i in sorted(instances.items())
    }


def plan_from(paper: str, experiment: str, seed: int, per_shard: int, instances: Path) -> Plan:
    """Plan an experiment by name, on the instances of a file that `describe_instances` is in.

    Raises InputError if the paper has none of that name, or the file is missing or damaged.
    """
    if experiment not in (known := registry.PAPERS[paper].experiments):
        raise InputError(f"{experiment}: {paper} has none of that name")
    try:
        described = json.loads(instances.read_bytes())
        return make_plan(paper, known[experiment], seed, per_shard, described)
    except OSError as error:
        raise InputError(f"{instances}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{instances}: is not a file of {paper}'s instances") from None
