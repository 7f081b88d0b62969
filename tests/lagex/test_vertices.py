"""Vertices and neighbours of {pi in simplex, A pi <= b}, against every set of tight constraints."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestarm.lagex import reference, vertices
from bestarm.lagex.problem import imdb, perturbed, setup1, setup2, triangle
from bestarm.lagex.vertices import (
    EMPTY,
    FOUND,
    LOST,
    MOST_BASES,
    MOST_COLUMNS,
    SAME,
    Alternatives,
    alternatives,
    constraint_rows,
    every_alternative,
    find_alternatives,
    find_best,
    load,
    make_polytope,
    make_vertex_search,
    reduced_cost,
)
from lagex.polytopes import drawn, polytopes, same_set

#: Rounding of a few eliminations; vertices that differ do so by far more.
ROUNDING = 1e-8
PAPER = {
    "hard": setup1(0.5),
    "easy": setup1(1.3),
    "printed": setup1(0.5, printed=True),
    "setup 2": setup2("hard", [1.0, 0.5, 0.4, 0.4, 0.5]),
    "triangle": triangle(),
    "perturbed": perturbed(0.005),
}


def assert_are(found, wanted, means):
    """The same best policy and the same others, and gaps that fit them."""
    np.testing.assert_allclose(found.policy, wanted.policy, atol=ROUNDING)
    assert same_set(found.policy + found.steps, wanted.others, ROUNDING)
    np.testing.assert_allclose(found.gaps, -found.steps @ means, atol=ROUNDING)
    assert (found.gaps >= 0.0).all()
    assert found.value == pytest.approx(means @ wanted.policy, abs=ROUNDING)


@given(polytopes)
def test_all_vertices_are_found(p):
    wanted = reference.alternatives(p.means, p.matrix, p.limits, np.inf, every=True)
    assert_are(every_alternative(p.means, p.matrix, p.limits), wanted, p.means)


@given(polytopes, st.sampled_from([0.0, 0.01, 0.5]))
def test_neighbours_share_an_edge_with_the_best_or_with_one_within_r(p, r):
    wanted = reference.alternatives(p.means, p.matrix, p.limits, r)
    assert_are(alternatives(p.means, p.matrix, p.limits, r), wanted, p.means)


@given(polytopes)
def test_best_policy_is_that_of_a_linear_program(p):
    found = alternatives(p.means, p.matrix, p.limits, 0.0)
    wanted = reference.best_policy(p.means, p.matrix, p.limits)
    np.testing.assert_allclose(found.policy, wanted, atol=ROUNDING)


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize("r", [0.0, 0.01, 0.3])
def test_instances_of_the_paper(name, r):
    """They have a hundredth of noise, as estimates do; sampling looks at enough bases for that."""
    problem = PAPER[name].problem
    rng = np.random.default_rng(7)
    for scale in (0.0, 1e-2, 1e-2):
        means = problem.means + scale * rng.normal(size=problem.means.shape)
        matrix = problem.matrix + scale * rng.normal(size=problem.matrix.shape)
        wanted = reference.alternatives(means, matrix, problem.limits, r)
        assert_are(alternatives(means, matrix, problem.limits, r), wanted, means)
        if scale > 0.0:
            found, cut = listed(means, matrix, problem.limits, r, MOST_BASES)
            assert_are(found, wanted, means)
            assert r > 0.01 or not cut


def test_twelve_arms_and_three_constraints():
    problem = imdb().problem
    wanted = reference.alternatives(problem.means, problem.matrix, problem.limits, 0.01)
    assert_are(
        alternatives(problem.means, problem.matrix, problem.limits, 0.01), wanted, problem.means
    )


@settings(max_examples=100)
@given(polytopes, st.integers(0, 2**32))
def test_neighbours_decide_without_tolerance(p, seed):
    """The projection lemma for r = 0: no other vertex is cheaper to confuse with the best one."""
    omega = np.random.default_rng(seed).dirichlet(np.ones(p.means.size))
    near = reference.alternatives(p.means, p.matrix, p.limits, 0.0)
    far = reference.alternatives(p.means, p.matrix, p.limits, 0.0, every=True)
    one, two = (reference.information(omega, p.means, p.variances, f, 0.0) for f in (near, far))
    assert one == pytest.approx(two, rel=1e-9)


@settings(max_examples=100)
@given(polytopes, st.randoms(use_true_random=False))
def test_the_order_of_arms_and_constraints_does_not_matter(p, random):
    arms, rows = list(range(p.means.size)), list(range(len(p.limits)))
    random.shuffle(arms)
    random.shuffle(rows)
    one = alternatives(p.means, p.matrix, p.limits, 0.0)
    two = alternatives(p.means[arms], p.matrix[rows][:, arms], p.limits[rows], 0.0)
    np.testing.assert_allclose(two.policy, one.policy[arms], atol=ROUNDING)
    assert same_set(two.steps, one.steps[:, arms], ROUNDING)


@settings(max_examples=100)
@given(polytopes, st.floats(-10.0, 10.0))
def test_a_common_shift_of_the_means_or_of_a_row_and_its_limit_changes_nothing(p, shift):
    one = alternatives(p.means, p.matrix, p.limits, 0.0)
    two = alternatives(p.means + shift, p.matrix, p.limits, 0.0)
    three = alternatives(p.means, constraint_rows(p.matrix, p.limits), 0.0 * p.limits, 0.0)
    for other in (two, three):
        np.testing.assert_allclose(other.policy, one.policy, atol=ROUNDING)
        assert same_set(other.steps, one.steps, ROUNDING)
        np.testing.assert_allclose(np.sort(other.gaps), np.sort(one.gaps), atol=1e-7)


@pytest.mark.parametrize(
    ("matrix", "limits"),
    [
        ([[1.0, 1.0, 1.0]], [0.5]),
        ([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], [0.4, -0.6]),
        ([[0.0, 0.0, 0.0]], [-1.0]),
    ],
)
def test_an_empty_set_has_no_policy(matrix, limits):
    means, matrix, limits = np.arange(3.0), np.array(matrix), np.array(limits)
    assert reference.best_policy(means, matrix, limits) is None
    assert alternatives(means, matrix, limits, 0.0) is None
    assert every_alternative(means, matrix, limits) is None


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_random_sets_are_empty_where_a_linear_program_says_so(scale):
    """Of estimates after a pull or two; those within 1e-6 of the border are left out."""
    rng = np.random.default_rng(11)
    seen = {True: 0, False: 0}
    for _ in range(120):
        means, matrix = rng.normal(size=4), scale * rng.normal(size=(3, 4))
        limits = scale * rng.normal(size=3) * 0.5
        found = [
            reference.best_policy(means, matrix, limits + scale * move) for move in (-1e-6, 1e-6)
        ]
        empty = found[1] is None
        if empty == (found[0] is None):
            assert (alternatives(means, matrix, limits, 0.0) is None) == empty
            seen[empty] += 1
    assert min(seen.values()) > 12


def test_a_single_policy_has_no_alternatives():
    found = alternatives(np.array([1.0, 2.0, 3.0]), np.array([[0.0, 1.0, 1.0]]), np.zeros(1), 0.0)
    np.testing.assert_allclose(found.policy, [1.0, 0.0, 0.0], atol=ROUNDING)
    assert found.steps.shape == (0, 3)


def test_a_vacuous_constraint_leaves_the_simplex():
    found = alternatives(
        np.array([1.0, 3.0, 2.0]), np.array([[1.0, 0.0, 0.0]]), np.full(1, 2.0), 0.0
    )
    assert found.policy.tolist() == [0.0, 1.0, 0.0]
    wanted = np.array([[1.0, -1.0, 0.0], [0.0, -1.0, 1.0]])
    assert same_set(found.steps, wanted, ROUNDING)


def test_of_tied_policies_one_is_the_best_and_the_other_has_no_gap():
    for matrix, limits in (([[1.0, 0.0, 0.0]], [2.0]), ([[1.0, 1.0, 0.0]], [0.5])):
        found = alternatives(np.array([1.0, 1.0, 0.0]), np.array(matrix), np.array(limits), 0.0)
        assert found.value == pytest.approx(limits[0] if limits[0] < 1.0 else 1.0)
        assert found.gaps.min() == pytest.approx(0.0, abs=ROUNDING)
        tied = found.policy + found.steps[np.argmin(found.gaps)]
        assert (np.array(matrix) @ tied <= np.array(limits) + ROUNDING).all()


@pytest.mark.parametrize("noise", [1e-2, 1e-3, 1e-4])
def test_vertices_that_nearly_meet_are_looked_past_with_r(noise):
    """A degenerate vertex split by estimates: along every true edge some vertex is found.

    Not always its end, as an edge may be degenerate too and have vertices on the way.
    """
    problem = setup1(1.3).problem
    exact = alternatives(problem.means, problem.matrix, problem.limits, 0.0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        matrix = problem.matrix + noise * rng.normal(size=problem.matrix.shape)
        found = alternatives(problem.means, matrix, problem.limits, 10.0 * noise)
        ways = found.policy + found.steps - exact.policy
        for edge in exact.steps:
            along = ways @ edge / (edge @ edge)
            beside = np.abs(ways - along[:, None] * edge).max(axis=1)
            assert (beside[along > 5.0 * noise] < 10.0 * noise).any()


def lost(means, matrix, limits, variances, omega, r, reach):
    """How much too large D is where vertices out of reach are left out, as a factor."""
    near = alternatives(means, matrix, limits, reach)
    far = every_alternative(means, matrix, limits)
    if len(far.gaps) == 0:
        return 1.0
    one, two = (
        1.0 / (reference.costs(f.steps, f.gaps, variances, r) @ (1.0 / omega)).max()
        for f in (near, far)
    )
    return one / two


@given(polytopes, st.integers(0, 2**32), st.sampled_from([0.01, 0.3]), st.sampled_from([1, 3, 10]))
def test_what_is_lost_by_leaving_out_distant_vertices(p, seed, r, times):
    """With all edges of vertices within R of the best, D is too large by (1 + r / R)^2 at most.

    The segment to a vertex beyond leaves the gap R through the hull of points y of edges followed,
    and D gives |y - pi| <= (R + r) / sqrt(D) for each of them; the rest is proportion.
    """
    omega = np.random.default_rng(seed).dirichlet(np.full(p.means.size, 3.0)) + 0.01
    factor = lost(p.means, p.matrix, p.limits, p.variances, omega, r, times * r)
    assert 1.0 - 1e-9 <= factor <= (1.0 + 1.0 / times) ** 2 + 1e-9


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize(("times", "most"), [(1, 4.0), (10, 1.15)])
def test_what_is_lost_on_estimates_of_the_papers_instances(name, times, most):
    """Whose degenerate vertices are split; with edges of vertices within r it may be a lot."""
    problem = PAPER[name].problem
    rng, omega = np.random.default_rng(5), np.full(problem.means.size, 1.0 / problem.means.size)
    for scale in (0.03, 0.01, 0.003):
        for _ in range(10):
            means = problem.means + scale * rng.normal(size=problem.means.shape)
            matrix = problem.matrix + scale * rng.normal(size=problem.matrix.shape)
            data = means, matrix, problem.limits, problem.variances
            assert lost(*data, omega, 0.01, 0.01 * times) <= most


def listed(means, matrix, limits, reach, places):
    """The vertices that a list with some places leads to, and whether it was cut."""
    d, k = matrix.shape
    polytope, others = make_polytope(k, d), make_vertex_search(k, d, places)
    load(polytope, means, constraint_rows(matrix, limits))
    assert find_best(polytope) == FOUND
    count = find_alternatives(polytope, reach, others)
    value = polytope.policy @ means
    found = Alternatives(polytope.policy, value, others.steps[:count], others.gaps[:count])
    return found, others.cut[0]


@given(polytopes)
def test_a_list_without_places_enough_is_marked(p):
    """Where it is not, no vertex is missing."""
    known = every_alternative(p.means, p.matrix, p.limits)
    for places in (1, 2, 4, 8, 16, 2000):
        some, cut = listed(p.means, p.matrix, p.limits, np.inf, places)
        assert cut or len(some.gaps) == len(known.gaps)
    assert not cut


def test_a_list_for_one_basis_lacks_the_far_corner():
    """At most 3/5 of an arm: a hexagon, of which the best corner has two neighbours."""
    matrix, limits, means = np.eye(3), np.full(3, 0.6), np.array([1.0, 0.8, 0.5])
    (few, cut), (many, whole) = (listed(means, matrix, limits, np.inf, n) for n in (1, 20))
    assert cut
    assert not whole
    assert (len(few.gaps), len(many.gaps)) == (2, 5)


def test_more_columns_than_bits_are_refused():
    rng = np.random.default_rng(4)
    means, matrix = rng.normal(size=MOST_COLUMNS - 1), rng.uniform(size=(1, MOST_COLUMNS - 1))
    found = every_alternative(means, matrix, np.full(1, 0.5))
    low, high = (matrix[0] <= 0.5).sum(), (matrix[0] > 0.5).sum()
    assert len(found.gaps) == low + low * high - 1  # an arm within, or a mixture on the limit
    with pytest.raises(ValueError, match="at most 64, got 65"):
        every_alternative(
            np.append(means, 0.0), np.append(matrix, [[0.1]], axis=1), np.full(1, 0.5)
        )


def test_policies_with_too_many_bases_are_refused(monkeypatch):
    """So that a bound is never one over part of the vertices."""
    monkeypatch.setattr(vertices, "LISTED", 48)
    rng = np.random.default_rng(5)
    means, matrix = rng.normal(size=10), rng.uniform(size=(4, 10))
    with pytest.raises(ArithmeticError, match="more than"):
        every_alternative(means, matrix, matrix.mean(axis=1))


def test_a_search_that_fails_is_not_an_empty_set(monkeypatch):
    p = PAPER["hard"].problem
    polytope = make_polytope(p.means.size, len(p.limits))
    load(polytope, p.means, constraint_rows(p.matrix, p.limits))
    monkeypatch.setattr(vertices, "repair", lambda *arguments: False)
    assert vertices.find_best_cold.py_func(polytope) == LOST
    load(polytope, p.means, constraint_rows(p.matrix, np.full(p.limits.size, -9.0)))
    assert vertices.find_best_cold.py_func(polytope) == EMPTY


@given(polytopes, st.sampled_from([0.0, 0.01, 0.5]))
def test_every_alternative_is_listed_once(p, r):
    d, k = p.matrix.shape
    polytope, others = make_polytope(k, d), make_vertex_search(k, d, 50)
    load(polytope, p.means, p.rows)
    assert find_best(polytope) == FOUND
    count = find_alternatives(polytope, r, others)
    steps, gaps, slots = others.steps, others.gaps, others.slots
    apart = np.abs(steps[:count, None] - steps[None, :count]).max(axis=2)
    assert (apart + np.eye(count) > SAME).all()
    assert (np.abs(steps[:count]).max(axis=1) > SAME).all()
    assert len(set(slots[:count])) == count
    np.testing.assert_allclose(-steps[:count] @ p.means, gaps[:count], atol=ROUNDING)


@given(polytopes)
def test_reduced_costs_of_the_best_vertex_are_kept(p):
    """To the last bit those that `find_alternatives` would compute, which reads them."""
    d, k = p.matrix.shape
    polytope = make_polytope(k, d)
    load(polytope, p.means, p.rows)
    assert find_best(polytope) == FOUND
    find_alternatives(polytope, 0.5, make_vertex_search(k, d, 50))
    tableau, values, basis = polytope.tableau, polytope.values, polytope.basis
    fresh = [reduced_cost(tableau, values, basis, j) for j in range(k + d)]
    np.testing.assert_array_equal(polytope.reduced_costs, fresh)


def test_random_sets_include_degenerate_and_nearly_degenerate_ones():
    """So that the tests above are about them."""
    degenerate, split = 0, 0
    for seed in range(100):
        p = drawn(seed, 4, 3, "integer")
        corners = reference.vertices(p.matrix, p.limits)
        tight = (corners == 0.0).sum(axis=1) + (
            corners @ p.matrix.T >= p.limits - reference.TIGHT
        ).sum(axis=1)
        degenerate += bool((tight > 3).any())
        corners = reference.vertices(*drawn(seed, 4, 3, "split")[2:])
        apart = np.abs(corners[:, None] - corners[None]).max(axis=2)
        split += bool((apart + np.eye(len(corners)) < 0.1).any())
    assert degenerate > 30
    assert split > 10
