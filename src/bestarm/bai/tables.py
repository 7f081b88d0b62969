"""How summaries become the tables of best-arm identification."""

import math

import pandas as pd

from bestarm.bai.cells import DELTAS, MEASURED, SETTING, SWEPT
from bestarm.common.files import data_folder
from bestarm.common.paper import Cell, Sources
from bestarm.common.tables import (
    assemble,
    cell_rows,
    comparison_rows,
    groups,
    lines,
    published_rows,
)
from bestarm.core.estimates import Estimate, exact, proportion, ratio_of_independent_means
from bestarm.core.information import needed_information

RUN_STATISTICS = (
    *("mean_stopping_time", "median_stopping_time", "quartile_25", "quartile_75"),
    *("share_capped", "prob_correct", "error_rate", "wrong_stops"),
)


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    """The answer, T* with its certificate, and the lower bound at the setting's delta."""
    times = {
        name: math.inf if truth[name] is None else truth[name]
        for name in ("characteristic_time", "characteristic_time_low")
    }
    least = times["characteristic_time"] * needed_information(setting["delta"])
    return [
        exact("best_arm", "index", truth["answer"]),
        *(exact(name, "pulls", time) for name, time in times.items()),
        exact("lower_bound", "pulls", least),
    ]


def truth_rows(sources: Sources, name: str, delta: float, x_name: str = "", x=None) -> list[dict]:
    """Computed properties of an instance, as rows: bounds at delta, and w*."""
    truth = sources.instances[name]["truth"]
    cell = Cell(name, "lower bound", {"delta": delta}, "exact", x_name=x_name, x=x)
    shares = enumerate(truth["allocation"], 1)
    share_rows = [exact(f"optimal_share:{a}", "share", share) for a, share in shares]
    return cell_rows(cell, [*bounds(truth, {"delta": delta}), *share_rows])


def _truths(sources: Sources) -> list[dict]:
    return [row for name in MEASURED for row in truth_rows(sources, name, SETTING["delta"])]


def _of_runs(summary: pd.DataFrame) -> pd.DataFrame:
    return summary[summary.statistic.isin(RUN_STATISTICS)]


def table1(sources: Sources) -> pd.DataFrame:
    """Stopping times and answers under every reading, with bounds and the published values."""
    published = published_rows(sources.published, "table1")
    return assemble(_of_runs(sources.summary), _truths(sources), published)


def proportions(sources: Sources) -> pd.DataFrame:
    """The mean share of pulls on each arm, beside w*."""
    summary = sources.summary
    exact_rows = [row for row in _truths(sources) if row["statistic"].startswith("optimal_share")]
    return assemble(summary[summary.statistic.str.startswith("mean_share")], exact_rows)


def proven(sources: Sources) -> pd.DataFrame:
    """Stopping times with both thresholds, and what the proof costs: a ratio of means."""
    summary = sources.summary
    means = summary[summary.statistic == "mean_stopping_time"]
    rows = []
    for (name, strategy), pair in groups(means, "instance", "strategy"):
        by = {row.reading: row for row in lines(pair)}
        ratio = ratio_of_independent_means("budget_ratio", by["proven"], by["as-written"])
        cell = Cell(name, strategy, SETTING, "proven")
        rows += comparison_rows(cell, f"{strategy} as-written", [ratio])
    exact_rows = [row for row in _truths(sources) if row["statistic"] == "lower_bound"]
    return assemble(_of_runs(summary), rows, exact_rows)


def asymptotics(sources: Sources) -> pd.DataFrame:
    """Mean stopping times over the lower bound, as delta shrinks."""
    summary = sources.summary
    means = summary[summary.statistic == "mean_stopping_time"]
    time = sources.instances[SWEPT]["truth"]["characteristic_time"]
    unit = time * means.x.astype(float).map(needed_information)
    ratios = means.assign(statistic="bound_ratio", unit="")
    for column in ("value", "low", "high"):
        ratios[column] = means[column] / unit
    exact_rows = [
        row for delta in DELTAS for row in truth_rows(sources, SWEPT, delta, "delta", delta)
    ]
    kept = summary[summary.statistic.isin(["mean_stopping_time", "error_rate"])]
    bound = [row for row in exact_rows if row["statistic"] == "lower_bound"]
    return assemble(kept, ratios, bound)


def boundary(sources: Sources) -> pd.DataFrame:
    """Wrong stops where a wrong answer is all but right."""
    kept = ("wrong_stops", "share_capped", "error_rate", "prob_correct")
    return assemble(sources.summary[sources.summary.statistic.isin(kept)])


#: The kept table of stopping rules on the same samples, under data/ (standard.py).
STANDARD = "standard/times.csv"
#: Its rules, as readings. The samples are those of Track-and-Stop.
RULE_READINGS = {
    "mixtures": "proven",
    "bets": "bets",
    "pairwise": "kaufmann-koolen",
    "intervals": "betting-intervals",
}


def standard(sources: Sources) -> pd.DataFrame:
    """Stopping times of our rules and of the literature's on the same samples, and their ratios."""
    rows = []
    for row in lines(pd.read_csv(data_folder() / STANDARD)):
        setting, reading = {"delta": row.delta, "cap": None}, RULE_READINGS[row.rule]
        axis = {"x_name": "arms", "x": float(row.n_arms)}
        cell = Cell(row.law, "Track-and-Stop", setting, reading, **axis)
        ends = (row.pulls, row.low, row.high)
        time = Estimate("mean_stopping_time", "pulls", *ends, row.runs)
        rows += cell_rows(cell, [time, proportion("error_rate", row.wrong, row.runs)])
        if reading != "proven":
            ends = (row.ratio, row.ratio_low, row.ratio_high)
            ratio = Estimate("budget_ratio", "", *ends, row.runs)
            rows += comparison_rows(cell, "Track-and-Stop proven", [ratio])
    return assemble(rows)
