"""What two numbers say of each other: p-values for and against a statement, from their intervals.

A comparison asks whether a number of ours is a published one, exceeds another, or is about another.
`Evidence` holds a p-value for the statement and one against it; docs/analysis-plan.md turns these
into outcomes. Errors are normal, on the scale of logarithms for times and ratios. A number that
faces another from below is judged by the upper half of its interval, and the other way round.
"""

import math
from typing import NamedTuple

import pandas as pd
from scipy import special

from bestarm.core.estimates import wilson

#: Half-width of a 95% interval in standard errors, and what 80% power needs beyond that.
Z95 = float(special.ndtri(0.975))
Z_POWER = float(special.ndtri(0.8))
#: "No run does X" is taken as true if the share of runs that do is surely below this.
NEVER = 0.01

# Why a comparison decides nothing.
CAPPED, UNDEFINED, NO_INTERVAL = "capped", "undefined", "no interval"


class Side(NamedTuple):
    """A number on the scale of its comparison, with standard errors downwards and upwards."""

    value: float
    below: float = 0.0
    above: float = 0.0


class Evidence(NamedTuple):
    """P-values for and against a statement, and the difference behind them.

    `away` and `facing` are standard errors of the difference on its far and its near side; `ours`
    is what our own runs add to them. `margin` and `tolerance` are nan and 0 where there are none.
    """

    support: float
    against: float
    reason: str = ""  # why neither can be small
    difference: float = math.nan
    facing: float = math.nan
    away: float = math.nan
    ours: float = math.nan
    margin: float = math.nan
    tolerance: float = 0.0
    never: bool = False  # it is on runs that do not do something


def undecided(reason: str) -> Evidence:
    """Of a comparison that cannot decide anything."""
    return Evidence(1.0, 1.0, reason)


def tail(difference: float, error: float) -> float:
    """P(Z > difference / error); without error a difference that is not negative is certain."""
    if error == 0.0:
        return 0.0 if difference >= 0.0 else 1.0
    return float(special.ndtr(-difference / error))


def is_computed(row: pd.Series) -> bool:
    """Whether a row of a table is known without error."""
    return row.status == "exact"


def missing(row: pd.Series) -> str:
    """Why a row can support nothing, or an empty text."""
    if math.isnan(row.value):
        return UNDEFINED
    sampled = not is_computed(row) and row.status != "published"
    return NO_INTERVAL if sampled and math.isnan(row.high - row.low) else ""


def is_lower_bound(row: pd.Series) -> bool:
    """Whether a row is a mean over runs of which some were capped."""
    return row.status == "restricted" and row.statistic == "mean_stopping_time"


def count_of(row: pd.Series) -> int | None:
    """How many of its n runs a share counts; None if it is no such share."""
    if row.unit != "share" or row.n < 1:
        return None
    count = round(row.value * row.n)
    if not 0 <= count <= row.n:
        return None
    low, high = wilson(count / row.n, int(row.n))
    if count in (0, row.n):  # such shares have a one-sided interval in tables
        return count if row.status == "one-sided" else None
    return count if abs(low - row.low) + abs(high - row.high) < 1e-4 else None


def raw_side(row: pd.Series) -> Side:
    """A row as it is. Standard errors are those of its 95% interval; Wilson's for shares."""
    if is_computed(row):
        return Side(row.value)
    low, high = row.low, row.high
    if (count := count_of(row)) is not None:
        low, high = wilson(count / row.n, int(row.n))
    return Side(row.value, max(row.value - low, 0.0) / Z95, max(high - row.value, 0.0) / Z95)


def log_side(row: pd.Series) -> Side | None:
    """The logarithm of a row; None if it is not positive."""
    if row.value <= 0.0:
        return None
    if is_computed(row) or row.low == row.high:
        return Side(math.log(row.value))
    wide = (row.high - row.low) / row.value if row.low <= 0.0 else math.log(row.high / row.low)
    error = wide / (2.0 * Z95)
    return Side(math.log(row.value), error, error)


def _apart(ours: Side, other: Side) -> tuple[float, float, float, float]:
    """other - ours, the errors on its near and far sides, and our part of the near one."""
    difference = other.value - ours.value
    if difference >= 0.0:
        near, far = (ours.above, other.below), (ours.below, other.above)
    else:
        near, far = (ours.below, other.above), (ours.above, other.below)
    return difference, math.hypot(*near), math.hypot(*far), near[0]


def same(ours: Side, other: Side, margin: float, tolerance: float = 0.0) -> Evidence:
    """For: the difference lies within +-margin (two one-sided tests). Against: it is 0.

    Args:
        ours: our number, on the scale of the comparison.
        other: the published one, likewise.
        margin: what still counts as the same.
        tolerance: by how much `other` may be off before sampling, as by rounding.
    """
    difference, facing, away, mine = _apart(ours, other)
    room = margin - tolerance - abs(difference)
    beyond = abs(difference) - tolerance
    against = 1.0 if beyond <= 0.0 else 2.0 * tail(beyond, facing)
    support = tail(room, away) if room > 0.0 else max(0.5, tail(room, away))
    return Evidence(
        support, min(1.0, against), "", difference, facing, away, mine, margin, tolerance
    )


def about(ours: Side, other: Side, margin: float) -> Evidence:
    """For: the difference lies within +-margin. Against: it lies outside."""
    found = same(ours, other, margin)
    outside = abs(found.difference) - margin
    return found._replace(against=tail(outside, found.facing))


def larger(ours: Side, other: Side, sign: float = 1.0) -> Evidence:
    """For: ours is at least the other (at most, if sign is -1). Against: the opposite."""
    difference, facing, away, mine = _apart(ours, other)
    if math.isnan(difference):  # both are infinite
        difference = 0.0
    over = -sign * difference
    support = tail(over, facing)
    against = tail(-over, facing) if over < 0.0 or facing > 0.0 else 1.0
    return Evidence(support, against, "", difference, facing, away, mine)


def share_against(count: int, n: int, limit: float, sign: float) -> Evidence:
    """For: a share is at least `limit` (at most, if sign is -1). Exact binomial tests."""
    low, high = special.bdtr(count, n, limit), special.bdtrc(count - 1, n, limit) if count else 1.0
    support, against = (high, low) if sign > 0.0 else (low, high)
    error = math.sqrt(limit * (1.0 - limit) / n)
    return Evidence(float(support), float(against), "", limit - count / n, error, error, error)


def never(count: int, n: int) -> Evidence:
    """For: the share of runs is below NEVER, none of n having been seen. Against: one was."""
    if count:
        return Evidence(1.0, 0.0, never=True)
    return Evidence((1.0 - NEVER) ** n, 1.0, never=True)


def printed(ours: float, published: float, half_unit: float) -> Evidence:
    """For: ours, rounded as printed, is the published number. Nothing is sampled."""
    difference = published - ours
    holds = abs(difference) <= half_unit * (1.0 + 1e-9)
    return Evidence(
        0.0 if holds else 1.0, 1.0 if holds else 0.0, "", difference, tolerance=half_unit
    )


def resolution(found: Evidence) -> float:
    """The smallest difference seen with 80% power at 5%, on the scale of the comparison."""
    return (Z95 + Z_POWER) * found.facing + found.tolerance


def runs_to_settle(found: Evidence, n: int, tests: int) -> float:
    """How many runs of ours would decide a comparison if its difference stays what it is.

    Args:
        found: what n runs gave.
        n: our runs.
        tests: how many readings p-values for the statement are corrected over.

    Returns:
        The number of runs; infinite if none would do, because of the other side's error.
    """
    goals = []  # the largest standard error that decides
    if math.isnan(found.margin):
        goals.append(abs(found.difference) / special.ndtri(1.0 - 0.05 / tests))
    else:
        goals.append((abs(found.difference) - found.tolerance) / Z95)
        room = found.margin - found.tolerance - abs(found.difference)
        goals.append(room / special.ndtri(1.0 - 0.05 / tests))
    theirs = found.facing**2 - found.ours**2
    spare = max(max(goals), 0.0) ** 2 - theirs
    if not spare > 0.0 or math.isnan(found.ours):
        return math.inf
    return math.ceil(n * found.ours**2 / spare)
