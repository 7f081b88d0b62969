"""The same problem in other units has the same answer; powers of two leave every pull the same.

Means, sigma and tolerances of rewards are multiplied by one number, costs and their limits by
another. Rewards from 0 to 1 have no other unit. Multiplying by a power of ten rounds, so pulls may
differ: `pytest -rP` prints how often their number does.
"""

import json
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from bestarm import baics, delayed, lagex, linear, registry
from bestarm.core.inputs import parse
from bestarm.core.units import power_of_two
from bestarm.lagex import check
from bestarm.lagex.strategies import READINGS, make_rules

MATRIX, LIMITS = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 1.0]]), np.array([0.45, 0.6])
ARMS, THETA = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]), np.array([4.0, 0.5])
MEANS = np.array([3.0, 0.0, 1.5])
SEEDS = range(2)
#: Units of rewards and of costs.
TWOS = [(2.0**-40, 2.0**40), (2.0**-13, 2.0**-1), (2.0**7, 2.0**-40), (2.0**40, 2.0**13)]
TENS = [(10.0**e, 10.0**-e) for e in (-12, -7, -2, 3, 7, 12)]


class Play(NamedTuple):
    """What came of a run."""

    pulls: list[Any]
    answer: Any


def asked(s, tell, most=10**4):
    """A run of an ask/tell object."""
    pulls = []
    while not s.done and len(pulls) < most:
        pulls.append(s.ask())
        tell(pulls[-1])
    assert s.done
    return Play(pulls, s.answer)


def play_baics(kind, sigma, rng, reward, _):
    known = {"sigma": "unknown" if sigma is None else np.multiply(sigma, reward).tolist()}
    s = kind(n_arms=3, weights=[0.2, 0.8], minimum=0.1 * reward, **known)
    means = np.array([[1.1, 1.0], [0.4, 0.2], [-0.5, 0.3]])

    def tell(pair):
        s.tell(pair, reward * (means[pair] + 0.3 * rng.standard_normal()))

    return asked(s, tell)


def play_linear(kind, norm, rng, reward, _):
    s = kind(ARMS, sigma=reward, **({"norm": norm * reward} if norm else {}))
    return asked(s, lambda a: s.tell(a, reward * (ARMS[a] @ THETA + rng.standard_normal())))


def play_known(kind, r, rng, reward, cost):
    s = kind(cost * MATRIX, cost * LIMITS, r=r * reward, sigma=reward)
    return asked(s, lambda a: s.tell(a, reward * (MEANS[a] + rng.standard_normal())))


def play_unknown(kind, r, rng, reward, cost):
    s = kind(3, (cost * LIMITS).tolist(), r=r * reward, sigma=reward, cost_sigma=cost)

    def tell(a):
        costs = cost * (MATRIX[:, a] + rng.standard_normal(2))
        s.tell(a, reward * (MEANS[a] + rng.standard_normal()), costs)

    return asked(s, tell)


def play_delayed(feedback, reading, rng, reward, _):
    noisy = {"sigma_p": 0.2 * reward} if feedback in ("unbiased", "biased") else {}
    later = {"delay": 3} if feedback == "incremental" else {}
    s = delayed.Partial(
        3, sigma=0.3 * reward, feedback=feedback, reading=reading, batch=2, **noisy, **later
    )
    pulls = []
    while not s.done:
        for trial in s.ask().start:
            pulls.append(trial.arm)
            found = reward * (1.0 - 0.4 * trial.arm + 0.3 * rng.standard_normal())
            if noisy:
                s.partial(trial.id, found + reward * 0.2 * rng.standard_normal())
            for _ in range(2 if later else 0):
                s.partial(trial.id, found / 4.0)
            s.final(trial.id, found / 2.0 if later else found)
    return Play(pulls, s.answer)


EACH = [[0.3, 0.5], [0.4, 0.3], [0.3, 0.3]]
CASES = {
    **{
        f"baics {kind.__name__} {sigma}": (play_baics, kind, sigma)
        for kind in (baics.TaSCS, baics.TaS, baics.FWS, baics.Uniform, baics.TwoStage)
        for sigma in (1.0, EACH, None)
        if sigma is not None or kind is not baics.TwoStage
    },
    **{
        f"linear {kind.__name__}": (play_linear, kind, None)
        for kind in (linear.G, linear.XY, linear.XYAdaptive, linear.RAGE, linear.FullyAdaptive)
    },
    "linear LinGapE": (play_linear, linear.LinGapE, 5.0),
    **{f"lagex {kind.__name__}": (play_known, kind, 0.1) for kind in (lagex.CTnS, lagex.CGE)},
    **{
        f"lagex {kind.__name__}": (play_unknown, kind, 0.1)
        for kind in (lagex.LAGEX, lagex.LATS, lagex.Uniform)
    },
    "lagex Certified": (play_unknown, lagex.Certified, 1.0),
    **{
        f"delayed {feedback} {reading}": (play_delayed, feedback, reading)
        for feedback in ("unbiased", "biased", "incremental", "full")
        for reading in ("mixture", "as-written")
    },
}
every = pytest.mark.parametrize("name", CASES)


@cache
def played(name, seed, reward=1.0, cost=1.0):
    play, *options = CASES[name]
    return play(*options, np.random.default_rng(seed), reward, cost)


def same_answer(one, other):
    if isinstance(one, np.ndarray):
        return np.allclose(one, other, rtol=0.0, atol=1e-6)
    return one == other


@every
def test_powers_of_two_change_no_pull_and_no_digit(name):
    wanted = played(name, SEEDS[0])
    for units in TWOS:
        found = played(name, SEEDS[0], *units)
        assert found.pulls == wanted.pulls, units
        assert np.array_equal(found.answer, wanted.answer), units


@every
def test_powers_of_ten_change_no_answer(name):
    unequal = 0
    for seed in SEEDS:
        wanted = played(name, seed)
        for units in TENS:
            found = played(name, seed, *units)
            assert same_answer(found.answer, wanted.answer), units
            unequal += len(found.pulls) != len(wanted.pulls)
    runs = len(SEEDS) * len(TENS)
    print(f"{name}: the number of pulls differs in {unequal} of {runs} runs ({unequal / runs:.0%})")


#: Fields of instances in units of rewards.
FIELDS = {"baics": ("means", "minimum", "sigma"), "linear": ("theta", "sigma")}
FIELDS["lagex"] = ("means", "sigma")


def times(value, unit):
    """A number, or a list of numbers or of such lists, times a unit."""
    if isinstance(value, list):
        return [times(one, unit) for one in value]
    return value if value is None else value * unit


def in_units(paper, instance, reward, cost):
    """An instance in other units."""
    data = {name: value for name, value in instance.model_dump().items() if value is not None}
    data |= {name: times(data[name], reward) for name in FIELDS[paper]}
    if paper == "lagex":
        data["cost_sigma"] *= cost
        for one in data["constraints"]:
            for field in ("coefficients", "at_most", "at_least"):
                one[field] = times(one[field], cost)
    return parse(type(instance), data, "instance")


TRUTHS = {
    "baics": ("example1", ("answer", "characteristic_time", "allocation")),
    "linear": ("d=3", ("answer",)),
    "lagex": (
        "setup 2 easy",
        (
            *("answer", "policy", "unique", "characteristic_time", "inside_time", "allocation"),
            *("inside_allocation", "bai_characteristic_time", "shadow_price", "corollary_1"),
        ),
    ),
}


@pytest.mark.parametrize("paper", TRUTHS)
@pytest.mark.parametrize("units", [TWOS[0], TWOS[3], *TENS[::5], (1e12, 1e12), (1e-12, 1e-12)])
def test_bounds_are_the_same_in_other_units(paper, units):
    name, fields = TRUTHS[paper]
    problems = registry.PAPERS[paper].problems
    instance = problems.instances()[name]
    wanted = problems.truth(instance).model_dump()
    found = problems.truth(in_units(paper, instance, *units)).model_dump()
    for field in fields:
        if paper == "lagex" or isinstance(wanted[field], float):
            np.testing.assert_allclose(
                np.array(found[field], float), np.array(wanted[field], float), rtol=1e-5, atol=1e-7
            )
    assert found["answer"] == wanted["answer"]


def test_a_certificate_has_the_units_of_the_person():
    rng, reward, cost = np.random.default_rng(0), 1e-6, 1e6
    limits = (cost * LIMITS).tolist()
    s = lagex.Certified(3, limits, r=reward, sigma=0.7 * reward, cost_sigma=0.7 * cost)
    while not s.done:
        for a, n in s.wanted.items():
            noise = np.sqrt(n) * rng.standard_normal(3)
            s.tell(a, reward * (n * MEANS[a] + noise[0]), cost * (n * MATRIX[:, a] + noise[1:]), n)
    data = json.loads(s.certificate())
    assert data["limits"] == limits
    assert (data["r"], data["cost_sigma"]) == (reward, pytest.approx(0.7 * cost))
    assert all(holds for _, holds in check.lines(data))


def test_the_unit_is_the_power_of_two_below():
    assert [power_of_two(x) for x in (0.0, 0.3, 0.5, 1.0, 1.9, 2.0)] == [
        1.0,
        0.25,
        0.5,
        1.0,
        1.0,
        2.0,
    ]
    assert power_of_two(5e-324) == 5e-324


def test_rules_are_in_units_near_the_noise_and_the_rows():
    setting = registry.PAPERS["lagex"].simulation.setting(r=3e-9)
    given = np.full(3, 9e-18), 1e9 * LIMITS, 1e9 * MATRIX
    rules = make_rules("CTnS", READINGS["CTnS"]["as-written"], setting, *given)
    assert 1.0 <= rules.variances[0] < 4.0
    assert rules.r == setting.r / rules.units[0]
    rows = np.abs(rules.matrix - rules.limits[:, None]).max(axis=1)
    assert ((rows >= 0.5) & (rows < 1.0)).all()
    assert (np.frexp(rules.units)[0] == 0.5).all()
