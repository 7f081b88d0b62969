"""BAICS as a problem of core/pure_exploration: an arm is a pair of arm and subpopulation.

Pieces are the kinds of alternatives of alternatives.py; means are in units of sigma.
"""

import math
from typing import NamedTuple

import numpy as np

from bestarm.baics.alternatives import (
    NO_ARM,
    Problem,
    alternative_cost,
    best_feasible_arm,
)
from bestarm.baics.problem import Instance
from bestarm.common.pure_exploration import compiled
from bestarm.core.compile import inlined, jit, lean
from bestarm.core.pure_exploration.problem import (
    best_answer,
    displace,
    implements,
    make_work,
    mixing_cost,
    mixture_cost,
    pieces,
    report,
    unrelated_arms,
)
from bestarm.core.pure_exploration.steps import Rules, make_rules


class Subpopulations(NamedTuple):
    """The best arm that is feasible on every subpopulation, or NO_ARM."""

    variances: np.ndarray  # (K L,) all 1
    explored: np.ndarray  # (K L,) all pairs, arm by arm
    blank: np.ndarray  # (1,)
    n_arms: int  # K
    definitions: Problem


class Work(NamedTuple):
    """Buffers."""

    weights: np.ndarray  # (K L,)
    moved: np.ndarray  # (2, L)


def subpopulations(n_arms: int, definitions: Problem) -> Subpopulations:
    """The problem of `n_arms` arms with these definitions of quality and feasibility."""
    n = n_arms * definitions.weights.size
    return Subpopulations(np.ones(n), np.arange(n), np.full(1, NO_ARM), n_arms, definitions)


def problem_and_means(instance: Instance) -> tuple[Subpopulations, np.ndarray]:
    """The problem of an instance, and its (K L,) means in units of sigma."""
    means = instance.standard_means
    return subpopulations(len(means), instance.problem), means.ravel()


unrelated_arms(Subpopulations)


@implements(make_work, Subpopulations)
@jit
def _make_work(problem: Subpopulations) -> Work:
    groups = problem.definitions.weights.size
    return Work(np.zeros(problem.variances.size), np.zeros((2, groups)))


@implements(pieces, Subpopulations)
@lean
def _pieces(problem: Subpopulations) -> int:
    return problem.definitions.constrained + problem.n_arms


@inlined
def _table(problem: Subpopulations, flat: np.ndarray) -> np.ndarray:
    """(K L,) numbers as (K, L)."""
    return flat.reshape((problem.n_arms, problem.definitions.weights.size))


@implements(best_answer, Subpopulations)
@lean
def _best_answer(problem: Subpopulations, means: np.ndarray) -> int:
    return best_feasible_arm(_table(problem, means), problem.definitions)


@implements(report, Subpopulations)
@lean
def _report(problem: Subpopulations, answer: int, out: np.ndarray) -> None:
    out[0] = answer


@implements(displace, Subpopulations)
@lean
def _displace(
    problem: Subpopulations, work: Work, i: int, answer: int, means: np.ndarray, shift: np.ndarray
) -> float:
    mu, w, moved = _table(problem, means), _table(problem, work.weights), work.moved
    cost = alternative_cost(i, w, mu, problem.definitions, answer, moved)
    if cost == np.inf:
        return np.inf
    delta, k = _table(problem, shift), i - problem.definitions.constrained
    shift[:] = 0.0
    if k < 0:
        delta[answer, i] = mu[answer, i]
    elif answer == NO_ARM:
        for l in range(problem.definitions.constrained):
            delta[k, l] = min(mu[k, l], 0.0)
    else:
        for l in range(moved.shape[1]):
            delta[answer, l], delta[k, l] = moved[0, l], moved[1, l]
    return 0.5 * cost


@implements(mixing_cost, Subpopulations)
@lean
def _mixing_cost(
    problem: Subpopulations, work: Work, i: int, answer: int, pulls: np.ndarray
) -> float:
    """One piece for each of K wrong answers, as in e_values.py; of the pairs that may differ."""
    counts, constrained = _table(problem, pulls), problem.definitions.constrained
    k, total = i - constrained, math.log(problem.n_arms)
    if k < 0:
        return total + mixture_cost(counts[answer, i])
    for l in range(counts.shape[1]):
        if answer != NO_ARM:
            total += mixture_cost(counts[answer, l])
        if answer != NO_ARM or l < constrained:
            total += mixture_cost(counts[k, l])
    return total


def _rules(n_arms: int, weights: list[float], delta: float, constrained: int) -> Rules:
    return make_rules(subpopulations(n_arms, Problem(np.array(weights), constrained)), delta)


(
    TrackAndStop, FrankWolfe, TopTwo, Game, DTrackAndStop, HalfTopTwo, LearnersGame,
) = compiled(_rules)  # fmt: skip
