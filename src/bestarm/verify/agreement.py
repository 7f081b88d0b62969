"""Whether a table made of fresh, independent runs agrees with the kept one, made of other runs.

A number that is computed, not simulated, has to be the same. Of a simulated one each side gets an
interval that misses the truth with probability at most alpha / 2; the two disagree if their
intervals do not meet. So a pair of rows that are right disagrees with probability at most alpha,
and of T such rows any does with probability at most T alpha (Bonferroni), however they depend on
one another. The intervals are

    shares     Clopper and Pearson's, from the count and the number of runs: exact.
    quantiles  of the fresh runs by order statistics, for any distribution: exact. Of the kept ones,
               of whose runs only a 95% interval is left, that interval stretched to the level as a
               normal one is.
    means      mean +- s (sqrt(2 L / n) + L / n), L = ln(4 / alpha): Bernstein's, for runs whose
               tails are those of an exponential distribution or lighter. s is the larger of the two
               samples' standard deviations, since a rare long run may be in only one of them.

Other statistics of a table (ratios, slopes, fits) are functions of these and are not tested.
"""

import math
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from bestarm.common.tables import KEY, QUANTILES, lines, read_table, write_table
from bestarm.core import estimates

#: Computed numbers agree to this, relatively; printed ones have six digits.
COMPUTED, PRINTED = 1e-4, 2e-5


def fresh_level(alpha: float) -> float:
    """The level at which intervals of fresh runs are wanted for tests at alpha."""
    return 1.0 - alpha / 2.0


def as_written(table: pd.DataFrame) -> pd.DataFrame:
    """A table as it is once written and read again: six digits."""
    with tempfile.TemporaryDirectory() as folder:
        write_table(table, path := Path(folder) / "table.csv")
        return read_table(path)


def simulated(table: pd.DataFrame) -> pd.Series:
    """Which rows of a table rest on runs."""
    return ~table.status.isin(["exact", "published"])


def paired(kept: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    """Rows of two tables side by side by what identifies them; `_merge` says where a row is."""
    return kept.merge(fresh, on=KEY, how="outer", suffixes=("", "_fresh"), indicator=True)


def computed_differ(pairs: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """The computed and published rows that differ by more than a relative tolerance, or lack."""
    either = (~simulated(pairs) & pairs.status.notna()) | pairs.status_fresh.isin(
        ["exact", "published"]
    )
    rows = pairs[either]
    same = np.isclose(rows.value, rows.value_fresh, rtol=tolerance, atol=1e-9, equal_nan=True)
    return rows[~same | (rows["_merge"] != "both")]


def verdicts(pairs: pd.DataFrame, alpha: float) -> pd.Series:
    """For each pair of rows True (agree), False (disagree) or None (not testable)."""
    return pd.Series([agree(row, alpha) for row in lines(pairs)], pairs.index, dtype=object)


def agree(row, alpha: float) -> bool | None:
    """Test one pair; its fresh interval has the level `fresh_level(alpha)`.

    Args:
        row: value, low, high, n and the same with _fresh, and statistic; kept intervals have 95%.
        alpha: how likely a disagreement may be if both are right.
    """
    if not np.isfinite([row.value, row.value_fresh]).all():
        return None
    p = QUANTILES.get(row.statistic.split(":")[-1])
    if p is not None:
        if np.isnan([row.low, row.low_fresh]).any():  # too few runs for an interval
            return None
        kept, fresh = _kept_quantile(row, alpha), (row.low_fresh, row.high_fresh)
    elif _is_share(row):
        kept, fresh = (_clopper_pearson(v, n, alpha / 2.0) for v, n in _samples(row))
    elif _is_mean(row):
        kept, fresh = _means(row, alpha)
    else:
        return None
    slack = PRINTED * max(abs(row.value), abs(row.value_fresh))
    return bool(kept[0] <= fresh[1] + slack and fresh[0] <= kept[1] + slack)


def _samples(row) -> tuple[tuple[float, int], tuple[float, int]]:
    return (row.value, int(row.n)), (row.value_fresh, int(row.n_fresh))


def _is_share(row) -> bool:
    """Whether a whole number of runs, out of n, gives the kept value and its interval."""
    count = round(row.value * row.n)
    if row.unit != "share" or not 0 <= count <= row.n or row.n < 1:
        return False
    as_share = estimates.proportion("", count, int(row.n))
    ends = [as_share.value, as_share.low, as_share.high]
    return bool(np.allclose(ends, [row.value, row.low, row.high], rtol=PRINTED, atol=1e-9))


def _is_mean(row) -> bool:
    """Whether the kept interval is symmetric, as a t interval is that is not cut off at 0."""
    ends = [row.low, row.high, row.low_fresh, row.high_fresh]
    mirrored = 2.0 * row.value - row.high
    slack = 2.0 * PRINTED * max(abs(row.value), abs(row.high))
    even = abs(row.low - mirrored) <= slack or (row.low == 0.0 > mirrored)
    return bool(np.isfinite(ends).all() and even)


def _clopper_pearson(share: float, n: int, alpha: float) -> tuple[float, float]:
    """The shares under which neither a count as low nor one as high has a chance below alpha/2."""
    count = round(share * n)
    low = stats.beta.ppf(alpha / 2.0, count, n - count + 1) if count > 0 else 0.0
    high = stats.beta.ppf(1.0 - alpha / 2.0, count + 1, n - count) if count < n else 1.0
    return float(low), float(high)


def _kept_quantile(row, alpha: float) -> tuple[float, float]:
    stretch = stats.norm.isf(alpha / 4.0) / stats.norm.isf(0.025)
    low = row.value - stretch * (row.value - row.low)
    return low, row.value + stretch * (row.high - row.value)


def _means(row, alpha: float) -> list[tuple[float, float]]:
    kept = _deviation(row.high - row.value, int(row.n), 0.95)
    fresh = _deviation(row.high_fresh - row.value_fresh, int(row.n_fresh), fresh_level(alpha))
    rare = math.log(4.0 / alpha)
    halves = [max(kept, fresh) * (math.sqrt(2.0 * rare / n) + rare / n) for _, n in _samples(row)]
    return [(v - h, v + h) for (v, _), h in zip(_samples(row), halves, strict=True)]


def _deviation(half: float, n: int, level: float) -> float:
    """The standard deviation of n runs whose mean has a t interval of this half-width."""
    return half * math.sqrt(n) / float(stats.t.ppf((1.0 + level) / 2.0, n - 1))
