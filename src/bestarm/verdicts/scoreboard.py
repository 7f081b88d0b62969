"""What the verdicts come to: totals by kind, independent results, and what readings support."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from bestarm.common.tables import groups
from bestarm.core.files import write_text
from bestarm.verdicts.claims import KINDS
from bestarm.verdicts.outcome import (
    COMPATIBLE,
    CONFIRMED,
    DIFFERS,
    INCONCLUSIVE,
    LEVEL,
    NOT_TESTABLE,
    RECOVERED,
    SUBSTITUTE,
    TEXT,
    VERDICTS,
)
from bestarm.verdicts.released import INSIDE

#: Margins of the headline, as multiples of the plan's.
MARGINS = (0.5, 1.0, 2.0)

#: How a result stands; it stands at the first of these that holds for all its numbers.
FROM_TEXT, FROM_READING = "replicates from the text", "replicates from a named reading"
COARSE = "compatible with a reading, known to ± x%"
FROM_PROGRAM = "inside the released program's interval"
NOT_FIXED, DIFFERS_ALL = "not fixed by the text", "differs from all of these"
STANDINGS = (FROM_TEXT, FROM_READING, COARSE, FROM_PROGRAM, NOT_FIXED, DIFFERS_ALL, NOT_TESTABLE)

#: The columns of headline.csv, results.csv and scorecard.csv.
HEADLINE_MEANINGS = {
    "margins": "of equivalence, as multiples of the plan's",
    "paper": "whose claims",
    "kind": "of the claims",
    "verdict": "on them",
    "claims": "how many",
}
RESULTS_MEANINGS = {
    "paper": "whose result",
    "result": "what one experiment gives for one strategy in one environment",
    "standing": "the first row of the headline that holds for all its numbers",
    "without_added": "how it stands without readings entered after the outcomes were seen",
    "under": "the reading that does, where one does",
    "known_to": "the largest over its numbers: half the width of the interval, as a share",
    "numbers": "its published numbers",
    "ids": "of the claims on them",
}
SCORECARD_MEANINGS = {
    "paper": "whose claims",
    "reading": "of the paper",
    "kind": "of the claims",
    "confirmed": "claims that are confirmed under it",
    "errs": "those of them on which it errs more often than delta, and the paper's text does not",
    "differs": "claims that differ under it",
    "open": "claims that are compatible with it, or inconclusive",
    "claims": "all that can be tested under it",
}


def headline(verdicts: Mapping[float, pd.DataFrame]) -> pd.DataFrame:
    """Claims by margin, paper, kind and verdict, those that do not occur included.

    Args:
        verdicts: claims.csv at each multiple of the margins.
    """
    parts = []
    for margins, table in verdicts.items():
        claims = of_papers(table).drop_duplicates(["paper", "id"])
        index = pd.MultiIndex.from_product(
            [claims.paper.unique(), KINDS, VERDICTS], names=["paper", "kind", "verdict"]
        )
        counts = claims.groupby(["paper", "kind", "verdict"]).size().reindex(index, fill_value=0)
        parts.append(counts.rename("claims").reset_index().assign(margins=margins))
    return pd.concat(parts)[["margins", "paper", "kind", "verdict", "claims"]]


def of_papers(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The claims of papers, without those that say more than a paper does."""
    return verdicts[~verdicts.beyond.astype(bool)]


def results(verdicts: pd.DataFrame, before: pd.DataFrame | None = None) -> pd.DataFrame:
    """The independent results that published numbers make, and how each stands.

    Args:
        verdicts: claims.csv.
        before: the same without readings entered after the outcomes were seen; by default there
            are none.
    """
    earlier = dict(_by_result(verdicts if before is None else before))
    rows = [
        {
            "paper": paper,
            "result": result,
            **_standing(lines),
            "without_added": _standing(earlier[paper, result])["standing"],
            **_numbers(lines),
        }
        for (paper, result), lines in _by_result(verdicts)
    ]
    return pd.DataFrame(rows, columns=list(RESULTS_MEANINGS))


def _by_result(verdicts: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    numbers = verdicts[verdicts.kind.eq("number") & verdicts.result.notna()]
    return groups(numbers, "paper", "result")


def _numbers(lines: pd.DataFrame) -> dict[str, object]:
    names = lines.id.unique()
    return {"numbers": len(names), "ids": " ".join(names)}


def _standing(lines: pd.DataFrame) -> dict[str, object]:
    """How a result stands, under which reading, and how well its numbers are known."""
    tested = lines[lines.outcome.notna() & lines.outcome.ne(NOT_TESTABLE)]
    if tested.empty:
        return {"standing": NOT_TESTABLE}
    outcomes = tested.pivot(index="reading", columns="id", values="outcome")
    outcomes = outcomes.loc[tested.reading.unique()]
    first, basis = tested.reading.iloc[0], tested.basis.iloc[0]
    confirmed = outcomes.index[outcomes.eq(CONFIRMED).all(axis=1)]
    if first in confirmed and basis == TEXT:
        return {"standing": FROM_TEXT, "under": first}
    if len(confirmed):
        return {"standing": FROM_READING, "under": _preferred(confirmed, first, tested)}
    # A true reading has to fit all numbers 95% of the time (Bonferroni), as in a published row.
    against = tested.pivot(index="reading", columns="id", values="p_against").loc[outcomes.index]
    fitting = outcomes.index[against.ge(LEVEL / len(outcomes.columns)).all(axis=1)]
    if len(fitting):
        under = _preferred(fitting, first, tested)
        known_to = tested[tested.reading == under].known_to.max(skipna=False)
        return {"standing": COARSE, "under": under, "known_to": known_to}
    if tested.program.eq(INSIDE).all():
        return {"standing": FROM_PROGRAM}
    return {"standing": NOT_FIXED if basis in (RECOVERED, SUBSTITUTE) else DIFFERS_ALL}


def _preferred(readings: pd.Index, first: str, lines: pd.DataFrame) -> str:
    """The paper's own reading if it is among some, else the one whose numbers are nearest.

    Those whose runs were capped come last: how near they are is not known.
    """
    if first in readings:
        return first
    apart = np.abs(np.log(lines.ratio.to_numpy(float)))
    apart[lines.known_to.isna()] = np.inf
    farthest = pd.Series(apart, lines.reading).fillna(np.inf).groupby(level=0).max()
    return str(min(readings, key=lambda reading: farthest[reading]))


def expected_false_alarms(verdicts: pd.DataFrame) -> tuple[int, float]:
    """How many claims rest on sampling, and how many of these a true reading may be denied to.

    Under each claim the reading that is true, if one is, is rejected with probability LEVEL or
    less.
    """
    sampled = of_papers(verdicts)
    sampled = sampled[sampled.kind.ne("identity") & sampled.outcome.notna()]
    n = len(sampled[sampled.outcome != NOT_TESTABLE].drop_duplicates(["paper", "id"]))
    return n, LEVEL * n


def scorecard(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Of each paper's readings how many claims of each kind they support, and contradict.

    `confirmed` counts numbers only if all numbers of their published row are confirmed.
    """
    tested = of_papers(verdicts[verdicts.reading.notna()])
    places = ["paper", "reading", "kind"]
    orders = {
        "paper": verdicts.paper.unique(), "reading": tested.reading.unique(), "kind": KINDS
    }  # fmt: skip
    ordered = {name: pd.Categorical(tested[name], orders[name], ordered=True) for name in places}
    claims = (
        tested.assign(**ordered)
        .groupby([*places, "id"], sort=True, observed=True)
        .agg(outcome=("outcome", "first"), errs=("errs", "first"))
        .reset_index()
    )
    confirmed = claims.outcome.eq(CONFIRMED)
    counts = {
        "confirmed": confirmed,
        "errs": confirmed & claims.errs.astype(bool),
        "differs": claims.outcome.eq(DIFFERS),
        "open": claims.outcome.isin([COMPATIBLE, INCONCLUSIVE]),
        "claims": claims.outcome.ne(NOT_TESTABLE),
    }
    return claims.assign(**counts).groupby(places, observed=True)[[*counts]].sum().reset_index()


def write(table: pd.DataFrame, path: Path | str) -> None:
    """Write a table of counts, or of results."""
    write_text(path, table.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
