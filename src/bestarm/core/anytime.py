"""Bounds on means that hold at all times at once, for streams that are sampled adaptively.

Each is a mixture of exponential martingales and Ville's inequality: a non-negative supermartingale
M with M_0 <= 1 ever reaches 1/delta with probability at most delta. Rewards are in units of their
sigma; `log_inverse` is ln(1/delta) of the bound's own share of delta. Prior weights (`n0`, `n1`,
in pulls) must be fixed before sampling, or delta is spent more than once. Proofs, and how much
tighter these bounds are than others, are in docs/guarantees.md.

Sources: Robbins (1970); de la Pena, Klass & Lai (2004); Abbasi-Yadkori, Pal & Szepesvari (2011);
Kaufmann & Koolen (2021); Howard, Ramdas, McAuliffe & Sekhon (2021).
"""

import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import zeta

from bestarm.core.compile import jit

#: Standard deviation of an observation that is 0 or 1, at most; and its sub-Gaussian scale.
BERNOULLI_SIGMA = 0.5

#: Both parameters of the gamma mixture that bounds a variance, and its chance of v >= 1.
VARIANCE_SHAPE, ABOVE = 0.5, math.erfc(math.sqrt(0.5))

#: Beyond this erfc is too small for its logarithm; the asymptotic series is exact to rounding.
FAR = 25.0
#: Most Newton steps of an inversion, which takes about six, and bisections to the last bit.
NEWTON_STEPS, BISECTIONS = 50, 60


@jit
def mixture_threshold(log_inverse: float, counts: np.ndarray, n0: float) -> float:
    """beta = ln(1/delta) + 1/2 sum_a ln(1 + N_a / n0).

    With S_a the sum of the centred rewards of stream a, exp(x . S - sum_a x_a^2 N_a / 2) is a
    supermartingale for every x. Mixed over x_a ~ N(0, 1/n0), independent, it is

        prod_a sqrt(n0 / (N_a + n0)) exp(S_a^2 / (2 (N_a + n0))),

    so with probability 1 - delta, at all times and however the streams are chosen,

        sum_a N'_a err_a^2 / 2 <= beta,   err_a = S_a / N_a,   N'_a = N_a^2 / (N_a + n0).

    Args:
        log_inverse: ln(1/delta).
        counts: (n,) pulls N_a of the streams, which are named beforehand: all of them count, and
            none that is left out may be looked at.
        n0: pulls that the prior is worth; thresholds are lowest when N_a is some times n0.

    Example:
        >>> round(mixture_threshold(math.log(20), np.array([10.0, 30.0]), 1.0), 3)
        5.912
    """
    beta = log_inverse
    for a in range(counts.size):
        beta += 0.5 * math.log1p(counts[a] / n0)
    return beta


@jit
def shrunk_counts(counts, n0: float):
    """N' = N^2 / (N + n0), of a number or an array (see `mixture_threshold`).

    Example:
        >>> shrunk_counts(9.0, 1.0)
        8.1
    """
    return counts * counts / (counts + n0)


@jit
def radius(c: np.ndarray, shrunk: np.ndarray, beta: float) -> float:
    """sqrt(2 beta sum_a c_a^2 / N'_a): bounds |sum_a c_a err_a| for all c at once.

    By Cauchy and Schwarz from sum_a N'_a err_a^2 <= 2 beta (see `mixture_threshold`).

    Args:
        c: (n,) coefficients; of a stream with another sigma, times its sigma.
        shrunk: (n,) N'_a.
        beta: from `mixture_threshold` for these streams, or for more.

    Returns:
        Infinite if a stream with c_a other than 0 has no pulls.

    Example:
        >>> round(radius(np.array([1.0, -1.0]), np.array([8.0, 8.0]), 4.0), 3)
        1.414
    """
    variance = 0.0
    for a in range(c.size):
        if c[a] != 0.0:
            variance += c[a] * c[a] / shrunk[a]
    return math.sqrt(2.0 * beta * variance)


@jit
def mean_radius(log_inverse: float, count: float, n0: float) -> float:
    """`radius` of a single stream: bounds |err| of its mean after `count` pulls.

    Example:
        >>> round(mean_radius(math.log(20), 100.0, 30.0), 3)
        0.311
    """
    beta = log_inverse + 0.5 * math.log1p(count / n0)
    return math.sqrt(2.0 * beta * (count + n0)) / count


@jit
def _log_erfcx(x: float) -> float:
    """ln(exp(x^2) erfc(x)), at any x without overflow."""
    if x < FAR:
        return x * x + math.log(math.erfc(x))
    y = 0.5 / (x * x)
    return math.log1p(y * (-1.0 + y * (3.0 - 15.0 * y))) - math.log(x * math.sqrt(math.pi))


@jit
def half_normal_log(u: float, v: float, n1: float) -> float:
    """ln of int_0^inf exp(x u - x^2 v / 2) 2 phi(x; 0, 1/n1) dx, which tests one side.

        2 sqrt(n1 / (v + n1)) exp(z^2 / 2) Phi(z),   z = u / sqrt(v + n1).

    If exp(x U_t - x^2 V_t / 2) is a supermartingale for every x >= 0, so is this. For one mean U is
    the sum of centred rewards and V its number of pulls. It increases in u: with a lower bound of
    U_t in its place it is below a supermartingale, which is enough.

    Args:
        u: sum of centred rewards, or a lower bound of it.
        v: its variance, at least 0.
        n1: the prior's weight, in the unit of v.

    Example:
        >>> round(half_normal_log(10.0, 25.0, 1.0), 3)
        0.962
    """
    return 0.5 * math.log(n1 / (v + n1)) + _log_erfcx(-u / math.sqrt(2.0 * (v + n1)))


@jit
def half_normal_threshold(log_inverse: float, v: float, n1: float) -> float:
    """The u at which `half_normal_log` is `log_inverse`, at least 0.

    z^2 / 2 + ln(2 Phi(z)) is increasing and convex, and at least z^2 / 2 for z >= 0, so Newton's
    method from z^2 / 2 = level decreases to the root.

    Example:
        >>> round(half_normal_threshold(math.log(20), 25.0, 1.0), 3)
        14.303
    """
    level = log_inverse + 0.5 * math.log1p(v / n1)
    z = math.sqrt(2.0 * level)
    for _ in range(NEWTON_STEPS):
        value = _log_erfcx(-z / math.sqrt(2.0))
        slope = z + math.sqrt(2.0 / math.pi) * math.exp(-value)
        step = (value - level) / slope
        z -= step
        if not step > 1e-15 * z:
            break
    return z * math.sqrt(v + n1)


@jit
def beta_log(successes: float, failures: float, mean: float, a: float, b: float) -> float:
    """ln of int prod_i (p / m)^X_i ((1 - p) / (1 - m))^(1 - X_i) Beta(p; a, b) dp.

        B(a + s, b + f) / (B(a, b) m^s (1 - m)^f)

    is a martingale for Bernoulli rewards of mean m, and a supermartingale for rewards in [0, 1]
    whose conditional mean is m: each factor is convex in X_i, hence below its chord.

    Args:
        successes, failures: s and f, the sums of rewards and of 1 - rewards.
        mean: m, in (0, 1).
        a, b: of the prior, such as 1/2.

    Example:
        >>> round(beta_log(8.0, 2.0, 0.5, 0.5, 0.5), 3)
        0.516
    """
    return (
        _log_beta(a + successes, b + failures)
        - _log_beta(a, b)
        - successes * math.log(mean)
        - failures * math.log1p(-mean)
    )


@jit
def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@jit
def beta_interval(
    log_inverse: float, successes: float, failures: float, a: float, b: float
) -> tuple[float, float]:
    """The means m with `beta_log` <= log_inverse: a confidence sequence, to rounding.

    In m it is convex and smallest at the empirical mean, where the mixture is at most 1.

    Example:
        >>> low, high = beta_interval(math.log(20), 8.0, 2.0, 0.5, 0.5)
        >>> round(low, 3), round(high, 3)
        (0.342, 0.991)
    """
    centre = successes / (successes + failures)
    ends = (0.0, 1.0)
    interval = (centre, centre)
    for side in range(2):
        inside, outside = centre, ends[side]
        if inside != outside:
            for _ in range(BISECTIONS):
                middle = 0.5 * (inside + outside)
                if beta_log(successes, failures, middle, a, b) <= log_inverse:
                    inside = middle
                else:
                    outside = middle
        interval = (outside, interval[1]) if side == 0 else (interval[0], outside)
    return interval


@jit
def t_log(total: float, squares: float, count: float, n0: float) -> float:
    """ln of the t-mixture for rewards Y_i ~ N(0, sigma^2), sigma unknown.

        sqrt(n0 / (N + n0)) (1 - S^2 / ((N + n0) Q))^(-N/2),   S = sum Y_i,  Q = sum Y_i^2.

    It is the likelihood ratio of the scale-free data (Y_i / Y_1), of means sigma theta with
    theta ~ N(0, 1/n0) against mean 0, hence a martingale in the stream's own scale-free history,
    whatever sigma. That history does not hold the rule that chooses when to pull: the bound is
    for all numbers of pulls of one stream at once, and streams share delta by a union bound. The
    rewards have to be exactly Gaussian.

    Args:
        total: S, of the rewards less the mean that is tested.
        squares: Q, likewise.
        count: N.
        n0: pulls that the prior is worth.

    Example:
        >>> round(t_log(10.0, 30.0, 12.0, 1.0), 3)
        0.495
    """
    explained = total * total / ((count + n0) * squares) if squares > 0.0 else 0.0
    return 0.5 * math.log(n0 / (count + n0)) - 0.5 * count * math.log1p(-explained)


@jit
def t_radius(
    log_inverse: float, spread: float, count: float, n0: float, rounding: float = 0.0
) -> float:
    """Half-width of the means m with `t_log` <= log_inverse, about the empirical mean.

    If rewards are rounded, it covers every m that some rewards within half the rounding of the
    told ones do not exclude: S moves by at most N h / 2 and sqrt(Q) by sqrt(N) h / 2, so m at a
    distance D is excluded if (D - h / 2) / (sqrt(spread^2 + D^2) + h / 2) > c, where c is the value
    of D / sqrt(spread^2 + D^2) at which m is excluded without rounding.

    Args:
        log_inverse: ln(1/delta).
        spread: sqrt(1/N sum (X_i - mean)^2).
        count: N.
        n0: as in `t_log`.
        rounding: h, in the unit of the rewards; 0 if they are not rounded.

    Returns:
        Infinite as long as no mean is excluded.

    Example:
        >>> round(t_radius(math.log(20), 1.0, 50.0, 1.0), 3)
        0.474
        >>> round(t_radius(math.log(20), 0.0, 50.0, 1.0, 0.1), 3)  # all rewards were equal
        0.125
    """
    left = n0 / (count + n0)
    kept = math.exp((math.log(left) - 2.0 * log_inverse) / count)
    if not kept > left:
        return math.inf
    if rounding == 0.0:
        return spread * math.sqrt((1.0 - kept) / (kept - left))
    square = (1.0 - kept) / (1.0 - left)  # c^2
    c = math.sqrt(square)
    shift = 0.5 * rounding * (1.0 + c)
    root = math.sqrt(shift * shift + (1.0 - square) * spread * spread)
    return (shift + c * root) / (1.0 - square)


@jit
def gamma_log(squares: float, freedom: float, a: float) -> float:
    """ln of the mixture of likelihood ratios of sigma' against sigma, of centred Gaussian rewards.

        int v^(nu/2) exp(-(v - 1) R / 2) Gamma(v; a, a) dv
            = a^a Gamma(a + nu/2) / Gamma(a) (a + R/2)^-(a + nu/2) exp(R/2),

    v = (sigma / sigma')^2. R is the sum of nu independent squares of N(0, 1), such as
    sum (X_i - mean)^2 / sigma^2 of nu + 1 rewards of one stream. It is a martingale in the history
    of these squares, which does not hold the sampling rule, as that of `t_log` does not.

    Args:
        squares: R.
        freedom: nu.
        a: of the prior, of mean 1 and variance 1/a.

    Example:
        >>> round(gamma_log(5.0, 20.0, 0.5), 3)
        3.986
    """
    shape = a + 0.5 * freedom
    constant = a * math.log(a) + math.lgamma(shape) - math.lgamma(a)
    return constant - shape * math.log(a + 0.5 * squares) + 0.5 * squares


@jit
def variance_bound(
    log_inverse: float, scatter: float, count: float, rounding: float = 0.0
) -> float:
    """An upper bound of sigma^2, sigma unknown: all larger ones are rejected by `gamma_log`.

    Only v >= 1 matter, whose mixture is at least (E - P(v < 1)) / P(v >= 1) where R is at most nu,
    since the ratio of each v < 1 is at most 1 there. So R has to have E = P(v >= 1) / delta +
    P(v < 1). With y = a + R/2 that is y - (a + nu/2) ln y = a constant, convex and decreasing, so
    Newton's method from a point to the left of the root increases to it. If rewards are rounded the
    root of the scatter before that was at most sqrt(N) h / 2 more, as a projection shortens
    differences.

    Args:
        log_inverse: ln(1/delta).
        scatter: sum (X_i - mean)^2.
        count: N.
        rounding: h, in the unit of the rewards; 0 if they are not rounded.

    Returns:
        Infinite as long as no variance is rejected.

    Example:
        >>> round(variance_bound(math.log(20), 99.0, 100.0), 3)
        1.579
        >>> variance_bound(math.log(20), 4.0, 5.0)
        inf
    """
    a, freedom = VARIANCE_SHAPE, count - 1.0
    level = log_inverse + math.log(ABOVE + (1.0 - ABOVE) * math.exp(-log_inverse))
    if not freedom > 0.0 or gamma_log(0.0, freedom, a) <= level:
        return math.inf
    shape = a + 0.5 * freedom
    constant = gamma_log(0.0, freedom, a) - a + shape * math.log(a) - level
    y = math.exp(constant / shape)
    for _ in range(NEWTON_STEPS):
        step = (y - shape * math.log(y) + constant) / (1.0 - shape / y)
        y -= step
        if not -step > 1e-15 * y:
            break
    return (math.sqrt(scatter) + 0.5 * rounding * math.sqrt(count)) ** 2 / (2.0 * (y - a))


def kaufmann_koolen_threshold(log_inverse: float, counts: np.ndarray) -> float:
    """Kaufmann & Koolen (2021, Corollary 10) on sum_a N_a err_a^2 / 2, to compare with.

        sum_a 2 ln(4 + ln N_a) + n C(ln(1/delta) / n),   C(x) = min_{1/2 < l <= 1} (g(l) + x) / l,
        g(l) = 2 l - 2 l ln(4 l) + ln zeta(2 l) - 1/2 ln(1 - l).

    Args:
        log_inverse: ln(1/delta).
        counts: (n,) pulls N_a, at least 1.

    Example:
        >>> round(kaufmann_koolen_threshold(math.log(20), np.array([10.0, 30.0])), 2)
        13.77
    """
    x = log_inverse / counts.size

    def cost(l: float) -> float:
        g = 2 * l - 2 * l * math.log(4 * l) + math.log(zeta(2 * l)) - 0.5 * math.log1p(-l)
        return (g + x) / l

    least = minimize_scalar(cost, bounds=(0.5, 1.0), method="bounded", options={"xatol": 1e-10}).fun
    return float(2.0 * np.log(4.0 + np.log(counts)).sum() + counts.size * least)
