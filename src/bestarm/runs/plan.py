"""The plan of an experiment: all a shard needs to know, and a hash that names it."""

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from bestarm.common.paper import Cell, Experiment, Paper, instance_facts
from bestarm.common.user_strategies import UserStrategy
from bestarm.core.files import canonical_json
from bestarm.core.inputs import InputError, parse
from bestarm.core.streams import stream_key
from bestarm.runs.tasks import Task, fact_columns


class Work(NamedTuple):
    """A plan as a shard needs it.

    Args:
        plan: the hash of the plan.
        tasks: one per cell, in order.
        names: the columns of shards that say what a row is of.
    """

    plan: str
    tasks: tuple[Task, ...]
    names: tuple[str, ...]


class Plan(BaseModel):
    """Cells, instances and seed of one experiment. The replication count is not part of it, so
    that more replications extend the old ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paper: str
    experiment: str
    streams: str  # the experiment that names the random streams
    shared_over: str  # a part of the setting that does not name them
    seed: int
    per_shard: int
    cells: tuple[Cell, ...]
    instances: dict[str, dict[str, Any]]  # of the cells, by name: {"instance": ..., "truth": ...}

    @property
    def hash(self) -> str:
        return hashlib.sha256(canonical_json(self.model_dump()).encode()).hexdigest()[:16]

    def work(self, paper: Paper) -> Work:
        """All that a shard needs of the plan, at once; see `tasks`."""
        tasks = self.tasks(paper)
        return Work(self.hash, tasks, fact_columns(tasks))

    def tasks(
        self, paper: Paper, given: Mapping[str, UserStrategy] | None = None
    ) -> tuple[Task, ...]:
        """All cells, in order, each with what its runs need.

        Args:
            paper: the one that the plan names.
            given: users' strategies among the cells, by name.

        Raises:
            InputError: an instance is none of the paper's.
        """
        assert paper.name == self.paper
        model, arguments, users = paper.problems.instance, paper.simulation.arguments, given or {}
        models = {
            name: parse(model, described["instance"], f"instance {name}")
            for name, described in self.instances.items()
        }
        key = partial(stream_key, self.seed, self.paper, self.streams)
        return tuple(
            Task(
                cell=cell,
                key=key(cell.instance, cell.setting_without(self.shared_over)),
                instance=models[cell.instance],
                truth=self.instances[cell.instance]["truth"],
                facts=instance_facts(self.instances[cell.instance]["instance"]) | arguments(cell),
                paper=paper,
                user_strategy=users.get(cell.strategy),
            )
            for cell in self.cells
        )


def make_plan(
    paper: str, experiment: Experiment, seed: int, per_shard: int, instances: dict[str, Any]
) -> Plan:
    """Plan an experiment on the given instances (all those of the paper, or more)."""
    used = {cell.instance for cell in experiment.cells}
    return Plan(
        paper=paper,
        experiment=experiment.name,
        streams=experiment.streams or experiment.name,
        shared_over=experiment.shared_over,
        seed=seed,
        per_shard=per_shard,
        cells=experiment.cells,
        instances={name: instances[name] for name in sorted(used)},
    )


def describe_instances(paper: Paper, instances: dict[str, Any]) -> dict[str, Any]:
    """Each instance with its ground truth, as plain values: the instances.json of a paper."""
    truth = paper.problems.truth
    return {
        name: {"instance": i.model_dump(), "truth": truth(i).model_dump()}
        for name, i in sorted(instances.items())
    }


def plan_from(paper: Paper, experiment: str, seed: int, per_shard: int, instances: Path) -> Plan:
    """Plan an experiment by name, on the instances of a file that `describe_instances` is in.

    Raises InputError if the paper has none of that name, or the file is missing or damaged.
    """
    if experiment not in (experiments := paper.experiments):
        raise InputError(f"{experiment}: {paper.name} has none of that name")
    try:
        described = json.loads(instances.read_bytes())
        return make_plan(paper.name, experiments[experiment], seed, per_shard, described)
    except OSError as error:
        raise InputError(f"{instances}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{instances}: is not a file of {paper.name}'s instances") from None
