"""Small linear systems."""

import numpy as np

from bestarm.core.compile import lean


@lean
def factorise(matrix: np.ndarray, start: int, n: int) -> None:
    """Overwrite a positive definite matrix, given by its lower triangle, with its factors L D L^T.

    L is stored below the diagonal, 1 / D_ii on it, and intermediate values above. Pivots D_ii are
    at least 1e-18. Rows before `start` must hold their factors already.
    """
    for i in range(start, n):
        pivot = matrix[i, i]
        for j in range(i):
            total = matrix[i, j]
            for c in range(j):
                total -= matrix[c, i] * matrix[j, c]
            matrix[j, i] = total  # (L D)_ij
            matrix[i, j] = total * matrix[j, j]
            pivot -= total * matrix[i, j]
        matrix[i, i] = 1.0 / max(pivot, 1e-18)


@lean
def substitute(factor: np.ndarray, vector: np.ndarray, n: int) -> None:
    """vector <- (L D L^T)^-1 vector with the factors as `factorise` leaves them."""
    for i in range(n):
        total = vector[i]
        for c in range(i):
            total -= factor[i, c] * vector[c]
        vector[i] = total
    for i in range(n - 1, -1, -1):
        total = vector[i] * factor[i, i]
        for c in range(i + 1, n):
            total -= factor[c, i] * vector[c]
        vector[i] = total


@lean
def solve_definite(matrix: np.ndarray, vector: np.ndarray, n: int) -> None:
    """vector <- matrix^-1 vector for a positive definite matrix given by its lower triangle."""
    factorise(matrix, 0, n)
    substitute(matrix, vector, n)
