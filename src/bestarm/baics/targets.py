"""The figures and tables of BAICS."""

from bestarm.baics.tables import (
    RUN_STATISTICS,
    allocation,
    asymptotics,
    boundary,
    comparison,
    complexity,
    guarantee,
    no_feasible_arm,
    proven,
    proven_asymptotics,
    rates_asymptotics,
    step_size,
    tracking,
    two_stage,
)
from bestarm.common.paper import Target
from bestarm.common.tables import assemble

TARGETS = (
    Target(
        "table1", "Stopping times in example 1", comparison("example1", "table1"), ("example1",)
    ),
    Target("fig1", "Sample allocation in example 1", allocation("example1"), ("example1",)),
    Target(
        "example2", "Stopping times in example 2", comparison("example2", "example2"), ("example2",)
    ),
    Target("fig2", "Sample allocation in example 2", allocation("example2"), ("example2",)),
    Target("complexity", "Complexity with and without constraints", complexity),
    Target("asymptotics", "Stopping time as delta shrinks", asymptotics, ("confidence-sweep",)),
    Target("step-size", "Step size of T-a-SCS", step_size, ("step-sweep", "example1")),
    Target(
        "no-feasible-arm",
        "An instance without a feasible arm",
        no_feasible_arm,
        ("no-feasible-arm",),
    ),
    Target("two-stage", "Feasibility first, then the best", two_stage, ("two-stage",)),
    Target(
        "segments",
        "Wrong stops against the number of subpopulations",
        lambda sources: assemble(sources.summary[sources.summary.statistic.isin(RUN_STATISTICS)]),
        ("segments",),
    ),
    Target(
        "guarantee",
        "Wrong answers and stopping times with a rule that is proved",
        guarantee,
        ("guarantee",),
    ),
    Target("proven", "Stopping times with rules that are proved", proven, ("proven",)),
    Target("boundary", "Wrong answers at the boundary", boundary, ("boundary",)),
    Target(
        "proven-asymptotics",
        "Stopping time of proved rules as delta shrinks",
        proven_asymptotics,
        ("guarantee-sweep", "confidence-sweep"),
    ),
    Target(
        "rates-asymptotics",
        "Stopping time on rates as delta shrinks",
        rates_asymptotics,
        ("rates-sweep",),
    ),
    Target("tracking", "How far pulls stray from what they track", tracking),
)
