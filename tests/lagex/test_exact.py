"""Exact vertices and edges, against every set of tight constraints in exact arithmetic."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bestarm.lagex import exact
from bestarm.lagex.exact import MOST_VERTICES, vertices
from bestarm.lagex.pure_exploration import NO_RIVAL, policies
from bestarm.lagex.vertices import SAME, every_alternative
from lagex.polytopes import drawn, polytopes, same_set, smooth_polytopes

#: Rows in other units: powers of ten.
EXPONENTS = (-12, -9, 0, 7, 8, 9, 10, 11, 12)


def rank(rows):
    """The rank of a matrix of fractions."""
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(found + 1, len(rows)):
            factor = rows[r][column] / rows[found][column]
            rows[r] = [x - factor * y for x, y in zip(rows[r], rows[found], strict=True)]
        found += 1
    return found


def solved(rows, right):
    """The x with rows x = right, if there is only one; fractions."""
    n, system = len(rows), [[*row, b] for row, b in zip(rows, right, strict=True)]
    for k in range(n):
        pivot = next((r for r in range(k, n) if system[r][k]), None)
        if pivot is None:
            return None
        system[k], system[pivot] = system[pivot], system[k]
        system[k] = [x / system[k][k] for x in system[k]]
        for r in range(n):
            if r != k:
                factor = system[r][k]
                system[r] = [x - factor * y for x, y in zip(system[r], system[k], strict=True)]
    return tuple(row[n] for row in system)


def brute_force(matrix, limits):
    """Vertices as fractions, and pairs of them whose common tight constraints leave a line."""
    k = np.shape(matrix)[1]
    above = [[Fraction(b)] * k for b in limits.tolist()]
    rows = [[Fraction(x) for x in row] for row in matrix.tolist()]
    rows = [[x - b for x, b in zip(*one, strict=True)] for one in zip(rows, above, strict=True)]
    signs = [[Fraction(-(a == b)) for b in range(k)] for a in range(k)]
    every, one = rows + signs, [Fraction(1)] * k  # each at most 0, and the sum 1
    points = [
        solved([one, *chosen], [Fraction(1), *[Fraction(0)] * (k - 1)])
        for chosen in combinations(every, k - 1)
    ]

    def values(x):
        return [sum(map(Fraction.__mul__, row, x)) for row in every]

    found = sorted({x for x in points if x is not None and max(values(x)) <= 0})
    tight = [{i for i, value in enumerate(values(x)) if value == 0} for x in found]
    pairs = {
        (v, w)
        for v, w in combinations(range(len(found)), 2)
        if rank([one, *(every[i] for i in tight[v] & tight[w])]) == k - 1
    }
    return found, pairs


@given(polytopes, st.sampled_from([0.0, 2.0**-30, 2.0**-45, -(2.0**-45)]))
@example(drawn(0, 4, 3, "integer"), 0.0)  # several bases of one vertex
@example(drawn(1, 4, 2, "flat"), 2.0**-45)  # feasible by a hair
@settings(max_examples=60)
def test_vertices_and_edges_are_those_of_brute_force(p, wider):
    limits = p.limits + wider
    wanted, pairs = brute_force(p.matrix, limits)
    found = vertices(p.matrix, limits)
    policies = [tuple(map(float, x)) for x in wanted]
    assert sorted(map(tuple, found.policies.tolist())) == policies
    if len(set(policies)) == len(policies):  # some are the same when rounded
        place = [policies.index(tuple(x)) for x in found.policies.tolist()]
        edges = {(place[v], place[w]) for v, others in enumerate(found.neighbours) for w in others}
        assert edges == pairs | {(w, v) for v, w in pairs}


@given(polytopes, st.sampled_from([0.0, 2.0**-30, 2.0**-45]), st.integers(0, 2**32))
@settings(max_examples=60)
def test_a_policy_without_a_better_neighbour_is_best(p, wider, seed):
    problem = policies(p.variances, p.matrix, p.limits + wider)
    means = np.random.default_rng(seed).normal(size=(20, p.means.size))
    values = means @ problem.policies.T
    rivals = np.where(problem.rivals == NO_RIVAL, 0, problem.rivals)
    gains = values[:, rivals] - values[:, :, None]
    gains[:, problem.rivals == NO_RIVAL] = -np.inf
    stuck = gains.max(axis=2) <= 0.0
    assert (values[stuck] >= np.repeat(values.max(axis=1), stuck.sum(axis=1)) - 1e-8).all()
    apart = np.abs(problem.policies[:, None] - problem.policies).max(axis=2)
    assert (apart[~np.eye(len(apart), dtype=bool)] > SAME).all()


@given(smooth_polytopes, st.sampled_from(EXPONENTS))
@settings(max_examples=60)
def test_rows_in_other_units_have_the_same_vertices(p, e):
    matrix, limits = p.matrix * 10.0**e, p.limits * 10.0**e
    wanted = vertices(p.matrix, p.limits)
    found = vertices(matrix, limits)
    np.testing.assert_allclose(found.policies, wanted.policies, atol=1e-9)
    assert found.neighbours == wanted.neighbours
    listed = every_alternative(10.0**-e * p.means, matrix, limits)
    assert same_set(np.vstack([listed.policy, listed.policy + listed.steps]), wanted.policies, 1e-9)


def test_no_policy_and_too_many():
    assert vertices(np.array([[1.0, 2.0]]), np.array([0.5])).neighbours == []
    with pytest.raises(ArithmeticError, match="no policy satisfies"):
        policies(np.ones(2), np.array([[1.0, 2.0]]), np.array([0.5]))
    with pytest.raises(ValueError, match="must be at most 64, got 65"):
        vertices(np.ones((5, 60)), np.ones(5))


def test_the_number_of_vertices_is_limited(monkeypatch):
    monkeypatch.setattr(exact, "MOST_VERTICES", 3)
    with pytest.raises(ArithmeticError, match="more than 3 vertices"):
        vertices(np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([0.5]))
    assert MOST_VERTICES > 3
