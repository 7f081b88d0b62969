"""Equal pulls at three budgets."""

from bestarm.common.paper import Cell, Experiment

BUDGETS = (10, 20, 40)
EXPERIMENTS = (
    Experiment(
        "errors",
        tuple(
            Cell("two-arms", "Equal", {"cap": b, "coin": 0.0}, "as-written", {}, "budget", float(b))
            for b in BUDGETS
        ),
    ),
)
