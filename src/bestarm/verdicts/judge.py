"""From a claims file to lines of the verdicts table, one step after the other."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bestarm.common import p_values
from bestarm.common.prose import printed
from bestarm.core.inputs import InputError
from bestarm.verdicts.claims import Claim, ClaimsFile, read_claims
from bestarm.verdicts.comparison import Comparison, compare_all, is_same_cap
from bestarm.verdicts.outcome import (
    DIFFERS,
    NOT_TESTABLE,
    TEXT,
    ClaimUnderReading,
    Known,
    Outcome,
    outcomes,
)
from bestarm.verdicts.released import NO_PROGRAM, ProgramRuns, compare_programs
from bestarm.verdicts.table import JudgedClaim, Line
from bestarm.verdicts.tables import Tables
from bestarm.verdicts.validity import validities

#: How the statement of a claim begins that is second hand.
UNCHECKED = "Not compared with the paper's text"
#: Fields that a claim and its lines share.
SHARED = ("id", "kind", "where", "test", "group", "substitute", "beyond", "note")


def judge_paper(
    path: Path, tables: Tables, margins: Iterable[float] = (1.0,)
) -> tuple[dict[float, list[Line]], list[Line]]:
    """The lines of the paper that a claims file is named after, by the factor on its margins.

    Also those at the plan's margins without readings entered after the outcomes were seen.

    Raises:
        InputError: naming the file where a claim is unusable.
    """
    claims = read_claims(path)
    validity = validities(claims, tables.tables)

    def lines(factor: float, added: bool = True) -> list[Line]:
        judged = judge(claims, tables, path.stem, factor, validity, added)
        return [line for claim in judged for line in claim.lines]

    try:
        return {factor: lines(factor) for factor in margins}, lines(1.0, added=False)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def judge(
    claims: ClaimsFile,
    tables: Tables,
    paper: str = "",
    margins: float = 1.0,
    validity: Known | None = None,
    added: bool = True,
) -> list[JudgedClaim]:
    """The claims of a paper with their verdicts.

    Args:
        claims: what the paper claims.
        tables: the paper's, at one scale.
        paper: its key, which the lines begin with.
        margins: a factor on all equivalence margins.
        validity: the validity of every (strategy, reading), if it was computed before.
        added: whether readings count that were entered after the outcomes were seen.

    Raises:
        InputError: a row that a claim names is not there, or not alone.
    """
    if validity is None:
        validity = validities(claims, tables.tables)
    by_claim = outcomes(claims, compare_all(claims, tables, margins, added), validity)
    programs = compare_programs(claims, tables)
    return [
        JudgedClaim(claim, _lines(paper, claim, by_claim[claim.id], programs.get(claim.id)))
        for claim in claims.claims
    ]


def _lines(paper: str, claim: Claim, outcome: Outcome, program: ProgramRuns | None) -> list[Line]:
    """The lines of a claim: one per reading and part, or one alone if it cannot be tested."""
    same = {"paper": paper} | _same(claim, outcome, program or NO_PROGRAM)
    parts = [
        _line(claim, result, k)
        for result in outcome.results
        for k in range(len(result.comparisons))
    ]
    return [Line.model_validate(same | part) for part in parts or [{}]]


def _same(claim: Claim, outcome: Outcome, program: ProgramRuns) -> dict[str, Any]:
    """What is the same in all lines of a claim."""
    same = {name: getattr(claim, name) for name in SHARED} | {"statement": _statement(claim)}
    same |= {"verdict": outcome.verdict, "under": outcome.under, "basis": outcome.basis}
    if claim.kind == "number" and not claim.beyond:
        same["result"] = claim.independent_result
    if not outcome.results:
        return same
    if outcome.basis == TEXT:
        same["text"] = outcome.results[0].outcome
    same["program"] = program.outcome
    return same | {f"program_{name}": getattr(program, name) for name in program._fields[1:]}


def _statement(claim: Claim) -> str:
    """The statement, which begins with what it is if the paper's text does not vouch for it."""
    if claim.beyond:
        return f"Beyond the paper: {claim.statement}"
    return f"{UNCHECKED}: {claim.statement}" if claim.unchecked else claim.statement


def _line(claim: Claim, result: ClaimUnderReading, k: int) -> dict[str, Any]:
    """What part k of a claim has of its own under a reading."""
    validity, validity_than = result.validities[k]
    return {
        "reading": result.reading.name,
        "added": result.reading.added,
        "outcome": result.outcome,
        "errs": result.errs,
        "part_outcome": result.outcomes[k],
        "reason": result.reasons[k],
        "runs_needed": result.settling[k],
        "validity": validity,
        "validity_than": validity_than,
        **_compared(claim, result.comparisons[k]),
        **_precision(claim, result.comparisons[k], result),
    }


def _compared(claim: Claim, c: Comparison) -> dict[str, Any]:
    """The numbers of a comparison."""
    ours, published = c.ours, c.published
    numbers = {
        "part": c.part.name,
        "ours": ours.value,
        "at_least": p_values.is_lower_bound(ours)
        and not (published and is_same_cap(ours, published)),
        "low": ours.low,
        "high": ours.high,
        "n": ours.n,
        "than": c.than,
        **dict(zip(("ratio", "ratio_low", "ratio_high"), c.ratio, strict=True)),
        **dict(zip(("ratio_low_ours", "ratio_high_ours"), c.ratio_ours, strict=True)),
        "margin": _plainly(claim, c.p_values.margin),
        "p_for": c.p_values.support,
        "p_against": c.p_values.against,
        "resolution": _plainly(claim, p_values.resolution(c.p_values)),
        "below_bound": c.below_bound,
    }
    if published:
        numbers["statement"] = _statement(claim).replace("{published}", printed(published.printed))
        numbers |= {"published": published.printed, "precision": published.precision}
    return numbers


def _precision(claim: Claim, c: Comparison, result: ClaimUnderReading) -> Mapping[str, Any]:
    """How well a number is known that was tested."""
    if claim.kind != "number" or c.p_values.reason or result.outcome == NOT_TESTABLE:
        return {}
    half = _plainly(claim, p_values.half_width(c.p_values))
    if c.published and claim.is_difference and c.ours.unit != "share":
        half /= c.published.value
    if result.outcome == DIFFERS:
        return {"known_to": half, "close": p_values.is_close(c.p_values)}
    return {"known_to": half, "power": result.power}


def _plainly(claim: Claim, size: float) -> float:
    """A size on the scale of logarithms as a share of the number; a difference as it is."""
    logarithmic = claim.test in ("equals", "about") and not claim.is_difference
    return math.expm1(size) if logarithmic else size
