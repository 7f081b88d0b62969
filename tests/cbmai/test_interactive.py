"""The ask/tell objects: the same run as the compiled loop, and a life of their own."""

import itertools
import json
import math

import numpy as np
import pytest

from bestarm.cbmai import SFSR, SFSRL, USLP, SFSRPatient
from bestarm.cbmai.problem import Noise, Problem
from bestarm.core.inputs import InputError
from cbmai.runs import normals, simulate

OBJECTS = {"SFSR": SFSR, "SFSR-L": SFSRL, "USLP": USLP}
NOISE = Noise(1.0, 0.5)
BUDGET = 90
REWARDS = np.array([0.4, 1.6, 0.5, 0.9, 0.0])
COSTS = np.array([[0.3, 1.6, 0.7, 1.3, 0.5], [1.2, 0.6, 0.8, 1.4, 0.4]])
every = pytest.mark.parametrize("strategy", OBJECTS)


def made(strategy, n_costs=1, known=(), budget=BUDGET):
    """The object for the arms above, and the true instance in the kernels' order of arms."""
    means = {a: (REWARDS[a], COSTS[:n_costs, a]) for a in known}
    order = [a for a in range(5) if a not in known] + list(known)
    truth = Problem(
        REWARDS[order],
        np.ascontiguousarray(COSTS[:n_costs, order]),
        np.ones(n_costs),
        5 - len(known),
    )
    return OBJECTS[strategy](5, np.ones(n_costs), budget, known=means), truth, order


def pull(rng, s, arm, n_costs=1):
    s.tell(arm, rng.normal(REWARDS[arm], 1.0), rng.normal(COSTS[:n_costs, arm], 0.5))


@every
@pytest.mark.parametrize("n_costs", [1, 2])
@pytest.mark.parametrize("known", [(), (4,), (3, 1)], ids=["none", "last", "in the middle"])
def test_same_run_as_the_compiled_loop(strategy, n_costs, known):
    """Told the sums that the loop draws, arm by arm and reward before costs."""
    for seed in range(20):
        s, truth, order = made(strategy, n_costs, known)
        drawn = normals(strategy, truth, np.random.default_rng(seed))
        expected = simulate(strategy, truth, NOISE, BUDGET, drawn)
        left = iter(drawn)
        while not s.done:
            for arm, n in s.wanted.items():
                z = np.array(list(itertools.islice(left, 1 + n_costs)))
                reward = n * REWARDS[arm] + math.sqrt(n) * NOISE.reward * z[0]
                s.tell(arm, reward, n * COSTS[:n_costs, arm] + math.sqrt(n) * NOISE.cost * z[1:], n)
        np.testing.assert_array_equal(s.pulls[order], expected.pulls)
        names = [*order, *range(5, 5 + n_costs)]
        if s.answer is None:
            assert s.mixture is None
            assert not expected.answer.any()
            continue
        support = [names[column - 1] for column in expected.answer]
        assert s.answer == sorted(support) == s.remaining
        weights = dict(zip(support, expected.weights.tolist(), strict=True))
        assert s.mixture == {arm: weights[arm] for arm in sorted(support) if arm < 5}


@every
@pytest.mark.parametrize("known", [(), (3, 1)], ids=["none", "two"])
def test_single_pulls_finish_within_the_budget(strategy, known):
    rng = np.random.default_rng(3)
    for _ in range(20):
        s, _, _ = made(strategy, 2, known)
        while not s.done:
            arm = s.ask()
            assert arm not in known
            assert arm == s.ask()
            pull(rng, s, arm, 2)
        assert s.told == s.pulls.sum() <= BUDGET
        assert s.answer is None or len(s.answer) == 3


@every
def test_sums_and_single_pulls_are_the_same_to_it(strategy):
    """Up to the rounding of a mean."""
    rng = np.random.default_rng(5)
    one, _, _ = made(strategy)
    many, _, _ = made(strategy)
    while not one.done:
        (arm, n), *_ = one.wanted.items()
        rewards, costs = rng.normal(REWARDS[arm], 1.0, n), rng.normal(COSTS[0, arm], 0.5, n)
        one.tell(arm, rewards.sum(), costs.sum(), n)
        for reward, cost in zip(rewards, costs, strict=True):
            many.tell(arm, reward, cost)
    assert many.done
    assert many.answer == one.answer
    np.testing.assert_allclose(many.rewards, one.rewards, atol=1e-12)
    np.testing.assert_allclose(many.costs, one.costs, atol=1e-12)


def test_mixture_meets_the_bounds_that_bind():
    """Remark 2: weights add up to 1, and costs by the estimates to the bound without slack."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(40):
        s, _, _ = made("SFSR", 2)
        while not s.done:
            pull(rng, s, s.ask(), 2)
        if s.answer is not None:
            arms, weights = list(s.mixture), np.array(list(s.mixture.values()))
            assert weights.sum() == pytest.approx(1.0, abs=1e-9)
            slack = 1.0 - s.costs[:, arms] @ weights
            binding = [5 + l not in s.answer for l in range(2)]
            np.testing.assert_allclose(slack[binding], 0.0, atol=1e-9)
            seen.add(tuple(binding))
    assert {(True, True), (True, False)} <= seen


def test_wanted_counts_down_to_the_next_round():
    """K = K0 = 5, L = 1, N = 90: Psi = 25/12, so 85 / Psi / (6 - k) is 8.16, 10.2, 13.6, 20.4."""
    s, _, _ = made("SFSR")
    assert s.wanted == dict.fromkeys(range(5), 9)
    s.tell(2, 0.5, 0.7)
    s.tell(0, 4.0, 3.0, pulls=9)
    assert s.wanted == {1: 9, 2: 8, 3: 9, 4: 9}
    for arm, n in s.wanted.items():
        s.tell(arm, n * REWARDS[arm], n * COSTS[0, arm], n)
    assert len(s.remaining) == 5
    assert s.wanted == {arm: 2 for arm in s.remaining if arm < 5}


def test_a_round_without_unknown_arms_ends_by_itself():
    """Arms 1 and 2, known, beat arm 0 in every mixture: no pull is left to wait for."""
    s = SFSR(3, 1.0, 10, known={1: (5.0, 0.5), 2: (9.0, 1.5)})
    n = s.wanted[0]
    s.tell(0, -9.0 * n, 5.0 * n, n)
    assert s.done
    assert s.answer == [1, 2]
    assert s.mixture == pytest.approx({1: 0.5, 2: 0.5})
    assert s.wanted == {}


def test_pulls_not_asked_for_count_and_leave_the_question_open():
    s, _, _ = made("SFSR")
    asked = s.ask()
    s.tell(asked + 1, 8.0, 2.0, pulls=4)
    assert s.pulls[asked + 1] == 4
    assert s.rewards[asked + 1] == pytest.approx(2.0)
    assert s.costs[0, asked + 1] == pytest.approx(0.5)
    s.tell(asked, 1.0, 1.0)
    assert [e.trial for e in s.history if e.kind == "tell"] == [None, 0]


@every
def test_more_pulls_than_the_round_wants_are_kept_out(strategy):
    """They change no estimate and use up no budget."""
    runs = []
    for too_many in (False, True):
        s, _, _ = made(strategy)
        while not s.done:
            (arm, n), *_ = s.wanted.items()
            if too_many:
                with pytest.raises(ValueError, match=f"pulls must be at most {n}, "):
                    s.tell(arm, 1e6, 1e6, pulls=n + 1)
                for other in range(len(s.pulls)):
                    if other not in s.wanted:
                        s.tell(other, 1e6, 1e6)
            s.tell(arm, n * REWARDS[arm], n * COSTS[0, arm], pulls=n)
        runs.append((s.answer, s.pulls.tolist(), s.rewards.tolist()))
        assert (s.kept_out > 0) == too_many
    assert runs[0] == runs[1]
    assert sum(runs[0][1]) <= BUDGET


@every
def test_the_budget_cannot_be_exceeded(strategy):
    s, _, _ = made(strategy)
    with pytest.raises(ValueError, match="at most 90, the rest of the budget, got 1000000"):
        s.tell(0, 1.0, 1.0, pulls=10**6)
    assert s.pulls.sum() == 0
    assert len(s.history) == 1


@every
@pytest.mark.parametrize("known", [(), (3, 1)], ids=["none", "two"])
def test_a_saved_history_brings_a_new_object_to_the_same_place(strategy, known):
    rng = np.random.default_rng(2)
    s, _, _ = made(strategy, 2, known)
    s.tell(0, 3.0, [1.0, 2.0], pulls=3)
    for _ in range(30):
        pull(rng, s, s.ask(), 2)
    again, _, _ = made(strategy, 2, known)
    again.replay(json.loads(json.dumps(s.history)))
    np.testing.assert_array_equal(again.pulls, s.pulls)
    np.testing.assert_array_equal(again.costs, s.costs)
    assert again.history == s.history
    assert again.ask() == s.ask()


@pytest.mark.parametrize("observed", [(1.0, 1.0, 1.0), (1.0,) * 5, (1.0, 1.0, 1.0, -3.0)])
def test_a_history_of_other_observations_is_refused(observed):
    """A cost too few, one too many, a negative number of pulls."""
    s, _, _ = made("SFSR", 2)
    with pytest.raises(ValueError, match="must be"):
        s.replay([*s.history, ("tell", None, 0, observed)])
    assert s.pulls.sum() == 0


def test_no_answer_before_the_end_and_no_question_after():
    s, _, _ = made("USLP")
    for read in ("answer", "mixture"):
        with pytest.raises(RuntimeError, match="not over"):
            getattr(s, read)
    for arm, n in s.wanted.items():
        s.tell(arm, n * REWARDS[arm], n * COSTS[0, arm], n)
    assert s.answer == [0, 1]
    with pytest.raises(RuntimeError, match="stopped"):
        s.ask()


@every
def test_none_is_an_answer(strategy):
    s, _, _ = made(strategy)
    while not s.done:
        s.tell(s.ask(), 1.0, 2.0)
    assert s.answer is None
    assert s.mixture is None


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ((3, 1.0, 1.0), "must be an unknown one"),
        ((7, 1.0, 1.0), "arm must be 0 to 4, got 7"),
        ((-1, 1.0, 1.0), "arm must be 0 to 4, got -1"),
        ((0, 1.0, [1.0, 1.0]), "costs must be 1 numbers"),
        ((0, math.nan, 1.0), "finite"),
        ((0, 1.0, math.inf), "finite"),
        ((0, 1.0, 1.0, 0), "positive integer"),
        ((0, 1.0, 1.0, 1.5), "positive integer"),
        ((0, 1.0, 1.0, math.nan), "finite"),
        ((0, 1.0, 1.0, math.inf), "finite"),
    ],
)
def test_bad_observations_change_nothing(told, said):
    s, _, _ = made("SFSR", known=(3, 1))
    with pytest.raises(ValueError, match=said):
        s.tell(*told)
    assert s.pulls.sum() == 0
    assert len(s.history) == 1


@pytest.mark.parametrize("kind", [SFSR, SFSRL, SFSRPatient, USLP])
def test_a_tie_does_not_reject_the_arm_within_the_limit(kind):
    """Both arms earn the same; one costs twice the limit."""
    s = kind(["free", "dear"], 0.5, budget=20)
    while not s.done:
        arm = s.ask()
        s.tell(arm, 1.0, {"free": 0.0, "dear": 1.0}[arm])
    assert s.answer in (["free", "limit 1"], ["free", "dear"])
    assert s.mixture["free"] >= 0.5
    assert sum(s.mixture.values()) == pytest.approx(1.0)


def test_as_written_a_tie_may_reject_the_arm_within_the_limit():
    s = SFSR(["free", "dear"], 0.5, budget=20, reading="as-written")
    while not s.done:
        arm = s.ask()
        s.tell(arm, 1.0, {"free": 0.0, "dear": 1.0}[arm])
    assert s.mixture == {"dear": 1.0}
    with pytest.raises(InputError, match="SFSR: reading: must be one of as-written, feasible-ties"):
        SFSR(2, 0.5, 20, reading="printed")


@every
def test_limits_may_have_names(strategy):
    """The run is the same; slacks and intervals have the names of the limits."""
    limits = {"returns": 1.0, "calls": 1.0}
    named = OBJECTS[strategy](list("abcde"), limits, BUDGET)
    plain = OBJECTS[strategy](5, [1.0, 1.0], BUDGET)
    while not plain.done:
        arm = plain.ask()
        assert named.ask() == "abcde"[arm]
        plain.tell(arm, REWARDS[arm], COSTS[:, arm])
        named.tell("abcde"[arm], REWARDS[arm], COSTS[:, arm])
    names = [*"abcde", *limits]
    assert named.answer == [names[column] for column in plain.answer]
    assert {"reward", "returns", "calls"} == set(named.summary().quantity)
    assert type(named).from_dict(named.to_dict()).answer == named.answer


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"a": 0.5}, "must not have the name of an arm, a"),
        ({1: 0.5}, "names must be texts"),
        ({"": 0.5}, "names must be texts, neither empty"),
        ({"reward": 0.5}, "names must be texts, .*nor 'reward'"),
        ({}, "must be finite numbers"),
        ({"c": "x"}, "must be finite numbers"),
    ],
)
def test_names_of_limits_are_checked(limits, said):
    with pytest.raises(InputError, match=f"SFSR: bounds: {said}"):
        SFSR(["a", "b"], limits, 60)
