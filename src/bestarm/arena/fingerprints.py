"""What the row of a cell depends on, as a hash: a kept row whose hash is the same is not played."""

import hashlib
from collections.abc import Iterator

from bestarm.arena.cells import GENERIC, SUBMITTED, submitted_cells
from bestarm.arena.entries import Entry
from bestarm.arena.submissions import source_of
from bestarm.common.codehash import code_hash, source_hash
from bestarm.core.files import canonical_json
from bestarm.core.pure_exploration.strategies import STRATEGIES
from bestarm.pipeline import registry

#: Modules behind every row, with what they import.
SHARED = (
    "bestarm.core.estimates",
    "bestarm.core.information",
    "bestarm.core.pure_exploration.optimum",
    "bestarm.core.streams",
)
#: A table of strategies that papers import; a cell counts the modules of its own line alone.
TABLES = ("bestarm.core.pure_exploration.strategies",)
#: Modules that import all papers; they count alone.
ALONE = ("bestarm.arena.entries", "bestarm.arena.runs")


def modules(entry: Entry) -> Iterator[str]:
    """Modules behind the row of a cell, which count with what they import."""
    yield from SHARED
    yield f"bestarm.{entry.paper}.arena"
    if entry.reading == GENERIC:
        steps = STRATEGIES[entry.strategy]
        for step in (steps.start, steps.done, steps.choose, steps.observe, steps.pull):
            yield step.__module__
        return
    yield registry.PAPERS[entry.paper].own.correct.__module__
    yield f"bestarm.{entry.paper}.{'custom' if entry.reading == SUBMITTED else 'strategies'}"


def fingerprint(entry: Entry, level: float, runs: int) -> str:
    """The hash of a cell at a delta or budget: its name, the code it uses, and a submission.

    A submission counts with its YAML and the file of its class, not with what that imports.
    """
    code = [code_hash(*sorted(set(modules(entry))), without=TABLES), *map(source_hash, ALONE)]
    parts = [*entry, level, runs, *code]
    if entry.reading == SUBMITTED:
        one = submitted_cells()[entry]
        parts += [one.model_dump(), hashlib.sha256(source_of(one).read_bytes()).hexdigest()]
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:16]
