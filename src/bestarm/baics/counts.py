"""Pulls that are told together: the steps' `observe` for counts, as one batch; and fewer arms."""

from collections.abc import Sequence

import numpy as np

from bestarm.baics.alternatives import NO_ARM, Problem, best_feasible_arm
from bestarm.baics.bets import record_bets
from bestarm.baics.e_values import DIRECTED, UNKNOWN, EValues, plan_ahead
from bestarm.baics.pairs import Pairs
from bestarm.baics.steps import INITIAL_DRAWS, Rules, State, directs, needed_e_value
from bestarm.core.anytime import BERNOULLI_SIGMA


def observe_counts(
    rules: Rules, state: State, pulls: np.ndarray, sums: np.ndarray, scatter: np.ndarray
) -> None:
    """Record a batch of pulls. All coefficients are those that were planned before it.

    Args:
        rules: of the strategy.
        state: changed in place.
        pulls: (K, L) how many.
        sums: (K, L) of their rewards.
        scatter: (K, L) sums of (X - mean of the batch)^2; read if sigma is unknown.
    """
    e_values, before = state.e_values, state.pulls.copy()
    if rules.stopping == DIRECTED:
        record(e_values, pulls, sums, state.means, rules.problem)
    state.clock[0] += int(pulls.sum())
    state.pulls[:] += pulls
    state.sums[:] += sums
    told = pulls > 0.0
    if rules.stopping == UNKNOWN:
        record_in_pairs(e_values.pairs, pulls, sums)
        n, m = before[told], pulls[told]
        apart = sums[told] / m - state.means[told]
        e_values.scatter[told] += scatter[told] + apart**2 * n * m / (n + m)
    state.means[told] = state.sums[told] / state.pulls[told]
    state.answer[0] = best_feasible_arm(state.means, rules.problem)
    if directs(rules) and state.clock[0] >= INITIAL_DRAWS * state.pulls.size:
        data = (state.pulls, state.means, rules.problem, state.answer[0])
        plan_ahead(e_values, needed_e_value(rules), state.clock[0], *data)


def record(
    e_values: EValues, pulls: np.ndarray, sums: np.ndarray, means: np.ndarray, problem: Problem
) -> None:
    """`e_values.record` for a batch: every pull of an (arm, subpopulation) has one coefficient."""
    floor, constrained = problem.floor, problem.constrained
    if floor.size:
        totals = pulls * floor + BERNOULLI_SIGMA * sums
        for arm, l in np.argwhere(pulls > 0.0).tolist():
            record_bets(e_values.bets, floor, arm, l, float(pulls[arm, l]), float(totals[arm, l]))
        return
    record_in_pairs(e_values.pairs, pulls, sums)
    below = np.maximum(-means[:, :constrained], 0.0)
    worst = below.max(axis=1, initial=0.0)
    c = below / np.where(worst > 0.0, worst, 1.0)[:, None]
    e_values.below[:] -= (c * sums[:, :constrained]).sum(axis=1)
    e_values.variance[:] += (pulls[:, :constrained] * c * c).sum(axis=1)


def record_in_pairs(pairs: Pairs, pulls: np.ndarray, sums: np.ndarray) -> None:
    """`pairs.record_pairs` for a batch."""
    b = int(pairs.planned[0])
    for k in range(len(pulls)):
        if b not in (NO_ARM, k):
            c, rows = pairs.coefficients[k], [b, k]
            pairs.moved[b, k] += pulls[rows] * c
            pairs.drift[b, k] += (c * sums[rows]).sum()
            pairs.variance[b, k] += (pulls[rows] * c * c).sum()
            if pairs.squares.size:
                pairs.squares[b, k] += pulls[rows] * c * c
                pairs.sizes[b, k] += (pulls[rows] * abs(c)).sum()


def with_arms(rules: Rules, new: State, state: State, kept: Sequence[int]) -> State:
    """Give a new state of the arms that are left their data, e-values and allocation.

    Bets and coefficients on the next pulls are planned anew, from what is known.

    Args:
        rules: for these arms.
        new: as `start` makes it; changed in place and returned.
        state: of more arms.
        kept: places there of those that are left.
    """
    left = [*kept]
    for name in ("pulls", "sums", "means"):
        getattr(new, name)[:] = getattr(state, name)[left]
    new.clock[0] = int(new.pulls.sum())
    new.answer[0] = best_feasible_arm(new.means, rules.problem) if new.clock[0] else NO_ARM
    shares = state.iterate[left]
    if shares.sum() > 0.0:
        new.iterate[:] = shares / shares.sum()
    _keep_e_values(new.e_values, state.e_values, left)
    if new.clock[0] >= INITIAL_DRAWS * new.pulls.size:
        new.tracked[:] = np.maximum(new.pulls.reshape(new.tracked.size, -1).sum(axis=1), 1.0)
        if directs(rules):
            data = (new.pulls, new.means, rules.problem, new.answer[0])
            plan_ahead(new.e_values, needed_e_value(rules), new.clock[0], *data)
    return new


def _keep_e_values(new: EValues, old: EValues, left: Sequence[int]) -> None:
    """The sums of each arm, and of each ordered pair, of those that are left."""
    sums = ("moved", "drift", "variance", "squares", "sizes")
    of_pairs = {"pairs": sums, "bets": ("wealth", "moved", "centred")}
    for part, names in of_pairs.items():
        for name in names:
            _keep(getattr(getattr(new, part), name), getattr(getattr(old, part), name), left, 2)
    for name in ("low", "high"):
        _keep(getattr(new.bets, name), getattr(old.bets, name), left, 1)
    for name in ("estimated", "bounds"):
        _keep(getattr(new.pairs, name), getattr(old.pairs, name), left, 1)
    for name in ("below", "variance", "scatter"):
        _keep(getattr(new, name), getattr(old, name), left, 1)
    new.rounding[:] = old.rounding


def _keep(new: np.ndarray, old: np.ndarray, left: Sequence[int], axes: int) -> None:
    """Copy what is of these arms, in the first axes of an array, if it is in use."""
    if old.size:
        new[:] = old[np.ix_(*[left] * axes)]
