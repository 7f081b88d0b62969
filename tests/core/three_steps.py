"""A strategy of three lines, in a module that other processes import quickly."""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit
from bestarm.core.strategy import Strategy


class Rules(NamedTuple):
    """Stop after so many pulls."""

    wanted: int


class State(NamedTuple):
    """What happened, one digit a step: done 1, choose 2, observe 3."""

    log: np.ndarray
    used: np.ndarray


@jit
def start(rules):
    return State(np.zeros(1000, np.int64), np.zeros(2, np.int64))


@inlined
def note(state, digit):
    state.log[state.used[0]] = digit
    state.used[0] += 1


@inlined
def done(rules, state):
    note(state, 1)
    return state.used[1] >= rules.wanted


@inlined
def choose(rules, state, coins):
    note(state, 2)
    return state.used[1] % 2


@inlined
def second_arm(rules, state, coins):
    note(state, 4)
    return 1


@inlined
def observe(rules, state, arm, observed):
    note(state, 3)
    state.used[1] += 1


@inlined
def pull(world, state, arm, environment):
    return world[arm] + environment.standard_normal()


TOY = Strategy("toy", start, done, choose, observe, pull)
WORLD = np.array([0.0, 1.0])
