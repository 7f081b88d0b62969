"""What came out, in one sentence for each figure, from its table."""

from collections.abc import Mapping

import pandas as pd

from bestarm.common.drawing import spread
from bestarm.common.findings import errs, percent
from bestarm.common.tables import pick

#: The readings of most figures, as a sentence names them.
READINGS = {"as-written": "as written", "as-published": "as published"}


def shares_of_time(rows: pd.DataFrame, readings: Mapping[str, str] = READINGS) -> str:
    """The time with forecasts over that without, in words, under two readings."""
    (first, here), (second, there) = (
        (spread(pick(rows, strategy="Partial", reading=reading).value, ".0%"), name)
        for reading, name in readings.items()
    )
    return f"With forecasts the time is {first} of that without them {here}, and {second} {there}"


def means(table: pd.DataFrame) -> str:
    lowest = pick(table, statistic="lowest_ratio", reading="as-written").set_index("instance")
    stated = pick(table, statistic="lowest_ratio", instance="all bounded", reading="published")
    text, program = (percent(lowest.value[name]) for name in ("all bounded from 1", "all bounded"))
    return (
        f"As written, the lowest times with forecasts are {text} of those without, and {program} "
        f"with the program's means; the paper states {percent(stated.value)}."
    )


def readings(table: pd.DataFrame) -> str:
    ratios = pick(table, statistic="time_ratio", strategy="Partial")
    wrong = pick(table, statistic="error_rate", strategy="Partial")
    return (
        f"By reading, the time with forecasts is {percent(ratios.value)} of that without them; "
        f"answers are wrong {errs(wrong, wrong.delta.iloc[0])}."
    )


def models(table: pd.DataFrame) -> str:
    return f"{shares_of_time(pick(table, statistic='time_ratio'))}."


def coverage(drawn: pd.DataFrame) -> str:
    """Of the rows that are drawn."""
    is_sigma = drawn.reading.str.endswith("+sigma")
    delta = drawn.delta.iloc[0]
    return (
        f"Intervals miss a mean {errs(drawn[~is_sigma], delta)}; with scale = σ "
        f"{errs(drawn[is_sigma], delta)}."
    )


def mixture(drawn: pd.DataFrame) -> str:
    """Of the rows that are drawn."""
    names = {"mixture": "under the mixture", "as-published": "as published"}
    return f"{shares_of_time(drawn, names)}."
