"""Racing with delayed feedback: Algorithms 1 to 3 and their parallel and biased counterparts.

One loop runs them all. Sequential racing is a batch of one, and racing on full feedback is a race
that looks only when a pull ends.
"""

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
    make_tally,
    sketch,
)

SURVIVING, ACCEPTED, REJECTED = range(3)
#: Rows of the table of rewards at first.
ROWS = 64


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
    return above <= wanted or below >= wanted


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
    running: int,
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
    centre, width, other, least = sketch(rules, tally, running, arm, arms)
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
    heard: np.ndarray  # (n,) when news came last
    news: np.ndarray  # (b,) scratch: arms with news in a step


@lean
def settle(rules: Rules, tally: Tally, running: int, book: Book, m: int, arms: int) -> None:
    """Replace the outlines of the first m of `alive` by their intervals."""
    for i in range(m):
        a = book.alive[i]
        if book.rough[a]:
            centre, width = interval(rules, tally, running, a, arms)
            book.centres[a] = centre
            book.lower[a], book.upper[a] = centre - width, centre + width
            book.rough[a] = False


class Now(NamedTuple):
    """Where a race is."""

    time: int  # steps
    running: int  # pulls
    surviving: int  # |S|
    rows: int  # pulls of an arm that are drawn
    missed: bool  # whether some interval did not hold its arm's mean


@lean
def go_on(
    race: Race,
    rules: Rules,
    arms: Arms,
    tally: Tally,
    book: Book,
    drawn: Drawn,
    random: bool,
    now: Now,
    environment,
    coins,
) -> Now:
    """Race until it is over, or a pull starts that `drawn` has no room for."""
    means, records = arms.means, arms.records
    rewards, delays, picks = drawn
    slots, sums, squares, finished = tally.slots, tally.sums, tally.squares, tally.finished
    started, active, cancelled, sets, alive, centres, lower, upper, rough, heard, news = book
    n = means.size
    time, running, surviving, rows, missed = now
    sketched = rules.feedback != FULL and rules.feedback != INCREMENTAL
    wanted = places_left(sets, race.k)

    while surviving > 0 and time < race.cap:
        while running < race.batch:
            arm = next_arm(alive, surviving, started, active, race.limit)
            if arm < 0:
                break
            number = started[arm]
            if number == rows:
                if rows == rewards.shape[0]:
                    return Now(time, running, surviving, rows, missed)
                draw(drawn, rows, arms, random, environment)
                rows += 1
            slots[ARM, running], slots[NUMBER, running] = arm, number
            slots[AGE, running], slots[DELAY, running] = 0, delays[number, arm]
            sums[running], squares[running] = 0.0, 0.0
            started[arm] += 1
            active[arm] += 1
            running += 1

        elapsed = 1
        if rules.feedback == FULL:
            elapsed = slots[DELAY, 0] - slots[AGE, 0]
            for s in range(1, running):
                elapsed = min(elapsed, slots[DELAY, s] - slots[AGE, s])
            elapsed = min(elapsed, race.cap - time)
        time += elapsed

        kept, n_news = 0, 0
        for s in range(running):
            arm, number, delay = slots[ARM, s], slots[NUMBER, s], slots[DELAY, s]
            age, so_far, square = slots[AGE, s] + elapsed, sums[s], squares[s]
            tally.steps[arm] += elapsed
            reward = rewards[number, arm]
            ended = age == delay
            if ended:
                finished[arm] += 1
                active[arm] -= 1
                tally.totals[arm] += reward
                if rules.feedback == BIASED and delay > 1:
                    tally.shifts[arm] += so_far / (delay - 1) - reward
                    tally.shifted[arm] += 1
            else:
                if rules.feedback == RECORDED:
                    pick = picks[number, arm]
                    so_far += records.forecasts[arm, pick, age - 1]
                    square += records.spreads[arm, pick, age - 1] ** 2
                elif rules.feedback != FULL:
                    so_far += feedback_of(
                        rules.feedback, arms, arm, reward, so_far, age, delay, coins
                    )
                slots[ARM, kept], slots[NUMBER, kept] = arm, number
                slots[AGE, kept], slots[DELAY, kept] = age, delay
                sums[kept], squares[kept] = so_far, square
                kept += 1
            if (ended or rules.feedback != FULL) and heard[arm] != time:
                heard[arm] = time
                news[n_news] = arm
                n_news += 1
        running = kept

        sharing = surviving if rules.survivors else n
        for i in range(n_news):
            arm = news[i]
            if sketched:
                rough[arm] = outline(
                    rules, tally, running, arm, sharing, means[arm], missed, lower, upper
                )
            if not rough[arm]:
                centre, width = interval(rules, tally, running, arm, sharing)
                centres[arm], lower[arm], upper[arm] = centre, centre - width, centre + width
                missed |= abs(centre - means[arm]) > width
        if not decides(alive, surviving, lower, upper, wanted):
            continue
        settle(rules, tally, running, book, surviving, sharing)
        if decides(alive, surviving, lower, upper, wanted):
            surviving = update_sets(sets, alive, surviving, lower, upper, race.k)
            wanted = places_left(sets, race.k)
            kept = 0
            for s in range(running):
                arm = slots[ARM, s]
                if sets[arm] == SURVIVING:
                    for row in range(slots.shape[0]):
                        slots[row, kept] = slots[row, s]
                    sums[kept], squares[kept] = sums[s], squares[s]
                    kept += 1
                else:
                    cancelled[arm] += 1
                    active[arm] -= 1
            running = kept
    return Now(time, running, surviving, rows, missed)


@jit
def run(race: Race, rules: Rules, arms: Arms, environment, coins) -> Result:
    """One replication.

    Rewards, delays and which records pulls are come from `environment`; `coins` gives the partial
    feedback.
    """
    n = arms.means.size
    random = (arms.low != arms.high).any()
    recorded = arms.records.rewards.size > 0
    drawn = Drawn(
        np.empty((ROWS, n)),
        np.empty((ROWS, n), np.int64),
        np.empty((ROWS if recorded else 0, n), np.int64),
    )
    tally = make_tally(np.where(arms.low == arms.high, arms.low, 0), race.batch)
    book = Book(
        started=np.zeros(n, np.int64),
        active=np.zeros(n, np.int64),
        cancelled=np.zeros(n, np.int64),
        sets=np.zeros(n, np.int64),
        alive=np.arange(n),
        centres=np.zeros(n),
        lower=np.full(n, -np.inf),
        upper=np.full(n, np.inf),
        rough=np.zeros(n, np.bool_),
        heard=np.full(n, -1),
        news=np.zeros(race.batch, np.int64),
    )
    now = Now(0, 0, n, 0, False)
    while now.surviving > 0 and now.time < race.cap:
        if now.rows == drawn.rewards.shape[0]:
            drawn = Drawn(_twice(drawn.rewards), _twice(drawn.delays), _twice(drawn.picks))
        now = go_on(race, rules, arms, tally, book, drawn, random, now, environment, coins)
    settle(rules, tally, now.running, book, now.surviving, now.surviving if rules.survivors else n)
    for s in range(now.running):
        book.cancelled[tally.slots[ARM, s]] += 1
    return Result(
        now.time,
        now.surviving == 0,
        book.sets,
        book.centres,
        tally.finished,
        book.cancelled,
        tally.steps,
        now.missed,
    )


@inlined
def _twice(table: np.ndarray) -> np.ndarray:
    """A table with room for twice as many rows."""
    larger = np.empty((2 * table.shape[0], table.shape[1]), table.dtype)
    larger[: table.shape[0]] = table
    return larger
