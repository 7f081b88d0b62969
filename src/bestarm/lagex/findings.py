"""What came out, in one sentence for each figure, from its table."""

import pandas as pd

from bestarm.common.drawing import spread
from bestarm.common.findings import beside_published, percent
from bestarm.common.tables import pick
from bestarm.lagex.boxes import KNOWING

#: The reading of most figures beside the text, and how sentences name it.
RELEASED = ("released-stop", "with the released stopping rule")


def medians(table: pd.DataFrame) -> str:
    """Of a figure of stopping times."""
    return beside_published(table, "median_stopping_time", "Median steps", *RELEASED)


def violations(table: pd.DataFrame) -> str:
    """Of a figure of rounds that break constraints."""
    name = "Rounds with a violating policy"
    return beside_published(table, "policy_violations:median", name, *RELEASED)


def shares(rows: pd.DataFrame) -> str:
    """How often policies keep all limits, of strategies that know them and of the others."""
    rows = pick(rows, statistic="prob_feasible")
    knows = rows.strategy.isin(KNOWING)
    return (
        f"Recommended policies keep all limits in {percent(rows.value[~knows])} of runs of "
        "strategies that have to learn them, and in "
        f"{percent(rows.value[knows])} if they are known."
    )


example = shares


def readings(table: pd.DataFrame) -> str:
    return beside_published(table, "median_stopping_time", "Median steps")


def programs(table: pd.DataFrame) -> str:
    second = ("program", "in the released program")
    return beside_published(table, "median_stopping_time", "Median steps", *second)


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


def peculiarities(drawn: pd.DataFrame) -> str:
    """Of the medians that are drawn."""
    released = pick(drawn, reading="program").set_index("strategy").value
    without = drawn[drawn.reading.ne("program") & drawn.value.notna()]
    if without.empty:
        return "No run without a peculiarity has been made."
    moved = without.value / without.strategy.map(released)
    larger = (moved > 1.0).sum()
    return (
        f"Switching one peculiarity off makes the median {spread(moved)} times that of the "
        f"program, larger in {larger} of {len(moved)} cases."
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
