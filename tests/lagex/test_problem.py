"""The paper's instances and their truth, and what a bad instance is told."""

import math
from pathlib import Path

import numpy as np
import pytest

from bestarm.core.inputs import InputError, parse
from bestarm.lagex import reference
from bestarm.lagex.paper.bounds import constraint_rows
from bestarm.lagex.problem import (
    SWEEP,
    Constraint,
    Instance,
    base,
    imdb,
    instances,
    normalised,
    perturbed,
    setup1,
    setup2,
    triangle,
    truth,
    with_cost_sigma,
)
from bestarm.lagex.tables import bounds
from bestarm.verdicts.tables import read_published

ROOT = Path(__file__).parents[2]

SHARE = {"coefficients": [1.0, 1.0, 0.0]}
ROW = SHARE | {"at_most": 0.5}
GOOD = {"name": "x", "means": [1.0, 0.5, 0.2], "constraints": [ROW]}
NAN = float("nan")


def test_upper_and_lower_limits_become_rows():
    rows = [ROW, {"coefficients": [0.0, 1.0, 2.0], "at_least": 0.3}]
    problem = Instance(**GOOD | {"constraints": rows, "sigma": 2.0}).problem
    assert problem.matrix.tolist() == [[1.0, 1.0, 0.0], [0.0, -1.0, -2.0]]
    assert problem.limits.tolist() == [0.5, -0.3]
    assert problem.variances.tolist() == [4.0, 4.0, 4.0]
    assert problem.cost_sigma == 1.0


@pytest.mark.parametrize(
    ("sigma", "variances"), [([1.0, 2.0, 3.0], [1, 4, 9]), ([2.0], [4, 4, 4]), (3, [9, 9, 9])]
)
def test_sigma_may_differ_by_arm(sigma, variances):
    instance = Instance(**GOOD | {"sigma": sigma})
    assert instance.problem.variances.tolist() == variances
    again = Instance(**instance.model_dump())
    assert again.problem.variances.tolist() == variances


def test_names_of_arms_and_constraints():
    rows = [Constraint(**ROW, name="share"), Constraint(**ROW)]
    instance = Instance(**GOOD | {"constraints": rows, "arms": ["a", "b", "c"]})
    assert instance.arm_names == ["a", "b", "c"]
    assert instance.constraint_names == ["share", "constraint 2"]
    assert Instance(**GOOD).arm_names == ["arm 1", "arm 2", "arm 3"]


@pytest.mark.parametrize(
    ("instance", "policy", "value"),
    [
        (setup1(0.5), [0.5, 0, 0.5, 0, 0, 0], 1.0),
        (setup1(1.3), [0.5, 0, 0.5, 0, 0, 0], 1.4),
        (setup1(2.5, printed=True), [0.5, 0, 0.5, 0, 0, 0, 0], 2.0),
        (setup2("easy", [1.0, 0.5, 0.4, 0.95, 0.8]), [0.5, 0, 0, 0.5, 0], 0.975),
        (setup2("hard", [1.0, 0.5, 0.4, 0.4, 0.5]), [0.5, 0, 0, 0, 0.5], 0.75),
        (triangle(), [0.5, 0, 0.5], 3.5),
        (perturbed(), [1.0, 0, 0], 1.0),
        (perturbed(0.03), [0.9, 0.1, 0], 0.98),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_best_policies_by_hand(instance, policy, value):
    known = truth(instance)
    np.testing.assert_allclose(known.policy, policy, atol=1e-9)
    assert known.value == pytest.approx(value)


def test_setup_1_has_as_many_means_as_the_reading_says():
    assert setup1(0.7).means == [1.5, 1.0, 0.7, 0.4, 0.3, 0.2]
    assert setup1(0.7, printed=True).means == [1.5, 1.0, 0.7, 0.4, 0.3, 0.2, 0.1]
    assert [sum(c.coefficients) for c in setup1(0.7).constraints] == [2.0, 3.0]
    assert [sum(c.coefficients) for c in setup1(0.7, printed=True).constraints] == [2.0, 2.0]
    assert SWEEP[0] == 0.5
    assert SWEEP[-1] == 2.5
    np.testing.assert_allclose(np.diff(SWEEP), 0.1)


def test_imdb_keeps_its_genres_limits():
    for instance in (imdb(), imdb(spread=True)):
        assert len(instance.means) == 12
        assert [(c.at_most, c.at_least) for c in instance.constraints] == [
            (0.3, None),
            (None, 0.3),
            (None, 0.3),
        ]
        policy = np.array(truth(instance).policy)
        assert (instance.problem.matrix @ policy <= instance.problem.limits + 1e-9).all()
    assert (imdb().problem.variances == 1.0).all()
    spread = np.sqrt(imdb(spread=True).problem.variances)
    assert (spread.min(), spread.max()) == (
        pytest.approx(0.93, abs=0.01),
        pytest.approx(1.32, abs=0.01),
    )


def test_the_truth_of_every_instance_is_that_of_a_linear_program():
    for name, instance in instances().items():
        problem, known = instance.problem, truth(instance)
        policy = np.array(known.policy)
        wanted = reference.best_policy(problem.means, problem.matrix, problem.limits)
        assert known.value == pytest.approx(problem.means @ wanted, abs=1e-9), name
        assert problem.means @ policy == pytest.approx(known.value, abs=1e-9), name
        np.testing.assert_allclose(
            known.slacks, problem.limits - problem.matrix @ policy, atol=1e-8, err_msg=name
        )
        assert min(known.slacks) >= 0.0, name
        used = [*(policy > 1e-9), *(np.array(known.slacks) > 1e-9)]
        assert known.answer == [int(u) for u in used], name
        assert known.unique == (known.characteristic_time is not None), name
        if known.unique:
            assert known.inside_time >= known.characteristic_time * (1.0 - 1e-7), name
            assert known.tolerant_time < known.characteristic_time, name
        assert math.isfinite(known.tolerant_time), name


def test_two_arms_tie_in_setup_1_where_the_third_mean_is_the_first():
    known = truth(setup1(1.5))
    assert known.bai_characteristic_time is None
    assert known.characteristic_time is not None


def test_names_of_instances_are_their_keys():
    assert all(name == instance.name for name, instance in instances().items())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"means": [1.0]}, "means: "),
        ({"observations": "normal"}, "observations: must be 'gaussian' or 'bernoulli', got 'norm"),
        (
            {"observations": "bernoulli", "means": [1.1, 0.5, 0.2]},
            "means.1: must be from 0 to 1",
        ),
        (
            {
                "observations": "bernoulli",
                "constraints": [ROW, {"coefficients": [0.0, -0.5, 1.0], "at_most": 1.0}],
            },
            "constraints.2.coefficients.2: must be from 0 to 1 if observations are bernoulli, ",
        ),
        (
            {"observations": "bernoulli", "sigma": 2.0},
            "sigma: must be left out if observations",
        ),
        ({"means": [1.0, NAN, 0.0]}, "means.2: must be a finite number, got nan"),
        ({"means": [1.0, 0.5]}, "constraints: 1.coefficients: must have 2 entries to fit means"),
        ({"constraints": []}, "constraints: "),
        ({"constraints": "no"}, "constraints: must be a list, got 'no'"),
        (
            {"constraints": [{"coefficients": [1.0, 1.0, 0.0]}]},
            "constraints.1: must have either at_most or at_least",
        ),
        (
            {"constraints": [ROW | {"at_least": 0.1}]},
            "constraints.1: must have either at_most or at_least",
        ),
        ({"constraints": [ROW | {"name": "c"}] * 2}, "constraints: names must be distinct, got"),
        (
            {"constraints": [ROW, {"coefficients": [1.0, 0.0], "at_most": 0.5}]},
            "constraints: 2.coefficients: must have 3 entries to fit means, got 2",
        ),
        (
            {"constraints": [{"coefficients": [1.0, 1.0, 1.0], "at_most": 0.5}]},
            "constraints: must allow some policy, here none satisfies all of them",
        ),
        (  # each limit is kept by some arm alone
            {"constraints": [SHARE | {"at_most": 0.2}, SHARE | {"at_least": 0.8}]},
            "constraints: must allow some policy, here none satisfies all of them",
        ),
        (
            {"constraints": [ROW | {"coefficients": [1.0, NAN, 0.0]}]},
            "constraints.1.coefficients.2: must be a finite number, got nan",
        ),
        (
            {"constraints": [ROW | {"at_most": math.inf}]},
            "constraints.1.at_most: must be a finite number, got inf",
        ),
        (
            {"constraints": [ROW | {"at_mots": 1.0}]},
            "constraints.1: at_mots: unknown field, "
            "allowed are name, coefficients, at_most, at_least",
        ),
        ({"constraints": [0.5]}, "constraints.1: must be a valid dictionary"),
        ({"sigma": 0.0}, "sigma.1: must be greater than 0, got 0.0"),
        ({"sigma": "one"}, "sigma.1: must be a number"),
        ({"sigma": None}, "sigma.1: must be a number, got None"),
        ({"sigma": []}, "sigma: "),
        ({"sigma": [1.0, 1.0]}, "sigma: must have 3 entries to fit means, got 2"),
        ({"sigma": [1.0, 1.0, -1.0]}, "sigma.3: must be greater than 0, got -1.0"),
        ({"sigma": [1.0, math.inf, 1.0]}, "sigma.2: must be a finite number, got inf"),
        ({"cost_sigma": 0.0}, "cost_sigma: must be greater than 0, got 0.0"),
        ({"arms": ["a"]}, "arms: must have 3 entries to fit means, got 1"),
        ({"name": ""}, "name: "),
        ({"wieghts": 1}, "wieghts: unknown field, allowed are name,"),
    ],
)
def test_bad_instances(change, said):
    with pytest.raises(InputError) as error:
        parse(Instance, GOOD | change, "x.yaml")
    assert str(error.value).startswith(f"x.yaml: {said}")
    assert "\n" not in str(error.value)


def test_the_papers_own_error_is_what_its_figures_differ_by():
    """A median drawn in Figure 4 and again in Figure 5 or 6: |ln ratio| / sqrt(2), no other row."""
    table = read_published(ROOT / "data/published/lagex.csv")
    medians = table[(table.strategy == "LAGEX") & (table.statistic == "median_stopping_time")]
    stated = medians.dropna(subset="own_error")
    assert set(stated.target) == {"fig4", "fig5", "fig6"}
    assert table.own_error.count() == len(stated) == 4
    for _, pair in stated.groupby("instance"):
        one, other = pair.value
        expected = abs(math.log(one / other)) / math.sqrt(2.0)
        assert pair.own_error.tolist() == pytest.approx([expected] * 2, abs=5e-5)


def test_bernoulli_observations_have_sigma_1_2_and_no_lower_bound():
    rates = Instance(**GOOD, observations="bernoulli")
    bell = Instance(**GOOD, sigma=0.5, cost_sigma=0.5)
    one, other = truth(rates), truth(bell)
    assert (one.gaussian, other.gaussian) == (False, True)
    assert one.policy == other.policy
    setting = {"delta": 0.1}
    shown = {e.statistic: e.value for e in bounds(one.model_dump(), setting)}
    full = {e.statistic: e.value for e in bounds(other.model_dump(), setting)}
    assert shown["characteristic_time:Gaussian"] == full["characteristic_time"]
    assert not any("bound" in name or "corollary" in name for name in shown)
    assert Instance(**rates.model_dump()).model_dump() == rates.model_dump()


@pytest.mark.parametrize("name", ["setup 1 m3=0.5", "imdb"])
def test_variants_of_an_environment_change_what_they_say(name):
    """Rows of length 1 leave policies and bounds as they are; constraints are harder to learn."""
    plain, scaled = base(name), normalised(name)
    rows = constraint_rows(scaled.problem)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0)
    lengths = np.linalg.norm(constraint_rows(plain.problem), axis=1)
    np.testing.assert_allclose(rows * lengths[:, None], constraint_rows(plain.problem))
    one, other = truth(plain), truth(scaled)
    np.testing.assert_allclose(one.policy, other.policy, atol=1e-9)
    assert one.characteristic_time == pytest.approx(other.characteristic_time)
    assert one.learning_time is not None
    assert other.learning_time is not None
    more = other.learning_time / one.learning_time
    assert lengths.min() ** 2 - 1e-6 <= more <= lengths.max() ** 2 + 1e-6
    noisy = with_cost_sigma(name, 2.0)
    assert truth(noisy).learning_time == pytest.approx(4.0 * one.learning_time)
    assert noisy.problem.cost_sigma == 2.0
