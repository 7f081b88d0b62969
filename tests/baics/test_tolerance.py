"""A feasible answer within a tolerance of the best feasible arm: its promise, and refusals."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from bestarm.baics import FWS, TaSCS, TwoStage, Uniform
from bestarm.core.inputs import InputError

SEGMENTS = {"phone": 0.7, "desktop": 0.3}


def days(s, rates, rng, visitors=400, most=60):
    """Days of visitors by weight, told as counts; the number of days."""
    for day in range(1, most + 1):
        rows, come = [], rng.multinomial(visitors, [0.7, 0.3])
        for l, (segment, n) in enumerate(zip(SEGMENTS, come, strict=True)):
            for arm, pulls in s.allocation(int(n), segment=segment).items():
                rows.append((arm, segment, pulls, float(rng.binomial(pulls, rates[arm][l]))))
        columns = zip(*rows, strict=True)
        s.tell_table(dict(zip(("arm", "segment", "pulls", "total"), columns, strict=True)))
        if s.done:
            return day
    return most


def made(**options):
    given = {"rewards": "bernoulli", "minimum": 0.2, "delta": 0.1} | options
    return FWS(3, SEGMENTS, **given)


EQUAL = [(0.5, 0.5), (0.5, 0.5), (0.1, 0.9)]


def test_arms_that_are_equally_good_end_and_one_that_loses_does_not_win():
    s = made(tolerance=0.08)
    assert days(s, EQUAL, np.random.default_rng(1)) < 60
    assert s.done
    assert s.answer in (0, 1)
    assert not s.summary().query("arm == '0' and quantity == 'reward'").status.eq("loses").any()
    assert FWS.from_dict(json.loads(json.dumps(s.to_dict()))).to_dict() == s.to_dict()


def test_it_stops_by_the_definition():
    """Intervals of the summary after every day, against the minimum and the tolerance."""
    s, rng, close = made(tolerance=0.08, delta=0.2), np.random.default_rng(2), False
    while not s.done:
        days(s, EQUAL, rng, most=1)
        if s.answer is None:
            continue
        table = s.summary(control=s.answer).set_index(["arm", "segment"])
        rows = table.drop(index="all", level="segment")
        totals = table.xs("all", level="segment")
        keeps = (rows.loc[str(s.answer)].low >= 0.2).all()
        loses = (rows.high < 0.2).groupby(level="arm").any()
        others = totals.drop(index=str(s.answer))
        close = keeps and (loses[others.index] | (others.difference_high <= 0.08)).all()
        assert s.done == (close or min(s._statistics()) > s.threshold)
    assert close


def test_what_is_open_is_how_much_better_or_worse_than_allowed():
    s = made(tolerance=0.05)
    told = {"arm": [0, 0, 1, 1, 2, 2], "segment": [*SEGMENTS] * 3, "pulls": [600] * 6}
    s.tell_table(told | {"total": [300.0, 300.0, 290.0, 290.0, 30.0, 300.0]})
    lead = s.summary(control=0).set_index(["arm", "segment"]).difference_high["1", "all"]
    assert s.why_not_done().endswith(
        f"Nor is it within the tolerance of 0.05 for sure: 1 may be better by {lead:.3g}."
    )
    s = made(tolerance=0.05)
    s.tell_table(told | {"total": [600.0, 130.0, 290.0, 290.0, 30.0, 300.0]})
    low = s.summary().set_index(["arm", "segment"]).low["0", "desktop"]
    assert s.why_not_done().endswith(f"its mean in desktop may be {low:.3g}, below 0.2.")


def test_half_of_delta_is_for_the_rule():
    s, twin = made(tolerance=0.1, delta=0.2), made(delta=0.1)
    assert s.threshold == twin.threshold
    for one in (s, twin):
        one.tell((0, "phone"), 1.0)
    assert s.summary().equals(twin.summary())


def test_answers_that_are_worse_are_rare():
    """At 30%, one arm better by little more than the tolerance, told one by one in 30 runs."""
    wrong = 0
    for seed in range(30):
        s, rng = made(tolerance=0.2, delta=0.3, constrained=0), np.random.default_rng(seed)
        while not s.done:
            arm, segment = s.ask()
            s.tell((arm, segment), float(rng.random() < (0.5, 0.71, 0.3)[arm]))
        wrong += s.answer != 1
    assert wrong <= stats.binom.isf(1e-6, 30, 0.3)


def test_gaussian_rewards_and_results_at_their_worst():
    s, rng = TaSCS(2, [1.0], tolerance=0.5, sigma=1.0, minimum=-9.0), np.random.default_rng(0)
    while not s.done:
        s.tell(s.ask(), rng.normal())
    assert s.told < 5000
    s = FWS(2, [1.0], rewards="bernoulli", missing="worst", constrained=0, tolerance=0.3)
    while not s.done:
        (trial,) = s.ask(1)
        s.abandon(trial) if rng.random() < 0.02 else s.tell(trial, float(rng.random() < 0.5))
    assert s.told < 5000


@pytest.mark.parametrize(
    ("kind", "options"),
    [(TwoStage, {}), (FWS, {"reading": "as-written"}), (Uniform, {"rounds": True})],
)
def test_without_a_proof_to_share_with_it_is_refused(kind, options):
    with pytest.raises(InputError, match=r"tolerance: needs a reading that is proved, and no rou"):
        kind(2, [1.0], tolerance=0.1, **options)


def test_a_tolerance_is_positive():
    with pytest.raises(InputError, match="tolerance: must be a positive number, got -0"):
        made(tolerance=-0.1)
    assert math.isclose(made(tolerance=0.1)._rules.delta, 0.05)
