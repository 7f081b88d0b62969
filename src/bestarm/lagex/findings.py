"""What came out, in one sentence for each figure that is not in the paper, from its table."""

import pandas as pd

from bestarm.common.drawing import over_published, spread
from bestarm.common.findings import percent
from bestarm.common.tables import pick
from bestarm.lagex.boxes import KNOWING


def beside_paper(
    table: pd.DataFrame,
    statistic: str,
    name: str,
    second: tuple[str, str] = ("released-stop", "with the released stopping rule"),
) -> str:
    """How far published medians are from ours, under two of the readings that are drawn."""
    written, other = (
        over_published(table, statistic, reading) for reading in ("as-written", second[0])
    )
    return f"{name} are {written} the published ones as written, and {other} {second[1]}."


def kept_limits(rows: pd.DataFrame) -> str:
    """How often policies keep all limits, of strategies that know them and of the others."""
    rows = pick(rows, statistic="prob_feasible")
    knows = rows.strategy.isin(KNOWING)
    return (
        f"Recommended policies keep all limits in {percent(rows.value[~knows])} of runs of "
        "strategies that have to learn them, and in "
        f"{percent(rows.value[knows])} if they are known."
    )


def shares(drawn: pd.DataFrame) -> str:
    """Of the rows that are drawn."""
    return kept_limits(drawn)


def example(table: pd.DataFrame) -> str:
    return kept_limits(table)


def readings(table: pd.DataFrame) -> str:
    return beside_paper(
        table, "median_stopping_time", "Median steps", ("", "under the nearest reading")
    )


def theorems(drawn: pd.DataFrame) -> str:
    """Of the rows that are drawn."""
    holds = (drawn.value - 1.0).abs() < 1e-4
    return f"{holds.sum()} of {len(drawn)} ratios are 1, as the statements say" + (
        "." if holds.all() else f", the others {spread(drawn.value[~holds])}."
    )


def sensitivity(drawn: pd.DataFrame, stated: "pd.Series[float]") -> str:
    """Of the medians that are drawn, and the published ones by environment."""
    rows = drawn.set_index("environment").value
    written = drawn[drawn.line == "as-written"].set_index("environment").value
    of_one = rows / written.reindex(rows.index)
    return (
        f"One change makes LAGEX's median {spread(of_one)} times the one as written; the published "
        f"ones are {spread(stated / written)} times those as written."
    )


def programs(table: pd.DataFrame) -> str:
    second = ("program", "in the released program")
    return beside_paper(table, "median_stopping_time", "Median steps", second)


def peculiarities(drawn: pd.DataFrame) -> str:
    """Of the medians that are drawn."""
    released = pick(drawn, reading="program").set_index("strategy").value
    without = drawn[drawn.reading.ne("program") & drawn.value.notna()]
    if without.empty:
        return "No run without a peculiarity has been made."
    moved = without.value / without.strategy.map(released)
    apart = (moved > 1.0).sum()
    return (
        f"Switching one peculiarity off makes the median {spread(moved)} times that of the "
        f"program, larger in {apart} of {len(moved)} cases."
    )


def imdb_spread(table: pd.DataFrame) -> str:
    medians = pick(table, statistic="median_stopping_time")
    by_instance = medians.pivot_table("value", "strategy", "instance")
    ratio = by_instance["imdb, true spread"] / by_instance["imdb"]
    return f"With the ratings' own σ the medians are {spread(ratio)} times those with σ = 1."


def certified(at_delta: pd.DataFrame, r: float) -> str:
    """Of the rows at the delta of the figure."""
    right = pick(at_delta, statistic="prob_correct", x=r)
    over = pick(at_delta, statistic="mean_over_bound", x=r)
    return (
        f"At r = {r:g} Certified is right in {percent(pick(right, strategy='Certified').value)} of "
        f"runs, LAGEX and LATS in {percent(right.value[right.strategy.isin(['LAGEX', 'LATS'])])}; "
        f"Certified's mean is {spread(over.value)} times its lower bound."
    )
