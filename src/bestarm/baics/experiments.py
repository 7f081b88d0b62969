"""What is simulated for the BAICS paper, and how summaries become its figures' tables."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from bestarm.baics.problem import EPSILONS, SEGMENTS, VARIANTS, Instance, epsilon_family, segments
from bestarm.baics.strategies import readings_of
from bestarm.baics.tracking import TRACKED_RUNS, tracking_errors
from bestarm.common.paper import Benchmark, Cell, Experiment, Sources, Target
from bestarm.common.tables import assemble, cell_rows, published_rows
from bestarm.core.estimates import (
    LEVEL,
    Estimate,
    correctness,
    exact,
    mean,
    proportion,
    ratio_of_independent_means,
    stopping_times,
)
from bestarm.core.information import error_information
from bestarm.core.status import Status

PAPER_SETTING = {"delta": 0.1, "cap": 15_000}
DELTAS = tuple(10.0**-e for e in range(1, 9))
STEPS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
RUN_STATISTICS = (
    *("mean_stopping_time", "median_stopping_time", "quartile_25", "quartile_75"),
    *("share_capped", "prob_correct", "error_rate", "wrong_stops"),
)
#: The strategies of Section 5; Two-stage is only argued against, in Section 3.2.
COMPARED = ("T-a-SCS", "T-a-S", "Uniform")
#: How often T-a-SCS stops wrongly is looked at up to here.
SEGMENT_SETTING = {"delta": 0.05, "cap": 10_000}
NO_CAP_SETTING = {"delta": 0.1, "cap": None}
#: Values of epsilon at which Two-stage is run: 0.32, 0.1, 0.032 and 0.01.
WASTEFUL = EPSILONS[1:9:2]


def every_strategy(instance: str) -> tuple[Cell, ...]:
    """Every strategy under every reading that changes it, as in Section 5."""
    return tuple(
        Cell(instance, strategy, PAPER_SETTING, reading)
        for strategy in COMPARED
        for reading in readings_of(strategy)
    )


def confidence_sweep() -> Iterator[Cell]:
    """Theorem 4.1: ever smaller delta, no cap."""
    for cell in every_strategy("example1"):
        for delta in DELTAS:
            setting = {"delta": delta, "cap": None}
            yield Cell(cell.instance, cell.strategy, setting, cell.reading, x_name="delta", x=delta)


def step_sweep() -> Iterator[Cell]:
    """What the paper leaves free in T-a-SCS: step size, steps a pull, and how ties are broken."""
    for reading in ("as-written", "no-half"):
        for step in STEPS:
            for inner_steps, tie_coins in ((1, True), (1, False), (5, True), (20, True)):
                options = {"step": step, "inner_steps": inner_steps, "tie_coins": tie_coins}
                yield Cell("example1", "T-a-SCS", PAPER_SETTING, reading, options, "step", step)


def wasteful() -> Iterator[Cell]:
    """Section 3.2, second variant: feasibility that need not be told gets ever harder to tell."""
    for epsilon in WASTEFUL:
        for strategy in ("T-a-SCS", "Two-stage"):
            name = epsilon_family("easy-gap", epsilon).name
            yield Cell(name, strategy, NO_CAP_SETTING, "as-written", {}, "epsilon", epsilon)


def over_segments() -> Iterator[Cell]:
    """Two arms on ever more subpopulations."""
    for count in SEGMENTS:
        x = {"x_name": "segments", "x": float(count)}
        yield Cell(segments(count).name, "T-a-SCS", SEGMENT_SETTING, "as-written", **x)


EXPERIMENTS = (
    Experiment("example1", every_strategy("example1")),
    Experiment("example2", every_strategy("example2")),
    Experiment("no-feasible-arm", every_strategy("no-feasible-arm")),
    Experiment("confidence-sweep", tuple(confidence_sweep())),
    Experiment("step-sweep", tuple(step_sweep())),
    Experiment("two-stage", tuple(wasteful())),
    Experiment("segments", tuple(over_segments())),
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
    right, stopped = runs["answer"] == truth["answer"], runs["status"] == Status.STOPPED
    shares = (runs["pulls"] / runs["tau"][:, None]).T
    by_arm = shares.reshape(len(truth["qualities"]), -1, runs["tau"].size).sum(axis=1)
    return [
        *stopping_times(runs["tau"], runs["status"], level=level),
        *correctness(right, level),
        proportion("wrong_stops", int((stopped & ~right).sum()), right.size, level),
        *(
            mean(f"mean_share:{k + 1}", "share", share, level=level)
            for k, share in enumerate(by_arm)
        ),
        *(
            mean(f"mean_share:{pair}", "share", share, level=level)
            for pair, share in zip(pairs(truth), shares, strict=True)
        ),
    ]


#: Speed at K = L = 3, T-a-SCS with one supergradient step a pull and with the exact maximiser.
BENCHMARKS = tuple(
    Benchmark(cell, runs=200, per="pull", work=lambda outcome: outcome.tau)
    for cell in every_strategy("example1")
    if "no-half" not in cell.reading
)

#: What `bestarm run` prints of a person's own instance, and how it heads the columns.
OWN_STATISTICS = {
    "mean_stopping_time": "mean pulls",
    "median_stopping_time": "median pulls",
    "prob_correct": "share right",
    "share_capped": "share capped",
}


def pairs(truth: dict) -> list[str]:
    """Names of the (arm, subpopulation) pairs, "k;l" counted from 1, arm by arm."""
    return [
        f"{k + 1};{l + 1}" for k, row in enumerate(truth["allocation"]) for l in range(len(row))
    ]


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    """The answer and what it costs to find: T*, and the lower bound at the setting's delta."""
    times = {
        name: math.inf if truth[name] is None else truth[name]
        for name in ("characteristic_time", "bai_characteristic_time")
    }
    lower_bound = times["characteristic_time"] * error_information(setting["delta"])
    return [
        exact("best_arm", "index", truth["answer"]),
        *(exact(name, "pulls", time) for name, time in times.items()),
        exact("lower_bound", "pulls", lower_bound),
    ]


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: means with quality and feasibility, and w*."""
    shape = {"index": instance.arm_names, "columns": instance.group_names}
    means = pd.DataFrame(instance.means, **shape)
    feasible = (means.iloc[:, : instance.n_constrained] >= 0).all(axis=1)
    means["quality"] = truth["qualities"]
    means["feasible"] = feasible.map({True: "yes", False: "no"})
    return {
        f"{instance.name}: means (sigma = {instance.sigma:g})": means,
        "optimal allocation w*: share of pulls": pd.DataFrame(truth["allocation"], **shape),
    }


def no_feasible_arm(sources: Sources) -> pd.DataFrame:
    """The comparison on an instance without a feasible arm, and T* of Eq. (7) as a linear program.

    Eq. (7) is a max-min over linear functions: T*/2 = min sum(x) with all arms' costs at least 1.
    """
    name = "no-feasible-arm"
    means = np.minimum(np.array(sources.instances[name]["instance"]["means"]), 0.0)
    costs = np.zeros((len(means), means.size))
    for k, row in enumerate(means**2):
        costs[k, k * row.size : (k + 1) * row.size] = row
    program = linprog(np.ones(means.size), A_ub=-costs, b_ub=-np.ones(len(means)), method="highs")
    if program.status != 0:
        raise RuntimeError(f"the linear program of Eq. (7) ended with {program.message}")
    found = exact("characteristic_time:linear program", "pulls", 2.0 * program.fun)
    cell = Cell(name, "lower bound", {"delta": PAPER_SETTING["delta"]}, "exact")
    return assemble(comparison(name, name)(sources), cell_rows(cell, [found]))


def truth_rows(name: str, truth: dict, delta: float, x_name: str = "", x=None) -> list[dict]:
    """What is exactly known of an instance, as rows: bounds at delta, qualities, w*."""
    cell = Cell(name, "lower bound", {"delta": delta}, "exact", x_name=x_name, x=x)
    shares = np.ravel(truth["allocation"])
    return cell_rows(
        cell,
        [
            *bounds(truth, {"delta": delta}),
            *(exact(f"quality:{k + 1}", "reward", v) for k, v in enumerate(truth["qualities"])),
            *(
                exact(f"optimal_share:{pair}", "share", share)
                for pair, share in zip(pairs(truth), shares, strict=True)
            ),
        ],
    )


def comparison(instance: str, target: str) -> Callable[[Sources], pd.DataFrame]:
    """Stopping times and answers of every strategy, with the bound and the published values."""

    def tabulate(sources: Sources) -> pd.DataFrame:
        summary = sources.summary
        known = truth_rows(instance, sources.instances[instance]["truth"], PAPER_SETTING["delta"])
        return assemble(
            summary[summary.statistic.isin(RUN_STATISTICS)],
            [row for row in known if not row["statistic"].startswith("optimal_share")],
            published_rows(sources.published, target),
        )

    return tabulate


def allocation(instance: str) -> Callable[[Sources], pd.DataFrame]:
    """Mean share of pulls on each (arm, subpopulation), beside the optimal one."""

    def tabulate(sources: Sources) -> pd.DataFrame:
        summary = sources.summary
        known = truth_rows(instance, sources.instances[instance]["truth"], PAPER_SETTING["delta"])
        return assemble(
            summary[summary.statistic.str.startswith("mean_share")],
            [row for row in known if row["statistic"].startswith("optimal_share")],
        )

    return tabulate


def complexity(sources: Sources) -> pd.DataFrame:
    """T* with and without the constraints along the epsilon family of Section 3.2.

    `exponent` is the local slope between neighbouring epsilons: 2 where T* grows as epsilon^-2.
    """
    rows = []
    problems = {"BAICS": "characteristic_time", "BAI": "bai_characteristic_time"}
    for variant in VARIANTS:
        truths = [sources.instances[epsilon_family(variant, e).name]["truth"] for e in EPSILONS]
        for problem, field in problems.items():
            times = np.array([truth[field] for truth in truths])
            slopes = -np.diff(np.log(times), prepend=np.nan) / np.diff(
                np.log(EPSILONS), prepend=np.nan
            )
            for epsilon, time, slope in zip(EPSILONS, times, slopes, strict=True):
                point = Cell(variant, problem, {}, "exact", x_name="epsilon", x=epsilon)
                rows += cell_rows(point, [exact("characteristic_time", "pulls", time)])
                if not math.isnan(slope):
                    rows += cell_rows(point, [exact("exponent", "", slope)])
    for epsilon in EPSILONS:
        instance = epsilon_family("tradeoff", epsilon)
        first, _, third = np.array(instance.means) @ instance.problem.weights
        gaps = {"below 0": -instance.means[1][1], "of arm 3": first - third}
        point = Cell("tradeoff", "truth", {}, "exact", x_name="epsilon", x=epsilon)
        rows += cell_rows(point, [exact(f"gap:{k}", "reward", gap) for k, gap in gaps.items()])
    return assemble(rows)


def two_stage(sources: Sources) -> pd.DataFrame:
    """Times of Two-stage and T-a-SCS where feasibility need not be told, and their ratio."""
    summary = sources.summary
    means = summary[summary.statistic == "mean_stopping_time"]
    rows = []
    for epsilon, pair in means.groupby("x"):
        by = {row.strategy: row for row in pair.itertuples()}
        ratio = ratio_of_independent_means("budget_ratio", by["Two-stage"], by["T-a-SCS"])
        cell = Cell("easy-gap", "Two-stage / T-a-SCS", {}, "as-written", {}, "epsilon", epsilon)
        rows += cell_rows(cell, [ratio])
    return assemble(summary[summary.statistic.isin(RUN_STATISTICS)], rows)


def tracking(sources: Sources) -> pd.DataFrame:
    """Eq. (12): how far pulls stray from the sum of the weights they track, over its bound."""
    instance = Instance(**sources.instances["example1"]["instance"])
    worst = tracking_errors(instance)
    cell = Cell("example1", "T-a-SCS", PAPER_SETTING, "as-written")
    return assemble(
        cell_rows(
            cell,
            [
                mean("tracking_error", "", worst),
                exact("tracking_error:largest", "", float(worst.max())),
                proportion("share_untracked", int((worst > 1.0).sum()), TRACKED_RUNS),
            ],
        )
    )


def asymptotics(sources: Sources) -> pd.DataFrame:
    """Mean stopping times along the confidence sweep, in units of T* ln(1/delta)."""
    summary = sources.summary
    truth = sources.instances["example1"]["truth"]
    means = summary[summary.statistic == "mean_stopping_time"]
    unit = truth["characteristic_time"] * np.log(1.0 / means.x.astype(float))
    ratios = means.assign(statistic="asymptotic_ratio", unit="")
    for column in ("value", "low", "high"):
        ratios[column] = means[column] / unit
    parts = [
        ratios,
        *(marginal_ratios(c, truth) for _, c in means.groupby(["strategy", "reading"])),
    ]
    known = [truth_rows("example1", truth, delta, "delta", delta) for delta in DELTAS]
    return assemble(
        summary[summary.statistic.isin(["mean_stopping_time", "error_rate"])],
        *parts,
        [row for rows in known for row in rows if row["statistic"] == "lower_bound"],
    )


def marginal_ratios(means: pd.DataFrame, truth: dict, decades: int = 4) -> pd.DataFrame:
    """(E[tau at delta] - E[tau at 10^decades delta]) over T* times the difference of ln(1/delta).

    The part of a stopping time that does not grow with ln(1/delta) cancels, so this nears its
    limit far sooner than the plain ratio. The two means rest on independent runs.
    """
    means = means.sort_values("x", ascending=False)
    later, earlier = means.iloc[decades:], means.iloc[:-decades]
    unit = truth["characteristic_time"] * decades * math.log(10.0)
    value = (later.value.to_numpy() - earlier.value.to_numpy()) / unit
    half = np.hypot(*((part.high - part.value).to_numpy() for part in (later, earlier))) / unit
    return later.assign(
        statistic="marginal_ratio", unit="", value=value, low=value - half, high=value + half
    )


def step_size(sources: Sources) -> pd.DataFrame:
    """Stopping times of T-a-SCS by step size, beside the exact maximiser's."""
    summary = sources.summary
    swept = (summary.experiment == "step-sweep") | summary.reading.str.startswith("maximiser")
    truth = sources.instances["example1"]["truth"]
    return assemble(
        summary[swept & summary.statistic.isin(RUN_STATISTICS)],
        [
            row
            for row in truth_rows("example1", truth, PAPER_SETTING["delta"])
            if row["statistic"] == "lower_bound"
        ],
        published_rows(sources.published, "table1").query("strategy == 'T-a-SCS'"),
    )


TARGETS = (
    Target(
        "table1", "Stopping times in example 1", comparison("example1", "table1"), ("example1",)
    ),
    Target("fig1", "Sample allocation in example 1", allocation("example1"), ("example1",)),
    Target(
        "example2", "Stopping times in example 2", comparison("example2", "example2"), ("example2",)
    ),
    Target("fig2", "Sample allocation in example 2", allocation("example2"), ("example2",)),
    Target("complexity", "Complexity with and without constraints", complexity),
    Target("asymptotics", "Stopping time as delta shrinks", asymptotics, ("confidence-sweep",)),
    Target("step-size", "Step size of T-a-SCS", step_size, ("step-sweep", "example1")),
    Target(
        "no-feasible-arm",
        "An instance without a feasible arm",
        no_feasible_arm,
        ("no-feasible-arm",),
    ),
    Target("two-stage", "Feasibility first, then the best", two_stage, ("two-stage",)),
    Target(
        "segments",
        "Wrong stops against the number of subpopulations",
        lambda sources: assemble(sources.summary[sources.summary.statistic.isin(RUN_STATISTICS)]),
        ("segments",),
    ),
    Target("tracking", "How far pulls stray from what they track", tracking),
)
