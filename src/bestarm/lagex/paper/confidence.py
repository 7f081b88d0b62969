"""Stopping thresholds, and the relaxation of estimated constraints."""

import math

import numpy as np

from bestarm.core.compile import lean
from bestarm.core.information import stylised_threshold


@lean
def threshold(time: int, delta: float) -> float:
    """beta(t, delta) = ln((1 + ln ln max(t, e)) / delta), Appendix I; t = 1, 2 count as e."""
    return math.log((1.0 + math.log(math.log(max(float(time), math.e)))) / delta)


@lean
def released_threshold(time: int, delta: float) -> float:
    """beta(t, delta) = ln(2 (1 + ln t) / delta), as in the released program."""
    return stylised_threshold(time, 0.5 * delta)


@lean
def radius(log_determinant: float, n_arms: int, delta: float) -> float:
    """f(t, delta) = 1 + sqrt(ln(K / delta) / 2 + ln det(Sigma_t) / 4), after Eq. (2).

    Args:
        log_determinant: ln det(Sigma_t) = sum_a ln(1 + N_a), Sigma_t = I + diag(N).
        n_arms: K.
        delta: maximum probability of a wrong answer.
    """
    return 1.0 + math.sqrt(0.5 * math.log(n_arms / delta) + 0.25 * log_determinant)


@lean
def norm(weights: np.ndarray, pulls: np.ndarray) -> float:
    """||w|| in the norm of Sigma_t^-1: sqrt(sum_a w_a^2 / (1 + N_a)).

    The optimistic matrix is A - f ||w||, the same shift s for every entry. Policies sum to one, so
    optimism relaxes every right-hand side by s.
    """
    total = 0.0
    for a in range(weights.size):
        total += weights[a] * weights[a] / (1.0 + pulls[a])
    return math.sqrt(total)


@lean
def bounds(
    time: int,
    log_determinant: float,
    weights: np.ndarray,
    pulls: np.ndarray,
    delta: float,
    optimistic: bool,
    extra: bool,
    released: bool,
) -> tuple[float, float, float]:
    """What an analysis needs: f(t, delta), the shift f ||w|| of optimistic constraints, and beta.

    Args:
        time: pulls so far.
        log_determinant: ln det(Sigma_t).
        weights: (K,) w, the last allocation.
        pulls: (K,) N.
        delta: maximum probability of a wrong answer.
        optimistic: whether constraints are relaxed; without, the shift is 0.
        extra: whether f is needed though they are not; else it is 0 then.
        released: whether beta is that of the released program.
    """
    width = radius(log_determinant, weights.size, delta) if optimistic or extra else 0.0
    shift = width * norm(weights, pulls) if optimistic else 0.0
    beta = released_threshold(time, delta) if released else threshold(time, delta)
    return width, shift, beta
