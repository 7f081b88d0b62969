"""Whether a strategy keeps its promise under a reading: errors at most delta, stopping possible.

All cells of a strategy and reading are tested together: errors against delta by exact binomial
tests, mean stopping times of uncapped cells against a lower bound that holds for every
delta-correct strategy. Holm's method keeps the chance of refuting a reading that is right below
LEVEL.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from bestarm.common.p_values import is_computed, raw_side, share_against, tail
from bestarm.common.tables import lines
from bestarm.verdicts.claims import ClaimsFile, TableRow
from bestarm.verdicts.multiple_testing import holm
from bestarm.verdicts.tables import matching

LEVEL = 0.01

PROVEN, NOT_REFUTED, REFUTED = "proven", "not refuted", "refuted"
#: What lists say of a promise whose proof is not here.
BY_AUTHORS = "proven by its authors"
#: What lists say of a strategy whose promise is neither proven nor refuted.
NOT_PROVEN = "not proven"

#: What tells a cell apart.
CELL = ["instance", "strategy", "setting", "reading", "x_name"]


class Doubt(NamedTuple):
    """How far a cell's runs speak against a promise."""

    p_value: float
    errors: float  # share of runs; nan if the cell's mean stopping time is held against a bound
    delta: float


def validities(
    claims: ClaimsFile, tables: Mapping[str, pd.DataFrame]
) -> dict[tuple[str, str], str]:
    """The validity of every (strategy, reading) that promises a delta in some table of a paper."""
    proven = _proven(claims)
    return {
        key: REFUTED if _refuted(doubts) else PROVEN if key in proven else NOT_REFUTED
        for key, doubts in _doubts(claims, tables).items()
    }


def guarantees(
    claims: ClaimsFile, tables: Mapping[str, pd.DataFrame]
) -> dict[tuple[str, str], str]:
    """What is known of the promises of (strategy, reading), if anything: proven, or refuted.

    In brackets stands the condition of a proof that is not for all runs, and of a refutation the
    number of the cell that is clearest.
    """
    known_validity = _proven(claims)
    for key, doubts in _doubts(claims, tables).items():
        if _refuted(doubts):
            worst = min(doubts, key=lambda doubt: doubt.p_value)
            wrong = f"{100 * worst.errors:.0f}% wrong at delta = {worst.delta:g}"
            known_validity[key] = (
                f"{REFUTED} ({'stops too soon' if math.isnan(worst.errors) else wrong})"
            )
    return known_validity


def _doubts(
    claims: ClaimsFile, tables: Mapping[str, pd.DataFrame]
) -> dict[tuple[str, str], list[Doubt]]:
    """The cells of every (strategy, reading) that promises a delta."""
    doubts: dict[tuple[str, str], list[Doubt]] = defaultdict(list)
    if not tables:
        return doubts
    for row, doubt in [*_errors(tables.values()), *_too_soon(claims.lower_bounds, tables)]:
        doubts[row.strategy, row.reading].append(doubt)
    return doubts


def _proven(claims: ClaimsFile) -> dict[tuple[str, str], str]:
    """What is said of every promise that has a proof."""
    return {
        (strategy, reading): (PROVEN if proof.by == "us" else BY_AUTHORS)
        + (f" ({proof.condition})" if proof.condition else "")
        for proof in claims.proven
        for strategy in proof.strategies
        for reading in proof.readings
    }


def _refuted(doubts: list[Doubt]) -> bool:
    return min(holm(doubt.p_value for doubt in doubts)) < LEVEL


def _errors(tables: Iterable[pd.DataFrame]) -> Iterable[tuple[Any, Doubt]]:
    """Cells with a delta, and how likely so many errors are if each has at most that chance.

    Where a table counts `wrong_stops`, these are the errors. Elsewhere a run that was capped has
    not answered yet, and as many errors as there are such runs do not count.
    """
    names = ["wrong_stops", "error_rate", "share_capped"]
    seen = pd.concat([t[t.statistic.isin(names)] for t in tables])
    if seen.empty:
        return
    seen = seen.drop_duplicates([*CELL, "x", "statistic"])
    by = {name: seen[seen.statistic == name].drop_duplicates(CELL) for name in names}
    stops, capped = (by[name].set_index(CELL).value for name in ("wrong_stops", "share_capped"))
    for row in lines(by["error_rate"]):
        delta = getattr(row, "delta", math.nan)
        if delta == delta and row.n > 0:
            cell = tuple(getattr(row, name) for name in CELL)
            wrong = stops.get(cell, max(row.value - capped.get(cell, 0.0), 0.0))
            errors = round(wrong * row.n)
            against = share_against(errors, int(row.n), delta, -1.0).against
            yield row, Doubt(against, errors / row.n, delta)


def _too_soon(
    bounds: list[TableRow], tables: Mapping[str, pd.DataFrame]
) -> Iterable[tuple[Any, Doubt]]:
    """Cells without a capped run, and how likely means as short are if the bound holds."""
    for bound in bounds:
        table = tables[str(bound.target)]
        limits = matching(table, bound.model_dump(exclude={"target"}, exclude_none=True))
        means = table[(table.statistic == "mean_stopping_time") & (table.status == "")]
        for row in lines(means):
            limit_rows = limits[(limits.instance == row.instance) & (limits.delta == row.delta)]
            if len(limit_rows) == 1 and is_computed(limit_rows.iloc[0]):
                against = tail(limit_rows.value.iloc[0] - row.value, raw_side(row).above)
                yield row, Doubt(against, math.nan, row.delta)
