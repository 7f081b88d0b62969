"""What came out, in one sentence for each figure, from its table."""

import pandas as pd

from bestarm.common.drawing import spread
from bestarm.common.findings import at_end, beside_published, errs, times
from bestarm.common.tables import pick


def table1(table: pd.DataFrame) -> str:
    return beside_published(table, "mean_stopping_time", "Mean draws")


def proportions(table: pd.DataFrame) -> str:
    key = ["instance", "statistic"]
    drawn = pick(table, strategy="Track-and-Stop", reading="as-written")
    shares = drawn.assign(statistic=drawn.statistic.str.replace("mean", "optimal")).set_index(key)
    optimal = pick(table, reading="exact").set_index(key).value
    apart = (shares.value - optimal.reindex(shares.index)).abs().max()
    return f"As written, each arm's mean share of the draws is within {apart:.2g} of w*."


def proven(table: pd.DataFrame) -> str:
    rows = pick(table, statistic="budget_ratio")
    return f"The proven threshold takes {times(rows)} the draws of the one of Section 6."


def asymptotics(table: pd.DataFrame) -> str:
    last = at_end(pick(table, statistic="bound_ratio"), least=True)
    written, proven = (
        spread(pick(last, reading=reading).value) for reading in ("as-written", "proven")
    )
    return (
        f"At δ = {last.x.min():g} Track-and-Stop takes {written} times the lower bound as written, "
        f"and {proven} times with a proven threshold."
    )


def boundary(table: pd.DataFrame) -> str:
    rows = pick(table, statistic="wrong_stops")
    written, proven = (
        errs(pick(rows, reading=reading), rows.delta.iloc[0])
        for reading in ("as-written", "proven")
    )
    return f"Next to a tie the rules as written err {written}; with a proven threshold {proven}."
