"""Gaps: closed forms, a general-purpose optimiser, and that no smaller move changes the answer."""

import itertools
import math

import numpy as np
import pytest

from bestarm.cbmai import reference
from bestarm.cbmai.gaps import arm_gaps, basis_gap, infeasibility_gap, least_gaps
from bestarm.cbmai.problem import (
    Instance,
    Noise,
    Problem,
    exponents,
    in_units_of_noise,
    solve,
    standard_form,
    truth,
)

NOISE = Noise(1.0, 0.5)


def random_problem(rng, n_arms, n_costs):
    """Drawn until it meets Assumption 1."""
    while True:
        rewards, costs = rng.uniform(0, 2, n_arms), rng.uniform(0.2, 1.8, (n_costs, n_arms))
        problem = Problem(rewards, costs, np.ones(n_costs), n_arms)
        solution = solve(problem)
        if solution and solution.unique:
            return problem, solution.basis


def gap_of(problem, noise, *bases):
    """Delta_J^2, or Delta_0^2 when only the optimal basis is given."""
    gap = basis_gap if len(bases) == 2 else infeasibility_gap
    return gap(in_units_of_noise(problem, noise), *map(np.array, bases))


@pytest.mark.parametrize(("n_costs", "problems"), [(1, 3), (2, 1)])
def test_no_other_optimiser_finds_a_smaller_move(n_costs, problems):
    """SLSQP's best of four starts bounds every gap from above, and nearly always attains it.

    It is stuck, more than 1e-4 above, in one case of a hundred; here in none.
    """
    rng = np.random.default_rng(n_costs)
    pairs = []
    for _ in range(problems):
        problem, best = random_problem(rng, 4, n_costs)
        others = [list(j) for j in itertools.combinations(range(4 + n_costs), n_costs + 1)]
        others.remove(best.tolist())
        bases = [[], *rng.permutation(others)[:3].tolist()]
        for other in bases:
            given = [best.tolist(), other] if other else [best.tolist()]
            slow = reference.basis_gap if other else reference.infeasibility_gap
            pairs.append((gap_of(problem, NOISE, *given), slow(problem, NOISE, *given, rng)))
    ours, bound = np.array(pairs).T
    assert (ours <= bound * (1.0 + 1e-6)).all()
    assert (ours >= bound * (1.0 - 1e-4)).all()


def test_feasible_arm_alone():
    """It turns infeasible where its nearest bound is met: (0.3 / 0.5)^2."""
    problem = Problem(np.array([1.0, 0.5]), np.array([[0.6, 0.1], [0.7, 0.1]]), np.ones(2), 2)
    assert gap_of(problem, NOISE, [0, 2, 3]) == pytest.approx(0.6**2, rel=1e-9)


def test_mixture_of_two_arms():
    """It turns infeasible where the cost of either arm meets the bound: (0.4 / 0.5)^2."""
    problem = Problem(np.array([0.0, 1.0]), np.array([[0.6, 1.7]]), np.ones(1), 2)
    assert gap_of(problem, NOISE, [0, 1]) == pytest.approx(0.8**2, rel=1e-9)


@pytest.mark.parametrize("n_costs", [1, 2])
def test_loose_bounds_leave_two_rewards_that_meet_halfway(n_costs):
    costs = np.full((n_costs, 2), 0.5)
    problem = Problem(np.array([1.0, 0.4]), costs, np.full(n_costs, 9.0), 2)
    slacks = list(range(2, 2 + n_costs))
    gap = gap_of(problem, Noise(2.0, 0.5), [0, *slacks], [1, *slacks])
    assert gap == pytest.approx(0.6**2 / (2.0 * 2.0**2), rel=1e-9)


def test_bases_that_come_to_share_their_solution():
    """Only where arms 1 and 2 alone can meet both bounds with equality are both bases feasible.

    Of a mixture with weights 1 - t and t the least move of two costs that takes away a miss of
    m is m^2 / (t^2 + (1 - t)^2); the first misses 1 by 0.6 - 1.3 t, the second by 0.1.
    """
    costs = np.array([[0.4, 1.7, 1.0], [1.1, 1.1, 0.0]])
    problem = Problem(np.array([0.0, 0.0, 9.0]), costs, np.ones(2), 3)
    t = np.linspace(0.0, 1.0, 1_000_001)
    moves = ((0.6 - 1.3 * t) ** 2 + 0.1**2) / (t**2 + (1.0 - t) ** 2)
    gap = gap_of(problem, NOISE, [0, 1, 2], [0, 1, 4])
    assert gap == pytest.approx(moves.min() / 0.5**2, rel=1e-9)


@pytest.mark.parametrize("n_costs", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_when_costs_are_all_but_known_only_rewards_move(n_costs, seed):
    """(r . (p - q) / |p - q|)^2 for fixed mixtures p and q; to second order in sigma_c = 1e-4."""
    problem, best = random_problem(np.random.default_rng(seed), 5, n_costs)
    matrix, rhs, values = standard_form(problem)
    mixtures = {}
    for basis, x in zip(*reference.feasible_bases(matrix, rhs), strict=True):
        mixtures[tuple(basis)] = np.zeros(values.size)
        mixtures[tuple(basis)][basis] = x
    p = mixtures.pop(tuple(best))
    for basis, q in mixtures.items():
        apart = (p - q)[:5]
        expected = (problem.rewards @ apart) ** 2 / (apart @ apart)
        assert gap_of(problem, Noise(1.0, 1e-4), best, basis) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("n_costs", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_moves_within_the_least_gap_leave_the_answer(n_costs, seed):
    """Eq. (47): min(Delta_0^2, Delta_(L+2)^2) is the distance to the nearest other answer.

    So no move of 0.999 of it changes the answer; and some of 1.5 times do, of 3000 drawn at random
    in 3 (L + 1) dimensions.
    """
    rng = np.random.default_rng(seed)
    problem, best = random_problem(rng, 3, n_costs)
    scaled = in_units_of_noise(problem, NOISE)
    gaps = np.sort(arm_gaps(scaled, best))
    least = math.sqrt(min(infeasibility_gap(scaled, best), gaps[n_costs + 1]))
    changed = np.zeros(2, bool)
    for _ in range(3000):
        move = rng.normal(size=(n_costs + 1, 3))
        move /= np.linalg.norm(move)
        for i, share in enumerate((0.999, 1.5)):
            if changed[i]:
                continue
            rewards = problem.rewards + share * least * NOISE.reward * move[0]
            costs = problem.costs + share * least * NOISE.cost * move[1:]
            found = solve(problem._replace(rewards=rewards, costs=costs))
            changed[i] |= found is None or list(found.basis) != list(best)
    assert changed.tolist() == [False, True]


@pytest.mark.parametrize("n_costs", [1, 2])
def test_arm_gap_is_the_least_of_its_bases(n_costs):
    """Eq. (10); 0 on the optimal basis and only there, Proposition 2."""
    problem, best = random_problem(np.random.default_rng(7), 4, n_costs)
    found = arm_gaps(in_units_of_noise(problem, NOISE), best)
    for column, gap in enumerate(found):
        if column in best:
            assert gap == 0.0
        else:
            rest = [c for c in range(4 + n_costs) if c != column]
            bases = [sorted([column, *r]) for r in itertools.combinations(rest, n_costs)]
            assert gap == min(gap_of(problem, NOISE, best, basis) for basis in bases)
            assert gap > 0.0


@pytest.mark.parametrize("n_costs", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_bases_are_passed_over_only_by_a_true_bound(n_costs, seed):
    """Bounds are never above the gaps, so that gaps are those of a search through all bases."""
    problem, best = random_problem(np.random.default_rng(seed), 7, n_costs)
    scaled = in_units_of_noise(problem, NOISE)
    bases = [list(j) for j in itertools.combinations(range(7 + n_costs), n_costs + 1)]
    bases.remove(best.tolist())
    gaps = np.array([basis_gap(scaled, best, np.array(basis)) for basis in bases])
    bounds = least_gaps(scaled, best, np.array(bases))
    assert (bounds <= gaps * (1.0 + 1e-9)).all()
    assert (bounds > 0.0).mean() > 0.2
    for column, gap in enumerate(arm_gaps(scaled, best)):
        if column not in best:
            assert gap == min(g for g, basis in zip(gaps, bases, strict=True) if column in basis)


@pytest.mark.parametrize("n_costs", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_exponents_are_ordered_and_scale_with_the_noise(n_costs, seed):
    problem, _ = random_problem(np.random.default_rng(seed), 4, n_costs)
    fields = {"name": "x", "rewards": problem.rewards.tolist(), "costs": problem.costs.tolist()}
    fields["bounds"] = problem.bounds.tolist()
    one, two = (truth(Instance(**fields, sigma_reward=s, sigma_cost=0.5 * s)) for s in (1.0, 3.0))
    for known in (one, two):
        assert known.exponent_uslp == pytest.approx(known.exponent_any / 4)
        assert known.exponent_sfsr < known.exponent_any
    for name in ("infeasibility_gap", "arm_gaps", "exponent_sfsr", "exponent_any"):
        # the search ends at steps of 1e-9, of which gaps depend smoothly
        assert np.array(getattr(one, name)) == pytest.approx(9 * np.array(getattr(two, name)), 1e-6)


def test_exponents_by_hand():
    """K = 3, L = 1: Delta_0^2 = 6 and ordered arm gaps 0, 0, 2, 9, so hardness 2 / 2 and 9 / 3."""
    problem = Problem(np.zeros(3), np.zeros((1, 3)), np.zeros(1), 3)
    found = exponents(6.0, np.array([9.0, 0.0, 2.0, 0.0]), problem)
    assert found == pytest.approx(
        {
            "exponent_sfsr": 1.0 / (3.0 * (1.0 + math.log(3))),
            "exponent_any": 1.0,
            "exponent_uslp": 1.0 / 3.0,
        }
    )
    assert set(exponents(math.inf, np.array([0, 0, math.inf, math.inf]), problem).values()) == {
        None
    }
