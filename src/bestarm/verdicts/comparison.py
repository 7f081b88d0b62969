"""A claim under its readings: the numbers of each part, and what they say of each other."""

import math
from typing import Any, NamedTuple

from bestarm.common import p_values
from bestarm.common.p_values import CAPPED, Z95, PValues, Side
from bestarm.core.inputs import InputError
from bestarm.verdicts.claims import Claim, ClaimsFile, NamedReading, Part, TableRow
from bestarm.verdicts.tables import PublishedNumber, Tables

NOTHING = (math.nan, math.nan, math.nan)


class Number(NamedTuple):
    """A row of a table, or a published number, on both scales."""

    row: Any
    raw: Side
    log: Side | None  # None if it is not positive
    is_ours: bool = True


class Comparison(NamedTuple):
    """What a part of a claim compares under a reading, and what comes of it."""

    part: Part
    ours: Any
    p_values: PValues
    other: Any = None  # the other row of an inequality
    than: float = math.nan  # what an inequality compares with
    published: PublishedNumber | None = None
    ratio: tuple[float, float, float] = NOTHING  # published over ours, or ours over the other row
    ratio_ours: tuple[float, float] = (math.nan, math.nan)  # the same interval by our error alone
    below_bound: bool = False  # the published mean lies below the paper's own lower bound


#: The readings of a claim, each with the comparisons of its parts.
Compared = list[tuple[NamedReading, list[Comparison]]]


def compare_all(
    claims: ClaimsFile, tables: Tables, margins: float = 1.0, added: bool = True
) -> dict[str, Compared]:
    """Compare all parts of all claims under all of their readings, by the id of the claim.

    Args:
        claims: of a paper.
        tables: of the paper.
        margins: a factor on all margins.
        added: whether readings count that were entered after the outcomes were seen.

    Raises:
        InputError: a row or a published number is not there, or not alone.
    """
    compared: dict[str, Compared] = {}
    for claim in claims.claims:
        readings = claims.tested_readings(claim, added) if claim.test != "none" else []
        parts = claim.parts
        compared[claim.id] = [
            (reading, [compare(claim, part, reading, tables, margins) for part in parts])
            for reading in readings
        ]
    return compared


def compare(
    claim: Claim, part: Part, reading: NamedReading, tables: Tables, margins: float = 1.0
) -> Comparison:
    """Compare one part of a claim under a reading.

    Args:
        claim: any but one that cannot be tested.
        part: one of its parts.
        reading: one of its readings.
        tables: of the paper.
        margins: a factor on the claim's margin.

    Raises:
        InputError: a row or a published number is not there, or not alone.
    """
    row = claim.tested.but(part, reading)
    if claim.test in ("equals", "exact"):
        return _with_published(claim, part, row, reading, tables, margins)
    ours = _look_up(tables, row, reading.name)
    if why := p_values.missing(ours.row):
        return Comparison(part, ours.row, p_values.undecided(why))
    if claim.test == "never":
        count = p_values.success_count(ours.row)
        if count is None:
            raise InputError(f"{claim.id}: test never needs a share of runs")
        return Comparison(part, ours.row, p_values.never(count, int(ours.row.n)))
    if isinstance(claim.than, TableRow):
        than = row.but(claim.than, part.than if isinstance(part.than, TableRow) else None)
        return _with_row(claim, part, ours, _look_up(tables, than, reading.name), margins)
    limit = claim.than if part.than is None else part.than
    if not isinstance(limit, int | float):
        raise InputError(f"{claim.id}: than must be a number or a row")
    return Comparison(part, ours.row, _with_limit(claim, ours, limit, margins), than=limit)


def _look_up(tables: Tables, row: TableRow, reading: str) -> Number:
    """A number of a table; a published one has the error of ours at the paper's number of runs."""
    line = tables.find(row, reading)
    if line.status != "published":
        return Number(line, p_values.raw_side(line), p_values.log_side(line))
    mine = tables.find(row.but(TableRow(reading=reading)), reading)
    return published_number(tables.published(row), mine)._replace(row=line, is_ours=False)


def is_same_cap(ours: Any, published: PublishedNumber) -> bool:
    """Whether the paper's runs stop at the same cap as ours, so that their means are alike."""
    return getattr(ours, "cap", math.nan) == published.cap


def published_number(published: PublishedNumber, ours: Any) -> Number:
    """A published number with its sampling error: ours, scaled to the paper's number of runs.

    Or, if that is larger, the one between two values that the paper itself has of the number.
    """
    own = 0.0 if math.isnan(published.own_error) else published.own_error
    raw, log = p_values.published_sides(published.value, published.n, own, ours)
    return Number(ours, raw, log, False)


def _with_published(
    claim: Claim, part: Part, row: TableRow, reading: NamedReading, tables: Tables, margins: float
) -> Comparison:
    ours = tables.find(row, reading.name)
    published = tables.published(claim.tested.but(part, reading, claim.published))
    if claim.test == "exact":
        tested = _identity(ours, published)
    elif p_values.is_computed(ours):
        raise InputError(f"{claim.id}: row is computed, so kind must be identity")
    else:
        tested = _number(claim, ours, published, margins)
    if why := p_values.missing(ours):
        tested = p_values.undecided(why)
    theirs = published_number(published, ours)
    below_bound = False
    if claim.bound and math.isnan(published.cap):
        limit = tables.find(row.but(claim.bound), reading.name).value
        short = limit - published.value - published.half_unit
        below_bound = p_values.tail(short, theirs.raw.above) < 0.05
    ratio, alone = _ratios(theirs.log, p_values.log_side(ours), published.rounding)
    return Comparison(
        part, ours, tested, published=published, ratio=ratio, ratio_ours=alone,
        below_bound=below_bound,
    )  # fmt: skip


def _identity(ours: Any, published: PublishedNumber) -> PValues:
    """The p-values of a constant; one counted until a cap can only be too large."""
    tested = p_values.printed(ours.value, published.value, published.half_unit)
    if p_values.is_lower_bound(ours) and ours.value <= published.value + published.half_unit:
        return tested._replace(support=1.0, against=1.0, reason=CAPPED)
    return tested


def _number(claim: Claim, ours: Any, published: PublishedNumber, margins: float) -> PValues:
    """The p-values of a published number; capped runs only show that it is too small."""
    theirs, margin = published_number(published, ours), claim.margin_times(margins)
    if claim.is_difference:
        mine, other, off = p_values.raw_side(ours), theirs.raw, published.half_unit
    else:
        mine, other = p_values.log_side(ours), theirs.log
        off = published.rounding
    if mine is None or other is None or math.isinf(other.value):  # one of them is 0
        raw = p_values.same(p_values.raw_side(ours), theirs.raw, 0.0, published.half_unit)
        return raw._replace(support=1.0, margin=margin)
    tested = p_values.same(mine, other, margin, off)
    if ours.status != "restricted" or is_same_cap(ours, published):
        return tested
    differs = p_values.is_lower_bound(ours) and tested.difference < 0.0
    return tested._replace(support=1.0, against=tested.against if differs else 1.0, reason=CAPPED)


def _with_row(claim: Claim, part: Part, ours: Number, other: Number, margins: float) -> Comparison:
    """Two rows. A mean over capped runs may only be too small."""
    if why := p_values.missing(other.row):
        tested = p_values.undecided(why)
    elif claim.test == "about":
        if ours.log is None or other.log is None:
            tested = p_values.undecided(p_values.UNDEFINED)
        else:
            tested = p_values.about(ours.log, other.log, claim.margin_times(margins))
    else:
        sign = 1.0 if claim.test == "at_least" else -1.0
        tested = _strict(p_values.larger(ours.raw, other.raw, sign), ours.row)
    tested = _uncapped(claim, tested, ours.row, other.row)
    if ours.is_ours:
        tested = tested._replace(ours=tested.facing, ours_away=tested.away)
    else:
        tested = tested._replace(ours=0.0, ours_away=0.0)
    ratio, alone = _ratios(ours.log, other.log)
    return Comparison(
        part, ours.row, tested, other.row, other.row.value, ratio=ratio, ratio_ours=alone
    )


def _uncapped(claim: Claim, tested: PValues, ours: Any, other: Any) -> PValues:
    """P-values without what capped runs leave open."""
    capped = [row.status == "restricted" for row in (ours, other)]
    if not any(capped):
        return tested
    lower = [p_values.is_lower_bound(row) for row in (ours, other)]
    if all(capped) or capped != lower or claim.test == "about":
        return tested._replace(support=1.0, against=1.0, reason=CAPPED)
    # what stays: that the one bounded from below is the larger
    ours_larger_helps = claim.test == "at_least"
    if lower[0] == ours_larger_helps:
        return tested._replace(against=1.0, reason=CAPPED)
    return tested._replace(support=1.0, reason=CAPPED)


def _strict(tested: PValues, row: Any) -> PValues:
    """P-values by which runs that all give one number do not show that it exceeds it."""
    tie = tested.difference == 0.0 and tested.facing == 0.0
    return tested._replace(support=1.0) if tie and not p_values.is_computed(row) else tested


def _with_limit(claim: Claim, ours: Number, limit: float, margins: float) -> PValues:
    row = ours.row
    if claim.test == "about":
        margin = claim.margin_times(margins)
        if claim.is_difference:
            return p_values.about(ours.raw, Side(limit), margin)
        if ours.log is None:
            return p_values.undecided(p_values.UNDEFINED)
        return p_values.about(ours.log, Side(math.log(limit)), margin)
    sign = 1.0 if claim.test == "at_least" else -1.0
    if (count := p_values.success_count(row)) is not None:
        return p_values.share_against(count, int(row.n), limit, sign)
    tested = _strict(p_values.larger(ours.raw, Side(limit), sign), row)
    if row.status != "restricted":
        return tested
    if not p_values.is_lower_bound(row):
        return tested._replace(support=1.0, against=1.0, reason=CAPPED)
    kept = {"against": 1.0} if sign > 0.0 else {"support": 1.0}
    return tested._replace(**kept, reason=CAPPED)


def _ratios(
    above: Side | None, below: Side | None, rounding: float = 0.0
) -> tuple[tuple[float, float, float], tuple[float, float]]:
    """above / below with its interval, and that interval with the error of `below` alone.

    Rounding of `above` widens the first interval.
    """
    if above is None or below is None or not math.isfinite(above.value - below.value):
        return NOTHING, NOTHING[1:]
    middle = above.value - below.value
    down, up = math.hypot(above.below, below.above), math.hypot(above.above, below.below)
    low, high = middle - Z95 * down - rounding, middle + Z95 * up + rounding
    alone = math.exp(middle - Z95 * below.above), math.exp(middle + Z95 * below.below)
    return (math.exp(middle), math.exp(low), math.exp(high)), alone
