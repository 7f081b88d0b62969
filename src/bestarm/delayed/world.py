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


class Problem(NamedTuple):
    """The true parameters of the arms."""

    means: np.ndarray  # (n,)
    bias: np.ndarray  # (n,) of partial feedback
    low: np.ndarray  # (n,) delays are uniform on low, ..., high steps, unless recorded
    high: np.ndarray  # (n,)
    sigma: np.ndarray  # (n,) standard deviation of a reward
    sigma_p: float  # of a partial feedback given the reward
    records: Records = NO_RECORDS


class FeedbackSums(NamedTuple):
    """What the feedback of every recorded pull adds up to, step by step; d may be 0."""

    sums: np.ndarray  # (n, m, d) of forecasts
    squares: np.ndarray  # (n, m, d) of their squared spreads
    sharpest: np.ndarray  # (n, m) least spread of its mean before its end, sqrt(squares) / age


class Draws(NamedTuple):
    """What is drawn of the f-th pull of every arm, in row f, as far as it is drawn.

    It does not depend on the strategy. `pull_reward` and `pull_delay` look it up.
    """

    rows: np.ndarray  # (1,) number of drawn rows; the tables are longer
    rewards: np.ndarray  # (rows, n); no rows if recorded
    delays: np.ndarray  # (rows, n); no rows if recorded
    picks: np.ndarray  # (rows, n) the record of each pull; no rows if not recorded
    feedback_sums: FeedbackSums  # of all records


@jit
def make_draws(problem: Problem) -> Draws:
    """Empty tables."""
    n = problem.means.size
    picked, draws = (ROWS, 0) if problem.records.rewards.size > 0 else (0, ROWS)
    return Draws(
        rows=np.zeros(1, np.int64),
        rewards=np.empty((draws, n)),
        delays=np.empty((draws, n), np.int32),
        picks=np.empty((picked, n), np.int32),
        feedback_sums=_add_up(problem.records),
    )


@jit
def _add_up(records: Records) -> FeedbackSums:
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
    return FeedbackSums(sums, squares, sharpest)


@inlined
def is_full(draws: Draws) -> bool:
    """Whether `draw` has no row left."""
    return draws.rows[0] == draws.rewards.shape[0] + draws.picks.shape[0]


@inlined
def pull_reward(draws: Draws, problem: Problem, number: int, arm: int) -> float:
    """The reward of an arm's pull, whose row must be drawn."""
    if draws.picks.size > 0:
        return problem.records.rewards[arm, draws.picks[number, arm]]
    return draws.rewards[number, arm]


@inlined
def pull_delay(draws: Draws, problem: Problem, number: int, arm: int) -> int:
    """The steps of an arm's pull, whose row must be drawn."""
    if draws.picks.size > 0:
        return problem.records.delays[arm, draws.picks[number, arm]]
    return draws.delays[number, arm]


@jit
def with_more_room(draws: Draws) -> Draws:
    """A copy with twice the capacity."""
    rewards, delays, picks = _twice(draws.rewards), _twice(draws.delays), _twice(draws.picks)
    return Draws(draws.rows, rewards, delays, picks, draws.feedback_sums)


@inlined
def _twice(table: np.ndarray) -> np.ndarray:
    """A copy of a table with twice as many rows."""
    larger = np.empty((2 * table.shape[0], table.shape[1]), table.dtype)
    larger[: table.shape[0]] = table
    return larger


@jit
def draw(draws: Draws, problem: Problem, environment: np.random.Generator) -> None:
    """Draw the next row: rewards, then delays if some arm's vary; or the recorded pulls."""
    rows, rewards, delays, picks, _ = draws
    row, n = rows[0], rewards.shape[1]
    rows[0] += 1
    if picks.size > 0:
        picks[row] = environment.integers(0, problem.records.rewards.shape[1], n)
        return
    for a in range(n):
        rewards[row, a] = problem.means[a] + problem.sigma[a] * environment.standard_normal()
    delays[row] = problem.low
    if (problem.low != problem.high).any():
        for a in range(n):
            delays[row, a] = environment.integers(problem.low[a], problem.high[a] + 1)


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
def look_up(draws: Draws, tally: Tally, s: int) -> None:
    """Set the sums of the recorded feedback of the pull in slot s to those at its age, not 0."""
    arm, number, age = tally.slots[ARM, s], tally.slots[NUMBER, s], tally.slots[AGE, s]
    pick = draws.picks[number, arm]
    tally.sums[s] = draws.feedback_sums.sums[arm, pick, age - 1]
    tally.squares[s] = draws.feedback_sums.squares[arm, pick, age - 1]


@inlined
def partial_feedback(
    feedback: int, problem: Problem, draws: Draws, tally: Tally, s: int, coins: np.random.Generator
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
    reward, sigma, spread = pull_reward(draws, problem, number, arm), problem.sigma[arm], 0.0
    if feedback == RECORDED:
        pick = draws.picks[number, arm]
        value = problem.records.forecasts[arm, pick, age - 1]
        spread = problem.records.spreads[arm, pick, age - 1]
    elif feedback == INCREMENTAL:
        rest = reward - tally.sums[s]
        value = increment(rest, delay - age + 1, delay, sigma, coins)  # pyright: ignore[reportArgumentType]
    else:
        value = reward + problem.bias[arm] + problem.sigma_p * coins.standard_normal()
    return value, spread  # pyright: ignore[reportReturnType]
