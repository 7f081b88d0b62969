"""Instances: what they may hold, and their ground truth."""

import pytest

from bestarm.bai.problem import Instance, instances, truth
from bestarm.core.inputs import InputError, parse


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"means": [0.1]}, "means: must hold at least 2, got"),
        ({"means": [0.1, 1.2]}, "means.2: must be from 0 to 1 if rewards are bernoulli, got 1.2"),
        ({"means": [0.1, 0.2], "sigma": 2.0}, "sigma: must be left out unless rewards are gauss"),
        ({"means": [-1, 0.2], "rewards": "poisson"}, "means.1: must be at least 0 if rewards are"),
        ({"means": [1, 0], "rewards": "exponential"}, "means.2: must be positive if rewards are"),
        ({"means": [0.1, 0.2], "arms": ["a"]}, "arms: must have 2 entries to fit means, got 1"),
        ({"means": [0.1, 0.2], "rewards": "cauchy"}, "rewards: must be 'bernoulli', 'gaussian'"),
    ],
)
def test_refused(fields, said):
    with pytest.raises(InputError, match=said):
        parse(Instance, {"name": "mine"} | fields, "mine.yaml")


def test_truth_of_a_tie():
    found = truth(Instance(name="tie", means=[0.5, 0.5, 0.1]))
    assert (found.answer, found.characteristic_time) == (1, None)
    assert found.allocation == [0.5, 0.5, 0.0]


def test_every_instance_has_a_certificate():
    for instance in instances().values():
        known = truth(instance)
        assert known.answer == 1
        gap = known.characteristic_time - known.characteristic_time_low
        assert gap <= 1e-6 * known.characteristic_time


def test_gaussian_times_are_in_units_of_sigma():
    one = truth(Instance(name="one", means=[1.0, 0.0], rewards="gaussian"))
    two = truth(Instance(name="two", means=[2.0, 0.0], rewards="gaussian", sigma=2.0))
    assert one.characteristic_time == two.characteristic_time == pytest.approx(8.0)
