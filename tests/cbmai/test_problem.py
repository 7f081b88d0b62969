"""The stored instances: as printed, as rebuilt, each with the property it stands for."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from bestarm.cbmai import rebuild, reference
from bestarm.cbmai.problem import (
    Instance,
    instances,
    random_instance,
    solve,
    standard_form,
    truth,
)
from bestarm.cbmai.strategies import OF_PAPER, prepare
from bestarm.common.paper import Cell
from bestarm.common.tables import read_table
from bestarm.core.inputs import InputError, load, parse
from bestarm.core.streams import run_streams

GOOD = {"name": "x", "rewards": [1.0, 0.5], "costs": [[0.5, 1.5]], "bounds": [1.0]}
#: Table 1: the costs of the arms whose rewards are printed in bold.
TABLE_1 = {
    "D1P": [(0.6, 0.9)],
    "D2P": [(0.8, 1.1), (1.4, 0.7)],
    "D3P": [(0.8, 1.1), (1.0, 0.7), (1.4, 0.9)],
    "D1I": [(0.4, 0.9)],
    "D2I": [(0.4, 0.7), (1.4, 0.7)],
    "D3I": [(0.8, 0.9), (0.8, 1.3), (1.4, 0.9)],
}


def stored(name):
    instance = instances()[name]
    return instance, instance.problem, solve(instance.problem)


@pytest.mark.parametrize("name", TABLE_1)
class TestTable1:
    def test_support_is_the_one_in_bold(self, name):
        _, problem, solution = stored(name)
        arms = solution.basis[solution.basis < 24]
        assert [tuple(c) for c in problem.costs[:, arms].T] == TABLE_1[name]
        assert len(arms) == int(name[1])
        assert solution.unique

    def test_costs_are_all_combinations(self, name):
        instance, problem, _ = stored(name)
        wanted = {(i / 10, j / 10) for i in (4, 6, 8, 10, 12, 14) for j in (7, 9, 11, 13)}
        assert set(map(tuple, problem.costs.T)) == wanted
        assert instance.bounds == [1.0, 1.0]
        assert instance.noise == (1.0, 0.5)
        assert problem.n_unknown == problem.rewards.size == 24

    def test_noise_is_as_in_appendix_c(self, name):
        """W, once 0.02 is taken off the support: a permutation (P) or 24 draws (I)."""
        _, problem, solution = stored(name)
        rewards = problem.rewards.copy()
        rewards[solution.basis[solution.basis < 24]] -= 0.02
        without = [np.ones(24), problem.costs[0], problem.costs.sum(axis=0)][int(name[1]) - 1]
        steps = (without - rewards) / 0.02
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
        if name.endswith("P"):
            np.testing.assert_array_equal(np.sort(np.round(steps)), np.arange(24))
        else:
            assert 0 <= np.round(steps).min() <= np.round(steps).max() <= 14


@pytest.mark.parametrize("name", ["D1P", "D1I"])
def test_truth_of_the_one_arm_instances_by_hand(name):
    """The arm of reward 1.02 is 0.1 within a bound, and mixes with one of 0.98 at the same cost."""
    known = truth(instances()[name])
    assert known.value == pytest.approx(1.02)
    assert known.infeasibility_gap == pytest.approx((0.1 / 0.5) ** 2)
    assert known.exponent_any == pytest.approx(0.04**2 / 2 / 2)


def test_stored_files_are_what_is_rebuilt_or_printed(root):
    folder = root / "data/instances/cbmai"
    made = {instance.name: instance for instance in rebuild.rebuilt()}
    assert {p.stem for p in folder.glob("*.yaml")} == made.keys() | TABLE_1.keys()
    for name, instance in made.items():
        assert load(Instance, folder / f"{name}.yaml") == instance


def test_what_the_paper_does_not_print_is_marked():
    marked = {instance.name for instance in rebuild.rebuilt() if instance.reconstructed}
    drawn = {"A1", "A2", "A3", "H1", "H2", "H3", "intersection-values"}
    assert marked == drawn | {f"A2-known-{n}" for n in (4, 8, 12)}


def test_figure_1_has_two_arms_in_its_support():
    _, _, solution = stored("intersection-values")
    assert solution.basis.tolist() == [0, 1]


@pytest.mark.parametrize(("name", "n_arms"), [("A1", 1), ("A2", 2), ("A3", 2)])
def test_average_instances(name, n_arms):
    """Figure 2: the arms in the support; of the others, half clearly sub-optimal and half not."""
    _, problem, solution = stored(name)
    assert (solution.basis < 16).sum() == n_arms
    assert solution.weights.min() >= 0.2
    assert -0.2 <= np.delete(solution.reduced, solution.basis).max() <= -0.1
    below = np.sort(0.5 + np.sqrt(problem.costs[0]) - problem.rewards)
    assert below[7] <= 0.3 + 0.01  # rewards and costs are rounded
    assert below[8] >= 0.5 - 0.01


def test_random_instances_are_named_by_their_seed():
    one = random_instance(3)
    assert instances()[one.name] == one
    assert one.name != random_instance(4).name


def kept_errors(root, name, budget):
    """Error rates of the paper's strategies in the kept table of Figure 3, and its runs per row."""
    table = read_table(root / "figures/cbmai/fig3.csv")
    table = table[(table.instance == name) & (table.x == budget)]
    rows = table[table.statistic == "error_rate"].set_index("strategy")
    assert rows.index.tolist() == list(OF_PAPER)
    return rows.value.to_dict(), rows.n.iloc[0]


def surely_less(p, q, runs, share=1.0):
    """p < share q. Passes with a chance below 1e-6 where that is false."""
    error = math.sqrt((p * (1.0 - p) + share**2 * q * (1.0 - q)) / runs)
    return share * q - p > stats.norm.isf(1e-6) * error


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("H1", ["SFSR-L", "USLP", "SFSR"]),
        ("H2", ["SFSR", "USLP", "SFSR-L"]),
        ("H3", ["SFSR", "SFSR-L", "USLP"]),
    ],
)
def test_hard_instances_are_hard_for_whom_the_paper_says(root, name, order):
    """Figure 3, in the kept table: of two strategies side by side, the first errs less."""
    rates, runs = kept_errors(root, name, 2000)
    for better, worse in itertools.pairwise(order):
        assert surely_less(rates[better], rates[worse], runs)
    if name == "H3":  # SFSR-L "struggles to perform much better than" USLP, unlike SFSR
        assert surely_less(rates["USLP"], rates["SFSR-L"], runs, share=2.5)
        assert surely_less(rates["SFSR"], rates["USLP"], runs, share=0.4)


@pytest.mark.parametrize("strategy", OF_PAPER)
@pytest.mark.parametrize("name", ["H1", "H2"])
def test_kept_error_rates_are_those_of_this_code(root, name, strategy):
    """Of 500 new runs; right code fails once in a million times for all six comparisons together.

    If two strategies were exchanged whose rates differ by 0.14 or more, that would be seen with
    probability 0.999.
    """
    runs, (instance, _, solution) = 500, stored(name)
    rates, kept = kept_errors(root, name, 2000)
    p = rates[strategy]
    replicate = prepare(instance, Cell(name, strategy, {"budget": 2000}, "as-written"))
    best = (solution.basis + 1).tolist()
    wrong = sum(replicate(run_streams(12, r)).answer.tolist() != best for r in range(runs))
    # the kept rate is an estimate too
    spread = math.sqrt(1.0 + runs / kept)
    low, high = (stats.binom(runs, p).ppf(q) for q in (1e-6 / 12, 1.0 - 1e-6 / 12))
    assert abs(wrong - runs * p) <= spread * max(runs * p - low, high - runs * p)


def test_h2_is_laid_out_as_in_appendix_a():
    """Arms 3 to 16 alike, feasible, near the bound; arm 1 cheap and poor; arm 2 nearly feasible."""
    _, problem, solution = stored("H2")
    assert solution.basis.tolist() == [0, 1]
    cost, reward = problem.costs[0], problem.rewards
    assert len(set(cost[2:])) == len(set(reward[2:])) == 1
    assert cost[0] < cost[2] < 1.0 < cost[1]
    assert cost[2] >= 0.9
    assert cost[1] <= 1.2
    assert reward[0] < reward[2] < reward[1]


@pytest.mark.parametrize("n_known", [4, 8, 12])
def test_known_arms_are_those_furthest_below_the_frontier(n_known):
    _, plain, _ = stored("A2")
    _, problem, solution = stored(f"A2-known-{n_known}")
    assert problem.n_unknown == 16 - n_known
    arms = [sorted(zip(p.rewards, p.costs[0], strict=True)) for p in (plain, problem)]
    assert arms[0] == arms[1]
    assert solution.reduced[16 - n_known : 16].max() <= solution.reduced[: 16 - n_known].min()


@pytest.mark.parametrize("make", [rebuild.infeasible, rebuild.conflict])
def test_no_mixture_is_feasible(make):
    instance = make()
    assert solve(instance.problem) is None
    assert reference.solve(*standard_form(instance.problem)) is None
    known = truth(instance)
    assert not any(known.answer)
    assert known.value is known.exponent_any is None
    assert not known.unique


def test_each_constraint_of_the_conflict_can_be_met_alone():
    problem = rebuild.conflict().problem
    for row, bound in zip(problem.costs, problem.bounds, strict=True):
        alone = problem._replace(costs=row[None], bounds=np.array([bound]))
        assert reference.solve(*standard_form(alone)) is not None


def test_three_constraints_all_bind():
    instance, problem, solution = stored("three-constraints")
    assert (solution.basis < 12).all()
    known = truth(instance)
    assert known.value == pytest.approx(reference.solve(*standard_form(problem))[0])
    assert known.unique
    assert known.arm_gaps is None  # of more bases than it would be sensible to go through


def test_no_gaps_with_known_arms():
    """Theorem 2 is stated without any."""
    known = truth(instances()["A2-known-4"])
    assert known.value == pytest.approx(truth(instances()["A2"]).value)
    assert known.arm_gaps is known.infeasibility_gap is known.exponent_any is None


@pytest.mark.parametrize("name", [n for n in instances() if "random" not in n])
def test_solution_is_that_of_the_references(name):
    """Eq. (6), and Eq. (8) where Assumption 1 makes it single-valued."""
    _, problem, solution = stored(name)
    if solution is not None:
        program = standard_form(problem)
        values = solution.intersection_values
        np.testing.assert_allclose(values, reference.intersection_values(*program), atol=1e-9)
        scores = reference.lagrangian_scores(*program)
        np.testing.assert_allclose(solution.reduced, scores, atol=1e-7)


@pytest.mark.parametrize(
    "change",
    [
        {"rewards": [1.0, 1.0], "costs": [[0.5, 0.5]]},  # two optimal arms
        {"rewards": [1.0, 2.0], "costs": [[1.0, 3.0]], "bounds": [1.0]},  # no slack left
        {"rewards": [0.0, 1.0, 0.5], "costs": [[0.0, 2.0, 1.0]]},  # arm 3 on the line of 1 and 2
    ],
)
def test_without_assumption_1_there_are_no_gaps(change):
    known = truth(Instance(**GOOD | change))
    assert not known.unique
    assert known.arm_gaps is known.infeasibility_gap is known.exponent_uslp is None
    assert known.value is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rewards": [1.0]}, "rewards: "),
        ({"rewards": [1.0, float("nan")]}, "rewards.2: must be a finite number, got nan"),
        ({"costs": []}, "costs: "),
        ({"costs": [[0.5]]}, "costs: must have 2 entries per row to fit rewards, got a row of 1"),
        ({"costs": [[0.5, 1.5], [0.5]]}, "costs: must have 2 entries per row"),
        ({"bounds": [1.0, 1.0]}, "bounds: must have 1 entries to fit costs, got 2"),
        ({"unknown": 0}, "unknown: must be greater than or equal to 1, got 0"),
        ({"unknown": 3}, "unknown: must be at most 2, the number of arms"),
        ({"arms": ["a"]}, "arms: must have 2 entries to fit rewards, got 1"),
        ({"constraints": ["a", "b"]}, "constraints: must have 1 entries to fit costs, got 2"),
        ({"sigma_reward": 0}, "sigma_reward: must be greater than 0, got 0"),
        ({"sigma_cost": -1}, "sigma_cost: must be greater than 0, got -1"),
        ({"bound": [1.0]}, "bound: unknown field"),
        ({"observations": "normal"}, "observations: must be 'gaussian' or 'bernoulli', got 'norm"),
        ({"observations": "bernoulli"}, "costs.1.2: must be from 0 to 1 if observations are bern"),
        ({"observations": "bernoulli", "rewards": [-0.1, 0.5]}, "rewards.1: must be from 0 to 1 i"),
        (
            {"observations": "bernoulli", "costs": [[0.5, 1.0]], "sigma_cost": 2.0},
            "sigma_cost: must be left out if observations are bernoulli",
        ),
    ],
)
def test_bad_instances(change, said):
    with pytest.raises(InputError) as error:
        parse(Instance, GOOD | change, "x.yaml")
    assert str(error.value).startswith(f"x.yaml: {said}")
    assert "\n" not in str(error.value)


def test_bernoulli_observations_have_theorem_1_only():
    """With sigma 1/2. Theorem 2 is of Gaussian laws."""
    fields = {"rewards": [0.2, 0.9, 0.2], "costs": [[0.2, 0.8, 0.5]], "bounds": [0.5]}
    rates = Instance(name="x", observations="bernoulli", **fields)
    bell = Instance(name="x", sigma_reward=0.5, sigma_cost=0.5, **fields)
    one, other = truth(rates), truth(bell)
    assert one.exponent_any is one.exponent_uslp is None
    assert one.exponent_sfsr == other.exponent_sfsr > 0.0
    assert one.arm_gaps == other.arm_gaps
    assert Instance(**rates.model_dump()).model_dump() == rates.model_dump()


@cache
def known_truth(name):
    return truth(instances()[name])


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        *itertools.product(("A2", "D1I", "too-dear"), (2.0**-40, 2.0**40, 1e-12, 1e12)),
        ("D3P", 1e-12),
    ],
)
def test_the_truth_does_not_depend_on_units(name, unit):
    instance, here = instances()[name], known_truth(name)
    scaled = {
        "rewards": [r * unit for r in instance.rewards],
        "costs": [[c * unit for c in row] for row in instance.costs],
        "bounds": [b * unit for b in instance.bounds],
        "sigma_reward": instance.sigma_reward * unit,
        "sigma_cost": instance.sigma_cost * unit,
    }
    there = truth(Instance(**(instance.model_dump() | scaled)))
    assert there.answer == here.answer
    assert there.unique == here.unique
    units = [unit if column > len(instance.rewards) else 1.0 for column in here.answer]
    np.testing.assert_allclose(np.array(there.weights) / units, here.weights, rtol=1e-9)
    if here.value is not None:
        assert there.exponent_sfsr == pytest.approx(here.exponent_sfsr, rel=1e-6)
