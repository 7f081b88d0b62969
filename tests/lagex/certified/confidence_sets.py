"""Random confidence sets, and objects that play against a known instance."""

import numpy as np

from bestarm.lagex.certified.confidence import ConfidenceSet, without_directions
from bestarm.lagex.certified.interactive import Certified
from bestarm.lagex.kernel_problem import Problem
from lagex.polytopes import drawn


def confidence_set(
    seed: int, k: int, d: int, kind: str = "smooth", size: float = 0.1
) -> ConfidenceSet:
    """Estimates of a random set of policies, with radii of about `size`."""
    rng = np.random.default_rng([seed, k, d])
    known = drawn(seed, k, d, kind)
    u, h = (size**2 * rng.uniform(0.2, 5.0, k) for _ in range(2))
    return without_directions(known.means, np.ascontiguousarray(known.rows), h, u)


def tell_blocks(s: Certified, problem: Problem, rng: np.random.Generator) -> int:
    """Tell the pulls of one block as sums, arm by arm; returns their number."""
    d, told = len(problem.limits), 0
    for arm, n in s.wanted.items():
        reward = (
            n * problem.means[arm] + np.sqrt(n * problem.variances[arm]) * rng.standard_normal()
        )
        noise = np.sqrt(n) * problem.cost_sigma * rng.standard_normal(d)
        s.tell(arm, reward, n * problem.matrix[:, arm] + noise, n)
        told += n
    return told


def played(s: Certified, problem: Problem, seed: int = 0, most: int = 10**9) -> Certified:
    """Blocks told until the end, or until there were `most` pulls."""
    rng, told = np.random.default_rng(seed), 0
    while not s.done and told < most:
        told += tell_blocks(s, problem, rng)
    return s
