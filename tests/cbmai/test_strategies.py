"""The compiled runs: against Algorithm 1 told pull by pull, and what any run must satisfy."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from bestarm.cbmai import rebuild, reference, steps
from bestarm.cbmai.problem import Instance, Noise, Problem, instances, solve
from bestarm.cbmai.problem import truth as truth_of
from bestarm.cbmai.statistics import summarise
from bestarm.cbmai.steps import INTERSECTION, Rules, reject_lowest, start
from bestarm.cbmai.strategies import (
    EASY,
    STRATEGIES,
    make_rules,
    prepare,
    rejection_schedule,
)
from bestarm.cbmai.strategies import steps as strategies_steps
from bestarm.common.paper import Cell
from bestarm.core.inputs import InputError
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from cbmai.runs import normals, simulate

NOISE = Noise(1.0, 0.5)
BUDGET = 60
REWARDS = np.array([0.4, 1.6, 0.5, 0.9, 0.0])
COSTS = np.array([[0.3, 1.6, 0.7, 1.3, 0.5], [1.2, 0.6, 0.8, 1.4, 0.4]])
#: Of 60 pulls, few enough that errors are frequent and the rounding of Eq. (7) matters.
CASES = {
    "one cost": Problem(REWARDS, COSTS[:1], np.ones(1), 5),
    "two costs": Problem(REWARDS, COSTS, np.ones(2), 5),
    "a known arm": Problem(REWARDS, COSTS[:1], np.ones(1), 4),
}
both = pytest.mark.parametrize("strategy", STRATEGIES)


def cell(strategy, budget):
    return Cell("any", strategy, {"budget": budget}, "as-written")


@st.composite
def budgets(draw):
    """N, K, K0 and L."""
    n_arms = draw(st.integers(2, 40))
    n_unknown = draw(st.integers(1, n_arms))
    return n_unknown + draw(st.integers(1, 10**6)), n_arms, n_unknown, draw(st.integers(1, 3))


@given(budgets())
@example((30, 5, 5, 1))  # Psi = 25/12, and n_2 = 3, n_4 = 6 without rounding up
def test_schedule_is_equation_7(budget):
    n, n_arms, n_unknown, n_costs = budget
    problem = Problem(np.zeros(n_arms), np.zeros((n_costs, n_arms)), np.zeros(n_costs), n_unknown)
    goals = rejection_schedule(problem, n)
    np.testing.assert_array_equal(goals, reference.schedule("SFSR", problem, n))


def test_a_schedule_of_many_arms_needs_no_fractions(monkeypatch):
    """The sum of 100,000 of them takes half a minute."""
    monkeypatch.setattr("bestarm.cbmai.strategies.Fraction", None)
    n = 100_000
    problem = Problem(np.zeros(n), np.zeros((1, n)), np.zeros(1), n)
    goals = rejection_schedule(problem, 100 * n)
    psi = sum(1.0 / max(2, j - 1) for j in range(1, n + 1))
    np.testing.assert_array_equal(goals, np.ceil(99 * n / psi / np.arange(n, 1, -1)))


def test_a_run_of_too_many_arms_is_refused_before_its_normals_are_made(monkeypatch):
    monkeypatch.setattr("bestarm.cbmai.strategies.MOST_NORMALS", 10)
    said = rf"^{EASY.name}: SFSR: a run may draw \d+ rewards and costs, must be at most 10: "
    with pytest.raises(InputError, match=said):
        prepare(EASY, cell("SFSR", 100))


@st.composite
def problems(draw):
    """Up to 12 arms, some known; a bound of 0.3 leaves few instances feasible."""
    n_arms, n_costs = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    bounds = np.full(n_costs, draw(st.sampled_from([0.3, 1.0, 2.5])))
    costs = rng.uniform(0.0, 2.0, (n_costs, n_arms))
    return Problem(rng.normal(size=n_arms), costs, bounds, draw(st.integers(1, n_arms)))


@both
@given(problems(), st.integers(1, 300), st.integers(0, 2**32))
def test_no_run_breaks_its_bounds(strategy, problem, spare, seed):
    """Proposition 1; known arms are not pulled; and no random number past the last is looked at."""
    budget = problem.n_unknown + spare
    drawn = normals(strategy, problem, np.random.default_rng(seed))
    runs = [
        simulate(strategy, problem, NOISE, budget, np.append(drawn, np.full(9, tail)))
        for tail in (0.0, 1e3)
    ]
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one, other)
    run, n_columns = runs[0], problem.rewards.size + problem.bounds.size
    assert run.tau == run.pulls.sum() <= budget
    assert (run.pulls[problem.n_unknown :] == 0).all()
    if run.answer.any():
        assert (np.diff(run.answer) > 0).all()
        assert 1 <= run.answer.min() <= run.answer.max() <= n_columns
    else:
        assert np.isnan(run.weights).all()
    if 0 < run.first_rejected <= problem.n_unknown:
        assert run.pulls[run.first_rejected - 1] == reference.schedule(strategy, problem, budget)[0]


@functools.cache
def told(case, strategy):
    """Runs of the slow version: 60 by name of the case."""
    name = list(CASES).index(case), list(STRATEGIES).index(strategy)
    return [
        reference.run(strategy, CASES[case], NOISE, BUDGET, np.random.default_rng([*name, r]))
        for r in range(60)
    ]


def as_normals(seen, strategy, problem):
    """What a run that pulls round by round must draw to see the same sums."""
    means, spread = np.vstack([problem.rewards, problem.costs]).T, [NOISE.reward]
    spread += [NOISE.cost] * problem.bounds.size
    drawn = []
    goals = [0, *reference.schedule(strategy, problem, BUDGET)]
    for before, goal in itertools.pairwise(goals):
        for a, pulls in enumerate(seen):
            if new := pulls[before:goal]:
                n = len(new)
                drawn.extend((np.sum(new, axis=0) - n * means[a]) / spread / math.sqrt(n))
    return np.pad(drawn, (0, normals(strategy, problem, np.random.default_rng()).size - len(drawn)))


@both
@pytest.mark.parametrize("case", CASES)
def test_a_run_on_the_sums_is_the_run_on_the_pulls(case, strategy):
    """Algorithm 1, pull by pull; the sums of its pulls, made standard, give the same run.

    The standardised sums are independent standard normals, so error rates are the same too.
    """
    problem = CASES[case]
    for support, seen in told(case, strategy):
        drawn = as_normals(seen, strategy, problem)
        found = simulate(strategy, problem, NOISE, BUDGET, drawn)
        assert found.pulls[: problem.n_unknown].tolist() == [len(pulls) for pulls in seen]
        nothing = [-1] * (problem.bounds.size + 1)
        assert (found.answer - 1).tolist() == (nothing if support is None else support)


@both
@pytest.mark.parametrize("make", [rebuild.infeasible, rebuild.conflict])
def test_infeasible_instances_are_found_out(make, strategy):
    """After its last round every arm's cost is known to a tenth of what it lacks: never wrong."""
    replicate = prepare(make(), cell(strategy, 40_000))
    for r in range(20):
        run = replicate(run_streams(3, r))
        assert not run.answer.any()
        assert math.isnan(run.reward)


@pytest.mark.parametrize("case", CASES)
def test_patience_errs_where_impatience_does(case):
    """On the same rewards: a right answer of SFSR is the patient one's if a mixture is feasible.

    If none is, a right answer of the patient one is SFSR's. With two costs both are strict.
    """
    for problem, feasible in ((CASES[case], True), (CASES[case]._replace(bounds=BARELY), False)):
        problem = problem._replace(bounds=problem.bounds[: problem.costs.shape[0]])
        solution = solve(problem)
        assert (solution is not None) == feasible
        best = (solution.basis + 1).tolist() if solution else [0] * (problem.bounds.size + 1)
        right = {"SFSR": 0, "SFSR-patient": 0}
        for seed in range(300):
            drawn = normals("SFSR", problem, np.random.default_rng(seed))
            found = {s: simulate(s, problem, NOISE, BUDGET, drawn).answer.tolist() for s in right}
            better, worse = ("SFSR-patient", "SFSR")[:: 1 if feasible else -1]
            if found[worse] == best:
                assert found[better] == best
            for s, answer in found.items():
                right[s] += answer == best
        assert right["SFSR"] != right["SFSR-patient"] or case != "two costs"


#: Bounds below every cost of CASES.
BARELY = np.array([0.2, 0.3])

SHARP = Noise(1e-7, 1e-7)


@both
def test_without_noise_the_answer_is_the_truth(strategy):
    rng = np.random.default_rng(0)
    for instance in instances().values():
        solution = solve(instance.problem)
        if solution and solution.unique:
            drawn = normals(strategy, instance.problem, rng)
            run = simulate(strategy, instance.problem, SHARP, 2000, drawn)
            np.testing.assert_array_equal(run.answer - 1, solution.basis, instance.name)
            # estimates are off by 1e-7, and inverses of bases are at most a hundred
            np.testing.assert_allclose(run.weights, solution.weights, atol=1e-5)


@both
@pytest.mark.parametrize("seed", range(6))
def test_permuting_the_arms_permutes_the_answer(strategy, seed):
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.0, 2.0, (1 + seed % 2, 7))
    problem = Problem(rng.normal(size=7), costs, np.ones(len(costs)), 7)
    order = rng.permutation(7)
    moved = problem._replace(
        rewards=problem.rewards[order], costs=np.ascontiguousarray(costs[:, order])
    )
    answers = [
        simulate(strategy, p, SHARP, 100, normals(strategy, p, rng)).answer
        for p in (problem, moved)
    ]
    names = np.append(order, np.arange(7, 7 + len(costs))) + 1
    assert answers[0].any()
    np.testing.assert_array_equal(np.sort(names[answers[1] - 1]), answers[0])


def test_of_equal_scores_the_lowest_index_is_rejected():
    rules = Rules(CASES["one cost"], np.ones(4), INTERSECTION, False)
    state = start(rules)
    state.columns[:5] = [5, 3, 1, 4, 2]  # within the bound first, so not in order
    state.work.scores[:5] = [2.0, -np.inf, 0.0, -np.inf, -np.inf]
    reject_lowest(rules, state, 5, False)
    assert np.flatnonzero(~state.remaining).tolist() == [2]


def test_lagrangian_scores_come_from_an_optimal_dual_solution():
    """Arm 3, known, costs exactly the bound and is best alone; 1 and 2 mix to 0.95.

    Frontiers through it have slopes of 0.2 to 0.4, minus which is the slack's score; arms 1 and 2
    lie at most 0.1 below.
    """
    problem = Problem(np.array([0.8, 1.1, 1.0]), np.array([[0.5, 1.5, 1.0]]), np.ones(1), 2)
    drawn = normals("SFSR-L", problem, np.random.default_rng(0))
    assert simulate("SFSR-L", problem, SHARP, 100, drawn).first_rejected == 4


@both
def test_a_budget_must_let_every_unknown_arm_be_pulled(strategy):
    with pytest.raises(InputError, match=r"easy: budget: must be greater than 4.*got 4"):
        prepare(EASY, cell(strategy, 4))
    assert prepare(EASY, cell(strategy, 5))(run_streams(0, 0)).tau <= 5


@both
def test_reward_and_violation_are_those_of_the_mixture(strategy):
    """Weights rest on estimates, so that the mixture they name truly costs less or more."""
    problem, rng = CASES["two costs"], np.random.default_rng(4)
    rewards = np.append(problem.rewards, [0.0, 0.0])
    costs = np.hstack([problem.costs, np.zeros((2, 2))])
    violations = []
    for _ in range(200):
        run = simulate(strategy, problem, NOISE, BUDGET, normals(strategy, problem, rng))
        if run.answer.any():
            columns = run.answer - 1
            assert run.reward == pytest.approx(rewards[columns] @ run.weights, abs=1e-12)
            excess = costs[:, columns] @ run.weights - problem.bounds
            assert run.violation == pytest.approx(max(0.0, *excess), abs=1e-12)
            assert run.weights[columns < 5].sum() == pytest.approx(1.0, abs=1e-9)
            violations.append(run.violation)
    assert 0.0 in violations
    assert max(violations) > 0.1


MIXED = {"rewards": [0.2, 1.0, 0.2], "costs": [[0.4, 1.6, 1.0]], "bounds": [1.0], "sigma_cost": 0.5}
IN_TWO = {
    "rewards": [0.9, 0.2, 1.0, 0.3],
    "costs": [[0.5, 0.6, 1.6, 1.0], [0.8, 1.6, 0.4, 1.1]],
    "bounds": [1.0, 1.0],
    "sigma_reward": 0.5,
    "sigma_cost": 0.25,
}


@pytest.mark.parametrize(("fields", "budgets"), [(MIXED, (60, 240)), (IN_TWO, (400, 1600))])
def test_uslp_errs_less_with_budget_as_theorem_2_says(fields, budgets):
    """Eq. (14) bounds a limit; at budgets where errors can be counted a prefactor is left.

    Near the least distant instance with another answer, at distance d = sqrt(2 K exponent), the
    set of wrong estimates is nearly a half-space, and N / K pulls of each arm fall in it with
    probability Q(d sqrt(N / K)), Q the normal tail: about exp(-N exponent) / sqrt(N). So -ln error
    between two budgets rises faster than the exponent, as -ln Q does. That the boundary is bent
    changes it by less than 10%; 5 standard errors of the counts are a false alarm below 1e-6. A
    rise half as large again as expected is seen with probability 0.99. The bound is met from below
    too, for Q is the law and not just a bound on it.
    """
    instance = Instance(name="x", **fields)
    known = truth_of(instance)
    problem, rng, runs = instance.problem, np.random.default_rng(6), 20_000
    wrong = []
    for budget in budgets:
        drawn = normals("USLP", problem, rng, runs)
        found = [simulate("USLP", problem, instance.noise, budget, z).answer for z in drawn]
        answers = [answer.tolist() for answer in found]
        wrong.append(runs - answers.count(known.answer))
    rise = math.log(wrong[0] / wrong[1])
    expected = -np.diff(stats.norm.logsf(np.sqrt(2.0 * known.exponent_uslp * np.array(budgets))))[0]
    assert expected > known.exponent_uslp * (budgets[1] - budgets[0])
    assert abs(rise - expected) <= 0.1 * expected + 5.0 * math.sqrt((1.0 / np.array(wrong)).sum())


def test_a_run_whose_scores_were_not_found_has_failed(monkeypatch):
    problem = CASES["one cost"]
    world = steps.World(problem, NOISE, np.zeros(3), False)
    rules = make_rules("SFSR-L", problem, BUDGET, False)
    state = start(rules)
    drawn = normals("SFSR-L", problem, np.random.default_rng(0))
    steps.pull_round.py_func(world, rules, state, drawn)
    monkeypatch.setattr(steps, "reduced_values", lambda work, n: False)
    steps.end_round.py_func(rules, state)
    monkeypatch.undo()
    steps.play_rounds(world, rules, state, drawn)
    assert steps.outcome.py_func(state, problem).status == Status.FAILED
    assert simulate("SFSR-L", problem, NOISE, BUDGET, drawn).status == Status.STOPPED


@both
@pytest.mark.parametrize("case", CASES)
def test_a_run_pull_by_pull_is_the_run_by_sums(case, strategy):
    """Without noise both see the same but for rounding, and so end the same."""
    problem, rng = CASES[case], np.random.default_rng(0)
    exact = Noise(0.0, 0.0)
    fused = simulate(strategy, problem, exact, BUDGET, normals(strategy, problem, rng))
    world = steps.World(problem, exact, np.zeros(problem.bounds.size + 2))
    rules, play = make_rules(strategy, problem, BUDGET, False), STRATEGIES[strategy].play
    state, _ = play(world, rules, fused.tau, rng, rng)
    assert steps.done(rules, state)
    support, weights = steps.answer(state, problem)
    np.testing.assert_array_equal(state.pulls, fused.pulls)
    np.testing.assert_array_equal(support + 1, fused.answer)
    np.testing.assert_allclose(weights, fused.weights, rtol=1e-9)
    assert fused.answer.all()


@both
@pytest.mark.parametrize("case", CASES)
def test_a_round_as_one_sum_is_what_its_pulls_come_to(case, strategy):
    """Told the sums of a run, one observation an arm and round, the steps end as the run does.

    With single pulls the same sums come about up to rounding: the answer is the same.
    """
    problem = CASES[case]
    drawn = normals(strategy, problem, np.random.default_rng(5))
    fused = simulate(strategy, problem, NOISE, BUDGET, drawn)
    rules, n_costs = make_rules(strategy, problem, BUDGET, False), problem.bounds.size
    one, single, used = start(rules), start(rules), 0
    while not steps.done(rules, one):
        lacks = [int(steps.pulls_needed(rules, one, a)) for a in range(problem.n_unknown)]
        for arm, n in enumerate(lacks):
            if n:
                means = np.array([problem.rewards[arm], *problem.costs[:, arm]])
                noise = np.array([NOISE.reward, *[NOISE.cost] * n_costs])
                sums = n * means + np.sqrt(n) * noise * drawn[used : used + n_costs + 1]
                used += n_costs + 1
                steps.observe(rules, one, arm, np.append(sums, n))
                for _ in range(n):
                    steps.observe(rules, single, arm, np.append(sums / n, 1.0))
    support, weights = steps.answer(one, problem)
    np.testing.assert_array_equal(support + 1, fused.answer)
    np.testing.assert_array_equal(weights, fused.weights)
    np.testing.assert_array_equal(one.pulls, fused.pulls)
    support, weights = steps.answer(single, problem)
    np.testing.assert_array_equal(support + 1, fused.answer)
    np.testing.assert_allclose(weights, fused.weights, rtol=1e-9, atol=1e-12)


#: Rewards and costs that are 0 or 1; the last arm's reward and the first one's cost are certain.
RATES = Instance(
    name="rates",
    rewards=[0.1, 0.6, 0.75, 0.3, 1.0],
    costs=[[0.0, 0.5, 0.8, 0.2, 0.9]],
    bounds=[0.4],
    observations="bernoulli",
)


def told_binomials(rules, rng, most):
    """Support, weights and pulls of a run told numpy's binomials of at most `most` pulls."""
    state = start(rules)
    while not steps.done(rules, state):
        arms = range(5) if most > 1 else [steps.choose(rules, state, None)]
        for arm in arms:
            if n := min(int(steps.pulls_needed(rules, state, arm)), most):
                sums = [rng.binomial(n, p) for p in (RATES.rewards[arm], RATES.costs[0][arm])]
                steps.observe(rules, state, arm, np.array([*sums, n], dtype=float))
    return *steps.answer(state, RATES.problem), state.pulls


@both
def test_a_run_of_counts_is_that_of_the_steps_told_them(strategy):
    """The same binomials, drawn by numpy, told as sums arm by arm."""
    rules = make_rules(strategy, RATES.problem, 200, False)
    for seed in range(10):
        fused = prepare(RATES, cell(strategy, 200))(run_streams(seed, 0))
        rng = run_streams(seed, 0).environment
        support, weights, pulls = told_binomials(rules, rng, most=200)
        np.testing.assert_array_equal(support + 1, fused.answer)
        np.testing.assert_allclose(weights, fused.weights, rtol=1e-9)
        np.testing.assert_array_equal(pulls, fused.pulls)


@both
def test_pulls_of_0_and_1_are_numpys(strategy):
    """Pull by pull each is a binomial of one pull: the same run as of the steps told those."""
    made = strategies_steps(RATES, cell(strategy, 60))
    for seed in range(5):
        rng = run_streams(seed, 0).environment
        state, stopped = made.strategy.play(made.world, made.rules, made.cap, rng, rng)
        assert stopped
        rng = run_streams(seed, 0).environment
        support, weights, pulls = told_binomials(made.rules, rng, most=1)
        np.testing.assert_array_equal(steps.answer(state, RATES.problem)[0], support)
        np.testing.assert_allclose(steps.answer(state, RATES.problem)[1], weights, rtol=1e-9)
        np.testing.assert_array_equal(state.pulls, pulls)


def means_of(state, problem):
    """A, b and mu of the estimates, and which columns remain."""
    matrix, rhs, values = reference.with_slacks(
        problem._replace(rewards=state.rewards, costs=state.costs)
    )
    left = np.flatnonzero(state.remaining)
    return matrix[:, left], rhs, values[left]


def best_value(matrix, rhs, values):
    """The largest value of a feasible basis; minus infinity if there is none."""
    bases, solutions = reference.feasible_bases(matrix, rhs)
    return max((values[b] @ x for b, x in zip(bases, solutions, strict=True)), default=-math.inf)


rejecting = pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "USLP"])


@st.composite
def counted(draw):
    """Means of up to 5 arms whose rewards and costs are 0 or 1, so that estimates tie."""
    n_arms, n_costs = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    rate = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])
    rewards = draw(st.lists(rate, min_size=n_arms, max_size=n_arms))
    costs = [draw(st.lists(rate, min_size=n_arms, max_size=n_arms)) for _ in range(n_costs)]
    bounds = draw(st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0]), min_size=n_costs, max_size=2))
    return Problem(np.array(rewards), np.array(costs), np.array(bounds[:n_costs]), n_arms)


@rejecting
@given(counted(), st.integers(0, 2**32))
@example(Problem(np.ones(2), np.array([[0.0, 1.0]]), np.array([0.5]), 2), 0)
def test_ties_reject_no_column_that_the_best_mixture_needs(strategy, problem, seed):
    """What remains after a round has the same optimum by its estimates, so a feasible mixture."""
    rules = make_rules(strategy, problem, 8 * problem.rewards.size, True)
    state, rng = start(rules), np.random.default_rng(seed)
    while not steps.done(rules, state):
        for a in range(problem.n_unknown):
            if n := int(steps.pulls_needed(rules, state, a)):
                costs = rng.binomial(n, problem.costs[:, a]).astype(float)
                steps.record(state, a, float(n), float(rng.binomial(n, problem.rewards[a])), costs)
        before = best_value(*means_of(state, problem))
        steps.end_round(rules, state)
        if before > -math.inf:
            assert best_value(*means_of(state, problem)) == pytest.approx(before, abs=1e-9)
    support, weights = steps.answer(state, problem)
    assert (support < 0).all() or (weights >= 0.0).all()


@both
@pytest.mark.parametrize("case", CASES)
def test_readings_differ_at_ties_only(case, strategy):
    """Gaussian estimates do not tie."""
    problem = CASES[case]
    drawn = normals(strategy, problem, np.random.default_rng(7), 50)
    for z in drawn:
        one, other = (simulate(strategy, problem, NOISE, BUDGET, z, keep) for keep in (False, True))
        np.testing.assert_array_equal(one.answer, other.answer)
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.pulls, other.pulls)


#: Two good arms, of which the second breaks the limit.
TIED = Instance(
    name="tied",
    rewards=[0.95, 0.9, 0.5],
    costs=[[0.1, 0.9, 0.3]],
    bounds=[0.5],
    observations="bernoulli",
)


def test_ties_alone_put_sfsr_behind_uslp_on_rewards_of_0_and_1():
    """As written SFSR errs twice as often as USLP; in the default reading it does not err more.

    The difference is all runs that break the limit by their own estimates. 2000 runs: standard
    errors are below 1.2 points, and the share of errors that ties cause is 19 points.
    """
    shares = {}
    for strategy, reading in (
        ("SFSR", "as-written"),
        ("SFSR", "feasible-ties"),
        ("USLP", "as-written"),
    ):
        one = Cell("tied", strategy, {"budget": 60}, reading)
        replicate = prepare(TIED, one)
        runs = [replicate(run_streams(5, r)) for r in range(2000)]
        columns = {name: np.array([getattr(run, name) for run in runs]) for name in runs[0]._fields}
        found = summarise(one, truth_of(TIED).model_dump(), columns)
        shares[strategy, reading] = {e.statistic: e.value for e in found}
    written, default = shares["SFSR", "as-written"], shares["SFSR", "feasible-ties"]
    uslp = shares["USLP", "as-written"]
    assert written["error_rate"] > 1.7 * uslp["error_rate"]
    assert default["error_rate"] < uslp["error_rate"] + 0.02
    assert written["share_breaks_limits"] == pytest.approx(
        written["error_rate"] - default["error_rate"], abs=0.01
    )
    assert default["share_breaks_limits"] == uslp["share_breaks_limits"] == 0.0


def in_other_units(problem, reward, cost):
    return problem._replace(
        rewards=problem.rewards * reward, costs=problem.costs * cost, bounds=problem.bounds * cost
    )


def in_both_units(strategy, problem, reward, cost, seed):
    """The same run twice, with rewards and costs in units of 1 and in others."""
    drawn = normals(strategy, problem, np.random.default_rng(seed))
    budget = 20 * problem.n_unknown
    other = in_other_units(problem, reward, cost)
    sigmas = Noise(NOISE.reward * reward, NOISE.cost * cost)
    return (
        simulate(strategy, problem, NOISE, budget, drawn, True),
        simulate(strategy, other, sigmas, budget, drawn, True),
    )


powers = st.integers(-40, 40)


@both
@given(problems(), powers, powers, st.integers(0, 2**32))
def test_units_that_are_powers_of_two_change_no_bit(strategy, problem, reward, cost, seed):
    """Rewards times 2^j, costs and limits times 2^k."""
    here, there = in_both_units(strategy, problem, 2.0**reward, 2.0**cost, seed)
    np.testing.assert_array_equal(here.pulls, there.pulls)
    np.testing.assert_array_equal(here.answer, there.answer)
    slack = here.answer > problem.rewards.size
    np.testing.assert_array_equal(here.weights * np.where(slack, 2.0**cost, 1.0), there.weights)
    np.testing.assert_array_equal(here.reward * 2.0**reward, there.reward)


tens = st.integers(-12, 12)


@both
@given(problems(), tens, tens, st.integers(0, 2**32))
@example(CASES["two costs"], -12, -12, 0)
@example(CASES["two costs"]._replace(bounds=np.zeros(2)), 12, -12, 0)
def test_units_that_are_powers_of_ten_change_no_answer(strategy, problem, reward, cost, seed):
    here, there = in_both_units(strategy, problem, 10.0**reward, 10.0**cost, seed)
    np.testing.assert_array_equal(here.pulls, there.pulls)
    np.testing.assert_array_equal(here.answer, there.answer)
    slack = here.answer > problem.rewards.size
    weights = here.weights * np.where(slack, 10.0**cost, 1.0)
    np.testing.assert_allclose(there.weights, weights, rtol=1e-6)
