"""Confidence intervals from the likelihood of everything observed: one bound for all feedback.

Rewards and feedback are jointly Gaussian with known scales. A finished pull tells the mean mu with
variance sigma^2, a running one with P partial feedbacks with variance sigma^2 + sigma_p^2 / P. The
likelihood ratio of mu + x against mu, mixed over x, is a martingale under mu however pulls are
chosen, ended or abandoned. Proof in docs/guarantees.md. Information is counted in pulls, that is,
times sigma^2.
"""

import math

import numpy as np

from bestarm.core.compile import inlined, lean
from bestarm.delayed.bounds import (
    AGE,
    ARM,
    BIASED,
    FULL,
    INCREMENTAL,
    RECORDED,
    WEIGHTED,
    WORTH,
    Rules,
    Tally,
)

#: Partial feedbacks for each of the prior's n0 pulls, in the prior of a bias.
BIAS_PARTIALS = 100.0


@inlined
def running_information(rules: Rules, tally: Tally, s: int) -> tuple[float, float]:
    """What the running pull in slot s tells so far: w, and w times its estimate of mu (+ bias).

        w = P / (P + sigma_p^2 / sigma^2)

    pulls; with recorded scales sigma_1, sigma_2, ... the sum of sigma^2 / sigma_i^2 replaces
    P sigma^2 / sigma_p^2; P of D increments are P / D of a pull.
    """
    age, total = tally.slots[AGE, s], tally.sums[s]
    if age == 0 or rules.feedback == FULL:
        return 0.0, 0.0
    arm = tally.slots[ARM, s]
    if rules.feedback == INCREMENTAL:
        return age / tally.delay[arm], total
    if rules.feedback == RECORDED:  # sums are weighted, see `observe_partial`
        variance = rules.scale[arm] ** 2
        scale = 1.0 + variance * tally.squares[s]
        return variance * tally.squares[s] / scale, variance * total / scale
    count = age + (rules.scale_p / rules.scale[arm]) ** 2
    return age / count, total / count


@inlined
def sum_running(rules: Rules, tally: Tally, last: int, arms: np.ndarray, n_arms: int) -> None:
    """Sum up in `cache` what running and abandoned pulls of some arms tell, in one pass over slots.

    Args:
        rules, tally: as for `mixture_interval`.
        last: pulls run in the slots 0, ..., last - 1, in all of them.
        arms: its first `n_arms` entries are the arms; `cache` is then not valid for others.
        n_arms: their number.
    """
    cache, kept = tally.cache, tally.kept
    for i in range(n_arms):
        cache[WORTH, arms[i]], cache[WEIGHTED, arms[i]] = kept[0, arms[i]], kept[1, arms[i]]
    if rules.feedback != FULL:
        for s in range(last):
            arm = tally.slots[ARM, s]
            w, total = running_information(rules, tally, s)
            cache[WORTH, arm] += w
            cache[WEIGHTED, arm] += total


@lean
def mixture_interval(rules: Rules, tally: Tally, arm: int, n_sharing: int) -> tuple[float, float]:
    """Centre and half-width of an arm's interval, valid at all times with 1 - delta / n_sharing.

    With L pulls' worth of information and the precision-weighted mean mu^,

        |mu^ - mu| <= sigma sqrt(2 beta (L + n0)) / L,
        beta = ln(n_sharing / delta) + 1/2 ln(1 + L / n0).

    Args:
        rules: of the intervals; `scale` and `scale_p` are standard deviations.
        tally: the observations, after `sum_running`.
        arm: its index.
        n_sharing: number of arms that share delta.

    Returns:
        (0, infinity) if nothing tells of mu.
    """
    worth, weighted = tally.cache[WORTH, arm], tally.cache[WEIGHTED, arm]
    inverse = n_sharing / rules.delta
    if rules.feedback == BIASED and worth + tally.partials[arm] > 0.0:
        return _biased(rules, tally, worth, weighted, arm, inverse)
    pulls = tally.finished[arm] + worth
    if pulls == 0.0:
        return 0.0, math.inf
    two_beta = math.log(inverse * inverse * (1.0 + pulls / rules.n0))
    width = rules.scale[arm] * math.sqrt(two_beta * (pulls + rules.n0)) / pulls
    return (tally.totals[arm] + weighted) / pulls, width


@inlined
def _biased(
    rules: Rules, tally: Tally, worth: float, weighted: float, arm: int, inverse: float
) -> tuple[float, float]:
    """`mixture_interval` where partial feedback has an unknown bias b.

    F finished pulls tell mu, their partial feedback less the reward tells b, and running pulls
    tell mu + b. The information about (mu, b), its prior, and the bound for all mu, b at once:

        I = [[F + W, W], [W, B + W]],   I0 = diag(n0, 100 n0 sigma^2 / sigma_p^2),
        |mu^ - mu| <= sigma sqrt(2 beta [I^-1 (I + I0) I^-1]_mu,mu),
        beta = ln(n_sharing / delta) + 1/2 ln(det(I + I0) / det(I0)).

    Args:
        rules, tally, arm: as for `mixture_interval`.
        worth: W, of running pulls.
        weighted: W times their estimate of mu + b.
        inverse: n_sharing / delta.
    """
    ratio = (rules.scale[arm] / rules.scale_p) ** 2
    a, b = float(tally.finished[arm]), ratio * tally.partials[arm]
    det = a * b + worth * (a + b)
    if det == 0.0:
        return 0.0, math.inf
    prior_a, prior_b = rules.n0, BIAS_PARTIALS * rules.n0 * ratio
    with_prior = (a + worth + prior_a) * (b + worth + prior_b) - worth * worth
    two_beta = math.log(inverse * inverse * with_prior / (prior_a * prior_b))
    total, errors = tally.totals[arm], ratio * tally.errors[arm]
    centre = ((b + worth) * total + b * weighted - worth * errors) / det
    slope, bias = (b + worth) / det, worth / det  # of the centre, in rewards and in the bias
    variance = slope + prior_a * slope * slope + prior_b * bias * bias
    return centre, rules.scale[arm] * math.sqrt(two_beta * variance)
