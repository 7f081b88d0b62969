"""Propositions 1 and 2 and the lemmas, tried on small instances: shares of runs in which they fail.

Confidence widths, N* and M* have the printed constants. What is tried is the statement; strategies
of the figures take no part, except XY-Adaptive for the length of its phases (Lemma 8).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bestarm.core.estimates import Estimate, exact, proportion
from bestarm.core.streams import run_streams, stream_key
from bestarm.linear.complexity import complexity, pulls_until
from bestarm.linear.confidence import Width
from bestarm.linear.designs import optimal_design, round_design
from bestarm.linear.phased import XYAdaptivePhases, run_phased
from bestarm.linear.problem import Problem
from bestarm.linear.strategies import ALPHA, C_PRIME, EQ_18, TWO_STEP, phase_plans

#: Runs per statement, pulls of an adaptive run, and most pulls of a run.
RUNS, ADAPTIVE_PULLS, CAP = 500, 500, 10_000_000
#: Random instances for what is computed, most dimensions or arms, and most pulls of a rounding.
TRIALS, LARGEST, MOST_PULLS = 100, 5, 40


class OrderedPairs(NamedTuple):
    """All ordered pairs of arms, in which the first may beat the second."""

    first: np.ndarray  # (m,)
    second: np.ndarray  # (m,)
    vectors: np.ndarray  # (m, d) first arm minus second


def ordered_pairs(arms: np.ndarray) -> OrderedPairs:
    """The ordered pairs of different arms (K, d)."""
    first, second = np.nonzero(~np.eye(len(arms), dtype=bool))
    return OrderedPairs(first, second, arms[first] - arms[second])


def width(n: np.ndarray, count: int, delta: float) -> np.ndarray:
    """c sqrt(log(c' n^2 count / delta)) of Proposition 1: count is K for arms, K^2 for directions.

    Args:
        n: pulls.
        count: number of inequalities.
        delta: maximum probability that one of them ever fails.
    """
    return 2.0 * np.sqrt(2.0 * np.log(C_PRIME * n**2 * count / delta))


def printed_width(n_arms: int, delta: float) -> Width:
    """The same for directions, as strategies take it."""
    return Width(8.0, float(np.log(C_PRIME * n_arms**2 / delta)), 2.0, 0.0, 1.0)


def cycle(arms: np.ndarray) -> np.ndarray:
    """A sequence of arms that is repeated: the XY-optimal design, rounded, arms in turn."""
    counts = round_design(optimal_design(arms, ordered_pairs(arms).vectors).weights, 10 * len(arms))
    places = [(k + 0.5) / count for count in counts for k in range(count)]
    return np.repeat(np.arange(len(arms)), counts)[np.argsort(places, kind="stable")]


class FixedSequenceRun(NamedTuple):
    """What a run along a fixed sequence shows."""

    missed: bool  # Proposition 1: an interval of an arm missed its mean
    misled: bool  # Lemma 4: the best arm was dominated
    oracle_wrong: bool  # Lemma 1: the estimate's arm is wrong when S* lies in the best arm's cone
    wrong: bool  # Lemma 3: it is when the empirical set lies in a cone


def fixed_runs(problem: Problem, delta: float, key: int) -> list[FixedSequenceRun]:
    """RUNS runs, until Eq. (11) holds, along `cycle`; least squares as soon as arms span R^d."""
    arms, means = problem.arms, problem.means
    between = ordered_pairs(arms)
    best = int(np.argmax(means))
    theta = np.linalg.lstsq(arms, means, rcond=None)[0]
    length = 8 * int(pulls_until(complexity(arms, means).h_lb, printed_width(len(arms), delta)))
    played = arms[np.resize(cycle(arms), length)]
    matrices = np.cumsum(played[:, :, None] * played[:, None, :], axis=0)
    ranks = np.array([np.linalg.matrix_rank(matrix) for matrix in matrices[:100]])
    start = int(np.argmax(ranks == arms.shape[1]))
    n = np.arange(start + 1.0, length + 1.0)
    inverses = np.linalg.inv(matrices[start:])

    def sizes(vectors: np.ndarray) -> np.ndarray:
        return np.sqrt(np.einsum("mi,nij,mj->nm", vectors, inverses, vectors))

    reach = width(n, len(arms), delta)[:, None] * sizes(arms)
    leads = width(n, len(arms) ** 2, delta)[:, None] * sizes(between.vectors)
    towards = between.first == best
    oracle = int(np.argmax((leads <= means[best] - means[between.second])[:, towards].all(axis=1)))
    runs = []
    for run in range(RUNS):
        noise = run_streams(key, run).environment.standard_normal(length)
        sums = np.cumsum(played * noise[:, None], axis=0)[start:]
        errors = np.einsum("nij,nj->ni", inverses, sums)
        values = (theta + errors) @ arms.T
        ahead = values[:, between.first] - values[:, between.second]
        sure = leads <= ahead
        inside = np.array([sure[:, between.first == a].all(axis=1) for a in range(len(arms))])
        stop = int(np.argmax(inside.any(axis=0)))
        if not inside[:, stop].any():
            raise RuntimeError(f"Eq. (11) does not hold within {length} pulls")
        runs.append(
            FixedSequenceRun(
                bool((np.abs(errors @ arms.T) > reach).any()),
                bool(sure[:, between.second == best].any()),
                int(np.argmax(values[oracle])) != best,
                int(np.argmax(values[stop])) != best,
            )
        )
    return runs


def share_missed_adaptively(problem: Problem, delta: float, key: int) -> Estimate:
    """Proposition 2, eta = 1: the share of RUNS runs in which an interval of an arm misses.

    Every arm pulled is the one with the highest estimate plus deviation, so it depends on the past.
    """
    arms, means = problem.arms, problem.means
    d, longest = arms.shape[1], float(np.linalg.norm(arms, axis=1).max())
    theta = np.linalg.lstsq(arms, means, rcond=None)[0]
    noise = np.array(
        [run_streams(key, run).environment.standard_normal(ADAPTIVE_PULLS) for run in range(RUNS)]
    )
    matrices, sums = np.tile(np.eye(d), (RUNS, 1, 1)), np.zeros((RUNS, d))
    missed = np.zeros(RUNS, bool)
    for t in range(ADAPTIVE_PULLS + 1):
        inverses = np.linalg.inv(matrices)
        sizes = np.sqrt(np.einsum("ki,nij,kj->nk", arms, inverses, arms))
        estimates = np.einsum("nij,nj->ni", inverses, sums)
        log_term = np.log((1.0 + t * longest**2) / delta)
        reach = np.sqrt(d * log_term) + problem.norm
        missed |= (np.abs((estimates - theta) @ arms.T) > reach * sizes).any(axis=1)
        if t < ADAPTIVE_PULLS:
            chosen = np.argmax(estimates @ arms.T + sizes, axis=1)
            x = arms[chosen]
            matrices += x[:, :, None] * x[:, None, :]
            sums += x * (means[chosen] + noise[:, t])[:, None]
    return proportion("share_missed:proposition 2", int(missed.sum()), RUNS)


def share_longer(problem: Problem, delta: float, key: int) -> Estimate:
    """Lemma 8: the share of RUNS runs of XY-Adaptive with a phase above max(M*, 16 N* / alpha)."""
    arms, means = problem.arms, problem.means
    complexities, printed = complexity(arms, means), printed_width(len(arms), delta)
    oracle, hardness = pulls_until(complexities.h_lb, printed), 0.0
    if complexities.cone_scale:
        hardness = pulls_until(complexities.cone_scale**-2, printed)
    longest = max(hardness, 16.0 * oracle / ALPHA)
    plans = phase_plans(arms, TWO_STEP, EQ_18)

    class RecordedPhases(XYAdaptivePhases):
        longest = 0.0

        def plan(self, phase, active, reached, most):
            planned = super().plan(phase, active, reached, most)
            self.longest = max(self.longest, planned.counts.sum())
            return planned

    above = 0
    for run in range(RUNS):
        phases = RecordedPhases(arms, printed, plans, rebuild=True)
        run_phased(phases, arms, means, CAP, run_streams(key, run).environment)
        above += phases.longest > longest
    return proportion("share_longer:lemma 8", above, RUNS)


def tried(name: str, problem: Problem, delta: float) -> list[Estimate]:
    """The shares of runs on an instance in which Propositions 1 and 2 and the lemmas fail."""

    def key(which: str) -> int:
        return stream_key(0, "linear", "lemmas", name, which)

    runs = np.array(fixed_runs(problem, delta, key("fixed")))
    names = ("share_missed:proposition 1", "share_misled:lemma 4")
    names += ("error_rate:lemma 1", "error_rate:lemma 3")
    fixed = [
        proportion(statistic, int(column.sum()), RUNS)
        for statistic, column in zip(names, runs.T, strict=True)
    ]
    adaptive = share_missed_adaptively(problem, delta, key("adaptive"))
    return [*fixed, adaptive, share_longer(problem, delta, key("phases"))]


def bandit_ratios(rng: np.random.Generator) -> Iterator[float]:
    """H_LB / H_MAB of TRIALS random bandits, the canonical bases of R^2 to R^LARGEST."""
    for _ in range(TRIALS):
        means = rng.random(int(rng.integers(2, LARGEST + 1)))
        gaps = means.max() - means
        gaps[np.argmax(means)] = np.sort(gaps)[1]
        yield complexity(np.eye(means.size), means).h_lb / (gaps**-2.0).sum()


def lemma_6(d: int, n: float) -> float:
    """Bound on max_x ||x||^2 of the rounded G-optimal design; Lemma 7 doubles it for XY."""
    return d * (1.0 + (d + d**2 + 2.0) / (2.0 * n))


def rounding_ratios(rng: np.random.Generator) -> Iterator[float]:
    """Lemma 6: the largest value of a rounded G-optimal design over its bound, TRIALS arm sets.

    Arms are random, of random lengths; from as many pulls as the design has arms to MOST_PULLS.
    """
    for _ in range(TRIALS):
        d = int(rng.integers(2, LARGEST + 1))
        arms = rng.normal(size=(int(rng.integers(d, 3 * d + 1)), d))
        arms *= rng.random((len(arms), 1))
        weights = optimal_design(arms, arms).weights
        worst = 0.0
        for t in range(max(d, np.count_nonzero(weights)), MOST_PULLS + 1):
            shares = round_design(weights, t) / t
            inverse = np.linalg.inv(arms.T @ (shares[:, None] * arms))
            value = np.einsum("ki,ij,kj->k", arms, inverse, arms).max()
            worst = max(worst, value / lemma_6(d, t))
        yield worst


def computed() -> list[Estimate]:
    """The largest of `bandit_ratios`, of their inverses, and of `rounding_ratios`."""
    rng = run_streams(stream_key(0, "linear", "lemmas", "random", ""), 0).environment
    bandits, rounded = list(bandit_ratios(rng)), list(rounding_ratios(rng))
    return [
        exact("complexity_ratio:largest", "", max(bandits)),
        exact("complexity_ratio:inverse", "", 1.0 / min(bandits)),
        exact("rounding_ratio:lemma 6", "", max(rounded)),
    ]
