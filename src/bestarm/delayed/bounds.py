"""What an arm's finished and running pulls say of its mean: Propositions 1 and 2, Eq. (5)."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.delayed.radius import HALF_C, LOG_CONSTANT, growth, radius, step_growth
from bestarm.delayed.split import FACTOR, GROWTH, SHARE, radii_sum, split

#: What arrives before a pull ends (Section 2): nothing, the increments of the reward, noisy copies
#: of it, without or with a bias, or recorded forecasts of it, each with a scale of its own.
FULL, INCREMENTAL, UNBIASED, BIASED, RECORDED = range(5)
#: How delta is split: as Eq. (4) is least; the same but with 1 - (the others) for the first
#: radius; fixed beforehand, with shares 6 / (pi f)^2 for the f-th pull.
OPTIMAL, PUBLISHED, GUARANTEED = range(3)
#: Rows of `slots`, a column a running pull, oldest first (with `by_slot` in no order, and in one
#: without a pull ARM is FREE).
ARM, NUMBER, AGE, DELAY = range(4)
FREE = -1
#: Rows of `known`: F and n that an arm's other rows are of; its half-width by finished pulls alone;
#: in the sum of radii with running ones the least of the first, of Z, and of ln(1 / share) c / 2.
OF_PULLS, OF_ARMS, ALONE, FIRST, SHIFT, LEVEL = range(6)
#: Against rounding, which must not make a bound of a half-width larger than it.
CAREFUL = 1e-12


class Rules(NamedTuple):
    """What the bounds depend on, besides observations."""

    feedback: int  # FULL (partial feedback, if any, is ignored), INCREMENTAL, UNBIASED, ...
    scale: np.ndarray  # (n,) of an arm's reward in Lemma 1
    scale_p: float  # of a partial feedback given the reward; what multiplies it, if RECORDED
    delta: float
    rule: int  # OPTIMAL, PUBLISHED or GUARANTEED
    survivors: bool  # whether delta is shared by the surviving arms, else by all
    pooled: int  # running pulls of an arm that enter its bound, oldest first
    by_slot: bool = False  # whether slots are taken one by one, each moving arms; see `racing`


class Tally(NamedTuple):
    """What has been observed."""

    finished: np.ndarray  # (n,) F, pulls that ended
    totals: np.ndarray  # (n,) sum of their rewards
    steps: np.ndarray  # (n,) time steps observed of finished and running pulls
    delay: np.ndarray  # (n,) steps of a pull, where all have as many; else 0
    shifts: np.ndarray  # (n,) sum over those of more than one step of mean partial - reward
    shifted: np.ndarray  # (n,) number of those
    slots: np.ndarray  # (4, b) running pulls: arm, number from 0, steps so far, steps in all
    sums: np.ndarray  # (b,) sum of their partial feedback
    squares: np.ndarray  # (b,) sum of its squared scales, if RECORDED
    terms: np.ndarray  # (4, b + 2) scratch of `split`
    known: np.ndarray  # (6, n) what `candidates` keeps between pulls that end


@jit
def make_tally(delay: np.ndarray, batch: int) -> Tally:
    """Nothing observed of n arms; `delay` (n,) as in `Tally`, `batch` slots."""
    n = delay.size
    return Tally(
        finished=np.zeros(n, np.int64),
        totals=np.zeros(n),
        steps=np.zeros(n, np.int64),
        delay=delay,
        shifts=np.zeros(n),
        shifted=np.zeros(n, np.int64),
        slots=np.full((4, batch), FREE, np.int64),
        sums=np.zeros(batch),
        squares=np.zeros(batch),
        terms=np.zeros((4, batch + 2)),
        known=np.full((6, n), -1.0),
    )


@lean
def interval(
    rules: Rules, tally: Tally, first: int, last: int, arm: int, arms: int
) -> tuple[float, float]:
    """Centre and half-width of an arm's confidence interval, LCB and UCB being their sum.

    Of the finished pulls alone, Eq. (5), or with the running ones, Eqs. (4) and (6), where that is
    narrower (Algorithm 2, lines 8 to 11). With m running pulls beside F finished ones the estimate
    is the mean of F rewards and m partial means, the latter less the estimated bias Z, and errs by
    at most

        C(sigma, F + m, .) + 1/(F + m) [sum_j C(sigma_p, P_j, .) + m C(sigma_p, B, .)],

    B being the pulls behind Z; m = 1 is the paper's. P partial feedbacks of scales sigma_1, ...,
    sigma_P have a mean like that of P of scale sqrt((sigma_1^2 + ... + sigma_P^2) / P). Incremental
    feedback of a known delay D is a bandit of its own, with mean mu / D and scale sigma / sqrt(D),
    and no pull to wait for.

    Args:
        tally: `terms` is overwritten.
        first, last: of the slots first, ..., last - 1 those with pulls of the arm count.
        arm: its index.
        arms: delta's share for an arm is delta / arms.
    """
    if rules.feedback == INCREMENTAL:
        return _of_increments(rules, tally, first, last, arm, arms)
    if rules.feedback == FULL:
        pulls = tally.finished[arm]
        centre = tally.totals[arm] / pulls if pulls > 0 else 0.0
        return centre, radius(rules.scale[arm], pulls, rules.delta / arms)
    centre, width, other, least = candidates(rules, tally, first, last, arm, arms)
    if least > width or least == math.inf:
        return centre, width
    partial = _with_running(rules, tally, first, last, arm, arms)
    if partial < width:
        return other, partial
    return centre, width


@inlined
def _with_running(rules: Rules, tally: Tally, first: int, last: int, arm: int, arms: int) -> float:
    """The half-width that `interval` has with the running pulls, of which there is at least one.

    Args:
        rules, tally, first, last, arm, arms: as of `interval`.
    """
    slots, terms, shifted = tally.slots, tally.terms, tally.shifted[arm]
    delta_f = largest_share(rules)
    m = 0
    for s in range(first, last):
        if slots[ARM, s] == arm and slots[AGE, s] > 0 and m < rules.pooled:
            m += 1
            age = slots[AGE, s]
            if rules.feedback == RECORDED:
                terms[FACTOR, m] = rules.scale_p * math.sqrt(tally.squares[s]) / age
            else:
                terms[FACTOR, m] = rules.scale_p / math.sqrt(age)
            terms[GROWTH, m] = growth(age)
            share = math.sqrt(6.0) / (math.pi * (slots[NUMBER, s] + 1))
            terms[SHARE, m] = delta_f * share * share
    count = tally.finished[arm] + m
    terms[FACTOR, 0] = rules.scale[arm] * math.sqrt(count)  # divided by count with the others below
    terms[GROWTH, 0] = growth(count)
    terms[SHARE, 0] = delta_f
    radii = m + 1
    if rules.feedback == BIASED:
        terms[FACTOR, radii] = m * rules.scale_p / math.sqrt(shifted)
        terms[GROWTH, radii] = growth(shifted)
        terms[SHARE, radii] = delta_f
        radii += 1
    log_constant = LOG_CONSTANT + math.log(arms)
    if rules.rule != GUARANTEED:
        split(terms, radii, log_constant, rules.delta)
        if rules.rule == PUBLISHED:
            terms[SHARE, 0] += 1.0 - rules.delta
    return radii_sum(terms, radii, log_constant) / count


@inlined
def largest_share(rules: Rules) -> float:
    """The most that one radius gets of delta: its part if fixed beforehand (1/3 with a bias)."""
    if rules.rule != GUARANTEED:
        return rules.delta
    return rules.delta / (3.0 if rules.feedback == BIASED else 2.0)


@inlined
def _bring_up_to_date(rules: Rules, tally: Tally, arm: int, arms: int) -> None:
    """Compute the arm's column of `known` again if a pull of it ended or `arms` changed."""
    known, pulls, shifted = tally.known, tally.finished[arm], tally.shifted[arm]
    if known[OF_PULLS, arm] != pulls or known[OF_ARMS, arm] != arms:
        delta_f = largest_share(rules)
        largest = 1.0 if rules.rule == PUBLISHED else delta_f
        log_constant = LOG_CONSTANT + math.log(arms)
        level = HALF_C * (log_constant - math.log(delta_f))
        h = growth(pulls + 1) + HALF_C * (log_constant - math.log(largest))
        known[OF_PULLS, arm], known[OF_ARMS, arm] = pulls, arms
        known[ALONE, arm] = radius(rules.scale[arm], pulls, delta_f / arms)
        known[FIRST, arm] = rules.scale[arm] * math.sqrt((pulls + 1) * h)
        known[LEVEL, arm] = level
        if rules.feedback == BIASED and shifted > 0:
            known[SHIFT, arm] = rules.scale_p * math.sqrt((growth(shifted) + level) / shifted)


@lean
def candidates(
    rules: Rules, tally: Tally, first: int, last: int, arm: int, arms: int
) -> tuple[float, float, float, float]:
    """What `interval` chooses from, without the split of delta, which takes most of its time.

    No share of delta exceeds delta itself (1 for the first radius if PUBLISHED), so radii with
    these shares add up to no more than the least sum. All that changes only when a pull ends is
    kept in `known`.

    Args:
        rules: their feedback neither FULL nor INCREMENTAL, of which there is nothing to split.
        tally: `known` is brought up to date.
        first, last, arm, arms: as of `interval`.

    Returns:
        Centre and half-width by the finished pulls alone; centre with the running ones, and a
        bound from below on the half-width with them, infinite where there are none.
    """
    _bring_up_to_date(rules, tally, arm, arms)
    finished, totals, _, _, shifts, shifted, slots, sums, squares, _, known = tally
    pulls, biased = finished[arm], rules.feedback == BIASED
    centre = totals[arm] / pulls if pulls > 0 else 0.0
    width = known[ALONE, arm]
    if biased and shifted[arm] == 0:
        return centre, width, centre, math.inf
    m, mean_sum, radii = 0, 0.0, known[FIRST, arm]
    for s in range(first, last):
        if slots[ARM, s] == arm and slots[AGE, s] > 0 and m < rules.pooled:
            m += 1
            age = slots[AGE, s]
            mean_sum += sums[s] / age
            h = step_growth(age) + known[LEVEL, arm]
            if rules.rule == GUARANTEED:
                h += 2.0 * HALF_C * math.log(math.pi / math.sqrt(6.0) * (slots[NUMBER, s] + 1))
            if rules.feedback == RECORDED:
                radii += rules.scale_p * math.sqrt(squares[s] * h) / age
            else:
                radii += rules.scale_p * math.sqrt(h / age)
    if m == 0:
        return centre, width, centre, math.inf
    if biased:
        mean_sum -= m * shifts[arm] / shifted[arm]
        radii += m * known[SHIFT, arm]
    count = pulls + m
    return centre, width, (totals[arm] + mean_sum) / count, (1.0 - CAREFUL) * radii / count


@lean
def _of_increments(
    rules: Rules, tally: Tally, first: int, last: int, arm: int, arms: int
) -> tuple[float, float]:
    """`interval` for independent increments: standard racing on single steps."""
    total = tally.totals[arm]
    for s in range(first, last):
        if tally.slots[ARM, s] == arm:
            total += tally.sums[s]
    seen, delay = tally.steps[arm], tally.delay[arm]
    scale = rules.scale[arm] * math.sqrt(delay)
    return total * delay / seen, radius(scale, seen, rules.delta / arms)
