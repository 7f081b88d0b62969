"""One small linear system."""

import math

import numpy as np

from bestarm.core.compile import jit


@jit
def cholesky_solve(matrix: np.ndarray, vector: np.ndarray, n: int) -> None:
    """vector <- matrix^-1 vector for a positive definite matrix given by its lower triangle."""
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i, j]
            for c in range(j):
                total -= matrix[i, c] * matrix[j, c]
            matrix[i, j] = math.sqrt(max(total, 1e-18)) if i == j else total / matrix[j, j]
        total = vector[i]
        for c in range(i):
            total -= matrix[i, c] * vector[c]
        vector[i] = total / matrix[i, i]
    for i in range(n - 1, -1, -1):
        total = vector[i]
        for c in range(i + 1, n):
            total -= matrix[c, i] * vector[c]
        vector[i] = total / matrix[i, i]
