"""Pulls that are told together: the steps' `observe` for counts; and data of other arms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestarm.bai.steps import Rules, State, start
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


def with_arms(rules: Rules, state: State, kept: Sequence[int]) -> State:
    """A state of other arms: those that are kept have their data, and new ones, behind them, none.

    Args:
        rules: for the arms that are left, and new ones.
        state: no race being on.
        kept: places of arms in the state.

    Example:
        >>> from bestarm.bai.strategies import READINGS, make_rules
        >>> reading = READINGS["KL-LUCB"]["proven"]
        >>> two, three = (make_rules("KL-LUCB", 0, k, 0.1, reading) for k in (2, 3))
        >>> state = start(two)
        >>> _add(state, np.array([5.0, 4.0]), np.array([3.0, 1.0]))
        >>> with_arms(three, state, [1]).pulls.tolist()
        [4.0, 0.0, 0.0]
    """
    new, places = start(rules), [*kept]
    for name in ("pulls", "sums", "means"):
        getattr(new, name)[: len(places)] = getattr(state, name)[places]
    new.clock[0] = int(new.pulls.sum())
    new.tracked[:] = np.maximum(new.pulls, new.tracked)
    new.answer[0] = np.argmax(np.where(new.pulls > 0.0, new.means, -np.inf))
    return new


def _add(state: Any, pulls: np.ndarray, sums: np.ndarray) -> None:
    state.clock[0] += int(pulls.sum())
    state.pulls[:] += pulls
    state.sums[:] += sums
