"""Track-and-Stop with D-tracking."""

import numpy as np

from bestarm.core.compile import lean
from bestarm.core.pure_exploration.steps import Rules, State, neglected
from bestarm.core.pure_exploration.track_and_stop import choose_track_and_stop


@lean
def choose_d_tracking(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """T-a-S with D-tracking: argmax_a t w*_a(mu^) - N_a (Garivier & Kaufmann 2016, Section 3.1).

    The latest allocation alone is tracked, not the sum of all. If several allocations are optimal,
    this need not converge to any of them, and C-tracking does to their set (Degenne & Koolen 2019).
    """
    choice = choose_track_and_stop(rules, state, coins)
    time, largest = state.clock[0], -np.inf
    if neglected(rules, state) >= 0:
        return choice
    for a in range(state.pulls.size):
        lag = time * state.target[a] - state.pulls[a]
        if lag > largest:
            choice, largest = a, lag
    return choice
