"""Ordinary and ridge least squares over a finite set of arms, by counts and sums."""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, lean

#: Number of rank-one updates after which a matrix is factored anew, to bound rounding drift.
REFACTOR = 1024


class Fit(NamedTuple):
    """The data and the least-squares estimates; every array is changed in place.

    A = ridge I + sum_x T_x x x^T is the design matrix of T_x pulls of arm x (Section 2).
    """

    arms: np.ndarray  # (K, d) X
    counts: np.ndarray  # (K,) T_x
    sums: np.ndarray  # (K,) sums of rewards, in units of the noise
    inverse: np.ndarray  # (d, d) A^-1
    predictors: np.ndarray  # (K, d) rows A^-1 x
    values: np.ndarray  # (K,) x . theta_hat
    theta: np.ndarray  # (d,) theta_hat = A^-1 b
    ridge: float  # eta of Proposition 2; 0 for ordinary least squares


@inlined
def make_fit(arms: np.ndarray, ridge: float) -> Fit:
    """A fit without pulls."""
    n_arms, d = arms.shape
    return Fit(
        arms,
        np.zeros(n_arms),
        np.zeros(n_arms),
        np.zeros((d, d)),
        np.zeros((n_arms, d)),
        np.zeros(n_arms),
        np.zeros(d),
        ridge,
    )


def copy_fit(fit: Fit) -> Fit:
    """A fit that changes by itself."""
    arrays = {name: getattr(fit, name).copy() for name in Fit._fields if name != "ridge"}
    return fit._replace(**arrays)


@inlined
def invert(a: np.ndarray) -> None:
    """Invert a symmetric positive definite matrix in place, by sweeping its pivots in turn.

    A singular one gives infinite or undefined entries.
    """
    d = a.shape[0]
    for k in range(d):
        pivot = 1.0 / a[k, k]
        a[k, k] = 1.0
        for j in range(d):
            a[k, j] *= pivot
        for i in range(d):
            if i != k:
                factor = a[i, k]
                a[i, k] = 0.0
                for j in range(d):
                    a[i, j] -= factor * a[k, j]


@lean
def estimate(fit: Fit) -> None:
    """Compute theta_hat and values from the predictors."""
    arms, theta = fit.arms, fit.theta
    n_arms, d = arms.shape
    theta[:] = 0.0
    for a in range(n_arms):
        for i in range(d):
            theta[i] += fit.sums[a] * fit.predictors[a, i]
    for a in range(n_arms):
        fit.values[a] = 0.0
        for i in range(d):
            fit.values[a] += arms[a, i] * theta[i]


@lean
def refit(fit: Fit) -> None:
    """Recompute A^-1, predictors, theta_hat and values from counts and sums.

    The counted arms must span R^d unless there is a ridge.
    """
    arms, inverse = fit.arms, fit.inverse
    n_arms, d = arms.shape
    inverse[:] = 0.0
    for i in range(d):
        inverse[i, i] = fit.ridge
    for a in range(n_arms):
        if fit.counts[a] > 0.0:
            for i in range(d):
                for j in range(d):
                    inverse[i, j] += fit.counts[a] * arms[a, i] * arms[a, j]
    invert(inverse)
    for a in range(n_arms):
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += inverse[i, j] * arms[a, j]
            fit.predictors[a, i] = total
    estimate(fit)


@inlined
def squared_norm(arms: np.ndarray, predictors: np.ndarray, a: int, b: int) -> float:
    """||y||^2 in the norm of A^-1, for y = x_a - x_b, or y = x_a if b < 0."""
    total = 0.0
    if b < 0:
        for i in range(arms.shape[1]):
            total += arms[a, i] * predictors[a, i]
    else:
        for i in range(arms.shape[1]):
            total += (arms[a, i] - arms[b, i]) * (predictors[a, i] - predictors[b, i])
    return total
