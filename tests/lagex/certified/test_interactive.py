"""The ask/tell object of Certified."""

import json
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bestarm.core.inputs import InputError
from bestarm.core.streams import run_streams
from bestarm.lagex import Certified, check
from bestarm.lagex.certified import reference
from bestarm.lagex.certified.runs import Options, make_rules, play
from bestarm.lagex.problem import Instance
from bestarm.lagex.strategies import make_world
from lagex.certified.confidence_sets import played, tell_blocks
from lagex.polytopes import drawn

INSTANCE = Instance(
    name="any",
    means=[3.0, 0.0, 1.5],
    sigma=[1.0, 0.5, 0.8],
    constraints=[
        {"coefficients": [1.0, 0.0, 0.0], "at_most": 0.5},
        {"coefficients": [0.0, 0.5, 1.0], "at_most": 0.6},
    ],
    cost_sigma=0.7,
)
PROBLEM = INSTANCE.problem
ARGUMENTS = {"sigma": [1.0, 0.5, 0.8], "cost_sigma": 0.7, "r": 0.5}


def made(**options) -> Certified:
    return Certified(3, [0.5, 0.6], **ARGUMENTS | options)


def test_blocks_as_sums_are_the_simulated_run():
    """The same draws, arm by arm, so the same pulls and the same policy to the last bit."""
    rules = make_rules(
        "Certified", 0.1, 0.5, Options(), PROBLEM.variances, PROBLEM.cost_sigma, PROBLEM.limits
    )
    wanted = play(
        make_world(PROBLEM, units=rules.units), rules, 10**9, run_streams(2, 0).environment
    )
    s, rng = made(), run_streams(2, 0).environment
    while not s.done:
        tell_blocks(s, PROBLEM, rng)
    np.testing.assert_array_equal(s.pulls, wanted.pulls)
    np.testing.assert_allclose(s.answer, wanted.policy, atol=1e-9)


def test_the_answer_keeps_the_limits_and_is_good():
    s = played(made(), PROBLEM)
    assert s.answer.sum() == 1.0
    assert (PROBLEM.matrix @ s.answer <= PROBLEM.limits).all()
    assert PROBLEM.means @ s.answer >= 0.5 * 3.0 + 0.5 * 1.5 - 0.5
    assert s.wanted == {}


def test_before_the_end_there_is_a_safe_policy_or_none():
    s, rng, seen = made(r=0.2), np.random.default_rng(0), []
    assert s.answer is None
    while not s.done:
        tell_blocks(s, PROBLEM, rng)
        if s.answer is not None:
            seen.append(s.answer)
    assert len(seen) > 10
    assert all(policy.sum() == 1.0 for policy in seen)


@settings(max_examples=40)
@example(seed=0, k=3, d=1, unit=1e4, offset=0.0)
@given(
    st.integers(0, 2**31),
    st.integers(2, 6),
    st.integers(1, 3),
    st.integers(-12, 9).map(lambda e: 10.0**e),
    st.sampled_from([0.0, 10.0, -1e5]),
)
def test_answers_are_safe_policies_at_any_scale_of_means(seed, k, d, unit, offset):
    """Means from 1e-12 to 1e14 sigma: each new answer keeps the limits by its bounds."""
    known = drawn(seed, k, d, "smooth")
    problem = PROBLEM._replace(
        means=unit * (known.means + offset),
        variances=np.ones(k),
        matrix=known.matrix,
        limits=known.limits,
        cost_sigma=0.1,
    )
    s, rng, last = Certified(k, known.limits, r=0.5, cost_sigma=0.1), np.random.default_rng(0), None
    fixed, units = (known.limits, 0.1, s._rules.n0, np.ones(k), 0.1), s._rules.units
    while not s.done and s.pulls.sum() < 3000:
        tell_blocks(s, problem, rng)
        if (answer := s.answer) is None or np.array_equal(answer, last):
            continue
        assert answer.min() >= 0.0
        assert answer.sum() == pytest.approx(1.0, abs=1e-15)
        state, last = s._state, answer
        sums = units[0] * state.reward_sums, units[1] * state.cost_sums
        seen = reference.confidence_set(s.pulls, *sums, *fixed)
        assert (seen.rows @ answer + np.sqrt(answer**2 @ seen.u) <= 0.0).all()
    if last is not None:
        assert list(s.summary().status[:k]) == [f"{share:.0%} of the answer" for share in last]


@pytest.mark.parametrize("unit", [1e-6, 1.0, 100.0])
def test_certificates_hold_at_any_scale_of_means(unit):
    s = played(made(r=0.5), PROBLEM._replace(means=unit * (PROBLEM.means + 100.0)))
    assert all(holds for _, holds in check.lines(json.loads(s.certificate())))


def test_means_far_from_zero_are_the_same_problem():
    """Rewards of 2^30 more each: no pull and no answer is another."""
    plain, far = made(), made()
    rng, noise = np.random.default_rng(0), np.random.default_rng(0)
    for _ in range(100):
        tell_blocks(plain, PROBLEM, rng)
        for arm, n in far.wanted.items():
            reward = n * PROBLEM.means[arm] + np.sqrt(n * PROBLEM.variances[arm]) * (
                noise.standard_normal()
            )
            costs = n * PROBLEM.matrix[:, arm] + np.sqrt(n) * PROBLEM.cost_sigma * (
                noise.standard_normal(2)
            )
            far.tell(arm, reward + n * 2.0**30, costs, n)
    np.testing.assert_array_equal(far.pulls, plain.pulls)
    np.testing.assert_allclose(far.answer, plain.answer, atol=1e-6)


def test_nothing_changes_once_something_is_certified():
    s = played(made(), PROBLEM)
    before = (s.pulls.tolist(), s.answer.tolist(), s.certificate())
    s.tell(0, 1e6, [1e6, 1e6], 1000)
    assert s.done
    assert (s.pulls.tolist(), s.answer.tolist(), s.certificate()) == before
    assert s.history[-1].values == (1e6, 1e6, 1e6, 1000.0)
    assert s.late == 1000


def test_pulls_that_were_not_wanted_count():
    """And those that are still wanted remain so."""
    s, rng = made(), np.random.default_rng(0)
    assert s.wanted == {0: 1, 1: 1, 2: 1}
    s.tell(2, 3.0, [1.0, 1.0], 5)
    assert s.wanted == {0: 1, 1: 1}
    assert s.pulls.tolist() == [0, 0, 5]
    tell_blocks(s, PROBLEM, rng)
    assert sum(s.wanted.values()) == 1


def test_a_saved_history_of_sums_brings_a_new_object_to_the_same_place():
    s = played(made(), PROBLEM, most=300)
    again = made()
    again.replay(json.loads(json.dumps(s.history)))
    assert again.wanted == s.wanted
    np.testing.assert_array_equal(again.pulls, s.pulls)
    assert played(again, PROBLEM, 1).certificate() == played(s, PROBLEM, 1).certificate()


def test_names_of_arms_and_limits():
    s = Certified(["a", "b", "c"], {"money": 0.5, "time": 0.6}, **ARGUMENTS)
    assert s.wanted == {"a": 1, "b": 1, "c": 1}
    for name in s.wanted:
        s.tell(name, 1.0, [0.1, 0.1])
    assert set(s.summary().quantity) == {"reward", "money", "time"}
    assert "After 3 pulls no mixture is known to keep the limits" in s.why_not_done()


def test_outstanding_trials_are_not_wanted_again():
    """A block is asked as trials, no more than it has, and told in another order."""
    s, rng = played(made(r=0.2), PROBLEM, most=500), np.random.default_rng(1)
    block = sum(s.wanted.values())
    trials = s.ask(10**6)
    assert len(trials) == block
    assert s.wanted == {}
    before = s.pulls.sum()
    for trial in reversed(trials):
        s.tell(
            trial, PROBLEM.means[trial.arm] + rng.standard_normal(), PROBLEM.matrix[:, trial.arm]
        )
    assert s.pulls.sum() == before + block
    assert s.done or sum(s.wanted.values()) >= block


def test_it_says_what_is_better_and_by_how_much():
    """About how many pulls are left, within a factor of three half-way."""
    s, rng, said = made(r=0.2), np.random.default_rng(0), []
    while not s.done:
        tell_blocks(s, PROBLEM, rng)
        said.append((s.pulls.sum(), s.why_not_done()))
    half, words = next((n, text) for n, text in said if n >= said[-1][0] / 2)
    assert "may keep the limits and be better by" in words
    more = int(re.search(r"about ([\d,]+) more", words)[1].replace(",", ""))
    assert half / 3 < more < 3 * half


def test_a_saved_file_goes_on_to_the_same_certificate(tmp_path):
    s = played(made(), PROBLEM, most=300)
    s.save(tmp_path / "run.json")
    again = Certified.load(tmp_path / "run.json")
    assert played(again, PROBLEM, 1).certificate() == played(s, PROBLEM, 1).certificate()


def test_without_a_feasible_policy_there_is_no_answer():
    s = played(Certified(3, [0.5, -0.3], **ARGUMENTS), PROBLEM)
    assert s.done
    assert s.answer is None


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ((3, 1.0, [1.0, 1.0]), "arm must be 0 to 2, got 3"),
        ((0, 1.0, [1.0]), "costs must be 2 numbers, got 1"),
        ((0, 1.0, [1.0, np.nan]), "finite"),
        ((0, 1.0, [1.0, 1.0], 0), r"pulls must be a positive integer, at most 1e\+15, got 0"),
        ((0, 1.0, [1.0, 1.0], 1.5), r"pulls must be a positive integer, at most 1e\+15, got 1.5"),
    ],
)
def test_bad_observations_change_nothing(told, said):
    s = made()
    with pytest.raises(ValueError, match=said):
        s.tell(*told)
    assert len(s.history) == 1
    assert s.pulls.sum() == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"r": 0.0}, "r: must be a positive number, got 0.0"),
        ({"eps": -0.1}, "eps: must be"),
        ({"cost_sigma": 0.0}, "cost_sigma: must be a positive number, got 0.0"),
        ({"cost_sigma": "much"}, "cost_sigma: must be a positive number, got 'much'"),
        ({"n0": -1.0}, "n0: must be"),
        ({"delta": 1.0}, "delta: must be"),
        ({"sigma": [1.0, 1.0]}, "sigma: must be positive, one number or 3"),
    ],
)
def test_bad_arguments_are_named(wrong, said):
    with pytest.raises(InputError) as error:
        made(**wrong)
    assert str(error.value).startswith(f"Certified: {said}")


def test_too_many_arms_are_refused():
    with pytest.raises(InputError, match="Certified would have to solve"):
        Certified(100, [0.5, 0.5, 0.5])
