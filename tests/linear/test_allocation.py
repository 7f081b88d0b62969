"""Fits, rank-one updates and the greedy rules, against numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestarm.core.compile import jit
from bestarm.linear import allocation, reference
from bestarm.linear.allocation import (
    ARGMIN_MAX,
    BLOCK,
    ROUNDED,
    TIE,
    TWO_STEP,
    Directions,
    RoundedSequence,
    StaticSequence,
    all_arms,
    all_pairs,
    among,
    choose,
    choose_argmin_max,
    choose_two_step,
    make_uncertainty,
    measure,
    one_by_one,
    oracle_pairs,
    overlap,
    repeats,
    shrink,
    spanning_arms,
    worst,
)
from bestarm.linear.designs import round_design
from bestarm.linear.least_squares import REFACTOR, make_fit, refit
from bestarm.linear.problem import paper_instance
from bestarm.linear.strategies import static_sequence
from linear.instances import drawn, oracle_directions, pair_directions

SIZES = [(1, 2), (2, 3), (2, 6), (4, 5), (5, 9)]
CHOICES = {TWO_STEP: choose_two_step, ARGMIN_MAX: choose_argmin_max}


@jit
def follow(directions, uncertainty, sequence):
    """The uncertainty after many pulls, by rank-one updates alone."""
    for arm in sequence:
        shrink(directions, uncertainty, arm)


@st.composite
def states(draw):
    """Arms, counts that span, sums and a ridge."""
    d, n_arms = draw(st.sampled_from(SIZES))
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    arms = drawn(seed, d, n_arms).arms
    ridge = draw(st.sampled_from([0.0, 1.0, 0.1]))
    counts = rng.integers(0, draw(st.sampled_from([3, 1000])), n_arms).astype(float)
    counts[: n_arms if ridge == 0.0 else 1] += 1.0
    fit = make_fit(arms, ridge)
    fit.counts[:] = counts
    fit.sums[:] = rng.normal(size=n_arms) * counts
    refit(fit)
    return fit


def measured(fit, directions):
    uncertainty = make_uncertainty(len(fit.arms), directions.first.size)
    measure(fit, directions, uncertainty)
    return uncertainty


def vectors(arms, directions):
    """The y that `Directions` name."""
    seconds = [np.zeros(arms.shape[1]) if b < 0 else arms[b] for b in directions.second]
    return arms[directions.first] - seconds


@given(states())
def test_refit_is_least_squares(fit):
    arms, a = fit.arms, reference.design_matrix(fit.arms, fit.counts, fit.ridge)
    theta = reference.estimate(arms, fit.counts, fit.sums, fit.ridge)
    np.testing.assert_allclose(fit.inverse, np.linalg.inv(a), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fit.predictors, arms @ np.linalg.inv(a), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fit.theta, theta, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fit.values, arms @ theta, rtol=1e-7, atol=1e-9)


def test_refit_is_what_lstsq_makes_of_single_pulls():
    """With a ridge, of these and d pulls of sqrt(ridge) e_i that gave 0."""
    rng = np.random.default_rng(0)
    for ridge in (0.0, 2.5):
        arms = drawn(1, 3, 5).arms
        pulled, rewards = rng.integers(0, 5, 60), rng.normal(size=60)
        fit = make_fit(arms, ridge)
        np.add.at(fit.counts, pulled, 1.0)
        np.add.at(fit.sums, pulled, rewards)
        refit(fit)
        rows = np.vstack([arms[pulled], np.sqrt(ridge) * np.eye(3)])
        wanted, *_ = np.linalg.lstsq(rows, np.append(rewards, np.zeros(3)), rcond=None)
        np.testing.assert_allclose(fit.theta, wanted, atol=1e-12)


@given(states())
def test_measure_is_the_quadratic_forms(fit):
    for directions in (all_arms(len(fit.arms)), all_pairs(len(fit.arms))):
        sizes, table = measured(fit, directions)
        y = vectors(fit.arms, directions)
        inverse = np.linalg.inv(reference.design_matrix(fit.arms, fit.counts, fit.ridge))
        np.testing.assert_allclose(sizes, reference.squared(inverse, y), rtol=1e-7)
        every = np.vstack([fit.arms, np.zeros(fit.theta.size)])
        np.testing.assert_allclose(table, fit.arms @ inverse @ every.T, rtol=1e-7, atol=1e-10)
        found = [
            [overlap(directions, table, x, i) for i in range(len(y))] for x in range(len(table))
        ]
        np.testing.assert_allclose(found, fit.arms @ inverse @ y.T, rtol=1e-7, atol=1e-10)


def test_directions_are_those_of_the_paper():
    """Eqs. (12), (14) and (5)."""
    arms, _, means = drawn(4, 3, 6)
    np.testing.assert_array_equal(vectors(arms, all_arms(6)), arms)
    np.testing.assert_array_equal(vectors(arms, all_pairs(6)), pair_directions(arms))
    oracle = oracle_pairs(means)
    weighted = vectors(arms, oracle) * np.sqrt(oracle.weight)[:, None]
    np.testing.assert_allclose(weighted, oracle_directions(arms, means), rtol=1e-12)


def test_directions_among_active_arms():
    arms = drawn(4, 3, 6).arms
    active = np.array([True, False, True, True, False, True])
    left = among(all_pairs(6), active)
    np.testing.assert_array_equal(vectors(arms, left), pair_directions(arms[active]))
    assert left.weight.size == left.first.size


@settings(max_examples=60)
@given(states(), st.integers(0, 2**32))
def test_a_pull_is_a_rank_one_update(fit, seed):
    directions = all_pairs(len(fit.arms))
    followed = measured(fit, directions)
    for arm in np.random.default_rng(seed).integers(0, len(fit.arms), 20):
        shrink(directions, followed, arm)
        fit.counts[arm] += 1.0
    refit(fit)
    fresh = measured(fit, directions)
    np.testing.assert_allclose(followed.sizes, fresh.sizes, rtol=1e-9)
    np.testing.assert_allclose(followed.table, fresh.table, rtol=1e-9, atol=1e-12)


@given(states(), st.integers(1, 10**6))
def test_many_pulls_of_an_arm_are_one_update(fit, times):
    directions = all_pairs(len(fit.arms))
    followed = measured(fit, directions)
    shrink(directions, followed, 1, times)
    fit.counts[1] += times
    refit(fit)
    fresh = measured(fit, directions)
    np.testing.assert_allclose(followed.sizes, fresh.sizes, rtol=1e-6)
    np.testing.assert_allclose(followed.table, fresh.table, rtol=1e-6, atol=1e-9)


@jit
def in_a_row(directions, uncertainty, counts, rule, arm, most):
    """How often in a row, up to `most` times, a rule takes an arm, asked before every pull."""
    for k in range(most):
        if choose(directions, uncertainty, counts, rule) != arm:
            return k
        counts[arm] += 1.0
        shrink(directions, uncertainty, arm)
    return most


@pytest.mark.parametrize("rule", CHOICES, ids=["two-step", "argmin-max"])
@settings(max_examples=150)
@given(fit=states(), kept=st.sampled_from([1, 2, 4, 15]))
def test_repeats_are_what_the_rule_takes_in_a_row(rule, fit, kept):
    """Of few and of many directions; the doubling stops short of the last pull by half."""
    pairs = all_pairs(len(fit.arms))
    directions = Directions(*(part[:kept].copy() for part in pairs))
    uncertainty = measured(fit, directions)
    arm = CHOICES[rule](directions, uncertainty, fit.counts)
    found = repeats(directions, uncertainty, arm, rule, 5000)
    assert 1 <= found <= in_a_row(directions, uncertainty, fit.counts, rule, arm, found)


def test_repeats_of_arms_with_few_pulls():
    """Where one pull changes much: thousands of states of long and short arms."""
    rng = np.random.default_rng(0)
    longest = 0
    for _ in range(3000):
        d, n_arms = rng.integers(1, 4), rng.integers(2, 6)
        lengths = rng.choice([0.3, 1.0, 3.0, 10.0], size=(n_arms, 1))
        fit = make_fit(rng.normal(size=(n_arms, d)) * lengths, rng.choice([0.01, 0.1, 1.0]))
        fit.counts[:] = rng.integers(0, 3, n_arms)
        refit(fit)
        directions = Directions(*(part[:1].copy() for part in all_pairs(n_arms)))
        uncertainty = measured(fit, directions)
        arm = choose_two_step(directions, uncertainty, fit.counts)
        found = repeats(directions, uncertainty, arm, TWO_STEP, 5000)
        assert found <= in_a_row(directions, uncertainty, fit.counts, TWO_STEP, arm, found)
        longest = max(longest, found)
    assert longest > 1000


@pytest.mark.parametrize("rule", CHOICES, ids=["two-step", "argmin-max"])
def test_repeats_end_where_arms_tie(rule):
    """The second arm tells a little less; three pulls on it is the one pulled least."""
    for apart in (1e-10, 1e-8, 1e-6, 1e-4, 1e-2):
        arms = np.array([[1.0, 0.0], [np.cos(apart), np.sin(apart)], [0.0, 1.0]])
        for pulls in (10.0, 1e3, 1e5, 1e7):
            fit = make_fit(arms, 0.0)
            fit.counts[:] = pulls - 3.0, pulls, pulls
            refit(fit)
            directions = Directions(np.array([0]), np.array([-1]), np.ones(1))
            uncertainty = measured(fit, directions)
            arm = CHOICES[rule](directions, uncertainty, fit.counts)
            found = repeats(directions, uncertainty, arm, rule, 5000)
            assert arm == 0
            assert found <= in_a_row(directions, uncertainty, fit.counts, rule, arm, found)


@pytest.mark.parametrize("rule", CHOICES, ids=["two-step", "argmin-max"])
def test_repeats_are_found_where_one_direction_is_left(rule):
    """Of the paper's two arms that are hard to tell apart: within a factor 4 of what is true."""
    problem = paper_instance(5).problem
    fit = make_fit(problem.arms, 0.0)
    fit.counts[:] = 1000.0
    fit.counts[1] = 10_000.0
    refit(fit)
    directions = Directions(np.array([0]), np.array([5]), np.ones(1))
    uncertainty = measured(fit, directions)
    found = repeats(directions, uncertainty, 1, rule, 10**6)
    true = in_a_row(directions, uncertainty, fit.counts, rule, 1, 10**6)
    assert true > 10_000
    assert true / 4 <= found <= true


@pytest.mark.parametrize("greedy", [False, True], ids=["random", "greedy"])
@pytest.mark.parametrize("every", [10**6, REFACTOR], ids=["never", "now and then"])
def test_a_million_updates_drift_little(greedy, every):
    """Against a fresh factorisation, relative to the largest entry; also with none between."""
    problem = paper_instance(5).problem
    n = 10**6
    if greedy:
        sequence = static_sequence("XY", problem, TWO_STEP).prefix(n)[:n]
    else:
        sequence = np.random.default_rng(3).integers(0, 6, n)
        sequence[:6] = range(6)
    fit, directions = make_fit(problem.arms, 0.0), all_pairs(6)
    fit.counts[sequence[:6]] = 1.0
    for start in range(6, n, every):
        part = sequence[start : start + every]
        refit(fit)
        followed = measured(fit, directions)
        follow(directions, followed, part)
        fit.counts[:] += np.bincount(part, minlength=6)
    assert fit.counts.sum() == n
    inverse = np.linalg.inv(reference.design_matrix(problem.arms, fit.counts))
    y = pair_directions(problem.arms)
    np.testing.assert_allclose(followed.sizes, reference.squared(inverse, y), rtol=1e-8)
    wanted = problem.arms @ inverse @ problem.arms.T
    np.testing.assert_allclose(followed.table[:, :6], wanted, rtol=0.0, atol=1e-8 * wanted.max())


@pytest.mark.parametrize("rule", CHOICES, ids=["two-step", "argmin-max"])
@settings(max_examples=100)
@given(fit=states(), kind=st.sampled_from(["G", "XY", "oracle"]))
def test_choices_are_those_of_inverses(rule, fit, kind):
    means = fit.arms @ np.arange(1.0, 1.0 + fit.arms.shape[1])
    directions = {
        "G": all_arms(len(fit.arms)),
        "XY": all_pairs(len(fit.arms)),
        "oracle": oracle_pairs(means),
    }[kind]
    found = CHOICES[rule](directions, measured(fit, directions), fit.counts)
    a = reference.design_matrix(fit.arms, fit.counts, fit.ridge)
    y = vectors(fit.arms, directions)
    assert found == reference.choose(a, fit.arms, y, directions.weight, fit.counts, rule)


@settings(max_examples=500)
@given(
    steps=st.lists(st.sampled_from([-4000, -4, -3, -2, -1, 0, 1, 2, 3, 4]), min_size=1),
    scale=st.sampled_from([1.0, 1e-7, 3e4]),
)
def test_the_worst_of_near_ties_is_that_found_one_by_one(steps, scale):
    """Values a fraction of TIE apart: chains of them, maxima after them and before them."""
    values = scale * (1.0 + 0.4 * TIE * np.array(steps, dtype=float))
    for weight in (np.ones(values.size), np.linspace(1.0, 1.0 + TIE, values.size)):
        assert worst(values, weight) == one_by_one(values, weight)


@pytest.mark.parametrize("rule", CHOICES, ids=["two-step", "argmin-max"])
def test_ties_go_to_the_arm_pulled_least(rule):
    """Three arms on a line that tell alike, however rounding has it."""
    arms = np.array([[0.1], [-0.1], [0.1 + 1e-12]])
    for least in range(3):
        fit = make_fit(arms, 0.0)
        fit.counts[:] = 7.0
        fit.counts[least] = 5.0
        refit(fit)
        directions = all_arms(3)
        assert CHOICES[rule](directions, measured(fit, directions), fit.counts) == least


@pytest.mark.parametrize(
    ("kind", "n", "split"),
    [
        ("G", 140_075, (28014, 28015, 28015, 28015, 28015, 1)),
        ("XY", 147_620, (29523, 29524, 29524, 29524, 29524, 1)),
    ],
)
def test_two_step_rule_gives_the_published_split(kind, n, split):
    sequence = static_sequence(kind, paper_instance(5).problem, TWO_STEP).prefix(n)[:n]
    assert tuple(np.bincount(sequence)) == split


def test_rounded_pulls_are_those_of_the_rounding_of_appendix_c():
    """From a start at the rounding to the least n, each later one in turn; in two parts."""
    arms = drawn(5, 3, 6).arms
    design = np.array([0.31, 0.0, 0.17, 0.29, 0.23, 0.0]) ** 0.9  # without ties
    first = np.flatnonzero(design)
    sequence = RoundedSequence(make_fit(arms, 0.0), design, first)
    short = sequence.prefix(100).copy()
    long = sequence.prefix(2 * BLOCK)
    np.testing.assert_array_equal(long[: short.size], short)
    for n in range(first.size, 1000):
        counts = np.bincount(long[:n], minlength=6)
        np.testing.assert_array_equal(counts, round_design(design, n))


def test_rounded_sequences_begin_as_the_others_do():
    """And then follow the optimal design of the paper's instance: x6 is almost x1."""
    problem = paper_instance(5).problem
    for kind, first in (("G", 6), ("XY", 6), ("XY-Oracle", 5)):
        sequence = static_sequence(kind, problem, ROUNDED)
        assert sequence.n_initial == first
        assert sequence.prefix(first)[:first].tolist() == list(range(first))
    counts = np.bincount(static_sequence("G", problem, ROUNDED).prefix(140_075)[:140_075])
    np.testing.assert_allclose([counts[0] + counts[5], *counts[1:5]], 28015, atol=2)


@pytest.mark.parametrize("rule", CHOICES, ids=["two-step", "argmin-max"])
@pytest.mark.parametrize("kind", ["G", "XY"])
def test_sequence_is_that_of_inverses(kind, rule):
    """Past a new factorisation, and computed in two parts."""
    arms = drawn(5, 3, 5).arms
    directions = all_arms(5) if kind == "G" else all_pairs(5)
    sequence = StaticSequence(make_fit(arms, 0.0), directions, rule, np.arange(5))
    short = sequence.prefix(3000).copy()
    long = sequence.prefix(10_000)
    np.testing.assert_array_equal(long[: short.size], short)
    at_once = StaticSequence(make_fit(arms, 0.0), directions, rule, np.arange(5)).prefix(10_000)
    np.testing.assert_array_equal(at_once, long[: at_once.size])
    assert long[:5].tolist() == [0, 1, 2, 3, 4]
    counts, y = np.ones(5), vectors(arms, directions)
    for n in range(5, 5000):
        a = reference.design_matrix(arms, counts)
        if n < 150 or n % 97 == 0:
            assert long[n] == reference.choose(a, arms, y, 1.0, counts, rule)
        counts[long[n]] += 1.0


class TestFileOfASequence:
    """Processes that share a long sequence have the one that each would compute."""

    @pytest.fixture
    def make(self, monkeypatch, tmp_path):
        """A function that makes a sequence as a new process would, with its file in `tmp_path`."""
        monkeypatch.setattr(allocation, "LONG", BLOCK)
        monkeypatch.setattr(allocation, "cache_folder", lambda _: tmp_path)
        arms = drawn(5, 3, 5).arms
        return lambda rule=TWO_STEP, directions=all_pairs: StaticSequence(
            make_fit(arms, 0.0), directions(5), rule, np.arange(5)
        )

    @pytest.fixture
    def whole(self, make):
        """The first five blocks, computed at once."""
        sequence = make()
        arms = sequence.prefix(5 * BLOCK).copy()
        sequence.file.unlink()
        return arms

    def test_is_read_and_extended(self, make, whole, monkeypatch):
        make().prefix(2 * BLOCK)
        np.testing.assert_array_equal(make().prefix(5 * BLOCK), whole)
        monkeypatch.setattr(allocation, "extend", None)
        again = make()
        np.testing.assert_array_equal(again.prefix(5 * BLOCK), whole)
        assert again.prefix(1).flags.writeable

    def test_is_not_used_for_short_ones(self, make, tmp_path):
        make().prefix(BLOCK)
        assert not any(tmp_path.iterdir())

    @pytest.mark.parametrize("damage", [lambda kept: kept[:-9], lambda kept: kept[:50] + b"x" * 9])
    def test_is_replaced_if_damaged(self, make, whole, damage):
        sequence = make()
        sequence.prefix(5 * BLOCK)
        kept = sequence.file.read_bytes()
        sequence.file.write_bytes(damage(kept))
        np.testing.assert_array_equal(make().prefix(5 * BLOCK), whole)
        assert sequence.file.read_bytes() == kept

    def test_is_not_needed(self, make, whole, tmp_path):
        """A folder stands where the file would be, so it can be neither read nor written."""
        make().file.mkdir()
        np.testing.assert_array_equal(make().prefix(5 * BLOCK), whole)

    def test_has_a_name_for_each_sequence(self, make):
        gaps = [oracle_pairs(np.array([1.0, 0.5, 0.4, 0.3, low])) for low in (0.2, 0.1)]
        made = [make(), make(ARGMIN_MAX), make(directions=all_arms)]
        made += [make(directions=lambda n, pairs=pairs: pairs) for pairs in gaps]
        assert len({sequence.file for sequence in made}) == 5
        assert make().file == made[0].file


def test_index_ties_would_lock_the_rule_of_figure_2_but_fewest_pulls_do_not():
    """Where two directions share the maximum no single pull lowers it, and all arms tie."""
    sequence = StaticSequence(
        make_fit(np.eye(2), 0.0), all_arms(2), ARGMIN_MAX, np.arange(2)
    ).prefix(100)[:100]
    assert abs(np.diff(np.bincount(sequence))) <= 1


def test_spanning_arms_are_the_first_of_each_rank():
    arms = np.array(
        [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0, 0, 3.0], [1, 1, 3], [1, 0, 0]]
    )
    assert spanning_arms(arms).tolist() == [1, 3, 5]
    with pytest.raises(ValueError, match="only 2 of 3"):
        spanning_arms(arms[:5])
