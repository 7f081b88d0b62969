"""Widths of confidence intervals: one formula for every reading of Propositions 1 and 2."""

import math
from typing import NamedTuple

from bestarm.core.compile import inlined


class Width(NamedTuple):
    """|y . (theta_hat - theta*)| <= C(n) ||y|| in the norm of A^-1 after n pulls, with

        C(n) = bias + sqrt(scale (base + growth log(offset + slope n))).

    Nondecreasing in n, which the strategies rely on.
    """

    scale: float
    base: float
    growth: float = 0.0
    offset: float = 1.0
    slope: float = 0.0
    bias: float = 0.0


@inlined
def radius(width: Width, n: float) -> float:
    """C(n)."""
    log_term = width.base
    if width.growth > 0.0:
        log_term += width.growth * math.log(width.offset + width.slope * n)
    return width.bias + math.sqrt(width.scale * log_term)
