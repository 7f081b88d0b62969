"""The estimates of a live experiment, one per line, that its table and its picture are made of."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bestarm.live.combinations import Interval, weighted

#: The arm of a limit's row.
ANSWER = "the answer"
#: A policy that is computed to keep a limit exceeds it by no more than this share of its size.
ROUNDING = 1e-9
#: The segment and the quantity of an arm's row over all segments.
ALL, TOTAL = "all", "weighted mean"


class Line(NamedTuple):
    """One estimate of an experiment: a row of `summary`."""

    arm: str
    quantity: str  # what is estimated, such as "reward"
    pulls: int
    estimate: float  # nan before the first pull
    low: float
    high: float
    status: str = ""  # what is settled
    kept_out: int = 0  # results that do not count, since they were not asked for
    segment: str = ""
    limit: float = math.nan  # that the mean has to keep, if there is one

    @property
    def interval(self) -> Interval:
        """The estimate between its ends."""
        return Interval(self.low, self.estimate, self.high)


#: The columns of `summary`, and those of comparisons with a control.
COLUMNS = (
    "arm", "segment", "quantity", "pulls", "estimate", "low", "high", "limit", "status", "kept_out",
)  # fmt: skip
DIFFERENCES = ("difference", "difference_low", "difference_high", "detectable")
#: An estimate, and its difference from the control's.
Row = tuple[Line, Interval]


def limit_lines(
    costs: Sequence[str], limits: np.ndarray, shares: np.ndarray | None, lines: Sequence[Line]
) -> list[Line]:
    """A row per limit: the mean cost of a policy, from the intervals of the arms, which all hold.

    Args:
        costs: the names of the limits.
        limits: (d,) the most that mean costs may be.
        shares: (K,) of the arms in the policy; None if there is no policy.
        lines: of the arms' costs, in the order of the arms.
    """
    return [
        _limit_line(name, float(limit), shares, [line for line in lines if line.quantity == name])
        for name, limit in zip(costs, limits, strict=True)
    ]


def _limit_line(name: str, limit: float, shares: Any, lines: list[Line]) -> Line:
    pulls = sum(line.pulls for line in lines)
    if shares is None or not shares.any():
        low, estimate, high = -math.inf, math.nan, math.inf
    else:
        low, estimate, high = weighted(shares, [line.interval for line in lines])
    most = limit + ROUNDING * max(abs(limit), 0.0 if math.isnan(estimate) else abs(estimate))
    status = "kept" if high <= most else "exceeded" if low > most else "open"
    return Line(ANSWER, name, pulls, estimate, low, high, status, limit=limit)
