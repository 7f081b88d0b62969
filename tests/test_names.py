"""Costs, limits and answers by name; a wrong or missing name is one line that names them all."""

import numpy as np
import pytest

from bestarm import baics, cbmai, lagex
from bestarm.core.inputs import InputError
from test_ask_tell import MATRIX, MEANS

ARMS, LIMITS = [*"abc"], {"money": 0.5, "time": 0.6}
KINDS = [cbmai.SFSR, lagex.LAGEX, lagex.Certified]


def made(kind, **options):
    if kind is cbmai.SFSR:
        return kind(ARMS, LIMITS, 60, **options)
    return kind(ARMS, LIMITS, r=1.0, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_costs_by_name_are_those_in_order(kind):
    one, other, rng = made(kind), made(kind), np.random.default_rng(1)
    for _ in range(30):
        if one.done:
            break
        arm = one.ask()
        k = ARMS.index(arm)
        reward, costs = MEANS[k] + rng.normal(), MATRIX[:, k] + rng.normal(size=2)
        one.tell(arm, reward, costs)
        by_name = {"time": costs[1], "money": costs[0]}
        other.tell(other.ask(), reward, by_name)
    assert other.to_dict() == one.to_dict()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("costs", "got"),
    [
        ({"money": 1.0}, "money"),
        ({"money": 1.0, "tim": 1.0}, "money, tim"),
        ({"money": 1.0, "time": 1.0, "x": 1.0}, "money, time, x"),
        ({}, "none"),
    ],
)
def test_a_wrong_or_missing_name_of_a_cost_changes_nothing(kind, costs, got):
    s = made(kind)
    with pytest.raises(ValueError, match=f"^costs must be given for money, time, got {got}$"):
        s.tell("a", 1.0, costs)
    assert len(s.history) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_default_has_costs_by_name(kind):
    default = (0.0, {"time": 0.2, "money": 0.1})
    one, other = (made(kind, window=5.0, default=d) for d in (default, (0.0, [0.1, 0.2])))
    assert one._window.default == other._window.default
    with pytest.raises(
        InputError, match=r"default: must be what tell takes.*given for money, time"
    ):
        made(kind, window=5.0, default=(0.0, {"money": 0.1}))


def test_known_arms_have_costs_by_name():
    one, other = (
        made(cbmai.SFSR, known={"b": (1.0, costs)})
        for costs in ({"time": 2.0, "money": 1.0}, [1, 2])
    )
    np.testing.assert_array_equal(one.costs, other.costs)
    said = "^SFSR: known: costs of arm b must be given for money, time, got money$"
    with pytest.raises(InputError, match=said):
        made(cbmai.SFSR, known={"b": (1.0, {"money": 1.0})})


@pytest.mark.parametrize("kind", KINDS[1:])
def test_policies_are_answered_by_name(kind):
    s = made(kind, sigma={"b": 1.0, "a": 1.0, "c": 1.0})
    while not s.done:
        arm = s.ask()
        k = ARMS.index(arm)
        s.tell(arm, MEANS[k], dict(zip(LIMITS, MATRIX[:, k], strict=True)))
    assert [*s.policy] == ARMS
    assert [*s.policy.values()] == s.answer.tolist()
    largest = max(s.policy, key=s.policy.get)
    assert f"{s.policy[largest]:.0%} of {largest}" in s.why_not_done()
    with pytest.raises(InputError, match="sigma: must be given for a, b, c, got a, b"):
        made(kind, sigma={"a": 1.0, "b": 1.0})


def test_minima_are_given_by_subpopulation():
    weights = {"new": 0.7, "old": 0.3}
    one, other = (
        baics.TaSCS(2, weights, minimum=minimum)
        for minimum in ({"old": 0.2, "new": 0.1}, [0.1, 0.2])
    )
    np.testing.assert_array_equal(one._floor, other._floor)
    with pytest.raises(InputError, match="minimum: must be given for new, got new, old"):
        baics.TaSCS(2, weights, constrained=1, minimum={"new": 0.1, "old": 0.2})
