"""How the time of a pull grows with the size of a problem: K, L, d, n and the batch."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from timed import in_turn, replication_of
from timed.baics import random_instance as random_means
from timed.cbmai import benchmark_instance

from bestarm.common.paper import Cell
from bestarm.core.streams import replication_streams
from bestarm.delayed.problem import free
from bestarm.lagex import problem as lagex
from bestarm.linear.problem import paper_instance, random_instance

#: Runs per turn, by unit. Seeding costs as much for one short run as for a block of them.
RUNS = {"pull": 5, "step": 5, "run": 200}


class Growth(NamedTuple):
    """A strategy on instances that differ in one size."""

    paper: str
    strategy: str
    reading: str
    size: str
    instances: dict[int, Any]  # by the size
    setting: Callable[[int], dict[str, Any]]
    per: str = "pull"
    initial: Callable[[int], int] = lambda size: 0  # pulls that nobody chooses, drawn first
    at: str = ""  # the other sizes


def measured(papers: list[str]) -> Iterator[tuple[str, float, str, str]]:
    """Measure, value, unit and how of each size."""
    for growth in GROWTHS:
        if growth.paper in papers:
            seconds = in_turn([work_of(growth, size) for size in growth.instances])
            name = f"{growth.paper}: {growth.strategy}, {growth.reading}: {growth.at}"
            for size, spent in zip(growth.instances, seconds, strict=True):
                measure = f"growth: {name}: {growth.size}={size}"
                yield measure, 1e6 * spent, f"us a {growth.per}", "median of the turns"


def work_of(growth: Growth, size: int) -> Callable[[], int]:
    """A function that makes some runs of a size, on new streams each time, and returns how many
    units of work they took."""
    instance = growth.instances[size]
    cell = Cell(instance.name, growth.strategy, growth.setting(size), growth.reading)
    replicate, runs = replication_of(growth.paper, cell, instance), RUNS[growth.per]
    keys = count(1)

    def work() -> int:
        outcomes = [replicate(streams) for streams in replication_streams(next(keys), range(runs))]
        if growth.per == "run":
            return runs
        return sum(int(each.tau) - growth.initial(size) for each in outcomes)

    return work


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
    by_arms = {k: random_means(k, 3) for k in arms}
    by_groups = {l: random_means(3, l) for l in groups}
    for strategy, reading in (
        ("T-a-SCS", "as-written"),
        ("T-a-SCS", "maximiser+proven"),
        ("FWS", "as-written"),
    ):
        for size, instances, at in (("K", by_arms, "L = 3"), ("L", by_groups, "K = 3")):
            yield Growth(
                "baics", strategy, reading, size, instances,
                lambda n: {"delta": 1e-9, "cap": 15 * n + 500},
                initial=lambda n: 15 * n, at=at,
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
