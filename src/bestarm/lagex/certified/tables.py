"""The table of target `certified`: runs, lower bounds, what a certificate costs, error rates."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from bestarm.common.paper import Cell, Sources
from bestarm.common.tables import assemble, cell_rows, comparison_rows, groups, lines
from bestarm.core.estimates import Estimate, exact, proportion
from bestarm.lagex.certified.times import BEST
from bestarm.lagex.paper.bounds import learning_time
from bestarm.lagex.problem import Instance
from bestarm.lagex.released import kept
from bestarm.lagex.tables import TIME_STATISTICS, UNKNOWN, learning_bounds, only, ratio

#: Kept tables, under data/: what certificates cost (`times.py`), how often they err (`errors.py`).
TIMES, ERRORS = "certified-times/times.csv", "certified-errors/errors.csv"
SHARES = ("prob_feasible", "prob_r_optimal", "prob_correct")
ADAPTIVE, UNIFORM, READING = "Certified", "Certified-Uniform", "proven"


def tabulate(sources: Sources) -> pd.DataFrame:
    """Runs with their lower bounds and ratios, and the rows of both kept tables."""
    summary = only(sources.summary, (*TIME_STATISTICS, *SHARES), ("as-written", READING))
    bounds = list(step_bounds(sources, summary))
    return assemble(
        summary,
        bounds,
        list(over_bounds(summary, pd.DataFrame(bounds))),
        list(over_uniform(summary)),
        list(times()),
        list(errors()),
    )


def cell(instance: str, strategy: str, delta: float, r: float, reading: str) -> Cell:
    """A cell at a point of the axis of r."""
    return Cell(instance, strategy, {"delta": delta, "r": r}, reading, x_name="r", x=r)


def step_bounds(sources: Sources, summary: pd.DataFrame) -> Iterator[dict]:
    """Lower bounds on mean and median steps of strategies that learn the constraints."""
    for (name, delta, r), _ in groups(summary, "instance", "delta", "r"):
        problem = Instance(**sources.instances[name]["instance"]).problem
        time = learning_time(problem, r).time
        if math.isfinite(time):
            estimates = learning_bounds({"learning_time": time}, delta)
            yield from cell_rows(cell(name, UNKNOWN, delta, r, "exact"), estimates)


def over_bounds(summary: pd.DataFrame, bounds: pd.DataFrame) -> Iterator[dict]:
    """Certified's mean steps over the lower bound on them."""
    lower_bounds = bounds[bounds.statistic == "lower_bound"]
    least = {(b.instance, b.delta, b.r): b.value for b in lines(lower_bounds)}
    for row in statistic_rows(summary, ADAPTIVE, "mean_stopping_time"):
        bound = least.get((row.instance, row.delta, row.r), 0.0)
        if bound > 0.0:
            ends = (row.value / bound, row.low / bound, row.high / bound)
            ratio = Estimate("mean_over_bound", "", *ends, row.n, row.status)
            yield from cell_rows(of(row), [ratio])


def over_uniform(summary: pd.DataFrame) -> Iterator[dict]:
    """Certified's median steps over those with uniform pulls."""
    median = "median_stopping_time"
    uniform = {(b.instance, b.delta, b.r): b for b in statistic_rows(summary, UNIFORM, median)}
    for row in statistic_rows(summary, ADAPTIVE, median):
        other = uniform.get((row.instance, row.delta, row.r))
        if other is not None:
            yield from comparison_rows(of(row), UNIFORM, [ratio("median_ratio", row, other)])


def statistic_rows(summary: pd.DataFrame, strategy: str, statistic: str) -> Iterator[Any]:
    """The rows of a strategy's statistic."""
    return lines(summary[(summary.strategy == strategy) & (summary.statistic == statistic)])


def of(row: Any) -> Cell:
    """The cell of a row of Certified."""
    return cell(row.instance, ADAPTIVE, row.delta, row.r, READING)


def times() -> Iterator[dict]:
    """When certificates close without noise, and over the best fixed allocation's time."""
    for (name, delta, r), rows in groups(kept.read(TIMES), "instance", "delta", "r"):
        best = rows.time[(rows.allocation == BEST) & rows.without.isna()].iloc[0]
        for row in lines(rows):
            which = row.allocation if pd.isna(row.without) else f"without {row.without}"
            estimates = [
                exact(f"certificate_time:{which}", "steps", row.time),
                exact(f"certificate_ratio:{which}", "", row.time / best),
            ]
            yield from cell_rows(cell(name, ADAPTIVE, delta, r, "exact"), estimates)


def errors() -> Iterator[dict]:
    """Shares of wrong runs, of infeasible and of other wrong answers, in many runs."""
    for row in lines(kept.read(ERRORS)):
        kinds = ("wrong", "infeasible", "suboptimal")
        estimates = [
            proportion(f"error_check:{kind}", getattr(row, kind), row.runs) for kind in kinds
        ]
        yield from cell_rows(cell(row.instance, ADAPTIVE, row.delta, row.r, READING), estimates)
