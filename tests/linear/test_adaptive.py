"""Fully-Adaptive and LinGapE: the same runs as literal ones that look at everything every pull."""

import numpy as np
import pytest

from bestarm.core.normals import BLOCK, in_blocks
from bestarm.linear import reference
from bestarm.linear.adaptive import (
    Watch,
    best_among,
    challenger,
    distances,
    dominated,
    ellipsoid,
    find_groups,
    find_leeway,
    is_sure,
    log_growth,
    run_fully_adaptive,
    run_lingape,
    watch,
)
from bestarm.linear.allocation import ARGMIN_MAX, TWO_STEP, all_pairs
from bestarm.linear.confidence import radius
from bestarm.linear.least_squares import REFACTOR, make_fit, refit
from linear.instances import WIDTHS, drawn

SIZES = [(1, 3), (2, 3), (2, 5), (3, 4), (3, 6)]
CAP = 600
rules = pytest.mark.parametrize("rule", [TWO_STEP, ARGMIN_MAX], ids=["two-step", "argmin-max"])


def fully_adaptive(seed, size, width, rule, ridge, cap=CAP, strength=0.6):
    """The fit and the result of a run, and the generator of its normals."""
    arms, _, means = drawn(seed, *size, strength=strength)
    fit, pairs, rng = make_fit(arms, ridge), all_pairs(size[1]), np.random.default_rng(seed)
    with in_blocks(rng) as normals:
        found = run_fully_adaptive(fit, means, width, pairs, rule, False, cap, normals)
    return fit, found, rng


def same_as_literal(size, width, rule, ridge, cap=CAP, strength=0.6):
    """Compares a run with a literal one; its pulls.

    The generator goes on after the last normal, also after the end of a block.
    """
    arms, _, means = drawn(3, *size, strength=strength)
    fit, found, rng = fully_adaptive(3, size, width, rule, ridge, cap, strength)
    same = np.random.default_rng(3)
    *wanted, counts = reference.run_fully_adaptive(
        arms, means, lambda n: radius(width, n), rule, ridge, cap, same
    )
    assert found == tuple(wanted)
    np.testing.assert_array_equal(fit.counts, counts)
    assert rng.standard_normal() == same.standard_normal()
    return found[0]


@rules
@pytest.mark.parametrize("size", SIZES)
def test_runs_with_true_gaps_are_literal_ones(size, rule):
    arms, theta, means = drawn(3, *size, strength=1.0)
    fit, width = make_fit(arms, 0.0), WIDTHS["constant"]
    with in_blocks(np.random.default_rng(0)) as normals:
        found = run_fully_adaptive(fit, means, width, all_pairs(size[1]), rule, True, 2000, normals)
    *wanted, counts = reference.run_fully_adaptive(
        arms, means, lambda n: radius(width, n), rule, 0.0, 2000, np.random.default_rng(3), 1, theta
    )
    assert found == tuple(wanted)
    np.testing.assert_array_equal(fit.counts, counts)


@rules
@pytest.mark.parametrize("width", WIDTHS)
def test_fully_adaptive_pulls_what_a_look_at_every_pull_does(width, rule):
    for size in SIZES:
        same_as_literal(size, WIDTHS[width], rule, ridge=0.0)


@rules
def test_fully_adaptive_pulls_the_same_with_a_ridge(rule):
    for size in SIZES[2:4]:
        same_as_literal(size, WIDTHS["growing"], rule, ridge=1.0)


@rules
def test_fully_adaptive_pulls_the_same_over_the_end_of_blocks(rule):
    pulls = same_as_literal((2, 3), WIDTHS["growing"], rule, 0.0, 3 * BLOCK, strength=0.05)
    assert pulls > 2 * BLOCK


def test_these_runs_are_long_enough_to_tell():
    runs = [fully_adaptive(3, size, WIDTHS["growing"], TWO_STEP, 0.0)[1] for size in SIZES]
    stops = [n for n, stopped in runs if stopped]
    assert len(stops) >= 3
    assert np.median(stops) >= 50


def test_a_dominated_arm_must_stay_so_at_the_radius_of_the_end():
    """The radius grows from 0.9 to 0.95 of the arms' distance; 0.05 of it is left for a move."""
    fit, pairs = make_fit(np.eye(2), 0.0), all_pairs(2)
    fit.counts[:], fit.sums[:] = 4.0, [12.0, 0.0]
    refit(fit)
    far, beaten = np.array([3.0 / np.sqrt(0.5)]), np.zeros(2, bool)
    dominated(fit, pairs, far, 0.9 * far[0], beaten)
    assert beaten.tolist() == [False, True]
    leeway = find_leeway(fit, pairs, far, 0.9 * far[0], 0.95 * far[0], beaten)
    assert leeway.slack == pytest.approx(0.05 * far[0])


@pytest.mark.parametrize("cap", [1, 2, 3, 4, 5, 50])
def test_a_cap_cuts_a_run(cap):
    fit, found, _ = fully_adaptive(0, (3, 4), WIDTHS["growing"], TWO_STEP, 1.0, cap, strength=0.01)
    assert found == (cap, False)
    assert fit.counts.sum() == cap


def test_dominated_arms_are_those_of_equation_16():
    for seed in range(30):
        arms, _, _ = drawn(seed, 3, 6)
        rng = np.random.default_rng(seed)
        fit = make_fit(arms, 0.0)
        fit.counts[:] = rng.integers(1, 50, 6)
        fit.sums[:] = rng.normal(size=6) * fit.counts
        refit(fit)
        inverse = np.linalg.inv(reference.design_matrix(arms, fit.counts))
        for wide in (0.1, 1.0, 3.0, 10.0):
            beaten, far = np.ones(6, bool), np.empty(15)
            distances(fit, all_pairs(6), arms @ inverse @ arms.T, far)
            dominated(fit, all_pairs(6), far, wide, beaten)
            wanted = reference.dominated(arms, inverse, fit.theta, wide)
            np.testing.assert_array_equal(beaten, wanted)
            assert not beaten[np.argmax(fit.values)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_lingape_pulls_what_a_literal_one_does(size):
    for seed in range(3):
        arms, theta, means = drawn(seed, *size, strength=0.6)
        norm = float(np.linalg.norm(theta))
        fit = make_fit(arms, 1.0)
        with in_blocks(np.random.default_rng(seed)) as normals:
            found = run_lingape(fit, means, 0.1, norm, 1500, normals)
        *wanted, counts = reference.run_lingape(
            arms, means, 0.1, norm, 1.0, 1500, np.random.default_rng(seed)
        )
        assert found == tuple(wanted)
        np.testing.assert_array_equal(fit.counts, counts)


def apart(d, angle=0.3):
    """d orthogonal arms and one near the first: three linked arms and d - 2 alone; no two tie."""
    arms = np.vstack([np.diag(np.linspace(0.9, 1.1, d)), np.zeros(d)])
    arms[d, :2] = np.cos(angle), np.sin(angle)
    return arms


def turned_run(arms, means, norm, seed, cap):
    """A run of LinGapE, and what it does once all arms are turned.

    A rotation changes no run, but links all arms, so that none is left out.
    """
    rotation, runs = (
        np.linalg.qr(np.random.default_rng(seed).normal(size=[arms.shape[1]] * 2)).Q,
        [],
    )
    for turned in (arms, arms @ rotation):
        fit = make_fit(turned, 1.0)
        with in_blocks(np.random.default_rng(seed)) as normals:
            found = run_lingape(fit, means, 0.1, norm, cap, normals)
        runs.append((found, fit.counts.tolist()))
    return runs


@pytest.mark.parametrize("first", [0.4, 2.0, -0.5])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_lingape_among_arms_that_are_not_linked(d, first):
    """The best arm is one of the linked arms, surely or just, or one of the others."""
    arms = apart(d)
    theta = np.array([first, *0.3 * np.ones(d - 1)])
    for seed in range(5):
        norm = float(np.linalg.norm(theta))
        run, turned = turned_run(arms, arms @ theta, norm, seed, 5000)
        assert run == turned


def in_planes(rng):
    """(6, 4) three random arms in each of two planes that are orthogonal: two linked groups."""
    arms = np.zeros((6, 4))
    arms[:3, :2], arms[3:, 2:] = rng.normal(size=(2, 3, 2))
    return arms


@pytest.mark.parametrize("scale", [0.02, 0.1, 0.5])
def test_lingape_among_two_groups(scale):
    """Leaders and challengers of both groups take turns, more often the smaller the gaps are."""
    rng, stopped = np.random.default_rng(5), 0
    for seed in range(60):
        arms, theta = in_planes(rng), scale * rng.normal(size=4)
        run, turned = turned_run(arms, arms @ theta, float(np.linalg.norm(theta)), seed, 30_000)
        assert run == turned
        stopped += run[0][1]
    assert stopped < 60


def test_groups_are_those_of_a_walk():
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(200):
        linked = np.triu(rng.random((7, 7)) < 0.12, 1)
        table = np.where(linked | linked.T, rng.normal(size=(7, 7)), 0.0) + np.eye(7)
        group = np.empty(7, np.int64)
        several = find_groups(table, group)
        reach = np.linalg.matrix_power((table != 0.0).astype(int), 7) > 0
        np.testing.assert_array_equal(group[:, None] == group[None], reach)
        assert several == (not reach.all())
        sizes.add(len(set(group.tolist())))
    assert len(sizes) >= 5


def test_a_watch_ends_before_an_arm_outside_can_be_the_challenger():
    """Moving anything as far as pulls of the group may, within the watch's radius and bounds."""
    rng = np.random.default_rng(1)
    sure = 0
    for _ in range(3000):
        arms = apart(4)
        fit = make_fit(arms, 1.0)
        fit.counts[:] = rng.integers(1, 60, 5)
        fit.sums[:] = rng.normal(size=5) * np.sqrt(fit.counts) + fit.counts * (1.0, 0.8, 0, 0, 1.0)
        refit(fit)
        best, r = int(np.argmax(fit.values)), rng.uniform(0.5, 4.0)
        watched = Watch(np.empty(5, np.int64), np.empty(5, np.int64), np.zeros(3))
        find_groups(fit.arms @ fit.predictors.T, watched.group)
        size = watch(fit.arms @ fit.predictors.T, fit.values, best, r, watched)
        members = watched.members[:size]
        fit.counts[members] += rng.integers(0, 20, size)
        fit.sums[members] += rng.normal(0.0, 3.0, size)
        refit(fit)
        later = rng.uniform(r, watched.bounds[0])
        table, everyone = fit.arms @ fit.predictors.T, np.arange(5)
        lead = best_among(fit.values, members)
        other, excess = challenger(table, fit.values, members, lead, later)
        if size > 1 and lead == best and is_sure(watched, fit.values[lead], excess):
            sure += 1
            assert best_among(fit.values, everyone) == lead
            assert challenger(table, fit.values, everyone, lead, later) == (other, excess)
    assert sure > 1000


def test_lingape_runs_are_long_enough_to_tell():
    """Most stop, and some are refitted on the way."""
    runs = []
    for size in SIZES:
        for seed in range(3):
            arms, theta, means = drawn(seed, *size, strength=0.6)
            norm = float(np.linalg.norm(theta))
            with in_blocks(np.random.default_rng(seed)) as normals:
                runs.append(run_lingape(make_fit(arms, 1.0), means, 0.1, norm, 1500, normals))
    assert sum(stopped for _, stopped in runs) >= 8
    assert max(n for n, _ in runs) > REFACTOR


def test_the_ellipsoid_is_that_of_abbasi_yadkori():
    rng = np.random.default_rng(0)
    for ridge in (0.5, 1.0):
        fit = make_fit(drawn(1, 3, 5).arms, ridge)
        fit.counts[:] = rng.integers(0, 20, 5)
        a = reference.design_matrix(fit.arms, fit.counts, ridge)
        ratio = np.linalg.det(a) / ridge**3
        assert log_growth(fit) == pytest.approx(np.log(ratio))
        wanted = np.sqrt(2.0 * np.log(np.sqrt(ratio) / 0.05)) + np.sqrt(ridge) * 1.7
        assert ellipsoid(log_growth(fit), 1.7, 0.05, ridge) == pytest.approx(wanted)
