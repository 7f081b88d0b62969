"""The ask/tell objects: the same run as the compiled one, and a life of their own."""

import itertools
import json
import math

import numpy as np
import pytest

from bestarm.common.paper import Cell
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from bestarm.lagex import CGE, LAGEX, LATS, CTnS, Uniform
from bestarm.lagex.problem import Instance
from bestarm.lagex.strategies import READINGS, prepare

OBJECTS = {"LAGEX": LAGEX, "LATS": LATS, "CTnS": CTnS, "CGE": CGE, "Uniform": Uniform}
KNOWN = ("CTnS", "CGE")
MATRIX = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 1.0]])
LIMITS = np.array([0.5, 0.6])
MEANS = np.array([3.0, 0.0, 1.5])
SIGMA = np.array([1.0, 0.5, 0.8])
INSTANCE = Instance(
    name="any",
    means=MEANS.tolist(),
    sigma=SIGMA.tolist(),
    constraints=[
        {"coefficients": row.tolist(), "at_most": limit}
        for row, limit in zip(MATRIX, LIMITS, strict=True)
    ],
)
BEST = np.array([0.5, 0.0, 0.5])
every = pytest.mark.parametrize("strategy", OBJECTS)


def made(strategy, **options):
    """The object for the instance above, given the constraints if it has to be."""
    options = {"sigma": SIGMA, "r": 0.05} | options
    first = MATRIX if strategy in KNOWN else 3
    return OBJECTS[strategy](first, LIMITS, **options)


def tell(s, arm, rng):
    """A reward, then costs, in the order in which the simulation draws them."""
    reward = MEANS[arm] + SIGMA[arm] * rng.standard_normal()
    costs = MATRIX[:, arm] + rng.standard_normal(2)
    s.tell(*((arm, reward) if isinstance(s, (CTnS, CGE)) else (arm, reward, costs)))


def played(s, rng, most=10**5):
    """Pulls that are asked for, told."""
    while not s.done and s.told < most:
        tell(s, s.ask(), rng)
    return s


@pytest.mark.parametrize(("strategy", "reading"), [(s, r) for s in OBJECTS for r in READINGS[s]])
def test_same_run_as_the_compiled_one(strategy, reading):
    stopped = 0
    for seed in range(4):
        cell = Cell("any", strategy, {"delta": 0.1, "r": 0.05, "cap": 400}, reading)
        wanted = prepare(INSTANCE, cell)(run_streams(4, seed))
        s = made(strategy, delta=0.1, reading=reading)
        played(s, run_streams(4, seed).environment, 400)
        assert s.told == wanted.tau
        assert s.done == (wanted.status == Status.STOPPED)
        np.testing.assert_array_equal(s.pulls, wanted.pulls)
        np.testing.assert_array_equal(s.answer, wanted.policy)
        stopped += s.done
    assert stopped > 0


@every
def test_finds_the_best_policy_and_then_asks_nothing(strategy):
    s = played(made(strategy, delta=1e-6), np.random.default_rng(0))
    assert s.done
    assert s.answer.sum() == pytest.approx(1.0)
    if strategy in KNOWN:
        np.testing.assert_allclose(s.answer, BEST, atol=1e-9)
    with pytest.raises(RuntimeError, match="stopped"):
        s.ask()


@every
def test_an_answer_and_an_allocation_are_shares_at_any_time(strategy):
    s, rng = made(strategy, delta=1e-9), np.random.default_rng(1)
    for _ in range(40):
        for shares in (s.answer, s.target_shares):
            assert shares.sum() == pytest.approx(1.0)
            assert shares.min() >= 0.0
        tell(s, s.ask(), rng)


@every
def test_asking_looking_and_changing_what_is_given_out_change_nothing(strategy):
    s, plain, one, two = (
        *(made(strategy, delta=1e-9) for _ in range(2)),
        *map(np.random.default_rng, (5, 5)),
    )
    for _ in range(40):
        for array in (s.answer, s.target_shares, s.pulls):
            array[:] = -1.0
        assert [s.ask(), s.done, s.ask()] == [plain.ask(), False, plain.ask()]
        tell(s, s.ask(), one)
        tell(plain, plain.ask(), two)


@every
def test_pulls_not_asked_for_count_and_leave_the_question_open(strategy):
    s = made(strategy)
    rng = np.random.default_rng(0)
    asked = s.ask()
    tell(s, (asked + 1) % 3, rng)
    assert s.ask() == asked
    tell(s, asked, rng)
    assert s.pulls.sum() == 2
    assert [e.trial for e in s.history if e.kind == "tell"] == [None, 0]
    played(s, rng)
    assert s.done


@every
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_first_pulls_in_any_order_come_to_the_same(strategy, order):
    """Every arm is asked for once before anything else, whoever pulls it; then sums decide."""
    rng = np.random.default_rng(3)
    rewards, costs = MEANS + rng.standard_normal(3), MATRIX + rng.standard_normal((2, 3))
    ends = []
    for arms in ((0, 1, 2), order):
        s = made(strategy, delta=1e-9)
        for arm in arms:
            known = strategy in KNOWN
            s.tell(*((arm, rewards[arm]) if known else (arm, rewards[arm], costs[:, arm])))
        ends.append((s.ask(), s.answer.tolist(), s.target_shares.tolist()))
    assert ends[0] == ends[1]


@every
def test_an_arm_not_pulled_yet_is_asked_for_first(strategy):
    s, rng = made(strategy, delta=1e-9), np.random.default_rng(0)
    for _ in range(5):
        tell(s, 1, rng)
    assert s.ask() == 0
    tell(s, 0, rng)
    assert s.ask() == 2
    assert not s.done
    played(s, rng, 60)
    assert np.isfinite(s.target_shares).all()
    assert s.pulls.min() > 3


@every
@pytest.mark.parametrize("reads_done", [False, True])
def test_a_saved_history_brings_a_new_object_to_the_same_place(strategy, reads_done):
    """Also where `done` was looked at between pulls that were not asked for."""
    rng = np.random.default_rng(2)
    s, again = made(strategy, delta=1e-6), made(strategy, delta=1e-6)
    tell(s, 2, rng)
    for step in range(60):
        if s.done:
            break
        if step % 7 == 3:
            tell(s, step % 3, rng)
        tell(s, s.ask(), rng)
        if reads_done:
            assert s.done in (True, False)
        if step % 5 == 1:
            tell(s, (step + 1) % 3, rng)
    again.replay(json.loads(json.dumps(s.history)))
    np.testing.assert_array_equal(again.pulls, s.pulls)
    assert again.history == s.history
    assert again.done == s.done
    np.testing.assert_array_equal(again.target_shares, s.target_shares)
    if not s.done:
        assert again.ask() == s.ask()


@pytest.mark.parametrize("strategy", ["LAGEX", "LATS", "Uniform"])
@pytest.mark.parametrize(
    ("told", "said"),
    [
        ((3, 1.0, [1.0, 1.0]), "arm must be 0 to 2, got 3"),
        ((-1, 1.0, [1.0, 1.0]), "arm must be 0 to 2, got -1"),
        ((0.5, 1.0, [1.0, 1.0]), "arm must be 0 to 2, got 0.5"),
        ((True, 1.0, [1.0, 1.0]), "arm must be 0 to 2, got True"),
        ((0, math.nan, [1.0, 1.0]), "finite"),
        ((0, 1.0, [1.0, math.inf]), "finite"),
        ((0, 1.0, [1.0]), "costs must be 2 numbers, got 1"),
        ((0, 1.0, [1.0, 1.0, 1.0]), "costs must be 2 numbers, got 3"),
        ((0, 1.0, 1.0), "costs must be 2 numbers, got 1"),
    ],
)
def test_bad_observations_change_nothing(strategy, told, said):
    s = made(strategy)
    with pytest.raises(ValueError, match=said):
        s.tell(*told)
    assert len(s.history) == 1
    assert s.pulls.sum() == 0


@pytest.mark.parametrize("strategy", KNOWN)
@pytest.mark.parametrize(
    ("told", "said"), [((3, 1.0), "arm must be 0 to 2"), ((0, math.nan), "finite")]
)
def test_bad_observations_of_strategies_that_know_the_costs(strategy, told, said):
    s = made(strategy)
    with pytest.raises(ValueError, match=said):
        s.tell(*told)
    assert s.pulls.sum() == 0


def test_one_limit_may_be_a_number():
    s = LATS(2, 0.5)
    s.tell(0, 1.0, 0.5)
    s.tell(1, 1.0, [0.5])
    assert s.pulls.tolist() == [1, 1]


@every
def test_the_default_is_the_first_reading(strategy):
    one = made(strategy)
    other = made(strategy, reading=READINGS[strategy].default)
    assert repr(one._rules) == repr(other._rules)
