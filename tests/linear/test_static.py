"""Runs of fixed sequences: skip intervals stop exactly where a test at every pull does."""

import math

import numpy as np
import pytest
from scipy import stats

from bestarm.core.normals import BLOCK, in_blocks
from bestarm.linear import reference
from bestarm.linear.allocation import TWO_STEP
from bestarm.linear.confidence import Width, radius
from bestarm.linear.least_squares import make_fit
from bestarm.linear.problem import Problem
from bestarm.linear.static import draw_sums, run_static, true_gaps_hold
from bestarm.linear.strategies import static_sequence
from linear.instances import WIDTHS, drawn

SIZES = [(1, 3), (2, 3), (2, 5), (3, 4), (4, 6)]
CAP = 1500


def setup(size, seed, kind, strength=1.5):
    arms, _, means = drawn(seed, *size, strength)
    sequence = static_sequence(kind, Problem(arms, means, 1.5), TWO_STEP)
    return arms, means, sequence.prefix(CAP)[:CAP], sequence.n_initial


def same_as_literal(size, seed, kind, width, strength=1.5):
    """Compares a run with a literal one; its pulls. The generator goes on after the last normal."""
    arms, means, sequence, least = setup(size, seed, kind, strength)
    fit, rng, same = make_fit(arms, 0.0), np.random.default_rng(seed), np.random.default_rng(seed)
    with in_blocks(rng) as normals:
        found = run_static(fit, means, width, sequence, least, 0, normals)
    *wanted, counts = reference.run_static(
        arms, means, lambda n: radius(width, n), sequence, least, same
    )
    assert found == tuple(wanted)
    np.testing.assert_array_equal(fit.counts, counts)
    assert rng.standard_normal() == same.standard_normal()
    return found[0]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", ["G", "XY"])
def test_stops_at_the_same_pull_as_a_test_at_every_pull(width, size, kind):
    same_as_literal(size, SIZES.index(size) % 3, kind, WIDTHS[width])


def test_normals_in_blocks_make_the_same_run():
    """Over the end of several blocks."""
    assert same_as_literal((3, 4), 1, "XY", WIDTHS["growing"], strength=0.1) > 2 * BLOCK


def test_these_runs_are_long_enough_to_tell():
    """Of the runs above most stop, and after hundreds of pulls."""
    stops = []
    for size in SIZES:
        for seed in range(3):
            arms, means, sequence, least = setup(size, seed, "G")
            width = WIDTHS["constant"]
            with in_blocks(np.random.default_rng(seed)) as normals:
                n, stopped = run_static(
                    make_fit(arms, 0.0), means, width, sequence, least, 0, normals
                )
            stops += [n] * stopped
    assert len(stops) >= 8
    assert np.median(stops) >= 50


def test_a_sequence_in_parts_is_the_same_run():
    arms, means, sequence, least = setup((3, 4), 1, "XY")
    width = WIDTHS["growing"]
    whole, parts = make_fit(arms, 0.0), make_fit(arms, 0.0)
    with in_blocks(np.random.default_rng(5)) as normals:
        wanted = run_static(whole, means, width, sequence, least, 0, normals)
    n, stopped = 0, False
    with in_blocks(np.random.default_rng(5)) as normals:
        for end in [*range(10, CAP, 101), CAP]:
            if not stopped:
                n, stopped = run_static(parts, means, width, sequence[:end], least, n, normals)
    assert (n, stopped) == wanted
    assert stopped
    np.testing.assert_array_equal(parts.sums, whole.sums)


@pytest.mark.parametrize("kind", ["G", "XY"])
def test_nothing_stops_before_the_arms_pulled_span_the_space(kind):
    """The second arm lies on the line of the first."""
    base = np.array([[0.3, 0.7], [-0.51, -1.19], [1.0, 0.2], [0.4, -0.5]])
    w = WIDTHS["growing"]
    for seed in range(12):
        theta = np.random.default_rng(seed).normal(size=2)
        means = base @ theta
        shared = static_sequence(kind, Problem(base, means, 1.0), TWO_STEP)
        sequence, least = shared.prefix(300)[:300], shared.n_initial
        with in_blocks(np.random.default_rng(seed)) as normals:
            found = run_static(make_fit(base, 0.0), means, w, sequence, least, 0, normals)
        *wanted, _ = reference.run_static(
            base, means, lambda n: radius(w, n), sequence, least, np.random.default_rng(seed)
        )
        assert found == tuple(wanted)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", ["XY", "XY-Oracle"])
def test_true_gaps_hold_from_the_same_pull_on_as_in_a_literal_scan(width, size, kind):
    w = WIDTHS[width]
    for seed in range(2):
        arms, means, sequence, least = setup(size, seed, kind)
        found = true_gaps_hold(make_fit(arms, 0.0), means, w, sequence, least, 0)
        assert found == reference.true_gaps_hold(
            arms, means, lambda n: radius(w, n), sequence, least
        )


def test_true_gaps_in_parts():
    arms, means, sequence, least = setup((4, 6), 1, "XY-Oracle", 0.5)
    whole = true_gaps_hold(make_fit(arms, 0.0), means, WIDTHS["constant"], sequence, least, 0)
    assert 100 < whole < CAP
    fit, known, found = make_fit(arms, 0.0), 0, 0
    for end in [*range(10, CAP, 37), CAP]:
        if not found:
            found, known = (
                true_gaps_hold(fit, means, WIDTHS["constant"], sequence[:end], least, known),
                end,
            )
    assert found == whole


def test_true_gaps_may_hold_at_the_last_place():
    arms, means, sequence, least = setup((4, 6), 1, "XY-Oracle", 0.5)
    whole = true_gaps_hold(make_fit(arms, 0.0), means, WIDTHS["constant"], sequence, least, 0)
    short = sequence[:whole]
    assert true_gaps_hold(make_fit(arms, 0.0), means, WIDTHS["constant"], short, least, 0) == whole


def test_sums_drawn_at_once_have_the_law_of_single_rewards():
    """theta_hat is N(theta, A^-1): so are its distance and its mean; false alarms 1e-4."""
    arms, theta, means = drawn(2, 3, 5)
    fit = make_fit(arms, 0.0)
    fit.counts[:] = [3.0, 0.0, 11.0, 40.0, 1.0]
    rng, runs = np.random.default_rng(8), 4000
    away = np.empty((runs, 3))
    for run in away:
        draw_sums(fit, means, rng.standard_normal(5))
        run[:] = fit.theta - theta
    a = reference.design_matrix(arms, fit.counts)
    distance = np.einsum("ri,ij,rj->r", away, a, away)
    assert stats.kstest(distance, stats.chi2(3).cdf).pvalue > 1e-4
    centre = away.mean(axis=0)
    assert runs * centre @ a @ centre < stats.chi2(3).isf(1e-4)


@pytest.mark.parametrize("bias", [0.0, 0.5])
def test_a_width_is_what_its_formula_says(bias):
    width = Width(scale=2.0, base=3.0, growth=1.5, offset=0.5, slope=4.0, bias=bias)
    wanted = bias + math.sqrt(2.0 * (3.0 + 1.5 * math.log(0.5 + 4.0 * 7)))
    assert radius(width, 7) == pytest.approx(wanted)
