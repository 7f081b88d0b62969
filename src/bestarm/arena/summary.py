"""The arena's cells by family: who needs least, and who errs."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestarm.arena.cells import PROVEN
from bestarm.common.p_values import Z95
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
        the most; whether it is `above` delta with confidence on some instance, `within` it on all;
        whether some run was `cut` off; and `place`: `winner` for the lowest ratio of rules that
        are proven, not above delta and not cut off, `tied` for those whose interval overlaps the
        winner's.
    """
    rows = []
    for key, group in groups(cells, *KEYS):
        ratio = geometric(group.ratio)
        spread = (group.ratio_high - group.ratio_low) / (2.0 * Z95 * group.ratio)
        width = Z95 * math.sqrt(float((spread**2).sum())) / len(group)
        rows.append(
            {
                **dict(zip(KEYS, key, strict=True)),
                "instances": len(group),
                "runs": int(group.runs.sum()),
                "ratio": ratio,
                "low": ratio * math.exp(-width),
                "high": ratio * math.exp(width),
                "ratio_90": geometric(group.ratio_90),
                "ratio_99": geometric(group.ratio_99),
                "error": float(group.error.max()),
                "above": bool((group.error_low > group.delta).any()),
                "within": bool((group.error_high <= group.delta).all()),
                "cut": bool((group.stopped < group.runs).any()),
                "microseconds": geometric(group.microseconds),
            }
        )
    return _placed(pd.DataFrame(rows), ["family", "delta"], "ratio")


def by_budget(cells: pd.DataFrame) -> pd.DataFrame:
    """Error rates by family, strategy and budget: means over instances, with 95% intervals.

    `place` is `winner` for the lowest, `tied` for those whose interval overlaps its.
    """
    rows = []
    for key, group in groups(cells, *BUDGET_KEYS):
        rate = group.wrong / group.runs
        shrunk = (group.wrong + 2.0) / (group.runs + 4.0)  # Agresti & Coull: not 0 if none erred
        width = Z95 * math.sqrt(float((shrunk * (1.0 - shrunk) / group.runs).sum())) / len(group)
        rows.append(
            {
                **dict(zip(BUDGET_KEYS, key, strict=True)),
                "instances": len(group),
                "runs": int(group.runs.sum()),
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
    for _, group in table[fit].groupby(by, sort=False):
        best: Any = group.sort_values(value, kind="stable").iloc[0]
        place[group.index[group.low <= best.high]] = "tied"
        place[group.index[group[value] == best[value]]] = "winner"
    return table.assign(place=place)
