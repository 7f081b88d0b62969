"""What is simulated for the delayed feedback paper, and what is printed of a person's instance."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from bestarm.common.paper import Benchmark, Cell, Experiment, Target
from bestarm.core.estimates import (
    LEVEL,
    Estimate,
    correctness,
    mean,
    proportion,
    ratio_of_means,
    stopping_times,
)
from bestarm.core.status import Status
from bestarm.delayed import tables
from bestarm.delayed.problem import DELAYS, MODELS, SIGMAS_P, SIZES, Instance
from bestarm.delayed.strategies import readings_of

#: Section 5: delta, and b = r = 10 in parallel.
SEQUENTIAL, PARALLEL = {"batch": 1, "delta": 0.05}, {"batch": 10, "delta": 0.05}
SETTINGS = (SEQUENTIAL, PARALLEL)
#: Side by side in Figure 1, and those of racing on rewards alone.
SHOWN = ("as-written", "as-published", "guaranteed")
ALONE = ("as-written", "as-published", "survivors")
#: All of Figure 1's: with the published union bound alone, and the printed Lemma 1, twice as tight.
FIGURE_1 = (*SHOWN, "survivors", "as-written+sigma", "as-published+sigma")
#: Sequential runs on cuts may take more steps than the cap that runs have by default.
CUTS = tuple(setting | {"cap": 100_000_000} for setting in SETTINGS)
#: How long confidence bounds are watched: some 250 pulls an arm.
WATCHED = {"batch": 1, "cap": 5000, "delta": 0.05}
WATCHED_READINGS = ("as-written", "published-split", "guaranteed")


def points(
    names: Iterable[str], x_name: str, values: Iterable[float], shown: tuple[str, ...] = SHOWN
) -> Iterator[Cell]:
    """The cells of a column of Figure 1, both rows, or of Figure 2."""
    for name, x in zip(names, values, strict=True):
        for setting in SETTINGS:
            for reading in shown:
                yield Cell(name, "Partial", setting, reading, x_name=x_name, x=float(x))
            for reading in ALONE:
                yield Cell(name, "Full", setting, reading, x_name=x_name, x=float(x))


def coverage() -> Iterator[Cell]:
    """Bounds watched on two arms alike, for both multipliers."""
    for sigma in ("", "+sigma"):
        yield Cell("alike, unbiased", "Full", WATCHED, f"as-written{sigma}")
        for instance in ("alike, unbiased", "alike, biased"):
            for reading in WATCHED_READINGS:
                yield Cell(instance, "Partial", WATCHED, f"{reading}{sigma}")


EXPERIMENTS = (
    Experiment(
        "arms",
        tuple(
            cell
            for family in ("bounded", "free")
            for cell in points((f"{family} n={n}" for n in SIZES), "n", SIZES, FIGURE_1)
        ),
    ),
    Experiment(
        "delays",
        tuple(points((f"delays D={d}" for d in DELAYS), "D", DELAYS, FIGURE_1)),
    ),
    Experiment(
        "readings",
        tuple(
            Cell(instance, "Partial", setting, reading)
            for instance in ("bounded n=10", "free n=100")
            for setting in SETTINGS
            for reading in readings_of("Partial")
        ),
    ),
    Experiment(
        "models",
        tuple(
            Cell(f"{model}{random}", "Partial", setting, reading)
            for random in ("", ", random delay")
            for model in MODELS
            for setting in SETTINGS
            for reading in SHOWN
        ),
    ),
    Experiment("coverage", tuple(coverage())),
    Experiment(
        "battery",
        tuple(points((f"battery sigma_p={s:g}" for s in SIGMAS_P), "sigma_p", SIGMAS_P)),
    ),
    Experiment(
        "mip",
        tuple(
            Cell("mip", strategy, setting, reading)
            for setting in CUTS
            for strategy, names in (("Partial", SHOWN), ("Full", ALONE))
            for reading in names
        ),
    ),
)


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
    tau, alone = runs["tau"], runs["tau_full"]
    found = [
        *stopping_times(tau, runs["status"], "steps", level),
        *correctness((runs["answer"] == truth["answer"]).all(axis=1), level),
        mean("pulls_finished", "pulls", runs["finished"].sum(axis=1), level=level),
        mean("pulls_cancelled", "pulls", runs["cancelled"].sum(axis=1), level=level),
        proportion("share_missed", int(runs["missed"].sum()), tau.size, level),
    ]
    if cell.strategy == "Full":
        return found
    capped = (runs["status"] == Status.CAPPED) | (runs["full_status"] == Status.CAPPED)
    status = "restricted" if capped.any() else ""
    return [
        *found,
        ratio_of_means("time_ratio", tau, alone, status, level),
        mean("mean_time_ratio", "", tau / alone, status, level),
        proportion("share_slower", int((tau > alone).sum()), tau.size, level),
    ]


def _speed(setting: dict, reading: str, instance: str, runs: int) -> Benchmark:
    cell = Cell(instance, "Partial", setting, reading)
    note = "the same run on rewards alone is remembered from the first"
    return Benchmark(cell, runs, "step", lambda outcome: outcome.tau, note)


#: Time a simulated step with partial feedback, the split of delta optimised at each.
BENCHMARKS = tuple(
    _speed(setting, reading, instance, 10)
    for setting in SETTINGS
    for instance in ("free n=100", "biased")
    for reading in ("as-written", "guaranteed")
)

#: Targets whose time from nothing `make bench` measures.
TIMED_TARGETS = (("fig1",), ("fig2",), ("mip",))
#: The kept tables by the rules that make them, whose time bench.py measures.
TIMED_TABLES = {"battery": "data/battery/policies.csv", "mip": "data/mip/traces.parquet"}

#: What `bestarm run` prints of a person's own instance, and how it heads the columns.
OWN_STATISTICS = {
    "mean_stopping_time": "mean steps",
    "median_stopping_time": "median steps",
    "error_rate": "error rate",
    "pulls_finished": "pulls finished",
    "pulls_cancelled": "cancelled",
    "share_capped": "share capped",
}

bounds = tables.bounds


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: arms with mean, gap, delay, and who is in the top k."""
    arms = instance.model
    frame = pd.DataFrame({"mean reward": arms.means}, index=instance.arm_names)
    if truth["gaps"] is not None:
        frame["gap"] = truth["gaps"]
    same = (arms.low == arms.high).all()
    frame["delay"] = (
        arms.low if same else [f"{a}-{b}" for a, b in zip(arms.low, arms.high, strict=True)]
    )
    if instance.feedback == "biased":
        frame["bias"] = arms.bias
    chosen = set(truth["answer"])
    frame[f"top {instance.top}"] = ["yes" if a + 1 in chosen else "" for a in range(len(frame))]
    sigmas = sorted({min(instance.sigma), max(instance.sigma)})
    noise = "sigma = " + " to ".join(f"{sigma:g}" for sigma in sigmas)
    if instance.sigma_p:
        noise += f", sigma_p = {instance.sigma_p:g}"
    return {f"{instance.name}: {instance.feedback} feedback, delays in time steps ({noise})": frame}


TARGETS = (
    Target(
        "fig1", "Time with partial feedback over time without", tables.figure_1, ("arms", "delays")
    ),
    Target(
        "readings",
        "Every reading on two instances",
        tables.only("time_ratio", "error_rate", "mean_stopping_time"),
        ("readings",),
    ),
    Target(
        "models",
        "The four models of feedback",
        tables.only("time_ratio", "error_rate", "mean_stopping_time", "share_slower"),
        ("models",),
    ),
    Target("coverage", "Confidence bounds that fail", tables.only("share_missed"), ("coverage",)),
    Target(
        "fig2",
        "Battery charging: time with forecasts of a cell's life over time without",
        tables.figure_2,
        ("battery",),
        tables.arms_of("battery"),
    ),
    Target(
        "mip",
        "Cut strategies: time with forecasts of the final bound over time without",
        tables.cut_strategies,
        ("mip",),
        tables.arms_of("mip"),
    ),
)
