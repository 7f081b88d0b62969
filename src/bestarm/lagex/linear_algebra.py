"""Small linear systems."""

import math

import numpy as np

from bestarm.core.compile import lean


@lean
def factorise(matrix: np.ndarray, start: int, n: int) -> None:
    """Overwrite the lower triangle of a positive definite matrix with its Cholesky factor L.

    The diagonal holds 1 / L_ii. Pivots are kept above 1e-18. Rows before `start` hold L already.
    """
    for i in range(start, n):
        for j in range(i):
            total = matrix[i, j]
            for c in range(j):
                total -= matrix[i, c] * matrix[j, c]
            matrix[i, j] = total * matrix[j, j]
        total = matrix[i, i]
        for c in range(i):
            total -= matrix[i, c] * matrix[i, c]
        matrix[i, i] = 1.0 / math.sqrt(max(total, 1e-18))


@lean
def substitute(factor: np.ndarray, vector: np.ndarray, n: int) -> None:
    """vector <- (L L^T)^-1 vector with L as `factorise` leaves it."""
    for i in range(n):
        total = vector[i]
        for c in range(i):
            total -= factor[i, c] * vector[c]
        vector[i] = total * factor[i, i]
    for i in range(n - 1, -1, -1):
        total = vector[i]
        for c in range(i + 1, n):
            total -= factor[c, i] * vector[c]
        vector[i] = total * factor[i, i]


@lean
def cholesky_solve(matrix: np.ndarray, vector: np.ndarray, n: int) -> None:
    """vector <- matrix^-1 vector for a positive definite matrix given by its lower triangle."""
    factorise(matrix, 0, n)
    substitute(matrix, vector, n)
