"""Runs that use their estimates after every m-th pull, or know the gaps, against literal ones."""

import numpy as np
import pytest

from bestarm.common.paper import Cell
from bestarm.core.normals import BLOCK, in_blocks
from bestarm.core.streams import run_streams
from bestarm.linear import reference
from bestarm.linear.adaptive import run_fully_adaptive
from bestarm.linear.allocation import ARGMIN_MAX, TWO_STEP, all_pairs
from bestarm.linear.confidence import radius
from bestarm.linear.least_squares import make_fit
from bestarm.linear.problem import Problem, paper_instance
from bestarm.linear.spaced import run_fully_adaptive_spaced, run_static_spaced
from bestarm.linear.static import run_static
from bestarm.linear.strategies import added, prepare, static_sequence
from linear.instances import WIDTHS, drawn

CAP = 1500
spacings = pytest.mark.parametrize("every", [1, 7, 100])


def static(every, seed, ends=(CAP,)):
    """A run of G in parts that end at `ends`, and its fit."""
    arms, _, means = drawn(seed, 3, 4, 1.5)
    sequence = static_sequence("G", Problem(arms, means, 1.5), TWO_STEP)
    fit, n, stopped = make_fit(arms, 0.0), 0, False
    with in_blocks(np.random.default_rng(seed)) as normals:
        for end in ends:
            if not stopped:
                pulls = sequence.prefix(CAP)[:end]
                n, stopped = run_static_spaced(
                    fit, means, WIDTHS["growing"], pulls, sequence.n_initial, every, n, normals
                )
    return (n, stopped), fit, sequence


@spacings
@pytest.mark.parametrize("seed", range(3))
def test_static_runs_stop_where_literal_ones_do(every, seed):
    found, fit, sequence = static(every, seed)
    arms, _, means = drawn(seed, 3, 4, 1.5)
    *wanted, counts = reference.run_static(
        arms,
        means,
        lambda n: radius(WIDTHS["growing"], n),
        sequence.prefix(CAP)[:CAP],
        sequence.n_initial,
        np.random.default_rng(seed),
        every,
    )
    assert found == tuple(wanted)
    assert found[0] % every == 0 or found[0] == CAP
    np.testing.assert_array_equal(fit.counts, counts)


def test_these_runs_are_long_enough_to_tell():
    stops = [found[0] for found, _, _ in (static(7, seed) for seed in range(3)) if found[1]]
    assert len(stops) >= 2
    assert max(stops) > BLOCK // 2


def test_a_static_run_in_parts_is_the_same():
    """Also if a part ends where the rule is tested."""
    wanted, whole, _ = static(100, 1)
    found, parts, _ = static(100, 1, (50, 100, 199, 200, *range(203, CAP, 97), CAP))
    assert found == wanted
    np.testing.assert_array_equal(parts.sums, whole.sums)


def test_with_every_pull_the_static_run_is_that_of_skip_intervals():
    (n, stopped), fit, sequence = static(1, 1)
    arms, _, means = drawn(1, 3, 4, 1.5)
    same = make_fit(arms, 0.0)
    with in_blocks(np.random.default_rng(1)) as normals:
        pulls = sequence.prefix(CAP)[:CAP]
        wanted = run_static(same, means, WIDTHS["growing"], pulls, sequence.n_initial, 0, normals)
    assert (n, stopped) == wanted
    np.testing.assert_array_equal(fit.sums, same.sums)


@spacings
@pytest.mark.parametrize("rule", [TWO_STEP, ARGMIN_MAX], ids=["two-step", "argmin-max"])
def test_fully_adaptive_runs_are_literal_ones(every, rule):
    arms, _, means = drawn(3, 2, 4, 1.0)
    fit, width = make_fit(arms, 0.0), WIDTHS["constant"]
    with in_blocks(np.random.default_rng(3)) as normals:
        found = run_fully_adaptive_spaced(
            fit, means, width, all_pairs(4), rule, every, 600, normals
        )
    *wanted, counts = reference.run_fully_adaptive(
        arms, means, lambda n: radius(width, n), rule, 0.0, 600, np.random.default_rng(3), every
    )
    assert found == tuple(wanted)
    np.testing.assert_array_equal(fit.counts, counts)


def test_with_every_pull_fully_adaptive_is_that_of_skip_intervals():
    arms, _, means = drawn(3, 3, 6, 0.6)
    runs = []
    for every in (None, 1):
        fit, pairs, width = make_fit(arms, 0.0), all_pairs(6), WIDTHS["growing"]
        with in_blocks(np.random.default_rng(3)) as normals:
            if every is None:
                found = run_fully_adaptive(fit, means, width, pairs, TWO_STEP, False, 3000, normals)
            else:
                found = run_fully_adaptive_spaced(
                    fit, means, width, pairs, TWO_STEP, every, 3000, normals
                )
        runs.append((found, fit.counts.tolist()))
    assert runs[0] == runs[1]
    assert runs[0][0][0] > 300


@pytest.mark.parametrize("strategy", ["G", "XY", "XY-Oracle", "XY-Adaptive", "Fully-Adaptive"])
def test_true_gaps_give_every_run_the_same_pulls(strategy):
    instance = paper_instance(2)
    for name, reading in added(strategy).items():
        if reading.true_gaps and name.startswith("1*log1+"):
            replicate = prepare(instance, Cell("", strategy, {"cap": 300_000}, name))
            runs = [replicate(run_streams(5, r)) for r in range(3)]
            assert len({tuple(run.pulls) for run in runs}) == 1
            assert runs[0].tau < 300_000


@pytest.mark.parametrize("strategy", ["G", "XY", "XY-Oracle"])
def test_a_run_that_is_tested_less_often_never_stops_sooner(strategy):
    """On the same rewards; both under a narrow width, so that tests at every pull stop soon."""
    instance, setting = paper_instance(2), {"cap": 30_000}
    for name, reading in added(strategy).items():
        if reading.every > 1 and name.startswith("1*log1+"):
            often = prepare(instance, Cell("", strategy, setting, name.split("+every")[0]))
            seldom = prepare(instance, Cell("", strategy, setting, name))
            for r in range(5):
                assert often(run_streams(5, r)).tau <= seldom(run_streams(5, r)).tau
                assert seldom(run_streams(5, r)).tau % reading.every == 0
