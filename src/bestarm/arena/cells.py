"""The list of cells: strategy x rule x instance."""

from collections.abc import Iterator
from functools import cache

from bestarm.arena.entries import Entry, arenas, entry_bound, entry_time
from bestarm.arena.submissions import Submission, submissions
from bestarm.common.arena import Family

#: Strategies of core/pure_exploration that play; the list has no place for the others.
PLAYED = ("TrackAndStop", "FrankWolfe", "TopTwo", "Game")
#: The list is at most so long, without submissions; bounds on mean pulls are at most so large.
MOST_CELLS, MOST_PULLS = 170, 3000.0
DELTAS = (0.1, 0.01)
#: Rules: proved here or by their authors, and the paper's own.
PROVEN, WRITTEN = "proven", "as written"
#: The reading of strategies that are not a paper's own.
GENERIC, SUBMITTED = "generic", "submitted"


def entry_deltas(entry: Entry) -> list[float]:
    """Those at which the bound is small enough."""
    return [delta for delta in DELTAS if entry_bound(entry, delta) <= MOST_PULLS]


def cells() -> list[Entry]:
    """The cells of this package's strategies, family by family."""
    every = [
        entry
        for paper, arena in arenas().items()
        if not arena.budgets
        for name, family in arena.families.items()
        for entry in _of_family(name, paper, family)
    ]
    families = list(dict.fromkeys(entry.family for entry in every))
    return sorted(every, key=lambda entry: families.index(entry.family))


def budget_cells() -> list[tuple[Entry, int]]:
    """The cells of strategies with a fixed budget, each with its budgets."""
    return [
        (entry, budget)
        for paper, arena in arenas().items()
        for name, family in arena.families.items()
        for entry in _of_family(name, paper, family)
        for budget in arena.budgets
    ]


def smallest_cells() -> list[Entry]:
    """Every proven rule on the instance of its family that has the smallest bound."""
    proven = [e for e in (*cells(), *submitted_cells()) if e.rule == PROVEN]
    least: dict[str, Entry] = {}
    for entry in proven:
        if entry.family not in least or entry_time(entry) < entry_time(least[entry.family]):
            least[entry.family] = entry
    return [entry for entry in proven if entry.instance == least[entry.family].instance]


def _of_family(name: str, paper: str, family: Family) -> Iterator[Entry]:
    for instance in family.instances:
        for strategy, reading in family.proven.items():
            yield Entry(name, paper, instance.name, strategy, PROVEN, reading)
        for strategy in PLAYED if family.generic else ():
            yield Entry(name, paper, instance.name, strategy, PROVEN, GENERIC)
        for strategy, reading in family.written.items():
            yield Entry(name, paper, instance.name, strategy, WRITTEN, reading)


@cache
def submitted_cells() -> dict[Entry, Submission]:
    """The cells of submissions: all instances of the papers that they name."""
    return {
        Entry(family, paper, instance.name, submission.name, rule, SUBMITTED): submission
        for submission in submissions()
        for paper in submission.papers
        if paper in arenas() and not arenas()[paper].budgets
        for family, arena_family in arenas()[paper].families.items()
        for instance in arena_family.instances
        for rule in [PROVEN if submission.promise == "proven" else WRITTEN]
    }
