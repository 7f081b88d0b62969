"""Confidence intervals from finished and running pulls: Propositions 1 and 2, Eq. (5)."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.delayed.radius import HALF_C, LOG_CONSTANT, growth, radius, step_growth
from bestarm.delayed.split import FACTOR, GROWTH, SHARE, radii_sum, split

#: What arrives before a pull ends (Section 2): nothing, the increments of the reward, noisy copies
#: of it, without or with a bias, or recorded forecasts of it, each with a scale of its own.
FULL, INCREMENTAL, UNBIASED, BIASED, RECORDED = range(5)
#: How delta is split: so that Eq. (4) is minimal; the same, but with 1 - (the others) for the first
#: radius; fixed in advance, with shares 6 / (pi f)^2 for the f-th pull. Or not at all: mixture.py.
OPTIMAL, PUBLISHED, GUARANTEED, MIXTURE = range(4)
#: Rows of `slots`, one column per running pull, oldest first (with `by_slot` in no order). ARM is
#: FREE in a slot without a pull.
ARM, NUMBER, AGE, DELAY = range(4)
FREE = -1
#: Rows of `cache`: the F and the `n_sharing` for which an arm's other rows hold; its half-width by
#: finished pulls alone; and, in the sum of radii with running pulls, the minima of the first
#: radius, of that of Z, and of ln(1 / share) c / 2; and a bound on what can narrow the interval.
OF_PULLS, OF_SHARING, ALONE, FIRST, SHIFT, LEVEL, USELESS = range(7)
#: Its rows with MIXTURE: what `mixture.sum_running` sums up.
WORTH, WEIGHTED = range(2)
#: Safety margin, so that rounding cannot lift a lower bound above the half-width it bounds.
ROUNDING_MARGIN = 1e-12
#: The same for USELESS, which is known to fewer digits, being a difference.
USELESS_MARGIN = 1e-9


class Rules(NamedTuple):
    """What the intervals depend on, besides observations."""

    feedback: int  # FULL (partial feedback, if any, is ignored), INCREMENTAL, UNBIASED, ...
    scale: np.ndarray  # (n,) scale of an arm's reward in Lemma 1; with MIXTURE its deviation
    scale_p: float  # of a partial feedback given the reward; if RECORDED, a factor of its own scale
    delta: float
    split: int  # OPTIMAL, PUBLISHED, GUARANTEED or MIXTURE
    survivors: bool  # whether delta is shared by the surviving arms, else by all
    pooled: int  # running pulls of an arm that enter its bound, oldest first
    by_slot: bool = False  # whether slots are processed one by one, see `racing`; not with MIXTURE
    n0: float = 1.0  # pulls that the prior of MIXTURE is worth


class Tally(NamedTuple):
    """What has been observed, and buffers."""

    finished: np.ndarray  # (n,) F, pulls that ended
    totals: np.ndarray  # (n,) sum of their rewards
    steps: np.ndarray  # (n,) observed time steps of all pulls
    delay: np.ndarray  # (n,) steps of a pull if they are the same for all; else 0
    shifts: np.ndarray  # (n,) sum of mean partial - reward, over pulls with partial feedback
    shifted: np.ndarray  # (n,) number of these pulls
    slots: np.ndarray  # (4, b) running pulls: arm, number from 0, steps so far, steps in all
    sums: np.ndarray  # (b,) sum of their partial feedback
    squares: np.ndarray  # (b,) sum of its squared scales, if RECORDED (with MIXTURE, inverse)
    terms: np.ndarray  # (4, b + 2) buffer of `split`
    cache: np.ndarray  # (7, n) what `candidates` reuses until a pull ends; WORTH, WEIGHTED
    partials: np.ndarray  # (n,) number of partial feedbacks of finished pulls, if BIASED
    errors: np.ndarray  # (n,) sum of partial feedback - reward over these
    kept: np.ndarray  # (2, n) what abandoned pulls tell, see `mixture.running_information`


@jit
def make_tally(delay: np.ndarray, batch: int) -> Tally:
    """An empty tally of n arms and `batch` slots; `delay` (n,) as in `Tally`."""
    n = delay.size
    cache = np.full((7, n), -1.0)
    cache[USELESS] = np.inf
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
        cache=cache,
        partials=np.zeros(n),
        errors=np.zeros(n),
        kept=np.zeros((2, n)),
    )


@lean
def interval(
    rules: Rules, tally: Tally, first: int, last: int, arm: int, n_sharing: int
) -> tuple[float, float]:
    """Centre and half-width of an arm's confidence interval; LCB, UCB = centre -+ half-width.

    From the finished pulls alone, Eq. (5), or with the running ones, Eqs. (4) and (6), if that is
    narrower (Algorithm 2, lines 8 to 11). With m running pulls beside F finished ones the estimate
    is the mean of F rewards and m partial means, the latter less the estimated bias Z, and errs by
    at most

        C(sigma, F + m, .) + 1/(F + m) [sum_j C(sigma_p, P_j, .) + m C(sigma_p, B, .)],

    B being the number of pulls behind Z; the paper has m = 1. The mean of P partial feedbacks of
    scales sigma_1, ..., sigma_P is treated as that of P of scale
    sqrt((sigma_1^2 + ... + sigma_P^2) / P). Increments of a pull with a known delay D are
    independent rewards of mean mu / D and scale sigma / sqrt(D), with no need to wait.

    Args:
        rules: of the intervals.
        tally: the observations; `terms` and `cache` are overwritten.
        first, last: pulls of the arm in the slots first, ..., last - 1 count.
        arm: its index.
        n_sharing: number of arms that share delta; each gets delta / n_sharing.
    """
    if rules.feedback == INCREMENTAL:
        return _of_increments(rules, tally, first, last, arm, n_sharing)
    if rules.feedback == FULL:
        pulls = tally.finished[arm]
        centre = tally.totals[arm] / pulls if pulls > 0 else 0.0
        return centre, radius(rules.scale[arm], pulls, rules.delta / n_sharing)
    centre, width, other, least = candidates(rules, tally, first, last, arm, n_sharing)
    if least > width or least == math.inf:
        return centre, width
    partial = _with_running(rules, tally, first, last, arm, n_sharing)
    if partial < width:
        return other, partial
    return centre, width


@inlined
def _with_running(
    rules: Rules, tally: Tally, first: int, last: int, arm: int, n_sharing: int
) -> float:
    """The half-width of `interval` with the running pulls; there must be at least one.

    Args:
        rules, tally, first, last, arm, n_sharing: as for `interval`.
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
    log_constant = LOG_CONSTANT + math.log(n_sharing)
    if rules.split != GUARANTEED:
        split(terms, radii, log_constant, rules.delta)
        if rules.split == PUBLISHED:
            terms[SHARE, 0] += 1.0 - rules.delta
    return radii_sum(terms, radii, log_constant) / count


@inlined
def largest_share(rules: Rules) -> float:
    """Upper bound on a radius's share of delta: fixed with GUARANTEED (1/2, or 1/3 with a bias)."""
    if rules.split != GUARANTEED:
        return rules.delta
    return rules.delta / (3.0 if rules.feedback == BIASED else 2.0)


@inlined
def _bring_up_to_date(rules: Rules, tally: Tally, arm: int, n_sharing: int) -> None:
    """Compute the arm's column of `cache` again if a pull of it ended or `n_sharing` changed.

    With one running pull the half-width is at least (FIRST + q sigma_p sqrt(LEVEL)) / (F + 1) if
    the scale of the pull's mean feedback is q sigma_p. If q exceeds USELESS, that is more than
    ALONE.
    """
    cache, pulls, shifted = tally.cache, tally.finished[arm], tally.shifted[arm]
    if cache[OF_PULLS, arm] != pulls or cache[OF_SHARING, arm] != n_sharing:
        delta_f = largest_share(rules)
        largest = 1.0 if rules.split == PUBLISHED else delta_f
        log_constant = LOG_CONSTANT + math.log(n_sharing)
        level = HALF_C * (log_constant - math.log(delta_f))
        h = growth(pulls + 1) + HALF_C * (log_constant - math.log(largest))
        cache[OF_PULLS, arm], cache[OF_SHARING, arm] = pulls, n_sharing
        cache[ALONE, arm] = radius(rules.scale[arm], pulls, delta_f / n_sharing)
        cache[FIRST, arm] = rules.scale[arm] * math.sqrt((pulls + 1) * h)
        cache[LEVEL, arm] = level
        needed = (1.0 + USELESS_MARGIN) * (pulls + 1) * cache[ALONE, arm] - cache[FIRST, arm]
        cache[USELESS, arm] = needed / (rules.scale_p * math.sqrt(level))
        if rules.feedback == BIASED and shifted > 0:
            cache[SHIFT, arm] = rules.scale_p * math.sqrt((growth(shifted) + level) / shifted)


@lean
def candidates(
    rules: Rules, tally: Tally, first: int, last: int, arm: int, n_sharing: int
) -> tuple[float, float, float, float]:
    """The two intervals that `interval` chooses from, without splitting delta, its costliest part.

    No share of delta exceeds delta itself (1 for the first radius if PUBLISHED), so the sum of
    radii with these shares is a lower bound on the minimal sum. What changes only when a pull ends
    is stored in `cache`.

    Args:
        rules: with feedback other than FULL and INCREMENTAL, which have nothing to split.
        tally: the observations; `cache` is updated.
        first, last, arm, n_sharing: as for `interval`.

    Returns:
        Centre and half-width by the finished pulls alone; centre with the running ones, and a
        lower bound on the half-width with them, infinite if there are none.
    """
    _bring_up_to_date(rules, tally, arm, n_sharing)
    finished, totals, _, _, shifts, shifted, slots, sums, squares, _, cache = tally[:11]
    pulls, biased = finished[arm], rules.feedback == BIASED
    centre = totals[arm] / pulls if pulls > 0 else 0.0
    width = cache[ALONE, arm]
    if biased and shifted[arm] == 0:
        return centre, width, centre, math.inf
    m, mean_sum, radii = 0, 0.0, cache[FIRST, arm]
    for s in range(first, last):
        if slots[ARM, s] == arm and slots[AGE, s] > 0 and m < rules.pooled:
            m += 1
            age = slots[AGE, s]
            mean_sum += sums[s] / age
            h = step_growth(age) + cache[LEVEL, arm]
            if rules.split == GUARANTEED:
                h += 2.0 * HALF_C * math.log(math.pi / math.sqrt(6.0) * (slots[NUMBER, s] + 1))
            if rules.feedback == RECORDED:
                radii += rules.scale_p * math.sqrt(squares[s] * h) / age
            else:
                radii += rules.scale_p * math.sqrt(h / age)
    if m == 0:
        return centre, width, centre, math.inf
    if biased:
        mean_sum -= m * shifts[arm] / shifted[arm]
        radii += m * cache[SHIFT, arm]
    count = pulls + m
    return centre, width, (totals[arm] + mean_sum) / count, (1.0 - ROUNDING_MARGIN) * radii / count


@lean
def _of_increments(
    rules: Rules, tally: Tally, first: int, last: int, arm: int, n_sharing: int
) -> tuple[float, float]:
    """`interval` for independent increments: standard racing on single steps."""
    total = tally.totals[arm]
    for s in range(first, last):
        if tally.slots[ARM, s] == arm:
            total += tally.sums[s]
    seen, delay = tally.steps[arm], tally.delay[arm]
    scale = rules.scale[arm] * math.sqrt(delay)
    return total * delay / seen, radius(scale, seen, rules.delta / n_sharing)
