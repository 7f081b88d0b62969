"""The figures and tables of CBMAI."""

from bestarm.cbmai import tables
from bestarm.cbmai.cells import AVERAGE, HARD, TWO_CONSTRAINTS
from bestarm.common.paper import Target

ARMS = {
    "instance": "whose arms",
    "arm": "from 1",
    "cost": "mean cost",
    "reward": "mean reward",
    "weight": "of the arm in the best mixture",
}
MISLED = {
    "panel": "`true`, or `seen` in the run",
    **{name: ARMS[name] for name in ("arm", "cost", "reward")},
    "score": "reduced value; at least 0 where an arm does not improve on the optimal basis",
    "pulls": "of every arm by then",
    "replication": "which run it is",
}
GRID = {
    "arm": "from 1",
    "cost_1": "mean cost under the first constraint",
    "cost_2": "under the second",
}


def errors(name: str, title: str, experiment: str, *drawn: str) -> Target:
    """A target with the error curves of an experiment, and the arms of some of its instances."""
    geometry = tables.tabulate_arms(*drawn) if drawn else None
    columns = ARMS if drawn else {}
    return Target(name, title, tables.errors, (experiment,), geometry, columns=columns)


TARGETS = (
    Target(
        "fig1",
        "Intersection values of five arms",
        tables.scores,
        geometry=tables.tabulate_arms("intersection-values"),
        columns=ARMS,
    ),
    errors("fig2", "Average instances", "average", *AVERAGE),
    errors("fig3", "Hard instances", "hard", *HARD),
    Target(
        "fig4",
        "How SFSR-L fails",
        tables.first_rejections,
        ("hard",),
        tables.misled_run,
        columns=MISLED,
    ),
    Target("fig5", "Two constraints", tables.two_constraints, ("two-constraints",)),
    Target(
        "table1",
        "Rewards and optimal supports",
        tables.rewards(*TWO_CONSTRAINTS),
        geometry=tables.grid("D1P"),
        columns=GRID,
    ),
    Target("rates", "Error exponents and their limits", tables.rates, ("average", "hard")),
    Target("decay", "Decay of the error rate", tables.decay, ("decay",)),
    Target("random-instances", "Random instances", tables.random_instances, ("random",)),
    errors("known-arms", "Some arms known", "known-arms"),
    errors("infeasible", "No feasible mixture", "infeasible"),
    errors("three-constraints", "Three constraints", "three-constraints"),
    Target("patient", "A patient SFSR beside the others", tables.patient, ("patient",)),
)
