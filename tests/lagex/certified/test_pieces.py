"""The bound on the shortfall: above every policy that may be feasible, and close to the largest."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bestarm.lagex import check
from bestarm.lagex import reference as paper
from bestarm.lagex.certified import reference
from bestarm.lagex.certified.certificate import piece_splits
from bestarm.lagex.certified.confidence import ConfidenceSet, without_directions
from bestarm.lagex.certified.pieces import (
    MOST_PIECES,
    largest_shortfall,
    make_pieces,
    worst_of_box,
)
from bestarm.lagex.problem import imdb
from bestarm.lagex.vertices import constraint_rows
from lagex.certified.confidence_sets import confidence_set
from lagex.polytopes import KINDS

SEEDS, ROUNDING = st.integers(0, 2**31), 1e-7
KIND, SIZE = st.sampled_from(KINDS), st.sampled_from([0.01, 0.1, 0.5])
#: Weights of the policies that are tried, by the number of arms.
PARTS = {2: 2000, 3: 150, 4: 40, 5: 20}


def tried(seen: ConfidenceSet, policy: np.ndarray) -> float:
    """The largest shortfall on a grid of policies that may be feasible; -inf if none may."""
    others = reference.grid(policy.size, PARTS[policy.size])
    others = others[reference.may_be_feasible(seen, others)]
    return reference.shortfalls(seen, policy, others).max(initial=-np.inf)


def some_policy(seed: int, k: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(k))


def bound(seen: ConfidenceSet, policy: np.ndarray, r: float):
    """The kernel's bound and its pieces."""
    d, k = seen.rows.shape
    pieces = make_pieces(k, d)
    return largest_shortfall(seen, policy, r, pieces), pieces


def tightest(seen: ConfidenceSet, policy: np.ndarray):
    """The pieces that prove about the least r that any do, and those that did not prove others."""
    low, high, failed = 0.0, 100.0, []
    proof = bound(seen, policy, high)[1]
    for _ in range(30):
        middle = 0.5 * (low + high)
        found, pieces = bound(seen, policy, middle)
        if found < np.inf:
            high, proof = middle, pieces
        else:
            low = middle
            failed.append(pieces)
    return proof, failed


def of_movies(radius: float) -> tuple[ConfidenceSet, np.ndarray]:
    """Twelve arms of which mixtures of several are best, and such a mixture."""
    problem = imdb().problem
    rows, radii = constraint_rows(problem.matrix, problem.limits), np.full(12, radius**2)
    return without_directions(problem.means, rows, radii, radii), np.array(
        [0.25, 0.35, 0, 0, 0.4, *[0.0] * 7]
    )


@settings(max_examples=100)
@given(SEEDS, st.integers(2, 5), st.integers(1, 3), KIND, SIZE, st.sampled_from([0.0, 0.02, 0.3]))
def test_no_policy_that_may_be_feasible_is_above_the_bound(seed, k, d, kind, size, more):
    """At the largest r that should fail, and above: whenever the bound is finite, it holds."""
    seen, policy = confidence_set(seed, k, d, kind, size), some_policy(seed, k)
    largest = tried(seen, policy)
    found, _ = bound(seen, policy, largest + more)
    assert found >= largest - ROUNDING
    if np.isfinite(largest):
        assert bound(seen, policy, largest - 1e-6)[0] == np.inf


@settings(max_examples=60)
@given(SEEDS, st.integers(1, 3), SIZE)
def test_little_above_the_largest_shortfall_the_bound_is_found(seed, d, size):
    """With three arms, for which the grid is fine; within 2% of the radii."""
    seen, policy = confidence_set(seed, 3, d, "smooth", size), some_policy(seed, 3)
    largest = tried(seen, policy)
    assume(largest > -np.inf)
    close = 2.0 / PARTS[3] * (np.ptp(seen.means) + np.abs(seen.rows).max()) + 0.02 * size
    prices = np.abs(seen.means).max() / np.abs(seen.rows).max(axis=1).min()
    assert bound(seen, policy, largest + (1.0 + prices) * close)[0] < np.inf


@settings(max_examples=60)
@given(SEEDS, st.integers(2, 5), st.integers(1, 3), KIND, SIZE)
def test_the_box_is_the_polytope_of_entry_wise_bounds(seed, k, d, kind, size):
    """Its worst vertex, against all vertices by another enumeration."""
    seen, policy = confidence_set(seed, k, d, kind, size), some_policy(seed, k)
    corners = paper.vertices(seen.rows - np.sqrt(seen.u), np.zeros(len(seen.rows)))
    wanted = reference.shortfalls(seen, policy, corners).max(initial=-np.inf)
    point = np.zeros(k)
    found = worst_of_box(seen, policy, make_pieces(k, len(seen.rows)), point)
    assert found == pytest.approx(wanted, abs=ROUNDING)
    if np.isfinite(wanted):
        assert reference.shortfalls(seen, policy, point[None])[0] == pytest.approx(found)
        assert bound(seen, policy, wanted + 1e-6)[0] == pytest.approx(wanted, abs=ROUNDING)


def test_splitting_helps():
    """Two arms, half of each may be feasible by the box but not by the norm."""
    seen = without_directions(
        np.array([1.0, 0.0]), np.array([[1.0, -1.0]]), np.zeros(2), np.full(2, 0.01)
    )
    policy = np.array([0.4, 0.6])
    # by the box: 2 pi_1 - 1 <= 0.1; by the norm: 2 pi_1 - 1 <= 0.1 |(pi_1, pi_2)| = 0.0708...
    box, norm = 0.15, 0.1355
    assert bound(seen, policy, box + 1e-6)[1].looked_at[0] == 1
    found, pieces = bound(seen, policy, norm)
    assert norm - 1e-3 < found <= norm
    assert pieces.looked_at[0] > 1
    assert bound(seen, policy, norm - 1e-3)[0] == np.inf


def test_pieces_cover_the_simplex():
    """Every policy is a mixture of the corners of some piece, as `check.py` reads the splits."""
    pieces, _ = tightest(*of_movies(0.05))
    splits = piece_splits(pieces)
    parts = [np.array(part, float) for part in check.pieces(splits, 12) or []]
    assert len(parts) == splits.count(None) > 5
    for other in np.random.default_rng(0).dirichlet(np.full(12, 0.3), 200):
        inside = [np.linalg.solve(part.T, other).min() >= -ROUNDING for part in parts]
        assert any(inside)


def test_when_pieces_run_out_nothing_is_claimed():
    """For twelve arms with large radii, just above the largest shortfall."""
    _, failed = tightest(*of_movies(0.5))
    assert any(pieces.looked_at[0] == MOST_PIECES for pieces in failed)


@given(SEEDS, st.integers(2, 4), SIZE)
def test_no_policy_may_be_feasible(seed, k, size):
    """Minus infinity if a row is above all radii, inf if a policy is inside."""
    seen, policy = confidence_set(seed, k, 1, "smooth", size), some_policy(seed, k)
    empty = seen._replace(rows=np.vstack([seen.rows, np.full(k, 10.0)]))
    assert bound(empty, policy, -np.inf)[0] == -np.inf
    assert tried(seen, policy) > -np.inf
    assert bound(seen, policy, -np.inf)[0] == np.inf
