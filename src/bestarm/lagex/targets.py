"""The figures and tables of the LAGEX paper."""

import pandas as pd

from bestarm.common.paper import Cell, Sources, Target
from bestarm.common.tables import cell_rows
from bestarm.core.estimates import exact, stopping_times, undefined
from bestarm.lagex import tables
from bestarm.lagex.cells import SETUP_1, SHORT
from bestarm.lagex.certified import tables as certified
from bestarm.lagex.paper import shapes
from bestarm.lagex.paper.theorems import theorems
from bestarm.lagex.problem import EASIER, setup1
from bestarm.lagex.released import kept
from bestarm.lagex.released.program import PROGRAMS, SWITCHED_OFF, can_be_without, reading_without
from bestarm.lagex.statistics import summarise


def programs(sources: Sources) -> pd.DataFrame:
    """The released programs' kept runs, strategies as written, and the published values."""
    rows = []
    for name, delta, program, runs in kept.runs(sources.instances):
        cell = Cell(name, program, SETUP_1 | {"delta": delta}, "program")
        estimates = summarise(cell, sources.instances[name]["truth"], runs)
        rows += cell_rows(cell, estimates)
    for name, program, shares in kept.rounds():
        cell = Cell(name, program, {}, "program")
        rows += cell_rows(cell, [exact(which, "share", share) for which, share in shares.items()])
    return tables.programs(sources, pd.DataFrame(rows))


def peculiarities(sources: Sources) -> pd.DataFrame:
    """Stopping times of the released programs on setup 1 easy, with and without peculiarities.

    All runs end at the cap of those without. A program that has not been run without one of its
    peculiarities has an undefined median of no runs.
    """
    easy = setup1(EASIER).name
    rows = []
    for without in SWITCHED_OFF:
        by_program = {
            program: kept.stopped_at(SHORT["cap"], runs)
            for _, delta, program, runs in kept.runs({easy: sources.instances[easy]}, without)
            if delta == SHORT["delta"]
        }
        for program in PROGRAMS:
            if can_be_without(program, without):
                cell = Cell(easy, program, SHORT, reading_without(without))
                none = [undefined("median_stopping_time", "steps", 0)]
                times = (
                    stopping_times(*by_program[program], "steps") if program in by_program else none
                )
                rows += cell_rows(cell, times)
    return tables.peculiarities(sources, pd.DataFrame(rows))


POLICY = {"pi1": "weight of arm 1", "pi2": "of arm 2", "pi3": "of arm 3"}
KIND = "`feasible`: a vertex of the feasible set; or the `best policy`"
REGIONS = POLICY | {"epsilon": "by how much the active constraint is tightened", "kind": KIND}
ESTIMATED = POLICY | {"round": "of the run; 0 for the true set", "kind": KIND}
RAYS = {
    "round": "of the run; 0 for the true cone",
    "kind": "a ray that spans the cone, or the projected means",
    "x": "first coordinate in the plane of the simplex",
    "y": "second coordinate",
}
READINGS = ("hard", "easy", "imdb", "readings", "readings-full", "readings-added")
SENSITIVITY = (*READINGS, "sensitivity")
SETUP_2 = ("setup-2-hard", "setup-2-easy", "setup-2-hard-delta", "setup-2-easy-delta")
TARGETS = (
    Target(
        "fig1",
        "A tightened constraint",
        tables.perturbation,
        geometry=shapes.regions,
        columns=REGIONS,
    ),
    Target(
        "fig2",
        "The optimistic feasible set over time",
        shapes.estimated_sets,
        geometry=shapes.estimated_regions,
        columns=ESTIMATED,
    ),
    Target(
        "fig3",
        "Normal cones over time",
        shapes.normal_cones,
        geometry=shapes.cone_rays,
        columns=RAYS,
    ),
    Target("fig4", "Lower bounds and LAGEX over the third mean", tables.sweep, ("sweep",)),
    Target("fig5", "Stopping times, setup 1 hard", tables.times("fig5"), ("hard",)),
    Target("fig6", "Stopping times, setup 1 easy", tables.times("fig6"), ("easy",)),
    Target("fig7", "Stopping times, IMDB", tables.times("fig7"), ("imdb",)),
    Target("fig8", "Violations, setup 1 hard", tables.violations("fig8"), ("hard",)),
    Target("fig9", "Violations, setup 1 easy", tables.violations("fig9"), ("easy",)),
    Target("fig10", "Violations, setup 2 hard", tables.violations("fig10"), ("setup-2-hard",)),
    Target("fig11", "Violations, setup 2 easy", tables.violations("fig11"), ("setup-2-easy",)),
    Target(
        "fig10-delta",
        "Violations, setup 2 hard, at the other delta",
        tables.violations("fig10"),
        ("setup-2-hard-delta",),
    ),
    Target(
        "fig11-delta",
        "Violations, setup 2 easy, at the other delta",
        tables.violations("fig11"),
        ("setup-2-easy-delta",),
    ),
    Target("fig12", "Violations, IMDB", tables.violations("fig12"), ("imdb",)),
    Target(
        "shares",
        "What is recommended in the end",
        tables.shares,
        ("hard", "easy", "setup-2-hard", "setup-2-easy", "imdb"),
    ),
    Target("theorems", "Both sides of Theorems 1, 2 and 4 and of Proposition 1", theorems),
    Target("example", "The example of docs/usage.md", tables.example, ("example",)),
    Target("readings", "Every reading", tables.readings, READINGS),
    Target("sensitivity", "What moves LAGEX's median", tables.sensitivity, SENSITIVITY),
    Target(
        "programs",
        "The released programs, strategies as written and what is published",
        programs,
        ("hard", "easy", *SETUP_2, "imdb"),
        kept=kept.TABLES,
    ),
    Target(
        "peculiarities",
        "The released programs on setup 1 easy with one of their peculiarities switched off",
        peculiarities,
        ("easy",),
        kept=(kept.RUNS,),
    ),
    Target(
        "imdb-spread",
        "IMDB with the ratings' own spread",
        tables.spread,
        ("imdb", "imdb-spread"),
    ),
    Target(
        "certified",
        "Certified: right answers to unknown constraints, and what they cost",
        certified.tabulate,
        ("certified",),
        kept=(certified.TIMES, certified.ERRORS),
    ),
)
