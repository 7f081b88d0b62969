"""How summaries and instances become the tables of the LAGEX paper's figures."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from bestarm.common.paper import Cell, Sources
from bestarm.common.tables import (
    assemble,
    cell_rows,
    comparison_rows,
    groups,
    lines,
    published_rows,
    with_instances,
)
from bestarm.core.estimates import Estimate, exact, undefined
from bestarm.core.information import needed_information
from bestarm.lagex.cells import ENVIRONMENTS, OTHER_SETTINGS
from bestarm.lagex.paper.bounds import lower_bound, quantile_bound
from bestarm.lagex.problem import EASIER, EPSILONS, HARD, SWEEP, TOLERANCE, normalised, setup1

#: Readings that the paper's own figures show; all are in target `readings`.
SHOWN = ("as-written", "released-stop", "exact")
#: Characteristic times by the name of their lower bound.
TIMES = {
    "known lower bound": "characteristic_time",
    "inside lower bound": "inside_time",
    "BAI lower bound": "bai_characteristic_time",
}
#: The lower bound for strategies that have to learn the constraints.
UNKNOWN = "unknown lower bound"
TIME_STATISTICS = (
    *("mean_stopping_time", "median_stopping_time", "quartile_25", "quartile_75"),
    *("quantile_05", "quantile_95", "share_capped", "error_rate"),
)
SHARE_STATISTICS = (
    *("prob_r_optimal", "prob_feasible", "prob_far_over", "prob_correct", "error_rate"),
    *("mean_regret", "mean_excess", "share_capped", "share_empty"),
)
#: Environments that the released programs are compared on; those of setup 2 are apart.
RELEASED = [setup1(HARD).name, setup1(EASIER).name, "imdb"]
MEDIAN = "policy_violations:median"
VIOLATION_QUANTILES = ("policy_violations:quartile_25", MEDIAN, "policy_violations:quartile_75")
#: Whose medians are compared by their ratio (Observation 2, Appendix H).
COMPARED = (("LATS", "Uniform"), ("LAGEX", "Uniform"), ("LAGEX", "LATS"))
COMPARED += (("LAGEX", "CTnS"), ("LAGEX", "CGE"))


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    """The complexity of an instance; lower bounds at the setting's delta.

    Of rewards that are not Gaussian only the times of Gaussian ones of their sigma, no bounds.
    """
    if not truth.get("gaussian", True):
        complexities = time_estimates(truth)
        times = (
            replace(estimate, statistic=f"{estimate.statistic}:Gaussian")
            for estimate in complexities
        )
        return [exact("optimal_value", "reward", truth["value"]), *times]
    low, high, high_inside = (math.inf if b is None else b for b in truth["corollary_1"])
    return [
        exact("optimal_value", "reward", truth["value"]),
        *time_estimates(truth),
        exact(
            "lower_bound",
            "steps",
            lower_bound(time_field(truth, "characteristic_time"), setting["delta"]),
        ),
        *(
            replace(bound, statistic=f"learning_bound:{name}, r={TOLERANCE:g}")
            for name, bound in zip(
                ("mean", "median"), learning_bounds(truth, setting["delta"]), strict=True
            )
        ),
        exact("shadow_price", "", time_field(truth, "shadow_price")),
        exact("corollary_1:low", "steps", low),
        exact("corollary_1:high", "steps", high),
        exact("corollary_1:high, feasible allocations", "steps", high_inside),
    ]


def time_estimates(truth: dict) -> list[Estimate]:
    """The characteristic times of an instance."""
    names = ("characteristic_time", "tolerant_time", "inside_time", "bai_characteristic_time")
    return [exact(name, "steps", time_field(truth, name)) for name in names]


def learning_bounds(truth: dict, delta: float) -> list[Estimate]:
    """Lower bounds on mean and median for delta-correct strategies that do not know A."""
    time = time_field(truth, "learning_time")
    mean, median = time * needed_information(delta), quantile_bound(time, 0.5, delta)
    return [exact("lower_bound", "steps", mean), exact("median_lower_bound", "steps", median)]


def time_field(truth: dict, name: str) -> float:
    """A field of a truth in which None stands for infinity."""
    return math.inf if truth[name] is None else truth[name]


def bound_rows(name: str, truth: dict, delta: float, x: float | None = None) -> list[dict]:
    """The lower bounds of an instance at delta, each under its own name."""
    x_name = "" if x is None else "m3"
    rows = []
    for bound, field in TIMES.items():
        cell = Cell(name, bound, {"delta": delta}, "exact", x_name=x_name, x=x)
        value = lower_bound(time_field(truth, field), delta)
        end = value if math.isfinite(value) else math.nan
        estimate = Estimate("lower_bound", "steps", value, end, end, 0, "exact")
        rows += cell_rows(cell, [estimate])
    cell = Cell(name, UNKNOWN, {"delta": delta}, "exact", x_name=x_name, x=x)
    return rows + cell_rows(cell, learning_bounds(truth, delta))


def with_bounds(sources: Sources, summary: pd.DataFrame) -> list[dict]:
    """The lower bounds of every instance of some rows, at the delta of their setting."""
    rows = []
    for (name, delta), _ in groups(summary, "instance", "delta"):
        rows += bound_rows(name, sources.instances[name]["truth"], delta)
    return rows


def only(summary: pd.DataFrame, statistics: tuple[str, ...], readings=SHOWN) -> pd.DataFrame:
    """The rows of a summary with these statistics and readings."""
    return summary[summary.statistic.isin(statistics) & summary.reading.isin(readings)]


def times(target: str) -> Callable[[Sources], pd.DataFrame]:
    """Figures 5 to 7: stopping times, lower bounds, and the published values."""

    def tabulate(sources: Sources) -> pd.DataFrame:
        summary = only(sources.summary, TIME_STATISTICS)
        return assemble(
            summary,
            with_bounds(sources, summary),
            list(ratios(summary, "median_stopping_time", "median_ratio")),
            published_rows(sources.published, target),
        )

    return tabulate


def violations(target: str) -> Callable[[Sources], pd.DataFrame]:
    """Figures 8 to 12: rounds whose policy, or allocation, violates a true constraint."""

    def tabulate(sources: Sources) -> pd.DataFrame:
        kinds = sources.summary.statistic.str.contains("_violation")
        summary = sources.summary[kinds & sources.summary.reading.isin(SHOWN)]
        return assemble(
            summary,
            only(sources.summary, ("share_capped", "error_rate")),
            list(ratios(summary, MEDIAN, "violation_ratio")),
            published_rows(sources.published, target),
        )

    return tabulate


def ratios(summary: pd.DataFrame, of: str, called: str) -> Iterator[dict]:
    """Ratios of two strategies' medians, for independent runs.

    Args:
        summary: rows of it.
        of: the statistic whose ratios are computed.
        called: the name of the ratio.
    """
    medians = summary[summary.statistic == of]
    for (instance, reading), rows in groups(medians, "instance", "reading"):
        by = {row.strategy: row for row in lines(rows)}
        for first, second in COMPARED:
            if first in by and second in by:
                cell = Cell(instance, first, {}, reading)
                estimate = ratio(called, by[first], by[second])
                yield from comparison_rows(cell, second, [estimate])


def ratio(statistic: str, a, b) -> Estimate:
    """The ratio of two rows of a table, with an interval that is normal in the logarithm.

    Undefined if either value is undefined or zero.
    """
    if not (a.value > 0.0 and b.value > 0.0):
        return undefined(statistic, "", min(a.n, b.n))
    value = a.value / b.value
    half = math.hypot(
        *((math.log(row.high) - math.log(max(row.low, 1e-9))) / 2.0 for row in (a, b))
    )
    return Estimate(
        statistic, "", value, value * math.exp(-half), value * math.exp(half), min(a.n, b.n)
    )


def sweep(sources: Sources) -> pd.DataFrame:
    """Figure 4: LAGEX and lower bounds over the third mean, for both versions of setup 1."""
    summary = only(sources.summary, TIME_STATISTICS)
    delta = summary.delta.iloc[0]
    published = with_instances(published_rows(sources.published, "fig4"), sources.instances)
    published = published.assign(x_name="m3", x=published.m3)
    bound_lines = []
    for printed in (False, True):
        for third in SWEEP:
            name = setup1(third, printed).name
            bound_lines += bound_rows(name, sources.instances[name]["truth"], delta, third)
    bound_table = with_instances(pd.DataFrame(bound_lines), sources.instances)
    return assemble(
        summary,
        bound_lines,
        list(over_the_sweep(summary, bound_table)),
        list(published_over_exact(published, bound_table)),
        published,
    )


def over_the_sweep(summary: pd.DataFrame, bounds_by_third: pd.DataFrame) -> Iterator[dict]:
    """The correlation of medians with the lower bound, and the largest rise of each bound."""
    bounds_by_third = bounds_by_third[bounds_by_third.statistic == "lower_bound"]
    for setup, rows in groups(bounds_by_third, "family"):
        by_name = {name: group.set_index("x").value for name, group in groups(rows, "strategy")}
        for name, line in by_name.items():
            values = line.sort_index().to_numpy(float)
            with np.errstate(invalid="ignore"):
                rises = values[1:] / values[:-1]
            cell = Cell(f"{setup}, all", name, {}, "exact")
            rise = exact("largest_rise", "", float(np.nanmax(rises)))
            yield from cell_rows(cell, [rise], family=setup)
        medians = summary[(summary.statistic == "median_stopping_time") & (summary.family == setup)]
        for reading, of_reading in groups(medians, "reading"):
            cell = Cell(f"{setup}, all", "LAGEX", {}, reading)
            estimate = log_correlation(of_reading, by_name["known lower bound"])
            yield from cell_rows(cell, [estimate], family=setup)


def log_correlation(medians: pd.DataFrame, line: pd.Series) -> Estimate:
    """The correlation of ln(median) and ln(lower bound) over a sweep.

    Its interval is normal, by the delta method: medians of different instances are independent, and
    an error e of one ln(median) moves the correlation r by e (b - r a) / |y|, where a and b are the
    centred ln(median) and ln(bound) in units of their lengths |y| and |x|.
    """
    values, n = medians.value.to_numpy(float), int(medians.n.min())
    if np.isnan(values).any():
        return undefined("log_correlation", "", n)
    at_x = line.loc[medians.x].to_numpy(float)
    y, x = (np.log(v) - np.log(v).mean() for v in (values, at_x))
    a, b = y / np.linalg.norm(y), x / np.linalg.norm(x)
    correlation = float(a @ b)
    halves = np.log(medians.high.to_numpy(float) / medians.low.to_numpy(float)) / 2.0
    half = float(np.linalg.norm((b - correlation * a) / np.linalg.norm(y) * halves))
    return Estimate(
        "log_correlation", "", correlation, correlation - half, min(correlation + half, 1.0), n
    )


def published_over_exact(published: pd.DataFrame, bounds_by_third: pd.DataFrame) -> Iterator[dict]:
    """Extremes of the published lower bounds over the exact ones, where these are finite."""
    stated = published[published.statistic == "lower_bound"]
    for setup, rows in groups(bounds_by_third, "family"):
        for name, of_reading in groups(stated, "strategy"):
            exact_line = rows[rows.strategy == name].set_index("x").value
            ratios = of_reading.value.to_numpy(float) / exact_line.loc[of_reading.x].to_numpy(float)
            ratios = ratios[ratios > 0.0]
            cell = Cell(f"{setup}, all", name, {}, "exact")
            ends = {"lowest": ratios.min(), "highest": ratios.max()}
            estimates = [exact(f"bound_ratio:{end}", "", float(v)) for end, v in ends.items()]
            yield from cell_rows(cell, estimates, family=setup)


def shares(sources: Sources) -> pd.DataFrame:
    """Shares of good and of feasible recommendations, as written and with the released rule."""
    return assemble(only(sources.summary, SHARE_STATISTICS))


def example(sources: Sources) -> pd.DataFrame:
    """`shares` for the example in docs/usage.md, with its stopping times."""
    return assemble(only(sources.summary, (*TIME_STATISTICS, *SHARE_STATISTICS)))


def readings(sources: Sources) -> pd.DataFrame:
    """Stopping times and shares under every reading, beside the published medians."""
    statistics = (*TIME_STATISTICS, "prob_r_optimal", "prob_feasible", MEDIAN)
    names = [*ENVIRONMENTS, *(normalised(name).name for name in ENVIRONMENTS)]
    summary = sources.summary[sources.summary.instance.isin(names)]
    published = sources.published
    medians = published[published.statistic == "median_stopping_time"]
    return assemble(
        only(summary, statistics, summary.reading.unique()),
        *(published_rows(medians, target) for target in ("fig5", "fig6", "fig7")),
    )


def sensitivity(sources: Sources) -> pd.DataFrame:
    """LAGEX's medians with one thing changed at a time; what is left of a run at each delta.

    That is the bound on medians for strategies that learn the constraints.
    """
    times_of_all = only(sources.summary, TIME_STATISTICS, sources.summary.reading.unique())
    bound_lines = [
        row
        for name in ENVIRONMENTS
        for delta in OTHER_SETTINGS["delta"]
        for row in bound_rows(name, sources.instances[name]["truth"], delta)
    ]
    medians = sources.published[sources.published.statistic == "median_stopping_time"]
    published = (published_rows(medians, target) for target in ("fig5", "fig6", "fig7"))
    stated = pd.concat([pd.DataFrame(rows) for rows in published])
    # Normalised rows are in two experiments; those of the last one are more.
    same = ["instance", "setting", "reading", "statistic"]
    ours = times_of_all[times_of_all.strategy == "LAGEX"].drop_duplicates(same, keep="last")
    return assemble(ours, bound_lines, stated[stated.strategy == "LAGEX"])


def programs(sources: Sources, program: pd.DataFrame) -> pd.DataFrame:
    """Stopping times, violations and shares: of `program`, as written, and published.

    Environments of setup 2, which is in no released file, are there if `program` has runs on them.

    Args:
        program: rows under reading `program`.
    """
    statistics = (*TIME_STATISTICS, *VIOLATION_QUANTILES, "prob_r_optimal", "prob_feasible")
    names = RELEASED + sorted(set(program.instance) - set(RELEASED))
    written = sources.summary[sources.summary.instance.isin(names)]
    about_rounds = program.statistic.str.startswith("rounds_")
    summary = pd.concat(
        [
            only(written, statistics, ("as-written",)),
            program[program.statistic.isin((*statistics, "share_empty")) | about_rounds],
        ]
    )
    compared = summary[summary.instance.isin(RELEASED)]
    figures = ("fig5", "fig6", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12")
    published = [f"{figure}{boxes}" for figure in figures for boxes in ("", " boxes")]
    stated = (published_rows(sources.published, name) for name in published)
    return assemble(
        summary,
        list(ratios(compared, "median_stopping_time", "median_ratio")),
        list(ratios(compared, MEDIAN, "violation_ratio")),
        *(rows[rows.instance.isin(names)] for rows in stated),
    )


def peculiarities(sources: Sources, program: pd.DataFrame) -> pd.DataFrame:
    """Stopping times on setup 1 easy: of `program`, as written, and published medians.

    Args:
        program: rows of the released programs, with and without their peculiarities.
    """
    medians = ("median_stopping_time",)
    written = only(sources.summary, medians, ("as-written",))
    published = published_rows(sources.published, "fig6")
    names = list(program.strategy.unique())
    return assemble(
        program,
        written[(written.instance == setup1(EASIER).name) & written.strategy.isin(names)],
        published[published.statistic.isin(medians) & published.strategy.isin(names)],
    )


def spread(sources: Sources) -> pd.DataFrame:
    """IMDB with reward deviations of 1, as the paper has it, and with the ratings' own."""
    summary = only(sources.summary, (*TIME_STATISTICS, "prob_r_optimal", "prob_feasible"))
    summary = summary[summary.reading == "as-written"]
    return assemble(summary, with_bounds(sources, summary))


def perturbation(sources: Sources) -> pd.DataFrame:
    """Figure 1: the best policy and T against the tightening of the active constraint."""
    truths = {e: sources.instances[f"perturbed eps={e:g}"]["truth"] for e in EPSILONS}
    unperturbed = np.array(truths[0.0]["policy"])
    rows = []
    for epsilon, truth in truths.items():
        shift = np.abs(np.array(truth["policy"]) - unperturbed).max()
        estimates = [*time_estimates(truth), exact("policy_shift", "share", float(shift))]
        if epsilon > 0.0:
            estimates.append(exact("perturbation_pulls", "steps", 1.0 / epsilon**2))
        cell = Cell("perturbed", "known constraints", {}, "exact", x_name="epsilon", x=epsilon)
        rows += cell_rows(cell, estimates, family="perturbed", epsilon=epsilon)
    published = published_rows(sources.published, "fig1").assign(x_name="epsilon", x=0.005)
    return assemble(rows, published)
