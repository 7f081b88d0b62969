"""Pulls that are told together: the steps' `observe` for counts."""

from typing import Any

import numpy as np

from bestarm.bai.steps import State
from bestarm.core.pure_exploration import steps as games
from bestarm.core.pure_exploration.problem import best_answer, estimate, report


def observe_counts(state: State, pulls: np.ndarray, sums: np.ndarray) -> None:
    """Record a batch of pulls, no race being on.

    Args:
        state: changed in place.
        pulls: (K,) how many.
        sums: (K,) of their rewards.
    """
    _add(state, pulls, sums)
    tried = state.pulls > 0.0
    state.means[tried] = state.sums[tried] / state.pulls[tried]
    state.answer[0] = np.argmax(np.where(tried, state.means, -np.inf))


def observe_counts_of_game(
    rules: games.Rules, state: games.State, pulls: np.ndarray, sums: np.ndarray
) -> None:
    """The same for a strategy of `core/pure_exploration`."""
    _add(state, pulls, sums)
    if state.clock[0] >= rules.problem.explored.size:
        estimate(rules.problem, state.work, state.pulls, state.sums, state.means)
        leader = best_answer(rules.problem, state.means)
        if leader != state.leader[0]:
            state.leader[0] = leader
            report(rules.problem, leader, state.answer)


def _add(state: Any, pulls: np.ndarray, sums: np.ndarray) -> None:
    state.clock[0] += int(pulls.sum())
    state.pulls[:] += pulls
    state.sums[:] += sums
