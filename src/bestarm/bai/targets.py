"""The figures and tables of best-arm identification."""

from bestarm.bai import tables
from bestarm.common.paper import Target

TARGETS = (
    Target("table1", "Draws in Table 1", tables.table1, ("table1", "readings")),
    Target("proportions", "Shares of pulls and w*", tables.proportions, ("table1", "readings")),
    Target("proven", "What a proved threshold costs", tables.proven, ("table1", "proven")),
    Target("asymptotics", "Draws as delta shrinks", tables.asymptotics, ("sweep",)),
    Target(
        "standard",
        "Our stopping rules beside those of the literature",
        tables.standard,
        kept=(tables.STANDARD,),
    ),
    Target("boundary", "Wrong answers at the boundary", tables.boundary, ("boundary",)),
)
