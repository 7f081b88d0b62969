"""What is timed of CBMAI."""

import math
from collections.abc import Iterator

import numpy as np

from bestarm.cbmai.problem import Instance, make
from bestarm.cbmai.strategies import READINGS
from bestarm.common.paper import Cell
from timed import Benchmark, Timed


def benchmark_instance(n_arms: int, n_costs: int) -> Instance:
    """Random arms of which some mixture is feasible."""
    rng = np.random.default_rng(0)
    rewards, costs = rng.uniform(0.0, 1.0, n_arms), rng.uniform(0.2, 1.6, (n_costs, n_arms))
    return make(f"K={n_arms} L={n_costs}", rewards, costs)


def n_bases(n_arms: int, n_costs: int) -> int:
    """Bases that SFSR looks at: all of the remaining columns, one column fewer every round."""
    return sum(math.comb(m, n_costs + 1) for m in range(n_costs + 2, n_arms + n_costs + 1))


def growth() -> Iterator[Benchmark]:
    """SFSR's cost against K, beside the bases to look at, which it should grow no faster than."""
    for n_costs, sizes in ((1, (8, 16, 32, 64)), (2, (8, 16, 24, 32)), (3, (8, 12, 16))):
        for n_arms in sizes:
            instance = benchmark_instance(n_arms, n_costs)
            cell = Cell(instance.name, "SFSR", {"budget": 10_000}, "as-written")
            bases = n_bases(n_arms, n_costs)
            runs = max(20, 2_000_000 // bases)
            yield Benchmark(cell, runs, "run", one_run, f"{bases:,} bases a run", instance)


def one_run(outcome) -> int:
    return 1


#: Speed on one of each paper-scale kind of instance, and its growth with the number of arms.
BENCHMARKS = (
    *(
        Benchmark(Cell(instance, strategy, {"budget": budget}, "as-written"), 2000, "run", one_run)
        for instance, budget in (("A2", 2000), ("A2", 10_000), ("D2P", 64_000))
        for strategy in READINGS
    ),
    *growth(),
)

#: Targets whose time from nothing `make bench` measures.
TARGETS = (("fig2", "fig3"), ("fig5",))

#: Likewise, with the replications of --config.
MORE = {"decay": 1_000_000}

TIMED = Timed(BENCHMARKS, TARGETS, MORE)
