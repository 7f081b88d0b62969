"""The complexity of an instance: H_LB, the optimal designs, and the paper's bounds."""

import math

import numpy as np
from scipy.optimize import linprog

from bestarm.core.inputs import Input
from bestarm.linear.confidence import Width, radius
from bestarm.linear.designs import optimal_design

#: M* takes one linear program per pair of arms; it is computed up to this many arms.
MOST_ARMS = 12


class Complexity(Input):
    """Complexity measures of an instance in units of its noise; designs are shares by arm."""

    h_lb: float  # Eq. (6)
    oracle_design: list[float]
    g_design: list[float]
    g_value: float  # max_x ||x||^2 of the G-optimal design: d (Kiefer & Wolfowitz)
    xy_design: list[float]
    xy_value: float  # max_y ||y||^2 of the XY-optimal design
    lower: float  # Lemma 2 as derived here: max_y (||y|| / (L gap_y))^2, L the longest arm
    printed_lower: float  # Lemma 2 as printed: max_y ||y||^2 / (L min gap^2)
    upper: float  # Lemma 2: 4 d / min gap^2
    cone_scale: float | None  # see `cone_scale`; None if infinite, or with more than MOST_ARMS arms


def complexity(arms: np.ndarray, means: np.ndarray) -> Complexity:
    """The complexity of arms (K, d) with means (K,), both in units of the noise."""
    best = int(np.argmax(means))
    gaps = np.delete(means[best] - means, best)
    towards = arms[best] - np.delete(arms, best, axis=0)
    first, second = np.triu_indices(len(arms), 1)
    oracle = optimal_design(arms, towards / gaps[:, None])
    g = optimal_design(arms, arms)
    xy = optimal_design(arms, arms[first] - arms[second])
    longest = float(np.linalg.norm(arms, axis=1).max())
    sizes = (towards**2).sum(axis=1)
    few = len(arms) <= MOST_ARMS
    scale = cone_scale(arms, means, xy.weights) if few else math.inf
    return Complexity(
        h_lb=oracle.value,
        oracle_design=oracle.weights.tolist(),
        g_design=g.weights.tolist(),
        g_value=g.value,
        xy_design=xy.weights.tolist(),
        xy_value=xy.value,
        lower=float((sizes / gaps**2).max()) / longest**2,
        printed_lower=float(sizes.max()) / (longest * float(gaps.min()) ** 2),
        upper=4.0 * arms.shape[1] / float(gaps.min()) ** 2,
        cone_scale=scale if math.isfinite(scale) else None,
    )


def cone_scale(arms: np.ndarray, means: np.ndarray, design: np.ndarray) -> float:
    """The least s at which S* of Eq. (3) meets the border between two suboptimal arms' cones.

        S*(s) = {theta : y . (theta* - theta) <= s ||y|| for all y = x* - x},

    ||y|| in the norm of Lambda^-1 of the XY-optimal design. After n pulls in its proportions s is
    C(n) / sqrt(n), so M* of Eq. (19) is the first n with C(n) / sqrt(n) below this. The border of
    x and x' is {x . theta = x' . theta >= the others'}; the least s of a pair is a linear program
    in (theta - theta*, s). Infinite with two arms.
    """
    best = int(np.argmax(means))
    others = np.delete(np.arange(len(arms)), best)
    inverse = np.linalg.pinv(arms.T @ (design[:, None] * arms), hermitian=True)
    towards = arms[best] - arms[others]
    radius = np.sqrt(np.einsum("ij,jk,ik->i", towards, inverse, towards))
    d = arms.shape[1]
    cost = np.append(np.zeros(d), 1.0)
    inside = np.column_stack([-towards, -radius])  # y . (theta* - theta) <= s ||y||
    least = math.inf
    for i, a in enumerate(others):
        for b in others[i + 1 :]:
            above = np.delete(np.arange(len(arms)), [a, b])
            border = np.append(arms[a] - arms[b], 0.0)[None]
            # x_c . theta <= x_a . theta, theta = theta* + move
            higher = np.column_stack([arms[above] - arms[a], np.zeros(above.size)])
            result = linprog(
                cost,
                A_ub=np.vstack([inside, higher]),
                b_ub=np.append(np.zeros(len(others)), means[a] - means[above]),
                A_eq=border,
                b_eq=[means[b] - means[a]],
                bounds=[(None, None)] * d + [(0, None)],
                method="highs",
            )
            if result.status == 0 and result.fun is not None:
                least = min(least, result.fun)
    return least


def pulls_until(hardness: float, width: Width) -> float:
    """The least n >= hardness C(n)^2: N* of Eq. (7) for H_LB, M* for cone_scale^-2."""
    n = 1.0
    for _ in range(100):
        before, n = n, max(hardness * radius(width, n) ** 2, 1.0)
        if abs(n - before) <= 1e-12 * n:
            break
    return n
