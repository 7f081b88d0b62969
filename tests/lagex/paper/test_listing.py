"""Alternatives are listed only where they are needed; the stopping rule is that of all of them."""

import numpy as np
import pytest

from bestarm.lagex.paper.exploration import STEPS, choose, done, observe
from bestarm.lagex.paper.state import NO_ALTERNATIVES, UNLISTED, start
from bestarm.lagex.problem import Problem
from bestarm.lagex.strategies import READINGS, Setting, make_rules, make_world
from bestarm.lagex.vertices import ALL_BASES, find_alternatives, make_vertex_search


def random_problem(rng):
    """Limits that leave some policies, and costs about as noisy as rewards."""
    k, d = int(rng.integers(3, 6)), int(rng.integers(1, 3))
    matrix = rng.normal(size=(d, k))
    limits = matrix @ rng.dirichlet(np.ones(k)) + 0.1
    return Problem(rng.normal(size=k), np.ones(k), matrix, limits, 1.0)


def passes(state, rules, reach):
    """The GLR test for all alternatives within a reach, listed anew."""
    polytope, pulls = state.policies.polytope, state.estimates.pulls
    k, n = polytope.policy.size, polytope.values.size
    others = make_vertex_search(k, n - k, ALL_BASES)
    count = find_alternatives(polytope, reach, others)
    assert not others.cut[0]
    scatter = 2.0 * others.steps[:count] ** 2 @ (rules.variances / pulls)
    statistics = (others.gaps[:count] + rules.added) ** 2
    return bool((statistics > scatter * state.threshold[0]).all())


@pytest.mark.parametrize("r", [0.1, 0.0])
@pytest.mark.parametrize("strategy", ["Uniform", "PTnS", "LATS"])
def test_the_rule_holds_when_it_holds_for_all_alternatives(strategy, r):
    looked, stopped = {True: 0, False: 0}, 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng)
        told = problem.variances, problem.limits, problem.matrix
        rules = make_rules(
            strategy, READINGS[strategy]["as-written"], Setting(delta=0.3, r=r), *told
        )
        world, state = make_world(problem, units=rules.units), start(rules)
        for _ in range(300):
            arm = choose(rules, state, None)
            observe(rules, state, arm, STEPS.pull(world, state, arm, rng))
            if (state.estimates.pulls == 0.0).any() or state.policies.n_near[0] == NO_ALTERNATIVES:
                continue
            looked[bool(state.policies.n_near[0] == UNLISTED)] += 1
            assert done(rules, state) == all(
                passes(state, rules, reach) for reach in (rules.r, np.inf)
            )
            if done(rules, state):
                stopped += 1
                break
    assert stopped > 5
    assert looked[False] > 30
    assert (looked[True] > 3 * looked[False]) == (strategy != "LATS")
