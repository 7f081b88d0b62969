"""The pure-exploration game with a learner for each answer."""

import numpy as np

from bestarm.core.compile import jit, lean
from bestarm.core.pure_exploration.optimum import set_all
from bestarm.core.pure_exploration.playing import ANSWER, GAP, choose_game
from bestarm.core.pure_exploration.problem import pieces
from bestarm.core.pure_exploration.steps import Rules, State, start_on

# Learners of answers that led are in `State.game`, which only Frank-Wolfe Sampling uses otherwise:
# row j of `payoffs` has the gains of learner j, `tableau[0, j]` its mixability gap, `free[j]` its
# answer, and `basic[0]` counts them.


@jit
def start_learners(rules: Rules) -> State:
    """A state with room for as many learners as there are pieces.

    That is one per answer at least, but for the best k > 1 arms.
    """
    return start_on(rules, pieces(rules.problem))


@lean
def choose_learners(rules: Rules, state: State, coins: np.random.Generator) -> int:
    """The game with one learner per answer (Degenne, Koolen & Menard 2019, Algorithm 1).

    The learner of the leading answer plays, and goes on where it was when the answer last led; so
    the regrets of all learners add up to at most one per answer, which the papers' bounds for
    finite times need (LinGame: Degenne, Menard, Shang & Valko 2020, Algorithm 1). Without it, as in
    `choose_game`, there is one per change of the leader. If there is no room the oldest learner
    makes place.
    """
    gains, leader, game = state.point.w, state.leader[0], state.game
    if state.clock[0] > rules.problem.explored.size and state.numbers[ANSWER] != leader:
        keep(state)
        state.numbers[ANSWER], state.numbers[GAP] = leader, 0.0
        set_all(gains, 0.0)
        for j in range(min(game.basic[0], game.free.size)):
            if game.free[j] == leader:
                state.numbers[GAP] = game.tableau[0, j]
                for a in range(gains.size):
                    gains[a] = game.payoffs[j, a]
    return choose_game(rules, state, coins)


@lean
def keep(state: State) -> None:
    """Keep the learner that played last."""
    game, answer, place = state.game, int(state.numbers[ANSWER]), -1
    for j in range(min(game.basic[0], game.free.size)):
        if game.free[j] == answer:
            place = j
    if place < 0:
        place = game.basic[0] % game.free.size
        game.basic[0] += 1
    game.free[place] = answer
    game.tableau[0, place] = state.numbers[GAP]
    for a in range(state.point.w.size):
        game.payoffs[place, a] = state.point.w[a]
