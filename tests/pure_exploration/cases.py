"""Random instances of every problem, each with its alternatives as convex programs."""

from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

from bestarm.baics.alternatives import NO_ARM
from bestarm.baics.alternatives import Problem as Definitions
from bestarm.baics.pure_exploration import subpopulations
from bestarm.core.pure_exploration.problem import best_answer
from bestarm.core.pure_exploration.top_arms import answer_arms, top_arms
from bestarm.lagex.pure_exploration import policies
from bestarm.linear.pure_exploration import features
from lagex.polytopes import drawn


class Case(NamedTuple):
    """An instance of a problem.

    Args:
        alternatives: of a (K,) cvxpy expression lambda: for every way to be another answer's
            instance, constraints that say so.
        enough: of a (K,) cvxpy expression w >= 0: convex constraints that are feasible if and only
            if min_i f_i(w) >= 1.
    """

    problem: Any
    means: np.ndarray
    alternatives: Callable[[Any], list[list[Any]]]
    enough: Callable[[Any], list[Any]]


def _harmonic(costs: np.ndarray, w: Any) -> Any:
    """sum costs_a / w_a <= 1."""
    used = [a for a in range(costs.size) if costs[a] > 0.0]
    return sum(cp.quad_over_lin(np.sqrt(costs[a]), w[a]) for a in used) <= 1.0


def top(seed: int, k: int = 4, m: int = 2) -> Case:
    """The m best arms."""
    rng = np.random.default_rng(seed)
    means, sigma = rng.normal(size=k), rng.uniform(0.5, 2.0, k)
    order = np.argsort(-means)
    pairs = [(a, c) for a in order[:m] for c in order[m:]]

    def enough(w):
        return [
            _harmonic(2.0 * sigma[[a, c]] ** 2 / (means[a] - means[c]) ** 2, w[[a, c]])
            for a, c in pairs
        ]

    return Case(top_arms(k, m, sigma), means, lambda x: [[x[c] >= x[a]] for a, c in pairs], enough)


def best(seed: int) -> Case:
    """The best arm."""
    return top(seed, m=1)


def groups(seed: int, k: int = 3, n_groups: int = 2) -> Case:
    """The best arm that is feasible; in about a fifth of the instances there is none."""
    rng = np.random.default_rng(seed)
    mu, q = rng.normal(0.3, 0.7, (k, n_groups)), rng.dirichlet(np.ones(n_groups))
    constrained = int(rng.integers(0, n_groups + 1))
    feasible = [a for a in range(k) if (mu[a, :constrained] >= 0.0).all()]
    b = max(feasible, key=lambda a: mu[a] @ q) if feasible else NO_ARM
    others = [a for a in range(k) if a != b]

    def table(x):
        return [x[a * n_groups : (a + 1) * n_groups] for a in range(k)]

    def alternatives(x):
        rows = table(x)
        if b == NO_ARM:
            return [[rows[a][:constrained] >= 0.0] for a in range(k)]
        flipped = [[rows[b][l] <= 0.0] for l in range(constrained)]
        return flipped + [
            [q @ rows[a] >= q @ rows[b], *([rows[a][:constrained] >= 0.0] if constrained else [])]
            for a in others
        ]

    def enough(w):
        """Swaps by their dual, as in `optimal_allocation`."""
        rows, found = table(w), []
        if b == NO_ARM:
            below = np.minimum(mu[:, :constrained], 0.0) ** 2
            return [below[a] @ rows[a][:constrained] >= 2.0 for a in range(k)]
        found += [rows[b][l] * mu[b, l] ** 2 >= 2.0 for l in range(constrained)]
        for a in others:
            theta, s = cp.Variable(nonneg=True), cp.Variable(n_groups, nonneg=True)
            moved = [cp.quad_over_lin(theta * q[l], rows[b][l]) for l in range(n_groups)]
            moved += [cp.quad_over_lin(theta * q[l] + s[l], rows[a][l]) for l in range(n_groups)]
            found += [s[constrained:] == 0.0] if constrained < n_groups else []
            gap = 2.0 * theta * (q @ (mu[b] - mu[a])) - 2.0 * (s @ mu[a])
            found.append(cp.sum(cp.hstack(moved)) <= gap - 2.0)
        return found

    return Case(subpopulations(k, Definitions(q, constrained)), mu.ravel(), alternatives, enough)


def bandit(seed: int, k: int = 5, d: int = 3) -> Case:
    """The best arm, rewards linear in features."""
    rng = np.random.default_rng(seed)
    x, theta = rng.normal(size=(k, d)), rng.normal(size=d)
    means = x @ theta
    b = int(means.argmax())
    others = [a for a in range(k) if a != b]

    def alternatives(lam):
        other = cp.Variable(d)
        return [[lam == x @ other, (x[a] - x[b]) @ other >= 0.0] for a in others]

    def enough(w):
        design = sum(w[a] * np.outer(x[a], x[a]) for a in range(k))
        return [
            cp.matrix_frac(np.sqrt(2.0) * (x[b] - x[a]) / (means[b] - means[a]), design) <= 1.0
            for a in others
        ]

    return Case(features(x), means, alternatives, enough)


def limited(seed: int, k: int = 4, d: int = 2) -> Case:
    """The best policy under known limits."""
    _, _, matrix, limits = drawn(seed, k, d, "smooth")
    rng = np.random.default_rng(seed)
    means, variances = rng.normal(size=k), rng.uniform(0.5, 2.0, k)
    problem = policies(variances, matrix, limits)
    b = best_answer(problem, means)
    steps = np.delete(problem.policies, b, axis=0) - problem.policies[b]  # to all vertices

    def enough(w):
        return [_harmonic(2.0 * variances * v**2 / (means @ v) ** 2, w) for v in steps]

    return Case(problem, means, lambda x: [[v @ x >= 0.0] for v in steps], enough)


KINDS = {f.__name__: f for f in (best, top, groups, bandit, limited)}


def answer_of(problem: Any, means: np.ndarray) -> Any:
    """An answer that can be compared."""
    found = best_answer(problem, means)
    return tuple(answer_arms(found)) if hasattr(problem, "top") else found
