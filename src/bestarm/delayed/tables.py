"""How summaries become the tables of the delayed feedback paper's figures."""

import math
from collections.abc import Callable, Iterator

import pandas as pd

from bestarm.common.paper import Cell, Sources
from bestarm.common.tables import assemble, cell_rows, groups, published_rows
from bestarm.core.estimates import Estimate, exact, proportion, ratio_of_independent_means
from bestarm.delayed.strategies import READINGS, Setting

#: Columns of Figure 1: family of instances -> quantity on the axis.
PANELS = {"bounded": "n", "free": "n", "delays": "D"}
RUN_STATISTICS = (
    *("mean_stopping_time", "median_stopping_time", "share_capped", "error_rate"),
    *("time_ratio", "mean_time_ratio", "share_slower"),
)


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    """The hardness of an instance; the paper has no lower bound (Section 7)."""
    if truth["hardness"] is None:
        return []
    return [exact("hardness", "pulls", truth["hardness"])]


def figure_1(sources: Sources) -> pd.DataFrame:
    """Times and their ratios in every panel, their extremes, and the published numbers.

    Also the speed-up of parallel pulls, and times in units of the delay.
    """
    drawn_rows, panels = _by_panel(sources)
    return assemble(
        drawn_rows,
        panels,
        list(speedups(drawn_rows)),
        list(in_delays(drawn_rows)),
        published_rows(sources.published, "fig1"),
    )


def means(sources: Sources) -> pd.DataFrame:
    """Figure 1a with the means of the text and with those of the published program."""
    return assemble(*_by_panel(sources), published_rows(sources.published, "fig1"))


def mixture(sources: Sources) -> pd.DataFrame:
    """Figure 1 under the mixture, and its times, errors and missed intervals everywhere else."""
    summary = sources.summary
    once_more = summary[summary.experiment == "mixture"]
    _, panels = _by_panel(Sources(once_more, sources.instances, sources.published))
    kept = (*RUN_STATISTICS, "share_missed")
    return assemble(
        summary[summary.statistic.isin(kept)], panels, published_rows(sources.published, "fig1")
    )


def figure_2(sources: Sources) -> pd.DataFrame:
    """The same for battery charging, with the hardness of the instance."""
    name = next(iter(_recorded(sources, "battery")))
    return assemble(
        *_by_panel(sources, of_grid),
        list(of_pulls(sources.summary)),
        _facts("all battery", _of_truth(sources, name, "cycles")),
        published_rows(sources.published, "fig2"),
    )


def cut_strategies(sources: Sources) -> pd.DataFrame:
    """Times and their ratios, the hardness of the instance, the quality of forecasts by step."""
    statistics = (*RUN_STATISTICS, "share_missed", "pulls_finished")
    by_step = [
        {**fact, "x_name": "step", "x": float(quality["step"])}
        for quality in _recorded(sources, "mip")["mip"]["truth"]["forecasts"]
        for fact in _facts(
            "mip",
            [
                exact(f"forecast_{name}", "share" if name in ("share", "within") else "", value)
                for name, value in quality.items()
                if name != "step" and value is not None
            ],
        )
    ]
    return assemble(
        sources.summary[sources.summary.statistic.isin(statistics)],
        _facts("mip", _of_truth(sources, "mip", "")),
        by_step,
        published_rows(sources.published, "mip"),
    )


def tabulate_arms(table: str) -> Callable[[Sources], pd.DataFrame]:
    """The arms of recorded pulls, best first: mean and standard deviation of their rewards."""

    def shapes(sources: Sources) -> pd.DataFrame:
        described = next(iter(_recorded(sources, table).values()))["instance"]
        frame = pd.DataFrame({name: described[name] for name in ("arms", "means", "sigma")})
        ordered = frame.sort_values("means", ascending=False, kind="stable", ignore_index=True)
        return ordered.rename(columns={"arms": "arm", "means": "mean"})

    return shapes


def _recorded(sources: Sources, table: str) -> dict:
    """The instances made from a table of recorded pulls."""
    return {
        name: contents
        for name, contents in sources.instances.items()
        if contents["instance"]["table"] and contents["instance"]["table"]["name"] == table
    }


def _of_truth(sources: Sources, name: str, unit: str) -> list[Estimate]:
    truth = sources.instances[name]["truth"]
    return [
        exact("hardness", "pulls", truth["hardness"]),
        exact("least_gap", unit, min(truth["gaps"])),
    ]


def _facts(instance: str, estimates: list[Estimate]) -> list[dict]:
    """Rows of the ground truth of an instance, without a strategy."""
    empty = dict.fromkeys(("strategy", "setting", "reading", "x_name"), "")
    return [{"instance": instance, **empty, "x": math.nan, **vars(e)} for e in estimates]


def of_panel(rows: pd.DataFrame) -> Iterator[Estimate]:
    """The shares of wrong answers and of slower runs in a panel, and the extremes of its ratios."""
    for statistic in ("error_rate", "share_slower"):
        in_panel = rows[rows.statistic == statistic]
        if len(in_panel):
            counted = round(float((in_panel.value * in_panel.n).sum()))
            yield proportion(statistic, counted, int(in_panel.n.sum()))
    ratios = rows[rows.statistic == "time_ratio"].sort_values("x")
    if len(ratios):
        low, high = ratios.iloc[ratios.value.argmin()], ratios.iloc[ratios.value.argmax()]
        yield _renamed("lowest_ratio", low)
        yield _renamed("highest_ratio", high)
        first, last = ratios.iloc[0], ratios.iloc[-1]
        change = last.value - first.value
        half = math.hypot(last.high - last.value, first.high - first.value)
        yield Estimate(
            "ratio_change", "", change, change - half, change + half, int(last.n), last.status
        )


def of_grid(rows: pd.DataFrame) -> Iterator[Estimate]:
    """`of_panel`, and the mean over points of 1 - time_ratio; runs of points are independent."""
    yield from of_panel(rows)
    ratios = rows[rows.statistic == "time_ratio"]
    if ratios.empty:
        return
    gain, k = 1.0 - ratios.value.mean(), len(ratios)
    below = math.hypot(*(ratios.high - ratios.value)) / k
    above = math.hypot(*(ratios.value - ratios.low)) / k
    status = "restricted" if (ratios.status == "restricted").any() else ""
    yield Estimate("mean_gain", "", gain, gain - below, gain + above, int(ratios.n.min()), status)


def _by_panel(sources: Sources, of: Callable = of_panel) -> tuple[pd.DataFrame, list[dict]]:
    """The statistics of all cells, and those of whole panels."""
    summary = sources.summary[sources.summary.statistic.isin(RUN_STATISTICS)]
    keys = ["family", "setting", "strategy", "reading"]
    whole = [
        {**_whole(rows), **vars(estimate)}
        for _, rows in groups(summary, *keys)
        for estimate in of(rows)
    ]
    return summary, whole


def _whole(rows: pd.DataFrame) -> dict:
    """The common columns of the rows of a panel, for a row about the whole panel."""
    first = rows.iloc[0]
    kept = ["strategy", "setting", "reading", "family", "algorithm"]
    kept += [name for name in Setting.model_fields if name in first]
    return {"instance": f"all {first.family}", **first[kept], "x_name": "", "x": math.nan}


def speedups(rows: pd.DataFrame) -> Iterator[dict]:
    """Mean sequential over mean parallel time, of every strategy and reading on every instance."""
    means = rows[rows.statistic == "mean_stopping_time"]
    for (name, strategy, reading), two in groups(means, "instance", "strategy", "reading"):
        one_by_one, together = (two[two.batch == batch].iloc[0] for batch in (1, 10))
        ratio = ratio_of_independent_means("parallel_speedup", one_by_one, together)
        yield from cell_rows(Cell(name, strategy, {}, reading), [ratio])


def in_delays(rows: pd.DataFrame) -> Iterator[dict]:
    """Mean times in units of the delay, for the points along the delay axis."""
    means = rows[(rows.statistic == "mean_stopping_time") & (rows.x_name == "D")]
    for row in means.to_dict("records"):
        scaled = {name: row[name] / row["x"] for name in ("value", "low", "high")}
        yield {**row, "statistic": "time_per_delay", "unit": "delays", **scaled}


def of_pulls(summary: pd.DataFrame) -> Iterator[dict]:
    """Ratios of pulls started with partial feedback to those without, and the smallest of them.

    Means of finished and cancelled pulls are added; their intervals are combined as if they were
    independent, which is nearly true for runs that end at different times.
    """
    in_panel = summary[summary.statistic.isin(["pulls_finished", "pulls_cancelled"])]
    places = ["instance", "setting", "strategy", "reading"]
    started = {}
    for place, rows in groups(in_panel, *places):
        value, half = rows.value.sum(), math.hypot(*(rows.high - rows.value))
        ends = {"value": value, "low": value - half, "high": value + half}
        started[place] = pd.Series({**rows.iloc[0], **ends})
    ratios = []
    for (name, setting, strategy, reading), mine in started.items():
        if strategy == "Partial":
            others = started[name, setting, "Full", READINGS["Partial"][reading].alone]
            ratio = ratio_of_independent_means("pulls_ratio", mine, others)
            ratios.append({**mine, **vars(ratio)})
    yield from ratios
    for _, rows in groups(pd.DataFrame(ratios), "family", *places[1:]):
        least = vars(_renamed("lowest_pulls_ratio", rows.iloc[rows.value.argmin()]))
        yield {**_whole(rows), **least}


def _renamed(statistic: str, row: pd.Series) -> Estimate:
    return Estimate(statistic, "", row.value, row.low, row.high, int(row.n), row.status)


def only(*statistics: str) -> Callable[[Sources], pd.DataFrame]:
    """A table of some statistics of the runs, as they are."""

    def tabulate(sources: Sources) -> pd.DataFrame:
        return assemble(sources.summary[sources.summary.statistic.isin(statistics)])

    return tabulate
