"""Verdicts on claims, computed from tables by the rules of docs/analysis-plan.md.

Each part of a claim is compared under each reading (comparison.py). Readings get an outcome,
corrected over all of them; claims get a verdict from the outcomes, from the validity of readings
(validity.py) and from the other numbers of the same published row.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from bestarm.common import evidence
from bestarm.common.evidence import NO_INTERVAL, UNDEFINED, Evidence
from bestarm.core.files import write_text
from bestarm.core.inputs import InputError
from bestarm.pipeline.claims import Claim, Ledger, ReadingOf, Tables, read_ledger
from bestarm.pipeline.comparison import Comparison, compare
from bestarm.pipeline.prose import printed
from bestarm.pipeline.validity import REFUTED, holm, validities

LEVEL = 0.05

# Outcomes of a claim under one reading.
AGREES, DIFFERS, CANNOT_TELL, NOT_TESTABLE = "agrees", "differs", "cannot tell", "not testable"
WITHIN_MARGIN = "differs within the margin"

# Why we cannot tell, beside CAPPED; of OURS there is the number of runs that would.
OURS, PUBLISHED, ROW = "ours", "published", "row"
# Why a number is not tested, beside UNDEFINED and NO_INTERVAL.
SUBSTITUTE = "substitute"

AS_WRITTEN = "agrees as written"
OTHER_READING = "agrees under another reading"
BROKEN_PROMISE = "agrees only under a reading that breaks its own promise"
ALL_DIFFER = "differs under every reading"
VERDICTS = (AS_WRITTEN, OTHER_READING, BROKEN_PROMISE, ALL_DIFFER, CANNOT_TELL, NOT_TESTABLE)


class OfReading(NamedTuple):
    """A claim under one reading: its parts with their outcomes and reasons, and what they make."""

    reading: ReadingOf
    comparisons: list[Comparison]
    outcomes: list[str]
    reasons: list[str]
    outcome: str
    credited: bool = False  # it agrees, and so do the other numbers of its row
    broken: bool = False  # a strategy it is about breaks its promise under this reading


class Judged(NamedTuple):
    """A claim with its outcomes and its verdict."""

    claim: Claim
    results: list[OfReading]
    verdict: str
    under: str  # the reading that the verdict rests on, if it is not the paper's text


def judge(
    ledger: Ledger,
    tables: Tables,
    margins: float = 1.0,
    known: dict[tuple[str, str], str] | None = None,
) -> tuple[list[Judged], dict[tuple[str, str], str]]:
    """The verdicts on all claims of a ledger, and the validity of every (strategy, reading).

    Args:
        ledger: the claims.
        tables: the paper's, at one scale.
        margins: a factor on all equivalence margins.
        known: the validities, if they were computed before.

    Raises:
        InputError: a row that a claim names is not there, or not alone.
    """
    if known is None:
        known = validities(ledger, tables.tables)
    results = {claim.id: _outcomes(claim, ledger, tables, margins) for claim in ledger.claims}
    passing = _passing(ledger, results)
    judged = []
    for claim in ledger.claims:
        group = passing.get(claim.group)
        final = []
        for one in results[claim.id]:
            credited = one.outcome == AGREES and (group is None or one.reading.name in group)
            if one.outcome == AGREES and not credited:
                one = one._replace(reasons=[ROW] * len(one.reasons))
            broken = any(_breaks(c, known) for c in one.comparisons)
            final.append(one._replace(credited=credited, broken=broken))
        judged.append(Judged(claim, final, *_verdict(claim, final)))
    return judged, known


def _outcomes(claim: Claim, ledger: Ledger, tables: Tables, margins: float) -> list[OfReading]:
    """The outcome of every part of a claim under every reading, p-values corrected over these."""
    if claim.test == "none":
        return []
    readings, parts = ledger.readings_of(claim), claim.parts
    found = [[compare(claim, part, one, tables, margins) for part in parts] for one in readings]
    by_part = [holm(c.found.support for c in column) for column in zip(*found, strict=True)]
    whole = holm(max(c.found.support for c in row) for row in found)
    level, results = LEVEL / len(parts), []
    for i, (reading, row) in enumerate(zip(readings, found, strict=True)):
        outcomes = [
            outcome(claim, c.found, column[i], level)
            for c, column in zip(row, by_part, strict=True)
        ]
        reasons = [
            reason(c, outcome, len(readings)) for c, outcome in zip(row, outcomes, strict=True)
        ]
        if claim.substitute and claim.kind == "number":
            outcomes, reasons = [NOT_TESTABLE] * len(row), [SUBSTITUTE] * len(row)
        of_all = outcomes[0] if len(row) == 1 else _together(outcomes, whole[i])
        results.append(OfReading(reading, row, outcomes, reasons, of_all))
    return results


def outcome(claim: Claim, found: Evidence, corrected: float, level: float) -> str:
    """What a comparison says: its p-value for the claim corrected, the one against at `level`."""
    if found.reason in (UNDEFINED, NO_INTERVAL):
        return NOT_TESTABLE
    if found.against < level:
        return WITHIN_MARGIN if claim.test == "equals" and corrected < LEVEL else DIFFERS
    return AGREES if corrected < LEVEL else CANNOT_TELL


def reason(comparison: Comparison, outcome: str, readings: int) -> str:
    """Why a comparison does not decide; empty if it does."""
    found = comparison.found
    if outcome == NOT_TESTABLE or (outcome == CANNOT_TELL and found.reason):
        return found.reason
    if outcome != CANNOT_TELL:
        return ""
    settles = _runs_needed(comparison, readings)
    theirs = comparison.published is not None or comparison.ours.status == "published"
    return PUBLISHED if theirs and math.isinf(settles) else OURS


def _runs_needed(comparison: Comparison, readings: int) -> float:
    """Our runs that would decide a comparison, if what they show stays as it is."""
    if comparison.found.never:
        return math.ceil(math.log(LEVEL / readings) / math.log1p(-evidence.NEVER))
    return evidence.runs_to_settle(comparison.found, int(comparison.ours.n), readings)


def _together(outcomes: list[str], corrected: float) -> str:
    """The outcome of several parts."""
    if {DIFFERS, WITHIN_MARGIN} & set(outcomes):
        return DIFFERS
    if set(outcomes) == {NOT_TESTABLE}:
        return NOT_TESTABLE
    return AGREES if set(outcomes) == {AGREES} and corrected < LEVEL else CANNOT_TELL


def _passing(ledger: Ledger, results: dict[str, list[OfReading]]) -> dict[str, set[str]]:
    """Of every published row the readings that pass for all of its numbers (Bonferroni)."""
    groups: dict[str, list[list[OfReading]]] = {}
    for claim in ledger.claims:
        if claim.group:
            groups.setdefault(claim.group, []).append(results[claim.id])
    return {
        name: {
            one[0].reading.name
            for one in zip(*claims, strict=True)
            if all(_passes(result, LEVEL / len(claims)) for result in one)
        }
        for name, claims in groups.items()
    }


def _passes(result: OfReading, level: float) -> bool:
    """Whether a number is within the margin and not surely different at a level."""
    return result.outcome in (AGREES, WITHIN_MARGIN) and all(
        c.found.against >= level for c in result.comparisons
    )


def _validity(row: Any, known: dict[tuple[str, str], str]) -> str:
    """The validity of the strategies of a row under its reading; refuted if one is."""
    if row is None:
        return ""
    strategies = [row.algorithm, row.other] if row.other else [row.strategy]
    found = [known.get((name, row.reading), "") for name in strategies]
    return REFUTED if REFUTED in found else found[0]


def _breaks(comparison: Comparison, known: dict[tuple[str, str], str]) -> bool:
    rows = (comparison.ours, comparison.other)
    return any(_validity(row, known) == REFUTED for row in rows)


def _verdict(claim: Claim, results: list[OfReading]) -> tuple[str, str]:
    """The verdict, and the reading it rests on where that is not the paper's text."""
    if all(one.outcome == NOT_TESTABLE for one in results):
        return NOT_TESTABLE, ""
    credited = [one for one in results if one.credited]
    if claim.as_written and results[0] in credited:
        return AS_WRITTEN, ""
    for one in credited:
        if not one.broken:
            return OTHER_READING, one.reading.name
    if credited:
        return BROKEN_PROMISE, credited[0].reading.name
    if all(one.outcome in (DIFFERS, WITHIN_MARGIN) for one in results):
        return ALL_DIFFER, ""
    return CANNOT_TELL, ""


#: The columns of figures/claims.csv, a line a claim, reading and part.
MEANINGS = {
    "paper": "whose claim",
    "id": "of the claim, as in data/claims",
    "kind": "`number`, `ordering`, `guarantee` or `identity`",
    "where": "in the paper",
    "statement": "what is claimed",
    "test": "how it is tested",
    "group": "claims that only count together",
    "substitute": "whether something of ours stands for what is not public",
    "published": "the published number, as printed",
    "precision": "`print`, or `plot` if it is read off one",
    "reading": "of the paper, under which the rest of the line is",
    "part": "of the claim",
    "ours": "our number",
    "low": "lower end of its 95% interval",
    "high": "upper end",
    "n": "our runs",
    "than": "what it is compared with, if not published",
    "ratio": "published over ours, or ours over the other",
    "ratio_low": "lower end of its interval, both sides' errors counted",
    "ratio_high": "upper end",
    "ratio_low_ours": "lower end if only our error is counted",
    "ratio_high_ours": "upper end",
    "margin": "of equivalence: a share of the number, or a difference of shares",
    "p_for": "p-value for the claim, before correction over readings",
    "p_against": "p-value against it",
    "part_outcome": "what follows for the part",
    "outcome": "what follows for the claim under the reading",
    "reason": "why it cannot be told",
    "runs_needed": "runs of ours that would settle it, if the difference stays what it is",
    "resolution": "the least difference that would show",
    "validity": "of the strategy under the reading: does it keep its promise?",
    "validity_than": "of the strategy it is compared with",
    "credited": "whether the claim counts as agreeing under this reading",
    "verdict": "on the claim, over all readings",
    "under": "the reading that the verdict rests on, if not the paper's text",
    "below_bound": "whether the published number is below the paper's own lower bound",
    "note": "what else there is to say",
}
COLUMNS = list(MEANINGS)


def lines_of(paper: str, judged: list[Judged], known: dict[tuple[str, str], str]) -> pd.DataFrame:
    """The ledger: one line per claim, reading and part."""
    lines = [line for one in judged for line in _lines(one, known)]
    return pd.DataFrame(lines).assign(paper=paper).reindex(columns=COLUMNS)


def _lines(judged: Judged, known: dict[tuple[str, str], str]) -> list[dict[str, Any]]:
    claim = judged.claim
    head = {name: getattr(claim, name) for name in ("id", "kind", "where", "test", "note")}
    head |= {"group": claim.group, "substitute": claim.substitute, "statement": claim.statement}
    head |= {"verdict": judged.verdict, "under": judged.under}
    if not judged.results:
        return [head]
    return [
        {**head, **_line(claim, result, k, known, len(judged.results))}
        for result in judged.results
        for k in range(len(result.comparisons))
    ]


def _line(
    claim: Claim, result: OfReading, k: int, known: dict[tuple[str, str], str], readings: int
) -> dict[str, Any]:
    c, found = result.comparisons[k], result.comparisons[k].found
    ours = c.ours
    line = {
        "reading": result.reading.name,
        "part": c.part.name,
        "ours": ours.value,
        "low": ours.low,
        "high": ours.high,
        "n": ours.n,
        "than": c.than,
        **dict(zip(("ratio", "ratio_low", "ratio_high"), c.ratio, strict=True)),
        **dict(zip(("ratio_low_ours", "ratio_high_ours"), c.ratio_ours, strict=True)),
        "margin": _plainly(claim, found.margin),
        "p_for": found.support,
        "p_against": found.against,
        "part_outcome": result.outcomes[k],
        "outcome": result.outcome,
        "reason": result.reasons[k],
        "resolution": _plainly(claim, evidence.resolution(found)),
        "validity": _validity(ours, known),
        "validity_than": _validity(c.other, known),
        "credited": result.credited,
        "below_bound": c.below_bound,
    }
    if result.reasons[k] == OURS:
        line["runs_needed"] = _runs_needed(c, readings)
    if c.published:
        line["statement"] = claim.statement.replace("{published}", printed(c.published.printed))
        line |= {"published": c.published.printed, "precision": c.published.precision}
    return line


def _plainly(claim: Claim, size: float) -> float:
    """A size on the scale of logarithms as a share of the number; a difference as it is."""
    logarithmic = claim.test in ("equals", "about") and not claim.is_difference
    return math.expm1(size) if logarithmic else size


def judge_paper(
    path: Path, tables: Tables, margins: Iterable[float] = (1.0,)
) -> dict[float, pd.DataFrame]:
    """The ledger of the paper that a file is named after, by the factor on its margins.

    Raises:
        InputError: naming the file where a claim is unusable.
    """
    ledger = read_ledger(path)
    try:
        known = validities(ledger, tables.tables)
        judged = {factor: judge(ledger, tables, factor, known)[0] for factor in margins}
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return {factor: lines_of(path.stem, found, known) for factor, found in judged.items()}


def write_ledger(ledger: pd.DataFrame, path: Path | str) -> None:
    """Write the ledger, numbers to 6 significant digits, published ones as printed."""
    write_text(path, ledger.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
