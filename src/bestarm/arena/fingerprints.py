"""What the row of a cell depends on, as a hash: a kept row whose hash is the same is not played.

It is a hash of what is computed, see `definitions_hash`: code that moves to another file keeps it.
"""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from bestarm import registry
from bestarm.arena.cells import GENERIC, SUBMITTED, submitted_cells
from bestarm.arena.entries import Entry, arenas, entry_instance, entry_time
from bestarm.arena.runs import CAP, SEED
from bestarm.arena.submissions import submission_file
from bestarm.common.definitions import definitions_hash
from bestarm.core.files import canonical_json
from bestarm.core.pure_exploration.steps import make_rules
from bestarm.core.pure_exploration.strategies import STRATEGIES

#: Another number if rows change for another reason than those that `fingerprint` counts, such as
#: how streams are derived or errors are counted. A test makes some of the kept rows again.
LAW = 1


def playing_code(entry: Entry) -> Iterator[Callable[..., Any]]:
    """The functions and classes that play a cell and say whether an answer is right."""
    paper = registry.PAPERS[entry.paper]
    if entry.reading == GENERIC:
        steps, problem = STRATEGIES[entry.strategy], arenas()[entry.paper].problem
        assert problem is not None
        yield from (steps.start, steps.done, steps.choose, steps.observe, steps.pull)
        yield from (type(steps), make_rules, problem)
        return
    yield from (paper.user_output.correct, paper.problems.truth)
    if entry.reading == SUBMITTED:
        user_strategies = paper.user_strategies
        yield from (type(user_strategies), user_strategies.arguments)
        yield from (
            play for play in (user_strategies.rounds, user_strategies.events) if play is not None
        )
    else:
        yield paper.simulation.prepare


def fingerprint(entry: Entry, level: float, runs: int) -> str:
    """The hash of a cell at a delta or budget: its name, instance, code, and a submission.

    A submission counts with its YAML and the file of its class, not with what that imports.
    """
    arena = arenas()[entry.paper]
    setting = dict(arena.families[entry.family].setting)
    time = None if arena.budgets else f"{entry_time(entry):.6g}"  # as rows have it
    parts = [LAW, SEED, CAP, *entry, level, runs, entry_instance(entry).model_dump(), setting, time]
    parts.append(definitions_hash(*playing_code(entry)))
    if entry.reading == SUBMITTED:
        submission = submitted_cells()[entry]
        parts += [
            submission.model_dump(),
            hashlib.sha256(submission_file(submission).read_bytes()).hexdigest(),
        ]
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:16]
