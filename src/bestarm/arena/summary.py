"""The arena's cells by family: who needs least, and who errs."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestarm.arena.cells import PROVEN
from bestarm.common.evidence import Z95
from bestarm.common.tables import groups

#: What a row of `by_family` and `by_budget` is of.
KEYS = ["family", "strategy", "rule", "delta"]
BUDGET_KEYS = ["family", "strategy", "budget"]


def confidences(folder: Path) -> pd.DataFrame:
    """`by_family` of the kept table in a folder."""
    return by_family(pd.read_csv(folder / "cells.csv"))


def best(folder: Path) -> pd.DataFrame:
    """The proven rules among them."""
    table = confidences(folder)
    return table[table.rule == PROVEN]


def budgets(folder: Path) -> pd.DataFrame:
    """`by_budget` of the kept table in a folder."""
    return by_budget(pd.read_csv(folder / "budgets.csv"))


def geometric(values: pd.Series) -> float:
    """The geometric mean, nan if one is missing.

    Example:
        >>> round(geometric(pd.Series([2.0, 8.0])), 6)
        4.0
    """
    return float(np.exp(np.mean(np.log(values.to_numpy(float)))))


def by_family(cells: pd.DataFrame) -> pd.DataFrame:
    """Ratios to the bound by family, strategy, rule and delta: geometric means over instances.

    Args:
        cells: the kept table.

    Returns:
        `ratio` with its 95% interval `low` to `high` (`delta` method, from those of instances),
        `ratio_90`, `ratio_99` (nan if cut off), `microseconds`; `error`, that of the instance with
        the most; whether it is `above` delta surely on some instance, `within` delta surely on all;
        whether some run was `cut` off; and `place`: `winner` for the lowest ratio of rules that
        are proven, not above delta and not cut off, `tied` for those whose interval overlaps the
        winner's.
    """
    rows = []
    for key, some in groups(cells, *KEYS):
        ratio = geometric(some.ratio)
        spread = (some.ratio_high - some.ratio_low) / (2.0 * Z95 * some.ratio)
        width = Z95 * math.sqrt(float((spread**2).sum())) / len(some)
        rows.append(
            {
                **dict(zip(KEYS, key, strict=True)),
                "instances": len(some),
                "runs": int(some.runs.sum()),
                "ratio": ratio,
                "low": ratio * math.exp(-width),
                "high": ratio * math.exp(width),
                "ratio_90": geometric(some.ratio_90),
                "ratio_99": geometric(some.ratio_99),
                "error": float(some.error.max()),
                "above": bool((some.error_low > some.delta).any()),
                "within": bool((some.error_high <= some.delta).all()),
                "cut": bool((some.stopped < some.runs).any()),
                "microseconds": geometric(some.microseconds),
            }
        )
    return _placed(pd.DataFrame(rows), ["family", "delta"], "ratio")


def by_budget(cells: pd.DataFrame) -> pd.DataFrame:
    """Error rates by family, strategy and budget: means over instances, with 95% intervals.

    `place` is `winner` for the lowest, `tied` for those whose interval overlaps its.
    """
    rows = []
    for key, some in groups(cells, *BUDGET_KEYS):
        rate = some.wrong / some.runs
        shrunk = (some.wrong + 2.0) / (some.runs + 4.0)  # Agresti & Coull: not 0 if none erred
        width = Z95 * math.sqrt(float((shrunk * (1.0 - shrunk) / some.runs).sum())) / len(some)
        rows.append(
            {
                **dict(zip(BUDGET_KEYS, key, strict=True)),
                "instances": len(some),
                "runs": int(some.runs.sum()),
                "error": float(rate.mean()),
                "low": max(float(rate.mean()) - width, 0.0),
                "high": float(rate.mean()) + width,
            }
        )
    return _placed(pd.DataFrame(rows), ["family", "budget"], "error")


def _placed(table: pd.DataFrame, by: list[str], value: str) -> pd.DataFrame:
    """The table with a column `place`."""
    fit = pd.Series(True, table.index)
    if "rule" in table:
        fit = (table.rule == PROVEN) & ~table.above & ~table.cut
    place = pd.Series("", table.index)
    for _, some in table[fit].groupby(by, sort=False):
        best: Any = some.sort_values(value, kind="stable").iloc[0]
        place[some.index[some.low <= best.high]] = "tied"
        place[some.index[some[value] == best[value]]] = "winner"
    return table.assign(place=place)
