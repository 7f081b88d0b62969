"""The allocation player of LAGEX and CGE: AdaGrad on optimistic gains (Algorithm 3, lines 9-11)."""

import math

import numpy as np

from bestarm.core.compile import inlined
from bestarm.lagex.paper.state import TIME, Rules, State

#: Largest distance of an alternative's means from the estimates (Assumption 1a: bounded means).
WIDEST = 10.0
#: Learning rate of diagonal AdaGrad that minimises its regret bound on the simplex.
RATE = math.sqrt(0.5)


@inlined
def optimistic_gains(rules: Rules, s: State) -> float:
    """Optimistic gains of the arms against the closest confusing instance at omega.

    The alternative v with the largest sum_a c_va / omega_a has the closest confusing instance
        lambda_a = mu_a + (gap_v + r) (sigma_a^2 v_a / omega_a) / sum_b sigma_b^2 v_b^2 / omega_b,
    and with [alpha_a, beta_a] all means of N_a d(mu_a, .) <= g(t) = ln t,
        gains_a = max( g(t) / N_a, d(alpha_a, lambda_a), d(beta_a, lambda_a) ).
    In the formula for lambda omega_a is at least 1 / (2 sqrt(K^2 + t)).

    Args:
        rules: its `added` is r, or -r with the sign that the paper prints.
        s: its `near` holds the alternatives; its `game.gains` are overwritten.

    Returns:
        D(omega), 0 if an alternative needs an arm that has no weight in omega.
    """
    steps, gaps, count = s.policies.near.steps, s.policies.near.gaps, s.policies.n_near[0]
    omega, pulls, time, variances = s.omega, s.estimates.pulls, s.counts[TIME], rules.variances
    inverse, gains = s.game.scratch, s.game.gains
    k = omega.size
    floor = 0.5 / math.sqrt(k * k + time)
    above = True
    for a in range(k):
        above &= omega[a] >= floor
        inverse[a] = variances[a] / max(omega[a], floor)
    worst, largest, scale = 0, -1.0, 0.0
    for v in range(count):
        total = 0.0
        for a in range(k):
            total += steps[v, a] * steps[v, a] * inverse[a]
        gap = gaps[v] + rules.added
        if total > largest * (gap * gap):
            worst, largest, scale = v, total / (gap * gap), total
    least = 0.5 / largest
    if not above:  # D(omega) is defined without the floor
        least = np.inf
        for v in range(count):
            total, gap = 0.0, gaps[v] + rules.added
            for a in range(k):
                if steps[v, a] != 0.0:
                    total += variances[a] * steps[v, a] * steps[v, a] / omega[a]
            least = min(least, 0.5 * gap * gap / total)
    growth, lead = math.log(time), (gaps[worst] + rules.added) / scale
    for a in range(k):
        shift = min(abs(lead * steps[worst, a] * inverse[a]), WIDEST)
        width = math.sqrt(2.0 * variances[a] * growth / pulls[a])
        gains[a] = max(growth / pulls[a], (shift + width) ** 2 / (2.0 * variances[a]))
    return least
