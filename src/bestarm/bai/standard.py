"""Make data/standard/times.csv: our stopping rules beside those of the literature, on one sample.

python -m bestarm.bai.standard --out data/standard/times.csv

Pulls are those of Track-and-Stop (D-tracking), which do not depend on the stopping rule. On each
sample every rule is tested after every pull, until all have stopped. The rules are

    mixtures    ours: pairs of arms, a mixture over each arm's mean (`TrackAndStop`)
    bets        ours, of rates: pairs of arms, bets on their difference (`TopK`)
    pairwise    Kaufmann & Koolen (2021): pairs of arms, Z > 2 C(x / 2) + 2 sum ln(4 + ln N) of
                Gaussian rewards (Corollary 10), 2 T(x / 2) + 3 sum ln(1 + ln N) of rates
                (Theorem 7)
    intervals   of rates: one-sided betting intervals of Waudby-Smith & Ramdas (2024), one per arm

with x = ln((K - 1) / delta); of intervals each side of an arm has delta / K.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from bestarm.bai import strategies
from bestarm.bai.bets import BOX, Bets, log_better, make_bets, plan_bets, record_bets
from bestarm.bai.families import BERNOULLI, GAUSSIAN, transport
from bestarm.bai.steps import (
    Rules,
    State,
    World,
    choose_track_and_stop,
    done_track_and_stop,
    fewest,
    observe,
    pull,
    start,
)
from bestarm.core.anytime import kaufmann_koolen_threshold
from bestarm.core.compile import jit, lean
from bestarm.core.estimates import mean, ratio_of_means
from bestarm.core.streams import run_streams, stream_key
from bestarm.runs.kept import Job, KeptTable, command_line

RULES = ("mixtures", "bets", "pairwise", "intervals")
MIXTURES, BETS, PAIRWISE, INTERVALS = range(4)
SEED, RUNS, DELTA = 2027, 500, 0.05
#: Of ten arms with small rates, whose bets take 100,000 pulls and more.
FEWER_RUNS = 100
#: The mean of the best arm, and that of all others.
LAWS = {
    "Gaussian, 0.5 and 0": (GAUSSIAN, 0.5, 0.0),
    "rates, 50% and 35%": (BERNOULLI, 0.5, 0.35),
    "rates, 6% and 3%": (BERNOULLI, 0.06, 0.03),
}
N_ARMS = (2, 5, 10)
#: Means that betting intervals are tested at, between the two means: the rule is not hurt by more
#: than the distance of two of them.
GRID = 64
#: Of the wealth at most this share is staked (Waudby-Smith & Ramdas 2024, Section 4.2).
STAKE = 0.5
COLUMNS = ["law", "n_arms", "rule", "delta", "runs", "pulls", "low", "high"]
COLUMNS += ["ratio", "ratio_low", "ratio_high", "wrong"]


class Intervals(NamedTuple):
    """Betting intervals at the means of a grid; arrays are changed in place."""

    grid: np.ndarray  # (n,) ascending
    wealth: np.ndarray  # (K, 2, n) ln of wealth from bets that the mean is above, and below
    variance: np.ndarray  # (K,) sums of squares about running means, with a first one of 1/4
    low: np.ndarray  # (K,) the largest of the grid that the mean is above, else -infinity
    high: np.ndarray  # (K,) the least that it is below, else infinity


@lean
def bet_on_grid(
    intervals: Intervals, level: float, arm: int, pulls: float, total: float, reward: float
) -> None:
    """Settle an arm's bets on a reward, with the pulls and sum of rewards before it.

    lambda = sqrt(2 level / (variance t ln(1 + t))), cut so that at most STAKE can be lost.
    """
    spread = (0.25 + intervals.variance[arm]) / (pulls + 1.0)
    time = pulls + 1.0
    size = math.sqrt(2.0 * level / (spread * time * math.log(1.0 + time)))
    for i in range(intervals.grid.size):
        m = intervals.grid[i]
        up, down = min(size, STAKE / m), min(size, STAKE / (1.0 - m))
        intervals.wealth[arm, 0, i] += math.log1p(up * (reward - m))
        intervals.wealth[arm, 1, i] += math.log1p(-down * (reward - m))
        if intervals.wealth[arm, 0, i] >= level:
            intervals.low[arm] = max(intervals.low[arm], m)
        if intervals.wealth[arm, 1, i] >= level:
            intervals.high[arm] = min(intervals.high[arm], m)
    mean = (0.5 + total + reward) / (time + 1.0)
    intervals.variance[arm] += (reward - mean) ** 2


@lean
def is_separate(intervals: Intervals, best: int) -> bool:
    """Whether the interval of an arm is above those of all others."""
    for a in range(intervals.low.size):
        if a != best and not intervals.low[best] >= intervals.high[a]:
            return False
    return True


@lean
def is_pairwise(rules: Rules, state: State, level: float) -> bool:
    """Whether Z_{b,a} is above Kaufmann & Koolen's threshold, of which `level` is the constant."""
    best = state.answer[0]
    for a in range(state.pulls.size):
        if a == best:
            continue
        cost = level
        for n in (state.pulls[best], state.pulls[a]):
            log_n = math.log(n)
            gaussian = rules.family == GAUSSIAN
            cost += 2.0 * math.log(4.0 + log_n) if gaussian else 3.0 * math.log(1.0 + log_n)
        statistic = transport(
            rules.family,
            float(state.pulls[best]),
            float(state.means[best]),
            float(state.pulls[a]),
            float(state.means[a]),
        )
        if not (state.means[best] > state.means[a] and statistic > cost):
            return False
    return True


@lean
def is_better(bets: Bets, best: int, level: float) -> bool:
    """Whether bets refute every other arm."""
    for a in range(bets.planned.size):
        if a != best and not log_better(bets, best, a, 0.0) > level:
            return False
    return True


@jit
def stopping_times(
    rules: Rules,
    world: World,
    constant: float,
    bets: Bets,
    intervals: Intervals,
    environment: np.random.Generator,
    coins: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """(4,) pulls and answers of RULES on one sample; 0 pulls for those that are not of the law.

    Args:
        rules: of Track-and-Stop with the proved threshold.
        world: the truth.
        constant: of Kaufmann & Koolen's threshold.
        bets, intervals: changed in place; for no arms if rewards are Gaussian.
        environment, coins: streams.
    """
    state, times, answers = start(rules), np.zeros(4, np.int64), np.full(4, -1)
    n_arms, rates = rules.n_arms, bets.low.size > 0
    level, own_level = math.log((n_arms - 1) / rules.delta), math.log(n_arms / rules.delta)
    planned = np.zeros(n_arms, np.int64)
    answers[BETS] = answers[INTERVALS] = -1 if rates else 0
    while answers.min() < 0:
        arm = choose_track_and_stop(rules, state, coins)
        reward = pull(world, state, arm, environment)
        if rates:
            record_bets(bets, arm, 1.0, reward)
            bet_on_grid(intervals, own_level, arm, state.pulls[arm], state.sums[arm], reward)
        observe(rules, state, arm, reward)
        if state.pulls[fewest(state)] == 0.0:
            continue
        best = state.answer[0]
        if rates:
            planned[:] = 0
            planned[best] = 1
            plan_bets(bets, level + math.log(2.0 / BOX), state.pulls, state.sums, planned)
        for rule in range(4):
            if answers[rule] >= 0:
                continue
            if rule == MIXTURES:
                stops = done_track_and_stop(rules, state)
            elif rule == BETS:
                stops = is_better(bets, best, level)
            elif rule == PAIRWISE:
                stops = is_pairwise(rules, state, constant)
            else:
                stops = is_separate(intervals, best)
            if stops:
                times[rule], answers[rule] = state.clock[0], best
    return times, answers


def exponential_family_cost(x: float) -> float:
    """T(x) of Kaufmann & Koolen (2021, Theorem 7), for large x about x + 4 ln(1 + x + sqrt(2 x)).

    With h(u) = u - ln u, u >= 1, and z = 3/2:

        T(x) = 2 h_z((h^-1(1 + x) + ln(2 zeta(2))) / 2),
        h_z(y) = exp(1 / h^-1(y)) h^-1(y) if y >= h(1 / ln z), else z (y - ln ln z).

    Example:
        >>> round(exponential_family_cost(5.0), 2)
        15.19
    """

    def inverse(y: float) -> float:
        return float(brentq(lambda u: u - math.log(u) - y, 1.0, 2.0 * y + 10.0))

    z, y = 1.5, 0.5 * (inverse(1.0 + x) + math.log(math.pi**2 / 3.0))
    edge = 1.0 / math.log(z)
    if y >= edge - math.log(edge):
        return 2.0 * math.exp(1.0 / inverse(y)) * inverse(y)
    return 2.0 * z * (y - math.log(math.log(z)))


def threshold_constant(family: int, x: float) -> float:
    """2 C(x / 2) or 2 T(x / 2): what Kaufmann & Koolen's threshold for two arms has beside N."""
    if family == GAUSSIAN:
        return kaufmann_koolen_threshold(x, np.ones(2)) - 4.0 * math.log(4.0)
    return 2.0 * exponential_family_cost(0.5 * x)


def play(law: str, n_arms: int, run: int) -> tuple[np.ndarray, np.ndarray]:
    """(4,) pulls and answers of RULES in a run; 0 pulls for those that are not of the law."""
    family, best, others = LAWS[law]
    means = np.array([best] + [others] * (n_arms - 1))
    reading = strategies.READINGS["Track-and-Stop"]["proven"]
    rules = strategies.make_rules("Track-and-Stop", family, n_arms, DELTA, reading)
    rates = n_arms if family == BERNOULLI else 0
    intervals = Intervals(
        grid=np.linspace(others, best, GRID),
        wealth=np.zeros((rates, 2, GRID)),
        variance=np.zeros(rates),
        low=np.full(rates, -np.inf),
        high=np.full(rates, np.inf),
    )
    constant = threshold_constant(family, math.log((n_arms - 1) / DELTA))
    streams = run_streams(stream_key(SEED, "bai", "standard", f"{law}, {n_arms} arms", ""), run)
    return stopping_times(
        rules, World(family, means), constant, make_bets(rates), intervals,
        streams.environment, streams.coins,
    )  # fmt: skip


def law_rows(law: str, n_arms: int, runs: int) -> list[dict[str, Any]]:
    """A row per rule: mean pulls, their ratio to those of `mixtures` on one sample, errors."""
    played = [play(law, n_arms, run) for run in range(runs)]
    times, answers = (np.array(column) for column in zip(*played, strict=True))
    rows = []
    for rule, name in enumerate(RULES):
        if not times[:, rule].all():
            continue
        pulls, ours = times[:, rule].astype(float), times[:, MIXTURES].astype(float)
        average, ratio = mean("pulls", "pulls", pulls), ratio_of_means("ratio", pulls, ours)
        numbers = (average.value, average.low, average.high, ratio.value, ratio.low, ratio.high)
        wrong = int((answers[:, rule] != 0).sum())
        rounded = (round(float(number), 4) for number in numbers)
        fields = (law, n_arms, name, DELTA, runs, *rounded, wrong)
        rows.append(dict(zip(COLUMNS, fields, strict=True)))
    return rows


def run_count(law: str, n_arms: int) -> int:
    """How many runs a row has."""
    return FEWER_RUNS if (law, n_arms) == ("rates, 6% and 3%", 10) else RUNS


def jobs() -> list[Job]:
    """One for each law and number of arms."""
    return [
        Job(f"{number}-{n_arms}", law_rows, (law, n_arms, run_count(law, n_arms)))
        for n_arms in N_ARMS
        for number, law in enumerate(LAWS)
    ]


TABLE = KeptTable(
    "bestarm.bai.standard",
    f"mean pulls of {RUNS} runs ({FEWER_RUNS} of ten arms with small rates) by stopping rule",
    {"runs": SEED},
    ("numpy", "numba", "scipy"),
    jobs,
    ("0-2", "1-2"),
    columns=COLUMNS,
)


if __name__ == "__main__":
    command_line("bestarm.bai.standard", __doc__ or "")
