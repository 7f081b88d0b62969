"""LAGEX with known limits as a problem of core/pure_exploration: the best of some policies.

The answers are the vertices of the feasible policies. A policy pi is best unless one of its
neighbours pi' is better (Carlsson, Basu, Johansson & Dubhashi 2024, Lemma 1), so these are the
pieces; with v = pi' - pi

    f(w) = (mu . v)^2 / (2 sum_a sigma_a^2 v_a^2 / w_a),      Eq. (4).
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.common.pure_exploration import compiled
from bestarm.core.compile import inlined, lean
from bestarm.core.pure_exploration.problem import (
    best_answer,
    displace,
    implements,
    mixing_cost,
    mixture_cost,
    pieces,
    report,
    unrelated_arms,
)
from bestarm.core.pure_exploration.steps import Rules, State, make_rules, observe
from bestarm.lagex.exact import vertices
from bestarm.lagex.kernel_problem import Problem
from bestarm.lagex.vertices import SAME

NO_RIVAL = -1
#: Decimal digits of a weight, so that those of limits in decimals are decimals.
DIGITS = 15


class Policies(NamedTuple):
    """The policy of highest mean reward, of some that are the vertices of a polytope."""

    variances: np.ndarray  # (K,)
    explored: np.ndarray  # (K,) all arms
    blank: np.ndarray  # (K,)
    policies: np.ndarray  # (V, K)
    rivals: np.ndarray  # (V, m) neighbours of each policy, then NO_RIVAL


def policies(variances: np.ndarray, matrix: np.ndarray, limits: np.ndarray) -> Policies:
    """The problem of the policies of the simplex with matrix @ policy <= limits.

    Vertices and neighbours are exact: rounding would lose some where rows are large, small or
    nearly dependent, and a vertex without its neighbours looks best though a better one exists.
    Vertices that differ by at most SAME are one, since no number of pulls tells them apart.

    Raises:
        ArithmeticError: no policy satisfies the limits, or too many are vertices.
    """
    graph = vertices(matrix, limits)
    if not graph.neighbours:
        raise ArithmeticError("no policy satisfies the constraints")
    points, kept, place = graph.policies.round(DIGITS), [], []
    for v, point in enumerate(points):
        same = np.flatnonzero((np.abs(points[kept] - point) <= SAME).all(axis=1))
        place.append(int(same[0]) if same.size else len(kept))
        kept += [] if same.size else [v]
    others: list[set[int]] = [set() for _ in kept]
    for v, neighbours in enumerate(graph.neighbours):
        others[place[v]] |= {place[w] for w in neighbours} - {place[v]}
    rivals = np.full((len(kept), max(1, *map(len, others))), NO_RIVAL)
    for v, neighbours in enumerate(others):
        rivals[v, : len(neighbours)] = sorted(neighbours)
    k = variances.size
    return Policies(variances.astype(float), np.arange(k), np.zeros(k), points[kept], rivals)


def problem_and_means(problem: Problem) -> tuple[Policies, np.ndarray]:
    """The problem of an instance whose limits are known, and its (K,) means."""
    return policies(problem.variances, problem.matrix, problem.limits), problem.means


unrelated_arms(Policies)


@implements(pieces, Policies)
@lean
def _pieces(problem: Policies) -> int:
    return problem.rivals.shape[1]


@implements(best_answer, Policies)
@lean
def _best_answer(problem: Policies, means: np.ndarray) -> int:
    best, highest = 0, -np.inf
    for v in range(problem.policies.shape[0]):
        value = 0.0
        for a in range(means.size):
            value += problem.policies[v, a] * means[a]
        if value > highest:
            best, highest = v, value
    return best


@implements(report, Policies)
@lean
def _report(problem: Policies, answer: int, out: np.ndarray) -> None:
    for a in range(out.size):
        out[a] = problem.policies[answer, a]


@implements(displace, Policies)
@lean
def _displace(
    problem: Policies, work, i: int, answer: int, means: np.ndarray, shift: np.ndarray
) -> float:
    rival = problem.rivals[answer, i]
    if rival == NO_RIVAL:
        return np.inf
    gap, total, free = 0.0, 0.0, 0.0
    for a in range(means.size):  # free: only arms without weight move, at no cost
        v = problem.policies[answer, a] - problem.policies[rival, a]
        shift[a] = problem.variances[a] * v
        gap += means[a] * v
        if work.weights[a] > 0.0:
            total += shift[a] * v / work.weights[a]
        else:
            free += shift[a] * v
    for a in range(means.size):
        if work.weights[a] > 0.0:
            shift[a] *= 0.0 if free > 0.0 else gap / (total * work.weights[a])
        elif free > 0.0:
            shift[a] *= gap / free
    return 0.0 if free > 0.0 else 0.5 * gap * gap / total


@implements(mixing_cost, Policies)
@lean
def _mixing_cost(problem: Policies, work, i: int, answer: int, pulls: np.ndarray) -> float:
    """One piece, to a better neighbour, for each of V - 1 wrong answers; of arms that differ."""
    rival, total = problem.rivals[answer, i], math.log(problem.policies.shape[0] - 1.0)
    for a in range(pulls.size):
        if problem.policies[answer, a] != problem.policies[rival, a]:
            total += mixture_cost(pulls[a])
    return total


@inlined
def _observe(rules: Rules, state: State, arm: int, observed: np.ndarray) -> None:
    """Record a reward; the costs are known."""
    observe(rules, state, arm, observed[0])


def _rules(n_arms: int, matrix, limits, delta: float, sigma) -> Rules:
    variances = np.broadcast_to(np.square(sigma), n_arms)
    return make_rules(policies(variances, np.array(matrix), np.array(limits)), delta)


(
    TrackAndStop, FrankWolfe, TopTwo, Game, DTrackAndStop, HalfTopTwo, LearnersGame,
) = compiled(_rules, _observe)  # fmt: skip
