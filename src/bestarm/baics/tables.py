"""How summaries become the tables of BAICS."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from bestarm.baics.brute_force import cost_ratios
from bestarm.baics.cells import DELTAS, GUARANTEE_DELTAS, NO_CAP_SETTING, PAPER_SETTING, RULES
from bestarm.baics.problem import EPSILONS, VARIANTS, Instance, epsilon_family
from bestarm.baics.statistics import pairs
from bestarm.baics.strategies import READINGS
from bestarm.baics.tracking import TRACKED_RUNS, tracking_errors
from bestarm.common.paper import Cell, Sources
from bestarm.common.tables import (
    assemble,
    cell_rows,
    comparison_rows,
    groups,
    lines,
    published_rows,
)
from bestarm.core.estimates import Estimate, exact, mean, proportion, ratio_of_independent_means
from bestarm.core.information import needed_information
from bestarm.core.streams import run_streams, stream_key

RUN_STATISTICS = (
    *("mean_stopping_time", "median_stopping_time", "quartile_25", "quartile_75"),
    *("share_capped", "prob_correct", "error_rate", "wrong_stops"),
)


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    """The answer, T*, and the lower bound at the setting's delta; of rates what is certified."""
    times = {
        name: math.inf if truth[name] is None else truth[name]
        for name in ("characteristic_time", "bai_characteristic_time")
    }
    best = exact("best_arm", "index", truth["answer"])
    low = truth.get("characteristic_time_low")
    certified = [] if low is None else [exact("characteristic_time_low", "pulls", low)]
    least = times["characteristic_time"] if low is None else low
    return [
        best,
        *(exact(name, "pulls", time) for name, time in times.items()),
        *certified,
        exact("lower_bound", "pulls", least * needed_information(setting["delta"])),
    ]


def no_feasible_arm(sources: Sources) -> pd.DataFrame:
    """The comparison on an instance without a feasible arm, and T* of Eq. (7) as a linear program.

    Eq. (7) is a max-min over linear functions: T*/2 = min sum(x) with all arms' costs at least 1.
    """
    name = "no-feasible-arm"
    means = np.minimum(np.array(sources.instances[name]["instance"]["means"]), 0.0)
    costs = np.zeros((len(means), means.size))
    for k, row in enumerate(means**2):
        costs[k, k * row.size : (k + 1) * row.size] = row
    result = linprog(np.ones(means.size), A_ub=-costs, b_ub=-np.ones(len(means)), method="highs")
    if result.status != 0 or result.fun is None:
        raise RuntimeError(f"the linear program of Eq. (7) ended with {result.message}")
    exact_time = exact("characteristic_time:linear program", "pulls", 2.0 * result.fun)
    cell = Cell(name, "lower bound", {"delta": PAPER_SETTING["delta"]}, "exact")
    return assemble(comparison(name, name)(sources), cell_rows(cell, [exact_time]))


def truth_rows(name: str, truth: dict, delta: float, x_name: str = "", x=None) -> list[dict]:
    """Computed properties of an instance, as rows: bounds at delta, qualities, w*."""
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
        exact_rows = truth_rows(
            instance, sources.instances[instance]["truth"], PAPER_SETTING["delta"]
        )
        return assemble(
            summary[summary.statistic.isin(RUN_STATISTICS)],
            [row for row in exact_rows if not row["statistic"].startswith("optimal_share")],
            published_rows(sources.published, target),
        )

    return tabulate


def allocation(instance: str) -> Callable[[Sources], pd.DataFrame]:
    """Mean share of pulls on each (arm, subpopulation), beside the optimal one."""

    def tabulate(sources: Sources) -> pd.DataFrame:
        summary = sources.summary
        exact_rows = truth_rows(
            instance, sources.instances[instance]["truth"], PAPER_SETTING["delta"]
        )
        return assemble(
            summary[summary.statistic.str.startswith("mean_share")],
            [row for row in exact_rows if row["statistic"].startswith("optimal_share")],
        )

    return tabulate


def complexity(sources: Sources) -> pd.DataFrame:
    """T* with and without the constraints along the epsilon family of Section 3.2.

    `exponent` is the local slope between neighbouring epsilons: 2 where T* grows as epsilon^-2;
    `time_ratio` is T* with the constraints over T* without them. For the examples of Section 5 and
    an instance without a feasible arm also Theorem 3.2 against brute force.
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
                estimates = [exact("characteristic_time", "pulls", time)]
                estimates += [] if math.isnan(slope) else [exact("exponent", "", slope)]
                rows += cell_rows(point, estimates, family=variant, epsilon=epsilon)
        for epsilon, truth in zip(EPSILONS, truths, strict=True):
            ratio = truth["characteristic_time"] / truth["bai_characteristic_time"]
            point = Cell(variant, "BAICS", {}, "exact", x_name="epsilon", x=epsilon)
            compared = [exact("time_ratio", "", ratio)]
            rows += comparison_rows(point, "BAI", compared, family=variant, epsilon=epsilon)
    for epsilon in EPSILONS:
        instance = epsilon_family("tradeoff", epsilon)
        first, _, third = np.array(instance.means) @ instance.problem.weights
        gaps = {"below 0": -instance.means[1][1], "of arm 3": first - third}
        point = Cell("tradeoff", "truth", {}, "exact", x_name="epsilon", x=epsilon)
        estimates = [exact(f"gap:{k}", "reward", gap) for k, gap in gaps.items()]
        rows += cell_rows(point, estimates, family="tradeoff", epsilon=epsilon)
    for name in ("example1", "example2", "no-feasible-arm"):
        described = sources.instances[name]
        rng = run_streams(stream_key(0, "baics", "complexity", name, ""), 0).coins
        optimal = np.array(described["truth"]["allocation"])
        ratios = cost_ratios(Instance(**described["instance"]), optimal, rng)
        estimates = [exact("cost_ratio:least", "", float(ratios.min()))]
        estimates += [exact("cost_ratio:largest", "", float(ratios.max()))]
        rows += cell_rows(Cell(name, "truth", {}, "exact"), estimates)
    return assemble(rows)


def two_stage(sources: Sources) -> pd.DataFrame:
    """Times of Two-stage and T-a-SCS if some feasibility is irrelevant, and their ratio."""
    summary = sources.summary
    means = summary[summary.statistic == "mean_stopping_time"]
    rows = []
    for epsilon, pair in groups(means, "x"):
        by = {row.strategy: row for row in lines(pair)}
        ratio = ratio_of_independent_means("budget_ratio", by["Two-stage"], by["T-a-SCS"])
        cell = Cell("easy-gap", "Two-stage", {}, "as-written", {}, "epsilon", epsilon)
        rows += comparison_rows(cell, "T-a-SCS", [ratio], epsilon=epsilon)
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
        *(marginal_ratios(c, truth) for _, c in groups(means, "strategy", "reading")),
    ]
    exact_rows = [truth_rows("example1", truth, delta, "delta", delta) for delta in DELTAS]
    return assemble(
        summary[summary.statistic.isin(["mean_stopping_time", "error_rate"])],
        *parts,
        [row for rows in exact_rows for row in rows if row["statistic"] == "lower_bound"],
    )


def guarantee(sources: Sources) -> pd.DataFrame:
    """Wrong stops and stopping times by the number of subpopulations, with the lower bounds."""
    summary = sources.summary
    exact_rows = [
        row
        for name, of_one in groups(summary, "instance")
        for row in truth_rows(
            name,
            sources.instances[name]["truth"],
            of_one.delta.iloc[0],
            "segments",
            of_one.x.iloc[0],
        )
        if row["statistic"] == "lower_bound"
    ]
    return assemble(summary[summary.statistic.isin(RUN_STATISTICS)], exact_rows)


def proven(sources: Sources) -> pd.DataFrame:
    """Stopping times of every rule, lower bounds, and what a proof costs: a ratio of means."""
    summary = sources.summary
    means = summary[summary.statistic == "mean_stopping_time"]
    rows = []
    for name, of_one in groups(means, "instance"):
        by = {(row.strategy, row.reading): row for row in lines(of_one)}
        for strategy, unproved, proved in RULES:
            ratio = ratio_of_independent_means(
                "budget_ratio", by[strategy, proved], by[strategy, unproved]
            )
            cell = Cell(name, strategy, NO_CAP_SETTING, proved)
            rows += comparison_rows(cell, f"{strategy} {unproved}", [ratio])
        truth = sources.instances[name]["truth"]
        exact_rows = truth_rows(name, truth, NO_CAP_SETTING["delta"])
        rows += [row for row in exact_rows if row["statistic"] == "lower_bound"]
    return assemble(summary[summary.statistic.isin(RUN_STATISTICS)], rows)


def boundary(sources: Sources) -> pd.DataFrame:
    """Wrong stops where a wrong answer is all but right."""
    kept = ("wrong_stops", "share_capped", "error_rate", "prob_correct")
    return assemble(sources.summary[sources.summary.statistic.isin(kept)])


def proven_asymptotics(sources: Sources) -> pd.DataFrame:
    """Mean stopping times over the lower bound, as delta shrinks: of proved and unproved rules."""
    summary = sources.summary
    pairs = [(strategy, reading) for strategy, *readings in RULES for reading in readings]
    means = summary[summary.statistic == "mean_stopping_time"]
    means = means[[(row.strategy, row.reading) in pairs for row in lines(means)]]
    means = means[means.x.astype(float) >= 0.99 * min(GUARANTEE_DELTAS)]
    new = summary[summary.experiment == "guarantee-sweep"]
    kept = new[new.statistic.isin(["mean_stopping_time", "error_rate"])]
    return assemble(kept, over_lower_bound(means, sources))


def rates_asymptotics(sources: Sources) -> pd.DataFrame:
    """Mean stopping times over the lower bound, as delta shrinks, on rates and Gaussian rewards."""
    summary = sources.summary
    means = summary[summary.statistic == "mean_stopping_time"]
    kept = summary[summary.statistic.isin(["mean_stopping_time", "error_rate"])]
    return assemble(kept, over_lower_bound(means, sources))


def over_lower_bound(means: pd.DataFrame, sources: Sources) -> pd.DataFrame:
    """Mean stopping times, whose x is delta, over T* kl(delta, 1 - delta)."""
    times = {name: of["truth"]["characteristic_time"] for name, of in sources.instances.items()}
    unit = means.instance.map(times) * means.x.astype(float).map(needed_information)
    ratios = means.assign(statistic="bound_ratio", unit="")
    for column in ("value", "low", "high"):
        ratios[column] = means[column] / unit
    return ratios


def marginal_ratios(means: pd.DataFrame, truth: dict, decades: int = 4) -> pd.DataFrame:
    """(E[tau at delta] - E[tau at 10^decades delta]) over T* times the difference of ln(1/delta).

    The part of a stopping time that does not grow with ln(1/delta) cancels, so this approaches its
    limit far sooner than the plain ratio. Its interval is that of independent runs: wider than need
    be where the runs of the smaller delta go on from those of the larger.
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
    exact_steps = [name for name, r in READINGS["T-a-SCS"].items() if r.inner_steps == 0]
    swept = (summary.experiment == "step-sweep") | summary.reading.isin(exact_steps)
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
