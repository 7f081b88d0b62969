"""Slow and obvious versions of the CBMAI kernels: test oracles, never used in simulations."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import optimize

from bestarm.cbmai.problem import Noise, Problem


def with_slacks(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, b and mu of Eq. (3), entry by entry: one slack per cost, then the sum of weights."""
    n_costs, n_arms = problem.costs.shape
    matrix, values = np.zeros((n_costs + 1, n_arms + n_costs)), np.zeros(n_arms + n_costs)
    for a in range(n_arms):
        values[a] = problem.rewards[a]
        matrix[n_costs, a] = 1.0
        for i in range(n_costs):
            matrix[i, a] = problem.costs[i, a]
    for i in range(n_costs):
        matrix[i, n_arms + i] = 1.0
    return matrix, np.array([*problem.bounds, 1.0]), values


def solve(matrix: np.ndarray, rhs: np.ndarray, values: np.ndarray):
    """max { v . x : A x = b, x >= 0 }: the value and a dual solution; None if infeasible.

    Raises RuntimeError unless the solver reports an optimum or that there is no feasible point.
    """
    result = optimize.linprog(-values, A_eq=matrix, b_eq=rhs, bounds=(0, None), method="highs")
    if result.status == 2:
        return None
    if result.status != 0 or result.fun is None:
        raise RuntimeError(f"the reference solver ended with: {result.message}")
    return -result.fun, -result.eqlin.marginals


def feasible_bases(matrix: np.ndarray, rhs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every feasible basis of Definition 1, one per row, and its coordinates."""
    bases = np.array(list(itertools.combinations(range(matrix.shape[1]), rhs.size)))
    squares = matrix[:, bases].transpose(1, 0, 2)
    regular = abs(np.linalg.det(squares)) > 1e-9
    solutions = np.linalg.solve(squares[regular], rhs[:, None])[..., 0]
    feasible = (solutions >= -1e-9).all(axis=1)
    return bases[regular][feasible], solutions[feasible]


def intersection_values(matrix: np.ndarray, rhs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Eq. (6), read off the definition."""
    scores = np.full(values.size, -math.inf)
    for basis, x in zip(*feasible_bases(matrix, rhs), strict=True):
        scores[basis] = np.maximum(scores[basis], values[basis] @ x)
    return scores


def lagrangian_scores(matrix: np.ndarray, rhs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Eq. (8); determined only where no coordinate of the optimal solution is 0."""
    solution = solve(matrix, rhs, values)
    return np.full(values.size, -math.inf) if solution is None else values - matrix.T @ solution[1]


def relaxation_scores(matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """For each column minus the least increase of all bounds at which a basis with it works."""
    column = np.append(np.full(rhs.size - 1, -1.0), 0.0)  # the last row: shares add up to 1
    values = np.append(np.zeros(matrix.shape[1]), -1.0)
    return intersection_values(np.column_stack([matrix, column]), rhs, values)[:-1]


def schedule(strategy: str, truth: Problem, budget: int) -> list[int]:
    """n_1, ..., n_{K-1} of Eq. (7) as integers; for USLP its single round."""
    n_costs, n_arms = truth.costs.shape
    if strategy == "USLP":
        return [budget // truth.n_unknown]
    psi = sum(Fraction(1, max(2, j - n_costs)) for j in range(1, truth.n_unknown + 1))
    return [
        math.ceil((budget - truth.n_unknown) / psi / (n_arms + 1 - k)) for k in range(1, n_arms)
    ]


def run(strategy: str, truth: Problem, noise: Noise, budget: int, rng: np.random.Generator):
    """Algorithm 1, or USLP, one pull at a time.

    Returns:
        The support (columns counted from 0; None for "infeasible"), and for every unknown arm the
        list of its observations, reward before costs.
    """
    n_costs, n_arms = truth.costs.shape
    seen = [[] for _ in range(truth.n_unknown)]
    remaining = list(range(n_arms + n_costs))
    score = lagrangian_scores if strategy == "SFSR-L" else intersection_values
    for before, goal in itertools.pairwise([0, *schedule(strategy, truth, budget)]):
        for a in remaining:
            if a < truth.n_unknown:
                for _ in range(goal - before):
                    reward = rng.normal(truth.rewards[a], noise.reward)
                    seen[a].append([reward, *rng.normal(truth.costs[:, a], noise.cost)])
        means = np.vstack([truth.rewards, truth.costs])
        for a, pulls in enumerate(seen):
            means[:, a] = np.mean(pulls, axis=0)
        matrix, rhs, values = with_slacks(truth._replace(rewards=means[0], costs=means[1:]))
        scores = score(matrix[:, remaining], rhs, values[remaining])
        if scores.max() == -math.inf:
            last = len(remaining) == n_costs + 2
            if strategy != "SFSR-patient" or last:
                return None, seen
            scores = relaxation_scores(matrix[:, remaining], rhs)
            scores[np.array(remaining) >= n_arms] = math.inf
        if strategy == "USLP":  # every column of the optimal basis has the largest score
            remaining = sorted(np.argsort(-scores)[: n_costs + 1].tolist())
        else:
            del remaining[int(np.argmin(scores))]
    return remaining, seen


def basis_gap(problem: Problem, noise: Noise, optimal, other, rng, starts: int = 4) -> float:
    """An upper bound on Delta_J^2, Eq. (9): see `_least_move`.

    Where both bases have the same solution the gradients are linearly dependent and SLSQP converges
    badly, so that case is also minimised separately.
    """

    def overtaken(matrix, rhs, values, x, y):
        equal = matrix[:, optimal] @ x - rhs, matrix[:, other] @ y - rhs
        return np.concatenate(equal), [*x, *y, values[other] @ y - values[optimal] @ x]

    shared = [a for a in optimal if a in other]

    def the_same(matrix, rhs, values, x):
        return matrix[:, shared] @ x[: len(shared)] - rhs, x

    gap = _least_move(problem, noise, {*optimal, *other}, 2, overtaken, rng, starts)
    return min(gap, _least_move(problem, noise, shared, 1, the_same, rng, starts))


def infeasibility_gap(problem: Problem, noise: Noise, optimal, rng, starts: int = 4) -> float:
    """An upper bound on Delta_0^2, Eq. (11): a determinant is 0, or a coordinate at most 0."""

    def singular(matrix, rhs, values, x):
        return [np.linalg.det(matrix[:, optimal])], [0.0]

    def negative(i):
        return lambda matrix, rhs, values, x: (matrix[:, optimal] @ x - rhs, [-x[i]])

    cases = [singular, *map(negative, range(len(optimal)))]
    return min(_least_move(problem, noise, optimal, 1, case, rng, starts) for case in cases)


def _least_move(problem, noise, columns, n_solutions, conditions, rng, starts) -> float:
    """The smallest cost that SLSQP finds from random starts over (r~, c~) and solutions, or inf.

    `conditions(A~, b, mu~, *solutions)` gives what must be 0 and what must be nonnegative.
    """
    n_costs = problem.bounds.size
    arms = [a for a in columns if a < problem.n_unknown]
    units = np.array([noise.reward, *[noise.cost] * n_costs])[:, None]
    matrix, rhs, values = with_slacks(problem)
    n_moves = units.size * len(arms)  # these variables come first, in units of the noise

    def moved(z):
        shift = units * z[:n_moves].reshape(units.size, -1)
        near, mu = matrix.copy(), values.copy()
        near[:n_costs, arms] += shift[1:]
        mu[arms] += shift[0]
        return conditions(near, rhs, mu, *z[n_moves:].reshape(n_solutions, -1))

    rules: list[Any] = [
        {"type": t, "fun": lambda z, i=i: moved(z)[i]} for i, t in enumerate(("eq", "ineq"))
    ]
    options: Any = {"maxiter": 300, "ftol": 1e-12}
    best = math.inf
    for _ in range(starts):
        z: Any = np.append(
            rng.normal(size=n_moves), rng.dirichlet(np.ones(n_costs + 1), n_solutions)
        )
        result = optimize.minimize(
            lambda z: z[:n_moves] @ z[:n_moves],
            z,
            jac=lambda z: 2.0 * z * (np.arange(z.size) < n_moves),
            method="SLSQP",
            constraints=rules,
            options=options,
        )
        equal, at_least = moved(result.x)
        if np.abs(equal).max() < 1e-9 and np.min(at_least) > -1e-9:
            best = min(best, float(result.fun))
    return best
