"""The paper's instances as printed, their bounds, and what a bad instance is told."""

import numpy as np
import pytest

from bestarm.baics.problem import (
    EPSILONS,
    VARIANTS,
    Instance,
    characteristic_time,
    epsilon_family,
    instances,
    true_allocation,
    true_answer,
    truth,
)
from bestarm.baics.tables import bounds
from bestarm.core.information import needed_information
from bestarm.core.inputs import InputError, load, parse

GOOD = {"name": "x", "means": [[1.0, 0.5], [0.2, 0.1]], "weights": [0.5, 0.5]}


def test_printed_qualities_and_answers():
    first, second = instances()["example1"], instances()["example2"]
    np.testing.assert_allclose(np.array(first.means) @ first.problem.weights, [0.62, 0.35, 1.01])
    np.testing.assert_allclose(
        np.array(second.means) @ second.problem.weights, [1.4 / 3, 1.4 / 3, 0.4, 0.2]
    )
    assert (true_answer(first), true_answer(second)) == (1, 2)
    assert true_answer(instances()["no-feasible-arm"]) == 0


def test_stored_names_are_file_names(root):
    stems = {p.stem for p in (root / "data/instances/baics").glob("*.yaml")}
    assert stems <= instances().keys()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_answer_of_the_epsilon_family_is_arm_1(variant, epsilon):
    assert true_answer(epsilon_family(variant, epsilon)) == 1


def test_tied_qualities_make_plain_identification_impossible():
    known = truth(instances()["example2"])
    assert known.bai_characteristic_time is None
    assert known.characteristic_time == pytest.approx(1855.5555555, rel=1e-9)


def test_sigma_scales_the_bound_and_not_the_allocation():
    one = Instance(**GOOD)
    two = Instance(**GOOD, sigma=2.0)
    assert characteristic_time(two) == pytest.approx(4 * characteristic_time(one))
    np.testing.assert_allclose(true_allocation(two), true_allocation(one))


def test_equal_sigma_may_be_written_by_pair():
    one, rows = Instance(**GOOD, sigma=2.0), Instance(**GOOD, sigma=[[2.0, 2.0], [2.0, 2.0]])
    assert truth(one) == truth(rows)


def test_a_minimum_moves_with_the_means():
    raised = np.array(GOOD["means"]) + np.array([8.0, -4.0])
    one = Instance(**GOOD, constrained=1)
    other = Instance(**GOOD | {"means": raised.tolist()}, constrained=1, minimum=[8.0])
    assert characteristic_time(other) == pytest.approx(characteristic_time(one))
    assert true_answer(one) == true_answer(other) == 1


def test_a_mean_equal_to_its_minimum_is_feasible():
    means = [[0.3, 0.7], [0.3 - 1e-16, 0.9]]
    known = Instance(**GOOD | {"means": means}, minimum=[0.3, 0.7], sigma=0.1)
    assert known.feasible.tolist() == [True, False]
    assert true_answer(known) == 1


def test_the_example_of_rates(root):
    known = load(Instance, root / "data/instances/example-rates.yaml")
    assert known.feasible.tolist() == [True, True, False]
    assert true_answer(known) == 2
    assert (known.sigmas == 0.5).all()


def test_the_lower_bound_of_rates_is_the_certified_one(root):
    """Of Gaussian rewards there is no such row; without constraints T* is no larger here."""
    known = load(Instance, root / "data/instances/example-rates.yaml")
    found = {e.statistic: e.value for e in bounds(truth(known).model_dump(), {"delta": 0.05})}
    low, time = found["characteristic_time_low"], found["characteristic_time"]
    assert low <= time <= (1.0 + 1e-5) * low
    assert found["lower_bound"] == low * needed_information(0.05)
    plain = {e.statistic for e in bounds(truth(Instance(**GOOD)).model_dump(), {"delta": 0.05})}
    assert plain == found.keys() - {"characteristic_time_low"}


def test_rates_that_no_arm_can_reach_need_no_pulls():
    known = Instance(**GOOD | {"means": [[0.5, 0.5], [0.2, 0.1]]}, rewards="bernoulli", minimum=1.5)
    assert truth(known).characteristic_time == 0.0


def test_only_proportions_of_weights_matter():
    counts = Instance(**GOOD | {"weights": [300, 300]})
    assert characteristic_time(counts) == pytest.approx(characteristic_time(Instance(**GOOD)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weights": [0.5]}, "weights: must have 2 entries to fit means, got 1"),
        ({"weights": [0.5, -0.5]}, "weights.2: must be greater than or equal to 0, got -0.5"),
        ({"weights": [0, 0]}, "weights: must have a positive sum"),
        ({"means": []}, "means: "),
        ({"means": [[1.0, 0.5]]}, "means: "),
        ({"means": [[1.0, 0.5], [0.2]]}, "means: must have the same number of subpopulations"),
        ({"means": [[1.0, float("nan")], [0, 0]]}, "means.1.2: must be a finite number, got nan"),
        ({"arms": ["a", "a"]}, "arms: must be distinct and not empty"),
        ({"arms": ["a", ""]}, "arms: must be distinct and not empty"),
        ({"subpopulations": ["a", "a"]}, "subpopulations: must be distinct"),
        ({"constrained": 3}, "constrained: must be at most 2"),
        ({"arms": ["a"]}, "arms: must have 2 entries"),
        ({"sigma": 0}, "sigma: must be greater than 0"),
        ({"wieghts": [1, 1]}, "wieghts: unknown field"),
        ({"sigma": "wide"}, "sigma: must be a number, got 'wide'"),
        ({"sigma": [1.0, 2.0]}, "sigma.1: must be a list, got 1.0"),
        ({"sigma": [[1, 1], [1, 0]]}, "sigma.2.2: must be greater than 0, got 0"),
        ({"sigma": [[1.0, 1.0]]}, "sigma: must be a number, or 2 rows of 2 as means"),
        ({"sigma": [[1.0, 1.0], [1.0]]}, "sigma: must be a number, or 2 rows of 2 as means"),
        ({"minimum": [0.1]}, "minimum: must be a number, or 2 numbers, one per constrained sub"),
        ({"minimum": [0.1, 0.2], "constrained": 1}, "minimum: must be a number, or 1 numbers"),
        ({"minimum": [0.1, "x"]}, "minimum.2: must be a number, got 'x'"),
        ({"rewards": "normal"}, "rewards: must be 'gaussian' or 'bernoulli', got 'normal'"),
        (
            {"rewards": "bernoulli", "means": [[0.1, 1.5], [0, 0]]},
            "means.1.2: must be from 0 to 1 if rewards are bernoulli, got 1.5",
        ),
        ({"rewards": "bernoulli", "sigma": 2.0}, "sigma: must be left out if rewards are berno"),
    ],
)
def test_bad_instances(change, said):
    with pytest.raises(InputError) as error:
        parse(Instance, GOOD | change, "x.yaml")
    assert str(error.value).startswith(f"x.yaml: {said}")
