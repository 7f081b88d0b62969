"""Verdicts on claims, computed from tables by the rules of docs/analysis-plan.md.

Each part of a claim is compared under each reading (comparison.py). Readings get an outcome; those
that the data do not exclude are the claim's confidence set. The claim's verdict follows from the
outcomes, and for numbers from the other numbers of the same published row.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from bestarm.common import evidence
from bestarm.common.evidence import CAPPED, NO_INTERVAL, UNDEFINED, Evidence
from bestarm.core.files import write_text
from bestarm.core.inputs import InputError
from bestarm.pipeline.claims import Claim, Ledger, ReadingOf, Tables, read_ledger
from bestarm.pipeline.comparison import Comparison, compare, is_same_cap
from bestarm.pipeline.prose import printed
from bestarm.pipeline.released import NO_PROGRAM, ProgramRuns, compare_program
from bestarm.pipeline.validity import PROVEN, REFUTED, holm, validities

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
#: How the statement of a claim begins that is second hand.
UNCHECKED = "Not compared with the paper's text"

#: What the first reading of a claim is: the paper's text; its text in an environment that it does
#: not print, or on a SUBSTITUTE; another reading, as the text was not run.
TEXT, RECOVERED, NOT_RUN = "text", "recovered", "not run"


class UnderReading(NamedTuple):
    """A claim under one reading: its parts with their outcomes and reasons, and what they make."""

    reading: ReadingOf
    comparisons: list[Comparison]
    outcomes: list[str]
    reasons: list[str]
    outcome: str
    passes: bool  # the test for the claim passes, corrected over all readings
    power: float = math.nan  # of a number: its chance to be confirmed if the reading is true
    errs: bool = False  # it errs more often than delta, though the paper's text is proven not to

    @property
    def main(self) -> Evidence:
        """The p-values of its only part, or of its first."""
        return self.comparisons[0].found

    @property
    def distance(self) -> float:
        """How far apart the two numbers of its first part are, on the scale of the comparison.

        Infinite if it is not known: ours is a bound, which does not exclude the other.
        """
        if self.main.reason == CAPPED and self.outcome != DIFFERS:
            return math.inf
        difference = abs(self.main.difference)
        return math.inf if math.isnan(difference) else difference


class Judged(NamedTuple):
    """A claim with its outcomes and its verdict."""

    claim: Claim
    results: list[UnderReading]
    verdict: str
    under: str  # the reading that the verdict rests on; of those that differ, the nearest
    basis: str  # TEXT, RECOVERED, SUBSTITUTE or NOT_RUN
    program: ProgramRuns  # of a number: what the authors' program gives


def judge(
    ledger: Ledger,
    tables: Tables,
    margins: float = 1.0,
    known: dict[tuple[str, str], str] | None = None,
    added: bool = True,
) -> tuple[list[Judged], dict[tuple[str, str], str]]:
    """The verdicts on all claims of a ledger, and the validity of every (strategy, reading).

    Args:
        ledger: the claims.
        tables: the paper's, at one scale.
        margins: a factor on all equivalence margins.
        known: the validities, if they were computed before.
        added: whether readings count that were entered after the outcomes were seen.

    Raises:
        InputError: a row that a claim names is not there, or not alone.
    """
    if known is None:
        known = validities(ledger, tables.tables)
    results = {
        claim.id: _under_readings(claim, ledger.readings_of(claim, added), tables, margins)
        for claim in ledger.claims
    }
    rows: dict[str, list[str]] = {}
    for claim in ledger.claims:
        rows.setdefault(claim.group or claim.id, []).append(claim.id)
    judged = []
    for claim in ledger.claims:
        final = results[claim.id]
        if claim.kind == "number" and final:
            others = [results[name] for name in rows[claim.group or claim.id] if name != claim.id]
            by_reading = zip(final, *others, strict=True)
            final = [_in_its_row(number, rest, len(final)) for number, *rest in by_reading]
        basis = _basis(claim, ledger)
        if final and basis != NOT_RUN and _is_proven(final[0], known):
            final = [result._replace(errs=_is_refuted(result, known)) for result in final]
        is_number = claim.kind == "number" and bool(final)
        program = compare_program(claim, ledger.program, tables) if is_number else NO_PROGRAM
        judged.append(Judged(claim, final, *_verdict(final, basis), basis, program))
    return judged, known


def _basis(claim: Claim, ledger: Ledger) -> str:
    """What the first reading of a claim is."""
    if not claim.as_written:
        return NOT_RUN
    if claim.substitute:
        return SUBSTITUTE
    return RECOVERED if ledger.recovered_for(claim) else TEXT


def _under_readings(
    claim: Claim, readings: list[ReadingOf], tables: Tables, margins: float
) -> list[UnderReading]:
    """The outcome of every part of a claim under every reading, p-values corrected over these."""
    if claim.test == "none":
        return []
    parts = claim.parts
    compared = [
        [compare(claim, part, reading, tables, margins) for part in parts] for reading in readings
    ]
    by_part = [holm(c.found.support for c in column) for column in zip(*compared, strict=True)]
    whole = holm(max(c.found.support for c in row) for row in compared)
    results = []
    for i, (reading, row) in enumerate(zip(readings, compared, strict=True)):
        outcomes = [
            outcome(claim, c.found, column[i], LEVEL / len(parts))
            for c, column in zip(row, by_part, strict=True)
        ]
        reasons = [
            reason(c, outcome, len(readings)) for c, outcome in zip(row, outcomes, strict=True)
        ]
        if claim.substitute and claim.kind == "number":
            outcomes, reasons = [NOT_TESTABLE] * len(row), [SUBSTITUTE] * len(row)
        passes = whole[i] < LEVEL
        of_all = outcomes[0] if len(row) == 1 else _together(outcomes, passes)
        results.append(UnderReading(reading, row, outcomes, reasons, of_all, passes))
    return results


def outcome(claim: Claim, found: Evidence, corrected: float, level: float) -> str:
    """What a comparison says: its p-value for the claim corrected, the one against at `level`."""
    if found.reason in (UNDEFINED, NO_INTERVAL):
        return NOT_TESTABLE
    if found.against < level:
        return DIFFERS
    if corrected < LEVEL:
        return CONFIRMED
    return COMPATIBLE if claim.kind == "number" else INCONCLUSIVE


def reason(comparison: Comparison, outcome: str, readings: int) -> str:
    """Why a comparison does not decide; empty if it does."""
    found = comparison.found
    is_open = outcome in (COMPATIBLE, INCONCLUSIVE)
    if outcome == NOT_TESTABLE or (is_open and found.reason):
        return found.reason
    if not is_open:
        return ""
    settles = _runs_needed(comparison, readings)
    theirs = comparison.published is not None or comparison.ours.status == "published"
    return PUBLISHED if theirs and math.isinf(settles) else OURS


def _runs_needed(comparison: Comparison, readings: int) -> float:
    """Our runs that would decide a comparison, if what they show stays as it is."""
    if comparison.found.never:
        return math.ceil(math.log(LEVEL / readings) / math.log1p(-evidence.NEVER))
    return evidence.runs_to_settle(comparison.found, int(comparison.ours.n), readings)


def _together(outcomes: list[str], passes: bool) -> str:
    """The outcome of several parts."""
    if DIFFERS in outcomes:
        return DIFFERS
    if set(outcomes) == {NOT_TESTABLE}:
        return NOT_TESTABLE
    return CONFIRMED if set(outcomes) == {CONFIRMED} and passes else INCONCLUSIVE


def _in_its_row(number: UnderReading, others: list[UnderReading], readings: int) -> UnderReading:
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
    misses = 1.0 - evidence.power(number.main, readings, LEVEL)
    misses += sum(1.0 - evidence.power(other.main, readings, level) for other in others)
    return number._replace(power=max(0.0, 1.0 - misses))


def _validity(row: Any, known: dict[tuple[str, str], str]) -> str:
    """The validity of the strategies of a row under its reading; refuted if one is."""
    if row is None:
        return ""
    strategies = [row.algorithm, row.other] if row.other else [row.strategy]
    found = [known.get((name, row.reading), "") for name in strategies]
    return REFUTED if REFUTED in found else found[0]


def _validities(result: UnderReading, known: dict[tuple[str, str], str]) -> set[str]:
    """The validities of all strategies that a claim is about, under a reading."""
    rows = [row for c in result.comparisons for row in (c.ours, c.other)]
    return {_validity(row, known) for row in rows} - {""}


def _is_proven(result: UnderReading, known: dict[tuple[str, str], str]) -> bool:
    """Whether all strategies of a claim that promise a delta are proven to keep it."""
    return _validities(result, known) == {PROVEN}


def _is_refuted(result: UnderReading, known: dict[tuple[str, str], str]) -> bool:
    return REFUTED in _validities(result, known)


def _verdict(results: list[UnderReading], basis: str) -> tuple[str, str]:
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


#: The columns of figures/claims.csv, a line a claim, reading and part.
MEANINGS = {
    "paper": "whose claim",
    "id": "of the claim, as in data/claims",
    "kind": "`number`, `ordering`, `guarantee` or `identity`",
    "where": "in the paper",
    "statement": "what is claimed",
    "test": "how it is tested",
    "group": "claims that only count together",
    "result": "the independent result that a number belongs to; none if it is beyond the paper",
    "beyond": "whether it says more than the paper: then it is in no total",
    "substitute": "whether something of ours stands for what is not public",
    "published": "the published number, as printed",
    "precision": "`print`, or `plot` if it is read off one",
    "reading": "of the paper, under which the rest of the line is",
    "added": "whether the reading was entered after the outcomes were seen",
    "part": "of the claim",
    "ours": "our number",
    "at_least": "whether ours is a mean over capped runs, the published one not: it is larger",
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
    "reason": "why it is open",
    "runs_needed": "runs of ours that would settle it, if the difference stays what it is",
    "resolution": "the least difference that would show",
    "known_to": "of a number: half the width of its interval, as a share",
    "close": "of a number that differs: whether its whole interval lies within the margin",
    "power": "at least the chance that the number would be confirmed if the reading were true",
    "validity": "of the strategy under the reading: does it err at most as often as delta?",
    "validity_than": "of the strategy it is compared with",
    "errs": "whether it errs more often than delta though the paper's text is proven not to",
    "verdict": "on the claim, over all readings",
    "under": "the reading that the verdict rests on; of those that differ, the nearest",
    "basis": "what the first reading is: `text`; `recovered`: the text in an environment that it "
    "does not print; `substitute`: the text on what we put in place of it; `not run`: another one",
    "text": "outcome under the paper's own text, where that fixes the experiment",
    "program": "of a number: whether runs of the authors' program are compatible with it",
    "program_value": "what the program gives",
    "program_low": "lower end of its 95% interval",
    "program_high": "upper end; infinite if it lies among capped runs",
    "program_n": "runs of the program",
    "program_spans": "the factor between the ends of the interval of published over the program's, "
    "in which both samples count",
    "below_bound": "whether the published number is below the paper's own lower bound",
    "note": "what else there is to say",
}
COLUMNS = list(MEANINGS)
#: What is kept of the program's runs.
PROGRAM = ("value", "low", "high", "n", "spans")


def lines_of(paper: str, judged: list[Judged], known: dict[tuple[str, str], str]) -> pd.DataFrame:
    """The ledger: one line per claim, reading and part."""
    lines = [line for one in judged for line in _lines(one, known)]
    return pd.DataFrame(lines).assign(paper=paper).reindex(columns=COLUMNS)


def _lines(judged: Judged, known: dict[tuple[str, str], str]) -> list[dict[str, Any]]:
    claim = judged.claim
    kept = ("id", "kind", "where", "test", "group", "substitute", "beyond", "note")
    head = {name: getattr(claim, name) for name in kept} | {"statement": _said(claim)}
    head |= {"verdict": judged.verdict, "under": judged.under, "basis": judged.basis}
    if claim.kind == "number" and not claim.beyond:
        head["result"] = claim.independent_result
    if not judged.results:
        return [head]
    if judged.basis == TEXT:
        head["text"] = judged.results[0].outcome
    head |= {f"program_{name}": getattr(judged.program, name) for name in PROGRAM}
    head["program"] = judged.program.outcome
    return [
        {**head, **_line(claim, result, k, known, len(judged.results))}
        for result in judged.results
        for k in range(len(result.comparisons))
    ]


def _said(claim: Claim) -> str:
    """The statement, which begins with what it is if the paper's text does not vouch for it."""
    if claim.beyond:
        return f"Beyond the paper: {claim.statement}"
    return f"{UNCHECKED}: {claim.statement}" if claim.unchecked else claim.statement


def _line(
    claim: Claim, result: UnderReading, k: int, known: dict[tuple[str, str], str], readings: int
) -> dict[str, Any]:
    c, found = result.comparisons[k], result.comparisons[k].found
    ours = c.ours
    line = {
        "reading": result.reading.name,
        "added": result.reading.added,
        "part": c.part.name,
        "ours": ours.value,
        "at_least": evidence.is_lower_bound(ours)
        and not (c.published and is_same_cap(ours, c.published)),
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
        "errs": result.errs,
        "below_bound": c.below_bound,
    }
    if result.reasons[k] == OURS:
        line["runs_needed"] = _runs_needed(c, readings)
    if claim.kind == "number" and not found.reason and result.outcome != NOT_TESTABLE:
        half = _plainly(claim, evidence.half_width(found))
        if c.published and claim.is_difference and ours.unit != "share":
            half /= c.published.value
        line["known_to"] = half
        if result.outcome == DIFFERS:
            line["close"] = evidence.is_close(found)
        else:
            line["power"] = result.power
    if c.published:
        line["statement"] = _said(claim).replace("{published}", printed(c.published.printed))
        line |= {"published": c.published.printed, "precision": c.published.precision}
    return line


def _plainly(claim: Claim, size: float) -> float:
    """A size on the scale of logarithms as a share of the number; a difference as it is."""
    logarithmic = claim.test in ("equals", "about") and not claim.is_difference
    return math.expm1(size) if logarithmic else size


def judge_paper(
    path: Path, tables: Tables, margins: Iterable[float] = (1.0,)
) -> tuple[dict[float, pd.DataFrame], pd.DataFrame]:
    """The ledger of the paper that a file is named after, by the factor on its margins.

    Also the one at the plan's margins without readings entered after the outcomes were seen.

    Raises:
        InputError: naming the file where a claim is unusable.
    """
    ledger = read_ledger(path)
    try:
        known = validities(ledger, tables.tables)
        judged = {factor: judge(ledger, tables, factor, known)[0] for factor in margins}
        before, _ = judge(ledger, tables, 1.0, known, added=False)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    by_margin = {factor: lines_of(path.stem, found, known) for factor, found in judged.items()}
    return by_margin, lines_of(path.stem, before, known)


def write_ledger(ledger: pd.DataFrame, path: Path | str) -> None:
    """Write the ledger, numbers to 6 significant digits, published ones as printed."""
    write_text(path, ledger.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
