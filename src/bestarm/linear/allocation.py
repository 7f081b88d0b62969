"""Which arm to pull next: the greedy rules of Figure 2 and their two-step variant."""

import threading
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.linear.least_squares import REFACTOR, Fit, alignment, refit, spread

TWO_STEP, ARGMIN_MAX = 0, 1
#: Arms whose scores differ by less than this, relatively, tie; rounding must not decide.
TIE = 1e-9


class Directions(NamedTuple):
    """The y whose uncertainty is to shrink: y = x_first - x_second, or an arm where second < 0."""

    first: np.ndarray  # (m,)
    second: np.ndarray  # (m,)
    weight: np.ndarray  # (m,) of y^T A^-1 y in the maximum


def all_arms(n_arms: int) -> Directions:
    """The arms themselves: G-allocation, Eq. (12)."""
    return Directions(np.arange(n_arms), np.full(n_arms, -1), np.ones(n_arms))


def all_pairs(n_arms: int) -> Directions:
    """Differences of two arms: XY-allocation, Eq. (14)."""
    first, second = np.triu_indices(n_arms, 1)
    return Directions(first, second, np.ones(first.size))


def oracle_pairs(means: np.ndarray) -> Directions:
    """Differences to the best arm over their squared gaps: Eq. (5)."""
    best = int(np.argmax(means))
    others = np.delete(np.arange(means.size), best)
    return Directions(np.full(others.size, best), others, (means[best] - means[others]) ** -2.0)


@inlined
def among(directions: Directions, active: np.ndarray) -> Directions:
    """Those between two active arms."""
    keep = active[directions.first] & active[directions.second]
    return Directions(directions.first[keep], directions.second[keep], directions.weight[keep])


class Uncertainty(NamedTuple):
    """What the choice of the next arm looks at, followed by rank-one updates."""

    sizes: np.ndarray  # (m,) y^T A^-1 y
    table: np.ndarray  # (K, m + K + d) x^T A^-1 y of arms x; y a direction, an arm, a basis vector


@inlined
def make_uncertainty(n_arms: int, n_directions: int, n_features: int = 0) -> Uncertainty:
    """Without columns of basis vectors, which few need, where `n_features` is 0."""
    n_columns = n_directions + n_arms + n_features
    return Uncertainty(np.empty(n_directions), np.empty((n_arms, n_columns)))


@lean
def measure(fit: Fit, directions: Directions, uncertainty: Uncertainty) -> None:
    """Everything anew from the predictors of a fit."""
    first, second, _ = directions
    sizes, table = uncertainty
    arms, predictors = fit.arms, fit.predictors
    m, n_arms = sizes.size, arms.shape[0]
    for i in range(m):
        sizes[i] = spread(arms, predictors, first[i], second[i])
        for x in range(n_arms):
            table[x, i] = alignment(arms, predictors, first[i], second[i], x)
    for a in range(n_arms):
        for x in range(n_arms):
            table[x, m + a] = alignment(arms, predictors, a, -1, x)
        for i in range(table.shape[1] - m - n_arms):
            table[a, m + n_arms + i] = predictors[a, i]


@inlined
def shrink(sizes: np.ndarray, table: np.ndarray, arm: int) -> None:
    """The uncertainty after one more pull of an arm x, by Sherman and Morrison:

    (A + x x^T)^-1 = A^-1 - A^-1 x x^T A^-1 / (1 + x^T A^-1 x).
    """
    m = sizes.size
    factor = 1.0 / (1.0 + table[arm, m + arm])
    for i in range(m):
        sizes[i] -= factor * table[arm, i] * table[arm, i]
    for x in range(table.shape[0]):
        if x != arm:
            overlap = factor * table[x, m + arm]
            if overlap != 0.0:
                for i in range(table.shape[1]):
                    table[x, i] -= overlap * table[arm, i]
    for i in range(table.shape[1]):
        table[arm, i] *= factor


@inlined
def worst(sizes: np.ndarray, weight: np.ndarray) -> tuple[int, float]:
    """The direction with the largest weight y^T A^-1 y, of ties the first, and that value."""
    which, largest, bar = 0, -1.0, -1.0
    for i in range(sizes.size):
        value = weight[i] * sizes[i]
        if value > bar:
            which, largest, bar = i, value, value * (1.0 + TIE)
    return which, largest


@inlined
def choose_two_step(
    sizes: np.ndarray, table: np.ndarray, weight: np.ndarray, counts: np.ndarray
) -> int:
    """y = argmax y^T A^-1 y, then x = argmin y^T (A + x x^T)^-1 y; of ties the arm pulled least.

    By the matrix inversion lemma, Eq. (22), the second is the argmax of
    (y^T A^-1 x)^2 / (1 + x^T A^-1 x); fractions are compared crosswise, without divisions.
    """
    m = sizes.size
    y, _ = worst(sizes, weight)
    best, above, below = 0, table[0, y] * table[0, y], 1.0 + table[0, m]
    for x in range(1, counts.size):
        square, own = table[x, y] * table[x, y], 1.0 + table[x, m + x]
        gain, most = square * below, above * own
        fewer = counts[x] < counts[best]
        if gain > most * (1.0 + TIE) or (fewer and gain >= most * (1.0 - TIE)):
            best, above, below = x, square, own
    return best


@lean
def choose_argmin_max(
    sizes: np.ndarray, table: np.ndarray, weight: np.ndarray, counts: np.ndarray
) -> int:
    """x = argmin_x max_y y^T (A + x x^T)^-1 y, Figure 2; of ties the arm pulled least.

    Where two directions share the maximum no single pull lowers it and all arms tie.
    """
    m = sizes.size
    best, least = 0, np.inf
    for x in range(counts.size):
        factor = 1.0 / (1.0 + table[x, m + x])
        largest = 0.0
        for i in range(m):
            value = weight[i] * (sizes[i] - factor * table[x, i] * table[x, i])
            largest = max(largest, value)
        fewer = counts[x] < counts[best]
        if largest < least * (1.0 - TIE) or (fewer and largest <= least * (1.0 + TIE)):
            best, least = x, largest
    return best


@inlined
def choose(
    sizes: np.ndarray, table: np.ndarray, weight: np.ndarray, counts: np.ndarray, rule: int
) -> int:
    """The next arm under a greedy rule."""
    if rule == TWO_STEP:
        return choose_two_step(sizes, table, weight, counts)
    return choose_argmin_max(sizes, table, weight, counts)


@jit
def extend(fit: Fit, directions: Directions, rule: int, sequence: np.ndarray) -> None:
    """Fill `sequence` with the arms that a static strategy pulls next, and count them."""
    counts, weight = fit.counts, directions.weight
    uncertainty = make_uncertainty(counts.size, weight.size)
    sizes, table = uncertainty
    for t in range(sequence.size):
        if t % REFACTOR == 0:
            refit(fit)
            measure(fit, directions, uncertainty)
        arm = choose(sizes, table, weight, counts, rule)
        counts[arm] += 1.0
        shrink(sizes, table, arm)
        sequence[t] = arm


def spanning_arms(arms: np.ndarray) -> np.ndarray:
    """d linearly independent arms, by index: of each rank the first in the given order.

    For the paper's arms the canonical basis. Raises ValueError if the arms do not span R^d.
    """
    chosen: list[int] = []
    for a in range(len(arms)):
        if np.linalg.matrix_rank(arms[[*chosen, a]]) > len(chosen):
            chosen.append(a)
    if len(chosen) < arms.shape[1]:
        raise ValueError(f"the arms span only {len(chosen)} of {arms.shape[1]} dimensions")
    return np.array(chosen)


class StaticSequence:
    """The arms a static strategy pulls, in order, computed as far as asked.

    No reward enters, so all runs share it, also runs on several threads.

    Args:
        fit: without pulls.
        directions: whose uncertainty is to shrink.
        rule: TWO_STEP or ARGMIN_MAX.
        first: arms pulled before, spanning R^d.
    """

    def __init__(self, fit: Fit, directions: Directions, rule: int, first: np.ndarray) -> None:
        self._lock = threading.Lock()
        self._fit, self._directions, self._rule = fit, directions, rule
        self.least = first.size  # pulls before which theta is not determined
        self._arms = first.astype(np.int32)
        self._known = first.size
        fit.counts[first] = 1.0

    def first(self, n: int) -> np.ndarray:
        """The first n arms, or more."""
        with self._lock:
            if n > self._known:
                size = max(1 << 12, 1 << (n - 1).bit_length())
                longer = np.empty(size, np.int32)
                longer[: self._known] = self._arms[: self._known]
                extend(self._fit, self._directions, self._rule, longer[self._known :])
                self._arms, self._known = longer, size
            return self._arms[: self._known]
