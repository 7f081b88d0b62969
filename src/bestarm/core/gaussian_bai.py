"""Plain best-arm identification with Gaussian rewards: optimal allocation and its value."""

import numpy as np

from bestarm.core.compile import lean


@lean
def bai_allocation(means: np.ndarray, out: np.ndarray) -> float:
    """Solve the allocation problem of Gaussian best-arm identification, unit variance.

        1 / T* = max_{w in simplex} min_{a != b} (1/2) w_b w_a / (w_b + w_a) (mu_b - mu_a)^2

    with b the best arm. Garivier & Kaufmann (2016, Theorem 5) reduce it to one rational
    equation; with g_a = (mu_b - mu_a)^2 / 2 and w_a proportional to x_a = 1 / (z g_a - 1),
    x_b = 1, it reads

        sum_{a != b} 1 / (z g_a - 1)^2 = 1,    and then T* = z (1 + sum_a x_a).

    The left side is convex and decreasing in z beyond 1/min g, so Newton's method started at
    2/min g (where one term alone is 1) climbs to the root without overshooting.

    Args:
        means: (K,) arm means, K >= 2.
        out: (K,) overwritten with the optimal allocation.

    Returns:
        T*, in pulls; infinite when the best arm is not unique (then `out` is split evenly
        among the best arms, the limit as the tie is approached).

    Example:
        Two arms share the pulls; T* = 8 / gap^2.

        >>> share = np.empty(2)
        >>> bai_allocation(np.array([1.0, 0.5]), share), share.tolist()
        (32.0, [0.5, 0.5])
    """
    n = means.size
    best = np.argmax(means)
    least_gap = np.inf
    for a in range(n):
        if a != best:
            least_gap = min(least_gap, means[best] - means[a])
    if least_gap == 0.0:
        ties = 0
        for a in range(n):
            ties += means[a] == means[best]
        for a in range(n):
            out[a] = (means[a] == means[best]) / ties
        return np.inf
    z = 4.0 / least_gap**2
    while True:
        excess = -1.0
        slope = 0.0
        for a in range(n):
            if a != best:
                g = 0.5 * (means[best] - means[a]) ** 2
                x = 1.0 / (z * g - 1.0)
                excess += x * x
                slope += g * x * x * x
        step = 0.5 * excess / slope
        z += step
        if not step > 1e-14 * z:
            break
    total = 1.0
    out[best] = 1.0
    for a in range(n):
        if a != best:
            out[a] = 1.0 / (z * 0.5 * (means[best] - means[a]) ** 2 - 1.0)
            total += out[a]
    for a in range(n):
        out[a] /= total
    return z * total
