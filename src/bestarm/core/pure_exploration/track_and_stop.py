"""Track-and-Stop with allocations at geometric times."""

import numpy as np

from bestarm.core.compile import lean
from bestarm.core.pure_exploration.optimum import find_optimum
from bestarm.core.pure_exploration.steps import Rules, State, neglected, track_target

#: The allocation is computed anew when pulls have grown by this factor; its relative accuracy.
GROWTH, ACCURACY = 1.1, 1e-3


@lean
def choose_track_and_stop(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """T-a-S: track w*(mu^), computed at geometric times (Garivier & Kaufmann 2016, Eqs. (7), (8)).

    C-tracking, so the sum of all targets counts. With linear bandits this is Lazy Track-and-Stop
    (Jedra & Proutiere 2020, Algorithm 1): allocations are updated rarely, their average is tracked,
    and only arms that span the space are explored.
    """
    time, target = state.clock[0], state.target
    arm = neglected(rules, state)
    if time < rules.problem.explored.size:
        return arm
    if time >= state.numbers[0]:
        state.numbers[0] = int(GROWTH * time) + 1
        find_optimum(rules.problem, state.work, state.leader[0], state.means, ACCURACY, state.point)
        for a in range(target.size):
            target[a] = state.point.best[a]
    choice = track_target(state)
    return arm if arm >= 0 else choice
