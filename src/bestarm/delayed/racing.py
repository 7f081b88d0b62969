"""Racing with delayed feedback: Algorithms 1 to 3 and their parallel and biased counterparts.

One loop runs them all. Sequential racing is a batch of one, and racing on full feedback updates its
bounds only when a pull ends. The published program's order of events has a loop of its own.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.delayed.bounds import (
    AGE,
    ARM,
    DELAY,
    FREE,
    FULL,
    INCREMENTAL,
    MIXTURE,
    NUMBER,
    RECORDED,
    USELESS,
    Rules,
)
from bestarm.delayed.mixture import sum_running
from bestarm.delayed.steps import (
    SURVIVING,
    Race,
    State,
    bound,
    bound_exactly,
    bound_within,
    cancel,
    cancel_eliminated,
    compact_slots,
    eliminate,
    make_state,
    next_arm,
    observe_final,
    observe_partial,
    start_pull,
    wait,
)
from bestarm.delayed.world import (
    Draws,
    Problem,
    draw,
    is_full,
    look_up,
    make_draws,
    partial_feedback,
    pull_delay,
    pull_reward,
    with_more_room,
)


class Result(NamedTuple):
    """The result of a run."""

    time: int  # steps
    stopped: bool  # by its own rule
    sets: np.ndarray  # (n,) SURVIVING, ACCEPTED or REJECTED
    centres: np.ndarray  # (n,) estimated means
    finished: np.ndarray  # (n,) pulls that ended
    cancelled: np.ndarray  # (n,) pulls cancelled, or running at the cap
    steps: np.ndarray  # (n,) time steps of all pulls
    missed: bool  # whether some interval did not contain its arm's mean


@inlined
def race_continues(race: Race, state: State) -> bool:
    """Whether some arms survive and the cap is not reached."""
    return state.n_surviving[0] > 0 and state.clock[0] < race.cap


@inlined
def start_pulls(
    race: Race, problem: Problem, state: State, draws: Draws, environment: np.random.Generator
) -> bool:
    """Start pulls until b are running or no arm may start another; False if `draws` is full."""
    for s in range(race.batch):
        if state.tally.slots[ARM, s] == FREE:
            arm = next_arm(race, state)
            if arm < 0:
                break
            if state.started[arm] == draws.rows[0]:
                if is_full(draws):
                    return False
                draw(draws, problem, environment)
            start_pull(state, s, arm, pull_delay(draws, problem, state.started[arm], arm))
    return True


@inlined
def is_summed(rules: Rules) -> bool:
    """Whether feedback is looked up in running sums of the recorded one."""
    return rules.feedback == RECORDED and rules.split != MIXTURE


@inlined
def is_silent(rules: Rules, state: State, draws: Draws, s: int) -> bool:
    """Whether nothing that the pull in slot s tells before its end can matter.

    That is so with full feedback, and with feedback that is too noisy to narrow the interval of
    the finished pulls, until a pull of its arm ends. This is known of recorded feedback, if one
    running pull counts and delta is not shared anew when an arm leaves S.
    """
    is_fixed = is_summed(rules) and rules.pooled == 1 and not rules.survivors and not rules.by_slot
    if is_fixed:
        arm, number = state.tally.slots[ARM, s], state.tally.slots[NUMBER, s]
        sharpest = draws.feedback_sums.sharpest[arm, draws.picks[number, arm]]
        return sharpest > state.tally.cache[USELESS, arm]
    return rules.feedback == FULL


@inlined
def next_event(race: Race, rules: Rules, state: State, draws: Draws) -> int:
    """Steps until the next feedback that matters, cancellation or the cap."""
    slots = state.tally.slots
    elapsed = race.cap - state.clock[0]
    for s in range(state.running[0]):
        arm = slots[ARM, s]
        if arm != FREE:
            waits = state.sets[arm] == SURVIVING and is_silent(rules, state, draws, s)
            elapsed = min(elapsed, slots[DELAY, s] - slots[AGE, s] if waits else 1)
    return elapsed


@inlined
def advance(
    rules: Rules,
    problem: Problem,
    state: State,
    draws: Draws,
    s: int,
    elapsed: int,
    coins: np.random.Generator,
) -> bool:
    """Advance time for the pull in slot s and observe its feedback; returns whether any matters."""
    slots, silent = state.tally.slots, is_silent(rules, state, draws, s)
    wait(state, s, elapsed)
    ends = slots[AGE, s] == slots[DELAY, s]
    if ends:
        reward = pull_reward(draws, problem, slots[NUMBER, s], slots[ARM, s])
        observe_final(rules, state, s, reward)  # pyright: ignore[reportArgumentType]
    elif is_summed(rules):
        look_up(draws, state.tally, s)
    elif rules.feedback != FULL:
        value, spread = partial_feedback(rules.feedback, problem, draws, state.tally, s, coins)
        observe_partial(rules, state, s, value, spread)
    return ends or not silent


@inlined
def bound_if_needed(rules: Rules, problem: Problem, state: State, arm: int) -> None:
    """Update the bounds of an arm, or bounds of an inner interval if these suffice, and `missed`.

    With MIXTURE, and with full and incremental feedback, there is nothing to split, and exact
    bounds cost no more.
    """
    splits = rules.feedback != FULL and rules.feedback != INCREMENTAL
    if splits and rules.split != MIXTURE:
        state.inner[arm] = bound_within(rules, state, arm, problem.means[arm])
    if not state.inner[arm]:
        width = bound(rules, state, arm)
        state.missed[0] |= abs(state.centres[arm] - problem.means[arm]) > width


@lean
def simulate(
    race: Race,
    rules: Rules,
    problem: Problem,
    state: State,
    draws: Draws,
    environment: np.random.Generator,
    coins: np.random.Generator,
) -> None:
    """Race to the end, or until `draws` is full."""
    tally, latest, fresh = state.tally, state.latest, state.fresh
    while race_continues(race, state) and start_pulls(race, problem, state, draws, environment):
        elapsed = next_event(race, rules, state, draws)
        state.clock[0] += elapsed
        n_fresh = 0
        for s in range(state.running[0]):
            arm = tally.slots[ARM, s]
            informed = advance(rules, problem, state, draws, s, elapsed, coins)
            if informed and latest[arm] != state.clock[0]:
                latest[arm] = state.clock[0]
                fresh[n_fresh] = arm
                n_fresh += 1
        compact_slots(state)
        if rules.split == MIXTURE:
            sum_running(rules, tally, state.running[0], fresh, n_fresh)
        for i in range(n_fresh):
            bound_if_needed(rules, problem, state, fresh[i])
        if eliminate(rules, state):
            cancel_eliminated(state)


@lean
def simulate_by_slot(
    race: Race,
    rules: Rules,
    problem: Problem,
    state: State,
    draws: Draws,
    environment: np.random.Generator,
    coins: np.random.Generator,
) -> None:
    """`simulate` in the published program's order, slot by slot.

    In each step the slots are processed in turn: a slot gives its feedback, its arm's bounds are
    updated from that alone (after a partial feedback from the F finished pulls and this slot's
    pull, after a reward from the finished pulls), and Algorithm 1 moves arms at once. delta is
    shared by the arms that survive at that moment. A pull of an eliminated arm is cancelled at its
    own slot's next turn, so pulls in earlier slots run for one more step. With one slot this is
    `simulate`.
    """
    slots = state.tally.slots
    while race_continues(race, state) and start_pulls(race, problem, state, draws, environment):
        elapsed = next_event(race, rules, state, draws)
        state.clock[0] += elapsed
        for s in range(state.running[0]):
            arm = slots[ARM, s]
            if arm != FREE:
                informed = advance(rules, problem, state, draws, s, elapsed, coins)
                if informed and state.sets[arm] == SURVIVING:
                    state.origin[arm] = s
                    bound_if_needed(rules, problem, state, arm)
                    eliminate(rules, state)
                if state.sets[arm] != SURVIVING and slots[ARM, s] != FREE:
                    cancel(state, s)


@jit
def run(
    race: Race,
    rules: Rules,
    problem: Problem,
    environment: np.random.Generator,
    coins: np.random.Generator,
) -> Result:
    """One replication.

    `environment` gives rewards, delays and the choice of recorded pulls; `coins` gives the partial
    feedback.
    """
    state = make_state(race, np.where(problem.low == problem.high, problem.low, 0))
    draws = make_draws(problem)
    while race_continues(race, state):
        if is_full(draws):
            draws = with_more_room(draws)
        if rules.by_slot:
            simulate_by_slot(race, rules, problem, state, draws, environment, coins)
        else:
            simulate(race, rules, problem, state, draws, environment, coins)
    bound_exactly(rules, state)
    for s in range(state.running[0]):
        if state.tally.slots[ARM, s] != FREE:
            cancel(state, s)
    return Result(
        time=state.clock[0],
        stopped=state.n_surviving[0] == 0,
        sets=state.sets,
        centres=state.centres,
        finished=state.tally.finished,
        cancelled=state.cancelled,
        steps=state.tally.steps,
        missed=state.missed[0],
    )
