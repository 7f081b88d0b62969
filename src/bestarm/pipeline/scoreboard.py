"""What the verdicts come to: totals by kind at several margins, and what each reading supports."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from bestarm.core.files import write_text
from bestarm.pipeline.claims import KINDS
from bestarm.pipeline.validity import REFUTED
from bestarm.pipeline.verdicts import (
    DIFFERS,
    LEVEL,
    NOT_TESTABLE,
    VERDICTS,
    WITHIN_MARGIN,
)

#: Margins of the headline, as multiples of the plan's.
MARGINS = (0.5, 1.0, 2.0)
#: The columns of headline.csv and of scorecard.csv.
HEADLINE_MEANINGS = {
    "margins": "of equivalence, as multiples of the plan's",
    "paper": "whose claims",
    "kind": "of the claims",
    "verdict": "on them",
    "claims": "how many",
}
SCORECARD_MEANINGS = {
    "paper": "whose claims",
    "reading": "of the paper",
    "kind": "of the claims",
    "agrees": "claims that are credited to the reading",
    "refuted": "those of them about a strategy that breaks its promise under it",
    "differs": "claims that differ under it",
    "cannot_tell": "claims that it cannot be told of",
    "claims": "all that can be tested under it",
}


def headline(ledgers: Mapping[float, pd.DataFrame]) -> pd.DataFrame:
    """Claims by margin, paper, kind and verdict, those that do not occur included.

    Args:
        ledgers: the ledger at each multiple of the margins.
    """
    parts = []
    for margins, ledger in ledgers.items():
        claims = ledger.drop_duplicates(["paper", "id"])
        index = pd.MultiIndex.from_product(
            [claims.paper.unique(), KINDS, VERDICTS], names=["paper", "kind", "verdict"]
        )
        counts = claims.groupby(["paper", "kind", "verdict"]).size().reindex(index, fill_value=0)
        parts.append(counts.rename("claims").reset_index().assign(margins=margins))
    return pd.concat(parts)[["margins", "paper", "kind", "verdict", "claims"]]


def expected_false_alarms(ledger: pd.DataFrame) -> tuple[int, float]:
    """How many claims rest on sampling, and how many of these a true reading may be denied to.

    Under each claim the reading that is true, if one is, is rejected with probability LEVEL or
    less.
    """
    sampled = ledger[ledger.kind.ne("identity") & ledger.outcome.notna()]
    n = len(sampled[sampled.outcome != NOT_TESTABLE].drop_duplicates(["paper", "id"]))
    return n, LEVEL * n


def scorecard(ledger: pd.DataFrame) -> pd.DataFrame:
    """Of each paper's readings how many claims of each kind they support, and contradict.

    `agrees` counts claims that are credited to the reading: with a row of a table, all its numbers.
    `refuted` counts those of them about a strategy that breaks its promise under the reading.
    """
    tested = ledger[ledger.reading.notna()]
    broken = tested.validity.eq(REFUTED) | tested.validity_than.eq(REFUTED)
    places = ["paper", "reading", "kind"]
    orders = {"paper": ledger.paper.unique(), "reading": tested.reading.unique(), "kind": KINDS}
    ordered = {name: pd.Categorical(tested[name], orders[name], ordered=True) for name in places}
    claims = (
        tested.assign(broken=broken, **ordered)
        .groupby([*places, "id"], sort=True, observed=True)
        .agg(outcome=("outcome", "first"), credited=("credited", "first"), broken=("broken", "max"))
        .reset_index()
    )
    differs = claims.outcome.isin([DIFFERS, WITHIN_MARGIN])
    tellable = claims.outcome != NOT_TESTABLE
    credited = claims.credited.astype(bool)
    counts = {
        "agrees": credited,
        "refuted": credited & claims.broken,
        "differs": differs,
        "cannot_tell": tellable & ~differs & ~credited,
        "claims": tellable,
    }
    return claims.assign(**counts).groupby(places, observed=True)[[*counts]].sum().reset_index()


def write(table: pd.DataFrame, path: Path | str) -> None:
    """Write a table of counts."""
    write_text(path, table.to_csv(index=False, lineterminator="\n"))
