"""Rewards of an arm that is new: better at first, in simulations of what assumptions leave out."""

from collections.abc import Callable
from typing import Any

import numba

from bestarm.core.compile import COUNTING

#: By how many sigma the last arm is better at first, and its half-life in pulls.
BOOST, HALF_LIFE = 1.0, 500.0


def boost_after(pulls: float) -> float:
    """What novelty adds to a reward after so many pulls of all arms.

    Example:
        >>> boost_after(1000.0)
        0.25
    """
    return BOOST * 0.5 ** (pulls / HALF_LIFE)


def with_novelty(pull: Callable[..., Any], n_arms: int, n_groups: int) -> Callable[..., Any]:
    """The `pull` of the paper's strategies, with a last arm that is new."""
    kept: dict[str, Any] = {"cache": False}
    boost = numba.njit(boost_after)

    @numba.njit(**COUNTING | kept)
    def novel(world: Any, state: Any, pair: int, environment: Any) -> float:
        reward = pull(world, state, pair, environment)
        if pair // n_groups == n_arms - 1:
            reward += boost(state.clock[0])
        return reward

    return novel
