"""E-values for "one arm is better than another", of rewards from 0 to 1, by bets (core/bets.py).

Of each ordered pair (b, a) are kept W = sum c of both arms, Z = sum c m and l(x). The means with
mu_b <= mu_a have theta (mu_b - mu_a) <= 0 for theta >= 0, so W . mu is at most

    U = min over theta of max over a box of means of (W_b - theta) mu_b + (W_a + theta) mu_a.

Against mu_b <= mu_a - margin it is this less theta times the margin. It is the e-value of
baics/bets.py for one subpopulation and no constraint; docs/guarantees.md has the proof.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.anytime import beta_interval
from bestarm.core.bets import FRACTIONS, LARGEST, add_bet, largest_product, log_wealth
from bestarm.core.compile import jit, lean

#: Share of delta for the box of a pair, and both parameters of its prior.
BOX, BOX_PRIOR = 0.02, 0.5
#: As in baics/bets.py: of the best fraction; of the pulls that coefficients are for; and of when
#: they are planned anew.
ROOM, HORIZON, GROWTH = 2.0, 0.1, 1.03


class Bets(NamedTuple):
    """The sums of every ordered pair, the bets on the next pulls, and a box of means."""

    wealth: np.ndarray  # (K, K, n) l of the pair (b, a)
    moved: np.ndarray  # (K, K, 2) W of b, then of a
    centred: np.ndarray  # (K, K) Z
    coefficients: np.ndarray  # (K, K, 2) c
    centres: np.ndarray  # (K, K) m, the same for both arms
    low: np.ndarray  # (K,) the box of all means when bets were last due
    high: np.ndarray  # (K,)
    planned: np.ndarray  # (K,) 1 for arms of the answer that bets are for, else 0
    next_plan: np.ndarray  # (1,) pulls at which they are planned anew


@jit
def make_bets(n_arms: int) -> Bets:
    """Empty sums, and no bets yet; the box is set before the first one."""
    pairs = (n_arms, n_arms)
    return Bets(
        wealth=np.zeros((n_arms, n_arms, FRACTIONS.size)),
        moved=np.zeros((n_arms, n_arms, 2)),
        centred=np.zeros(pairs),
        coefficients=np.zeros((n_arms, n_arms, 2)),
        centres=np.full(pairs, 0.5),
        low=np.zeros(n_arms),
        high=np.zeros(n_arms),
        planned=np.zeros(n_arms, np.int64),
        next_plan=np.zeros(1, np.int64),
    )


@lean
def record_bets(bets: Bets, arm: int, pulls: float, total: float) -> None:
    """Add pulls of an arm, with the sum of their rewards, to the pairs of the planned answer."""
    for other in range(bets.planned.size):
        if bets.planned[arm] == bets.planned[other]:
            continue
        b, a, row = (arm, other, 0) if bets.planned[arm] else (other, arm, 1)
        c, m = bets.coefficients[b, a, row], bets.centres[b, a]
        bets.moved[b, a, row] += pulls * c
        bets.centred[b, a] += pulls * c * m
        add_bet(bets.wealth[b, a], c, m, pulls, total)


@lean
def plan_bets(
    bets: Bets, log_inverse: float, pulls: np.ndarray, sums: np.ndarray, answer: np.ndarray
) -> None:
    """Choose the bets on the next pulls, if they are due or the answer changed.

    Args:
        bets: changed in place.
        log_inverse: ln(1/delta) of each interval of the box.
        pulls, sums: (K,) N > 0, and sums of rewards.
        answer: (K,) 1 for its arms, else 0.
    """
    clock, changed = pulls.sum(), False
    for a in range(answer.size):
        changed |= bets.planned[a] != answer[a]
        bets.planned[a] = answer[a]
    due = clock >= bets.next_plan[0]
    if not (changed or due):
        return
    bets.next_plan[0] = int(GROWTH * clock) + 1
    if due:
        for a in range(answer.size):
            ends = beta_interval(log_inverse, sums[a], pulls[a] - sums[a], BOX_PRIOR, BOX_PRIOR)
            bets.low[a], bets.high[a] = ends
    for b in range(answer.size):
        for a in range(answer.size):
            if answer[b] and not answer[a]:
                _plan_pair(bets, pulls, sums, b, a)


@lean
def _plan_pair(bets: Bets, pulls: np.ndarray, sums: np.ndarray, b: int, a: int) -> None:
    """The bets of a pair: `plan_bets` of baics/bets.py, where its swaps have a closed form.

    The nearest means with mu_b <= mu_a are the common one m. With v = m (1 - m) and x a fraction
    the coefficients for DN = HORIZON N more pulls solve

        max_c  x sum DN c mu - x^2 v / 2 sum DN c^2   s.t.  W + DN c = (theta, -theta),  theta >= 0.
    """
    shrunk_b, shrunk_a = (sums[b] + 0.5) / (pulls[b] + 1.0), (sums[a] + 0.5) / (pulls[a] + 1.0)
    m = (pulls[b] * shrunk_b + pulls[a] * shrunk_a) / (pulls[b] + pulls[a])
    v = m * (1.0 - m)
    largest = max((shrunk_b - m) * m, (m - shrunk_a) * (1.0 - m)) / v
    if not largest > 0.0:
        bets.coefficients[b, a] = 0.0
        return
    x = min(ROOM * largest, LARGEST)
    more_b, more_a = HORIZON * pulls[b], HORIZON * pulls[a]
    moved = bets.moved[b, a]
    theta = (shrunk_b - shrunk_a) / (x * v) + moved[0] / more_b - moved[1] / more_a
    theta = max(theta / (1.0 / more_b + 1.0 / more_a), 0.0)
    c = (theta - moved[0]) / more_b, (-theta - moved[1]) / more_a
    for row in range(2):
        bets.coefficients[b, a, row] = min(max(c[row], -1.0 / (1.0 - m)), 1.0 / m)
    bets.centres[b, a] = m


@lean
def upper_bound(bets: Bets, b: int, a: int, margin: float) -> float:
    """U, see the module: linear in theta between 0, W_b and -W_a."""
    least, moved = np.inf, bets.moved[b, a]
    for theta in (0.0, moved[0], -moved[1]):
        if theta >= 0.0:
            value = largest_product(moved[0] - theta, bets.low[b], bets.high[b]) - theta * margin
            value += largest_product(moved[1] + theta, bets.low[a], bets.high[a])
            least = min(least, value)
    return least


@lean
def log_better(bets: Bets, b: int, a: int, margin: float) -> float:
    """ln of the e-value for "a is not better than b by the margin"; its box takes a share of delta.

    Example:
        >>> round(log_better(make_bets(2), 0, 1, 0.0), 4)
        -0.0202
    """
    slack = bets.centred[b, a] - upper_bound(bets, b, a, margin)
    return log_wealth(bets.wealth[b, a], slack) + np.log1p(-BOX)
