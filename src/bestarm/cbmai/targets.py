"""The figures and tables of CBMAI."""

from bestarm.cbmai import tables
from bestarm.cbmai.cells import AVERAGE, HARD, TWO_CONSTRAINTS
from bestarm.common.paper import Target


def errors(name: str, title: str, experiment: str, *drawn: str) -> Target:
    """A target with the error curves of an experiment, and the arms of some of its instances."""
    geometry = tables.arms_of(*drawn) if drawn else None
    return Target(name, title, tables.errors, (experiment,), geometry)


TARGETS = (
    Target(
        "fig1",
        "Intersection values of five arms",
        tables.scores,
        geometry=tables.arms_of("intersection-values"),
    ),
    errors("fig2", "Average instances", "average", *AVERAGE),
    errors("fig3", "Hard instances", "hard", *HARD),
    Target("fig4", "How SFSR-L fails", tables.first_rejections, ("hard",), tables.misled_run),
    Target("fig5", "Two constraints", tables.two_constraints, ("two-constraints",)),
    Target(
        "table1",
        "Rewards and optimal supports",
        tables.rewards(*TWO_CONSTRAINTS),
        geometry=tables.grid("D1P"),
    ),
    Target("rates", "Error exponents and their limits", tables.rates, ("average", "hard")),
    Target("decay", "Decay of the error rate", tables.decay, ("decay",)),
    Target("random-instances", "Random instances", tables.random_instances, ("random",)),
    errors("known-arms", "Some arms known", "known-arms"),
    errors("infeasible", "No feasible mixture", "infeasible"),
    errors("three-constraints", "Three constraints", "three-constraints"),
)
