"""The k best of K arms; k = 1 is best-arm identification."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import lean
from bestarm.core.pure_exploration.problem import (
    best_answer,
    displace,
    implements,
    mixing_cost,
    mixture_cost,
    pieces,
    report,
    unrelated_arms,
)

#: An answer is the set of its arms as the bits of a 64-bit number.
MOST_ARMS = 62


class TopArms(NamedTuple):
    """The `top` arms of highest mean. Piece a K + c: arm c outside of the answer beats arm a of it.

    With sigma = 1 and top = 1, f = w_a w_c (mu_a - mu_c)^2 / (2 (w_a + w_c)) (Garivier & Kaufmann
    2016, Lemma 3).
    """

    variances: np.ndarray  # (K,)
    explored: np.ndarray  # (K,) all arms
    blank: np.ndarray  # (top,)
    top: int


def top_arms(n_arms: int, top: int = 1, sigma: float | Iterable[float] = 1.0) -> TopArms:
    """The problem of the `top` best of `n_arms` arms.

    Raises:
        ValueError: more than MOST_ARMS arms, or not 0 < top < n_arms.

    Example:
        >>> best_answer(top_arms(3, top=2), np.array([0.3, 0.1, 0.2]))
        5
    """
    if not 0 < top < n_arms <= MOST_ARMS:
        raise ValueError(f"top and arms: must be 0 < top < arms <= {MOST_ARMS}")
    deviations = sigma if isinstance(sigma, Iterable) else [sigma] * n_arms
    variances = np.array([float(s) ** 2 for s in deviations])
    return TopArms(variances, np.arange(n_arms), np.zeros(top, np.int64), top)


def answer_arms(answer: int) -> list[int]:
    """The arms of an answer.

    Example:
        >>> answer_arms(5)
        [0, 2]
    """
    return [a for a in range(MOST_ARMS) if answer >> a & 1]


unrelated_arms(TopArms)


@implements(pieces, TopArms)
@lean
def _pieces(problem: TopArms) -> int:
    return problem.variances.size**2


@implements(best_answer, TopArms)
@lean
def _best_answer(problem: TopArms, means: np.ndarray) -> int:
    answer = np.int64(0)
    for _ in range(problem.top):
        best = -1
        for a in range(means.size):
            inside = answer >> np.int64(a) & np.int64(1)
            if not inside and (best < 0 or means[a] > means[best]):
                best = a
        answer |= np.int64(1) << np.int64(best)
    return answer  # pyright: ignore[reportReturnType]


@implements(report, TopArms)
@lean
def _report(problem: TopArms, answer: int, out: np.ndarray) -> None:
    place = 0
    for a in range(problem.variances.size):
        if answer >> a & 1:
            out[place] = a
            place += 1


@implements(displace, TopArms)
@lean
def _displace(
    problem: TopArms, work, i: int, answer: int, means: np.ndarray, shift: np.ndarray
) -> float:
    a, c = divmod(i, means.size)
    if not (answer >> a & 1) or answer >> c & 1:
        return np.inf
    w, gap = work.weights, means[a] - means[c]
    slow_a, slow_c = w[a] * problem.variances[c], w[c] * problem.variances[a]
    total = slow_a + slow_c
    shift[:] = 0.0
    shift[a] = gap * (slow_c / total if total > 0.0 else 0.5)
    shift[c] = shift[a] - gap
    return 0.5 * gap * gap * (w[a] * w[c] / total if total > 0.0 else 0.0)


@implements(mixing_cost, TopArms)
@lean
def _mixing_cost(problem: TopArms, work, i: int, answer: int, pulls: np.ndarray) -> float:
    """A wrong answer holds an arm outside of the true one, and lacks one of it: k (K - k) pairs."""
    a, c = divmod(i, pulls.size)
    pairs = problem.top * (pulls.size - problem.top)
    return math.log(pairs) + mixture_cost(pulls[a]) + mixture_cost(pulls[c])
