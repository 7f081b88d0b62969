"""The allocation player of LAGEX and CGE: AdaGrad on optimistic gains (Algorithm 3, lines 9-11)."""

import math

import numpy as np

from bestarm.core.compile import jit

#: Means of alternatives lie within this of the estimates (Assumption 1a: means are bounded).
WIDEST = 10.0
#: Learning rate of diagonal AdaGrad: minimises its regret bound on the simplex.
RATE = math.sqrt(0.5)


@jit
def optimistic_gains(
    steps: np.ndarray,
    falls: np.ndarray,
    costs: np.ndarray,
    count: int,
    r: float,
    variances: np.ndarray,
    pulls: np.ndarray,
    time: int,
    floor: float,
    omega: np.ndarray,
    gains: np.ndarray,
) -> float:
    """What a unit of each arm gains against the instance that is hardest to tell at omega.

    The alternative v with the largest sum_a c_va / omega_a has the closest confusing instance
        lambda_a = mu_a + (gap_v + r) (sigma_a^2 v_a / omega_a) / sum_b sigma_b^2 v_b^2 / omega_b,
    and with [alpha_a, beta_a] all means of N_a d(mu_a, .) <= g(t) = ln t,
        gains_a = max( g(t) / N_a, d(alpha_a, lambda_a), d(beta_a, lambda_a) ).

    Args:
        steps, falls, costs, count: the alternatives, as `find_alternatives` and `costs_of` say.
        r: what is added to a gap (its negative where the paper's sign is taken).
        floor: least omega_a in the formula for lambda.
        gains: (K,) overwritten.

    Returns:
        D(omega), 0 where omega leaves out an arm that an alternative needs.
    """
    k = omega.size
    worst, largest, needed = 0, -1.0, 0.0
    for v in range(count):
        total = 0.0
        for a in range(k):
            total += costs[v, a] / max(omega[a], floor)
        if total > largest:
            worst, largest = v, total
    scale = 0.0
    for a in range(k):
        weight = max(omega[a], floor)
        scale += variances[a] * steps[worst, a] * steps[worst, a] / weight
    for v in range(count):
        total = 0.0
        for a in range(k):
            if costs[v, a] > 0.0:
                total += costs[v, a] / omega[a]
        needed = max(needed, total)
    growth = math.log(time)
    for a in range(k):
        shift = variances[a] * steps[worst, a] / max(omega[a], floor)
        shift = min(abs((falls[worst] + r) * shift / scale), WIDEST)
        width = math.sqrt(2.0 * variances[a] * growth / pulls[a])
        gains[a] = max(growth / pulls[a], (shift + width) ** 2 / (2.0 * variances[a]))
    return 1.0 / needed
