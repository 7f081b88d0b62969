"""What is timed of BAICS."""

import numpy as np

from bestarm.baics.cells import PAPER_SETTING, RULES, every_strategy
from bestarm.baics.problem import Instance
from bestarm.common.paper import Cell
from timed import Benchmark, Timed

#: Speed at K = L = 3, T-a-SCS with one supergradient step a pull and with the exact maximiser.
BENCHMARKS = tuple(
    Benchmark(cell, runs=200, per="pull", work=lambda outcome: outcome.tau)
    for cell in every_strategy("example1")
    if "no-half" not in cell.reading
)

#: The same with stopping rules that are proved, and Frank-Wolfe Sampling.
PROVEN = tuple(
    Benchmark(
        Cell("example1", strategy, PAPER_SETTING, reading), 200, "pull", lambda outcome: outcome.tau
    )
    for strategy, reading in (
        *((strategy, proved) for strategy, _, proved in RULES),
        *(("T-a-S", "proven"), ("Uniform", "proven"), ("FWS", "as-written")),
    )
)


def random_instance(n_arms: int, n_groups: int) -> Instance:
    """Random means of arms on subpopulations that count alike."""
    means = np.random.default_rng(0).normal(0.5, 0.5, (n_arms, n_groups))
    name = f"K={n_arms} L={n_groups}"
    return Instance(name=name, means=means.tolist(), weights=[1.0] * n_groups)


LARGE = tuple(
    Benchmark(
        Cell("K=200 L=20", "T-a-SCS", {"delta": 0.1, "cap": 40_000}, reading),
        runs=1,
        per="pull",
        work=lambda outcome: outcome.tau,
        note="half of the pulls are initial draws",
        instance=random_instance(200, 20),
    )
    for reading in RULES[1][1:]
)

TIMED = Timed((*BENCHMARKS, *PROVEN, *LARGE))
