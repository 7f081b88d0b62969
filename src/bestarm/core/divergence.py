"""The Kullback-Leibler divergence of two Bernoulli laws, to relative accuracy however near."""

import math

import numpy as np

from bestarm.core.compile import lean

#: Below this phi is a sum of powers.
SMALL = 0.15


@lean
def phi(z: float) -> float:
    """z - ln(1 + z), z > -1, to relative accuracy near 0.

    ln(1 + z) = 2 artanh(s), s = z / (2 + z), and z - 2 s = z s.

    Example:
        >>> phi(0.0), round(phi(1.0), 4), round(phi(1e-9) / 0.5e-18, 6)
        (0.0, 0.3069, 1.0)
    """
    if abs(z) > SMALL:
        return z - math.log1p(z)
    s = z / (2.0 + z)
    r = s * s
    return s * (z - 2.0 * r * (1 / 3 + r * (1 / 5 + r * (1 / 7 + r * (1 / 9 + r / 11)))))


@lean
def bernoulli(p: float, q: float) -> float:
    """kl(p, q) in nats; infinite if q's law cannot give what p's does.

    Example:
        >>> bernoulli(0.5, 0.5), bernoulli(0.0, 0.5) == math.log(2.0), bernoulli(0.5, 1.0)
        (0.0, True, inf)
    """
    if p == q:
        return 0.0
    if (q <= 0.0 and p > 0.0) or (q >= 1.0 and p < 1.0):
        return np.inf
    if p <= 0.0:
        return -math.log1p(-q)
    if p >= 1.0:
        return -math.log(q)
    return p * phi((q - p) / p) + (1.0 - p) * phi((p - q) / (1.0 - p))
