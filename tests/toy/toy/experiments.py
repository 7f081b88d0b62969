"""The error rate against the budget."""

import numpy as np
import pandas as pd

from bestarm.common.paper import Benchmark, Cell, Experiment, Sources, Target
from bestarm.common.tables import assemble
from bestarm.core.estimates import Estimate, correctness

BUDGETS = (10, 20, 40)
EXPERIMENTS = (
    Experiment(
        "errors",
        tuple(
            Cell("two-arms", "Equal", {"cap": b}, "as-written", x_name="budget", x=float(b))
            for b in BUDGETS
        ),
    ),
)
BENCHMARKS = (Benchmark(EXPERIMENTS[0].cells[0], 100, "pull", lambda outcome: outcome.tau),)
OWN_STATISTICS = {"error_rate": "error rate"}


def summarise(cell: Cell, truth: dict, runs: dict[str, np.ndarray]) -> list[Estimate]:
    return correctness(runs["answer"] == truth["answer"])


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    return []


def describe(instance, truth: dict) -> dict[str, pd.DataFrame]:
    return {instance.name: pd.DataFrame({"mean": instance.means})}


def errors(sources: Sources) -> pd.DataFrame:
    return assemble(sources.summary)


def curve(sources: Sources) -> pd.DataFrame:
    """A geometry beside the table: any columns, drawn as they are."""
    return pd.DataFrame({"x": BUDGETS, "y": 0.5})


TARGETS = (Target("fig1", "Errors", errors, ("errors",), geometry=curve),)
