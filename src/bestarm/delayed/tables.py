"""How summaries become the tables of the delayed feedback paper's figures."""

import math
from collections.abc import Callable, Iterator

import pandas as pd

from bestarm.core.estimates import Estimate, exact, proportion
from bestarm.pipeline.model import Sources
from bestarm.pipeline.tables import assemble, published_rows

#: Columns of Figure 1, by what their instances are called and what is on the axis.
PANELS = {"bounded": "n", "free": "n", "delays": "D"}
RUN_STATISTICS = (
    *("mean_stopping_time", "median_stopping_time", "share_capped", "error_rate"),
    *("time_ratio", "mean_time_ratio", "share_slower"),
)


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    """How hard an instance is; the paper has no lower bound (Section 7)."""
    if truth["hardness"] is None:
        return []
    return [exact("hardness", "pulls", truth["hardness"])]


def panel_of(instance: str) -> str:
    """The column of Figure 1 that an instance belongs to."""
    return instance.split()[0]


def figure_1(sources: Sources) -> pd.DataFrame:
    """Times and their ratios in every panel, what is extreme in each, and the published numbers."""
    summary = sources.summary[sources.summary.statistic.isin(RUN_STATISTICS)]
    keys = [summary.instance.map(panel_of), "setting", "strategy", "reading"]
    whole = [
        {
            "instance": f"all {panel}",
            "strategy": strategy,
            "setting": setting,
            "reading": reading,
            "x_name": "",
            "x": math.nan,
            **vars(estimate),
        }
        for (panel, setting, strategy, reading), rows in summary.groupby(keys, sort=False)
        for estimate in of_panel(rows)
    ]
    return assemble(summary, whole, published_rows(sources.published, "fig1"))


def of_panel(rows: pd.DataFrame) -> Iterator[Estimate]:
    """The shares of wrong answers and of slower runs over all cells of a panel, and its ratios."""
    for statistic in ("error_rate", "share_slower"):
        some = rows[rows.statistic == statistic]
        if len(some):
            counted = round(float((some.value * some.n).sum()))
            yield proportion(statistic, counted, int(some.n.sum()))
    ratios = rows[rows.statistic == "time_ratio"].sort_values("x")
    if len(ratios):
        low, high = ratios.loc[ratios.value.idxmin()], ratios.loc[ratios.value.idxmax()]
        yield _renamed("lowest_ratio", low)
        yield _renamed("highest_ratio", high)
        first, last = ratios.iloc[0], ratios.iloc[-1]
        change = last.value - first.value
        half = math.hypot(last.high - last.value, first.high - first.value)
        yield Estimate(
            "ratio_change", "", change, change - half, change + half, int(last.n), last.status
        )


def _renamed(statistic: str, row: pd.Series) -> Estimate:
    return Estimate(statistic, "", row.value, row.low, row.high, int(row.n), row.status)


def only(*statistics: str) -> Callable[[Sources], pd.DataFrame]:
    """A table of some statistics of the runs, as they are."""

    def tabulate(sources: Sources) -> pd.DataFrame:
        return assemble(sources.summary[sources.summary.statistic.isin(statistics)])

    return tabulate
