"""The figures and tables of the linear bandits paper."""

from bestarm.common.paper import Target
from bestarm.linear import tables

READINGS = ("readings-static", "readings-phased", "readings-rebuilt", "readings-adaptive")
READINGS += ("readings-more-runs", "readings-added")
CONES = {
    "shape": "`arm`, `theta`, `border` of two cones (a direction), or `confidence set` (a corner)",
    "name": "of the arm, the two arms whose cones meet, or the corner",
    "theta1": "first coordinate",
    "theta2": "second coordinate",
}

TARGETS = (
    Target(
        "fig1", "Cones and the confidence set", tables.cones, (), tables.cone_shapes, columns=CONES
    ),
    Target("fig4", "Budget against the dimension", tables.dimensions, ("honest", "closest")),
    Target("fig5", "Pulls of every arm at d = 5", tables.allocation, ("honest", "closest")),
    Target("appendix-a", "G against XY on two examples, and the lemmas", tables.two_examples),
    Target("readings", "Every reading at d = 5", tables.readings, READINGS),
    Target("stopping", "Budgets by how often the stop is tested", tables.stopping, READINGS),
    Target("random-arms", "Budget against the number of arms", tables.random_arms, ("random",)),
)
