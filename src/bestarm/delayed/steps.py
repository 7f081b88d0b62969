"""The steps of a race, shared by simulations and ask/tell objects.

Pulls start in slots; time advances; their partial feedback and rewards are observed; the bounds of
their arms are updated, and Algorithm 1 moves arms between its sets; pulls of eliminated arms are
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
    MIXTURE,
    NUMBER,
    RECORDED,
    Rules,
    Tally,
    candidates,
    interval,
    make_tally,
)
from bestarm.delayed.mixture import mixture_interval, running_information

SURVIVING, ACCEPTED, REJECTED = range(3)


class Race(NamedTuple):
    """The task: how many arms to find, and how many pulls may run."""

    k: int  # arms to accept
    batch: int  # b, most running pulls
    limit: int  # r, most running pulls of one arm
    cap: int  # most time steps


class State(NamedTuple):
    """The state of a race."""

    clock: np.ndarray  # (1,) time steps so far
    running: np.ndarray  # (1,) number of leading slots that contain all running pulls
    n_surviving: np.ndarray  # (1,) |S|
    n_to_accept: np.ndarray  # (1,) k_t = k - |A|, arms still to accept
    missed: np.ndarray  # (1,) in simulations: whether an interval missed its arm's mean
    tally: Tally
    started: np.ndarray  # (n,) started pulls
    active: np.ndarray  # (n,) running pulls
    cancelled: np.ndarray  # (n,) cancelled pulls
    sets: np.ndarray  # (n,) SURVIVING, ACCEPTED or REJECTED
    surviving: np.ndarray  # (n,) its first |S| entries are S, ascending
    centres: np.ndarray  # (n,) estimated means
    lower: np.ndarray  # (n,) LCB
    upper: np.ndarray  # (n,) UCB
    inner: np.ndarray  # (n,) whether these are bounds of an inner interval, see `bound_within`
    origin: np.ndarray  # (n,) slot of the latest feedback, with `by_slot`
    latest: np.ndarray  # (n,) time of the latest feedback, otherwise
    fresh: np.ndarray  # (b,) buffer: arms with feedback at this time


@jit
def make_state(race: Race, delay: np.ndarray) -> State:
    """A race before its first pull.

    Args:
        race: the task.
        delay: (n,) steps of an arm's pulls if all have the same number; else 0.
    """
    n = delay.size
    return State(
        clock=np.zeros(1, np.int64),
        running=np.zeros(1, np.int64),
        n_surviving=np.full(1, n),
        n_to_accept=np.full(1, race.k),
        missed=np.zeros(1, np.bool_),
        tally=make_tally(delay, race.batch),
        started=np.zeros(n, np.int64),
        active=np.zeros(n, np.int64),
        cancelled=np.zeros(n, np.int64),
        sets=np.zeros(n, np.int64),
        surviving=np.arange(n),
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
    """GetBatchArms for one slot: the least started arm of S with fewer than r running pulls, or -1.

    Ties go to the lowest index.
    """
    surviving, started = state.surviving, state.started
    least = -1
    for i in range(state.n_surviving[0]):
        a = surviving[i]
        if state.active[a] < race.limit and (least < 0 or started[a] < started[least]):
            least = a
    return least


@inlined
def start_pull(state: State, s: int, arm: int, delay: int) -> None:
    """Start a pull of an arm in the free slot s; `delay` in steps, 0 if unknown."""
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
def observe_partial(rules: Rules, state: State, s: int, value: float, spread: float) -> None:
    """Observe a partial feedback of the pull in slot s, after `wait`.

    With MIXTURE, recorded feedback is summed with weights 1 / spread^2, and so are these.

    Args:
        rules: of the intervals.
        state: of the race.
        s: the slot.
        value: the feedback.
        spread: its scale if RECORDED, else 0.
    """
    if rules.split == MIXTURE and rules.feedback == RECORDED:
        state.tally.sums[s] += value / spread**2
        state.tally.squares[s] += 1.0 / spread**2
    else:
        state.tally.sums[s] += value
        state.tally.squares[s] += spread**2


@inlined
def observe_final(rules: Rules, state: State, s: int, reward: float) -> None:
    """Observe the reward of the pull in slot s, after `wait`, and end the pull."""
    tally = state.tally
    arm, partial = tally.slots[ARM, s], tally.slots[AGE, s] - 1
    tally.finished[arm] += 1
    tally.totals[arm] += reward
    if rules.feedback == BIASED and partial > 0:
        tally.shifts[arm] += tally.sums[s] / partial - reward
        tally.shifted[arm] += 1
        tally.errors[arm] += tally.sums[s] - partial * reward
        tally.partials[arm] += partial
    state.active[arm] -= 1
    tally.slots[ARM, s] = FREE


@inlined
def keep_partial(rules: Rules, state: State, s: int) -> None:
    """Keep what the pull in slot s told, before it is abandoned.

    The martingale behind MIXTURE counts it for ever. Steps of increments stay counted, so their sum
    has to stay as well.
    """
    tally = state.tally
    arm = tally.slots[ARM, s]
    if rules.split == MIXTURE:
        w, total = running_information(rules, tally, s)
        tally.kept[0, arm] += w
        tally.kept[1, arm] += total
    elif rules.feedback == INCREMENTAL:
        tally.totals[arm] += tally.sums[s]


@inlined
def cancel(state: State, s: int) -> None:
    """Cancel the pull in slot s."""
    slots = state.tally.slots
    state.cancelled[slots[ARM, s]] += 1
    state.active[slots[ARM, s]] -= 1
    slots[ARM, s] = FREE


@inlined
def compact_slots(state: State) -> None:
    """Move the running pulls into the first slots, keeping their order."""
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
def n_sharing(rules: Rules, state: State) -> int:
    """The number of arms that share delta."""
    return state.n_surviving[0] if rules.survivors else state.sets.size


@inlined
def counted(rules: Rules, state: State, arm: int) -> tuple[int, int]:
    """(first, last): running pulls in the slots first, ..., last - 1 count for an arm's bounds.

    These are all slots; with `by_slot`, except for increments, only that of the latest feedback.
    """
    single_slot = rules.by_slot and rules.feedback != INCREMENTAL
    first = state.origin[arm] if single_slot else 0
    return first, first + 1 if single_slot else state.running[0]


@inlined
def bound(rules: Rules, state: State, arm: int) -> float:
    """Update the bounds of an arm from all observations; returns the half-width of its interval.

    With MIXTURE, `sum_running` comes first.
    """
    sharing = n_sharing(rules, state)
    if rules.split == MIXTURE:
        centre, width = mixture_interval(rules, state.tally, arm, sharing)
    else:
        first, last = counted(rules, state, arm)
        centre, width = interval(rules, state.tally, first, last, arm, sharing)
    state.centres[arm] = centre
    state.lower[arm], state.upper[arm] = centre - width, centre + width
    state.inner[arm] = False
    return width


@inlined
def bound_within(rules: Rules, state: State, arm: int, mean: float) -> bool:
    """Set bounds of an inner interval, contained in the exact one; returns whether they suffice.

    They cost a fraction of `bound`. If they move no arm out of S, exact bounds do not either:
    widening intervals can only increase the count `above` of `decides` and decrease `below`. They
    do not suffice if the exact interval may miss the `mean` and no interval has missed so far.
    """
    first, last = counted(rules, state, arm)
    centre, width, other, least = candidates(
        rules, state.tally, first, last, arm, n_sharing(rules, state)
    )
    if least > width:
        other, least = centre, width
    state.lower[arm] = max(centre - width, other - least)
    state.upper[arm] = min(centre + width, other + least)
    return state.missed[0] or (abs(centre - mean) <= width and abs(other - mean) <= least)


@inlined
def bound_exactly(rules: Rules, state: State) -> None:
    """Compute exact bounds for the arms of S that have bounds of an inner interval."""
    for i in range(state.n_surviving[0]):
        if state.inner[state.surviving[i]]:
            bound(rules, state, state.surviving[i])


@inlined
def decides(state: State) -> bool:
    """Whether Algorithm 1 moves an arm out of S.

    If it accepts any arm it accepts the one with the highest LCB; if it rejects any it rejects the
    one with the lowest UCB. See `update_sets`.
    """
    m, surviving, lower, upper = state.n_surviving[0], state.surviving, state.lower, state.upper
    highest, lowest = -np.inf, np.inf
    for i in range(m):
        highest = max(highest, lower[surviving[i]])
        lowest = min(lowest, upper[surviving[i]])
    above, below = 0, 0
    for i in range(m):
        above += upper[surviving[i]] >= highest
        below += lower[surviving[i]] > lowest
    return above <= state.n_to_accept[0] or below >= state.n_to_accept[0]


@inlined
def update_sets(state: State) -> None:
    """UpdateArmSets of Algorithm 1.

    With k_t = k - |A|, an arm's LCB exceeds the (k_t + 1)-th largest UCB of S if at most k_t of S
    have a UCB as large as it; its UCB is below the k_t-th largest LCB if k_t of S have a larger
    LCB. If a rank does not exist the condition holds, as for "the UCB of |S| - k_t arms" of the
    text: with k = n all arms are accepted at the first feedback.
    """
    m, surviving, lower, upper = state.n_surviving[0], state.surviving, state.lower, state.upper
    to_accept = state.n_to_accept[0]
    for i in range(m):
        above, below = 0, 0
        for j in range(m):
            above += upper[surviving[j]] >= lower[surviving[i]]
            below += lower[surviving[j]] > upper[surviving[i]]
        if above <= to_accept:
            state.sets[surviving[i]] = ACCEPTED
            state.n_to_accept[0] -= 1
        elif below >= to_accept:
            state.sets[surviving[i]] = REJECTED
    left = 0
    for i in range(m):
        if state.sets[surviving[i]] == SURVIVING:
            surviving[left] = surviving[i]
            left += 1
    state.n_surviving[0] = left


@inlined
def eliminate(rules: Rules, state: State) -> bool:
    """Algorithm 1; returns whether it moves any arm out of S.

    If inner intervals move no arm, the exact ones do not either; otherwise exact ones decide.
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
    """Cancel the running pulls of arms that left S, and compact the slots."""
    for s in range(state.running[0]):
        if state.sets[state.tally.slots[ARM, s]] != SURVIVING:
            cancel(state, s)
    compact_slots(state)
