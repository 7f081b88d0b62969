"""The ask/tell objects of all papers: what any of them must do, and which arguments they refuse.

What is a paper's own, such as sums of a round or limits, is in tests/PAPER/test_interactive.py.
"""

import inspect
import itertools
import math

import numpy as np
import pytest

from bestarm import bai, baics, cbmai, delayed, lagex, linear
from bestarm.core.inputs import LARGEST, InputError
from bestarm.live.lines import ANSWER

MATRIX = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 1.0]])
LIMITS = [0.5, 0.6]
ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
THETA = np.array([4.0, 0.5])
MEANS = np.array([3.0, 0.0, 1.5])


def alike(*kinds, **options):
    """Objects that take the same arguments."""
    return dict.fromkeys(kinds, options)


BAICS = alike(
    *(baics.TaSCS, baics.TaS, baics.Uniform, baics.FWS, baics.TwoStage),
    n_arms=3,
    weights=[0.2, 0.8],
    delta=0.1,
)
CBMAI_KINDS = (cbmai.SFSR, cbmai.SFSRL, cbmai.USLP, cbmai.SFSRPatient)
CBMAI = alike(*CBMAI_KINDS, n_arms=3, bounds=1.0, budget=60)
KNOWN = alike(lagex.CTnS, lagex.CGE, matrix=MATRIX, limits=LIMITS, r=0.1)
LAGEX = KNOWN | alike(lagex.LAGEX, lagex.LATS, lagex.Uniform, n_arms=3, limits=LIMITS, r=0.1)
LAGEX[lagex.Certified] = {"n_arms": 3, "limits": LIMITS, "r": 1.0}
LINEAR = {
    **alike(linear.G, linear.XY, linear.XYAdaptive, linear.RAGE, linear.FullyAdaptive, arms=ARMS),
    linear.XYOracle: {"arms": ARMS, "theta": THETA},
    linear.LinGapE: {"arms": ARMS, "norm": 5.0},
}
BAI_KINDS = (bai.TrackAndStop, bai.ChernoffRacing, bai.KLLUCB, bai.KLRacing)
BAI = alike(*BAI_KINDS, n_arms=3, rewards="gaussian", sigma=0.5)
BAI[bai.TopK] = {"n_arms": 3, "top": 2, "rewards": "gaussian", "sigma": 0.5}
OBJECTS = BAICS | CBMAI | LAGEX | LINEAR | BAI
every = pytest.mark.parametrize(
    "kind", OBJECTS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}"
)


def made(kind, **other):
    return kind(**OBJECTS[kind] | other)


RACES = {kind: {"n_arms": 3, "sigma": 0.1} for kind in (delayed.Full, delayed.Partial)}
RACES[delayed.Partial] |= {"sigma_p": 0.2}
RACES[delayed.Mixture] = RACES[delayed.Partial]


@pytest.mark.parametrize(
    "kind", OBJECTS | RACES, ids=lambda kind: f"{kind.__module__}.{kind.__name__}"
)
def test_a_saved_experiment_has_every_argument(kind):
    """By its name, with defaults."""
    s = kind(**(OBJECTS | RACES)[kind])
    names = [name for name in inspect.signature(kind).parameters if name != "options"]
    assert [name for name in s._arguments if name in names] == names


def test_of_a_class_and_its_bases_the_arguments_of_the_class_count():
    """Those of a class that states none are those of the class that it derives from."""

    class Doubled(baics.Uniform):
        def __init__(self, half):
            self._made_with(locals())
            super().__init__(2 * half, [1.0])

    class Halved(baics.Uniform):
        def __init__(self, n_arms, weights, **others):
            super().__init__(n_arms, weights, delta=0.05)

    assert Doubled(2).to_dict()["arguments"] == {"half": 2}
    assert Doubled.from_dict(Doubled(2).to_dict()).pulls.shape == Doubled(2).pulls.shape
    assert Halved(2, [1.0]).to_dict()["arguments"]["delta"] == 0.05
    assert Halved.from_dict(Halved(2, [1.0]).to_dict()).fingerprint == Halved(2, [1.0]).fingerprint


def tell(s, told, rng, arm=None, kind=None):
    """What a pull of an arm gives: the first is best wherever that can be.

    `told` is what `tell` gets, the arm in some form or a trial of it.
    """
    kind, arm = kind or type(s), told if arm is None else arm
    if kind in BAICS:
        s.tell(told, 1.0 - 0.8 * arm[0] + 0.3 * rng.standard_normal())
    elif kind in CBMAI:
        s.tell(told, MEANS[arm] + rng.standard_normal(), 0.5 * arm + rng.standard_normal())
    elif kind in BAI:
        s.tell(told, float(rng.random() < (0.9, 0.1, 0.3)[arm]))
    elif kind in LINEAR:
        s.tell(told, ARMS[arm] @ THETA + rng.standard_normal())
    elif kind in KNOWN:
        s.tell(told, MEANS[arm] + rng.standard_normal())
    else:
        s.tell(told, MEANS[arm] + rng.standard_normal(), MATRIX[:, arm] + rng.standard_normal(2))


def played(s, rng, most=10**5):
    """Pulls that are asked for, told."""
    while not s.done and s.told < most:
        tell(s, s.ask(), rng)
    return s


@every
def test_asking_and_looking_change_nothing(kind):
    one, other = made(kind), made(kind)
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(40):
        if one.done:
            break
        asked = {one.ask() for _ in range(3)}
        assert asked == {other.ask()}
        assert not one.done
        tell(one, one.ask(), rng)
        tell(other, other.ask(), same)
    assert one.history == other.history


@every
def test_it_ends_and_then_asks_nothing(kind):
    s = played(made(kind), np.random.default_rng(2))
    assert s.done
    assert s.answer is not None
    with pytest.raises(RuntimeError, match="stopped"):
        s.ask()


@every
def test_a_foreign_history_is_refused(kind):
    """It says that another arm was asked for than is."""
    s = made(kind)
    s.ask(1)
    asked = s.history[-1]
    arms = itertools.product(range(3), range(2)) if kind in BAICS else range(3)
    other = next(arm for arm in arms if arm != asked.arm)
    with pytest.raises(ValueError, match="history pulls"):
        made(kind).replay([asked._replace(arm=other)])
    with pytest.raises(ValueError, match="a history has 4 fields, got"):
        made(kind).replay([(other, (1.0,), True)])


@every
@pytest.mark.parametrize("reward", [math.nan, math.inf])
def test_numbers_that_are_not_finite_change_nothing(kind, reward):
    s = made(kind)
    told = (reward, 1.0) if kind in CBMAI else (reward,)
    if kind in LAGEX and kind not in KNOWN:
        told = (reward, [1.0, 1.0])
    with pytest.raises(ValueError, match="finite"):
        s.tell(s.ask(), *told)
    assert s.told == 0


@every
@pytest.mark.parametrize("reward", [1e308, -1e16, 10**400])
def test_observations_that_would_overflow_change_nothing(kind, reward):
    """Two rewards of 1e308 are finite, and their sum is not."""
    s = made(kind)
    told = (
        () if kind in BAICS | BAI | KNOWN | LINEAR else (1.0,) if kind in CBMAI else ([1.0, 1.0],)
    )
    with pytest.raises(ValueError, match=r"reward must be of size at most|finite number"):
        s.tell(s.ask(), reward, *told)
    if told:
        with pytest.raises(ValueError, match="costs must be of size at most"):
            s.tell(s.ask(), 1.0, np.multiply(1e16, told[0]))
    assert s.told == 0


@every
def test_the_largest_observations_do_not_overflow(kind):
    """Estimates stay numbers, and the object can still be asked."""
    s = made(kind)
    told = (
        () if kind in BAICS | BAI | KNOWN | LINEAR else (1.0,) if kind in CBMAI else ([1.0, 1.0],)
    )
    for i in range(40):
        if s.done:
            break
        s.tell(s.ask(), LARGEST * (-1) ** i, *np.multiply(LARGEST, told))
    table = s.summary()
    arms = table[table.arm != ANSWER]  # for no policy there are no estimates
    assert np.isfinite(arms.estimate).all() or kind in LINEAR


@pytest.mark.parametrize("kind", [cbmai.SFSR, lagex.Certified])
def test_sums_over_several_pulls_may_be_larger(kind):
    s = made(kind)
    costs = 1.0 if kind in CBMAI else [1.0, 1.0]
    s.tell(0, 4e15, costs, pulls=5)
    with pytest.raises(ValueError, match=r"reward must be of size at most 1e\+15 per pull"):
        s.tell(0, 6e15, costs, pulls=5)
    with pytest.raises(ValueError, match=r"pulls must be a positive integer, at most 1e\+15"):
        s.tell(0, 1.0, costs, pulls=10**16)


@pytest.mark.parametrize("n", [0, 10**7, 10**400])
def test_too_many_trials_at_a_time_are_refused(n):
    s = made(baics.TaSCS)
    with pytest.raises(ValueError, match="n must be a positive integer, at most 1,000,000"):
        s.ask(n)
    assert not s.outstanding


@pytest.mark.parametrize("kind", [baics.TaSCS, baics.FWS, baics.TwoStage])
def test_a_constrained_subpopulation_of_weight_0_is_decided(kind):
    """It has no part in the quality, and is tried nevertheless."""
    s = kind(2, {"market": 1.0, "guard rail": 0.0}, sigma=0.5)
    rng, means = np.random.default_rng(5), {"market": [0.3, 1.0], "guard rail": [1.0, -1.0]}
    while not s.done:
        arm, group = s.ask()
        s.tell((arm, group), means[group][arm] + 0.5 * rng.standard_normal())
    assert s.answer == 0


@pytest.mark.parametrize("kind", [baics.Uniform, baics.TaS])
def test_an_unconstrained_subpopulation_of_weight_0_is_ignored(kind):
    s = kind(2, [1.0, 0.0], constrained=1, sigma=0.5)
    rng = np.random.default_rng(6)
    while not s.done:
        arm, group = s.ask()
        s.tell((arm, group), [1.0, 0.2][arm] + 0.5 * rng.standard_normal())
    assert s.answer == 0


@pytest.mark.parametrize("kind", [kind for kind in LINEAR if kind is not linear.XYOracle])
def test_an_arm_without_features_is_worth_0(kind):
    s = kind(**LINEAR[kind] | {"arms": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]}, sigma=0.1)
    while not s.done:
        arm = s.ask()
        s.tell(arm, [0.0, -1.0, -0.5][arm])
    assert s.answer == 0


@every
def test_an_arm_there_is_not_changes_nothing(kind):
    s = made(kind)
    told = (1.0, 1.0) if kind in CBMAI else (1.0,)
    if kind in LAGEX and kind not in KNOWN:
        told = (1.0, [1.0, 1.0])
    with pytest.raises(ValueError, match="arm"):
        s.tell((3, 0) if kind in BAICS else 3, *told)
    assert len(s.history) == 1


READ = [kind for kind in LAGEX if kind is not lagex.Certified]
LAG, CGE, ORACLE, FULL = lagex.LAGEX, lagex.CGE, linear.XYOracle, linear.FullyAdaptive
PARTIAL = {"n_arms": 3, "sigma": 1.0, "sigma_p": 1.0}
#: Kind, what is wrong, and how the message begins after "KIND: ".
COUNT = "must be a whole number from 2 to 1000000 or as many distinct names"
BAD = [
    (baics.TaSCS, {"weights": [0.5, -1]}, "weights: must be nonnegative"),
    (baics.TaSCS, {"delta": 1.0}, "delta: must be less than 1"),
    (baics.TaSCS, {"constrained": 4}, "constrained: must be a whole number from 0 to 2, got 4"),
    (baics.TaSCS, {"n_arms": 1}, f"n_arms: {COUNT}, got 1"),
    (baics.TaSCS, {"sigma": 0}, "sigma: must be a positive number"),
    (baics.TaSCS, {"reading": "mine"}, "reading: must be one of as-written"),
    (baics.TaSCS, {"stepp": 2}, "stepp: unknown field"),
    (baics.TaSCS, {"step": -1}, "step: "),
    (baics.TaSCS, {"n_arms": 10**300}, f"n_arms: {COUNT}, got 1000"),
    (baics.TaSCS, {"weights": [1e308, 1e308]}, "weights: must be 0 or of size 1e-15 to 1e+15"),
    (baics.TaSCS, {"weights": [10**400, 1]}, "weights: must be finite numbers"),
    (baics.TaSCS, {"minimum": 1e150}, "minimum: must be 0 or of size"),
    (baics.TaSCS, {"sigma": 1e-300}, "sigma: must be 0 or of size 1e-15 to 1e+15"),
    (baics.TaSCS, {"sigma": 10**400}, "sigma: must be 0 or of size 1e-15 to 1e+15"),
    (baics.TaSCS, {"step": 1e300}, "step: must be 0 or of size 1e-15 to 1e+15"),
    *(
        (kind, {"weights": [1.0, 0.0]}, "weights: must be positive on constrained segments")
        for kind in (baics.Uniform, baics.TaS)
    ),
    (cbmai.SFSR, {"budget": 10**300}, "budget: must be a whole number from 1 to 10000000000000"),
    (cbmai.SFSR, {"bounds": 1e150}, "bounds: must be 0 or of size"),
    (cbmai.SFSR, {"known": {2: (1e150, 1.0)}}, "known: must be a reward and 1 costs per arm"),
    (LAG, {"limits": [1e150]}, "limits: must be 0 or of size"),
    (LAG, {"sigma": [1e150, 1.0, 1.0]}, "sigma: must be 0 or of size"),
    (LAG, {"r": 1e300}, "r: must be 0 or of size 1e-15 to 1e+15"),
    (CGE, {"matrix": [[1e150, 1.0, 0.0]], "limits": [1.0]}, "matrix: must be 0 or of size"),
    (lagex.Certified, {"eps": 1e300}, "eps: must be 0 or of size 1e-15 to 1e+15"),
    (lagex.Certified, {"n0": 1e300}, "n0: must be 0 or of size 1e-15 to 1e+15"),
    (lagex.Certified, {"r": 1e-300}, "r: must be 0 or of size 1e-15 to 1e+15"),
    *((kind, {"arms": [[1e150, 0.0], [0.0, 1.0]]}, "arms: must be 0 or of") for kind in LINEAR),
    (ORACLE, {"theta": [1e150, 1.0]}, "theta: must be 0 or of size"),
    (linear.LinGapE, {"norm": 1e150}, "norm: must be 0 or of size"),
    (baics.TaSCS, {"inner_steps": 2}, "inner_steps: is set by the reading"),
    (baics.TaSCS, {"step": 0.5}, "step: is set by the reading"),
    (cbmai.SFSR, {"n_arms": 1}, f"n_arms: {COUNT}, got 1"),
    (cbmai.SFSR, {"bounds": math.nan}, "bounds: must be finite"),
    (cbmai.SFSR, {"bounds": []}, "bounds: "),
    (cbmai.SFSR, {"budget": 3}, "budget: must be greater than 3, the number of unknown arms"),
    (cbmai.SFSR, {"budget": 2, "known": {0: (1.0, 1.0)}}, "budget: must be greater than 2"),
    (cbmai.SFSR, {"known": {5: (1.0, 1.0)}}, "known: arm must be 0 to 2, got 5"),
    (cbmai.SFSR, {"known": dict.fromkeys(range(3), (1.0, 1.0))}, "known: must leave an arm"),
    (cbmai.SFSR, {"known": {2: (math.nan, 1.0)}}, "known: "),
    (cbmai.SFSR, {"known": {2: (1.0, math.inf)}}, "known: "),
    (cbmai.SFSR, {"known": {2: (1.0, [1.0, 1.0])}}, "known: "),
    *((kind, {"sigma": 0.0}, "sigma: must be positive") for kind in LAGEX),
    (LAG, {"sigma": math.nan}, "sigma: must be finite numbers"),
    (LAG, {"sigma": [1.0, 1.0]}, "sigma: must be positive, one number or 3"),
    (LAG, {"sigma": "much"}, "sigma: must be finite numbers, got 'much'"),
    (LAG, {"delta": 0.0}, "delta: must be greater than 0"),
    (LAG, {"delta": math.nan}, "delta: "),
    *((kind, {"delta": 1.0}, "delta: must be ") for kind in LAGEX),
    (LAG, {"r": -0.1}, "r: must be greater than or equal to 0, got -0.1"),
    (LAG, {"r": math.inf}, "r: must be"),
    *((kind, {"reading": "best"}, "reading: must be one of as-written") for kind in READ),
    *((LAG, {"limits": bad}, "limits: ") for bad in ([], [math.nan], [[1.0]], "no")),
    *((CGE, {"limits": bad}, "limits: ") for bad in ([], [math.inf, 0.0], [[1.0]], "no")),
    (LAG, {"n_arms": 0}, f"n_arms: {COUNT}, got 0"),
    (LAG, {"n_arms": 1}, f"n_arms: {COUNT}, got 1"),
    (LAG, {"n_arms": 2.5}, f"n_arms: {COUNT}, got 2.5"),
    (
        CGE,
        {"matrix": [[1.0, math.nan, 0.0], [0.0] * 3]},
        "matrix: must be vectors of equal length, finite",
    ),
    (CGE, {"matrix": [[1.0, 0.0, 0.0]]}, "limits: must be 1 numbers"),
    (CGE, {"matrix": [[1.0], [2.0]]}, f"arms: {COUNT}, got 1"),
    (CGE, {"matrix": [[1.0, 0.0], [1.0]]}, "matrix: "),
    (CGE, {"matrix": [["a", "b"], ["c", "d"]]}, "matrix: "),
    (CGE, {"matrix": np.zeros((2, 2, 2))}, "matrix: "),
    (CGE, {"matrix": [[1.0, 1.0], [-1.0, -1.0]], "limits": [0.5, -2.0]}, "limits: must allow"),
    *((kind, {"sigma": 0.0}, "sigma: must be a positive number, got 0") for kind in LINEAR),
    (linear.G, {"sigma": math.nan}, "sigma: must be a positive number, got nan"),
    (linear.G, {"delta": 0.0}, "delta: must be greater than 0, got 0"),
    *((kind, {"delta": 1.0}, "delta: must be less than 1, got 1") for kind in LINEAR),
    *((kind, {"reading": "best"}, "reading: must be one of") for kind in LINEAR),
    *((kind, {"arms": [["a"], ["b"]]}, "arms: ") for kind in LINEAR),
    *((kind, {"arms": [[1.0], [1.0, 2.0]]}, "arms: ") for kind in LINEAR),
    (linear.G, {"arms": [[1.0, 0.0]]}, "arms: must be at least 2 distinct"),
    (linear.G, {"arms": [1.0, 0.0]}, "arms: must be vectors of equal length"),
    (linear.G, {"arms": [[1.0, 0.0], [math.nan, 1.0]]}, "arms: must be vectors of equal length"),
    (linear.G, {"arms": [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]}, "arms: must be at least 2"),
    (ORACLE, {"arms": [[1.0, 0.0]]}, "arms: must be at least 2"),
    (ORACLE, {"arms": [1.0, 0.0]}, "arms: "),
    (ORACLE, {"arms": [[1.0], [2.0]]}, "theta: must have as many entries"),
    (ORACLE, {"theta": [1.0]}, "theta: must have as many entries"),
    (ORACLE, {"theta": [0.0, 0.0]}, "theta: must make one arm the best"),
    (ORACLE, {"theta": [math.nan, 1.0]}, "theta: must be finite numbers"),
    (ORACLE, {"theta": ["a", 1.0]}, "theta: must be finite numbers"),
    *((linear.LinGapE, {"norm": n}, "norm: must be ") for n in (0.0, -1.0, math.nan, math.inf)),
    (FULL, {"norm": 0.0, "reading": "prop2+two-step"}, "norm: must be a positive"),
    (FULL, {"reading": "prop2+argmin-max"}, "norm: must be given"),
    (delayed.Partial, PARTIAL | {"n_arms": 0}, "n_arms"),
    (delayed.Partial, PARTIAL | {"top": 4}, "top"),
    (delayed.Partial, PARTIAL | {"sigma": 0.0}, "sigma"),
    (delayed.Partial, PARTIAL | {"sigma_p": None}, "sigma_p"),
    (delayed.Partial, PARTIAL | {"feedback": "noisy"}, "feedback"),
    (delayed.Partial, PARTIAL | {"feedback": "incremental"}, "delay"),
    (
        delayed.Partial,
        PARTIAL | {"sigma": 1e150},
        "sigma: must be 0 or of size 1e-15 to 1e+15",
    ),
    (delayed.Partial, PARTIAL | {"sigma_p": 1e150}, "sigma_p: must be 0 or of size"),
    (delayed.Partial, PARTIAL | {"sigma_p": 1e-300}, "sigma_p: must be 0 or of size"),
    (delayed.Partial, PARTIAL | {"feedback": "incremental", "delay": 10**300}, "delay: must be"),
    (delayed.Partial, PARTIAL | {"delta": 1.0}, "delta"),
    (delayed.Partial, PARTIAL | {"batch": 0}, "batch"),
    (delayed.Partial, PARTIAL | {"reading": "honest"}, "reading"),
]


def label(value):
    return value.__name__ if isinstance(value, type) else None


@pytest.mark.parametrize(("kind", "wrong", "said"), BAD, ids=label)
def test_bad_arguments_are_named(kind, wrong, said):
    with pytest.raises(InputError) as error:
        kind(**OBJECTS.get(kind, {}) | wrong)
    assert str(error.value).startswith(f"{kind.__name__}: {said}")
