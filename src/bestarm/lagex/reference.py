"""Slow and obvious versions of the LAGEX kernels: test oracles, never used in simulations."""

import itertools
import math
import warnings
from typing import Any, NamedTuple, cast

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

from bestarm.lagex.paper.state import GAME, INSIDE, PENALISED, Rules

#: A constraint with less slack than this is tight; instances in tests have entries near 1.
TIGHT = 1e-10
#: An entry of a step that is no larger is zero.
ROUNDING = 1e-13
#: A policy with less slack than this has none, and allocations must satisfy the constraints.
NO_SLACK = 1e-9
#: The alternative of a round is at most this far from the estimates, in every arm.
FARTHEST = 10.0
#: Accuracies asked of cvxpy, in turn.
ACCURACIES = (1e-10, 1e-9, 1e-8)


def nearest_ties(
    weights: np.ndarray, means: np.ndarray, policy: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The (V,) minima and (V, K) instances of `released.solvers.alternatives`, by numpy."""
    steps, padded = policy - others, weights + 1e-12
    gaps = np.array([means.dot(step) for step in steps])
    multipliers = gaps / ((steps**2 / padded).sum(axis=1) + 1e-12)
    instances = means - multipliers[:, None] * steps / padded
    return (weights * (means - instances) ** 2).sum(axis=1) / 2.0, instances


class Alternatives(NamedTuple):
    """The best policy and others of {pi in simplex, A pi <= b}."""

    policy: np.ndarray  # (K,)
    others: np.ndarray  # (V, K)


def _facets(matrix: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inequalities G pi <= h of the polytope: -pi <= 0, then A pi <= b."""
    k = matrix.shape[1]
    return np.vstack([-np.eye(k), matrix]), np.concatenate([np.zeros(k), limits])


def vertices(matrix: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """All vertices (V, K) of {pi in simplex, A pi <= b}, by trying every K - 1 tight constraints.

    Args:
        matrix: (d, K) A.
        limits: (d,) b.
    """
    left, right = _facets(matrix, limits)
    k = matrix.shape[1]
    listed: list[np.ndarray] = []
    for tight in itertools.combinations(range(len(left)), k - 1):
        system = np.vstack([np.ones(k), left[list(tight)]])
        if np.linalg.matrix_rank(system, tol=TIGHT) == k:
            pi = np.linalg.solve(system, np.concatenate([[1.0], right[list(tight)]]))
            is_listed = any(np.abs(pi - other).max() < TIGHT for other in listed)
            if (left @ pi <= right + TIGHT).all() and not is_listed:
                listed.append(pi)
    return np.array(listed).reshape(len(listed), k)


def adjacent(vertex: np.ndarray, neighbour: np.ndarray, matrix, limits) -> bool:
    """Whether two vertices span an edge: the constraints tight at both leave one direction free."""
    left, right = _facets(matrix, limits)
    both = (left @ vertex >= right - TIGHT) & (left @ neighbour >= right - TIGHT)
    system = np.vstack([np.ones(vertex.size), left[both]])
    return bool(np.linalg.matrix_rank(system, tol=TIGHT) == vertex.size - 1)


def best_policy(means: np.ndarray, matrix: np.ndarray, limits: np.ndarray) -> np.ndarray | None:
    """argmax { mu . pi : pi in simplex, A pi <= b }, a vertex; None if there is no such policy."""
    k = means.size
    result = linprog(-means, matrix, limits, np.ones((1, k)), [1.0], method="highs-ds")
    if result.status not in (0, 2):
        raise RuntimeError(f"the reference solver ended with: {result.message}")
    return result.x if result.status == 0 else None


def alternatives(means, matrix, limits, r: float, every: bool = False) -> Alternatives | None:
    """The best vertex, and those adjacent to it or to a vertex within r of it, or all others.

    A vertex within r counts if vertices within r lead to it. None if the polytope is empty.
    """
    corners = vertices(matrix, limits)
    if len(corners) == 0:
        return None
    gaps = (corners @ means).max() - corners @ means
    best = int(np.argmin(gaps))
    reached, to_visit = {best}, [best]
    while to_visit:
        here = corners[to_visit.pop()]
        for v, corner in enumerate(corners):
            if v not in reached and (every or adjacent(here, corner, matrix, limits)):
                reached.add(v)
                if gaps[v] <= r:
                    to_visit.append(v)
    return Alternatives(corners[best], corners[sorted(reached - {best})])


def costs(steps: np.ndarray, gaps: np.ndarray, variances: np.ndarray, r: float) -> np.ndarray:
    """(V, K) 2 sigma_a^2 v_a^2 / (gap_v + r)^2: D(omega) = 1 / max_v sum_a costs_va / omega_a."""
    steps = np.where(np.abs(steps) > ROUNDING, steps, 0.0)
    return 2.0 * variances * steps**2 / (gaps[:, None] + r) ** 2


def information(
    omega: np.ndarray, means: np.ndarray, variances: np.ndarray, rivals: Alternatives, r: float
) -> float:
    """D(omega) = min over v = pi' - pi of (r - mu . v)^2 / (2 sum_a sigma_a^2 v_a^2 / omega_a)."""
    costs = []
    for other in rivals.others:
        v = other - rivals.policy
        used = np.abs(v) > ROUNDING
        with np.errstate(divide="ignore"):
            spread = (variances[used] * v[used] ** 2 / omega[used]).sum()
        costs.append((r - means @ v) ** 2 / (2.0 * spread))
    return min(costs, default=math.inf)


def confusing_instance(omega, means, variances, step, r: float) -> tuple[np.ndarray, float]:
    """The cheapest lambda for which a step gains r, and its cost in nats per pull (Proposition 1).

    argmin { sum_a omega_a (mu_a - lambda_a)^2 / (2 sigma_a^2) : lambda . step >= r }

    Args:
        omega: (K,) positive allocation.
        step: (K,) pi' - pi.
    """
    moved = cp.Variable(means.size)
    cost = (omega / (2.0 * variances)) @ cp.square(means - moved)
    problem = cp.Problem(cp.Minimize(cost), [step @ moved >= r])
    value = solve(problem)
    return np.array(moved.value), value


def least_over_multipliers(violations: np.ndarray, bound: float) -> tuple[np.ndarray, float]:
    """argmin and min of -l . violations over l >= 0, ||l||_1 <= bound, as a linear program.

    Args:
        violations: (d,) A~ omega - b, positive where the constraint is broken.
        bound: D(omega) / gamma.
    """
    d = violations.size
    result = linprog(-violations, np.ones((1, d)), [bound], method="highs")
    if result.status != 0 or result.x is None or result.fun is None:
        raise RuntimeError(f"the reference solver ended with: {result.message}")
    return result.x, float(result.fun)


def best_allocation(
    costs: np.ndarray, rows: np.ndarray, gamma: float, multiplier: bool = True
) -> tuple[np.ndarray, float]:
    """The allocation that maximises D(omega) = 1 / max_v sum_a c_va / omega_a, and the maximum.

    With the multiplier, of (1 - [max rows omega]_+ / gamma) D(omega), whose root is concave;
    without it, or for gamma = 0, of D(omega) where rows omega <= 0.

    Args:
        costs: (V, K) costs c_va.
        rows: (d, K); d may be 0.
        gamma: least slack of the estimated policy.
    """
    k, scale = costs.shape[1], costs.max()
    omega, t = cp.Variable(k, nonneg=True), cp.Variable(nonneg=True)
    used = np.flatnonzero(costs.any(axis=0))
    times = cp.hstack([cp.quad_over_lin(t, omega[a]) for a in used])  # t^2 / omega_a
    rules = [cp.sum(omega) == 1, costs[:, used] / scale @ times <= t]
    if not multiplier or gamma <= 0.0 or len(rows) == 0:
        rules += [rows @ omega <= 0] if len(rows) else []
        value = solve(cp.Problem(cp.Maximize(t), rules))
        return np.array(omega.value), value / scale
    excess = cp.Variable(nonneg=True)
    rules.append(rows @ omega <= excess)
    root = cp.geo_mean(cp.hstack([t, 1.0 - excess / gamma]))
    value = solve(cp.Problem(cp.Maximize(root), rules))
    return np.array(omega.value), value**2 / scale


def project(point: np.ndarray, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """argmin { sum_a w_a (x_a - point_a)^2 : x in simplex, rows x <= 0 }; rows may be (0, K)."""
    x = cp.Variable(point.size, nonneg=True)
    rules: list[Any] = [cp.sum(x) == 1] + ([rows @ x <= 0] if len(rows) else [])
    solve(cp.Problem(cp.Minimize(weights @ cp.square(x - point)), rules))
    return np.array(x.value)


def solve(problem: cp.Problem) -> float:
    """The optimal value, to the first of `ACCURACIES` that the solver attains.

    Raises RuntimeError unless it reports an optimum.
    """
    for accuracy in ACCURACIES:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            problem.solve(
                solver=cp.CLARABEL,
                tol_gap_rel=accuracy,
                tol_gap_abs=0.01 * accuracy,
                tol_feas=accuracy,
            )
        if problem.status == cp.OPTIMAL:
            return cast(float, problem.value)
    raise RuntimeError(f"the reference solver ended with: {problem.status}")


class Round(NamedTuple):
    """The quantities of a round before its pull."""

    rivals: Alternatives
    lead: float  # the statistic minus the threshold; a run stops if it is positive
    costs: np.ndarray  # (V, K)
    rows: np.ndarray  # (d, K) A - b 1^T - s: allocations keep rows omega <= 0
    gamma: float  # least slack in the penalty; 0 if allocations must satisfy the rows


class Step(NamedTuple):
    """A move of AdaGrad, argmax { pull . x - (x - omega)^T H (x - omega) / 2 : rows x <= 0 }."""

    omega: np.ndarray  # (K,)
    pull: np.ndarray  # (K,)
    norm: np.ndarray  # (K, K) H
    rows: np.ndarray  # (d or 0, K)

    def value(self, x: np.ndarray) -> float:
        """The value of the objective at x."""
        return float(self.pull @ x - (x - self.omega) @ self.norm @ (x - self.omega) / 2.0)

    def best(self) -> np.ndarray:
        """The allocation after the move."""
        x = cp.Variable(self.omega.size, nonneg=True)
        rules: list[Any] = [cp.sum(x) == 1] + ([self.rows @ x <= 0] if len(self.rows) else [])
        far = cp.quad_form(x - self.omega, cp.psd_wrap(self.norm))
        solve(cp.Problem(cp.Maximize(self.pull @ x - far / 2.0), rules))
        return np.array(x.value)


class Run:
    """A strategy under one reading, round by round, recomputing everything from the data.

    `analyse` gives the stopping rule and the problem of the allocation, `step` the game's move.
    `lags` takes the chosen allocation and returns the lags of the arms.
    """

    def __init__(self, rules: Rules) -> None:
        k = rules.variances.size
        self.rules, self.variances, self.limits = rules, rules.variances, rules.limits
        self.known = rules.matrix  # (d, K), used if the rules say so
        self.rewards: list[list[float]] = [[] for _ in range(k)]
        self.costs: list[list[np.ndarray]] = [[] for _ in range(k)]
        self.policy = self.omega = np.full(k, 1.0 / k)
        self.outer, self.tracked = np.zeros((k, k)), np.zeros(k)

    def observe(self, arm: int, reward: float, costs: np.ndarray) -> None:
        """Record a reward and a cost vector (d,)."""
        self.rewards[arm].append(reward)
        self.costs[arm].append(costs.copy())

    @property
    def pulls(self) -> np.ndarray:
        """(K,)."""
        return np.array([len(rewards) for rewards in self.rewards], dtype=float)

    def estimates(self) -> tuple[np.ndarray, np.ndarray]:
        """(K,) mean rewards and (d, K) A - b 1^T: sums over N + 1, or over N."""
        n = self.pulls + (1.0 if self.rules.ridge else 0.0)
        means = np.array([sum(rewards) for rewards in self.rewards]) / n
        matrix = np.array([np.sum(costs, axis=0) for costs in self.costs]).T / n
        return means, (self.known if self.rules.known else matrix) - self.limits[:, None]

    def shift(self, weights: np.ndarray) -> float:
        """f(t, delta) ||w|| in the norm of Sigma^-1, Sigma = I + diag(N)."""
        sigma = np.diag(1.0 + self.pulls)
        f = 1.0 + math.sqrt(
            0.5 * math.log(weights.size / self.rules.delta)
            + 0.25 * np.linalg.slogdet(sigma).logabsdet
        )
        return f * math.sqrt(weights @ np.linalg.inv(sigma) @ weights)

    def analyse(self) -> Round | None:
        """The quantities of this round; None if no policy satisfies the estimated constraints."""
        rules, pulls = self.rules, self.pulls
        means, rows = self.estimates()
        shift = self.shift(self.omega)
        relaxed = np.full(len(rows), shift if rules.optimistic_policy else 0.0)
        rivals = alternatives(means, rows, relaxed, rules.r)
        if rivals is None:
            return None
        self.policy = rivals.policy
        steps = rivals.others - rivals.policy
        between = costs(steps, -steps @ means, self.variances, rules.added)
        lead = 1.0 / (between / pulls).sum(axis=1).max() - self.threshold()
        if rules.extra:
            lowered = rows - self.shift(rivals.policy)
            lead += np.abs(lowered @ rivals.policy).sum()
            lead -= means.size * self.shift(rivals.policy)
        rows = rows - (0.0 if rules.region == INSIDE else shift)
        gamma = -(rows @ rivals.policy).max() if rules.region == PENALISED else 0.0
        return Round(rivals, lead, between, rows, gamma if gamma > NO_SLACK else 0.0)

    def threshold(self) -> float:
        """beta(t, delta), as in Appendix I or as in the released program."""
        t = self.pulls.sum()
        if self.rules.released:
            return math.log(2.0 * (1.0 + math.log(t)) / self.rules.delta)
        return math.log((1.0 + math.log(math.log(max(t, math.e)))) / self.rules.delta)

    def gains(self, current: Round) -> np.ndarray:
        """Optimistic gains of the arms against the closest confusing instance."""
        rules, pulls, t = self.rules, self.pulls, self.pulls.sum()
        means, _ = self.estimates()
        at_least = np.maximum(self.omega, 0.5 / math.sqrt(means.size**2 + t))
        worst = int(np.argmax((current.costs / at_least).sum(axis=1)))
        v = current.rivals.others[worst] - current.rivals.policy
        spread = self.variances * v / at_least
        lam = means + (rules.added - means @ v) * spread / (spread @ v)
        lam = means + np.clip(lam - means, -FARTHEST, FARTHEST)
        width = np.sqrt(2.0 * self.variances * math.log(t) / pulls)
        ends = (means - width - lam) ** 2, (means + width - lam) ** 2
        gains = np.maximum(math.log(t) / pulls, np.maximum(*ends) / (2.0 * self.variances))
        if current.gamma > 0.0 and (current.rows @ self.omega).max() > 0.0:
            broken = int(np.argmax(current.rows @ self.omega))
            d = information(self.omega, means, self.variances, current.rivals, rules.added)
            gains -= d / current.gamma * current.rows[broken]
        return gains

    def step(self, current: Round) -> "Step":
        """The objective of AdaGrad's next move."""
        gains = self.gains(current)
        self.outer = self.outer + np.outer(gains, gains)
        squares = self.outer if self.rules.full_matrix else np.diag(np.diag(self.outer))
        values, vectors = np.linalg.eigh(squares)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return Step(self.omega, self.rules.rate * gains, root, self.allowed(current))

    def allowed(self, current: Round) -> np.ndarray:
        """(d or 0, K) rows of the constraints on the game's allocations."""
        free = current.gamma > 0.0 or self.rules.full_matrix
        return current.rows[:0] if free else current.rows

    def plays(self) -> bool:
        """Whether the game moves: its first allocation is uniform."""
        return self.rules.source == GAME and self.pulls.sum() > self.pulls.size

    def lags(self, omega: np.ndarray) -> np.ndarray:
        """(K,) sum of floored allocations, with this one, minus pulls: the largest is pulled."""
        self.omega = omega.copy()
        floor = 0.5 / math.sqrt(omega.size**2 + self.pulls.sum())
        self.tracked = self.tracked + floored(omega, floor)
        return self.tracked - self.pulls


def floored(omega: np.ndarray, floor: float) -> np.ndarray:
    """The nearest point of the simplex with a floor, by bisection on what all entries give up."""
    low, high = omega.min() - 1.0, omega.max()
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (
            (middle, high) if np.maximum(omega - middle, floor).sum() > 1.0 else (low, middle)
        )
    return np.maximum(omega - low, floor)
