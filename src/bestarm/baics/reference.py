"""Slow and obvious versions of the BAICS kernels: oracles for tests, never used in sampling."""

import itertools

import cvxpy as cp
import numpy as np


def solve(problem: cp.Problem) -> float:
    """The optimal value. Raises RuntimeError unless the solver reports an optimum."""
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-9, tol_gap_abs=1e-11, tol_feas=1e-9)
    if problem.status != cp.OPTIMAL:
        raise RuntimeError(f"the reference solver ended with status {problem.status}")
    return float(problem.value)


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


def characteristic_time(means: np.ndarray, q: np.ndarray, constrained: int) -> float:
    """T*, Eqs. (7) and (8), as a convex program with each inner minimum dualised.

        T*/2 = min sum(x)  s.t.  x >= 0 and every alternative costs at least 1 at weights x.

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
    return 2.0 * solve(cp.Problem(cp.Minimize(cp.sum(x)), rules))


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


def alternatives(w: np.ndarray, means: np.ndarray, q: np.ndarray, constrained: int, b: int | None):
    """Every kind of alternative as (cost, supergradient), in the kernel's order; w positive."""
    found = []
    if b is None:
        for k, row in enumerate(means):
            gradient = np.zeros(means.shape)
            gradient[k, :constrained] = np.minimum(row[:constrained], 0.0) ** 2
            found.append(((w * gradient).sum(), gradient))
        return found
    for l in range(constrained):
        gradient = np.zeros(means.shape)
        gradient[b, l] = means[b, l] ** 2
        found.append(((w * gradient).sum(), gradient))
    for k in range(len(means)):
        if k != b:
            _, shift = swap_by_enumeration(w, means, q, constrained, b, k)
            gradient = np.zeros(means.shape)
            gradient[[b, k]] = shift**2
            found.append(((w * gradient).sum(), gradient))
    return found


def run_ta_scs(
    truth: np.ndarray,
    q: np.ndarray,
    constrained: int,
    delta: float,
    cap: int,
    step: float,
    environment: np.random.Generator,
) -> tuple[np.ndarray, int | None]:
    """T-a-SCS as Section 4 tells it, one supergradient step a pull.

    For a step so small that weights stay positive; no shortcut, and nothing is kept between rounds
    that could be computed anew.

    Returns:
        The pulls of each (arm, subpopulation), and the answer (counted from 0) or None.
    """
    n_arms, n_groups = truth.shape
    n = truth.size
    rewards = [[[] for _ in range(n_groups)] for _ in range(n_arms)]
    w = np.full(truth.shape, 1.0 / n)
    played = [np.full(truth.shape, 1.0 / n)] * (5 * n)
    order = list(np.ndindex(truth.shape)) * 5
    t = 0
    while True:
        pulls = np.array([[len(r) for r in row] for row in rewards], dtype=float)
        if t >= 5 * n:
            means = np.array([[np.mean(r) for r in row] for row in rewards])
            b = best_feasible_arm(means, q, constrained)
            z = 0.5 * min(cost for cost, _ in alternatives(pulls, means, q, constrained, b))
            if z > np.log((1 + np.log(t)) / delta) or t >= cap:
                return pulls, b
            if b is None:
                target = optimal_when_none_is_feasible(means, constrained)
            else:
                _, gradient = min(alternatives(w, means, q, constrained, b), key=lambda c: c[0])
                w = project((w + step * gradient).ravel()).reshape(w.shape)
                target = w
            played.append(project(target.ravel(), 0.5 / np.sqrt(n**2 + t)).reshape(w.shape))
        k, l = order[t] if t < 5 * n else np.unravel_index((sum(played) - pulls).argmax(), w.shape)
        rewards[k][l].append(truth[k, l] + environment.standard_normal())
        t += 1


def optimal_when_none_is_feasible(means: np.ndarray, constrained: int) -> np.ndarray:
    """The closed form under Eq. (7)."""
    w = np.zeros(means.shape)
    for k, row in enumerate(means):
        l = int(row[:constrained].argmin())
        w[k, l] = 1.0 / row[l] ** 2
    return w / w.sum()
