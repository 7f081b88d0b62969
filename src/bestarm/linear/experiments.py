"""What is simulated for the linear bandits paper, and what is printed of a person's instance."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bestarm.common.paper import Benchmark, Cell, Experiment, Target
from bestarm.core.estimates import LEVEL, Estimate, correctness, mean, stopping_times
from bestarm.linear import tables
from bestarm.linear.problem import DIMENSIONS, SEEDS, SIZES, Instance
from bestarm.linear.strategies import CHOICES, CLOSEST, STRATEGIES, grid

#: Section 6's delta; a run that reaches the cap is counted as capped.
PAPER_SETTING = {"delta": 0.05, "cap": 20_000_000}
GRID_SETTING = {"delta": 0.05, "cap": 3_000_000}
#: Readings that let every arm come back need far more than is published: a lower cap shows it.
REBUILT_SETTING = {"delta": 0.05, "cap": 400_000}
#: XY-Oracle stopped by estimated gaps, the rest as under the honest reading.
HONEST_EMPIRICAL = "sqrt2*logn+two-step+empirical"


def dimension(strategy: str, reading: str, d: int) -> Cell:
    """A point of Figure 4."""
    return Cell(f"d={d}", strategy, PAPER_SETTING, reading, x_name="d", x=float(d))


def honest() -> Iterator[Cell]:
    """Every strategy under the reading that is valid for it, in every dimension."""
    for d in DIMENSIONS:
        for strategy in STRATEGIES:
            yield dimension(strategy, "honest" if strategy in CLOSEST else "as-written", d)
        yield dimension("XY-Oracle", HONEST_EMPIRICAL, d)


def readings(strategies: tuple[str, ...], rebuilt: bool | None = None) -> Iterator[Cell]:
    """Every reading of some strategies at d = 5; `rebuilt` ones alone, or none of them."""
    for strategy in strategies:
        for reading in grid(strategy):
            if rebuilt is None or reading.endswith("rebuilt") == rebuilt:
                setting = REBUILT_SETTING if rebuilt else GRID_SETTING
                yield Cell("d=5", strategy, setting, reading)


def random_arms() -> Iterator[Cell]:
    """Every strategy on random unit vectors, ever more of them."""
    for n_arms in SIZES:
        for seed in SEEDS:
            for strategy in STRATEGIES:
                reading = "honest" if strategy in CLOSEST else "as-written"
                name = f"random K={n_arms} seed={seed}"
                yield Cell(name, strategy, PAPER_SETTING, reading, x_name="K", x=float(n_arms))


EXPERIMENTS = (
    Experiment("honest", tuple(honest())),
    Experiment("closest", tuple(dimension(s, "closest", d) for d in DIMENSIONS for s in CLOSEST)),
    Experiment("readings-static", tuple(readings(("G", "XY", "XY-Oracle")))),
    Experiment("readings-phased", tuple(readings(("XY-Adaptive",), rebuilt=False))),
    Experiment("readings-rebuilt", tuple(readings(("XY-Adaptive",), rebuilt=True))),
    Experiment("readings-adaptive", tuple(readings(("Fully-Adaptive",)))),
    Experiment("random", tuple(random_arms())),
)
READING_EXPERIMENTS = tuple(e.name for e in EXPERIMENTS if e.name.startswith("readings"))


def summarise(
    cell: Cell, truth: dict, runs: dict[str, np.ndarray], level: float = LEVEL
) -> list[Estimate]:
    """The statistics of one cell.

    Args:
        cell: what was run.
        truth: of its instance, as in instances.json.
        runs: columns of the shards, see `strategies.Outcome`.
        level: of intervals.
    """
    by_arm = runs["pulls"].T if truth["arms"] <= tables.MOST_ARMS_SHOWN else ()
    return [
        *stopping_times(runs["tau"], runs["status"], level=level),
        *correctness(runs["answer"] == truth["answer"], level),
        *(
            mean(f"mean_pulls:x{arm}", "pulls", pulls, level=level)
            for arm, pulls in enumerate(by_arm, 1)
        ),
    ]


def _speed(d: int, strategy: str, reading: str, runs: int) -> Benchmark:
    whole = strategy in ("XY-Adaptive", "XY-Oracle", "RAGE")
    setting = PAPER_SETTING if whole else {"delta": 0.05, "cap": 400_000}
    cell = Cell(f"d={d}", strategy, setting, reading)
    return Benchmark(cell, runs, "pull", lambda outcome: outcome.tau)


#: Speed at d = 5 and against d. Strategies that go pull by pull are stopped early by a cap.
BENCHMARKS = tuple(
    _speed(d, strategy, "honest" if strategy in CLOSEST else "as-written", 20)
    for d in (2, 5, 10)
    for strategy in CHOICES
)

#: What `bestarm run` prints of a person's own instance, and how it heads the columns.
OWN_STATISTICS = {
    "mean_stopping_time": "mean pulls",
    "median_stopping_time": "median pulls",
    "error_rate": "error rate",
    "share_capped": "share capped",
}

bounds = tables.bounds


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: arms with mean and gap, and the optimal designs."""
    known = truth["complexity"]
    arms = pd.DataFrame(instance.arms, index=instance.arm_names)
    arms.columns = [f"feature {i + 1}" for i in range(arms.shape[1])]
    arms["mean reward"] = arms.to_numpy() @ instance.theta
    arms["gap"] = truth["gaps"]
    shares = {"G": "g_design", "XY": "xy_design", "XY-Oracle": "oracle_design"}
    designs = pd.DataFrame(
        {name: known[field] for name, field in shares.items()}, index=instance.arm_names
    )
    return {
        f"{instance.name}: arms (sigma = {instance.sigma:g})": arms,
        "optimal designs: share of pulls": designs,
    }


TARGETS = (
    Target("fig1", "Cones and the confidence set", tables.cones, (), tables.cone_shapes),
    Target("fig4", "Budget against the dimension", tables.dimensions, ("honest", "closest")),
    Target("fig5", "Pulls of every arm at d = 5", tables.allocation, ("honest", "closest")),
    Target("appendix-a", "G against XY on two examples", tables.two_examples),
    Target("readings", "Every reading at d = 5", tables.readings, READING_EXPERIMENTS),
    Target("random-arms", "Budget against the number of arms", tables.random_arms, ("random",)),
)
