"""Bets on weighted sums of rewards from 0 to 1, whose variance is neither known nor bounded.

Before a reward X of mean mu a coefficient c and a centre m are chosen, with c (X - m) >= -1 for
every X from 0 to 1, and with W = sum c by mean and Z = sum c m

    exp(l(x) + x (Z - W . mu)),   l(x) = sum X ln(1 + x c (1 - m)) + (1 - X) ln(1 - x c m),

is a supermartingale that starts at 1, for each fraction x in (0, 1): ln is concave, so a pull adds
at most ln(1 + x c (X - m)) to l, and E[1 + x c (X - m)] = 1 + x c (mu - m) <= exp(x c (mu - m)).
For rewards that are 0 or 1 l is sum ln(1 + x c (X - m)) itself, the wealth of a gambler who stakes
x c. docs/guarantees.md has the proof, and a second one.

Sources: Waudby-Smith & Ramdas (2024) for bets on one mean.
"""

import math

import numpy as np

from bestarm.core.compile import jit, lean

#: The fractions x of the mixture, fixed before sampling. All are below 1, so that no reward takes
#: all of the wealth; the smallest is for differences of a thousandth of a rate.
LARGEST = 0.9
FRACTIONS = LARGEST * 1.3 ** -np.arange(27.0)
#: ln of their weights, in proportion to sqrt(x): between equal weights, with which the price of the
#: mixture is the same at every difference, and a uniform law of x, which favours large ones.
LOG_WEIGHTS = 0.5 * np.log(FRACTIONS) - np.log(np.sqrt(FRACTIONS).sum())


@lean
def add_bet(wealth: np.ndarray, c: float, m: float, pulls: float, total: float) -> None:
    """Add pulls of one coefficient and centre to l(x).

    Args:
        wealth: (n,) l at FRACTIONS, changed in place.
        c, m: coefficient and centre, c (X - m) >= -1 for X from 0 to 1.
        pulls: how many.
        total: the sum of their rewards.

    Example:
        >>> wealth = np.zeros(FRACTIONS.size)
        >>> add_bet(wealth, 1.0, 0.5, 3.0, 2.0)  # 1.45 twice and 0.55 once
        >>> round(float(wealth[0]), 4), round(2 * math.log(1.45) + math.log(0.55), 4)
        (0.1453, 0.1453)
    """
    if c == 0.0:
        return
    for i in range(wealth.size):
        stake = FRACTIONS[i] * c
        wealth[i] += total * math.log1p(stake * (1.0 - m))
        wealth[i] += (pulls - total) * math.log1p(-stake * m)


@lean
def log_wealth(wealth: np.ndarray, slack: float) -> float:
    """ln of the average of exp(l(x) + x slack) over FRACTIONS, weighted.

    Args:
        wealth: (n,) l.
        slack: Z - U, where U is at least W . mu for the means mu that are tested.

    Example:
        >>> abs(round(log_wealth(np.zeros(FRACTIONS.size), 0.0), 12))
        0.0
    """
    largest = -np.inf
    for i in range(wealth.size):
        largest = max(largest, LOG_WEIGHTS[i] + wealth[i] + FRACTIONS[i] * slack)
    total = 0.0
    for i in range(wealth.size):
        total += math.exp(LOG_WEIGHTS[i] + wealth[i] + FRACTIONS[i] * slack - largest)
    return largest + math.log(total)


@jit
def largest_product(r: float, low: float, high: float) -> float:
    """max r mu over low <= mu <= high.

    Example:
        >>> largest_product(-2.0, 0.1, 0.4)
        -0.2
    """
    return max(r * low, r * high)
