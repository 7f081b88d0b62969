"""The claims of a paper with their verdicts, as the pages show them."""

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bestarm.core.inputs import load
from bestarm.pipeline.claims import (
    CONTRADICTS,
    INVALID,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    Claim,
    Ledger,
    reading_of,
)

#: Readings of a claim that are shown at once; the others unfold.
MOST_READINGS = 2


class Kind(NamedTuple):
    """A kind of verdict: told apart by its sign, not by colour alone."""

    name: str  # also a class in site.css
    sign: str
    label: str
    meaning: str


KINDS = {
    kind.name: kind
    for kind in (
        Kind("reproduced", "✓", "reproduced", "Our runs of the paper's own text support it."),
        Kind("reading", "◐", "other reading", "They do under another reading, which is named."),
        Kind("not", "✗", "not reproduced", "They do under no reading that was tried."),
        Kind(
            "contradicts", "!", "contradicts itself", "The published number breaks its own bound."
        ),
        Kind(
            "untestable",
            "–",
            "not testable",
            "The paper or our runs do not say enough.",
        ),
        Kind("pending", "…", "not tested yet", "Its table has not been built, or not been tested."),
    )
}


class Result(NamedTuple):
    """What one reading gives for a claim."""

    reading: str
    ours: float
    low: float
    high: float
    n: float
    than: float  # what `ours` is compared with, where that is not the published value
    supported: bool
    invalid: bool  # the reading errs more than delta


#: Kinds of the verdicts that name no reading.
KIND_OF = {
    REPRODUCED: "reproduced",
    NOT_REPRODUCED: "not",
    CONTRADICTS: "contradicts",
    NOT_TESTABLE: "untestable",
}


class Judged(NamedTuple):
    """A claim, its verdict, and what each reading gives, the one that decides first."""

    claim: Claim
    kind: Kind
    under: str  # the reading of the verdict, where it is not the paper's text
    results: list[Result]

    @property
    def target(self) -> str:
        """The target it is tested on; empty if it is not testable."""
        return self.claim.row.target if self.claim.row else ""

    @property
    def shown(self) -> list[Result]:
        return self.results[:MOST_READINGS]

    @property
    def folded(self) -> list[Result]:
        return self.results[MOST_READINGS:]


def read_ledger(path: Path) -> pd.DataFrame:
    """figures/claims.csv, or an empty table if it has not been built."""
    if not path.is_file():
        return pd.DataFrame(columns=["paper", "id"])
    texts = dict.fromkeys(("id", "reading", "verdict", "valid", "note"), str)
    return pd.read_csv(path, dtype=texts, keep_default_na=False)


def judged(root: Path, paper: str, ledger: pd.DataFrame) -> list[Judged]:
    """All claims of a paper in the order of its file, those without a verdict included."""
    lines = ledger[ledger.paper == paper]
    of_claim = dict(iter(lines.groupby("id")))
    claims = load(Ledger, root / "data/claims" / f"{paper}.yaml").claims
    return [_judged(claim, of_claim.get(claim.id)) for claim in claims]


def _judged(claim: Claim, lines: pd.DataFrame | None) -> Judged:
    if lines is None:
        return Judged(claim, KINDS["pending"], "", [])
    verdict = lines.verdict.iloc[0]
    under = reading_of(verdict)
    results = [_result(row) for row in lines.itertuples() if row.reading]
    results.sort(key=lambda result: result.reading != under)  # stable: the text's own comes next
    return Judged(claim, KINDS["reading" if under else KIND_OF[verdict]], under, results)


def _result(row) -> Result:
    texts = [str(getattr(row, name)) for name in ("ours", "low", "high", "n", "than")]
    numbers = [float(text or "nan") for text in texts]
    return Result(row.reading, *numbers, str(row.supported) == "True", row.valid == INVALID)


def tally(claims: Iterable[Judged]) -> dict[Kind, int]:
    """How many claims have each kind of verdict; kinds without any are left out."""
    counts = Counter(claim.kind.name for claim in claims)
    return {kind: counts[name] for name, kind in KINDS.items() if counts[name]}


def number(value: float) -> str:
    """A number as precise as the ledger has it; undefined ones say so."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"
