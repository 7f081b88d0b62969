"""Lemma 1's radius and the split of delta."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from bestarm.delayed import reference
from bestarm.delayed.radius import LOG_CONSTANT, growth, radius
from bestarm.delayed.split import FACTOR, GROWTH, SHARE, radii_sum, split


def split_of(pieces, n, delta):
    """Shares and the sum of radii, by the kernel."""
    terms = np.full((4, len(pieces) + 1), np.nan)
    for i, (scale, tau, weight) in enumerate(pieces):
        terms[FACTOR, i] = weight * scale / math.sqrt(tau)
        terms[GROWTH, i] = growth.py_func(float(tau))
    log_constant = LOG_CONSTANT + math.log(n)
    split.py_func(terms, len(pieces), log_constant, delta)
    value = radii_sum.py_func(terms, len(pieces), log_constant)
    return terms[SHARE, : len(pieces)].copy(), value


def pieces_of(rng, m):
    """What Eq. (4), and Eq. (6) for m = 3, add up, at random."""
    pulls, observed = rng.integers(2, 10_000), rng.integers(1, 1000, m - 1)
    scale, scale_p = 10 ** rng.uniform(-2, 2, 2)
    return [(scale, pulls, 1.0), *((scale_p, int(p), 1.0 / pulls) for p in observed)]


def test_radius_is_lemma_1():
    for tau in (1, 2, 7, 1000):
        for level in (1e-9, 0.05, 0.9):
            expected = reference.radius(0.3, tau, level)
            assert radius(0.3, tau, level) == pytest.approx(expected, rel=1e-13)
    assert radius(0.3, 0, 0.1) == math.inf


def test_radius_by_hand():
    """At tau = 1 only b is left; a level of 2 zeta(2a/c) makes it 0."""
    assert radius(1.0, 1, math.exp(LOG_CONSTANT)) == pytest.approx(0.0, abs=1e-7)
    level = math.exp(LOG_CONSTANT - 2.0 / 1.1)
    assert radius(3.0, 1, level) == pytest.approx(3.0, rel=1e-13)


@pytest.mark.parametrize("m", [2, 3, 6])
def test_split_is_optimal(m):
    """Shares and sum against a root of the multiplier's equation, to 1e-9."""
    rng = np.random.default_rng(m)
    for _ in range(60):
        n, delta = int(rng.integers(1, 200)), float(10 ** rng.uniform(-10, -0.05))
        pieces = pieces_of(rng, m)
        shares, value = split_of(pieces, n, delta)
        expected, least = reference.best_split(pieces, n, delta)
        assert shares.sum() == pytest.approx(delta, rel=1e-12)
        np.testing.assert_allclose(shares, expected, rtol=1e-9)
        assert value == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("m", [2, 3])
def test_split_against_a_general_optimiser(m):
    """Nothing that scipy finds is better by 1e-9, and it finds as good."""
    rng = np.random.default_rng(10 + m)
    for _ in range(20):
        pieces = pieces_of(rng, m)
        _, value = split_of(pieces, 20, 0.05)

        def total(logits, pieces=pieces):
            shares = np.exp(np.append(logits, 0.0) - np.append(logits, 0.0).max())
            shares *= 0.05 / shares.sum()
            return sum(
                w * reference.radius(s, t, d / 20)
                for (s, t, w), d in zip(pieces, shares, strict=True)
            )

        best = minimize(total, np.zeros(m - 1), tol=1e-15, method="Nelder-Mead")
        assert best.fun == pytest.approx(value, rel=1e-9)


def test_equal_radii_share_equally():
    shares, _ = split_of([(2.0, 9, 1.0)] * 4, 10, 0.1)
    np.testing.assert_allclose(shares, 0.025, rtol=1e-12)


def missed(multiplier, level, runs=4000, horizon=2000):
    """In how many runs the mean of some first tau normals is off by more than the radius."""
    rng = np.random.default_rng(0)
    tau = np.arange(1, horizon + 1)
    width = np.array([radius(multiplier, t, level) for t in tau])
    count = 0
    for _ in range(runs):
        count += (np.abs(np.cumsum(rng.standard_normal(horizon)) / tau) > width).any()
    return int(count), runs


def test_coverage_of_twice_the_standard_deviation():
    """At most `level` of runs fail: 4000 runs, false alarm below 1e-6."""
    for level in (0.05, 0.3):
        count, runs = missed(2.0, level)
        assert count <= level * runs + 5.0 * math.sqrt(level * (1 - level) * runs)
        assert count < 0.1 * level * runs  # in fact far fewer


def test_one_standard_deviation_is_not_enough():
    """Lemma 1 read with its scale as the standard deviation fails more often than it says."""
    for level in (0.05, 0.3):
        count, runs = missed(1.0, level)
        assert count >= level * runs + 5.0 * math.sqrt(level * (1 - level) * runs)
