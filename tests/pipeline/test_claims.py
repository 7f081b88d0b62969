"""The ledger: each kind of test on numbers made for it, and verdicts that can go either way."""

import math

import pandas as pd
import pytest
from scipy import stats

from bestarm.core.estimates import exact, mean, proportion
from bestarm.core.inputs import InputError, load
from bestarm.pipeline import claims
from bestarm.pipeline.claims import Claim, Ledger, Tables, holm, judge, judge_all
from bestarm.pipeline.model import Cell
from bestarm.pipeline.tables import assemble, cell_rows

SETTING = {"delta": 0.1}


def normal_mean(centre, error, n=10_000):
    """A mean estimate with a given standard error."""
    e = mean("mean_stopping_time", "pulls", [0.0, 1.0])
    half = error * stats.norm.ppf(0.975)
    return e.__class__(e.statistic, "pulls", centre, centre - half, centre + half, n)


def tables(**estimates):
    """A table "t" with one estimate list a reading; the bound is under reading `exact`."""
    rows = []
    for reading, found in estimates.items():
        name = reading.replace("_", "-")
        rows += cell_rows(Cell("i", "s", SETTING, name), found)
    return Tables({"t": assemble(rows).astype({"x": float, "value": float})})


def claim(test, **fields):
    defaults = {
        "id": "c",
        "where": "Table 1",
        "statement": "so it is",
        "row": {"target": "t", "statistic": "mean_stopping_time", "strategy": "s"},
        "readings": ["as-written", "other"],
    }
    return Claim(test=test, **(defaults | fields))


def published(value, n=10_000, half_unit=0.0):
    return {"value": value, "n": n, "half_unit": half_unit, "precision": "table"}


def verdict(claim, tables):
    return judge(claim, tables)[0]["verdict"]


def test_equal_numbers_are_reproduced():
    found = tables(as_written=[normal_mean(100, 1)], other=[normal_mean(200, 1)])
    assert verdict(claim("equals", published=published(101)), found) == "reproduced"


def test_a_match_under_another_reading_says_which():
    found = tables(as_written=[normal_mean(100, 1)], other=[normal_mean(200, 1)])
    line = judge(claim("equals", published=published(200)), found)
    assert line[0]["verdict"] == "reproduced under reading other"
    assert [one["supported"] for one in line] == [False, True]


def test_no_match_is_not_reproduced():
    found = tables(as_written=[normal_mean(100, 1)], other=[normal_mean(200, 1)])
    assert verdict(claim("equals", published=published(150)), found) == "not reproduced"


def test_a_number_that_is_undefined_under_every_reading_tests_nothing():
    """As a ratio of error rates is, where too few runs err."""
    nothing, something = normal_mean(math.nan, 1), normal_mean(5, 1)
    inequality = claim("at_least", than=0.5)
    assert verdict(inequality, tables(as_written=[nothing], other=[nothing])) == "not testable"
    found = tables(as_written=[nothing], other=[something])
    assert verdict(inequality, found) == "reproduced under reading other"


def test_the_papers_own_sampling_error_counts():
    """With equal runs the difference has sqrt(2) times our error; with few, far more."""
    found = tables(as_written=[normal_mean(100, 1)])
    only = {"readings": ["as-written"]}
    edge = stats.norm.ppf(0.975) * math.sqrt(2)
    for factor, expected in ((0.99, "reproduced"), (1.01, "not reproduced")):
        one = claim("equals", published=published(100 + factor * edge), **only)
        assert verdict(one, found) == expected
    assert verdict(claim("equals", published=published(110, n=100), **only), found) == "reproduced"


def test_rounding_counts():
    found = tables(as_written=[exact("mean_stopping_time", "pulls", 0.4667)])
    only = {"readings": ["as-written"]}
    ok = claim("exact", published=published(0.47, n=None, half_unit=0.005), **only)
    wrong = claim("exact", published=published(0.48, n=None, half_unit=0.005), **only)
    assert verdict(ok, found) == "reproduced"
    assert verdict(wrong, found) == "not reproduced"


def test_shares_use_the_wilson_interval_of_the_paper():
    found = tables(as_written=[proportion("prob_correct", 300, 300)])
    row = {"target": "t", "statistic": "prob_correct"}
    for value, expected in ((0.99, "reproduced"), (0.9, "not reproduced")):
        one = claim("equals", row=row, published=published(value, n=300), readings=["as-written"])
        assert verdict(one, found) == expected


@pytest.mark.parametrize(
    ("test", "than", "expected"),
    [
        ("at_least", 95.0, "reproduced"),
        ("at_least", 99.0, "not reproduced"),  # above, but not surely
        ("at_least", 105.0, "not reproduced"),
        ("at_most", 105.0, "reproduced"),
        ("at_most", 101.0, "not reproduced"),
    ],
)
def test_inequalities_need_more_than_their_error(test, than, expected):
    found = tables(as_written=[normal_mean(100, 1)])
    assert verdict(claim(test, than=than, readings=["as-written"]), found) == expected


def test_two_rows_are_compared_with_both_errors():
    found = tables(as_written=[normal_mean(100, 3), exact("lower_bound", "pulls", 94)])
    than = {"target": "t", "statistic": "lower_bound"}
    one = claim("at_least", than=than, readings=["as-written"])
    assert verdict(one, found) == "reproduced"


def test_readings_tried_beside_the_papers_are_corrected_for():
    """p = 0.03 would do alone; as one of two readings beside the text it does not."""
    p03 = 100 - stats.norm.isf(0.03)
    found = tables(
        as_written=[normal_mean(50, 1)], other=[normal_mean(100, 1)], third=[normal_mean(50, 1)]
    )
    three = ["as-written", "other", "third"]
    assert verdict(claim("at_least", than=p03, readings=three), found) == "not reproduced"
    alone = ["other"]
    assert verdict(claim("at_least", than=p03, readings=alone), found) == "reproduced"


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_a_published_value_below_the_papers_bound_contradicts_it():
    bound = {"target": "t", "statistic": "lower_bound", "reading": "exact"}
    found = tables(as_written=[normal_mean(100, 1)], exact=[exact("lower_bound", "pulls", 90.0)])
    only = {"bound": bound, "readings": ["as-written"]}
    below = claim("equals", published=published(80), **only)
    assert verdict(below, found) == "contradicts the paper's own bound"
    within_error = claim("equals", published=published(89), **only)
    assert verdict(within_error, found) == "not reproduced"


def test_a_reading_that_errs_more_than_delta_is_flagged():
    rows = {
        "as_written": [normal_mean(100, 1), proportion("error_rate", 5, 100)],
        "other": [normal_mean(100, 1), proportion("error_rate", 30, 100)],
    }
    lines = judge(claim("equals", published=published(100)), tables(**rows))
    assert [line["valid"] for line in lines] == ["valid", "invalid: errs more than delta"]


def test_a_verdict_prefers_a_reading_that_keeps_its_confidence():
    wrong, right = proportion("error_rate", 30, 100), proportion("error_rate", 5, 100)
    rows = {
        "as_written": [normal_mean(200, 1), right],
        "loose": [normal_mean(100, 1), wrong],
        "other": [normal_mean(100, 1), right],
    }
    one = claim("equals", published=published(100), readings=["as-written", "loose", "other"])
    assert verdict(one, tables(**rows)) == "reproduced under reading other"
    rows["other"] = [normal_mean(200, 1), right]
    said = "reproduced under reading loose, which errs more than delta"
    assert verdict(one, tables(**rows)) == said


def test_an_untestable_claim_says_why():
    one = claim("none", row=None, note="needs data that were not published")
    (line,) = judge(one, tables(as_written=[normal_mean(1, 1)]))
    assert (line["verdict"], line["note"]) == ("not testable", one.note)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"test": "equals"}, "published is required by test equals"),
        ({"test": "at_least"}, "than is required by test at_least"),
        ({"test": "none", "note": ""}, "note is required by test none"),
        ({"test": "maybe"}, "test: must be 'equals'"),
        ({"test": "none", "note": "x", "verdict": "reproduced"}, "verdict: unknown field"),
    ],
)
def test_bad_claims_are_named(tmp_path, fields, said):
    import yaml

    base = {
        "id": "c",
        "where": "w",
        "statement": "s",
        "readings": ["r"],
        "row": {"target": "t", "statistic": "m"},
    }
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump({"claims": [base | fields]}))
    with pytest.raises(InputError) as error:
        load(Ledger, path)
    assert str(path) in str(error.value)
    assert said in str(error.value)


def test_rows_must_be_unique_and_there(tmp_path):
    found = tables(as_written=[normal_mean(1, 1), normal_mean(2, 1)])
    with pytest.raises(InputError, match="2 rows of t match"):
        judge(claim("at_least", than=0.0, readings=["as-written"]), found)
    with pytest.raises(InputError, match="0 rows of t match"):
        judge(claim("at_least", than=0.0, readings=["mine"]), found)


def test_committed_ledger_is_what_the_committed_tables_say(root, tmp_path):
    """figures/claims.csv is computed, never typed."""
    from bestarm.pipeline import registry
    from bestarm.pipeline.tables import read_table

    parts = []
    for paper in registry.PAPERS:
        names = [t.name for t in registry.room(paper, "experiments").TARGETS]
        found = {n: read_table(root / f"figures/{paper}/{n}.csv") for n in names}
        parts.append(judge_all(paper, root / f"data/claims/{paper}.yaml", found))
    claims.write_ledger(pd.concat(parts), tmp_path / "claims.csv")
    assert (tmp_path / "claims.csv").read_bytes() == (root / "figures/claims.csv").read_bytes()
