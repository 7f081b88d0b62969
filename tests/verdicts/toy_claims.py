"""Toy tables and claims for the tests of verdicts."""

import math

import pandas as pd
from scipy import stats

from bestarm.common.paper import Cell
from bestarm.common.tables import assemble, cell_rows
from bestarm.core.estimates import Estimate
from bestarm.verdicts.claims import ClaimsFile
from bestarm.verdicts.judge import judge
from bestarm.verdicts.outcome import BY_READING
from bestarm.verdicts.tables import Tables

SETTING = {"delta": 0.1}
TIME = "mean_stopping_time"


def normal_mean(centre, error, n=10_000, status="", statistic=TIME):
    """A mean estimate with a given standard error."""
    half = error * stats.norm.ppf(0.975)
    return Estimate(statistic, "pulls", centre, centre - half, centre + half, n, status)


def table_of(strategy="s", setting=SETTING, instance="i", **estimates):
    """A table with one list of estimates per reading (`_` stands for `-`)."""
    rows = []
    for reading, found in estimates.items():
        rows += cell_rows(Cell(instance, strategy, setting, reading.replace("_", "-")), found)
    return assemble(rows).astype(dict.fromkeys(("x", "value", "low", "high"), float))


def published_table(**values):
    """Published numbers by statistic: a value, or a dictionary of columns."""
    nothing = {"cap": math.nan, "own_error": math.nan}
    blank = {"n": 10_000, "half_unit": 0.0, "precision": "print", **nothing}
    rows = []
    for statistic, given in values.items():
        given = given if isinstance(given, dict) else {"value": given}
        row = {**blank, "target": "t", "instance": "i", "strategy": "s", "statistic": statistic}
        rows.append(row | given | {"printed": str(given.get("printed", given["value"]))})
    return pd.DataFrame(rows)


def claim(test="equals", **fields):
    """A claim on the mean stopping time of strategy s, under two readings."""
    kind = {"equals": "number", "exact": "identity"}.get(test, "ordering")
    row = {"target": "t", "statistic": TIME, "strategy": "s", "instance": "i"}
    blank = {"id": "c", "where": "Table 1", "kind": kind, "statement": "so it is", "row": row}
    return blank | {"test": test, "readings": ["as-written", "other"]} | fields


def judged(claims, tables, published=None, margins=1.0, **fields):
    """The judged claims by their id; `tables` is one table, or several by name."""
    claims = claims if isinstance(claims, list) else [claims]
    tables = tables if isinstance(tables, dict) else {"t": tables}
    file = ClaimsFile(claims=claims, **fields)
    return {one.claim.id: one for one in judge(file, Tables(tables, published), margins=margins)}


def verdict(one, tables, published=None, **fields):
    """The verdict on one claim; of one that a named reading confirms, the reading too."""
    result = judged(one, tables, published, **fields)["c"]
    named = result.verdict == BY_READING
    return (result.verdict, result.under) if named else result.verdict


def outcomes(one, tables, published=None, **fields):
    """The outcome of one claim under each reading."""
    lines = judged(one, tables, published, **fields)["c"].lines
    return {line.reading: line.outcome for line in lines}
