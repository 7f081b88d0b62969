"""Each rule of docs/analysis-plan.md decides both ways on toy claims, at stated error rates."""

import math
import re

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from bestarm import registry
from bestarm.common.p_values import CAPPED
from bestarm.core.estimates import Estimate, exact, mean, proportion, undefined
from bestarm.core.inputs import InputError
from bestarm.verdicts import released, table
from bestarm.verdicts.claims import ClaimsFile, read_claims
from bestarm.verdicts.judge import judge
from bestarm.verdicts.multiple_testing import holm
from bestarm.verdicts.outcome import (
    ALL_DIFFER,
    BY_READING,
    BY_TEXT,
    COMPATIBLE,
    CONFIRMED,
    DIFFERS,
    INCONCLUSIVE,
    NOT_RUN,
    NOT_TESTABLE,
    OURS,
    PUBLISHED,
    RECOVERED,
    ROW,
    SUBSTITUTE,
    TEXT,
)
from bestarm.verdicts.tables import Tables

from .toy_claims import (
    TIME,
    claim,
    judged,
    normal_mean,
    outcomes,
    published_table,
    table_of,
    verdict,
)

ONE = {"readings": ["as-written"]}
RIGHT, WRONG = proportion("error_rate", 5, 200), proportion("error_rate", 60, 200)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_claim_quotes_the_paper_or_is_beyond_it(root, paper):
    for one in read_claims(root / "data/claims" / f"{paper}.yaml").claims:
        second_hand = one.unchecked and paper in registry.CONTROLS
        assert one.quote or one.beyond or second_hand, one.id


# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "expected"),
    [(100, CONFIRMED), (105, DIFFERS), (150, DIFFERS), (66, DIFFERS)],
)
def test_a_number_is_confirmed_or_differs(published, expected):
    found = table_of(as_written=[normal_mean(100, 1)])
    one = claim(**ONE)
    assert outcomes(one, found, published_table(**{TIME: published})) == {"as-written": expected}


@pytest.mark.parametrize(
    ("error", "n_published", "why"), [(8, 10**6, OURS), (1, 20, PUBLISHED), (1, 10**6, None)]
)
def test_cannot_tell_says_whose_runs_are_too_few(error, n_published, why):
    """An error of 8% by us, or of 22% by the paper, leaves a margin of 18% open."""
    found = table_of(as_written=[normal_mean(100, error)])
    published = published_table(**{TIME: {"value": 103, "n": n_published, "half_unit": 2.5}})
    (result,) = judged(claim(**ONE), found, published)["c"].lines
    assert (result.outcome, result.reason) == ((COMPATIBLE, why) if why else (CONFIRMED, ""))


def test_two_values_that_a_paper_has_of_a_number_tell_how_well_it_knows_it():
    found = table_of(as_written=[normal_mean(100, 1)])
    for own_error, expected in ((math.nan, DIFFERS), (0.001, DIFFERS), (0.25, COMPATIBLE)):
        published = published_table(**{TIME: {"value": 150, "own_error": own_error}})
        assert outcomes(claim(**ONE), found, published) == {"as-written": expected}


def test_readings_tried_are_corrected_for_in_favour_and_not_against():
    """p for = 0.03 confirms alone and not as one of three; p against = 0.03 differs in both."""
    s = 0.05
    error = s * math.sqrt(2)
    inside = 100 * math.exp(-(math.log(1.2) - stats.norm.isf(0.03) * error))
    outside = 100 * math.exp(-stats.norm.isf(0.03 / 2) * error)
    far = normal_mean(500, 1)
    published = published_table(**{TIME: 100})
    for value, alone, among in ((inside, CONFIRMED, COMPATIBLE), (outside, DIFFERS, DIFFERS)):
        found = table_of(as_written=[far], other=[normal_mean(value, s * value)], third=[far])
        assert outcomes(claim(readings=["other"]), found, published)["other"] == alone
        three = claim(readings=["as-written", "other", "third"])
        assert outcomes(three, found, published)["other"] == among


def test_half_and_double_margins():
    found = table_of(as_written=[normal_mean(100, 0.5)])
    published = published_table(**{TIME: {"value": 112, "n": 60}})
    for margins, expected in ((0.5, COMPATIBLE), (2.0, CONFIRMED)):
        assert judged(claim(**ONE), found, published, margins)["c"].lines[0].outcome == expected


def test_shares_are_compared_by_their_difference():
    row = {"target": "t", "instance": "i", "strategy": "s", "statistic": "prob_correct"}
    found = table_of(as_written=[proportion("prob_correct", 1940, 2000)])
    for value, expected in ((0.97, CONFIRMED), (0.9, DIFFERS), (0.945, DIFFERS)):
        published = published_table(prob_correct={"value": value, "n": 2000})
        assert outcomes(claim(row=row, **ONE), found, published) == {"as-written": expected}


def test_a_margin_of_its_own_needs_a_reason():
    found = table_of(as_written=[normal_mean(16, 0.1)])
    published = published_table(**{TIME: {"value": 15, "half_unit": 0.5}})
    own = claim(scale="difference", margin=2.0, note="of few pulls", **ONE)
    assert outcomes(own, found, published) == {"as-written": DIFFERS}
    with pytest.raises(ValueError, match="note is required: why this margin"):
        judged(claim(margin=2.0, **ONE), found, published)


def test_the_whole_decision_has_the_stated_rates():
    """Exponential times, the paper's 300 runs and 1200 of ours, 20 to 200 pairs of samples.

    Equal ones differ in at most 5%, those 30% or twofold apart agree in at most 5%. Of 200 pairs a
    rate of 20% is seen with probability 0.99, and rates that are right fail less than once in
    500,000 times.
    """
    rng = np.random.default_rng(1)
    trials = {1.0: 200, 1.1: 60, 1.3: 200, 2.0: 20}
    rates = {}
    table = table_of(as_written=[mean(TIME, "pulls", np.ones(1200))])
    published = published_table(**{TIME: {"value": 1.0, "n": 300}})
    for apart, pairs in trials.items():
        seen = []
        for _ in range(pairs):
            ours = mean(TIME, "pulls", rng.exponential(100.0, 1200))
            theirs = rng.exponential(100.0 * apart, 300).mean()
            found = table.assign(value=ours.value, low=ours.low, high=ours.high)
            one = claim(**ONE)
            seen.append(outcomes(one, found, published.assign(value=theirs))["as-written"])
        rates[apart] = {name: seen.count(name) / pairs for name in set(seen)}
    bound = stats.binom.isf(1e-6, trials[1.0], 0.05)
    assert stats.binom.sf(bound, trials[1.0], 0.2) > 0.98
    most = bound / trials[1.0]
    differ = {a: r.get(DIFFERS, 0) for a, r in rates.items()}
    assert differ[1.0] <= most
    assert rates[1.3].get(CONFIRMED, 0) <= most
    assert rates[2.0].get(CONFIRMED, 0) == 0
    assert differ[2.0] == 1.0
    assert rates[1.0].get(CONFIRMED, 0) > 0.5  # and the rule has power
    assert differ[1.1] > differ[1.0]


def test_runs_of_ours_that_are_said_to_settle_it_do():
    published = published_table(**{TIME: {"value": 103, "n": 10**7}})
    found = table_of(as_written=[normal_mean(100, 12, n=100)])
    needed = judged(claim(**ONE), found, published)["c"].lines[0].runs_needed
    more = table_of(as_written=[normal_mean(100, 12 * math.sqrt(100 / needed), n=int(needed))])
    assert outcomes(claim(**ONE), more, published)["as-written"] != COMPATIBLE


def test_a_number_of_ours_that_is_zero_differs():
    zero = table_of(as_written=[normal_mean(0.0, 0.0)])
    published = published_table(**{TIME: 9046})
    assert outcomes(claim(**ONE), zero, published) == {"as-written": DIFFERS}


# --- what cannot be tested, and capped runs -----------------------------------------------------


def test_undefined_numbers_and_missing_intervals_support_nothing():
    published = published_table(**{TIME: 100})
    nothing = undefined(TIME, "pulls", 10)
    single = mean(TIME, "pulls", np.array([100.0]))
    for ours in (nothing, single):
        found = table_of(as_written=[ours], other=[ours])
        assert verdict(claim(), found, published) == NOT_TESTABLE
        below = claim("at_most", than=1e9)
        assert verdict(below, found) == NOT_TESTABLE
    found = table_of(as_written=[nothing], other=[normal_mean(100, 1)])
    assert verdict(claim(), found, published) == (BY_READING, "other")


def test_a_capped_mean_only_shows_that_a_number_is_too_small():
    for ours, expected in ((200, DIFFERS), (100, COMPATIBLE), (50, COMPATIBLE)):
        found = table_of(as_written=[normal_mean(ours, 1, status="restricted")])
        (result,) = judged(claim(**ONE), found, published_table(**{TIME: 100}))["c"].lines
        assert result.outcome == expected
        assert result.reason == ("" if expected == DIFFERS else CAPPED)


def test_a_reading_of_capped_runs_is_never_the_nearest():
    """A bound at the published number says less than a whole mean that lies farther away."""
    capped, whole = normal_mean(100, 1, status="restricted"), normal_mean(90, 6)
    (one,) = judged(
        claim(readings=["far", "capped", "whole"]),
        table_of(far=[normal_mean(300, 1)], capped=[capped], whole=[whole]),
        published_table(**{TIME: 100}),
    ).values()
    assert (one.verdict, one.under) == (COMPATIBLE, "whole")


@pytest.mark.parametrize(
    ("count", "status", "expected"),
    [
        (1.0, "", CONFIRMED),
        (1.0, "restricted", INCONCLUSIVE),
        (0.0, "restricted", INCONCLUSIVE),
        (2.0, "restricted", DIFFERS),
    ],
)
def test_a_constant_counted_until_a_cap_may_grow(count, status, expected):
    name = "mean_pulls:x6"
    row = {"target": "t", "instance": "i", "strategy": "s", "statistic": name}
    found = table_of(as_written=[Estimate(name, "pulls", count, count, count, 9, status)])
    published = published_table(**{name: {"value": 1, "half_unit": 0.5}})
    assert outcomes(claim("exact", row=row, **ONE), found, published) == {"as-written": expected}


def test_means_capped_alike_are_compared():
    setting = {"cap": 500, "delta": 0.1}
    found = table_of(setting=setting, as_written=[normal_mean(100, 1, status="restricted")])
    alike, unlike = ({"value": 100, "cap": cap} for cap in (500, 600))
    assert (
        outcomes(claim(**ONE), found, published_table(**{TIME: alike}))["as-written"] == CONFIRMED
    )
    unlike = published_table(**{TIME: unlike})
    assert outcomes(claim(**ONE), found, unlike)["as-written"] == COMPATIBLE


@pytest.mark.parametrize(
    ("test", "capped", "ours", "expected"),
    [
        ("at_least", "ours", 200, CONFIRMED),
        ("at_least", "ours", 50, INCONCLUSIVE),
        ("at_most", "ours", 50, INCONCLUSIVE),
        ("at_most", "ours", 200, DIFFERS),
        ("at_least", "other", 200, INCONCLUSIVE),
        ("at_least", "other", 50, DIFFERS),
        ("at_most", "other", 50, CONFIRMED),
        ("at_most", "other", 200, INCONCLUSIVE),
        ("at_least", "both", 200, INCONCLUSIVE),
    ],
)
def test_orderings_of_capped_means(test, capped, ours, expected):
    """A mean over capped runs may only be too small; two of them say nothing."""
    status = {"ours": ("restricted", ""), "other": ("", "restricted"), "both": ("restricted",) * 2}
    first, second = status[capped]
    found = pd.concat(
        [
            table_of(as_written=[normal_mean(ours, 1, status=first)]),
            table_of("b", as_written=[normal_mean(100, 1, status=second)]),
        ]
    )
    one = claim(test, than={"strategy": "b"}, **ONE)
    assert outcomes(one, found) == {"as-written": expected}


def test_a_capped_mean_against_a_limit():
    found = table_of(as_written=[normal_mean(200, 1, status="restricted")])
    assert outcomes(claim("at_least", than=100, **ONE), found) == {"as-written": CONFIRMED}
    assert outcomes(claim("at_most", than=100, **ONE), found) == {"as-written": DIFFERS}
    assert outcomes(claim("at_most", than=300, **ONE), found) == {"as-written": INCONCLUSIVE}
    row = {"target": "t", "statistic": "time_ratio"}
    for value in (0.5, 2.0):  # which of its two means was capped is not known
        ratio = Estimate("time_ratio", "", value, value - 0.02, value + 0.02, 10_000, "restricted")
        one = claim("at_most", row=row, than=1, **ONE)
        assert outcomes(one, table_of(as_written=[ratio])) == {"as-written": INCONCLUSIVE}


# --- orderings, guarantees, identities ----------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "than", "expected"),
    [
        ("at_least", 95, CONFIRMED),
        ("at_least", 99, INCONCLUSIVE),
        ("at_least", 105, DIFFERS),
        ("at_most", 105, CONFIRMED),
        ("at_most", 101, INCONCLUSIVE),
        ("at_most", 95, DIFFERS),
        ("about", 102, CONFIRMED),
        ("about", 150, DIFFERS),
        ("about", 119, INCONCLUSIVE),
    ],
)
def test_an_ordering_is_true_false_or_open(test, than, expected):
    found = table_of(as_written=[normal_mean(100, 1)])
    assert outcomes(claim(test, than=than, **ONE), found) == {"as-written": expected}


def test_two_rows_are_compared_with_both_errors():
    found = pd.concat(
        [
            table_of(as_written=[normal_mean(100, 3)]),
            table_of("b", as_written=[normal_mean(94, 3)], exact=[exact(TIME, "pulls", 94)]),
        ]
    )
    sampled, known = {"strategy": "b"}, {"strategy": "b", "reading": "exact"}
    assert outcomes(claim("at_least", than=sampled, **ONE), found) == {"as-written": INCONCLUSIVE}
    assert outcomes(claim("at_least", than=known, **ONE), found) == {"as-written": CONFIRMED}


def test_a_guarantee_is_tested_exactly():
    """Of 90 runs none errs: 0.95^90 = 0.0099; of 50, 0.077."""
    row = {"target": "t", "statistic": "error_rate"}
    for n, errors, expected in ((90, 0, CONFIRMED), (50, 0, INCONCLUSIVE), (90, 12, DIFFERS)):
        found = table_of(as_written=[proportion("error_rate", errors, n)])
        one = claim("at_most", kind="guarantee", row=row, than=0.05, **ONE)
        assert outcomes(one, found) == {"as-written": expected}


def test_no_run_is_refuted_by_one():
    row = {"target": "t", "statistic": "share_slower"}
    for n, slower, expected in ((400, 0, CONFIRMED), (100, 0, INCONCLUSIVE), (10_000, 1, DIFFERS)):
        found = table_of(as_written=[proportion("share_slower", slower, n)])
        assert outcomes(claim("never", row=row, **ONE), found) == {"as-written": expected}


def test_an_identity_is_rounded_as_printed():
    found = table_of(exact=[exact(TIME, "pulls", 0.4667)])
    for value, expected in ((0.47, BY_TEXT), (0.48, ALL_DIFFER)):
        published = published_table(**{TIME: {"value": value, "half_unit": 0.005}})
        assert verdict(claim("exact", readings=["exact"]), found, published) == expected


def test_a_computed_number_is_no_number_of_the_kind():
    found = table_of(as_written=[exact(TIME, "pulls", 100.0)])
    with pytest.raises(InputError, match="c: row is computed, so kind must be identity"):
        judged(claim(**ONE), found, published_table(**{TIME: 100}))


def test_runs_that_all_tie_show_no_ordering():
    found = table_of(as_written=[normal_mean(1.0, 0.0)])
    assert outcomes(claim("at_most", than=1.0, **ONE), found) == {"as-written": INCONCLUSIVE}


def test_the_papers_text_against_its_own_figure():
    """Published medians are compared with our spread, at the paper's number of runs."""
    found = pd.concat(
        [
            table_of("a", as_written=[normal_mean(50, 1)]),
            table_of("b", as_written=[normal_mean(60, 1)]),
        ]
    )
    for b, expected in ((101, INCONCLUSIVE), (150, CONFIRMED), (70, DIFFERS)):
        stated = pd.concat(
            [
                published_table(**{TIME: 100}).assign(strategy="a"),
                published_table(**{TIME: b}).assign(strategy="b"),
            ]
        )
        shown = stated.assign(reading="published", status="published", setting="", unit="pulls")
        table = pd.concat([found, shown[["strategy", "instance", "statistic", "reading", "status",
                                         "setting", "unit", "value", "n"]]])  # fmt: skip
        row = {"target": "t", "strategy": "a", "statistic": TIME, "reading": "published"}
        one = claim("at_most", row=row, than={"strategy": "b"}, **ONE)
        assert outcomes(one, table, stated) == {"as-written": expected}


# --- several parts ------------------------------------------------------------------------------

PARTS = [{"name": "one", "instance": "i"}, {"name": "two", "instance": "k"}]


@pytest.mark.parametrize(
    ("second", "expected"),
    [(95, CONFIRMED), (100.5, INCONCLUSIVE), (120, DIFFERS)],
)
def test_a_claim_agrees_if_every_part_does_and_differs_if_one_does(second, expected):
    found = pd.concat(
        [
            table_of(as_written=[normal_mean(90, 1)]),
            table_of(instance="k", as_written=[normal_mean(second, 1)]),
        ]
    )
    one = claim("at_most", than=100, over=PARTS, **ONE)
    assert outcomes(one, found) == {"as-written": expected}


def test_readings_are_corrected_for_over_all_parts_together():
    """p for = 0.03 in one part, where the other reading agrees: enough there, not for the claim.

    The other reading fails in the other part, so that of two readings tried one agrees by p = 0.03.
    """
    p03, p90 = (normal_mean(100 - stats.norm.isf(p), 1) for p in (0.03, 0.9))
    found = pd.concat(
        [
            table_of(as_written=[p03], other=[normal_mean(90, 1)]),
            table_of(instance="k", as_written=[normal_mean(90, 1)], other=[p90]),
        ]
    )
    one = claim("at_most", than=100, over=PARTS)
    lines = judged(one, found)["c"].readings["as-written"]
    assert [line.part_outcome for line in lines] == [CONFIRMED, CONFIRMED]
    assert {line.outcome for line in lines} == {INCONCLUSIVE}


def test_the_level_against_a_part_is_shared():
    """p against = 0.03 refutes a claim of one part and not one of two."""
    p03 = 100 + stats.norm.isf(0.03)
    found = pd.concat(
        [
            table_of(as_written=[normal_mean(p03, 1)]),
            table_of(instance="k", as_written=[normal_mean(90, 1)]),
        ]
    )
    alone = claim("at_most", than=100, **ONE)
    assert outcomes(alone, found) == {"as-written": DIFFERS}
    assert outcomes(claim("at_most", than=100, over=PARTS, **ONE), found) == {
        "as-written": INCONCLUSIVE
    }


def test_parts_may_have_limits_and_rivals_of_their_own():
    found = pd.concat(
        [
            table_of("a", as_written=[normal_mean(100, 1)]),
            table_of("b", as_written=[normal_mean(150, 1)]),
        ]
    )
    row = {"target": "t", "strategy": "a", "statistic": TIME}
    over = [{"name": "b", "than": {"strategy": "b"}}, {"name": "a", "than": {"strategy": "a"}}]
    one = claim("at_most", row=row, than={"strategy": "b"}, over=over, **ONE)
    lines = judged(one, found)["c"].lines
    assert [line.part_outcome for line in lines] == [CONFIRMED, INCONCLUSIVE]
    limits = [{"name": "low", "than": 90.0}, {"name": "high", "than": 110.0}]
    lines = judged(claim("at_most", row=row, than=1, over=limits, **ONE), found)["c"].lines
    assert [line.part_outcome for line in lines] == [DIFFERS, CONFIRMED]


def test_a_reading_may_be_one_of_the_instance_too():
    found = pd.concat(
        [
            table_of(as_written=[normal_mean(50, 1)]),
            table_of(instance="k", as_written=[normal_mean(100, 1)]),
        ]
    )
    readings = ["as-written", {"name": "six arms", "reading": "as-written", "instance": "k"}]
    one = claim(readings=readings, published={"instance": "i"})
    assert verdict(one, found, published_table(**{TIME: 100})) == (BY_READING, "six arms")


# --- verdicts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [(100, 200, BY_TEXT), (200, 100, (BY_READING, "other")), (200, 300, ALL_DIFFER)],
)
def test_verdicts(text, other, expected):
    found = table_of(as_written=[normal_mean(text, 1)], other=[normal_mean(other, 1)])
    assert verdict(claim(), found, published_table(**{TIME: 100})) == expected


def test_a_number_that_one_reading_leaves_open_is_compatible():
    found = table_of(as_written=[normal_mean(200, 1)], other=[normal_mean(100, 15)])
    result = judged(claim(), found, published_table(**{TIME: 100}))["c"]
    assert (result.verdict, result.under) == (COMPATIBLE, "other")


def test_a_verdict_rests_on_the_text_or_else_on_the_nearest_reading():
    readings = ["as-written", "near", "far"]
    published = published_table(**{TIME: 100})

    def under(text, near, far, error):
        means = {"as_written": text, "near": near, "far": far}
        found = table_of(**{name: [normal_mean(mean, error)] for name, mean in means.items()})
        result = judged(claim(readings=readings), found, published)["c"]
        return result.verdict, result.under

    assert under(90, 99, 80, 15) == (COMPATIBLE, "as-written")
    assert under(300, 95, 85, 15) == (COMPATIBLE, "near")
    assert under(300, 110, 150, 0.1) == (ALL_DIFFER, "near")
    assert under(110, 150, 300, 0.1) == (ALL_DIFFER, "as-written")


def test_a_number_that_differs_is_close_if_its_interval_lies_within_the_margin():
    published = published_table(**{TIME: 100})
    for ours, close in ((90, True), (85, False), (82, False), (60, False)):
        found = table_of(as_written=[normal_mean(ours, 1)])
        (line,) = judged(claim(**ONE), found, published)["c"].lines
        assert (line.outcome, line.close) == (DIFFERS, close), ours


def test_in_the_set_are_the_readings_whose_interval_holds_one():
    """The interval that the table shows decides, rounding included."""
    published = published_table(**{TIME: {"value": 100, "n": 400, "half_unit": 2.0}})
    for ours in np.linspace(80, 125, 46):
        found = table_of(as_written=[normal_mean(ours, 3)])
        (line,) = judged(claim(**ONE), found, published)["c"].lines
        assert (line.outcome == DIFFERS) == (not line.ratio_low <= 1.0 <= line.ratio_high), ours


@pytest.mark.parametrize("proven", [True, False])
def test_errs_more_often_is_said_only_if_the_papers_text_is_proven_not_to(proven):
    """Two readings confirm the number; one of them errs too often, and comes first."""
    found = table_of(
        as_written=[normal_mean(200, 1), RIGHT],
        loose=[normal_mean(100, 1), WRONG],
        other=[normal_mean(100, 1), RIGHT],
    )
    one = claim(readings=["as-written", "loose", "other"])
    proofs = [{"strategies": ["s"], "readings": ["as-written"], "where": "docs"}] if proven else []
    result = judged(one, found, published_table(**{TIME: 100}), proven=proofs)["c"]
    assert [line.errs for line in result.lines] == [False, proven, False]
    assert (result.verdict, result.under) == (BY_READING, "other" if proven else "loose")


def test_a_claim_that_the_text_confirms_is_not_said_to_err_as_the_text_does():
    found = table_of(as_written=[normal_mean(100, 1), WRONG], other=[normal_mean(200, 1), WRONG])
    result = judged(claim(), found, published_table(**{TIME: 100}))["c"]
    assert result.verdict == BY_TEXT
    assert not any(line.errs for line in result.lines)


@pytest.mark.parametrize(
    ("fields", "recovered", "basis"),
    [
        ({}, [], TEXT),
        ({}, ["i"], RECOVERED),
        ({}, ["j"], TEXT),
        ({"test": "at_most", "than": 150.0, "substitute": True}, [], SUBSTITUTE),
        ({"as_written": False}, [], NOT_RUN),
    ],
)
def test_only_a_text_that_fixes_the_experiment_confirms_by_itself(fields, recovered, basis):
    one = claim(**fields)
    part = {"instances": recovered, "kinds": ["number"], "what": "delta", "source": "us"}
    found = table_of(as_written=[normal_mean(100, 1)], other=[normal_mean(200, 1)])
    published = published_table(**{TIME: 100})
    result = judged(one, found, published, recovered=[part] if recovered else [])["c"]
    assert result.lines[0].basis == basis
    expected = BY_TEXT if basis == TEXT else BY_READING
    assert (result.verdict, result.under) == (expected, "as-written")


def test_power_is_the_share_of_samples_that_are_confirmed():
    """Normal estimates of one mean, errors of 5% on both sides; alone, and as two of a row.

    Of 150 pairs of samples the share confirmed is at least the power, and for a number alone it is
    the power, up to four standard errors.
    """
    rng = np.random.default_rng(3)
    row = {"target": "t", "instance": "i", "strategy": "s", "statistic": "mean_cost"}
    alone = [claim(**ONE)]
    pair = [claim(group="row", **ONE), claim(group="row", id="d", row=row, **ONE)]
    for claims in (alone, pair):
        confirmed, powers, n = 0, [], 150
        for _ in range(n):
            time, cost, their_time, their_cost = np.exp(0.05 * rng.standard_normal(4))
            ours = [
                normal_mean(100 * time, 5 * time),
                normal_mean(10 * cost, 0.5 * cost, statistic="mean_cost"),
            ]
            published = published_table(**{TIME: 100 * their_time, "mean_cost": 10 * their_cost})
            (result,) = judged(claims, table_of(as_written=ours), published)["c"].lines
            confirmed += result.outcome == CONFIRMED
            powers.append(result.power)
        power = float(np.nanmedian(powers))
        assert 0.2 < power < 0.9
        slack = 4 * math.sqrt(power * (1 - power) / n)
        assert confirmed / n > power - slack
        if claims is alone:
            assert confirmed / n < power + slack


def test_the_first_reading_may_not_be_the_papers_text():
    found = table_of(as_written=[normal_mean(100, 1)], other=[normal_mean(200, 1)])
    one = claim(as_written=False)
    assert verdict(one, found, published_table(**{TIME: 100})) == (BY_READING, "as-written")


def test_numbers_of_one_row_are_credited_together():
    """The time fits the text, the share does not: neither is credited to it."""
    row = {"target": "t", "instance": "i", "strategy": "s", "statistic": "prob_correct"}
    pair = [claim(group="row", id="time"), claim(group="row", id="share", row=row)]
    published = pd.concat(
        [published_table(**{TIME: 100}), published_table(prob_correct={"value": 0.9, "n": 2000})]
    )
    good, bad = proportion("prob_correct", 1800, 2000), proportion("prob_correct", 1000, 2000)
    fits, fails = normal_mean(100, 1), normal_mean(200, 1)
    found = judged(pair, table_of(as_written=[fits, bad], other=[fails, good]), published)
    assert {name: one.verdict for name, one in found.items()} == dict.fromkeys(
        ("time", "share"), COMPATIBLE
    )
    assert found["time"].lines[0].reason == ROW
    found = judged(pair, table_of(as_written=[fails, good], other=[fits, good]), published)
    assert {one.verdict for one in found.values()} == {BY_READING}


def test_a_row_tolerates_what_chance_would_do():
    """p against = 0.03 of one of two numbers: it differs, and the other is credited."""
    row = {"target": "t", "instance": "i", "strategy": "s", "statistic": "prob_correct"}
    pair = [claim(group="row", id="time", **ONE), claim(group="row", id="share", row=row, **ONE)]
    off = math.exp(stats.norm.isf(0.015) * 0.01 * math.sqrt(2))
    published = pd.concat(
        [
            published_table(**{TIME: 100 * off}),
            published_table(prob_correct={"value": 0.9, "n": 2000}),
        ]
    )
    found = table_of(as_written=[normal_mean(100, 1), proportion("prob_correct", 1800, 2000)])
    results = judged(pair, found, published)
    assert results["time"].lines[0].outcome == DIFFERS
    assert results["share"].verdict == BY_TEXT


def test_numbers_of_a_substitute_are_shown_and_not_judged():
    found = table_of(as_written=[normal_mean(100, 1)], other=[normal_mean(200, 1)])
    result = judged(claim(substitute=True), found, published_table(**{TIME: 100}))["c"]
    assert result.verdict == NOT_TESTABLE
    assert result.lines[0].reason == SUBSTITUTE
    assert result.lines[0].ratio == pytest.approx(1.0)
    ordering = claim("at_most", than=150, substitute=True, **ONE)
    assert verdict(ordering, found) == (BY_READING, "as-written")


def test_a_number_below_the_papers_own_bound_has_a_note():
    bound = {"statistic": "lower_bound", "reading": "exact"}
    found = table_of(as_written=[normal_mean(100, 1)], exact=[exact("lower_bound", "pulls", 90.0)])
    for value, below in ((80, True), (89, False)):
        published = published_table(**{TIME: value})
        result = judged(claim(bound=bound, **ONE), found, published)["c"]
        assert result.below_bound == below


def test_an_untestable_claim_says_why():
    one = claim("none", row=None, note="needs data that were not published")
    assert verdict(one, table_of(as_written=[normal_mean(1, 1)])) == NOT_TESTABLE


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


# --- the authors' program -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ((100, 4), released.INSIDE),
        ((130, 4), released.OUTSIDE),
        ((105, 30), released.TOO_FEW),
        (None, released.TOO_FEW),
    ],
)
def test_the_released_program_is_compatible_only_by_a_narrow_interval(program, expected):
    """At most a factor 2 from end to end, both samples counted."""
    rows = {"as_written": [normal_mean(200, 1)]}
    if program:
        rows["program"] = [normal_mean(*program)]
    runs = {"instances": ["i"], "strategies": ["s"], "row": {"target": "t", "reading": "program"}}
    published = published_table(**{TIME: 100})
    for released_for, outcome in ((["s"], expected), (["b"], released.NOT_RELEASED)):
        result = judged(
            claim(**ONE), table_of(**rows), published, program=runs | {"strategies": released_for}
        )["c"]
        assert result.lines[0].program == outcome
        assert result.verdict == ALL_DIFFER  # the program is no reading


def test_a_program_whose_median_is_censored_only_excludes_what_is_sooner():
    beyond = Estimate("median_stopping_time", "steps", math.nan, 80.0, math.inf, 9, "undefined")
    rows = {"as_written": [normal_mean(200, 1, statistic="median_stopping_time")]}
    row = {"target": "t", "strategy": "s", "instance": "i", "statistic": "median_stopping_time"}
    runs = {"instances": ["i"], "strategies": ["s"], "row": {"target": "t", "reading": "program"}}
    for value, expected in (
        (100, released.TOO_FEW),
        (79.8, released.TOO_FEW),  # 80.3 is not excluded
        (70, released.OUTSIDE),
    ):
        published = published_table(median_stopping_time={"value": value, "half_unit": 0.5})
        result = judged(
            claim(row=row, **ONE), table_of(**rows, program=[beyond]), published, program=runs
        )["c"]
        assert result.lines[0].program == expected


# --- the claims file and the verdicts table -----------------------------------------------------


def test_lines_of_the_verdicts_table_show_what_was_compared():
    found = table_of(as_written=[normal_mean(100, 1), WRONG], other=[normal_mean(200, 1), RIGHT])
    published = published_table(**{TIME: {"value": 147620.0, "printed": "147620"}})
    one = claim(statement="It needs {published} pulls.")
    first, second = judged(one, found, published)["c"].lines
    assert (first.published, first.statement) == ("147620", "It needs 147,620 pulls.")
    assert first.ratio == pytest.approx(1476.2)
    assert first.ratio_low < first.ratio_low_ours < first.ratio < first.ratio_high
    assert (first.validity, second.validity) == ("refuted", "not refuted")
    assert first.resolution == pytest.approx(math.expm1(2.8016 * math.sqrt(2) * 0.01), rel=1e-3)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"test": "at_least"}, "than is required by test at_least"),
        ({"test": "none", "note": ""}, "note is required by test none"),
        ({"test": "maybe"}, "test: must be 'equals'"),
        ({"test": "equals", "kind": "ordering"}, "kind must be number for test equals"),
        ({"test": "at_most", "kind": "number", "than": 1}, "a number is tested by equals"),
        ({"test": "none", "note": "x", "verdict": "agrees"}, "verdict: unknown field"),
        ({"readings": "grid"}, "c: no reading set is named grid"),
    ],
)
def test_bad_claims_are_named(tmp_path, fields, said):
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump({"claims": [claim() | fields]}))
    with pytest.raises(InputError) as error:
        read_claims(path)
    assert str(path) in str(error.value)
    assert said in str(error.value)


def test_ids_are_unique_and_groups_share_their_readings(tmp_path):
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump({"claims": [claim(), claim()]}))
    with pytest.raises(InputError, match="repeated id c"):
        read_claims(path)
    pair = [claim(id="a", group="g"), claim(id="b", group="g", readings=["other"])]
    path.write_text(yaml.safe_dump({"claims": pair}))
    with pytest.raises(InputError, match="b: must have the readings of a, its group"):
        read_claims(path)


def test_rows_and_published_numbers_must_be_unique_and_there():
    found = table_of(as_written=[normal_mean(1, 1), normal_mean(2, 1)])
    with pytest.raises(InputError, match="2 rows of t match"):
        judged(claim("at_least", than=0.0, **ONE), found)
    with pytest.raises(InputError, match="0 rows of t match"):
        judged(claim("at_least", than=0.0, readings=["mine"]), found)
    found = table_of(as_written=[normal_mean(1, 1)])
    with pytest.raises(InputError, match="0 published numbers match"):
        judged(claim(**ONE), found, published_table(another=1))
    with pytest.raises(InputError, match="claims name target t, which has no table"):
        judged(claim("at_least", than=0.0, **ONE), {"u": found})


def test_added_readings_are_marked_and_can_be_left_out():
    """In place, so that an added reading may be the first; Holm's method counts only what is in."""
    added = {"added": ["late", {"name": "later", "reading": "other"}]}
    claims = ClaimsFile(claims=[claim(readings=[added, "as-written"])])
    (one,) = claims.claims
    names = [(reading.name, reading.added) for reading in claims.tested_readings(one)]
    assert names == [("late", True), ("later", True), ("as-written", False)]
    assert claims.tested_readings(one)[1].reading == "other"
    assert [reading.name for reading in claims.tested_readings(one, added=False)] == ["as-written"]
    near, far = [normal_mean(100.0, 1.0)], [normal_mean(200.0, 1.0)]
    tables = Tables(
        {"t": table_of(late=near, other=far, as_written=far)}, published_table(**{TIME: 100.0})
    )
    (found,) = judge(claims, tables)
    assert [line.added for line in found.lines] == [True, True, False]
    assert found.under == "late"
    (before,) = judge(claims, tables, added=False)
    assert (before.verdict, before.under) == (ALL_DIFFER, "as-written")


def test_a_verdicts_table_is_read_as_it_was_written(root, tmp_path):
    """Every line, and by lines of each claim the one class that pages and notebooks use."""
    kept = root / "figures/claims.csv"
    lines = table.read_verdicts(kept)
    table.write_verdicts(lines, tmp_path / "claims.csv")
    assert (tmp_path / "claims.csv").read_bytes() == kept.read_bytes()
    of_paper = [line for line in lines if line.paper == "baics"]
    claims = read_claims(root / "data/claims/baics.yaml")
    found = table.judged_claims(claims, of_paper)
    assert [one.claim for one in found] == claims.claims
    assert [line for one in found for line in one.lines] == of_paper
    assert not any(one.verdict for one in table.judged_claims(claims, []))


@pytest.mark.parametrize("text", ["id,colour\nc,red\n", "id\nc\n", ""])
def test_what_is_no_verdicts_table_is_named(tmp_path, text):
    path = tmp_path / "claims.csv"
    if text:
        path.write_text(text)
    with pytest.raises(InputError, match=re.escape(f"{path}: ")) as error:
        table.read_verdicts(path)
    assert "\n" not in str(error.value)


def test_every_column_of_the_verdicts_table_has_a_meaning():
    assert all(table.MEANINGS.values())
