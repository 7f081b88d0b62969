"""One-parameter exponential families by their means: divergences, and mixtures that are proved.

    d(p, q) = KL(law of mean p, law of mean q),      d/dq d(p, q) = (q - p) / V(q)

with V(q) the variance at mean q. All four are sums of phi(z) = z - ln(1 + z), which is what keeps
their digits when p and q are near.
"""

import math

import numpy as np

from bestarm.core.anytime import shrunk_counts
from bestarm.core.compile import jit, lean
from bestarm.core.divergence import bernoulli, phi

#: The families, by number in kernels and by name for people. Gaussian rewards have variance 1.
BERNOULLI, GAUSSIAN, POISSON, EXPONENTIAL = range(4)
FAMILIES = {
    "bernoulli": BERNOULLI,
    "gaussian": GAUSSIAN,
    "poisson": POISSON,
    "exponential": EXPONENTIAL,
}
#: Pulls that the prior of a Gaussian mean is worth; shape of the priors of the other families, and
#: rate of the Gamma ones.
PRIOR_PULLS, SHAPE, RATE = 30.0, 0.5, 1.0
#: Most Newton steps of `upper`, which takes about five, and its relative accuracy.
NEWTON_STEPS, ACCURACY = 100, 1e-12


@lean
def divergence(family: int, p: float, q: float) -> float:
    """d(p, q) in nats, at least 0; infinite if q's law cannot give what p's does.

    Args:
        family: of FAMILIES.
        p, q: means; of a Bernoulli law from 0 to 1, Gaussian of variance 1, else at least 0.

    Example:
        >>> round(divergence(BERNOULLI, 0.1, 0.9), 4), divergence(GAUSSIAN, 1.0, 0.0)
        (1.7578, 0.5)
    """
    if p == q:
        return 0.0
    if family == GAUSSIAN:
        return 0.5 * (p - q) * (p - q)
    if family == POISSON:
        return q if p <= 0.0 else p * phi((q - p) / p)
    if family == EXPONENTIAL:
        return phi((p - q) / q) if p > 0.0 else np.inf
    return bernoulli(p, q)


@lean
def variance(family: int, q: float) -> float:
    """V(q).

    Example:
        >>> variance(BERNOULLI, 0.5), variance(EXPONENTIAL, 2.0)
        (0.25, 4.0)
    """
    if family == GAUSSIAN:
        return 1.0
    if family == POISSON:
        return q
    return q * q if family == EXPONENTIAL else q * (1.0 - q)


@lean
def transport(family: int, w: float, p: float, v: float, q: float) -> float:
    """min_m w d(p, m) + v d(q, m): what it costs to give both arms one mean.

    The minimum is at m = (w p + v q) / (w + v) (Garivier & Kaufmann 2016, Lemma 3). With pulls as
    weights it is the GLR statistic Z_{a,b} of their Eq. (7).

    Args:
        family: of FAMILIES.
        w, p: weight, at least 0, and mean of one arm.
        v, q: of the other.

    Example:
        >>> transport(GAUSSIAN, 1.0, 1.0, 1.0, 0.0)
        0.25
    """
    if not (w > 0.0 and v > 0.0):
        return 0.0
    m = (w * p + v * q) / (w + v)
    return w * divergence(family, p, m) + v * divergence(family, q, m)


@lean
def upper(family: int, p: float, level: float, guess: float) -> float:
    """The q >= p with d(p, q) = level: the end of an interval of means.

    d(p, .) is convex in q, and of exponential laws in ln q, so Newton's method decreases to the
    root after its first step.

    Args:
        family: of FAMILIES.
        p: a mean.
        level: in nats; if it is not positive, q = p.
        guess: of q, or any number.

    Example:
        >>> q = upper(BERNOULLI, 0.3, 0.1, 0.0)
        >>> round(q, 4), round(divergence(BERNOULLI, 0.3, q), 4)
        (0.5211, 0.1)
    """
    if not level > 0.0 or (family == BERNOULLI and p >= 1.0):
        return p
    if family == GAUSSIAN:
        return p + math.sqrt(2.0 * level)
    if p <= 0.0:
        return -math.expm1(-level) if family == BERNOULLI else level if family == POISSON else 0.0
    near = math.sqrt(2.0 * level * variance(family, p))
    q = guess if guess > p + 0.5 * near else p + near  # too near to p the first step is huge
    if family == BERNOULLI and q >= 1.0:
        q = 0.5 * (1.0 + p)
    for _ in range(NEWTON_STEPS):
        step = (divergence(family, p, q) - level) * variance(family, q) / (q - p)
        new = q * math.exp(-step / q) if family == EXPONENTIAL else q - step
        if family == BERNOULLI and new >= 1.0:
            new = 0.5 * (1.0 + q)
        if abs(new - q) <= ACCURACY * q:
            return new
        q = new
    return q


@lean
def shrunk(family: int, pulls: float) -> float:
    """The pulls that count in a mixture: fewer for Gaussian laws, see `mixing_cost`."""
    return shrunk_counts(pulls, PRIOR_PULLS) if family == GAUSSIAN else pulls


@lean
def mixing_cost(family: int, pulls: float, total: float) -> float:
    """What a mixture over an arm's mean costs, in nats, at least 0.

    For the likelihood L of the rewards of an arm with true mean lambda and a prior on its mean,

        ln (int L(p) dprior(p) / L(lambda)) = N' d(mean, lambda) - mixing cost,

    the log of a martingale that starts at 1. The cost is ln L(mean) - ln int L dprior, with priors

        Bernoulli    Beta(1/2, 1/2) of the mean;  also for rewards in [0, 1], then it is a
                     supermartingale (core/anytime.py, `beta_log`)
        Poisson      Gamma(1/2, 1) of the mean
        exponential  Gamma(1/2, 1) of 1 / mean
        Gaussian     N(lambda, 1 / n0): N' = N^2 / (N + n0), cost 1/2 ln(1 + N / n0)

    Those of Poisson and exponential laws are tightest if means are near 1, so choose the unit.

    Args:
        family: of FAMILIES.
        pulls: N > 0.
        total: the sum of the rewards.

    Example:
        >>> round(mixing_cost(BERNOULLI, 100.0, 40.0), 3)
        2.506
    """
    if family == GAUSSIAN:
        return 0.5 * math.log1p(pulls / PRIOR_PULLS)
    if family == BERNOULLI:
        failures = pulls - total
        likelihood = _power_log(total, total / pulls) + _power_log(failures, failures / pulls)
        mixture = math.lgamma(SHAPE + total) + math.lgamma(SHAPE + failures)
        mixture -= math.lgamma(2.0 * SHAPE + pulls)
        return likelihood - mixture + 2.0 * math.lgamma(SHAPE) - math.lgamma(2.0 * SHAPE)
    count, sum_, sign = (total, pulls, 1.0) if family == POISSON else (pulls, total, -1.0)
    likelihood = sign * _power_log(count, total / pulls) - count
    mixture = SHAPE * math.log(RATE) - math.lgamma(SHAPE) + math.lgamma(SHAPE + count)
    return likelihood - mixture + (SHAPE + count) * math.log(RATE + sum_)


@lean
def _power_log(exponent: float, base: float) -> float:
    """exponent ln base, with 0 ln 0 = 0."""
    return exponent * math.log(base) if exponent > 0.0 else 0.0


@jit
def draw(family: int, mean: float, environment: np.random.Generator) -> float:
    """A reward of an arm; Gaussian ones have variance 1.

    Example:
        >>> draw(BERNOULLI, 1.0, np.random.default_rng(0))
        1.0
    """
    if family == GAUSSIAN:
        return mean + environment.standard_normal()
    if family == POISSON:
        return float(environment.poisson(mean))
    if family == EXPONENTIAL:
        return mean * environment.standard_exponential()
    return 1.0 if environment.random() < mean else 0.0
