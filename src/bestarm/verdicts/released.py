"""Published numbers against runs of the authors' released program, which is never a reading."""

import math
from typing import NamedTuple

from bestarm.common import p_values
from bestarm.verdicts.claims import Claim, ClaimsFile, ReleasedProgram
from bestarm.verdicts.comparison import published_number
from bestarm.verdicts.tables import Tables

#: Outcomes: the published number lies inside the 95% interval of the program's, which spans at most
#: WIDEST; inside a wider one, or there is none; outside. Where there is no program, the last.
INSIDE, TOO_FEW, OUTSIDE, NOT_RELEASED = "compatible", "too few runs", "differs", "not released"
#: The most that the ends of an interval may be apart, as a factor.
WIDEST = 2.0


class ProgramRuns(NamedTuple):
    """What runs of a program give for a published number, and whether that is compatible."""

    outcome: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    spans: float = math.nan  # the factor between the ends of the interval that decides


#: For claims that are no published numbers.
NO_PROGRAM = ProgramRuns("")


def compare_programs(claims: ClaimsFile, tables: Tables) -> dict[str, ProgramRuns]:
    """What the released program gives for every published number of a paper, by the claim's id."""
    return {
        claim.id: compare_program(claim, claims.program, tables)
        for claim in claims.claims
        if claim.kind == "number" and claim.test != "none"
    }


def compare_program(claim: Claim, program: ReleasedProgram | None, tables: Tables) -> ProgramRuns:
    """What the released program gives for a published number.

    The interval of the published number over the program's has the errors of both samples and
    rounding, as for any reading.

    Args:
        claim: on a published number.
        program: of the paper; None if nothing was released.
        tables: of the paper.
    """
    released = program is not None and claim.is_about(program.instances)
    if program is None or not released or claim.tested.strategy not in program.strategies:
        return ProgramRuns(NOT_RELEASED)
    runs = program.row and tables.find_if_there(claim.tested.but(program.row))
    if runs is None:
        return ProgramRuns(TOO_FEW)
    published = tables.published(claim.tested.but(claim.published))
    program_runs = ProgramRuns("", runs.value, runs.low, runs.high, int(runs.n))
    if math.isnan(runs.low):
        return program_runs._replace(outcome=TOO_FEW)
    highest = published.value + published.half_unit
    if math.isnan(runs.value) or math.isinf(runs.high):  # the median or more lies beyond the cap
        return program_runs._replace(outcome=OUTSIDE if highest < runs.low else TOO_FEW)
    ours = p_values.log_side(runs)
    theirs = published_number(published, runs).log
    assert ours is not None
    assert theirs is not None
    difference = p_values.same(ours, theirs, 0.0, published.rounding)
    spans = math.exp(2.0 * p_values.half_width(difference))
    if difference.against < 0.05:
        return program_runs._replace(outcome=OUTSIDE, spans=spans)
    return program_runs._replace(outcome=INSIDE if spans <= WIDEST else TOO_FEW, spans=spans)
