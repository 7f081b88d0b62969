"""Runs: as sums and step by step, every check against a slow one, errors at the stated rate."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from bestarm.common.paper import Cell
from bestarm.core.inputs import InputError
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from bestarm.lagex import check
from bestarm.lagex.certified import reference
from bestarm.lagex.certified.certificate import certificate
from bestarm.lagex.certified.runs import Options, make_rules, play
from bestarm.lagex.certified.state import INFEASIBLE, POLICY, RUNNING, SAFE, TIME, UNSAFE, VERDICT
from bestarm.lagex.certified.steps import ACCURACY, GRID, STEPS, done, observe, start
from bestarm.lagex.problem import Instance, setup1
from bestarm.lagex.strategies import make_world, prepare, steps

FALSE_ALARM, DELTA = 1e-6, 0.1


def made(means, *rows, **fields) -> Instance:
    """An instance of constraints (coefficients, at most)."""
    constraints = [{"coefficients": list(row), "at_most": limit} for row, limit in rows]
    return Instance(name="made", means=list(means), constraints=constraints, **fields)


#: Two limits that both bind at the best policy (0.4, 0, 0.6), arms of different noise.
BOTH = made([1.0, 0.2, 0.5], ([1.0, 0.0, 0.0], 0.4), ([0.0, 0.5, 1.0], 0.6), sigma=[1.0, 0.5, 2.0])
#: The policies with equal weights are the only feasible ones.
FLAT = made([1.0, 0.0], ([1.0, 0.0], 0.5), ([-1.0, 0.0], -0.5))


def rules_for(instance, r, strategy="Certified", delta=DELTA, **options):
    problem = instance.problem
    asked = (delta, r, Options(**options), problem.variances, problem.cost_sigma, problem.limits)
    return make_rules(strategy, *asked)


def run(instance, r, seed=0, cap=10**9, **options):
    """The last state of a run."""
    rules = rules_for(instance, r, **options)
    world = make_world(instance.problem, units=rules.units)
    return play(world, rules, cap, run_streams(5, seed).environment), rules


def refused(state, rules, delta=DELTA):
    """The first line that fails of the independent check of a run's certificate; "" if none."""
    lines = check.lines(json.loads(certificate(state, rules, delta)))
    return next((said for said, holds in lines if not holds), "")


@pytest.mark.parametrize("strategy", ["Certified", "Certified-Uniform"])
def test_blocks_told_as_sums_are_the_run_that_draws_sums(strategy):
    """The steps, given the same sums in another order of arms, make the same checks and pulls."""
    problem, rules = BOTH.problem, rules_for(BOTH, 0.3, strategy)
    drawn = play(make_world(problem), rules, 10**9, run_streams(5, 0).environment)
    environment, state, blocks = run_streams(5, 0).environment, start(rules), 0
    while not done(rules, state):
        told = []
        for arm in np.flatnonzero(state.owed):
            n, noise = state.owed[arm], environment.standard_normal(3)
            deviations = [math.sqrt(n) * math.sqrt(problem.variances[arm]), *[math.sqrt(n)] * 2]
            sums = n * np.array([problem.means[arm], *problem.matrix[:, arm]]) + deviations * noise
            told.append((int(arm), np.array([*sums, n])))
        for arm, observed in reversed(told):
            observe(rules, state, arm, observed)
        blocks += 1
    assert blocks > 50
    np.testing.assert_array_equal(state.pulls, drawn.pulls)
    np.testing.assert_array_equal(state.policy, drawn.policy)
    assert state.counts.tolist() == drawn.counts.tolist()


def test_single_pulls_have_the_law_of_sums():
    """Stopping times of runs drawn pull by pull and as sums, by a two-sample test."""
    rules, problem = rules_for(BOTH, 1.0), BOTH.problem
    sums, singles = [], []
    for seed in range(150):
        world = make_world(problem)
        sums.append(play(world, rules, 10**9, run_streams(6, seed).environment).counts[TIME])
        rng = run_streams(7, seed).environment
        single, _ = STEPS.play(world, rules, 10**9, rng, rng)
        singles.append(single.counts[TIME])
    assert stats.ks_2samp(sums, singles).pvalue > FALSE_ALARM


def evidence_of(state, rules):
    """By the slow reference."""
    sigma, delta = np.sqrt(rules.variances), (1 + rules.limits.size) / math.exp(rules.level)
    known = rules.limits, delta, rules.n0, sigma, math.sqrt(rules.cost_variance)
    return reference.confidence_set(state.pulls, state.reward_sums, state.cost_sums, *known)


@pytest.mark.parametrize("instance", [BOTH, setup1(0.5)], ids=["both", "setup 1"])
def test_every_check_is_that_of_the_reference(instance):
    """Confidence set, safe policy, and, by trying policies, that no run stops too early."""
    rules, problem = rules_for(instance, 0.4), instance.problem
    state, environment, times, safe = start(rules), run_streams(5, 1).environment, [], 0
    others = np.random.default_rng(0).dirichlet(np.full(problem.means.size, 0.4), 20_000)
    stopped = done(rules, state)
    while not stopped:
        before = state.policy.copy()
        for _ in range(int(state.owed.sum())):  # the last pull of a block ends in a check
            arm = STEPS.choose(rules, state, None)
            noise = environment.standard_normal(1 + len(problem.limits))
            spread = [
                math.sqrt(problem.variances[arm]),
                *[problem.cost_sigma] * len(problem.limits),
            ]
            means = [problem.means[arm], *problem.matrix[:, arm]]
            observe(rules, state, arm, np.append(means + spread * noise, 1.0))
        times.append(state.counts[TIME])
        stopped = done(rules, state)
        if len(times) % 5 and not stopped:
            continue
        seen = evidence_of(state, rules)
        for ours, theirs in zip(state.seen, seen, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
        wanted = reference.best_safe_policy(seen, 0.0)
        if wanted is None:
            np.testing.assert_array_equal(state.policy, before)
            continue
        safe += 1
        assert seen.means @ state.policy >= wanted[1] - 2.0 * ACCURACY * rules.r - 1e-6
        assert -(seen.rows @ state.policy).max() >= math.sqrt(seen.u @ state.policy**2)
        if stopped:
            open_ones = others[reference.may_be_feasible(seen, others)]
            assert reference.shortfalls(seen, state.policy, open_ones).max() <= rules.r
    assert safe > 3
    ratios = np.divide(times[1:], times[:-1])[np.array(times[:-1]) >= 100]
    assert 1.04 <= ratios.min() <= ratios.max() <= 1.05


@pytest.mark.parametrize("seed", range(20))
def test_what_is_certified_passes_the_exact_check(seed):
    state, rules = run(BOTH, (1.0, 0.3, 0.1)[seed % 3], seed)
    assert state.counts[VERDICT] == POLICY
    assert refused(state, rules) == ""


def test_weights_are_multiples_of_the_grid_and_add_up_exactly():
    state, _ = run(setup1(0.5), 0.1)
    assert sum(state.policy.tolist()) == 1.0
    assert (state.policy / GRID == np.round(state.policy / GRID)).all()


@pytest.mark.parametrize(
    ("instance", "r"), [(BOTH, 0.3), (BOTH, 1.0), (setup1(1.3), 0.3)], ids=["0.3", "1", "setup 1"]
)
def test_wrong_answers_are_no_more_than_delta(instance, r):
    """Feasible and r-optimal; fails with a chance below 1e-6 if a run errs with chance delta."""
    runs = 300
    cell = Cell(instance.name, "Certified", {"delta": DELTA, "r": r, "cap": None}, "proven")
    replicate = prepare(instance, cell)
    found = [replicate(run_streams(8, i)) for i in range(runs)]
    assert all(one.status == Status.STOPPED for one in found)
    wrong = sum(one.excess > 0.0 or one.regret > r for one in found)
    assert wrong <= stats.binom.ppf(1.0 - FALSE_ALARM, runs, DELTA)


def test_an_infeasible_instance_is_certified_as_such():
    """Limits that no policy keeps; the instance is made feasible for the model alone."""
    instance = made([1.0, 0.0, 0.5], ([1.0, 0.8, 0.9], 2.0))
    world = make_world(instance.problem)
    rules = rules_for(instance, 0.1)._replace(limits=np.array([0.4]))
    found = [play(world, rules, 10**6, run_streams(9, i).environment) for i in range(100)]
    assert all(state.counts[VERDICT] == INFEASIBLE for state in found)
    assert refused(found[0], rules) == ""
    assert found[0].counts[SAFE] == 0
    assert found[0].counts[UNSAFE] == found[0].counts[TIME]


def test_a_set_without_an_interior_needs_a_tolerance_of_costs():
    """At eps = 0 no policy is ever safe; at eps = 0.1 the run stops, with an answer within that."""
    state, _ = run(FLAT, 0.3, cap=100_000)
    assert state.counts[VERDICT] == RUNNING
    assert state.counts[SAFE] == 0
    for seed in range(5):
        state, rules = run(FLAT, 0.3, seed, eps=0.1)
        assert state.counts[VERDICT] == POLICY
        assert abs(state.policy[0] - 0.5) <= 0.1
        assert refused(state, rules) == ""


@pytest.mark.parametrize(("eps", "verdict"), [(0.3, POLICY), (0.05, INFEASIBLE)])
def test_of_an_infeasible_instance_a_policy_within_eps_is_an_answer(eps, verdict):
    """All costs are 1, the limit is 0.9."""
    instance = made([1.0, 0.0], ([1.0, 1.0], 2.0))
    rules = rules_for(instance, 0.1, eps=eps)._replace(limits=np.array([0.9]))
    state = play(make_world(instance.problem), rules, 10**6, run_streams(5, 0).environment)
    assert state.counts[VERDICT] == verdict
    assert refused(state, rules) == ""


@pytest.mark.parametrize("cap", [3, 4, 50, 1003])
def test_the_cap_is_kept_and_a_run_at_it_is_capped(cap):
    cell = Cell("made", "Certified", {"delta": DELTA, "r": 0.01, "cap": cap}, "proven")
    found = prepare(BOTH, cell)(run_streams(5, 0))
    assert (found.tau, found.status) == (cap, Status.CAPPED)
    assert found.pulls.sum() == cap


def test_violations_are_counted_for_every_pull():
    """Of the allocation, from the true limits; the safe policy breaks none."""
    cell = Cell("made", "Certified-Uniform", {"delta": DELTA, "r": 0.3, "cap": None}, "proven")
    found = prepare(made([1.0, 0.0], ([1.0, 0.0], 0.3)), cell)(run_streams(5, 0))
    assert found.allocation_violations == found.tau  # uniform: half to arm 1
    assert found.policy_violations == 0


@pytest.mark.parametrize(
    ("strategy", "reading"), [("Certified-Uniform", "proven"), ("LAGEX", "as-written")]
)
def test_the_ground_truth_is_not_written_to(strategy, reading):
    """Nor do counts of one run go on in the next: violations are in the state of each."""
    instance = made([1.0, 0.0], ([1.0, 0.0], 0.3))
    cell = Cell("made", strategy, {"delta": DELTA, "r": 0.1, "cap": 2000}, reading)
    asked, before = steps(instance, cell), steps(instance, cell).world
    rng = run_streams(5, 0).environment
    found = [asked.strategy.play(asked.world, asked.rules, 500, rng, rng)[0] for _ in range(2)]
    assert all(0 < state.broken[1] <= 500 for state in found)
    for now, then in zip(asked.world, before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_scale_does_not_matter():
    """Rewards and costs in other units, with n0 as it is in units of rewards: the same pulls."""
    plain, _ = run(BOTH, 0.3)
    rows = [([100.0, 0.0, 0.0], 40.0), ([0.0, 50.0, 100.0], 60.0)]
    scaled = made([0.01, 0.002, 0.005], *rows, sigma=[0.01, 0.005, 0.02], cost_sigma=100.0)
    other, _ = run(scaled, 0.003)
    assert other.pulls.sum() == pytest.approx(plain.pulls.sum(), rel=0.02)
    np.testing.assert_allclose(other.policy, plain.policy, atol=2e-3)


def test_bad_rules_are_named():
    with pytest.raises(InputError, match="r: must be greater than 0 for Certified, got 0"):
        rules_for(BOTH, 0.0)
    problem = BOTH.problem
    with pytest.raises(InputError, match=r"arms, constraints: .* 91,390 vertices, at most"):
        make_rules("Certified", 0.1, 0.1, Options(), np.ones(37), problem.cost_sigma, np.ones(3))


#: Rewards and costs that are 0 or 1; the second row is of a lower limit.
RATES = Instance(
    name="rates",
    means=[0.9, 0.2, 0.5, 1.0],
    constraints=[
        {"coefficients": [0.7, 0.1, 0.3, 1.0], "at_most": 0.5},
        {"coefficients": [0.0, 0.3, 0.8, 0.1], "at_least": 0.2},
    ],
    observations="bernoulli",
)


def test_counts_are_numpys_binomials():
    """The steps, told numpy's draws of every block, make the same run; one row counts downwards."""
    cell = Cell("rates", "Certified", {"delta": DELTA, "r": 0.5, "cap": None}, "proven")
    (_, rules, world, cap), problem = steps(RATES, cell), RATES.problem
    for seed in range(5):
        drawn = play(world, rules, cap, run_streams(6, seed).environment)
        environment, state = run_streams(6, seed).environment, start(rules)
        while not done(rules, state):
            for arm in np.flatnonzero(state.owed):
                n = int(state.owed[arm])
                reward = environment.binomial(n, problem.means[arm])
                costs = [
                    np.sign(p) * environment.binomial(n, abs(p)) for p in problem.matrix[:, arm]
                ]
                sums = np.array([reward, *costs]) / rules.units
                observe(rules, state, int(arm), np.append(sums, n))
        assert state.cost_sums[1].max() <= 0.0 < state.cost_sums[0].max()
        for name in ("pulls", "reward_sums", "cost_sums", "policy", "counts"):
            np.testing.assert_array_equal(getattr(state, name), getattr(drawn, name))


def test_rates_pull_by_pull_have_the_law_of_counts_and_right_answers():
    """Stopping times by a two-sample test; no answer is wrong, and the certificate holds."""
    cell = Cell("rates", "Certified", {"delta": DELTA, "r": 0.5, "cap": None}, "proven")
    asked, replicate, singles = steps(RATES, cell), prepare(RATES, cell), []
    outcomes = [replicate(run_streams(6, seed)) for seed in range(150)]
    for seed in range(150):
        rng = run_streams(7, seed).environment
        state, _ = STEPS.play(asked.world, asked.rules, asked.cap, rng, rng)
        singles.append(state.counts[TIME])
    assert stats.ks_2samp([one.tau for one in outcomes], singles).pvalue > FALSE_ALARM
    assert max(one.excess for one in outcomes) <= 0.0
    assert max(one.regret for one in outcomes) <= 0.5
    units = asked.rules.units**2
    assert (asked.rules.variances * units[0] == 0.25).all()
    assert asked.rules.cost_variance * units[1] == 0.25
    assert refused(state, asked.rules) == ""
