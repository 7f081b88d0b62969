"""Runs that use their estimates after every m-th pull only.

These are readings of when the stopping rule is tested (docs/readings.md). With m = 1 static.py and
adaptive.py have the same runs, in less time.
"""

import numpy as np

from bestarm.core.compile import jit
from bestarm.linear.adaptive import (
    GreedyRule,
    distances,
    dominated,
    pull_each,
    run_skip_interval,
)
from bestarm.linear.allocation import Directions, among, make_uncertainty, measure, products
from bestarm.linear.confidence import Width, radius
from bestarm.linear.least_squares import Fit, refit
from bestarm.linear.static import Leeway, follow, make_start, stopping_rule_holds

#: Pulls go on whatever the rewards are.
UNLIMITED = Leeway(np.inf, np.inf)


@jit
def run_static_spaced(
    fit: Fit,
    means: np.ndarray,
    width: Width,
    sequence: np.ndarray,
    n_initial: int,
    every: int,
    n: int,
    environment,
) -> tuple[int, bool]:
    """`run_static` with Eq. (11) tested after multiples of `every` pulls only.

    Args:
        fit, means, width, sequence, n_initial, n, environment: as for `run_static`.
        every: m, at least 1.

    Returns:
        Pulls, and whether the rule held; if not, call again with a longer sequence.
    """
    length, start = np.zeros(means.size), make_start(fit)
    while True:
        if n >= n_initial and n % every == 0:
            refit(fit)
            if stopping_rule_holds(fit, width, n):
                return n, True
        if n >= sequence.size:
            refit(fit)
            return n, False
        end = min((n // every + 1) * every, sequence.size)
        n = follow(fit, means, sequence[:end], n, length, UNLIMITED, start, environment)


@jit
def run_fully_adaptive_spaced(
    fit: Fit,
    means: np.ndarray,
    width: Width,
    pairs: Directions,
    rule: int,
    every: int,
    cap: int,
    environment,
) -> tuple[int, bool]:
    """`run_fully_adaptive` with dominated arms looked for after multiples of `every` pulls only.

    Args:
        fit, means, width, pairs, rule, cap, environment: as for `run_fully_adaptive`.
        every: m, at least 1.

    Returns:
        Pulls, and whether one arm was left.
    """
    n_arms = means.size
    beaten, far = np.zeros(n_arms, np.bool_), np.empty(pairs.first.size)
    length, linked, spare = np.empty(n_arms), np.empty(n_arms, np.uint64), np.empty(1)
    table = np.empty((n_arms, n_arms))
    n = pull_each(fit, means, cap, environment)
    while True:
        refit(fit)
        if n >= n_arms and n % every == 0:
            products(fit, table)
            distances(fit, pairs, table, far)
            dominated(fit, pairs, far, radius(width, n), beaten)
        alone = beaten.sum() == n_arms - 1
        if alone or n >= cap:
            refit(fit)
            return n, alone
        directions = among(pairs, ~beaten)
        uncertainty = make_uncertainty(n_arms, directions.first.size)
        measure(fit, directions, uncertainty)
        greedy = GreedyRule(directions, uncertainty, rule)
        most = min(cap, (n // every + 1) * every) - n
        n += run_skip_interval(
            fit, means, greedy, length, linked, UNLIMITED, most, spare, environment
        )
