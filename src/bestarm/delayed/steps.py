"""The steps that races are made of: start a pull, let time pass, bound an arm, move arms."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.delayed.bounds import (
    AGE,
    ARM,
    BIASED,
    DELAY,
    FULL,
    INCREMENTAL,
    NUMBER,
    RECORDED,
    Rules,
    Tally,
    interval,
    sketch,
)

SURVIVING, ACCEPTED, REJECTED = range(3)


class Records(NamedTuple):
    """Recorded pulls: m of every arm, of at most d steps. One that starts is any of its arm's."""

    rewards: np.ndarray  # (n, m)
    delays: np.ndarray  # (n, m) steps
    forecasts: np.ndarray  # (n, m, d) of the reward at every step before the last; d = 0: none
    spreads: np.ndarray  # (n, m, d) their standard deviations given the reward


#: Rewards and delays are drawn instead.
NO_RECORDS = Records(
    np.empty((0, 0)), np.empty((0, 0), np.int64), np.empty((0, 0, 0)), np.empty((0, 0, 0))
)


class Arms(NamedTuple):
    """The truth that a run is simulated from."""

    means: np.ndarray  # (n,)
    bias: np.ndarray  # (n,) of partial feedback
    low: np.ndarray  # (n,) a pull's delay is uniform on low, ..., high steps, if not recorded
    high: np.ndarray  # (n,)
    sigma: np.ndarray  # (n,) standard deviation of a reward
    sigma_p: float  # of a partial feedback given the reward
    records: Records = NO_RECORDS


class Race(NamedTuple):
    """What a strategy is asked."""

    k: int  # arms to accept
    batch: int  # b, pulls at a time
    limit: int  # r, of the same arm
    cap: int  # time steps


@inlined
def decides(alive: np.ndarray, m: int, lower: np.ndarray, upper: np.ndarray, wanted: int) -> bool:
    """Whether Algorithm 1 moves an arm out of S, the first m of `alive`.

    If it accepts any arm it accepts the one with the highest LCB, and if it rejects any, the one
    with the lowest UCB; see `update_sets`.
    """
    highest, lowest = -np.inf, np.inf
    for i in range(m):
        highest = max(highest, lower[alive[i]])
        lowest = min(lowest, upper[alive[i]])
    above, below = 0, 0
    for i in range(m):
        above += upper[alive[i]] >= highest
        below += lower[alive[i]] > lowest
    return above <= wanted or below >= wanted  # pyright: ignore[reportReturnType]


@inlined
def places_left(sets: np.ndarray, k: int) -> int:
    """k_t = k - |A|, arms still to accept."""
    for a in range(sets.size):
        k -= sets[a] == ACCEPTED
    return k


@lean
def update_sets(
    sets: np.ndarray, alive: np.ndarray, m: int, lower: np.ndarray, upper: np.ndarray, k: int
) -> int:
    """UpdateArmSets of Algorithm 1.

    With k_t = k - |A|, an arm's LCB exceeds the (k_t + 1)-th largest UCB of S if at most k_t of S
    have a UCB as large as it; its UCB is below the k_t-th largest LCB if k_t of S have a larger
    LCB. Where a rank does not exist the condition holds, as for "the UCB of |S| - k_t arms" of the
    text: with k = n all arms are accepted at the first feedback.

    Args:
        sets: (n,) updated in place.
        alive: (n,) its first m are S, ascending; updated in place.
        m: |S|.
        lower, upper: (n,) LCB and UCB.
        k: arms to accept.

    Returns:
        The new |S|.
    """
    wanted = places_left(sets, k)
    for i in range(m):
        above, below = 0, 0
        for j in range(m):
            above += upper[alive[j]] >= lower[alive[i]]
            below += lower[alive[j]] > upper[alive[i]]
        if above <= wanted:
            sets[alive[i]] = ACCEPTED
        elif below >= wanted:
            sets[alive[i]] = REJECTED
    left = 0
    for i in range(m):
        if sets[alive[i]] == SURVIVING:
            alive[left] = alive[i]
            left += 1
    return left


@inlined
def outline(
    rules: Rules,
    tally: Tally,
    first: int,
    last: int,
    arm: int,
    arms: int,
    mean: float,
    missed: bool,
    lower: np.ndarray,
    upper: np.ndarray,
) -> bool:
    """Put an interval within the true one in `lower` and `upper`; whether no more need be known.

    It takes a fraction of the time of `interval`. Where such intervals move no arm out of S, true
    ones do not either: `decides` counts no fewer arms above and no more below the wider they are.
    It is not enough if the true interval may miss the `mean` and none has `missed` before.
    """
    centre, width, other, least = sketch(rules, tally, first, last, arm, arms)
    if least > width:
        other, least = centre, width
    lower[arm] = max(centre - width, other - least)
    upper[arm] = min(centre + width, other + least)
    return missed or (abs(centre - mean) <= width and abs(other - mean) <= least)


@lean
def next_arm(alive: np.ndarray, m: int, started: np.ndarray, active: np.ndarray, limit: int) -> int:
    """GetBatchArms, one slot: of S the arm started least with fewer than r running, or -1.

    Ties go to the lowest index.
    """
    least = -1
    for i in range(m):
        a = alive[i]
        if active[a] < limit and (least < 0 or started[a] < started[least]):
            least = a
    return least


@inlined
def feedback_of(
    feedback: int, arms: Arms, arm: int, reward: float, so_far: float, age: int, delay: int, coins
) -> float:
    """A partial feedback at step `age` < `delay`, given the reward of its pull.

    Increments given their sum: of m that are left the next is normal with mean R / m and variance
    (1 - 1/m) sigma^2 / D, R being what the earlier ones leave.
    """
    z = coins.standard_normal()
    if feedback == INCREMENTAL:
        left = delay - age + 1
        spread = arms.sigma[arm] * math.sqrt((1.0 - 1.0 / left) / delay)
        return (reward - so_far) / left + spread * z
    return reward + arms.bias[arm] + arms.sigma_p * z


class Drawn(NamedTuple):
    """Rewards and delays of the f-th pull of every arm, row by row, as far as they are drawn.

    They do not depend on the strategy.
    """

    rewards: np.ndarray  # (rows, n)
    delays: np.ndarray  # (rows, n)
    picks: np.ndarray  # (rows, n) which of its arm's records a pull is; no rows if not recorded


@jit
def draw(drawn: Drawn, row: int, arms: Arms, random: bool, environment) -> None:
    """Fill a row; delays are drawn where some are `random`."""
    rewards, delays, picks = drawn
    records = arms.records
    if picks.size > 0:
        for a in range(rewards.shape[1]):
            pick = environment.integers(0, records.rewards.shape[1])
            picks[row, a] = pick
            rewards[row, a] = records.rewards[a, pick]
            delays[row, a] = records.delays[a, pick]
        return
    low, high = arms.low, arms.high
    for a in range(rewards.shape[1]):
        rewards[row, a] = arms.means[a] + arms.sigma[a] * environment.standard_normal()
    for a in range(rewards.shape[1]):
        delays[row, a] = environment.integers(low[a], high[a] + 1) if random else low[a]


class Book(NamedTuple):
    """What a race keeps of its arms, beside what bounds are computed from."""

    started: np.ndarray  # (n,) pulls
    active: np.ndarray  # (n,) pulls that run
    cancelled: np.ndarray  # (n,) pulls
    sets: np.ndarray  # (n,) SURVIVING, ACCEPTED or REJECTED
    alive: np.ndarray  # (n,) its first entries are S, ascending
    centres: np.ndarray  # (n,) estimated means
    lower: np.ndarray  # (n,) LCB
    upper: np.ndarray  # (n,) UCB
    rough: np.ndarray  # (n,) whether only an `outline` is known
    origin: np.ndarray  # (n,) the slot it is of, if heard by slot
    heard: np.ndarray  # (n,) when news came last
    news: np.ndarray  # (b,) scratch: arms with news in a step


@lean
def settle(rules: Rules, tally: Tally, running: int, book: Book, m: int, arms: int) -> None:
    """Replace the outlines of the first m of `alive` by their intervals."""
    for i in range(m):
        a = book.alive[i]
        if book.rough[a]:
            first, last = 0, running
            if rules.by_slot:
                first, last = book.origin[a], book.origin[a] + 1
            centre, width = interval(rules, tally, first, last, a, arms)  # pyright: ignore[reportArgumentType]
            book.centres[a] = centre
            book.lower[a], book.upper[a] = centre - width, centre + width
            book.rough[a] = False


@inlined
def eliminate(
    race: Race, rules: Rules, tally: Tally, running: int, book: Book, m: int, arms: int, wanted: int
) -> int:
    """Move arms out of S, the first m of `alive`, if Algorithm 1 does; the new |S|.

    Outlines are enough where they move none; where they may, intervals decide. `wanted` is k_t.
    """
    if not decides(book.alive, m, book.lower, book.upper, wanted):
        return m
    settle(rules, tally, running, book, m, arms)
    if not decides(book.alive, m, book.lower, book.upper, wanted):
        return m
    return update_sets(book.sets, book.alive, m, book.lower, book.upper, race.k)


class Now(NamedTuple):
    """Where a race is."""

    time: int  # steps
    running: int  # pulls
    surviving: int  # |S|
    rows: int  # pulls of an arm that are drawn
    missed: bool  # whether some interval did not hold its arm's mean


@inlined
def start(tally: Tally, book: Book, s: int, arm: int, delay: int) -> None:
    """Start a pull of an arm in slot s."""
    tally.slots[ARM, s], tally.slots[NUMBER, s] = arm, book.started[arm]
    tally.slots[AGE, s], tally.slots[DELAY, s] = 0, delay
    tally.sums[s], tally.squares[s] = 0.0, 0.0
    book.started[arm] += 1
    book.active[arm] += 1


@inlined
def advance(
    rules: Rules, arms: Arms, tally: Tally, book: Book, drawn: Drawn, s: int, elapsed: int, coins
) -> bool:
    """Let time pass for the pull in slot s; whether it ended, its reward having arrived."""
    slots, records = tally.slots, arms.records
    arm, number, delay = slots[ARM, s], slots[NUMBER, s], slots[DELAY, s]
    age = slots[AGE, s] + elapsed
    slots[AGE, s] = age
    tally.steps[arm] += elapsed
    reward = drawn.rewards[number, arm]
    if age == delay:
        tally.finished[arm] += 1
        book.active[arm] -= 1
        tally.totals[arm] += reward
        if rules.feedback == BIASED and delay > 1:
            tally.shifts[arm] += tally.sums[s] / (delay - 1) - reward
            tally.shifted[arm] += 1
        return True
    if rules.feedback == RECORDED:
        pick = drawn.picks[number, arm]
        tally.sums[s] += records.forecasts[arm, pick, age - 1]
        tally.squares[s] += records.spreads[arm, pick, age - 1] ** 2
    elif rules.feedback != FULL:
        tally.sums[s] += feedback_of(
            rules.feedback,
            arms,
            arm,
            reward,  # pyright: ignore[reportArgumentType]
            tally.sums[s],
            age,
            delay,
            coins,
        )
    return False


@inlined
def move(tally: Tally, s: int, to: int) -> None:
    """Put the pull of a slot into another."""
    for row in range(tally.slots.shape[0]):
        tally.slots[row, to] = tally.slots[row, s]
    tally.sums[to], tally.squares[to] = tally.sums[s], tally.squares[s]


@inlined
def judge(
    rules: Rules,
    arms: Arms,
    tally: Tally,
    book: Book,
    first: int,
    last: int,
    arm: int,
    sharing: int,
    missed: bool,
) -> bool:
    """New bounds of an arm, or their outline where it will do; whether an interval has missed."""
    mean = arms.means[arm]
    if rules.feedback != FULL and rules.feedback != INCREMENTAL:
        book.rough[arm] = outline(
            rules, tally, first, last, arm, sharing, mean, missed, book.lower, book.upper
        )
        if book.rough[arm]:
            return missed
    centre, width = interval(rules, tally, first, last, arm, sharing)
    book.centres[arm] = centre
    book.lower[arm], book.upper[arm] = centre - width, centre + width
    return missed or abs(centre - mean) > width
