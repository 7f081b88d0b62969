"""What sentences about tables share: captions begin with one that says what came out."""

from collections.abc import Iterable, Mapping

import pandas as pd

from bestarm.common.drawing import over_published, spread


def named(values: Mapping[str, float], form: str = ".3g") -> str:
    """Numbers, each with its name.

    Example:
        >>> named({"Uniform": 2.5, "LinGapE": 1.04})
        '2.5 (Uniform), 1.04 (LinGapE)'
    """
    return ", ".join(f"{value:{form}} ({name})" for name, value in values.items())


def percent(shares: Iterable[float]) -> str:
    """The least and the largest of some shares.

    Example:
        >>> percent([0.004, 1.0]), percent([0.5])
        ('0.4 to 100%', '50%')
    """
    return f"{spread(100.0 * share for share in shares)}%"


def at_end(rows: pd.DataFrame, least: bool = False) -> pd.DataFrame:
    """The rows with the largest x, or with the least.

    Example:
        >>> at_end(pd.DataFrame({"x": [1, 2, 2], "value": [5, 6, 7]})).value.tolist()
        [6, 7]
    """
    return rows[rows.x == (rows.x.min() if least else rows.x.max())]


def errs(rows: pd.DataFrame, delta: float) -> str:
    """In how many runs a rule errs, at worst, and in how many rows this is above delta.

    Args:
        rows: shares of wrong answers, with 95% intervals.
        delta: what a share may be.

    Example:
        >>> rows = pd.DataFrame({"value": [0.02, 0.3], "low": [0.01, 0.2]})
        >>> errs(rows, 0.1)
        'in up to 30% of runs, with 95% confidence above δ = 0.1 in 1 of 2 cases'
        >>> errs(rows[:1], 0.1)
        'in up to 2% of runs, in no case with 95% confidence above δ = 0.1'
        >>> errs(rows.assign(value=0.0), 0.1)
        'in no run'
    """
    if not rows.value.any():
        return "in no run"
    above = (rows.low > delta).sum()
    sure = f"95% confidence above δ = {delta:g}"
    where = f"with {sure} in {above} of {len(rows)} cases" if above else f"in no case with {sure}"
    return f"in up to {percent([rows.value.max()])} of runs, {where}"


def times(rows: pd.DataFrame) -> str:
    """Ratios as a range, and how many of their intervals include 1.

    Args:
        rows: ratios, with 95% intervals.

    Example:
        >>> rows = pd.DataFrame({"value": [0.9, 2.5], "low": [0.8, 2.0], "high": [1.1, 3.0]})
        >>> times(rows), times(rows[1:])
        ('0.9 to 2.5 times (intervals include 1 in 1 of 2 cases)', '2.5 times')
    """
    same = ((rows.low <= 1.0) & (rows.high >= 1.0)).sum()
    note = f" (intervals include 1 in {same} of {len(rows)} cases)" if same else ""
    return f"{spread(rows.value)} times{note}"


def beside_published(
    table: pd.DataFrame,
    statistic: str,
    name: str,
    reading: str = "",
    words: str = "under the nearest reading",
) -> str:
    """How far a statistic is from its published values, as written and under another reading.

    Args:
        table: of a target.
        statistic: with published rows.
        name: of the statistic, as the sentence begins.
        reading: the other one; if empty, for each published value the nearest.
        words: for that reading.
    """
    written, other = (over_published(table, statistic, which) for which in ("as-written", reading))
    return f"{name} are {written} the published ones as written, and {other} {words}."


def less_and_more(rows: pd.DataFrame) -> tuple[int, int]:
    """How many differences have intervals below 0, and how many above.

    Example:
        >>> less_and_more(pd.DataFrame({"low": [-2, -1, 1], "high": [-1, 1, 2]}))
        (1, 1)
    """
    return int((rows.high < 0.0).sum()), int((rows.low > 0.0).sum())


def last_errors(rows: pd.DataFrame) -> pd.DataFrame:
    """The error rates at the largest x at which all of them are above 0.

    Example:
        >>> rows = pd.DataFrame({"x": [1, 1, 2, 2, 3, 3], "value": [0.9, 0.5, 0.2, 0.1, 0.1, 0.0]})
        >>> last_errors(rows).value.tolist()
        [0.2, 0.1]
    """
    return at_end(rows[rows.groupby("x").value.transform("min") > 0.0])
