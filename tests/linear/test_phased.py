"""Phases: how long they last, what they keep, and that they are cut at the cap."""

import itertools
import math

import numpy as np
import pytest

from bestarm.linear import reference
from bestarm.linear.allocation import (
    ARGMIN_MAX,
    BLOCK,
    TWO_STEP,
    all_pairs,
    among,
    make_uncertainty,
    spanning_arms,
)
from bestarm.linear.designs import optimal_design, round_design
from bestarm.linear.least_squares import make_fit, refit
from bestarm.linear.phased import (
    EQ_18,
    FIGURE_3,
    MOST_OPEN,
    PhasePlans,
    RagePhases,
    XYAdaptivePhases,
    fill_phase,
    run_phased,
)
from linear.instances import WIDTHS, drawn, pair_directions

SIZES = [(2, 3), (2, 5), (3, 4), (3, 6)]
MOST = 10**9


def xy_adaptive(arms, *, phase_test=EQ_18, rebuild=True, width="constant"):
    plans = PhasePlans(arms, 0.1, TWO_STEP, phase_test)
    return XYAdaptivePhases(arms, WIDTHS[width], plans, rebuild)


@pytest.mark.parametrize("phase_test", [EQ_18, FIGURE_3], ids=["eq18", "fig3"])
@pytest.mark.parametrize("rule", [TWO_STEP, ARGMIN_MAX], ids=["two-step", "argmin-max"])
@pytest.mark.parametrize("every", [1, 30])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_phase_ends_as_soon_as_its_uncertainty_is_low_enough(size, every, rule, phase_test):
    arms = drawn(1, *size).arms
    first = spanning_arms(arms)
    for left in (size[1], 2):
        active = np.arange(size[1]) < left
        for wanted in (0.47, 0.031) if phase_test == EQ_18 else (0.097, 1.03e-4):
            fit = make_fit(arms, 0.0)
            fit.counts[first] = 1.0
            directions = among(all_pairs(size[1]), active)
            buffer = make_uncertainty(size[1], directions.first.size)
            sequence = np.empty(10_000, np.uint16)
            n, reached, complete = fill_phase(
                fit, directions, buffer, rule, phase_test, wanted, every, sequence
            )
            counts, literal = reference.fill_phase(
                arms, first, active, rule, phase_test == FIGURE_3, wanted, every
            )
            assert complete
            np.testing.assert_array_equal(fit.counts, counts)
            counts[first] -= 1
            np.testing.assert_array_equal(np.bincount(sequence[:n], minlength=size[1]), counts)
            assert reached == pytest.approx(literal, rel=1e-9)


def test_a_phase_stops_at_the_pulls_allowed():
    arms = drawn(1, 2, 4).arms
    fit = make_fit(arms, 0.0)
    fit.counts[spanning_arms(arms)] = 1.0
    pairs, sequence = all_pairs(4), np.empty(1998, np.uint16)
    buffer = make_uncertainty(4, pairs.first.size)
    n, reached, complete = fill_phase(fit, pairs, buffer, TWO_STEP, EQ_18, 1e-6, 1, sequence)
    assert not complete
    assert n == 1998
    assert fit.counts.sum() == 2000
    inverse = np.linalg.inv(reference.design_matrix(arms, fit.counts))
    wanted = reference.squared(inverse, pair_directions(arms)).max()
    assert reached == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("phase_test", [EQ_18, FIGURE_3], ids=["eq18", "fig3"])
class TestXYAdaptive:
    def test_starts_from_rho_0_over_n_0(self, phase_test):
        """Figure 3: rho_0 = 1 and n_0 = d (d + 1) + 1."""
        assert xy_adaptive(drawn(0, 3, 5).arms, phase_test=phase_test).start == 1.0 / 13.0

    def test_a_plan_depends_on_what_is_active_and_reached_alone(self, phase_test):
        arms = drawn(2, 3, 5).arms
        used, fresh = (xy_adaptive(arms, phase_test=phase_test) for _ in range(2))
        active, few = np.ones(5, bool), np.array([True, False, True, False, True])
        used.plan(1, active, used.start, MOST)
        used.plan(2, active, used.start / 3.0, MOST)
        used.plan(2, few, used.start, 50)
        for left, reached in ((few, used.start), (active, 0.004)):
            one, two = used.plan(7, left, reached, MOST), fresh.plan(1, left, reached, MOST)
            np.testing.assert_array_equal(one.counts, two.counts)
            assert one[1:] == two[1:]
            assert one.complete
            assert one.reached <= 0.1 * reached

    def test_a_plan_pulls_each_spanning_arm_and_keeps_to_the_pulls_allowed(self, phase_test):
        arms = drawn(2, 3, 5).arms
        phases = xy_adaptive(arms, phase_test=phase_test)
        whole = phases.plan(1, np.ones(5, bool), phases.start, MOST)
        assert (whole.counts[spanning_arms(arms)] >= 1).all()
        n = int(whole.counts.sum())
        for most in (1, 2, 3, 10, n - 1, n):
            plan = phases.plan(1, np.ones(5, bool), phases.start, most)
            assert plan.counts.sum() == most
            assert plan.complete == (most == n)


@pytest.mark.parametrize("rule", [TWO_STEP, ARGMIN_MAX], ids=["two-step", "argmin-max"])
def test_a_plan_does_not_depend_on_what_was_asked_before(rule):
    """Phases cut short, gone on with and dropped in between, past several blocks."""
    arms = drawn(2, 3, 5).arms
    used = PhasePlans(arms, 1e-4, rule, EQ_18)
    keys = [
        (np.arange(5) < left, reached) for left in (5, 4, 3) for reached in (0.9, 0.8, 0.7, 0.6)
    ]
    assert len(keys) > MOST_OPEN
    for most in (700, 3 * BLOCK - 5, 2000, 4 * BLOCK, MOST, 900):
        for active, reached in keys:
            alone = PhasePlans(arms, 1e-4, rule, EQ_18).plan(active, reached, most)
            found = used.plan(active, reached, most)
            np.testing.assert_array_equal(found.counts, alone.counts)
            assert found.complete == alone.complete
            assert found.counts.sum() <= most
            assert not found.complete or found.reached == alone.reached


@pytest.mark.parametrize("rebuild", [True, False], ids=["rebuilt", "kept-out"])
def test_survivors_are_the_arms_not_dominated(rebuild):
    rng, back = np.random.default_rng(0), 0
    for seed in range(40):
        arms = drawn(seed, 3, 6).arms
        phases = xy_adaptive(arms, rebuild=rebuild)
        active = rng.random(6) < 0.6
        active[:2] = True
        fit = make_fit(arms, 0.0)
        fit.counts[:] = rng.integers(1, 60, 6)
        fit.sums[:] = rng.normal(size=6) * fit.counts
        refit(fit)
        pool = np.ones(6, bool) if rebuild else active
        inverse = np.linalg.inv(reference.design_matrix(arms, fit.counts))
        wide = math.sqrt(2.0 * math.log(40.0))
        wanted = pool.copy()
        wanted[pool] = ~reference.dominated(arms[pool], inverse, fit.theta, wide)
        left = phases.survivors(fit, 2, active, 500)
        np.testing.assert_array_equal(left, wanted)
        assert left.any()
        back += (left & ~active).any()
    assert (back > 0) == rebuild


class TestRage:
    DELTA = 0.1

    @pytest.mark.parametrize("phase", [1, 2, 5])
    @pytest.mark.parametrize("size", SIZES, ids=str)
    def test_a_plan_is_its_formula(self, size, phase):
        arms = drawn(3, *size).arms
        active = np.arange(size[1]) < 3
        weights, rho, _ = optimal_design(arms, pair_directions(arms[active]))
        log_term = math.log(2.0 * size[1] ** 2 * phase**2 / self.DELTA)
        wanted = 8.0 * (2.0 ** (phase - 1)) ** 2 * rho * 1.1 * log_term
        n = math.ceil(max(wanted, 20.0 * np.count_nonzero(weights)))
        counts = round_design(weights, n)
        counts[spanning_arms(arms)] = np.maximum(counts[spanning_arms(arms)], 1)
        plan = RagePhases(arms, self.DELTA).plan(phase, active, 0.0, MOST)
        assert plan.complete
        np.testing.assert_array_equal(plan.counts, counts)

    def test_an_uncertainty_at_the_end_of_a_phase_halves_the_gap(self):
        """radius ||y|| <= 2^-t: what the lengths of the phases are for."""
        arms = drawn(3, 3, 6).arms
        phases = RagePhases(arms, self.DELTA)
        for phase in range(1, 6):
            plan = phases.plan(phase, np.ones(6, bool), 0.0, MOST)
            inverse = np.linalg.inv(reference.design_matrix(arms, plan.counts))
            longest = math.sqrt(reference.squared(inverse, pair_directions(arms)).max())
            wide = math.sqrt(2.0 * math.log(72.0 * phase**2 / self.DELTA))
            assert wide * longest <= 2.0**-phase * 1.02

    def test_survivors_are_the_active_arms_that_no_active_one_dominates(self):
        rng = np.random.default_rng(0)
        for seed in range(20):
            arms = drawn(seed, 3, 6).arms
            active = rng.random(6) < 0.6
            active[:2] = True
            fit = make_fit(arms, 0.0)
            fit.counts[:] = rng.integers(1, 200, 6)
            fit.sums[:] = rng.normal(size=6) * fit.counts
            refit(fit)
            inverse = np.linalg.inv(reference.design_matrix(arms, fit.counts))
            wide = math.sqrt(2.0 * math.log(2.0 * 36 * 9 / self.DELTA))
            wanted = active.copy()
            wanted[active] = ~reference.dominated(arms[active], inverse, fit.theta, wide)
            left = RagePhases(arms, self.DELTA).survivors(fit, 3, active, 500)
            np.testing.assert_array_equal(left, wanted)
            assert left.any()


def made(name, arms):
    if name == "RAGE":
        return RagePhases(arms, 0.1)
    return xy_adaptive(arms, rebuild=name == "rebuilt", width="growing")


class Recorded:
    """Phases that note what they are asked and what they answer."""

    def __init__(self, phases):
        self._phases, self.start = phases, phases.start
        self.plans, self.left = [], []

    def plan(self, *asked):
        self.plans.append((asked, self._phases.plan(*asked)))
        return self.plans[-1][1]

    def survivors(self, *asked):
        self.left.append(self._phases.survivors(*asked))
        return self.left[-1]


@pytest.mark.parametrize("name", ["RAGE", "rebuilt", "kept-out"])
class TestRun:
    def test_hands_each_phase_what_the_last_one_left(self, name):
        several = 0
        for seed in range(20):
            arms, _, means = drawn(seed, 3, 5, strength=1.0)
            phases = Recorded(made(name, arms))
            rng = np.random.default_rng(seed)
            fit, left, pulls, stopped = run_phased(phases, arms, means, 200_000, rng)
            done = [plan for _, plan in phases.plans if plan.complete]
            assert len(done) == len(phases.left)
            before = [(np.ones(5, bool), phases.start)]
            before += [(after, plan.reached) for after, plan in zip(phases.left, done, strict=True)]
            spent = 0
            for (asked, plan), (active, reached) in zip(phases.plans, before, strict=False):
                np.testing.assert_array_equal(asked[1], active)
                assert asked[2] == reached
                assert asked[3] == 200_000 - spent
                spent += plan.counts.sum()
            assert [asked[0] for asked, _ in phases.plans] == [*range(1, len(phases.plans) + 1)]
            assert pulls.sum() == spent
            assert stopped == (left.sum() == 1)
            assert left.any()
            np.testing.assert_array_equal(fit.counts, done[-1].counts)
            if name != "rebuilt":
                assert all((b <= a).all() for a, b in itertools.pairwise(phases.left))
            several += len(phases.plans) > 2
        assert several > 0

    @pytest.mark.parametrize("cap", [1, 2, 3, 50, 700, 701, 20_000])
    def test_the_cap_cuts_a_phase(self, name, cap):
        arms, _, means = drawn(0, 3, 5, strength=1e-3)
        _, left, pulls, stopped = run_phased(
            made(name, arms), arms, means, cap, np.random.default_rng(0)
        )
        assert not stopped
        assert left.sum() > 1
        assert pulls.sum() == cap
        assert (pulls == np.floor(pulls)).all()


def test_arms_left_out_may_return_where_they_are_rebuilt():
    returned = 0
    for seed in range(60):
        arms, _, means = drawn(seed, 3, 6, strength=0.5)
        phases = Recorded(made("rebuilt", arms))
        run_phased(phases, arms, means, 100_000, np.random.default_rng(seed))
        returned += any((b & ~a).any() for a, b in itertools.pairwise(phases.left))
    assert returned > 0
