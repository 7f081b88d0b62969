"""How the time of a pull grows with the size of a problem: K, L, d, n and the batch."""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from timed.cbmai import benchmark_instance

from bestarm.baics import problem as baics
from bestarm.common.paper import Cell
from bestarm.core.streams import replication_streams, streams_of
from bestarm.delayed.problem import free
from bestarm.lagex import problem as lagex
from bestarm.linear.problem import paper_instance, random_instance
from bestarm.pipeline import registry

#: Each size is run for so many turns, of at least so many seconds in all.
TURNS, SECONDS = 3, 0.3


class Growth(NamedTuple):
    """A strategy on instances that differ in one size."""

    paper: str
    strategy: str
    reading: str
    size: str
    instances: dict[int, Any]  # by the size
    setting: Callable[[int], dict[str, Any]]
    per: str = "pull"
    free: Callable[[int], int] = lambda size: 0  # pulls that cost nothing, drawn first
    at: str = ""  # the other sizes


def measured(papers: list[str]) -> Iterator[tuple[str, float, str, str]]:
    """Measure, value, unit and how of each size."""
    for growth in GROWTHS:
        if growth.paper not in papers:
            continue
        works = {size: work_of(growth, size) for size in growth.instances}
        for work in works.values():
            work(1)  # compiles
        found: dict[int, list[float]] = {size: [] for size in works}
        for _ in range(TURNS):
            for size, work in works.items():
                found[size].append(seconds_of(work))
        for size, seconds in found.items():
            strategy = f"{growth.strategy}, {growth.reading}" if growth.reading else growth.strategy
            measure = f"growth: {growth.paper}: {strategy}: {growth.at}: {growth.size}={size}"
            spent = 1e6 * statistics.median(seconds)
            yield measure, spent, f"us a {growth.per}", f"median of {TURNS}"


def seconds_of(work: Callable[[int], int]) -> float:
    """Seconds a unit of work, over as many runs as take long enough."""
    runs = 1
    while True:
        start = time.perf_counter()
        amount = work(runs)
        if (spent := time.perf_counter() - start) > SECONDS / TURNS:
            return spent / amount
        runs *= 2


def work_of(growth: Growth, size: int) -> Callable[[int], int]:
    """So many runs at a size; the units of work that they took."""
    instance = growth.instances[size]
    cell = Cell(instance.name, growth.strategy, growth.setting(size), growth.reading)
    replicate = registry.PAPERS[growth.paper].simulation.prepare(instance, cell)
    replicate(streams_of(0, 0))

    def work(runs: int) -> int:
        outcomes = [replicate(streams) for streams in replication_streams(1, range(runs))]
        if growth.per == "run":
            return runs
        return max(sum(int(each.tau) - growth.free(size) for each in outcomes), 1)

    return work


def segments(n_arms: int, n_groups: int) -> baics.Instance:
    """Random means."""
    means = np.random.default_rng(0).normal(0.5, 0.5, (n_arms, n_groups))
    return baics.Instance(
        name=f"K={n_arms} L={n_groups}", means=means.tolist(), weights=[1.0] * n_groups
    )


def limited(n_arms: int) -> lagex.Instance:
    """Means from 1 down to 0, and two limits on random halves of the arms."""
    rng = np.random.default_rng(n_arms)
    rows = [(rng.permutation(n_arms) < n_arms // 2).astype(float).tolist() for _ in range(2)]
    return lagex.Instance(
        name=f"K={n_arms}",
        means=np.linspace(1.0, 0.0, n_arms).tolist(),
        constraints=[lagex.Constraint(coefficients=row, at_most=0.5) for row in rows],
    )


def of_baics() -> Iterator[Growth]:
    """500 pulls after the initial ones."""
    arms, groups = (3, 10, 30, 100), (3, 10, 30)
    by_arms = {k: segments(k, 3) for k in arms}
    by_groups = {groups: segments(3, groups) for groups in groups}
    for strategy, reading in (
        ("T-a-SCS", "as-written"),
        ("T-a-SCS", "maximiser+proven"),
        ("FWS", "as-written"),
    ):
        for size, instances, at in (("K", by_arms, "L = 3"), ("L", by_groups, "K = 3")):
            yield Growth(
                "baics", strategy, reading, size, instances,
                lambda n: {"delta": 1e-9, "cap": 15 * n + 500},
                free=lambda n: 15 * n, at=at,
            )  # fmt: skip


def of_linear() -> Iterator[Growth]:
    """20,000 pulls."""
    by_dimension = {d: paper_instance(d) for d in (2, 5, 10, 20)}
    by_arms = {k: random_instance(k, 0) for k in (10, 30, 100)}
    for strategy, reading in (
        ("Fully-Adaptive", "honest"),
        ("LinGapE", "as-written"),
    ):
        for size, instances, at in (("d", by_dimension, "K = d + 1"), ("K", by_arms, "d = 5")):
            yield Growth(
                "linear", strategy, reading, size, instances,
                lambda n: {"delta": 1e-9, "cap": 20_000}, at=at,
            )  # fmt: skip


def of_delayed() -> Iterator[Growth]:
    """20,000 steps."""
    by_arms = {n: free(n) for n in (10, 30, 100, 300)}
    by_batch = {b: free(100) for b in (1, 10, 100)}
    for reading in ("as-written", "guaranteed"):
        yield Growth(
            "delayed", "Partial", reading, "n", by_arms,
            lambda n: {"delta": 0.05, "batch": 10, "cap": 20_000}, "step", at="b = 10",
        )  # fmt: skip
        yield Growth(
            "delayed", "Partial", reading, "b", by_batch,
            lambda b: {"delta": 0.05, "batch": b, "cap": 20_000}, "step", at="n = 100",
        )  # fmt: skip


def of_cbmai() -> Iterator[Growth]:
    """Whole runs of 10,000 pulls."""
    for n_costs, sizes in ((1, (8, 16, 32, 64)), (2, (8, 16, 32)), (3, (8, 16))):
        by_arms = {k: benchmark_instance(k, n_costs) for k in sizes}
        for strategy in ("SFSR", "USLP"):
            yield Growth(
                "cbmai", strategy, "as-written", "K", by_arms,
                lambda k: {"budget": 10_000}, "run", at=f"L = {n_costs}",
            )  # fmt: skip


def of_lagex() -> Iterator[Growth]:
    """1,000 steps."""
    by_arms = {k: limited(k) for k in (4, 8, 16, 24)}
    for strategy in ("LAGEX", "LATS"):
        yield Growth(
            "lagex", strategy, "as-written", "K", by_arms,
            lambda k: {"delta": 1e-9, "r": 0.01, "cap": 1_000}, "step", at="d = 2",
        )  # fmt: skip


GROWTHS = (*of_baics(), *of_linear(), *of_delayed(), *of_cbmai(), *of_lagex())
