"""Arms that are dropped during a run of BAICS: what is asked and answered, and the guarantee."""

import json
import math

import numpy as np
import pytest

from bestarm.baics import FWS, TaS, TaSCS, TwoStage, Uniform
from bestarm.baics.steps import needed_e_value
from bestarm.core.inputs import InputError

SEGMENTS = {"phone": 0.7, "desktop": 0.3}
RATES = {"old": (0.5, 0.5), "short": (0.9, 0.8), "long": (0.8, 0.7)}
RULES = [
    pytest.param(FWS, {"rewards": "bernoulli", "minimum": 0.2}, id="bets"),
    pytest.param(TaSCS, {"sigma": 0.5, "minimum": 0.2}, id="directed"),
    pytest.param(TaS, {"sigma": [[0.5, 0.4], [0.5, 0.5], [0.4, 0.5]]}, id="several sigmas"),
    pytest.param(TaSCS, {"reading": "proven-mixture", "sigma": 0.5}, id="mixture"),
    pytest.param(FWS, {"sigma": "unknown", "resolution": 1.0}, id="unknown sigma"),
    pytest.param(Uniform, {"rewards": "bernoulli", "missing": "worst"}, id="worst"),
]


def day(s, rng, visitors=60):
    """A day's visitors in counts."""
    for l, (segment, share) in enumerate(SEGMENTS.items()):
        for arm, n in s.allocation(int(share * visitors), segment=segment).items():
            ones = float(rng.binomial(n, RATES[arm][l]))
            squares = {"squares": ones} if s._needs_squares else {}
            s.tell((arm, segment), pulls=n, total=ones, **squares)
            if s.done:
                return


def made(kind, options):
    return kind([*RATES], SEGMENTS, delta=0.1, may_drop=True, **options)


@pytest.mark.parametrize(("kind", "options"), RULES)
def test_a_dropped_arm_is_neither_asked_for_nor_answered(kind, options):
    s, rng = made(kind, options), np.random.default_rng(1)
    day(s, rng)
    trials = s.ask(6)
    s.drop("short")
    assert s.remaining == ["old", "long"]
    for trial in trials:
        s.tell(trial, 1.0)
    assert s.late == sum(trial.arm[0] == "short" for trial in trials)
    assert int(s.pulls.sum()) == s.told - s.late
    loaded = kind.from_dict(json.loads(json.dumps(s.to_dict())))
    replayed = made(kind, options)
    replayed.replay(s.history)
    assert replayed.to_dict() == loaded.to_dict() == s.to_dict()
    for _ in range(3 if "resolution" in options else 40):  # with sigma unknown it takes long
        if not s.done:
            assert {arm for arm, _ in s.allocation(40)} <= {"old", "long"}
            day(s, rng, 200)
    assert s.done or "resolution" in options
    assert s.answer == "long"
    assert set(s.summary().set_index("arm").status["short"]) & {"dropped", "gains"}
    assert s.plot().get_axes()


@pytest.mark.parametrize(("kind", "options"), RULES[:4])
def test_evidence_on_the_arms_that_are_left_is_kept(kind, options):
    """By what the rule says of the same answer against the same arm, before and after."""
    s, rng = made(kind, options), np.random.default_rng(3)
    day(s, rng, 90)
    s._state.answer[0] = 1
    constrained = s._rules.problem.constrained
    before = [s._statistics()[i] for i in (*range(constrained), constrained + 2)]
    s.drop("old")
    s._state.answer[0] = 0
    after = [s._statistics()[i] for i in (*range(constrained), constrained + 1)]
    assert after == pytest.approx(before, rel=1e-9)
    assert max(before) > 0.0


def test_delta_is_shared_among_all_tests_of_arms_that_may_be_left():
    """K answers "none", and of each pair of arms, or of an arm that is not feasible, one test."""
    s = made(FWS, {})
    for kept in (3, 2):
        assert len(s._kept) == kept
        assert math.exp(-needed_e_value(s._rules)) == pytest.approx(0.1 / 6)
        s.drop(s.remaining[0]) if kept == 3 else None
    plain = FWS([*RATES], SEGMENTS, delta=0.1)
    assert math.exp(-needed_e_value(plain._rules)) == pytest.approx(0.1 / 3)
    before = made(FWS, {"tolerance": 0.1}).summary()
    assert before.equals(FWS([*RATES], SEGMENTS, delta=0.1, tolerance=0.1).summary())


def test_results_of_a_batch_that_is_told_later_are_those_of_the_others():
    s = made(FWS, RULES[0].values[1])
    s.drop("old")
    arms, segments = [*RATES] * 2, ["phone"] * 3 + ["desktop"] * 3
    s.tell_table({"arm": arms, "segment": segments, "pulls": [5] * 6, "total": [2] * 6})
    assert s.late == 10
    assert s.pulls.tolist() == [[0, 0], [5, 5], [5, 5]]
    split = s.allocation(90, segment="phone", least_share={"short": 0.5, "long": 0.2})
    assert min(split.values()) >= 18
    assert "old" not in split


def test_rewards_that_repeat_do_not_end_a_run_at_a_drop():
    s, rng = FWS(3, [1.0], sigma="unknown", may_drop=True, constrained=0), np.random.default_rng(0)
    with pytest.warns(UserWarning, match="are equal"):
        for n in range(300):
            s.tell((n % 3, 0), round(float(rng.normal(5.0 * (n % 3))), 1))
    s.drop(1)
    assert not s.done


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: FWS(3, [1.0]).drop(1), "drop needs may_drop=True when the object is made"),
        (lambda: FWS(3, [1.0], may_drop=True).add(), "may be added to TrackAndStop and KLLUCB"),
        (lambda: FWS(2, [1.0], may_drop=True).drop(1), "2 arms have to be left"),
        (lambda: TwoStage(3, [1.0], may_drop=True), "may_drop: needs a reading that is proved"),
        (lambda: Uniform(3, [1.0], rounds=True, may_drop=True), "and no rounds"),
    ],
)
def test_refused(make, said):
    with pytest.raises((ValueError, InputError), match=said):
        make()
