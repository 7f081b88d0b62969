"""Each rule of docs/analysis-plan.md decides both ways on toy ledgers, at stated error rates."""

import math

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from bestarm.common.evidence import CAPPED
from bestarm.core.estimates import exact, mean, proportion, undefined
from bestarm.core.inputs import InputError
from bestarm.pipeline import verdicts
from bestarm.pipeline.claims import Ledger, Tables, read_ledger
from bestarm.pipeline.validity import holm
from bestarm.pipeline.verdicts import (
    AGREES,
    ALL_DIFFER,
    AS_WRITTEN,
    BROKEN_PROMISE,
    CANNOT_TELL,
    DIFFERS,
    NOT_TESTABLE,
    OTHER_READING,
    OURS,
    PUBLISHED,
    ROW,
    SUBSTITUTE,
    WITHIN_MARGIN,
)

from .ledgers import (
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


# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "expected"),
    [(100, AGREES), (105, WITHIN_MARGIN), (150, DIFFERS), (66, DIFFERS)],
)
def test_a_number_agrees_or_differs_within_or_beyond_the_margin(published, expected):
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
    (result,) = judged(claim(**ONE), found, published)["c"].results
    assert (result.outcome, result.reasons) == ((CANNOT_TELL, [why]) if why else (AGREES, [""]))


def test_two_values_that_a_paper_has_of_a_number_tell_how_well_it_knows_it():
    found = table_of(as_written=[normal_mean(100, 1)])
    for own_error, expected in ((math.nan, DIFFERS), (0.001, DIFFERS), (0.25, CANNOT_TELL)):
        published = published_table(**{TIME: {"value": 150, "own_error": own_error}})
        assert outcomes(claim(**ONE), found, published) == {"as-written": expected}


def test_readings_tried_are_corrected_for_in_favour_and_not_against():
    """p for = 0.03 agrees alone and not as one of three; p against = 0.03 differs always."""
    s = 0.05
    edge = math.log(1.2) - stats.norm.isf(0.03) * s * math.sqrt(2)
    agreeing = normal_mean(100 * math.exp(-edge), 100 * math.exp(-edge) * s / math.sqrt(1))
    agreeing = normal_mean(agreeing.value, s * agreeing.value)
    far = normal_mean(500, 1)
    published = published_table(**{TIME: 100})
    found = table_of(as_written=[far], other=[agreeing], third=[far])
    differs = abs(edge) / (s * math.sqrt(2)) > 1.96
    assert not differs
    assert outcomes(claim(readings=["other"]), found, published)["other"] == AGREES
    three = claim(readings=["as-written", "other", "third"])
    assert outcomes(three, found, published)["other"] == CANNOT_TELL


def test_half_and_double_margins():
    found = table_of(as_written=[normal_mean(100, 0.5)])
    published = published_table(**{TIME: {"value": 112, "n": 60}})
    for margins, expected in ((0.5, CANNOT_TELL), (2.0, AGREES)):
        assert judged(claim(**ONE), found, published, margins)["c"].results[0].outcome == expected


def test_shares_are_compared_by_their_difference():
    row = {"target": "t", "instance": "i", "strategy": "s", "statistic": "prob_correct"}
    found = table_of(as_written=[proportion("prob_correct", 1940, 2000)])
    for value, expected in ((0.97, AGREES), (0.9, DIFFERS), (0.945, WITHIN_MARGIN)):
        published = published_table(prob_correct={"value": value, "n": 2000})
        assert outcomes(claim(row=row, **ONE), found, published) == {"as-written": expected}


def test_a_margin_of_its_own_needs_a_reason():
    found = table_of(as_written=[normal_mean(16, 0.1)])
    published = published_table(**{TIME: {"value": 15, "half_unit": 0.5}})
    own = claim(scale="difference", margin=2.0, note="of few pulls", **ONE)
    assert outcomes(own, found, published) == {"as-written": WITHIN_MARGIN}
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
    differ = {a: r.get(DIFFERS, 0) + r.get(WITHIN_MARGIN, 0) for a, r in rates.items()}
    assert differ[1.0] <= most
    assert rates[1.3].get(AGREES, 0) <= most
    assert rates[2.0].get(AGREES, 0) == 0
    assert differ[2.0] == 1.0
    assert rates[1.0].get(AGREES, 0) > 0.5  # and the rule has power
    assert differ[1.1] > differ[1.0]


def test_runs_of_ours_that_are_said_to_settle_it_do():
    published = published_table(**{TIME: {"value": 103, "n": 10**7}})
    found = table_of(as_written=[normal_mean(100, 12, n=100)])
    (comparison,) = judged(claim(**ONE), found, published)["c"].results[0].comparisons
    needed = verdicts._runs_needed(comparison, 1)
    more = table_of(as_written=[normal_mean(100, 12 * math.sqrt(100 / needed), n=int(needed))])
    assert outcomes(claim(**ONE), more, published)["as-written"] != CANNOT_TELL


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
    assert verdict(claim(), found, published) == (OTHER_READING, "other")


def test_a_capped_mean_only_shows_that_a_number_is_too_small():
    for ours, expected in ((200, DIFFERS), (100, CANNOT_TELL), (50, CANNOT_TELL)):
        found = table_of(as_written=[normal_mean(ours, 1, status="restricted")])
        (result,) = judged(claim(**ONE), found, published_table(**{TIME: 100}))["c"].results
        assert result.outcome == expected
        assert result.reasons == ([""] if expected == DIFFERS else [CAPPED])


def test_means_capped_alike_are_compared():
    setting = {"cap": 500, "delta": 0.1}
    found = table_of(setting=setting, as_written=[normal_mean(100, 1, status="restricted")])
    alike, unlike = ({"value": 100, "cap": cap} for cap in (500, 600))
    assert outcomes(claim(**ONE), found, published_table(**{TIME: alike}))["as-written"] == AGREES
    unlike = published_table(**{TIME: unlike})
    assert outcomes(claim(**ONE), found, unlike)["as-written"] == CANNOT_TELL


@pytest.mark.parametrize(
    ("test", "capped", "ours", "expected"),
    [
        ("at_least", "ours", 200, AGREES),
        ("at_least", "ours", 50, CANNOT_TELL),
        ("at_most", "ours", 50, CANNOT_TELL),
        ("at_most", "ours", 200, DIFFERS),
        ("at_least", "other", 200, CANNOT_TELL),
        ("at_least", "other", 50, DIFFERS),
        ("at_most", "other", 50, AGREES),
        ("at_most", "other", 200, CANNOT_TELL),
        ("at_least", "both", 200, CANNOT_TELL),
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
    assert outcomes(claim("at_least", than=100, **ONE), found) == {"as-written": AGREES}
    assert outcomes(claim("at_most", than=100, **ONE), found) == {"as-written": DIFFERS}
    assert outcomes(claim("at_most", than=300, **ONE), found) == {"as-written": CANNOT_TELL}
    ratio = normal_mean(0.5, 0.01, status="restricted", statistic="time_ratio")
    row = {"target": "t", "statistic": "time_ratio"}
    found = table_of(as_written=[ratio])  # which of its two means was capped is not known
    assert outcomes(claim("at_most", row=row, than=1, **ONE), found) == {"as-written": CANNOT_TELL}


# --- orderings, guarantees, identities ----------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "than", "expected"),
    [
        ("at_least", 95, AGREES),
        ("at_least", 99, CANNOT_TELL),
        ("at_least", 105, DIFFERS),
        ("at_most", 105, AGREES),
        ("at_most", 101, CANNOT_TELL),
        ("at_most", 95, DIFFERS),
        ("about", 102, AGREES),
        ("about", 150, DIFFERS),
        ("about", 119, CANNOT_TELL),
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
    assert outcomes(claim("at_least", than=sampled, **ONE), found) == {"as-written": CANNOT_TELL}
    assert outcomes(claim("at_least", than=known, **ONE), found) == {"as-written": AGREES}


def test_a_guarantee_is_tested_exactly():
    """Of 90 runs none errs: 0.95^90 = 0.0099; of 50, 0.077."""
    row = {"target": "t", "statistic": "error_rate"}
    for n, errors, expected in ((90, 0, AGREES), (50, 0, CANNOT_TELL), (90, 12, DIFFERS)):
        found = table_of(as_written=[proportion("error_rate", errors, n)])
        one = claim("at_most", kind="guarantee", row=row, than=0.05, **ONE)
        assert outcomes(one, found) == {"as-written": expected}


def test_no_run_is_refuted_by_one():
    row = {"target": "t", "statistic": "share_slower"}
    for n, slower, expected in ((400, 0, AGREES), (100, 0, CANNOT_TELL), (10_000, 1, DIFFERS)):
        found = table_of(as_written=[proportion("share_slower", slower, n)])
        assert outcomes(claim("never", row=row, **ONE), found) == {"as-written": expected}


def test_an_identity_is_rounded_as_printed():
    found = table_of(exact=[exact(TIME, "pulls", 0.4667)])
    for value, expected in ((0.47, AS_WRITTEN), (0.48, ALL_DIFFER)):
        published = published_table(**{TIME: {"value": value, "half_unit": 0.005}})
        assert verdict(claim("exact", readings=["exact"]), found, published) == expected


def test_a_computed_number_is_no_number_of_the_kind():
    found = table_of(as_written=[exact(TIME, "pulls", 100.0)])
    with pytest.raises(InputError, match="c: row is computed, so kind must be identity"):
        judged(claim(**ONE), found, published_table(**{TIME: 100}))


def test_runs_that_all_tie_show_no_ordering():
    found = table_of(as_written=[normal_mean(1.0, 0.0)])
    assert outcomes(claim("at_most", than=1.0, **ONE), found) == {"as-written": CANNOT_TELL}


def test_the_papers_text_against_its_own_figure():
    """Published medians are compared with our spread, at the paper's number of runs."""
    found = pd.concat(
        [
            table_of("a", as_written=[normal_mean(50, 1)]),
            table_of("b", as_written=[normal_mean(60, 1)]),
        ]
    )
    for b, expected in ((101, CANNOT_TELL), (150, AGREES), (70, DIFFERS)):
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
    [(95, AGREES), (100.5, CANNOT_TELL), (120, DIFFERS)],
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
    result = judged(one, found)["c"].results[0]
    assert result.outcomes == [AGREES, AGREES]
    assert result.outcome == CANNOT_TELL


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
        "as-written": CANNOT_TELL
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
    (result,) = judged(claim("at_most", row=row, than={"strategy": "b"}, over=over, **ONE), found)[
        "c"
    ].results
    assert result.outcomes == [AGREES, CANNOT_TELL]
    limits = [{"name": "low", "than": 90.0}, {"name": "high", "than": 110.0}]
    (result,) = judged(claim("at_most", row=row, than=1, over=limits, **ONE), found)["c"].results
    assert result.outcomes == [DIFFERS, AGREES]


def test_a_reading_may_be_one_of_the_instance_too():
    found = pd.concat(
        [
            table_of(as_written=[normal_mean(50, 1)]),
            table_of(instance="k", as_written=[normal_mean(100, 1)]),
        ]
    )
    readings = ["as-written", {"name": "six arms", "reading": "as-written", "instance": "k"}]
    one = claim(readings=readings, published={"instance": "i"})
    assert verdict(one, found, published_table(**{TIME: 100})) == (OTHER_READING, "six arms")


# --- verdicts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ((100, RIGHT), (200, RIGHT), AS_WRITTEN),
        ((200, RIGHT), (100, RIGHT), (OTHER_READING, "other")),
        ((200, RIGHT), (100, WRONG), (BROKEN_PROMISE, "other")),
        ((200, RIGHT), (300, RIGHT), ALL_DIFFER),
        ((100, WRONG), (200, RIGHT), AS_WRITTEN),  # its validity is shown beside it
    ],
)
def test_verdicts(text, other, expected):
    found = table_of(
        as_written=[normal_mean(text[0], 1), text[1]], other=[normal_mean(other[0], 1), other[1]]
    )
    assert verdict(claim(), found, published_table(**{TIME: 100})) == expected


def test_a_mixture_of_different_and_open_cannot_be_told():
    found = table_of(as_written=[normal_mean(200, 1)], other=[normal_mean(100, 15)])
    assert verdict(claim(), found, published_table(**{TIME: 100})) == CANNOT_TELL


def test_a_reading_that_keeps_its_promise_goes_first():
    found = table_of(
        as_written=[normal_mean(200, 1), RIGHT],
        loose=[normal_mean(100, 1), WRONG],
        other=[normal_mean(100, 1), RIGHT],
    )
    one = claim(readings=["as-written", "loose", "other"])
    assert verdict(one, found, published_table(**{TIME: 100})) == (OTHER_READING, "other")


def test_an_ordering_of_strategies_that_break_their_promise_says_so():
    found = pd.concat(
        [
            table_of(as_written=[normal_mean(200, 1), RIGHT], other=[normal_mean(100, 1), RIGHT]),
            table_of(
                "b", as_written=[normal_mean(150, 1), RIGHT], other=[normal_mean(150, 1), WRONG]
            ),
        ]
    )
    one = claim("at_most", than={"strategy": "b"})
    assert verdict(one, found) == (BROKEN_PROMISE, "other")


def test_the_first_reading_may_not_be_the_papers_text():
    found = table_of(as_written=[normal_mean(100, 1)], other=[normal_mean(200, 1)])
    one = claim(as_written=False)
    assert verdict(one, found, published_table(**{TIME: 100})) == (OTHER_READING, "as-written")


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
        ("time", "share"), CANNOT_TELL
    )
    assert found["time"].results[0].reasons == [ROW]
    found = judged(pair, table_of(as_written=[fails, good], other=[fits, good]), published)
    assert {one.verdict for one in found.values()} == {OTHER_READING}


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
    assert results["time"].results[0].outcome == WITHIN_MARGIN
    assert results["share"].verdict == AS_WRITTEN


def test_numbers_of_a_substitute_are_shown_and_not_judged():
    found = table_of(as_written=[normal_mean(100, 1)], other=[normal_mean(200, 1)])
    result = judged(claim(substitute=True), found, published_table(**{TIME: 100}))["c"]
    assert result.verdict == NOT_TESTABLE
    assert result.results[0].reasons == [SUBSTITUTE]
    assert result.results[0].comparisons[0].ratio[0] == pytest.approx(1.0)
    assert verdict(claim("at_most", than=150, substitute=True, **ONE), found) == AS_WRITTEN


def test_a_number_below_the_papers_own_bound_has_a_note():
    bound = {"statistic": "lower_bound", "reading": "exact"}
    found = table_of(as_written=[normal_mean(100, 1)], exact=[exact("lower_bound", "pulls", 90.0)])
    for value, below in ((80, True), (89, False)):
        published = published_table(**{TIME: value})
        (result,) = judged(claim(bound=bound, **ONE), found, published)["c"].results
        assert result.comparisons[0].below_bound == below


def test_an_untestable_claim_says_why():
    one = claim("none", row=None, note="needs data that were not published")
    assert verdict(one, table_of(as_written=[normal_mean(1, 1)])) == NOT_TESTABLE


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


# --- the ledger ---------------------------------------------------------------------------------


def test_lines_of_the_ledger_show_what_was_compared():
    found = table_of(as_written=[normal_mean(100, 1), WRONG], other=[normal_mean(200, 1), RIGHT])
    published = published_table(**{TIME: {"value": 147620.0, "printed": "147620"}})
    ledger = Ledger(claims=[claim(statement="It needs {published} pulls.")])
    lines = verdicts.lines_of("p", *verdicts.judge(ledger, Tables({"t": found}, published)))
    assert lines.columns.tolist() == verdicts.COLUMNS
    first = lines.iloc[0]
    assert (first.published, first.statement) == ("147620", "It needs 147,620 pulls.")
    assert first.ratio == pytest.approx(1476.2)
    assert first.ratio_low < first.ratio_low_ours < first.ratio < first.ratio_high
    assert lines.validity.tolist() == ["refuted", "not refuted"]
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
        read_ledger(path)
    assert str(path) in str(error.value)
    assert said in str(error.value)


def test_ids_are_unique_and_groups_share_their_readings(tmp_path):
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump({"claims": [claim(), claim()]}))
    with pytest.raises(InputError, match="repeated id c"):
        read_ledger(path)
    pair = [claim(id="a", group="g"), claim(id="b", group="g", readings=["other"])]
    path.write_text(yaml.safe_dump({"claims": pair}))
    with pytest.raises(InputError, match="b: must have the readings of a, its group"):
        read_ledger(path)


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
