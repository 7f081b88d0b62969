"""T* and w* of the best of arms with rewards of one exponential family, with a certificate.

    1 / T* = max_{w in simplex} min_{a != b} C_a(w),
    C_a(w) = min_m w_b d(mu_b, m) + w_a d(mu_a, m)

with b the best arm. Garivier & Kaufmann (2016, Theorem 5) reduce it to one number y: with
x_a = w_a / w_b, m_a = (mu_b + x_a mu_a) / (1 + x_a) and

    g_a(x_a) = d(mu_b, m_a) + x_a d(mu_a, m_a) = y  for all a,

which grows with x_a, the optimum is where F(y) = sum_a d(mu_b, m_a) / d(mu_a, m_a) = 1.
"""

from typing import NamedTuple

import numpy as np

from bestarm.bai.families import divergence, transport, variance
from bestarm.core.compile import lean

#: Rows of the buffers of `find_allocation`: x, which the next call starts from, g and d(mu_a, m_a);
#: and places of its numbers: y, and the arm b it was found for.
X, G, D = range(3)
Y, LEADER = range(2)
#: Newton steps on all equations at once, and on y and x in turn if these do not end.
JOINT_STEPS, OUTER_STEPS, INNER_STEPS = 12, 200, 200
#: A first x where g' is infinite at 0.
TINY = 1e-12


class Optimum(NamedTuple):
    """T*, bracketed: low <= T* <= time.

    `time` is 1 / min_a C_a(w) for the allocation w. For a mixture p of alternatives, in each of
    which b and one arm a have mean m_a, no allocation attains less than
    low = 1 / max(sum_a p_a d(mu_b, m_a), max_a p_a d(mu_a, m_a)).
    """

    time: float  # pulls per nat; infinite if the best arm is not unique
    low: float
    allocation: np.ndarray  # (K,)


def characteristic_time(family: int, means: np.ndarray) -> Optimum:
    """T* and w* of an instance.

    Args:
        family: of FAMILIES.
        means: (K,) with K >= 2; of Gaussian rewards in units of sigma.

    Example:
        Two Gaussian arms share the pulls; T* = 8 / gap^2.

        >>> from bestarm.bai.families import GAUSSIAN
        >>> found = characteristic_time(GAUSSIAN, np.array([1.0, 0.5]))
        >>> round(found.time, 9), found.allocation.tolist()
        (32.0, [0.5, 0.5])
    """
    mu = np.array(means, float)
    best, w = int(np.argmax(mu)), np.empty(mu.size)
    find_allocation(family, mu, best, 1e-9, np.zeros((3, mu.size)), np.full(2, -1.0), w)
    others = [a for a in range(mu.size) if a != best]
    if any(mu[a] == mu[best] for a in others):
        return Optimum(np.inf, np.inf, w)
    least = min(transport(family, w[best], mu[best], w[a], mu[a]) for a in others)
    middle = [(w[best] * mu[best] + w[a] * mu[a]) / (w[best] + w[a]) for a in others]
    p = np.array([1.0 / divergence(family, mu[a], m) for a, m in zip(others, middle, strict=True)])
    leaders = np.array([divergence(family, mu[best], m) for m in middle])
    return Optimum(1.0 / least, float(p.sum() / max(p @ leaders, 1.0)), w)


@lean
def find_allocation(
    family: int,
    means: np.ndarray,
    best: int,
    accuracy: float,
    work: np.ndarray,
    numbers: np.ndarray,
    out: np.ndarray,
) -> None:
    """w*, by Newton's method from where the last call ended.

    Args:
        family: of FAMILIES.
        means: (K,) mu.
        best: an arm of the largest mean.
        accuracy: relative size of the last step of y and x; what is left is about its square.
        work: (3, K) overwritten; rows X, G and D.
        numbers: (2,) overwritten; Y and LEADER, which is negative before the first call.
        out: (K,) overwritten with w*; if several arms are best, split evenly among them, which is
            the limit as the tie is approached.
    """
    x, k = work[X], means.size
    ties = 0
    for a in range(k):
        ties += means[a] == means[best]
    if ties > 1:
        numbers[LEADER] = -1.0
        for a in range(k):
            out[a] = (means[a] == means[best]) / ties
        return
    warm = numbers[LEADER] == best
    numbers[LEADER] = best
    if not (warm and newton(family, means, best, accuracy, work, numbers)):
        bracket(family, means, best, accuracy, work, numbers)
    x[best] = 1.0
    total = 0.0
    for a in range(k):
        total += x[a]
    for a in range(k):
        out[a] = x[a] / total


@lean
def evaluate(
    family: int, means: np.ndarray, best: int, y: float, work: np.ndarray
) -> tuple[float, float, float]:
    """F - 1, and the parts of a Newton step on all equations:

        sum_a R_a'(x_a) (y - g_a) / d(mu_a, m_a)   and   sum_a R_a'(x_a) / d(mu_a, m_a)

    with R_a = d(mu_b, m_a) / d(mu_a, m_a).

    Rows G and D of `work` are set.
    """
    excess, moved, slope = -1.0, 0.0, 0.0
    top = means[best]
    for a in range(means.size):
        if a != best:
            x = work[X, a]
            m = (top + x * means[a]) / (1.0 + x)
            d_best, d = divergence(family, top, m), divergence(family, means[a], m)
            g = d_best + x * d
            rise = ((top - m) * d + d_best * (m - means[a])) / (variance(family, m) * d * d)
            rise *= (top - means[a]) / ((1.0 + x) * (1.0 + x)) / d
            work[G, a], work[D, a] = g, d
            excess += d_best / d
            moved += rise * (y - g)
            slope += rise
    return excess, moved, slope


@lean
def newton(
    family: int,
    means: np.ndarray,
    best: int,
    accuracy: float,
    work: np.ndarray,
    numbers: np.ndarray,
) -> bool:
    """Newton steps on g_a(x_a) = y and F = 1 at once; whether they ended in `accuracy`.

    Linearised, x_a moves by (y + dy - g_a) / d(mu_a, m_a), since g_a' = d(mu_a, m_a).
    """
    for _ in range(JOINT_STEPS):
        y = numbers[Y]
        excess, moved, slope = evaluate(family, means, best, y, work)
        step = -(excess + moved) / slope
        if not (abs(step) < y):
            return False
        largest = abs(step) / y
        for a in range(means.size):
            if a != best:
                change = (y + step - work[G, a]) / work[D, a]
                if not (change > -work[X, a]):
                    return False
                largest = max(largest, abs(change) / work[X, a])
                work[X, a] += change
        numbers[Y] = y + step
        if largest <= accuracy:
            return True
    return False


@lean
def bracket(
    family: int,
    means: np.ndarray,
    best: int,
    accuracy: float,
    work: np.ndarray,
    numbers: np.ndarray,
) -> None:
    """Newton's method on F(y) = 1 within a bracket, with g_a(x_a) = y solved for each y.

    g_a is concave, so Newton's method from x_a = 0 increases to its root. F grows with y, from 0
    to infinity at the least d(mu_b, mu_a).
    """
    low, high = 0.0, np.inf
    for a in range(means.size):
        if a != best:
            high = min(high, divergence(family, means[best], means[a]))
    y = 0.5 * high if high < np.inf else 1.0
    for _ in range(OUTER_STEPS):
        for a in range(means.size):
            if a != best:
                work[X, a] = solve_ratio(family, means[best], means[a], y)
        excess, _, slope = evaluate(family, means, best, y, work)
        low, high = (y, high) if excess < 0.0 else (low, y)
        new = y - excess / slope
        if not low < new < high:
            new = 0.5 * (low + high) if high < np.inf else 2.0 * y
        moved = abs(new - y)
        y = new
        if moved <= 0.01 * accuracy * y:
            break
    for a in range(means.size):
        if a != best:
            work[X, a] = solve_ratio(family, means[best], means[a], y)
    numbers[Y] = y


@lean
def solve_ratio(family: int, top: float, mean: float, y: float) -> float:
    """The x with g(x) = y, for 0 < y < d(top, mean)."""
    x = 0.0 if divergence(family, mean, top) < np.inf else TINY
    for _ in range(INNER_STEPS):
        m = (top + x * mean) / (1.0 + x)
        d = divergence(family, mean, m)
        step = (y - divergence(family, top, m) - x * d) / d
        x += step
        if not step > 1e-13 * x:
            break
    return x
