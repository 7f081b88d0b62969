"""What a run is made of: the five steps of core/strategy.py."""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import jit


class Rules(NamedTuple):
    budget: int  # pulls of both arms together; of an odd number one is left over


class State(NamedTuple):
    pulls: np.ndarray  # (2,)
    sums: np.ndarray  # (2,) of rewards


class World(NamedTuple):
    means: np.ndarray  # (2,)


@jit
def start(rules: Rules) -> State:
    """Nothing is pulled yet."""
    return State(np.zeros(2), np.zeros(2))


@jit
def done(rules: Rules, state: State) -> bool:
    """Whether the budget is spent, on both arms alike."""
    return state.pulls[0] + state.pulls[1] >= 2 * (rules.budget // 2)


@jit
def choose(rules: Rules, state: State, coins) -> int:
    """The arm with fewer pulls; ties go to the first."""
    return 1 if state.pulls[1] < state.pulls[0] else 0


@jit
def observe(rules: Rules, state: State, arm: int, reward: float) -> None:
    """Record a reward."""
    state.pulls[arm] += 1.0
    state.sums[arm] += reward


@jit
def pull(world: World, state: State, arm: int, environment) -> float:
    """A Gaussian reward."""
    return world.means[arm] + environment.standard_normal()
