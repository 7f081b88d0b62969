"""The papers, in the order figures and claims list them. A new paper is one line here."""

from bestarm.common.paper import Paper

TITLES = {
    "baics": "Best arm identification with fairness constraints on subpopulations (WSC 2023)",
    "linear": "Best-arm identification in linear bandits (NIPS 2014)",
    "delayed": "Best arm identification with delayed feedback (AISTATS 2018)",
    "cbmai": "Constrained best mixed arm identification with a fixed budget",
    "lagex": "Learning to explore with Lagrangians under unknown linear constraints (AISTATS 2026)",
    "bai": "Optimal best arm identification with fixed confidence (COLT 2016)",
}
#: Positive controls: papers that were chosen because they are expected to replicate. Their claims
#: are judged like any other and stand beside the totals (figures/control.csv), never in them.
CONTROLS = tuple(name for name in ("bai",) if name in TITLES)
#: The papers whose claims make the totals.
COUNTED = tuple(name for name in TITLES if name not in CONTROLS)
PAPERS = {name: Paper(name, title) for name, title in TITLES.items()}
#: A target that pages show commands on.
EXAMPLE = "baics/table1"
