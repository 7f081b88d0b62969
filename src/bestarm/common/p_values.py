"""Comparisons of two numbers: p-values for and against a statement, from their intervals.

A comparison asks whether a number of ours is a published one, exceeds another, or is about another.
`PValues` holds a p-value for the statement and one against it; docs/analysis-plan.md turns these
into outcomes. Errors are taken as normal, on a logarithmic scale for times and ratios. The smaller
number's error is the upper half of its interval, the larger one's the lower half.
"""

import math
from typing import Any, NamedTuple

from scipy import special

from bestarm.core.estimates import wilson

#: Half-width of a 95% interval in standard errors, and what 80% power needs beyond that.
Z95 = float(special.ndtri(0.975))
Z_POWER = float(special.ndtri(0.8))
#: "No run does X" counts as true if the share of runs that do is significantly below this.
NEVER = 0.01

# Reasons why a comparison is inconclusive.
CAPPED, UNDEFINED, NO_INTERVAL = "capped", "undefined", "no interval"


class Side(NamedTuple):
    """A number on the scale of its comparison, with standard errors downwards and upwards."""

    value: float
    below: float = 0.0
    above: float = 0.0


class PValues(NamedTuple):
    """P-values for and against a statement, and the difference behind them.

    `facing` and `away` are standard errors of the difference, from the halves of the two intervals
    that face each other and from the other halves; `ours` and `ours_away` are the parts of them
    from our runs. `margin` is nan and `tolerance` 0 if there is none.
    """

    support: float
    against: float
    reason: str = ""  # why the comparison is inconclusive, if it is
    difference: float = math.nan
    facing: float = math.nan
    away: float = math.nan
    ours: float = math.nan
    ours_away: float = math.nan
    margin: float = math.nan
    tolerance: float = 0.0
    never: bool = False  # a statement that no run does something


def undecided(reason: str) -> PValues:
    """The p-values of an inconclusive comparison."""
    return PValues(1.0, 1.0, reason)


def tail(difference: float, error: float) -> float:
    """P(Z > difference / error); with error 0, 0 for a nonnegative difference and else 1."""
    if error == 0.0:
        return 0.0 if difference >= 0.0 else 1.0
    return float(special.ndtr(-difference / error))


def is_computed(row: Any) -> bool:
    """Whether a row of a table is computed without sampling."""
    return row.status == "exact"


def missing(row: Any) -> str:
    """Why a row cannot be compared; empty if it can."""
    if math.isnan(row.value):
        return UNDEFINED
    sampled = not is_computed(row) and row.status != "published"
    return NO_INTERVAL if sampled and math.isnan(row.high - row.low) else ""


def is_lower_bound(row: Any) -> bool:
    """Whether a row is a mean of times or pulls over runs of which some were capped.

    Ratios of such means, which have no unit, are no bounds.
    """
    return row.status == "restricted" and row.unit != ""


def success_count(row: Any) -> int | None:
    """The number of successes behind a share of n runs; None if the row is not such a share."""
    if row.unit != "share" or row.n < 1:
        return None
    count = round(row.value * row.n)
    if not 0 <= count <= row.n:
        return None
    low, high = wilson(count / row.n, int(row.n))
    if count in (0, row.n):  # such shares have a one-sided interval in tables
        return count if row.status == "one-sided" else None
    return count if abs(low - row.low) + abs(high - row.high) < 1e-4 else None


def raw_side(row: Any) -> Side:
    """A row without transformation; standard errors from its 95% interval (Wilson's for shares).

    Below, an interval that ends at 0 may be cut off there: its error is that above, if larger.
    """
    if is_computed(row):
        return Side(row.value)
    low, high = row.low, row.high
    if (count := success_count(row)) is not None:
        low, high = wilson(count / row.n, int(row.n))
    below, above = (max(half, 0.0) / Z95 for half in (row.value - low, high - row.value))
    return Side(row.value, max(below, above) if low == 0.0 else below, above)


def log_side(row: Any) -> Side | None:
    """The logarithm of a row; None if it is not positive.

    Either half of its interval gives the standard error on its side: so another number differs at
    5% if and only if it lies outside. An interval that reaches 0 excludes no smaller number.
    """
    if row.value <= 0.0:
        return None
    if is_computed(row):
        return Side(math.log(row.value))
    below = math.inf if row.low <= 0.0 else math.log(row.value / row.low)
    return Side(math.log(row.value), below / Z95, math.log(row.high / row.value) / Z95)


def published_sides(value: float, n: float, own: float, ours: Any) -> tuple[Side, Side]:
    """A published number with its sampling error, as it is and as its logarithm.

    The error is ours, scaled to the paper's number of runs, or `own` if that is larger; for shares
    it is that of Wilson's interval.

    Args:
        value: the published number.
        n: the paper's runs; nan if it has no sampling error.
        own: relative standard error between two values that the paper itself has, or 0.
        ours: our row of the same number.
    """
    log_value = math.log(value) if value > 0.0 else -math.inf
    if math.isnan(n):
        return Side(value), Side(log_value)
    if success_count(ours) is not None:
        low, high = wilson(value, int(n))
        raw = Side(value, (value - low) / Z95, (high - value) / Z95)
    else:
        mine = raw_side(ours)
        scale = math.sqrt(ours.n / n) * (value / ours.value if ours.value else 1.0)
        halves = (half * scale if scale else 0.0 for half in (mine.below, mine.above))
        raw = Side(value, *(max(half, own * value) for half in halves))
    log = log_side(ours) or Side(0.0)
    halves = (max(half * math.sqrt(ours.n / n), own) for half in (log.below, log.above))
    return raw, Side(log_value, *halves)


def _apart(ours: Side, other: Side) -> tuple[float, float, float, float, float]:
    """other - ours, its errors `facing` and `away`, and our parts of these; see `PValues`."""
    difference = other.value - ours.value
    if difference >= 0.0:
        near, far = (ours.above, other.below), (ours.below, other.above)
    else:
        near, far = (ours.below, other.above), (ours.above, other.below)
    return difference, math.hypot(*near), math.hypot(*far), near[0], far[0]


def same(ours: Side, other: Side, margin: float, tolerance: float = 0.0) -> PValues:
    """For: the difference lies within +-margin (two one-sided tests). Against: it is 0.

    Args:
        ours: our number, on the scale of the comparison.
        other: the published one, on the same scale.
        margin: the largest difference that counts as the same.
        tolerance: by how much `other` may be off apart from sampling, such as by rounding.
    """
    difference, facing, away, mine, mine_away = _apart(ours, other)
    room = margin - tolerance - abs(difference)
    beyond = abs(difference) - tolerance
    against = 1.0 if beyond <= 0.0 else 2.0 * tail(beyond, facing)
    support = tail(room, away) if room > 0.0 else max(0.5, tail(room, away))
    return PValues(
        support, min(1.0, against), "", difference, facing, away, mine, mine_away, margin, tolerance
    )


def about(ours: Side, other: Side, margin: float) -> PValues:
    """For: the difference lies within +-margin. Against: it lies outside."""
    result = same(ours, other, margin)
    outside = abs(result.difference) - margin
    return result._replace(against=tail(outside, result.facing))


def larger(ours: Side, other: Side, sign: float = 1.0) -> PValues:
    """For: ours is at least the other (at most, if sign is -1). Against: the opposite."""
    difference, facing, away, mine, mine_away = _apart(ours, other)
    if math.isnan(difference):  # both are infinite
        difference = 0.0
    over = -sign * difference
    support = tail(over, facing)
    against = tail(-over, facing) if over < 0.0 or facing > 0.0 else 1.0
    return PValues(support, against, "", difference, facing, away, mine, mine_away)


def share_against(count: int, n: int, limit: float, sign: float) -> PValues:
    """For: a share is at least `limit` (at most, if sign is -1). Exact binomial tests."""
    low, high = special.bdtr(count, n, limit), special.bdtrc(count - 1, n, limit) if count else 1.0
    support, against = (high, low) if sign > 0.0 else (low, high)
    error = math.sqrt(limit * (1.0 - limit) / n)
    return PValues(float(support), float(against), "", limit - count / n, error, error, error)


def never(count: int, n: int) -> PValues:
    """For: the share of runs is below NEVER, given that `count` of n is 0. Against: it is not 0."""
    if count:
        return PValues(1.0, 0.0, never=True)
    return PValues((1.0 - NEVER) ** n, 1.0, never=True)


def printed(ours: float, published: float, half_unit: float) -> PValues:
    """For: ours, rounded as printed, is the published number. For computed numbers."""
    difference = published - ours
    holds = abs(difference) <= half_unit * (1.0 + 1e-9)
    return PValues(
        0.0 if holds else 1.0, 1.0 if holds else 0.0, "", difference, tolerance=half_unit
    )


def half_width(result: PValues) -> float:
    """Half the width of the 95% interval of a difference, rounding included, on its scale."""
    return Z95 * (result.facing + result.away) / 2.0 + result.tolerance


def is_close(result: PValues) -> bool:
    """Whether the whole 95% interval of a difference lies within the margin."""
    return abs(result.difference) + result.tolerance + Z95 * result.away <= result.margin


def power(result: PValues, tests: int, level: float) -> float:
    """P(both sides are confirmed to be the same) if they are the same, from their errors.

    The difference is then normal around 0. It has to be so small that the equivalence test at 5%
    divided by `tests` passes (Bonferroni, which Holm's method never falls below), and that the test
    of difference at `level` does not reject.

    Args:
        result: what `same` says.
        tests: over how many readings equivalence is corrected.
        level: of the two-sided test of difference.
    """
    error = (result.facing + result.away) / 2.0
    if not math.isfinite(error):
        return 0.0
    equivalent = result.margin - result.tolerance - special.ndtri(1.0 - 0.05 / tests) * error
    not_different = result.tolerance + special.ndtri(1.0 - level / 2.0) * error
    most = min(equivalent, not_different)
    if most < 0.0:
        return 0.0
    return 1.0 if error == 0.0 else float(2.0 * special.ndtr(most / error) - 1.0)


def resolution(result: PValues) -> float:
    """The smallest difference detected with 80% power at level 5%, on the comparison's scale."""
    return (Z95 + Z_POWER) * result.facing + result.tolerance


def runs_to_settle(result: PValues, n: int, tests: int) -> float:
    """How many of our runs would decide a comparison if its difference did not change.

    Args:
        result: the p-values from n runs.
        n: our runs.
        tests: number of readings over which p-values for the statement are corrected.

    Returns:
        The number of runs; infinite if no number suffices, because of the other side's error.
    """
    needed = special.ndtri(1.0 - 0.05 / tests)
    if math.isnan(result.margin):
        return _runs_for(abs(result.difference) / needed, n, result.facing, result.ours)
    beyond = abs(result.difference) - result.tolerance
    room = result.margin - result.tolerance - abs(result.difference)
    return min(
        _runs_for(beyond / Z95, n, result.facing, result.ours),
        _runs_for(room / needed, n, result.away, result.ours_away),
    )


def _runs_for(goal: float, n: int, error: float, ours: float) -> float:
    """How many runs lower an error to a goal, if the part `ours` of it is from n runs."""
    spare = max(goal, 0.0) ** 2 - (error**2 - ours**2)
    return math.ceil(n * ours**2 / spare) if spare > 0.0 else math.inf
