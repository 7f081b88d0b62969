"""Racing with delayed feedback: Algorithms 1 to 3 and their parallel and biased counterparts.

One loop runs them all. Sequential racing is a batch of one, and racing on full feedback is a race
that looks only when a pull ends. The published program's order of events has a loop of its own.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.delayed.bounds import AGE, ARM, DELAY, FREE, FULL, INCREMENTAL, NUMBER, Rules
from bestarm.delayed.steps import (
    SURVIVING,
    Race,
    State,
    bound,
    bound_exactly,
    bound_within,
    cancel,
    cancel_eliminated,
    close_gaps,
    eliminate,
    make_state,
    next_arm,
    observe_final,
    observe_partial,
    start_pull,
    wait,
)
from bestarm.delayed.world import Arms, Drawn, draw, make_drawn, partial_feedback, with_more_room


class Result(NamedTuple):
    """How a run ended."""

    time: int  # steps
    stopped: bool  # by its own rule
    sets: np.ndarray  # (n,) SURVIVING, ACCEPTED or REJECTED
    centres: np.ndarray  # (n,) estimated means
    finished: np.ndarray  # (n,) pulls that ended
    cancelled: np.ndarray  # (n,) pulls cancelled, or running at the cap
    steps: np.ndarray  # (n,) time steps of all pulls
    missed: bool  # whether some interval did not hold its arm's mean


@inlined
def is_on(race: Race, state: State) -> bool:
    """Whether arms survive and time is left."""
    return state.surviving[0] > 0 and state.clock[0] < race.cap


@inlined
def start_pulls(
    race: Race, arms: Arms, state: State, drawn: Drawn, environment: np.random.Generator
) -> bool:
    """Start pulls until b run or no arm may start another; whether `drawn` has room for them."""
    for s in range(race.batch):
        if state.tally.slots[ARM, s] == FREE:
            arm = next_arm(race, state)
            if arm < 0:
                break
            if state.started[arm] == drawn.rows[0]:
                if drawn.rows[0] == drawn.rewards.shape[0]:
                    return False
                draw(drawn, arms, environment)
            start_pull(state, s, arm, drawn.delays[state.started[arm], arm])
    return True


@inlined
def next_event(race: Race, rules: Rules, state: State) -> int:
    """Steps until feedback comes, or a pull is cancelled, or time is up."""
    slots, elapsed = state.tally.slots, 1
    if rules.feedback == FULL:
        elapsed = race.cap - state.clock[0]
        for s in range(state.running[0]):
            arm = slots[ARM, s]
            if arm != FREE:
                left = slots[DELAY, s] - slots[AGE, s] if state.sets[arm] == SURVIVING else 1
                elapsed = min(elapsed, left)
    return elapsed


@inlined
def advance(
    rules: Rules,
    arms: Arms,
    state: State,
    drawn: Drawn,
    s: int,
    elapsed: int,
    coins: np.random.Generator,
) -> bool:
    """Let time pass for the pull in slot s and observe what it gives; whether it gives anything."""
    slots = state.tally.slots
    wait(state, s, elapsed)
    ends = slots[AGE, s] == slots[DELAY, s]
    if ends:
        reward = drawn.rewards[slots[NUMBER, s], slots[ARM, s]]
        observe_final(rules, state, s, reward)  # pyright: ignore[reportArgumentType]
    elif rules.feedback != FULL:
        value, spread = partial_feedback(rules.feedback, arms, drawn, state.tally, s, coins)
        observe_partial(state, s, value, spread)
    return ends or rules.feedback != FULL


@inlined
def bound_if_needed(rules: Rules, arms: Arms, state: State, arm: int) -> None:
    """New bounds of an arm, or of an interval within its own where these will do; see if it missed.

    Full and incremental feedback have nothing to split, so that true bounds take no longer.
    """
    if rules.feedback != FULL and rules.feedback != INCREMENTAL:
        state.inner[arm] = bound_within(rules, state, arm, arms.means[arm])
    if not state.inner[arm]:
        width = bound(rules, state, arm)
        state.missed[0] |= abs(state.centres[arm] - arms.means[arm]) > width


@lean
def simulate(
    race: Race,
    rules: Rules,
    arms: Arms,
    state: State,
    drawn: Drawn,
    environment: np.random.Generator,
    coins: np.random.Generator,
) -> None:
    """Race until it is over, or a pull starts that `drawn` has no room for."""
    tally, latest, fresh = state.tally, state.latest, state.fresh
    while is_on(race, state) and start_pulls(race, arms, state, drawn, environment):
        elapsed = next_event(race, rules, state)
        state.clock[0] += elapsed
        n_fresh = 0
        for s in range(state.running[0]):
            arm = tally.slots[ARM, s]
            informed = advance(rules, arms, state, drawn, s, elapsed, coins)
            if informed and latest[arm] != state.clock[0]:
                latest[arm] = state.clock[0]
                fresh[n_fresh] = arm
                n_fresh += 1
        close_gaps(state)
        for i in range(n_fresh):
            bound_if_needed(rules, arms, state, fresh[i])
        if eliminate(rules, state):
            cancel_eliminated(state)


@lean
def simulate_by_slot(
    race: Race,
    rules: Rules,
    arms: Arms,
    state: State,
    drawn: Drawn,
    environment: np.random.Generator,
    coins: np.random.Generator,
) -> None:
    """`simulate` as the published program does it, slot by slot.

    In a step each slot in turn gives its feedback, its arm's bounds follow from that alone (a
    partial feedback's from F finished pulls and this slot's, a reward's from finished pulls), and
    Algorithm 1 moves arms at once; delta is shared by those that survive at that moment. A pull of
    an arm that does not is cancelled when its own slot's turn comes next, so those in earlier slots
    run for a step more. With one slot it is the same as `simulate`.
    """
    slots = state.tally.slots
    while is_on(race, state) and start_pulls(race, arms, state, drawn, environment):
        elapsed = next_event(race, rules, state)
        state.clock[0] += elapsed
        for s in range(state.running[0]):
            arm = slots[ARM, s]
            if arm != FREE:
                informed = advance(rules, arms, state, drawn, s, elapsed, coins)
                if informed and state.sets[arm] == SURVIVING:
                    state.origin[arm] = s
                    bound_if_needed(rules, arms, state, arm)
                    eliminate(rules, state)
                if state.sets[arm] != SURVIVING and slots[ARM, s] != FREE:
                    cancel(state, s)


@jit
def run(
    race: Race,
    rules: Rules,
    arms: Arms,
    environment: np.random.Generator,
    coins: np.random.Generator,
) -> Result:
    """One replication.

    Rewards, delays and which records pulls are come from `environment`; `coins` gives the partial
    feedback.
    """
    state = make_state(race, np.where(arms.low == arms.high, arms.low, 0))
    drawn = make_drawn(arms)
    while is_on(race, state):
        if drawn.rows[0] == drawn.rewards.shape[0]:
            drawn = with_more_room(drawn)
        if rules.by_slot:
            simulate_by_slot(race, rules, arms, state, drawn, environment, coins)
        else:
            simulate(race, rules, arms, state, drawn, environment, coins)
    bound_exactly(rules, state)
    for s in range(state.running[0]):
        if state.tally.slots[ARM, s] != FREE:
            cancel(state, s)
    return Result(
        time=state.clock[0],
        stopped=state.surviving[0] == 0,
        sets=state.sets,
        centres=state.centres,
        finished=state.tally.finished,
        cancelled=state.cancelled,
        steps=state.tally.steps,
        missed=state.missed[0],
    )
