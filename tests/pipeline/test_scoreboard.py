"""Totals by kind, what each reading supports, and their pictures."""

import pandas as pd
import pytest

from bestarm.common.tables import read_table
from bestarm.pipeline import overview, registry, verdicts
from bestarm.pipeline.claims import Tables, read_published
from bestarm.pipeline.looks import LOOKS
from bestarm.pipeline.scoreboard import MARGINS, expected_false_alarms, headline, scorecard
from bestarm.pipeline.verdicts import AS_WRITTEN, NOT_TESTABLE, OTHER_READING, VERDICTS

COUNTS = ["agrees", "refuted", "differs", "cannot_tell", "claims"]


@pytest.fixture(scope="module")
def ledger(root):
    return pd.read_csv(root / "figures/claims.csv")


def lines(*rows):
    """A ledger of (id, kind, reading, outcome, credited, validity, verdict)."""
    names = ("id", "kind", "reading", "outcome", "credited", "validity", "verdict")
    table = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    return table.assign(paper="p", validity_than="")


TOY = lines(
    ("a", "number", "text", "agrees", True, "", AS_WRITTEN),
    ("a", "number", "other", "differs", False, "", AS_WRITTEN),
    ("b", "number", "text", "differs", False, "", OTHER_READING),
    ("b", "number", "other", "agrees", True, "refuted", OTHER_READING),
    ("c", "ordering", "text", "cannot tell", False, "", "cannot tell"),
    ("d", "number", "text", "not testable", False, "", NOT_TESTABLE),
    ("e", "number", "text", "agrees", False, "", "cannot tell"),
)


def test_totals_by_hand():
    counts = headline({1.0: TOY}).set_index(["kind", "verdict"]).claims
    assert counts["number", AS_WRITTEN] == counts["number", OTHER_READING] == 1
    assert counts["ordering", "cannot tell"] == 1
    assert counts["guarantee"].sum() == 0
    assert expected_false_alarms(TOY) == (4, pytest.approx(0.2))


def test_a_scorecard_by_hand():
    found = scorecard(TOY).set_index(["reading", "kind"])[COUNTS]
    assert found.loc["text", "number"].tolist() == [1, 0, 1, 1, 3]
    assert found.loc["other", "number"].tolist() == [1, 1, 1, 0, 2]
    assert found.loc["text", "ordering"].tolist() == [0, 0, 0, 1, 1]


def judge_at(root):
    """The ledgers of all papers, by their factor on margins."""
    parts = {margins: [] for margins in MARGINS}
    for paper in registry.PAPERS:
        names = list(registry.PAPERS[paper].targets)
        tables = {n: read_table(root / f"figures/{paper}/{n}.csv") for n in names}
        known = Tables(tables, read_published(root / f"data/published/{paper}.csv"))
        ledger = root / f"data/claims/{paper}.yaml"
        for margins, found in verdicts.judge_paper(ledger, known, parts).items():
            parts[margins].append(found)
    return {margins: pd.concat(found) for margins, found in parts.items()}


def test_what_is_committed_is_what_the_committed_tables_say(root, tmp_path):
    """figures/claims.csv, headline.csv and scorecard.csv are computed, never typed."""
    found = judge_at(root)
    verdicts.write_ledger(found[1.0], tmp_path / "claims.csv")
    from bestarm.pipeline import scoreboard

    scoreboard.write(headline(found), tmp_path / "headline.csv")
    scoreboard.write(scorecard(found[1.0]), tmp_path / "scorecard.csv")
    for name in ("claims", "headline", "scorecard"):
        kept = (root / f"figures/{name}.csv").read_bytes()
        assert (tmp_path / f"{name}.csv").read_bytes() == kept, name


def test_totals_are_those_of_the_ledger(root, ledger):
    totals = pd.read_csv(root / "figures/headline.csv")
    assert set(totals.margins) == set(MARGINS)
    claims = ledger.drop_duplicates(["paper", "id"])
    for margins, of_margins in totals.groupby("margins"):
        assert of_margins.claims.sum() == len(claims), margins
    counts = claims.groupby(["paper", "kind", "verdict"]).size()
    of_plan = totals[totals.margins == 1.0].set_index(["paper", "kind", "verdict"]).claims
    assert of_plan[of_plan > 0].to_dict() == counts.to_dict()


def test_readings_of_a_comparison_have_as_many_runs(ledger):
    """None survives by a wider interval; kept tables and computed numbers aside."""
    sampled = ledger[ledger.kind.eq("number") & ~ledger.substitute & ledger.n.gt(0)]
    runs = sampled.groupby(["paper", "id"]).n.nunique()
    assert runs[runs > 1].empty


def test_verdicts_are_told_apart_without_colour():
    assert set(LOOKS) == set(VERDICTS)
    for columns in zip(
        *[(k.sign, (k.marker, k.fill), k.label) for k in LOOKS.values()], strict=True
    ):
        assert len(set(columns)) == len(VERDICTS)


def test_the_forest_has_a_mark_for_every_number(ledger):
    numbers = ledger[ledger.kind.eq("number") & ledger.ratio.notna()].drop_duplicates(
        ["paper", "id"]
    )
    figure = overview.forest(ledger)
    urls = [
        url
        for axes in figure.axes
        for mark in axes.collections
        for url in mark.get_urls() or []
        if url
    ]
    assert sorted(urls) == sorted(f"{r.paper}.html#claim-{r.id}" for r in numbers.itertuples())


def test_a_forest_without_numbers_says_so(ledger):
    figure = overview.forest(ledger[ledger.kind != "number"])
    assert "no number" in figure.texts[0].get_text()


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_scorecards_draw_their_table(root, paper):
    table = pd.read_csv(root / "figures/scorecard.csv")
    figure = overview.scorecard(table, paper)
    rows = table[table.paper == paper]
    assert len(figure.axes) == rows.kind.nunique()
    drawn = figure.axes[0].get_yticklabels()
    assert len(drawn) == min(rows.reading.nunique(), overview.MOST_READINGS)
