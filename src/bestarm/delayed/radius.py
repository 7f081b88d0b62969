"""The radius of Lemma 1, a finite law of the iterated logarithm (Zhao et al. 2016)."""

import math

import numpy as np
from scipy.special import zeta

from bestarm.core.compile import inlined, lean

#: The constants a and c of Lemma 1.
A, C = 0.6, 1.1
LOG_C = math.log(C)
#: b = HALF_C (LOG_CONSTANT - ln delta'): the lemma then fails with probability at most delta'.
HALF_C = 0.5 * C
LOG_CONSTANT = math.log(2.0 * zeta(2.0 * A / C))


@inlined
def growth(tau: float) -> float:
    """a ln(log_c(tau) + 1), for tau >= 1."""
    return A * math.log(math.log(tau) / LOG_C + 1.0)


#: growth(tau) for tau = 1, 2, ..., up to the number of steps that most pulls have.
FIRST_GROWTHS = np.array([math.nan] + [growth.py_func(tau) for tau in range(1, 1024)])


@inlined
def step_growth(tau: int) -> float:
    """`growth`, from a table for small tau."""
    return FIRST_GROWTHS[tau] if tau < FIRST_GROWTHS.size else growth(tau)


@lean
def radius(scale: float, tau: float, level: float) -> float:
    """C(scale, tau, level): bound on the error of a mean of tau observations, uniform in tau.

        scale sqrt((a ln(log_c(tau) + 1) + b) / tau),   b = (c/2) ln(2 zeta(2a/c) / level)

    fails at some tau with probability at most `level`, if `scale` is twice the standard deviation
    of Gaussian observations (the lemma's source has 1/2-sub-Gaussian ones and no factor).
    Infinite for tau = 0.
    """
    if tau < 1.0:
        return math.inf
    return scale * math.sqrt((growth(tau) + HALF_C * (LOG_CONSTANT - math.log(level))) / tau)
