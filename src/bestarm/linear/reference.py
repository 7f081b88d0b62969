"""Slow and obvious versions of the linear kernels: test oracles, never used in simulations."""

import math
from collections.abc import Callable
from typing import Any, cast

import cvxpy as cp
import numpy as np

TWO_STEP = 0
#: Scores closer than this, relatively, tie.
TIE = 1e-9


def design_value(arms: np.ndarray, directions: np.ndarray) -> float:
    """min over designs of max_y y^T Lambda^-1 y, by a semidefinite program.

    t - y^T Lambda^-1 y >= 0 where [[Lambda, y], [y^T, t]] is positive semidefinite (Schur). The
    coordinates are transformed first, which changes no value.
    """
    root = np.linalg.inv(np.linalg.cholesky(arms.T @ arms / len(arms))).T
    arms, directions = arms @ root, directions @ root
    size = np.linalg.norm(directions, axis=1).max()
    weights, top = cp.Variable(len(arms), nonneg=True), cp.Variable()
    matrix = sum(weights[a] * np.outer(x, x) for a, x in enumerate(arms))
    worst: list[Any] = [cp.matrix_frac(y / size, matrix) <= top for y in directions]
    worst.append(cp.sum(weights) == 1)
    problem = cp.Problem(cp.Minimize(top), worst)
    return size**2 * _solved(problem)


def single_value(arms: np.ndarray, direction: np.ndarray) -> float:
    """min over designs of y^T Lambda^-1 y for one y: (min { |a|_1 : sum_x a_x x = y })^2, Elfving.

    By Cauchy and Schwarz y^T Lambda^-1 y = min { sum_x a_x^2 / lambda_x : sum_x a_x x = y }, which
    is least at lambda in proportion to |a|.
    """
    shares = cp.Variable(len(arms))
    problem = cp.Problem(cp.Minimize(cp.norm1(shares)), [arms.T @ shares == direction])
    return _solved(problem) ** 2


def largest_log_det(arms: np.ndarray) -> float:
    """max over designs of log det Lambda: the D-optimal design's."""
    weights = cp.Variable(len(arms), nonneg=True)
    matrix = sum(weights[a] * np.outer(x, x) for a, x in enumerate(arms))
    whole: list[Any] = [cp.sum(weights) == 1]
    return _solved(cp.Problem(cp.Maximize(cp.log_det(matrix)), whole))


def cone_scale(arms: np.ndarray, theta: np.ndarray, design: np.ndarray) -> float:
    """The least s for which a theta' of S*(s), Eq. (3), has two suboptimal arms as its best."""
    best = int(np.argmax(arms @ theta))
    inverse = np.linalg.inv(arms.T @ (design[:, None] * arms))
    towards = [arms[best] - x for a, x in enumerate(arms) if a != best]
    least = math.inf
    for a in range(len(arms)):
        for b in range(a):
            if best not in (a, b):
                moved = cp.Variable(theta.size)
                s = [y @ (theta - moved) / math.sqrt(y @ inverse @ y) for y in towards]
                border = [arms[a] @ moved == arms[b] @ moved, arms @ moved <= arms[a] @ moved]
                problem = cp.Problem(cp.Minimize(cp.max(cp.hstack(s))), border)
                least = min(least, _solved(problem))
    return least


def _solved(problem: cp.Problem) -> float:
    """The optimum; infinite if nothing is feasible."""
    problem.solve(solver=cp.CLARABEL)
    if problem.status not in (cp.OPTIMAL, cp.INFEASIBLE):
        raise RuntimeError(f"the reference solver ended with: {problem.status}")
    return cast(float, problem.value)


def design_matrix(arms: np.ndarray, counts: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """A = ridge I + sum_x T_x x x^T."""
    return ridge * np.eye(arms.shape[1]) + arms.T @ (counts[:, None] * arms)


def estimate(arms, counts, sums, ridge: float = 0.0) -> np.ndarray:
    """theta_hat = A^-1 b."""
    return np.linalg.solve(design_matrix(arms, counts, ridge), arms.T @ sums)


def squared(inverse: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """y^T A^-1 y of every row y."""
    return np.array([y @ inverse @ y for y in directions])


def differences(arms: np.ndarray, active: np.ndarray) -> np.ndarray:
    """x - x' of every two active arms."""
    left = arms[active]
    return np.array([x - left[b] for a, x in enumerate(left) for b in range(a + 1, len(left))])


def choose(a: np.ndarray, arms, directions, weights, counts, rule: int) -> int:
    """The next arm under a greedy rule, by inverting A + x x^T for every x; ties: least pulled."""
    after = np.array([squared(np.linalg.inv(a + np.outer(x, x)), directions) for x in arms])
    if rule == TWO_STEP:
        scores = after[:, np.argmax(weights * squared(np.linalg.inv(a), directions))]
    else:
        scores = (weights * after).max(axis=1)
    tied = np.flatnonzero(scores <= scores.min() * (1.0 + TIE))
    return int(tied[np.argmin(counts[tied])])


def run_static(
    arms: np.ndarray,
    means: np.ndarray,
    radius: Callable[[int], float],
    sequence: np.ndarray,
    n_initial: int,
    rng: np.random.Generator,
    every: int = 1,
) -> tuple[int, bool, np.ndarray]:
    """Pull along a sequence; Eq. (11) is tested as printed after each pull from n_initial on.

    With `every` only after multiples of so many pulls.

    Returns:
        Pulls, whether the rule held, and (K,) pulls by arm.
    """
    counts, sums = np.zeros(len(arms)), np.zeros(len(arms))
    for n, arm in enumerate(sequence, 1):
        counts[arm] += 1
        sums[arm] += means[arm] + rng.standard_normal()
        if n >= n_initial and n % every == 0 and one_dominates(arms, counts, sums, radius(n)):
            return n, True, counts
    return len(sequence), False, counts


def one_dominates(arms, counts: np.ndarray, sums: np.ndarray, radius_n: float) -> bool:
    """Eq. (11), as printed."""
    theta = estimate(arms, counts, sums)
    inverse = np.linalg.inv(design_matrix(arms, counts))
    for x in arms:
        y = x - arms[(arms != x).any(axis=1)]
        if (radius_n * np.sqrt(squared(inverse, y)) <= y @ theta).all():
            return True
    return False


def is_tested_permille(n: int) -> bool:
    """Whether n has at most eleven binary digits but for zeros at its end."""
    return len(f"{n:b}".rstrip("0")) <= 11


def draw_sums(means: np.ndarray, pulls: np.ndarray, rng) -> np.ndarray:
    """(K,) sums of the rewards of some pulls, one Gaussian per arm that is pulled."""
    sums = np.zeros(len(means))
    for a, times in enumerate(pulls):
        if times > 0:
            sums[a] = times * means[a] + math.sqrt(times) * rng.standard_normal()
    return sums


def run_static_permille(
    arms, means, radius: Callable[[int], float], sequence: np.ndarray, n_initial: int, rng
) -> tuple[int, bool, np.ndarray]:
    """`run_static` with Eq. (11) tested every per mille, and sums of rewards drawn for a test."""
    counts, sums, since = np.zeros(len(arms)), np.zeros(len(arms)), np.zeros(len(arms))
    for n, arm in enumerate(sequence, 1):
        since[arm] += 1
        if is_tested_permille(n) or n == len(sequence):
            sums += draw_sums(means, since, rng)
            counts += since
            since[:] = 0
            tested = n >= n_initial and is_tested_permille(n)
            if tested and one_dominates(arms, counts, sums, radius(n)):
                return n, True, counts
    return len(sequence), False, counts


def true_gaps_hold(arms, means, radius: Callable[[int], float], sequence, n_initial: int) -> int:
    """The first n from `n_initial` on after which Eq. (4) holds; 0 if none."""
    counts, best = np.zeros(len(arms)), int(np.argmax(means))
    towards, gaps = arms[best] - np.delete(arms, best, axis=0), means[best] - np.delete(means, best)
    for n, arm in enumerate(sequence, 1):
        counts[arm] += 1
        if n >= n_initial:
            inverse = np.linalg.inv(design_matrix(arms, counts))
            if (radius(n) * np.sqrt(squared(inverse, towards)) <= gaps).all():
                return n
    return 0


def dominated(arms, inverse: np.ndarray, theta: np.ndarray, radius_n: float) -> np.ndarray:
    """(K,) whether another arm dominates an arm, Eq. (16)."""
    beaten = np.zeros(len(arms), bool)
    for a, x in enumerate(arms):
        y = np.delete(arms, a, axis=0) - x
        beaten[a] = (radius_n * np.sqrt(squared(inverse, y)) <= y @ theta).any()
    return beaten


def fully_adaptive_arm(
    n: int, arms: np.ndarray, counts: np.ndarray, beaten: np.ndarray, rule: int, ridge: float
) -> int:
    """The n-th arm of Fully-Adaptive: each once, then the greedy rule's of those not beaten."""
    if n <= len(arms):
        return n - 1
    y = differences(arms, ~beaten)
    return choose(design_matrix(arms, counts, ridge), arms, y, 1.0, counts, rule)


def run_fully_adaptive(
    arms,
    means,
    radius: Callable[[int], float],
    rule: int,
    ridge: float,
    cap: int,
    rng,
    every: int = 1,
    theta: np.ndarray | None = None,
) -> tuple[int, bool, np.ndarray]:
    """One pull of every arm, then the greedy rule on the arms that are not dominated.

    These are looked for after multiples of `every` pulls; if `theta` is given, by it and not by
    estimates.

    Returns:
        Pulls, whether one arm was left, and (K,) pulls by arm.
    """
    n_arms = len(arms)
    counts, sums, beaten = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms, bool)
    for n in range(1, cap + 1):
        arm = fully_adaptive_arm(n, arms, counts, beaten, rule, ridge)
        counts[arm] += 1
        sums[arm] += means[arm] + rng.standard_normal()
        if n >= n_arms and n % every == 0:
            inverse = np.linalg.inv(design_matrix(arms, counts, ridge))
            fitted = estimate(arms, counts, sums, ridge) if theta is None else theta
            beaten = dominated(arms, inverse, fitted, radius(n))
            if (~beaten).sum() == 1:
                return n, True, counts
    return cap, False, counts


def run_fully_adaptive_permille(
    arms, means, radius: Callable[[int], float], rule: int, ridge: float, cap: int, rng
) -> tuple[int, bool, np.ndarray]:
    """`run_fully_adaptive` with arms eliminated, and sums of rewards drawn, every per mille.

    The first pulls, of every arm, are drawn one by one.
    """
    n_arms = len(arms)
    counts, sums, beaten = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms, bool)
    since = np.zeros(n_arms)
    for n in range(1, cap + 1):
        arm = fully_adaptive_arm(n, arms, counts, beaten, rule, ridge)
        counts[arm] += 1
        since[arm] += 1
        if n < n_arms or is_tested_permille(n) or n == cap:
            sums += draw_sums(means, since, rng)
            since[:] = 0
        if n >= n_arms and is_tested_permille(n):
            inverse = np.linalg.inv(design_matrix(arms, counts, ridge))
            beaten = dominated(arms, inverse, estimate(arms, counts, sums, ridge), radius(n))
            if (~beaten).sum() == 1:
                return n, True, counts
    return cap, False, counts


def run_lingape(
    arms, means, delta: float, norm: float, ridge: float, cap: int, rng
) -> tuple[int, bool, np.ndarray]:
    """Algorithm 1 of Xu, Honda & Sugiyama with epsilon = 0 and the greedy selection.

    Returns:
        Pulls, whether the stopping rule held, and (K,) pulls by arm.
    """
    n_arms, d = arms.shape
    counts, sums = np.zeros(n_arms), np.zeros(n_arms)
    i, j = 0, 0
    for n in range(1, cap + 1):
        if n <= n_arms:
            arm = n - 1
        else:
            y, a = arms[i] - arms[j], design_matrix(arms, counts, ridge)
            arm = np.argmin([y @ np.linalg.inv(a + np.outer(x, x)) @ y for x in arms])
        counts[arm] += 1
        sums[arm] += means[arm] + rng.standard_normal()
        if n >= n_arms:
            a, theta = design_matrix(arms, counts, ridge), estimate(arms, counts, sums, ridge)
            ratio = np.linalg.det(a) / ridge**d
            radius_n = math.sqrt(2.0 * math.log(math.sqrt(ratio) / delta)) + math.sqrt(ridge) * norm
            i = int(np.argmax(arms @ theta))
            bounds = (arms - arms[i]) @ theta
            bounds += radius_n * np.sqrt(squared(np.linalg.inv(a), arms - arms[i]))
            bounds[i] = -math.inf
            j = int(np.argmax(bounds))
            if bounds[j] <= 0.0:
                return n, True, counts
    return cap, False, counts


def fill_phase(arms, first, active, rule: int, divide: bool, target: float, every: int = 1):
    """Pull until max y^T A^-1 y between active arms, over n if `divide`, is at most `target`.

    It is looked at after multiples of `every` pulls.

    Returns:
        (K,) pulls, and the maximum that was reached.
    """
    counts, y = np.zeros(len(arms)), differences(arms, active)
    counts[first] = 1
    while True:
        a = design_matrix(arms, counts)
        reached = squared(np.linalg.inv(a), y).max() / (counts.sum() if divide else 1.0)
        if counts.sum() % every == 0 and reached <= target * (1.0 + TIE):
            return counts, reached
        counts[choose(a, arms, y, 1.0, counts, rule)] += 1
