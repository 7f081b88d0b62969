"""Random sets of policies {pi in simplex, A pi <= b}, as the tests need them."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

#: "smooth": vertices in general position. "integer": few distinct coefficients, so that many
#: constraints meet in one vertex. "split": the same with each coefficient moved a little, so that
#: they nearly do. "groups": at most half to each of some groups of arms. "flat": the first
#: constraint holds with equality.
KINDS = ("smooth", "integer", "split", "groups", "flat")


class Polytope(NamedTuple):
    """A set that is not empty, and what the arms give."""

    means: np.ndarray  # (K,)
    variances: np.ndarray  # (K,)
    matrix: np.ndarray  # (d, K)
    limits: np.ndarray  # (d,)

    @property
    def rows(self) -> np.ndarray:
        """(d, K) A - b 1^T."""
        return self.matrix - self.limits[:, None]


def drawn(seed: int, k: int, d: int, kind: str) -> Polytope:
    """A random set around some policy, of multiples of 1/4 so that sums are exact."""
    rng = np.random.default_rng([seed, k, d, KINDS.index(kind)])
    centre = rng.multinomial(4, np.full(k, 1.0 / k)) / 4.0
    matrix = rng.integers(-1, 2, (d, k)).astype(float)
    slack = rng.choice([0.0, 0.5], d)
    if kind == "smooth":
        centre = rng.dirichlet(np.full(k, 2.0))
        matrix, slack = rng.normal(size=(d, k)), rng.uniform(0.02, 0.4, d)
    if kind == "split":
        matrix += rng.choice([1e-2, 1e-3, 1e-4]) * rng.normal(size=(d, k))
        slack += 1e-3
    if kind == "groups":
        matrix, slack = rng.integers(0, 2, (d, k)).astype(float), np.zeros(d)
    if kind == "flat":
        slack[0] = 0.0
    limits = matrix @ centre + slack
    if kind == "groups":
        limits = np.maximum(limits, 0.5)
    if kind == "flat":
        matrix, limits = np.vstack([matrix, -matrix[:1]]), np.append(limits, -limits[0])
    return Polytope(rng.normal(size=k), rng.uniform(0.5, 2.0, k) ** 2, matrix, limits)


#: Seeds and sizes small enough for brute force.
polytopes = st.builds(
    drawn, st.integers(0, 2**32), st.integers(2, 5), st.integers(1, 3), st.sampled_from(KINDS)
)
#: Those whose constraints and vertices are in general position.
smooth_polytopes = st.builds(
    drawn, st.integers(0, 2**32), st.integers(2, 5), st.integers(1, 3), st.just("smooth")
)


def same_set(ones: np.ndarray, others: np.ndarray, tolerance: float) -> bool:
    """Whether every row of each is a row of the other, whatever the order and the number."""
    if len(ones) == 0 or len(others) == 0:
        return len(ones) == len(others)
    far = np.abs(np.asarray(ones)[:, None] - np.asarray(others)[None]).max(axis=2) > tolerance
    return not (far.all(axis=0).any() or far.all(axis=1).any())
