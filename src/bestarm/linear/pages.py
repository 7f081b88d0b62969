"""What linear bandits compute for pages: the fast runs beside their steps."""

from bestarm.common.pages import FastRun, Pages

PAGES = Pages(
    short="linear",
    fast_runs=(
        FastRun(
            ("G", "XY", "XY-Oracle"),
            ("static.run_static", "spaced.run_static_spaced"),
            "the sequence of arms is computed once for all runs; the stopping rule is not "
            "evaluated where it cannot hold",
        ),
        FastRun(
            ("XY-Adaptive", "RAGE"),
            ("phased.run_phased",),
            "the rewards of a phase are one sum per arm",
        ),
        FastRun(
            ("Fully-Adaptive",),
            ("adaptive.run_fully_adaptive", "spaced.run_fully_adaptive_spaced"),
            "the inverse is updated, and arms are not eliminated where none can be",
        ),
        FastRun(("LinGapE",), ("adaptive.run_lingape",), "the inverse is updated"),
    ),
)
