"""Thresholds and divergences of fixed-confidence identification."""

import math

from scipy.special import rel_entr

from bestarm.core.compile import lean


@lean
def stylised_threshold(time: int, delta: float) -> float:
    """beta(t, delta) = ln((1 + ln t) / delta), t >= 1: the threshold papers use in simulations.

    Smaller than any threshold that is proved to be delta-correct; see Garivier & Kaufmann (2016,
    Section 6).

    Example:
        >>> round(stylised_threshold(1, 0.1), 4)
        2.3026
    """
    return math.log((1.0 + math.log(time)) / delta)


def binary_kl(p: float, q: float) -> float:
    """kl(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)) of two Bernoulli laws, in nats.

    Example:
        >>> binary_kl(0.5, 0.5), round(binary_kl(0.1, 0.9), 4)
        (0.0, 1.7578)
    """
    return float(rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q))


def needed_information(delta: float) -> float:
    """kl(delta, 1 - delta): the information every delta-correct strategy must gather, in nats.

    E[tau] >= T* kl(delta, 1 - delta) (Kaufmann, Cappe & Garivier 2016). For delta >= 1/2, when a
    coin flip is already delta-correct, the bound is trivial and this returns 0.

    Example:
        >>> round(needed_information(0.1), 4), needed_information(0.5)
        (1.7578, 0.0)
    """
    return binary_kl(delta, 1.0 - delta) if delta < 0.5 else 0.0
