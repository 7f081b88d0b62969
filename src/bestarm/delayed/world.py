"""The simulated environment of races: the true arms, and the drawn rewards and delays."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit
from bestarm.delayed.bounds import AGE, ARM, DELAY, INCREMENTAL, NUMBER, RECORDED, Tally

#: Initial number of rows in the table of rewards.
ROWS = 64


class Records(NamedTuple):
    """Recorded pulls: m of every arm, of at most d steps; pulls are drawn uniformly from these."""

    rewards: np.ndarray  # (n, m)
    delays: np.ndarray  # (n, m) steps
    forecasts: np.ndarray  # (n, m, d) of the reward, at steps before the last; d may be 0
    spreads: np.ndarray  # (n, m, d) their standard deviations given the reward


#: For instances whose rewards and delays are drawn instead.
NO_RECORDS = Records(
    np.empty((0, 0)), np.empty((0, 0), np.int64), np.empty((0, 0, 0)), np.empty((0, 0, 0))
)


class Arms(NamedTuple):
    """The true parameters of the arms."""

    means: np.ndarray  # (n,)
    bias: np.ndarray  # (n,) of partial feedback
    low: np.ndarray  # (n,) delays are uniform on low, ..., high steps, unless recorded
    high: np.ndarray  # (n,)
    sigma: np.ndarray  # (n,) standard deviation of a reward
    sigma_p: float  # of a partial feedback given the reward
    records: Records = NO_RECORDS


class Told(NamedTuple):
    """What the feedback of every recorded pull adds up to, step by step; d may be 0."""

    sums: np.ndarray  # (n, m, d) of forecasts
    squares: np.ndarray  # (n, m, d) of their squared spreads
    sharpest: np.ndarray  # (n, m) least spread of its mean before its end, sqrt(squares) / age


class Drawn(NamedTuple):
    """What is drawn of the f-th pull of every arm, in row f, as far as it is drawn.

    It does not depend on the strategy. `reward_of` and `delay_of` look it up.
    """

    rows: np.ndarray  # (1,) number of drawn rows; the tables are longer
    rewards: np.ndarray  # (rows, n); no rows if recorded
    delays: np.ndarray  # (rows, n); no rows if recorded
    picks: np.ndarray  # (rows, n) the record of each pull; no rows if not recorded
    told: Told  # of all records


@jit
def make_drawn(arms: Arms) -> Drawn:
    """Empty tables."""
    n = arms.means.size
    picked, drawn = (ROWS, 0) if arms.records.rewards.size > 0 else (0, ROWS)
    return Drawn(
        rows=np.zeros(1, np.int64),
        rewards=np.empty((drawn, n)),
        delays=np.empty((drawn, n), np.int32),
        picks=np.empty((picked, n), np.int32),
        told=_add_up(arms.records),
    )


@jit
def _add_up(records: Records) -> Told:
    """The running sums of all recorded feedback, added in the order in which it is given."""
    sums, squares = records.forecasts.copy(), records.spreads**2
    n, m, d = sums.shape
    sharpest = np.full((n, m), np.inf)
    for a in range(n):
        for pull in range(m):
            for i in range(1, d):
                sums[a, pull, i] += sums[a, pull, i - 1]
                squares[a, pull, i] += squares[a, pull, i - 1]
            for i in range(min(d, records.delays[a, pull] - 1)):
                spread = math.sqrt(squares[a, pull, i]) / (i + 1)
                sharpest[a, pull] = min(sharpest[a, pull], spread)
    return Told(sums, squares, sharpest)


@inlined
def is_full(drawn: Drawn) -> bool:
    """Whether `draw` has no row left."""
    return drawn.rows[0] == drawn.rewards.shape[0] + drawn.picks.shape[0]


@inlined
def reward_of(drawn: Drawn, arms: Arms, number: int, arm: int) -> float:
    """The reward of an arm's pull, whose row must be drawn."""
    if drawn.picks.size > 0:
        return arms.records.rewards[arm, drawn.picks[number, arm]]
    return drawn.rewards[number, arm]


@inlined
def delay_of(drawn: Drawn, arms: Arms, number: int, arm: int) -> int:
    """The steps of an arm's pull, whose row must be drawn."""
    if drawn.picks.size > 0:
        return arms.records.delays[arm, drawn.picks[number, arm]]
    return drawn.delays[number, arm]


@jit
def with_more_room(drawn: Drawn) -> Drawn:
    """A copy with twice the capacity."""
    rewards, delays, picks = _twice(drawn.rewards), _twice(drawn.delays), _twice(drawn.picks)
    return Drawn(drawn.rows, rewards, delays, picks, drawn.told)


@inlined
def _twice(table: np.ndarray) -> np.ndarray:
    """A copy of a table with twice as many rows."""
    larger = np.empty((2 * table.shape[0], table.shape[1]), table.dtype)
    larger[: table.shape[0]] = table
    return larger


@jit
def draw(drawn: Drawn, arms: Arms, environment: np.random.Generator) -> None:
    """Draw the next row: rewards, then delays if some arm's vary; or the recorded pulls."""
    rows, rewards, delays, picks, _ = drawn
    row, n = rows[0], rewards.shape[1]
    rows[0] += 1
    if picks.size > 0:
        for a in range(n):
            picks[row, a] = environment.integers(0, arms.records.rewards.shape[1])
        return
    for a in range(n):
        rewards[row, a] = arms.means[a] + arms.sigma[a] * environment.standard_normal()
    delays[row] = arms.low
    if (arms.low != arms.high).any():
        for a in range(n):
            delays[row, a] = environment.integers(arms.low[a], arms.high[a] + 1)


@inlined
def increment(
    total: float, left: int, delay: int, sigma: float, coins: np.random.Generator
) -> float:
    """The next increment of a reward, given the sum R of the remaining m increments.

    It is normal with mean R / m and variance (1 - 1/m) sigma^2 / D.

    Args:
        total: R.
        left: m, at least 1.
        delay: D, steps of the pull.
        sigma: standard deviation of the reward.
        coins: generator of the noise.
    """
    spread = sigma * math.sqrt((1.0 - 1.0 / left) / delay)
    return total / left + spread * coins.standard_normal()


@inlined
def look_up(drawn: Drawn, tally: Tally, s: int) -> None:
    """Set the sums of the recorded feedback of the pull in slot s to those at its age, not 0."""
    arm, number, age = tally.slots[ARM, s], tally.slots[NUMBER, s], tally.slots[AGE, s]
    pick = drawn.picks[number, arm]
    tally.sums[s] = drawn.told.sums[arm, pick, age - 1]
    tally.squares[s] = drawn.told.squares[arm, pick, age - 1]


@inlined
def partial_feedback(
    feedback: int, arms: Arms, drawn: Drawn, tally: Tally, s: int, coins: np.random.Generator
) -> tuple[float, float]:
    """The partial feedback of the pull in slot s at its age, and its scale (0 unless RECORDED).

    The age must be less than the delay.

    Args:
        feedback: INCREMENTAL, UNBIASED, BIASED or RECORDED.
        arms, drawn, tally: as named.
        s: the slot.
        coins: generator of the noise.
    """
    arm, number = tally.slots[ARM, s], tally.slots[NUMBER, s]
    age, delay = tally.slots[AGE, s], tally.slots[DELAY, s]
    reward, sigma, spread = reward_of(drawn, arms, number, arm), arms.sigma[arm], 0.0
    if feedback == RECORDED:
        pick = drawn.picks[number, arm]
        value = arms.records.forecasts[arm, pick, age - 1]
        spread = arms.records.spreads[arm, pick, age - 1]
    elif feedback == INCREMENTAL:
        rest = reward - tally.sums[s]
        value = increment(rest, delay - age + 1, delay, sigma, coins)  # pyright: ignore[reportArgumentType]
    else:
        value = reward + arms.bias[arm] + arms.sigma_p * coins.standard_normal()
    return value, spread  # pyright: ignore[reportReturnType]
