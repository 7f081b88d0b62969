"""Linear bandits as a problem of core/pure_exploration; means are in units of the noise.

The instances in which x_j is at least as good as the answer x_b are a piece. With A = sum_a w_a
x_a x_a' and y = x_b - x_j the nearest of them is theta - (y theta / y A^-1 y) A^-1 y, and

    f_j(w) = (y theta)^2 / (2 y A^-1 y)

(Soare, Lazaric & Munos 2014; Jedra & Proutiere 2020, Lemma 1).
"""

from typing import NamedTuple

import numpy as np

from bestarm.common.pure_exploration import compiled
from bestarm.core.compile import jit, lean
from bestarm.core.pure_exploration.problem import (
    PRIOR_PULLS,
    best_answer,
    discount,
    displace,
    estimate,
    implements,
    make_work,
    mixing_cost,
    pieces,
    report,
    spread,
    weigh,
)
from bestarm.core.pure_exploration.steps import Rules, make_rules
from bestarm.linear.least_squares import invert
from bestarm.linear.problem import Instance, span_basis

#: Weights are at least this share of their mean, so that designs have an inverse.
LEAST_SHARE = 1e-12


class Features(NamedTuple):
    """The best of arms whose mean rewards are x . theta."""

    variances: np.ndarray  # (K,) all 1
    explored: np.ndarray  # (d,) arms that span all
    blank: np.ndarray  # (1,)
    arms: np.ndarray  # (K, d) in coordinates of the space they span
    prior: np.ndarray  # (d, d) what the mixture's prior adds to A, PRIOR_PULLS a dimension


class Work(NamedTuple):
    """Buffers."""

    inverse: np.ndarray  # (d, d) A^-1 for the weights that were set
    matrix: np.ndarray  # (d, d) A
    vector: np.ndarray  # (d,)
    log_volume: np.ndarray  # (1,) 1/2 ln(det(A + prior) / det(prior)) of `discount`


def features(arms) -> Features:
    """The problem of (K, d) arms."""
    x = np.array(arms, float)
    x = np.ascontiguousarray(x @ span_basis(x))
    k, d = x.shape
    prior = PRIOR_PULLS * d / k * (x.T @ x)
    return Features(np.ones(k), far_apart(x), np.full(1, -1), x, prior)


def far_apart(x: np.ndarray) -> np.ndarray:
    """(d,) arms that span the space, each the furthest from the span of those before it.

    Forced pulls are of these arms, and the least eigenvalue of their design bounds how fast all
    estimates converge (Jedra & Proutiere 2020, Lemma 5). The first d independent arms may be nearly
    dependent; then tracking starts from estimates that are hundreds of gaps away.
    """
    left, chosen = x.copy(), []
    for _ in range(x.shape[1]):
        norms = np.einsum("ai,ai->a", left, left)
        chosen.append(int(norms.argmax()))
        unit = left[chosen[-1]] / np.sqrt(norms[chosen[-1]])
        left -= np.outer(left @ unit, unit)
    return np.array(chosen)


def problem_and_means(instance: Instance) -> tuple[Features, np.ndarray]:
    """The problem of an instance, and its (K,) means in units of the noise."""
    return features(instance.arms), instance.problem.means


@implements(make_work, Features)
@jit
def _make_work(problem: Features) -> Work:
    d = problem.arms.shape[1]
    return Work(np.zeros((d, d)), np.zeros((d, d)), np.zeros(d), np.zeros(1))


@implements(pieces, Features)
@lean
def _pieces(problem: Features) -> int:
    return problem.variances.size


@implements(best_answer, Features)
@lean
def _best_answer(problem: Features, means: np.ndarray) -> int:
    return int(means.argmax())


@implements(report, Features)
@lean
def _report(problem: Features, answer: int, out: np.ndarray) -> None:
    out[0] = answer


@lean
def _form(arms: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """out = sum_a w_a x_a x_a'."""
    n_arms, d = arms.shape
    least = LEAST_SHARE * weights.sum() / n_arms
    out[:] = 0.0
    for a in range(n_arms):
        w = max(weights[a], least)
        for i in range(d):
            for j in range(d):
                out[i, j] += w * arms[a, i] * arms[a, j]


@implements(weigh, Features)
@lean
def _weigh(problem: Features, work: Work, weights: np.ndarray) -> None:
    _form(problem.arms, weights, work.inverse)
    invert(work.inverse)


@lean
def _times(matrix: np.ndarray, vector: np.ndarray, i: int) -> float:
    """The i-th entry of a product."""
    total = 0.0
    for j in range(vector.size):
        total += matrix[i, j] * vector[j]
    return total


@implements(displace, Features)
@lean
def _displace(
    problem: Features, work: Work, i: int, answer: int, means: np.ndarray, shift: np.ndarray
) -> float:
    if i == answer:
        return np.inf
    arms, z = problem.arms, work.vector
    d, variance = z.size, 0.0
    for r in range(d):
        z[r] = 0.0
        for c in range(d):
            z[r] += work.inverse[r, c] * (arms[answer, c] - arms[i, c])
        variance += z[r] * (arms[answer, r] - arms[i, r])
    step = (means[answer] - means[i]) / variance
    for a in range(shift.size):
        shift[a] = step * _times(arms, z, a)
    return 0.5 * step * step * variance


@implements(estimate, Features)
@lean
def _estimate(
    problem: Features, work: Work, pulls: np.ndarray, sums: np.ndarray, means: np.ndarray
) -> None:
    """Least squares."""
    _weigh(problem, work, pulls)
    arms, total, theta = problem.arms, work.matrix[0], work.vector
    total[:] = 0.0
    for a in range(means.size):
        for i in range(total.size):
            total[i] += sums[a] * arms[a, i]
    for i in range(total.size):
        theta[i] = _times(work.inverse, total, i)
    for a in range(means.size):
        means[a] = _times(arms, theta, a)


@implements(spread, Features)
@lean
def _spread(problem: Features, work: Work, out: np.ndarray) -> None:
    arms, x = problem.arms, work.vector
    for a in range(out.size):
        out[a] = 0.0
        for i in range(x.size):
            x[i] = arms[a, i]
        for i in range(x.size):
            out[a] += x[i] * _times(work.inverse, x, i)


@implements(discount, Features)
@lean
def _discount(problem: Features, work: Work, pulls: np.ndarray) -> None:
    """A (A + P)^-1 A in place of A, P the prior: its inverse is A^-1 + A^-1 P A^-1.

    With S = sum of x times centred rewards, |S|^2 / 2 in the norm of (A + P)^-1, less 1/2 ln(det(A
    + P) / det P), is the log of a mixture over theta ~ N(0, P^-1) (Abbasi-Yadkori, Pal &
    Szepesvari 2011, Theorem 1), and S = A (theta^ - theta).
    """
    matrix, inverse, prior, d = work.matrix, work.inverse, problem.prior, work.vector.size
    work.log_volume[0] = 0.0
    for sign in (1.0, -1.0):
        if sign > 0.0:
            _form(problem.arms, pulls, matrix)
            matrix += prior
        else:
            for i in range(d):
                for j in range(d):
                    matrix[i, j] = prior[i, j]
        work.log_volume[0] += sign * 0.5 * _log_determinant(matrix)
    _weigh(problem, work, pulls)
    for i in range(d):  # matrix = A^-1 P
        for j in range(d):
            matrix[i, j] = 0.0
            for c in range(d):
                matrix[i, j] += inverse[i, c] * prior[c, j]
    for j in range(d):  # inverse + matrix inverse, by columns; inverse is symmetric
        for c in range(d):
            work.vector[c] = inverse[c, j]
        for i in range(d):
            inverse[i, j] += _times(matrix, work.vector, i)


@lean
def _log_determinant(matrix: np.ndarray) -> float:
    """ln det of a positive definite matrix, which is eliminated."""
    total, d = 0.0, matrix.shape[0]
    for k in range(d):
        total += np.log(matrix[k, k])
        for i in range(k + 1, d):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k, d):
                matrix[i, j] -= factor * matrix[k, j]
    return total


@implements(mixing_cost, Features)
@lean
def _mixing_cost(problem: Features, work: Work, i: int, answer: int, pulls: np.ndarray) -> float:
    """One mixture over all of theta serves every piece."""
    return work.log_volume[0]


def _rules(arms, delta: float) -> Rules:
    return make_rules(features(arms), delta)


#: Track-and-Stop is Lazy Track-and-Stop here, and the game is LinGame.
(
    LazyTrackAndStop, FrankWolfe, TopTwo, LinGame, DTrackAndStop, HalfTopTwo, LearnersGame,
) = compiled(_rules, TrackAndStop="LazyTrackAndStop", Game="LinGame")  # fmt: skip
