"""The steps that races are made of, whether simulated or told by a person.

Pulls start in slots; time passes for them; their partial feedback and rewards are observed; an
arm's bounds follow, and move arms between the sets of Algorithm 1; pulls of arms that left are
cancelled. A state's arrays are changed in place.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit
from bestarm.delayed.bounds import (
    AGE,
    ARM,
    BIASED,
    DELAY,
    FREE,
    INCREMENTAL,
    NUMBER,
    Rules,
    Tally,
    candidates,
    interval,
    make_tally,
)

SURVIVING, ACCEPTED, REJECTED = range(3)


class Race(NamedTuple):
    """What a strategy is asked."""

    k: int  # arms to accept
    batch: int  # b, pulls at a time
    limit: int  # r, of the same arm
    cap: int  # time steps


class State(NamedTuple):
    """Where a race is."""

    clock: np.ndarray  # (1,) time steps so far
    running: np.ndarray  # (1,) the running pulls are in the first so many slots
    surviving: np.ndarray  # (1,) |S|
    places: np.ndarray  # (1,) k_t = k - |A|, arms still to accept
    missed: np.ndarray  # (1,) whether some interval did not hold its arm's mean, in simulations
    tally: Tally
    started: np.ndarray  # (n,) pulls
    active: np.ndarray  # (n,) pulls that run
    cancelled: np.ndarray  # (n,) pulls
    sets: np.ndarray  # (n,) SURVIVING, ACCEPTED or REJECTED
    alive: np.ndarray  # (n,) its first |S| entries are S, ascending
    centres: np.ndarray  # (n,) estimated means
    lower: np.ndarray  # (n,) LCB
    upper: np.ndarray  # (n,) UCB
    inner: np.ndarray  # (n,) whether these two are of an interval within the true one
    origin: np.ndarray  # (n,) slot of the latest feedback, if slots are taken one by one
    latest: np.ndarray  # (n,) time of the latest feedback, else
    fresh: np.ndarray  # (b,) scratch: arms with feedback at this time


@jit
def make_state(race: Race, delay: np.ndarray) -> State:
    """A race before its first pull.

    Args:
        race: what is asked.
        delay: (n,) steps of an arm's pulls, where all have as many; else 0.
    """
    n = delay.size
    return State(
        clock=np.zeros(1, np.int64),
        running=np.zeros(1, np.int64),
        surviving=np.full(1, n),
        places=np.full(1, race.k),
        missed=np.zeros(1, np.bool_),
        tally=make_tally(delay, race.batch),
        started=np.zeros(n, np.int64),
        active=np.zeros(n, np.int64),
        cancelled=np.zeros(n, np.int64),
        sets=np.zeros(n, np.int64),
        alive=np.arange(n),
        centres=np.zeros(n),
        lower=np.full(n, -np.inf),
        upper=np.full(n, np.inf),
        inner=np.zeros(n, np.bool_),
        origin=np.zeros(n, np.int64),
        latest=np.full(n, -1),
        fresh=np.zeros(race.batch, np.int64),
    )


@inlined
def next_arm(race: Race, state: State) -> int:
    """GetBatchArms, one slot: of S the arm started least with fewer than r running, or -1.

    Ties go to the lowest index.
    """
    alive, started = state.alive, state.started
    least = -1
    for i in range(state.surviving[0]):
        a = alive[i]
        if state.active[a] < race.limit and (least < 0 or started[a] < started[least]):
            least = a
    return least


@inlined
def start_pull(state: State, s: int, arm: int, delay: int) -> None:
    """Start a pull of an arm in slot s, which is free; `delay` in steps, 0 if unknown."""
    tally = state.tally
    tally.slots[ARM, s], tally.slots[NUMBER, s] = arm, state.started[arm]
    tally.slots[AGE, s], tally.slots[DELAY, s] = 0, delay
    tally.sums[s], tally.squares[s] = 0.0, 0.0
    state.started[arm] += 1
    state.active[arm] += 1
    state.running[0] = max(state.running[0], s + 1)


@inlined
def wait(state: State, s: int, elapsed: int) -> None:
    """Let so many steps pass for the pull in slot s."""
    tally = state.tally
    tally.slots[AGE, s] += elapsed
    tally.steps[tally.slots[ARM, s]] += elapsed


@inlined
def observe_partial(state: State, s: int, value: float, spread: float) -> None:
    """Take in a partial feedback of the pull in slot s, which has waited for it.

    Args:
        state: of the race.
        s: the slot.
        value: the feedback.
        spread: its scale if it has one of its own, else 0.
    """
    state.tally.sums[s] += value
    state.tally.squares[s] += spread**2


@inlined
def observe_final(rules: Rules, state: State, s: int, reward: float) -> None:
    """Take in the reward of the pull in slot s, which has waited for it and ends."""
    tally = state.tally
    arm, partial = tally.slots[ARM, s], tally.slots[AGE, s] - 1
    tally.finished[arm] += 1
    tally.totals[arm] += reward
    if rules.feedback == BIASED and partial > 0:
        tally.shifts[arm] += tally.sums[s] / partial - reward
        tally.shifted[arm] += 1
    state.active[arm] -= 1
    tally.slots[ARM, s] = FREE


@inlined
def cancel(state: State, s: int) -> None:
    """Cancel the pull in slot s."""
    slots = state.tally.slots
    state.cancelled[slots[ARM, s]] += 1
    state.active[slots[ARM, s]] -= 1
    slots[ARM, s] = FREE


@inlined
def close_gaps(state: State) -> None:
    """Move the running pulls into the first slots, in the same order."""
    slots, sums, squares = state.tally.slots, state.tally.sums, state.tally.squares
    kept = 0
    for s in range(state.running[0]):
        if slots[ARM, s] != FREE:
            if s > kept:
                for row in range(slots.shape[0]):
                    slots[row, kept] = slots[row, s]
                sums[kept], squares[kept] = sums[s], squares[s]
                slots[ARM, s] = FREE
            kept += 1
    state.running[0] = kept


@inlined
def sharing(rules: Rules, state: State) -> int:
    """How many arms share delta."""
    return state.surviving[0] if rules.survivors else state.sets.size


@inlined
def counted(rules: Rules, state: State, arm: int) -> tuple[int, int]:
    """Running pulls in the slots first, ..., last - 1 count for an arm's bounds: these two numbers.

    All do, or with slots taken one by one, but for increments, that of the latest feedback alone.
    """
    one = rules.by_slot and rules.feedback != INCREMENTAL
    first = state.origin[arm] if one else 0
    return first, first + 1 if one else state.running[0]


@inlined
def bound(rules: Rules, state: State, arm: int) -> float:
    """New bounds of an arm from all that was observed; the half-width of its interval."""
    first, last = counted(rules, state, arm)
    centre, width = interval(rules, state.tally, first, last, arm, sharing(rules, state))
    state.centres[arm] = centre
    state.lower[arm], state.upper[arm] = centre - width, centre + width
    state.inner[arm] = False
    return width


@inlined
def bound_within(rules: Rules, state: State, arm: int, mean: float) -> bool:
    """Bounds of an interval within the true one; whether no more need be known.

    They take a fraction of the time of `bound`. Where they move no arm out of S, true ones do not
    either: `decides` counts no fewer arms above and no more below the wider intervals are. They are
    not enough if the true interval may miss the `mean` and none has missed before.
    """
    first, last = counted(rules, state, arm)
    centre, width, other, least = candidates(
        rules, state.tally, first, last, arm, sharing(rules, state)
    )
    if least > width:
        other, least = centre, width
    state.lower[arm] = max(centre - width, other - least)
    state.upper[arm] = min(centre + width, other + least)
    return state.missed[0] or (abs(centre - mean) <= width and abs(other - mean) <= least)


@inlined
def bound_exactly(rules: Rules, state: State) -> None:
    """True bounds of the arms of S that have those of an interval within."""
    for i in range(state.surviving[0]):
        if state.inner[state.alive[i]]:
            bound(rules, state, state.alive[i])


@inlined
def decides(state: State) -> bool:
    """Whether Algorithm 1 moves an arm out of S.

    If it accepts any arm it accepts the one with the highest LCB, and if it rejects any, the one
    with the lowest UCB; see `update_sets`.
    """
    m, alive, lower, upper = state.surviving[0], state.alive, state.lower, state.upper
    highest, lowest = -np.inf, np.inf
    for i in range(m):
        highest = max(highest, lower[alive[i]])
        lowest = min(lowest, upper[alive[i]])
    above, below = 0, 0
    for i in range(m):
        above += upper[alive[i]] >= highest
        below += lower[alive[i]] > lowest
    return above <= state.places[0] or below >= state.places[0]


@inlined
def update_sets(state: State) -> None:
    """UpdateArmSets of Algorithm 1.

    With k_t = k - |A|, an arm's LCB exceeds the (k_t + 1)-th largest UCB of S if at most k_t of S
    have a UCB as large as it; its UCB is below the k_t-th largest LCB if k_t of S have a larger
    LCB. Where a rank does not exist the condition holds, as for "the UCB of |S| - k_t arms" of the
    text: with k = n all arms are accepted at the first feedback.
    """
    m, alive, lower, upper = state.surviving[0], state.alive, state.lower, state.upper
    wanted = state.places[0]
    for i in range(m):
        above, below = 0, 0
        for j in range(m):
            above += upper[alive[j]] >= lower[alive[i]]
            below += lower[alive[j]] > upper[alive[i]]
        if above <= wanted:
            state.sets[alive[i]] = ACCEPTED
            state.places[0] -= 1
        elif below >= wanted:
            state.sets[alive[i]] = REJECTED
    left = 0
    for i in range(m):
        if state.sets[alive[i]] == SURVIVING:
            alive[left] = alive[i]
            left += 1
    state.surviving[0] = left


@inlined
def eliminate(rules: Rules, state: State) -> bool:
    """Move arms out of S if Algorithm 1 does; whether it does.

    Where intervals within the true ones move none, these do not either; where they may, the true
    ones decide.
    """
    moves = decides(state)
    if moves:
        bound_exactly(rules, state)
        moves = decides(state)
        if moves:
            update_sets(state)
    return moves


@inlined
def cancel_eliminated(state: State) -> None:
    """Cancel the running pulls of arms that left S, and close the gaps."""
    for s in range(state.running[0]):
        if state.sets[state.tally.slots[ARM, s]] != SURVIVING:
            cancel(state, s)
    close_gaps(state)
