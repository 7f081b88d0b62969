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
    interval,
    make_tally,
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
    wanted = k
    for i in range(sets.size):
        wanted -= sets[i] == ACCEPTED
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


@jit
def _draw(arms: Arms, rewards: np.ndarray, delays: np.ndarray, environment) -> None:
    """Overwrite (n,) `rewards` and `delays` with those of one pull of every arm."""
    low, high = arms.low, arms.high
    for a in range(low.size):
        rewards[a] = arms.means[a] + arms.sigma[a] * environment.standard_normal()
    random = (low != high).any()
    for a in range(low.size):
        delays[a] = environment.integers(low[a], high[a] + 1) if random else low[a]


@jit
def _pick(
    records: Records, rewards: np.ndarray, delays: np.ndarray, picks: np.ndarray, environment
) -> None:
    """The same of one recorded pull of every arm; `picks` (n,) says which."""
    for a in range(rewards.size):
        picks[a] = environment.integers(0, records.rewards.shape[1])
        rewards[a] = records.rewards[a, picks[a]]
        delays[a] = records.delays[a, picks[a]]


@jit
def run(race: Race, rules: Rules, arms: Arms, environment, coins) -> Result:
    """One replication.

    The reward and the delay of the f-th pull of an arm are entries of tables that `environment`
    fills row by row, so they do not depend on the strategy; `coins` gives the partial feedback.
    Where pulls are recorded the tables say which of its arm's records a pull is.
    """
    means, records = arms.means, arms.records
    n = means.size
    rewards, delays = np.empty((ROWS, n)), np.empty((ROWS, n), np.int64)
    recorded = records.rewards.size > 0
    picks = np.empty((ROWS if recorded else 0, n), np.int64)
    filled = 0

    tally = make_tally(np.where(arms.low == arms.high, arms.low, 0), race.batch)
    slots, sums, finished, steps = tally.slots, tally.sums, tally.finished, tally.steps
    squares = tally.squares
    started, active = np.zeros(n, np.int64), np.zeros(n, np.int64)
    cancelled = np.zeros(n, np.int64)
    news, heard = np.zeros(race.batch, np.int64), np.full(n, -1)
    sets, alive, surviving = np.zeros(n, np.int64), np.arange(n), n
    centres, lower, upper = np.zeros(n), np.full(n, -np.inf), np.full(n, np.inf)
    wanted = race.k
    time, running, missed = 0, 0, False

    while surviving > 0 and time < race.cap:
        while running < race.batch:
            arm = next_arm(alive, surviving, started, active, race.limit)
            if arm < 0:
                break
            number = started[arm]
            if number == filled:
                if filled == rewards.shape[0]:
                    rewards, delays, picks = _twice(rewards), _twice(delays), _twice(picks)
                if recorded:
                    _pick(records, rewards[filled], delays[filled], picks[filled], environment)
                else:
                    _draw(arms, rewards[filled], delays[filled], environment)
                filled += 1
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
            steps[arm] += elapsed
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
            centre, width = interval(rules, tally, running, arm, sharing)
            centres[arm], lower[arm], upper[arm] = centre, centre - width, centre + width
            missed |= abs(centre - means[arm]) > width
        if decides(alive, surviving, lower, upper, wanted):
            surviving = update_sets(sets, alive, surviving, lower, upper, race.k)
            wanted = race.k - (sets == ACCEPTED).sum()
            kept = 0
            for s in range(running):
                arm = slots[ARM, s]
                if sets[arm] == SURVIVING:
                    slots[:, kept] = slots[:, s]
                    sums[kept], squares[kept] = sums[s], squares[s]
                    kept += 1
                else:
                    cancelled[arm] += 1
                    active[arm] -= 1
            running = kept
    for s in range(running):
        cancelled[slots[ARM, s]] += 1
    return Result(time, surviving == 0, sets, centres, finished, cancelled, steps, missed)


@inlined
def _twice(table: np.ndarray) -> np.ndarray:
    """A table with room for twice as many rows."""
    larger = np.empty((2 * table.shape[0], table.shape[1]), table.dtype)
    larger[: table.shape[0]] = table
    return larger
