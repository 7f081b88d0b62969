"""Claims with their verdicts in the words and signs of the pages."""

import math
from collections import Counter
from collections.abc import Iterable

from bestarm.common.styles import GREY
from bestarm.publish.styles import STYLES, VerdictStyle
from bestarm.verdicts.outcome import (
    COMPATIBLE,
    CONFIRMED,
    INCONCLUSIVE,
    NOT_TESTABLE,
    OURS,
    RECOVERED,
    SUBSTITUTE,
)
from bestarm.verdicts.released import NOT_RELEASED
from bestarm.verdicts.table import JudgedClaim, Line

#: Readings of a claim that are shown at once; the others unfold.
MOST_READINGS = 2

PENDING = VerdictStyle(
    "pending",
    "not tested yet",
    "…",
    GREY,
    "",
    "none",
    "Its table has not been built, or not been tested.",
)
PAGE_STYLES = {style.name: style for style in (*STYLES.values(), PENDING)}

#: Why an outcome is open, in words.
WHY = {
    "published": "the paper's own sample is too small",
    "capped": "a mean over capped runs is only a lower bound",
    "row": "not confirmed with the other numbers of its row",
    "substitute": "on another simulator or data",
    "undefined": "undefined in our runs",
    "no interval": "our number has no interval",
}


#: What the first reading of a claim is called on a page, where it is not the paper's text alone.
FIRST = {RECOVERED: "recovered environment", SUBSTITUTE: "on our substitute"}
#: Signs of outcomes; those that differ have another.
SIGNS = {CONFIRMED: "✓", COMPATIBLE: "○", INCONCLUSIVE: "?", NOT_TESTABLE: "–"}


def style(claim: JudgedClaim) -> VerdictStyle:
    """How the verdict on a claim looks."""
    return STYLES[claim.verdict] if claim.verdict else PENDING


def readings(claim: JudgedClaim) -> list[list[Line]]:
    """The lines of each reading, the one that the verdict rests on first."""
    by_reading = claim.readings.items()
    order = sorted(by_reading, key=lambda item: item[0] != claim.under)  # stable: the text's next
    return [lines for _, lines in order]


def sign(outcome: str) -> str:
    """A sign for an outcome."""
    return SIGNS.get(outcome, "✗")


def about(line: Line) -> str:
    """The environment of a reading, if it is not the paper's."""
    return FIRST.get(line.basis, "")


def why(line: Line) -> str:
    """Why an outcome is open."""
    if line.reason != OURS:
        return WHY.get(line.reason, "")
    if math.isfinite(line.runs_needed):
        return f"{line.runs_needed:,.0f} runs would settle it"
    return "too few runs"


def program(claim: JudgedClaim) -> str:
    """What runs of the released program say of a number; empty if there are none."""
    first = next(iter(claim.lines), None)
    if first is None or first.program in ("", NOT_RELEASED) or not first.program_n > 0:
        return ""
    runs = f"released program, {first.program_n:,.0f} runs"
    if math.isnan(first.program_low):
        return f"{runs}: {first.program}"
    low, high = number(first.program_low), number(first.program_high)
    return f"{runs}, median [{low}, {high}]: {first.program}"


def tally(claims: Iterable[JudgedClaim]) -> dict[VerdictStyle, int]:
    """How many claims of the papers have each kind of verdict; kinds without any are left out."""
    counts = Counter(style(claim).name for claim in claims if not claim.claim.beyond)
    return {style: counts[name] for name, style in PAGE_STYLES.items() if counts[name]}


def number(value: float) -> str:
    """A number as precise as the verdicts table has it; undefined ones say so."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"
