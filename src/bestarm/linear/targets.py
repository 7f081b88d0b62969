"""The figures and tables of the linear bandits paper."""

from bestarm.common.paper import Target
from bestarm.linear import tables
from bestarm.linear.cells import EXPERIMENTS

READING_EXPERIMENTS = tuple(e.name for e in EXPERIMENTS if e.name.startswith("readings"))

TARGETS = (
    Target("fig1", "Cones and the confidence set", tables.cones, (), tables.cone_shapes),
    Target("fig4", "Budget against the dimension", tables.dimensions, ("honest", "closest")),
    Target("fig5", "Pulls of every arm at d = 5", tables.allocation, ("honest", "closest")),
    Target("appendix-a", "G against XY on two examples", tables.two_examples),
    Target("readings", "Every reading at d = 5", tables.readings, READING_EXPERIMENTS),
    Target("random-arms", "Budget against the number of arms", tables.random_arms, ("random",)),
)
