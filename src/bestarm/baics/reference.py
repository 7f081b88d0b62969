"""Slow and obvious versions of the BAICS kernels: test oracles, never used in simulations."""

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, cast

import cvxpy as cp
import numpy as np


def solve(problem: cp.Problem) -> float:
    """The optimal value. Raises RuntimeError unless the solver reports an optimum."""
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-9, tol_gap_abs=1e-11, tol_feas=1e-9)
    if problem.status != cp.OPTIMAL:
        raise RuntimeError(f"the reference solver ended with status {problem.status}")
    return cast(float, problem.value)


def best_feasible_arm(means: np.ndarray, q: np.ndarray, constrained: int) -> int | None:
    """Eq. (2), read off the definition; None when no arm is feasible."""
    feasible = [k for k, row in enumerate(means) if (row[:constrained] >= 0).all()]
    return max(feasible, key=lambda k: means[k] @ q, default=None)


def swap_cost(w: np.ndarray, means: np.ndarray, q: np.ndarray, constrained: int, b: int, k: int):
    """The inner quadratic program of f_opt in cvxpy: its value, and mu - lambda of arms b and k."""
    lam_b, lam_k = cp.Variable(q.size), cp.Variable(q.size)
    cost = w[b] @ cp.square(means[b] - lam_b) + w[k] @ cp.square(means[k] - lam_k)
    bounds = [lam_k[:constrained] >= 0] if constrained else []
    value = solve(cp.Problem(cp.Minimize(cost), [q @ lam_k >= q @ lam_b, *bounds]))
    return value, np.array([means[b] - lam_b.value, means[k] - lam_k.value])


def swap_by_enumeration(
    w: np.ndarray, means: np.ndarray, q: np.ndarray, constrained: int, b: int, k: int
) -> tuple[float, np.ndarray]:
    """The same program for positive weights, by trying every set of coordinates held at 0.

    With that set fixed and the quality constraint either slack or tight, the minimiser is a
    projection in closed form; the best feasible one over all sets is the solution.
    """
    best = (np.inf, np.zeros((2, q.size)))
    for held in itertools.product([False, True], repeat=constrained):
        at_zero = np.array([*held, *[False] * (q.size - constrained)])
        for tight in (False, True):
            free_k = np.where(at_zero, 0.0, means[k])
            deficit = q @ means[b] - q @ free_k
            speed_b, speed_k = q / w[b], np.where(at_zero, 0.0, q / w[k])
            theta = deficit / (q @ (speed_b + speed_k)) if tight else 0.0
            lam_b, lam_k = means[b] - theta * speed_b, free_k + theta * speed_k
            slack = q @ lam_k - q @ lam_b
            if slack < -1e-12 or (lam_k[:constrained] < -1e-12).any():
                continue
            shift = np.array([means[b] - lam_b, means[k] - lam_k])
            best = min(best, (float((w[[b, k]] * shift**2).sum()), shift), key=lambda pair: pair[0])
    return best


def characteristic_time(means: np.ndarray, q: np.ndarray, constrained: int, sigma: Any = 1.0):
    """T*, Eqs. (7) and (8), as a convex program with each inner minimum dualised.

        T*/2 = min sum(x sigma^2)  s.t.  x >= 0 and every alternative costs at least 1 at weights x,

    means being in the rewards' own unit, and x being pulls over the variances of their rewards.

    The cost of a swap is at least 1 when some nu, s >= 0 make its dual function so (s_l = 0 for
    l >= M):
        nu (mu_b - mu_k) - s . mu_k
            - sum_l (nu q_l)^2 / (4 x_bl) - sum_l (nu q_l + s_l)^2 / (4 x_kl).
    """
    x = cp.Variable(means.shape, nonneg=True)
    b = best_feasible_arm(means, q, constrained)
    rules = []
    if b is None:
        for k, row in enumerate(means):
            bad = [l for l in range(constrained) if row[l] < 0]
            rules.append(sum(x[k, l] * row[l] ** 2 for l in bad) >= 1)
    else:
        rules += [x[b, l] * means[b, l] ** 2 >= 1 for l in range(constrained)]
        for k in range(means.shape[0]):
            if k != b:
                rules += _swap_costs_one(x, means, q, constrained, b, k)
    pulls = cp.sum(cp.multiply(x, np.broadcast_to(sigma, means.shape) ** 2))
    return 2.0 * solve(cp.Problem(cp.Minimize(pulls), rules))


def _swap_costs_one(x, means, q, constrained, b, k):
    nu, s = cp.Variable(nonneg=True), cp.Variable(q.size, nonneg=True)
    dual = nu * (q @ means[b] - q @ means[k]) - s @ means[k]
    for l in range(q.size):
        if q[l] > 0:
            dual -= cp.quad_over_lin(nu * q[l], x[b, l]) / 4
        if q[l] > 0 or l < constrained:
            dual -= cp.quad_over_lin(nu * q[l] + s[l], x[k, l]) / 4
    return [dual >= 1, s[constrained:] == 0] if constrained < q.size else [dual >= 1]


def project(point: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Euclidean projection on the simplex with a floor, by bisection on the common shift."""
    low, high = point.min() - 1.0, point.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(point - middle, floor).sum() > 1 else (low, middle)
    return np.maximum(point - low, floor)


#: Stands for a weight that tends to 0, and the cost below which alternatives tie there.
TINY, TIE = 1e-10, 1e-12


def alternatives(w: np.ndarray, means: np.ndarray, q: np.ndarray, constrained: int, b: int | None):
    """Every kind of alternative as (cost, supergradient), in the kernel's order.

    Where weights are 0 and the nearest swap is not unique, this is the limit for positive weights.
    """
    costs = []
    if b is None:
        for k, row in enumerate(means):
            gradient = np.zeros(means.shape)
            gradient[k, :constrained] = np.minimum(row[:constrained], 0.0) ** 2
            costs.append(((w * gradient).sum(), gradient))
        return costs
    for l in range(constrained):
        gradient = np.zeros(means.shape)
        gradient[b, l] = means[b, l] ** 2
        costs.append(((w * gradient).sum(), gradient))
    for k in range(len(means)):
        if k != b:
            _, shift = swap_by_enumeration(np.maximum(w, TINY), means, q, constrained, b, k)
            gradient = np.zeros(means.shape)
            gradient[[b, k]] = shift**2
            costs.append(((w * gradient).sum(), gradient))
    return costs


class Replay(NamedTuple):
    """The outcome that the paper's rules give for a run's pulls and rewards."""

    stopped: int  # pulls
    answer: int | None
    worst: float  # how far a pull was from the sampling rule: largest lag minus the pull's lag


def replay(
    strategy: str,
    pairs: Sequence[tuple[int, int]],
    rewards: Sequence[float],
    shape: tuple[int, int],
    problem: tuple[np.ndarray, int],
    delta: float,
    coins: np.random.Generator | None,
    step: float = 1.0,
) -> Replay:
    """Replay a run of T-a-SCS, T-a-S or Uniform by the text of Sections 4 and 5.

    There are no shortcuts, and everything is recomputed from the data in every round. The replay
    makes the run's own pulls, because lags may tie up to rounding, and records how far each was
    from the largest lag.

    Args:
        strategy: its name.
        pairs, rewards: the pulled (arm, subpopulation) pairs, and their rewards.
        shape: (K, L).
        problem: q, and how many subpopulations are constrained.
        delta: maximum probability of a wrong answer.
        coins: of the strategy; with None ties of T-a-SCS go to the first alternative.
        step: alpha of T-a-SCS.
    """
    (n_arms, n_groups), (q, constrained) = shape, problem
    seen: list[list[list[float]]] = [[[] for _ in range(n_groups)] for _ in range(n_arms)]
    order = list(np.ndindex(shape)) * 5
    by_pair = strategy == "T-a-SCS"
    n = n_arms * n_groups if by_pair else n_arms
    w = np.full(shape, 1.0 / (n_arms * n_groups))
    played = [np.full(n, 1.0 / n)] * len(order)
    worst = 0.0
    for t in range(len(pairs) + 1):
        pulls = np.array([[len(r) for r in row] for row in seen], dtype=float)
        if t < len(order):
            expected = order[t]
            worst = max(worst, float(expected != tuple(pairs[t])))
        else:
            means = np.array([[np.mean(r) for r in row] for row in seen])
            b = best_feasible_arm(means, q, constrained)
            if t == len(pairs) or glr(pulls, means, q, constrained, b) > threshold(t, delta):
                return Replay(t, b, worst)
            k, l = pairs[t]
            if strategy == "Uniform":
                drawn = int(n_arms * coins.random()) if coins is not None else 0
                worst = max(worst, float(k != min(drawn, n_arms - 1)))
            else:
                if by_pair and b is not None:
                    costs = alternatives(w, means, q, constrained, b)
                    w = project((w + step * _nearest(costs, coins)).ravel()).reshape(shape)
                    target = w.ravel()
                elif by_pair:
                    target = optimal_when_none_is_feasible(means, constrained).ravel()
                else:
                    target = plain_allocation(means @ q)
                played.append(project(target, 0.5 / np.sqrt(n**2 + t)))
                lag = sum(played) - (pulls.ravel() if by_pair else pulls.sum(axis=1))
                worst = max(worst, float(lag.max() - lag[k * n_groups + l if by_pair else k]))
            if not by_pair and coins is not None:
                worst = max(worst, float(l != drawn_group(q, coins)))
        k, l = pairs[t]
        seen[k][l].append(rewards[t])
    raise AssertionError("unreachable: the replay ends with the run's last pull")


def _nearest(costs: list[tuple[float, np.ndarray]], coins: np.random.Generator | None):
    """The supergradient of the nearest alternative; of k tied ones each with probability 1/k."""
    least = min(cost for cost, _ in costs)
    ties = [gradient for cost, gradient in costs if cost <= least + TIE]
    chosen = ties[0]
    for k, gradient in enumerate(ties[1:], 2):
        if coins is not None and coins.random() * k < 1.0:
            chosen = gradient
    return chosen


def glr(pulls: np.ndarray, means: np.ndarray, q: np.ndarray, constrained: int, b: int | None):
    """Z(t) of Eq. (10): half the least cost of an alternative."""
    return 0.5 * min(cost for cost, _ in alternatives(pulls, means, q, constrained, b))


def threshold(t: int, delta: float) -> float:
    """beta(t, delta) of Section 5."""
    return float(np.log((1 + np.log(t)) / delta))


def drawn_group(q: np.ndarray, coins: np.random.Generator) -> int:
    """A subpopulation drawn from q."""
    return min(int(np.searchsorted(np.cumsum(q), coins.random(), side="right")), q.size - 1)


def plain_allocation(qualities: np.ndarray) -> np.ndarray:
    """Garivier & Kaufmann's weights, as a convex program: T*/2 = min sum(x) with all costs >= 1.

    The cost of arm a against the best, x_a x_b / (x_a + x_b) gap^2 / 2, is at least 1 when
    1/x_a + 1/x_b <= gap^2 / 2.
    """
    best = int(qualities.argmax())
    gaps = float(qualities[best]) - np.delete(qualities, best)
    optimisation, bounds, x = _plain_problem(qualities.size, best)
    bounds.value = (gaps / gaps.min()) ** 2 / 2  # the weights have no unit
    solve(optimisation)
    costs = np.array(x.value)
    return costs / costs.sum()


@cache
def _plain_problem(n_arms: int, best: int) -> tuple[cp.Problem, cp.Parameter, cp.Variable]:
    """That program, its bounds gap^2 / 2 and its x.

    Kept, because setting it up takes cvxpy several times as long as solving it.
    """
    x, bounds = cp.Variable(n_arms, pos=True), cp.Parameter(n_arms - 1, pos=True)
    others = [a for a in range(n_arms) if a != best]
    rules: list[Any] = [
        cp.inv_pos(x[a]) + cp.inv_pos(x[best]) <= bounds[i] for i, a in enumerate(others)
    ]
    return cp.Problem(cp.Minimize(cp.sum(x)), rules), bounds, x


def optimal_when_none_is_feasible(means: np.ndarray, constrained: int) -> np.ndarray:
    """The closed form under Eq. (7)."""
    w = np.zeros(means.shape)
    for k, row in enumerate(means):
        l = int(row[:constrained].argmin())
        w[k, l] = 1.0 / row[l] ** 2
    return w / w.sum()
