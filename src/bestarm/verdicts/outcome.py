"""What comparisons come to, by the rules of docs/analysis-plan.md.

Readings get an outcome; those that the data do not exclude are the claim's confidence set. The
claim's verdict follows from the outcomes, and for numbers from the other numbers of the same
published row.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from bestarm.common import p_values
from bestarm.common.p_values import CAPPED, NO_INTERVAL, UNDEFINED, PValues
from bestarm.verdicts.claims import Claim, ClaimsFile, NamedReading
from bestarm.verdicts.comparison import Compared, Comparison
from bestarm.verdicts.multiple_testing import holm
from bestarm.verdicts.validity import PROVEN, REFUTED

#: Validities by (strategy, reading), see validity.py.
Known = Mapping[tuple[str, str], str]

LEVEL = 0.05

#: Outcomes of a claim under one reading. A number that its interval does not exclude is compatible;
#: any other claim that is neither shown nor excluded is inconclusive.
CONFIRMED, COMPATIBLE, INCONCLUSIVE = "confirmed", "compatible", "inconclusive"
DIFFERS, NOT_TESTABLE = "differs", "not testable"

#: Verdicts on a claim, over all readings; some are outcomes too.
BY_TEXT, BY_READING = "confirmed by the text", "confirmed by a named reading"
ALL_DIFFER = "differs from every reading tried"
VERDICTS = (BY_TEXT, BY_READING, COMPATIBLE, INCONCLUSIVE, ALL_DIFFER, NOT_TESTABLE)

# Why a comparison is open, beside CAPPED; of OURS there is the number of runs that would settle it.
OURS, PUBLISHED, ROW = "ours", "published", "row"
# Why a number is not tested, beside UNDEFINED and NO_INTERVAL.
SUBSTITUTE = "substitute"

#: What the first reading of a claim is: the paper's text; its text in an environment that it does
#: not print, or on a SUBSTITUTE; another reading, as the text was not run.
TEXT, RECOVERED, NOT_RUN = "text", "recovered", "not run"
#: What the first reading of a claim is, in words.
BASES = {
    TEXT: "the text",
    RECOVERED: "the text, with what it does not print recovered",
    SUBSTITUTE: "text on our substitute",
    NOT_RUN: "first reading (the text was not run)",
}


class ClaimUnderReading(NamedTuple):
    """A claim under one reading: its parts with their outcomes and reasons, and what they make."""

    reading: NamedReading
    comparisons: list[Comparison]
    outcomes: list[str]
    reasons: list[str]
    outcome: str
    passes: bool  # the test for the claim passes, corrected over all readings
    settling: list[float]  # runs of ours that would settle each part; nan if not OURS is the reason
    validities: list[tuple[str, str]]  # of the strategies of each part, and of the other row's
    power: float = math.nan  # of a number: its chance to be confirmed if the reading is true
    errs: bool = False  # it errs more often than delta, though the paper's text is proven not to

    @property
    def main(self) -> PValues:
        """The p-values of its only part, or of its first."""
        return self.comparisons[0].p_values

    @property
    def distance(self) -> float:
        """How far apart the two numbers of its first part are, on the scale of the comparison.

        Infinite if it is not known: ours is a bound, which does not exclude the other.
        """
        if self.main.reason == CAPPED and self.outcome != DIFFERS:
            return math.inf
        difference = abs(self.main.difference)
        return math.inf if math.isnan(difference) else difference


class Outcome(NamedTuple):
    """What becomes of a claim: its outcomes under readings, and the verdict over them."""

    results: list[ClaimUnderReading]
    verdict: str
    under: str  # the reading that the verdict rests on; of those that differ, the nearest
    basis: str  # what the first reading is: TEXT, RECOVERED, SUBSTITUTE or NOT_RUN


def outcomes(
    claims: ClaimsFile, compared: Mapping[str, Compared], validity: Known
) -> dict[str, Outcome]:
    """The outcome of every claim, by its id.

    Args:
        claims: of a paper.
        compared: the comparisons, by the id of a claim.
        validity: the validities of the paper's strategies.
    """
    alone = {claim.id: _alone(claim, compared[claim.id], validity) for claim in claims.claims}
    rows: dict[str, list[str]] = {}
    for claim in claims.claims:
        rows.setdefault(claim.group or claim.id, []).append(claim.id)
    by_claim = {}
    for claim in claims.claims:
        final = alone[claim.id]
        if claim.kind == "number" and final:
            others = [alone[name] for name in rows[claim.group or claim.id] if name != claim.id]
            by_reading = zip(final, *others, strict=True)
            final = [_in_its_row(number, rest, len(final)) for number, *rest in by_reading]
        basis = _basis(claim, claims)
        if final and basis != NOT_RUN and _is_proven(final[0]):
            final = [result._replace(errs=_is_refuted(result)) for result in final]
        by_claim[claim.id] = Outcome(final, *_verdict(final, basis), basis)
    return by_claim


def _basis(claim: Claim, claims: ClaimsFile) -> str:
    """What the first reading of a claim is."""
    if not claim.as_written:
        return NOT_RUN
    if claim.substitute:
        return SUBSTITUTE
    return RECOVERED if claims.recovered_for(claim) else TEXT


def _alone(claim: Claim, compared: Compared, validity: Known) -> list[ClaimUnderReading]:
    """The outcome of every part of a claim under every reading, p-values corrected over these."""
    rows = [row for _, row in compared]
    by_part = [holm(c.p_values.support for c in column) for column in zip(*rows, strict=True)]
    whole = holm(max(c.p_values.support for c in row) for row in rows)
    results = []
    for i, (reading, row) in enumerate(compared):
        parts = [
            outcome(claim, c.p_values, column[i], LEVEL / len(row))
            for c, column in zip(row, by_part, strict=True)
        ]
        reasons = [reason(c, part, len(rows)) for c, part in zip(row, parts, strict=True)]
        if claim.substitute and claim.kind == "number":
            parts, reasons = [NOT_TESTABLE] * len(row), [SUBSTITUTE] * len(row)
        passes = whole[i] < LEVEL
        of_all = parts[0] if len(row) == 1 else _together(parts, passes)
        settling = [
            _runs_needed(c, len(rows)) if why == OURS else math.nan
            for c, why in zip(row, reasons, strict=True)
        ]
        validities = [
            (row_validity(c.ours, validity), row_validity(c.other, validity)) for c in row
        ]
        results.append(
            ClaimUnderReading(reading, row, parts, reasons, of_all, passes, settling, validities)
        )
    return results


def outcome(claim: Claim, tested: PValues, corrected: float, level: float) -> str:
    """What a comparison says: its p-value for the claim corrected, the one against at `level`."""
    if tested.reason in (UNDEFINED, NO_INTERVAL):
        return NOT_TESTABLE
    if tested.against < level:
        return DIFFERS
    if corrected < LEVEL:
        return CONFIRMED
    return COMPATIBLE if claim.kind == "number" else INCONCLUSIVE


def reason(comparison: Comparison, outcome: str, readings: int) -> str:
    """Why a comparison does not decide; empty if it does."""
    tested = comparison.p_values
    is_open = outcome in (COMPATIBLE, INCONCLUSIVE)
    if outcome == NOT_TESTABLE or (is_open and tested.reason):
        return tested.reason
    if not is_open:
        return ""
    settles = _runs_needed(comparison, readings)
    theirs = comparison.published is not None or comparison.ours.status == "published"
    return PUBLISHED if theirs and math.isinf(settles) else OURS


def _runs_needed(comparison: Comparison, readings: int) -> float:
    """Our runs that would decide a comparison, if what they show stays as it is."""
    if comparison.p_values.never:
        return math.ceil(math.log(LEVEL / readings) / math.log1p(-p_values.NEVER))
    return p_values.runs_to_settle(comparison.p_values, int(comparison.ours.n), readings)


def _together(outcomes: list[str], passes: bool) -> str:
    """The outcome of several parts."""
    if DIFFERS in outcomes:
        return DIFFERS
    if set(outcomes) == {NOT_TESTABLE}:
        return NOT_TESTABLE
    return CONFIRMED if set(outcomes) == {CONFIRMED} and passes else INCONCLUSIVE


def _in_its_row(
    number: ClaimUnderReading, others: list[ClaimUnderReading], readings: int
) -> ClaimUnderReading:
    """A number under a reading, given the other numbers of its published row.

    It is confirmed if each number of the row is equivalent and none differs at LEVEL divided by
    their number. The chance of that is at least 1 minus the sum of the chances that one fails.
    """
    row, level = [number, *others], LEVEL / (1 + len(others))
    if number.outcome == CONFIRMED and not all(
        result.passes and result.main.against >= level for result in row
    ):
        number = number._replace(outcome=COMPATIBLE, outcomes=[COMPATIBLE], reasons=[ROW])
    if number.outcome not in (CONFIRMED, COMPATIBLE) or number.main.reason:
        return number
    misses = 1.0 - p_values.power(number.main, readings, LEVEL)
    misses += sum(1.0 - p_values.power(other.main, readings, level) for other in others)
    return number._replace(power=max(0.0, 1.0 - misses))


def row_validity(row: Any, validity: Mapping[tuple[str, str], str]) -> str:
    """The validity of the strategies of a row under its reading; refuted if one is.

    Args:
        row: of a table, or None.
        validity: the validities of all strategies and readings.
    """
    if row is None:
        return ""
    strategies = [row.algorithm, row.other] if row.other else [row.strategy]
    validities = [validity.get((name, row.reading), "") for name in strategies]
    return REFUTED if REFUTED in validities else validities[0]


def _validities(result: ClaimUnderReading) -> set[str]:
    """The validities of all strategies that a claim is about, under a reading."""
    return {validity for pair in result.validities for validity in pair} - {""}


def _is_proven(result: ClaimUnderReading) -> bool:
    """Whether all strategies of a claim that promise a delta are proven to keep it."""
    return _validities(result) == {PROVEN}


def _is_refuted(result: ClaimUnderReading) -> bool:
    return REFUTED in _validities(result)


def _verdict(results: list[ClaimUnderReading], basis: str) -> tuple[str, str]:
    """The verdict, and the reading it rests on: the paper's own, or else the nearest.

    Of readings that confirm a claim, one that errs more often than the paper's text comes last.
    """
    tested = [result for result in results if result.outcome != NOT_TESTABLE]
    if not tested:
        return NOT_TESTABLE, ""
    near = sorted(tested, key=lambda result: (result is not results[0], result.distance))
    for outcome in (CONFIRMED, COMPATIBLE, INCONCLUSIVE):
        reached = [result for result in near if result.outcome == outcome]
        if reached:
            best = min(reached, key=lambda result: result.errs)
            confirmed = BY_TEXT if best is results[0] and basis == TEXT else BY_READING
            return confirmed if outcome == CONFIRMED else outcome, best.reading.name
    return ALL_DIFFER, min(tested, key=lambda result: result.distance).reading.name
