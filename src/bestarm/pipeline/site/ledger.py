"""The claims of a paper with their verdicts, as the pages show them."""

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from bestarm.common.looks import GREY
from bestarm.common.tables import lines
from bestarm.pipeline.claims import Claim, read_ledger
from bestarm.pipeline.looks import LOOKS, VerdictLook
from bestarm.pipeline.released import NOT_RELEASED
from bestarm.pipeline.verdicts import (
    COMPATIBLE,
    CONFIRMED,
    INCONCLUSIVE,
    NOT_TESTABLE,
    RECOVERED,
    SUBSTITUTE,
)

#: Readings of a claim that are shown at once; the others unfold.
MOST_READINGS = 2

PENDING = VerdictLook(
    "pending",
    "not tested yet",
    "…",
    GREY,
    "",
    "none",
    "Its table has not been built, or not been tested.",
)
KINDS = {look.name: look for look in (*LOOKS.values(), PENDING)}

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


class Part(NamedTuple):
    """What one reading gives for one part of a claim."""

    name: str
    at_least: bool  # ours is a mean over capped runs
    ours: float
    low: float
    high: float
    n: float
    than: float  # what `ours` is compared with, where that is not the published value
    published: str
    outcome: str
    why: str


class Result(NamedTuple):
    """What one reading gives for a claim."""

    reading: str
    outcome: str
    errs: bool  # a strategy errs more often than delta under it, and not under the paper's text
    about: str  # the environment, if it is not the paper's
    parts: list[Part]

    @property
    def sign(self) -> str:
        """A sign for the outcome."""
        signs = {CONFIRMED: "✓", COMPATIBLE: "○", INCONCLUSIVE: "?", NOT_TESTABLE: "–"}
        return signs.get(self.outcome, "✗")


class Judged(NamedTuple):
    """A claim, its verdict, and what each reading gives, the one that decides first."""

    claim: Claim
    statement: str
    kind: VerdictLook
    under: str  # the reading that the verdict rests on
    below_bound: bool  # the published number lies below the paper's own lower bound
    program: str  # what runs of the released program say; empty if there are none
    results: list[Result]

    @property
    def target(self) -> str:
        """The target it is tested on; empty if it is not testable."""
        named = [self.claim.row, *self.claim.over]
        return next((one.target for one in named if one and one.target), "")

    @property
    def shown(self) -> list[Result]:
        return self.results[:MOST_READINGS]

    @property
    def folded(self) -> list[Result]:
        return self.results[MOST_READINGS:]


def read_verdicts(path: Path) -> pd.DataFrame:
    """figures/claims.csv as texts, or an empty table if it has not been built."""
    if not path.is_file():
        return pd.DataFrame(columns=["paper", "id"])
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def judged(root: Path, paper: str, ledger: pd.DataFrame) -> list[Judged]:
    """All claims of a paper in the order of its file, those without a verdict included."""
    of_claim = _by("id", lines(ledger[ledger.paper == paper]))
    claims = read_ledger(root / "data/claims" / f"{paper}.yaml").claims
    return [_judged(claim, of_claim.get(claim.id)) for claim in claims]


def _by(name: str, rows: Iterable[Any]) -> dict[str, list[Any]]:
    """Rows by what a column says, in the order of the first of each."""
    of: dict[str, list[Any]] = {}
    for row in rows:
        of.setdefault(getattr(row, name), []).append(row)
    return of


def _judged(claim: Claim, rows: list[Any] | None) -> Judged:
    if rows is None:
        return Judged(claim, claim.statement, PENDING, "", False, "", [])
    first = rows[0]
    tested = [row for row in rows if row.reading]
    results = [_result(some) for some in _by("reading", tested).values()]
    results.sort(key=lambda result: result.reading != first.under)  # stable: the text's comes next
    below = any(row.below_bound == "True" for row in tested)
    look = LOOKS[first.verdict]
    return Judged(claim, first.statement, look, first.under, below, _program(first), results)


def _program(row: Any) -> str:
    """What runs of the released program say of a number."""
    if row.program in ("", NOT_RELEASED) or row.program_n in ("", "0"):
        return ""
    runs = f"released program, {float(row.program_n):,.0f} runs"
    if not row.program_low:
        return f"{runs}: {row.program}"
    low, high = number(float(row.program_low)), number(float(row.program_high))
    return f"{runs}, median [{low}, {high}]: {row.program}"


def _result(rows: list[Any]) -> Result:
    first = rows[0]
    parts = [_part(row) for row in rows]
    about = FIRST.get(first.basis, "")
    return Result(first.reading, first.outcome, first.errs == "True", about, parts)


def _part(row) -> Part:
    numbers = {n: float(getattr(row, n) or "nan") for n in ("ours", "low", "high", "n", "than")}
    why = WHY.get(row.reason, "")
    if row.reason == "ours":
        needed = float(row.runs_needed or "nan")
        why = f"{needed:,.0f} runs would settle it" if math.isfinite(needed) else "too few runs"
    return Part(
        name=row.part,
        at_least=row.at_least == "True",
        **numbers,
        published=row.published,
        outcome=row.part_outcome,
        why=why,
    )


def tally(claims: Iterable[Judged]) -> dict[VerdictLook, int]:
    """How many claims of the papers have each kind of verdict; kinds without any are left out."""
    counts = Counter(one.kind.name for one in claims if not one.claim.beyond)
    return {kind: counts[name] for name, kind in KINDS.items() if counts[name]}


def number(value: float) -> str:
    """A number as precise as the ledger has it; undefined ones say so."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"
