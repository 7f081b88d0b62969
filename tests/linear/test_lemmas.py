"""What is tried of the propositions and lemmas: too narrow widths fail, a slow twin agrees."""

import math

import numpy as np
import pytest

from bestarm.core.streams import run_streams
from bestarm.linear import lemmas, reference
from bestarm.linear.confidence import radius
from bestarm.linear.problem import Problem

DELTA = 0.05
ARMS = np.array([[1.0, 0.1], [-0.4, 0.9], [0.3, -0.8]])
THETA = np.array([3.0, 0.2])
PROBLEM = Problem(ARMS, ARMS @ THETA, float(np.linalg.norm(THETA)))


@pytest.fixture(autouse=True)
def few_runs(monkeypatch):
    monkeypatch.setattr(lemmas, "RUNS", 40)
    monkeypatch.setattr(lemmas, "ADAPTIVE_PULLS", 60)


def test_the_width_for_directions_is_that_of_strategies():
    wide = lemmas.printed_width(3, DELTA)
    pulls = np.array([2.0, 50.0])
    assert [radius(wide, n) for n in pulls] == pytest.approx(lemmas.width(pulls, 9, DELTA))


def printed(n: int, count: int) -> float:
    """c sqrt(log(c' n^2 count / delta)), c = 2 sqrt 2 and c' = 6 / pi^2."""
    return 2.0 * math.sqrt(2.0 * math.log(6.0 / math.pi**2 * n**2 * count / DELTA))


def test_a_run_along_a_fixed_sequence_is_that_of_a_slow_loop():
    found = lemmas.fixed_runs(PROBLEM, DELTA, 5)
    sequence = lemmas.cycle(ARMS)
    best, pairs = 0, [(a, b) for a in range(3) for b in range(3) if a != b]
    for run in range(3):
        noise = iter(run_streams(5, run).environment.standard_normal(20_000))
        counts, sums, n, missed, misled, oracle = np.zeros(3), np.zeros(3), 0, False, False, None
        while True:
            arm = sequence[n % sequence.size]
            counts[arm] += 1.0
            sums[arm] += PROBLEM.means[arm] + next(noise)
            n += 1
            matrix = reference.design_matrix(ARMS, counts)
            if np.linalg.matrix_rank(matrix) < 2:
                continue
            inverse = np.linalg.inv(matrix)
            values = ARMS @ reference.estimate(ARMS, counts, sums)
            sizes = np.sqrt(reference.squared(inverse, ARMS))
            missed |= bool((np.abs(values - PROBLEM.means) > printed(n, 3) * sizes).any())
            lead = {
                (a, b): printed(n, 9)
                * float(np.sqrt(reference.squared(inverse, ARMS[[a]] - ARMS[[b]])[0]))
                for a, b in pairs
            }
            sure = {pair for pair in pairs if lead[pair] <= values[pair[0]] - values[pair[1]]}
            misled |= any(loser == best for _, loser in sure)
            gaps = PROBLEM.means[best] - PROBLEM.means
            if oracle is None and all(lead[best, b] <= gaps[b] for b in (1, 2)):
                oracle = int(np.argmax(values)) != best
            inside = [a for a in range(3) if all((a, b) in sure for b in range(3) if b != a)]
            if inside and oracle is not None:
                break
        wrong = int(np.argmax(values)) != best
        assert found[run].oracle_wrong == oracle
        assert found[run].wrong == wrong
        assert found[run].missed >= missed
        assert found[run].misled >= misled


def test_intervals_a_tenth_as_wide_miss_and_mislead(monkeypatch):
    wide = lemmas.width
    monkeypatch.setattr(lemmas, "width", lambda n, count, delta: 0.1 * wide(n, count, delta))
    near = PROBLEM._replace(means=PROBLEM.means / 3.0, norm=PROBLEM.norm / 3.0)
    shares = np.array(lemmas.fixed_runs(near, DELTA, 5)).mean(axis=0)
    assert shares[0] > 0.5  # an interval misses
    assert shares[1] > 0.1  # the best arm is dominated


def test_an_adaptive_sequence_keeps_its_width_and_misses_a_narrower_one():
    assert lemmas.share_missed_adaptively(PROBLEM, DELTA, 5).value == 0.0
    careless = lemmas.share_missed_adaptively(PROBLEM._replace(norm=-3.0), DELTA, 5)
    assert careless.value > 0.5


def test_two_arms_have_twice_the_bandit_complexity_and_more_arms_less(monkeypatch):
    monkeypatch.setattr(lemmas, "TRIALS", 12)
    ratios = list(lemmas.bandit_ratios(np.random.default_rng(1)))
    assert max(ratios) == pytest.approx(2.0, rel=1e-6)
    assert min(ratios) > 1.0


def test_the_bound_of_lemma_6_holds_for_the_basis_by_hand():
    # three pulls of two arms: (2, 1), value 3; bound (1 + 8 / 6) 2
    assert lemmas.lemma_6(2, 3) == pytest.approx(14.0 / 3.0)
