"""Sampling rules that know the truth and look for a stop, to attack a promise by simulation."""

import numpy as np

from bestarm.baics.steps import INITIAL_DRAWS, Rules, World, done, observe, pull, start
from bestarm.core.compile import jit

#: What an attack pulls: where the empirical mean is least, or is furthest above or below the true
#: one.
LEAST, LUCKY, UNLUCKY = range(3)


@jit
def target(attack: int, means: np.ndarray, truth: np.ndarray) -> int:
    """The (arm, subpopulation) that an attack pulls."""
    index, most = 0, -np.inf
    for i in range(means.size):
        if attack == LEAST:
            value = -means.flat[i]
        elif attack == LUCKY:
            value = means.flat[i] - truth.flat[i]
        else:
            value = truth.flat[i] - means.flat[i]
        if value > most:
            index, most = i, value
    return index


@jit
def attacked(
    rules: Rules, world: World, attack: int, cap: int, environment: np.random.Generator
) -> tuple[bool, int]:
    """A run whose every second pull is an attack: whether it stopped, and its answer."""
    state = start(rules)
    n = state.pulls.size
    while state.clock[0] < cap:
        if done(rules, state):
            return True, state.answer[0]
        time = state.clock[0]
        if time < INITIAL_DRAWS * n or time % 2 == 0:
            pair = time // 2 % n if time >= INITIAL_DRAWS * n else time % n
        else:
            pair = target(attack, state.means, world.means)
        observe(rules, state, pair, pull(world, state, pair, environment))
    return False, state.answer[0]
