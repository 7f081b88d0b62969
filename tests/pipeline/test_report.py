"""The computed parts of pages, and that what the findings say of the ledger is so."""

import re

import pandas as pd
import pytest

from bestarm.core.inputs import InputError
from bestarm.pipeline import registry
from bestarm.pipeline.findings import PLACE, as_markdown, bars, filled, read_findings
from bestarm.pipeline.report import INLINE, PAGES, fill, read_ledger
from bestarm.pipeline.report_speed import (
    command_table,
    growth_table,
    import_table,
    peer_table,
    speed_table,
    strategy_table,
    suite_table,
    time_table,
)
from bestarm.pipeline.report_verdicts import (
    MOST_READINGS,
    differs_table,
    headline_text,
    settle_table,
    verdict_table,
)
from bestarm.pipeline.scoreboard import headline
from bestarm.pipeline.verdicts import (
    AS_WRITTEN,
    CANNOT_TELL,
    NOT_TESTABLE,
    OTHER_READING,
    VERDICTS,
)


def ledger(readings: int, agreeing: int) -> pd.DataFrame:
    """One number that its first reading does not give, and reading `agreeing` does."""
    return pd.DataFrame(
        [
            {
                "paper": "p",
                "id": "c",
                "kind": "number",
                "statement": "so it is",
                "published": "147620",
                "reading": f"r{k}",
                "ours": k,
                "low": k - 1,
                "high": k + 1,
                "n": 100,
                "outcome": "agrees" if k == agreeing else "differs",
                "reason": None,
                "verdict": OTHER_READING,
                "under": f"r{agreeing}",
            }
            for k in range(readings)
        ]
    )


def test_few_readings_are_all_shown():
    text = differs_table(ledger(MOST_READINGS, 2), "p")
    assert all(f"r{k} " in text for k in range(MOST_READINGS))
    assert "147620" in text


def test_of_many_readings_the_first_and_the_agreeing_are_shown():
    text = differs_table(ledger(90, 57), "p")
    assert "r0 0 [-1, 1] differs" in text
    assert "r57 57 [56, 58] agrees" in text
    assert "r1 " not in text
    assert f"{OTHER_READING}: `r57`" in text


def test_what_would_settle_a_claim_names_the_runs():
    open_ = ledger(2, 5).assign(verdict=CANNOT_TELL, reason=["ours", "published"])
    text = settle_table(open_.assign(runs_needed=[2500.0, None]), "p")
    assert "2,500 runs of ours instead of 100; the paper's own sample" in text
    assert settle_table(ledger(2, 1), "p") == "Nothing is open."


def totals(**counts) -> pd.DataFrame:
    """Claims that are numbers, so many with each verdict."""
    rows = [
        {"paper": "p", "id": f"{verdict}{k}", "kind": "number", "verdict": verdict}
        for verdict, count in counts.items()
        for k in range(count)
    ]
    return headline({1.0: pd.DataFrame(rows)})


def test_the_headline_speaks_of_numbers_first_and_counts_them_all():
    counts = dict(zip(VERDICTS, (1, 2, 0, 4, 5, 6), strict=True))
    text = " ".join(headline_text(totals(**counts), real_like()).split())
    assert text.startswith(
        "**Of 12 published numbers that can be tested 1 agrees as written, 2 under another "
        "reading, none only under a reading that breaks its own promise, 4 differ under every "
        "reading we tried, and 5 cannot be told. 6 more cannot be tested.** | claims | "
    )
    assert "| published numbers | 1 | 2 | 0 | 4 | 5 | 6 |" in text
    assert "| orderings and trends | 0 | 0 | 0 | 0 | 0 | 0 |" in text


def real_like() -> pd.DataFrame:
    return ledger(2, 1)


def test_the_table_of_verdicts_has_a_line_per_paper_and_kind():
    counts = {AS_WRITTEN: 3, NOT_TESTABLE: 1}
    *_, line = verdict_table(totals(**counts)).splitlines()
    assert line == "| p | number | 4 | 3 | 0 | 0 | 0 | 0 | 1 |"


def test_findings_look_their_numbers_up():
    template = "Ours is {{p c r1 ours}} ({{p c r1 interval}}) for {{p c r1 published}}."
    text = filled(template, ledger(3, 1).assign(ours=[1.0, 12345.0, 3.0]))
    assert text == "Ours is 12,345 (0 to 2) for 147,620."


@pytest.mark.parametrize("place", ["{{p c r9 ours}}", "{{p other r1 ours}}", "{{p c r1 colour}}"])
def test_a_number_that_is_not_in_the_ledger_is_named(place):
    with pytest.raises(InputError, match=r"data/claims/findings\.yaml: .* is not in the ledger"):
        filled(f"It is {place}.", ledger(3, 1))


def test_numbers_within_a_sentence_are_made_anew():
    text = "The paper prints <!-- ledger: p c r1 published -->9<!-- end --> pulls."
    filled = fill("docs/applied-studies.md", text, {}, ledger(3, 1))
    assert filled == text.replace(">9<", ">147,620<")
    with pytest.raises(InputError, match=r"docs/applied-studies\.md: p c r9 ours"):
        fill("docs/applied-studies.md", text.replace("r1 published", "r9 ours"), {}, ledger(3, 1))


def test_code_in_findings_is_not_broken(root):
    command = "a command of some words that has to stay on a line of its own whatever comes"
    long = read_findings(root)[0].model_copy(update={"check": command, "text": "word " * 12})
    assert f"`{command}`" in as_markdown([long], ledger(3, 1))


def test_marks_of_a_finding_are_shares_of_the_largest(root):
    marks = [("ours", "{{p c r1 ours}}"), ("published", "{{p c r1 published}}")]
    finding = read_findings(root)[0].model_copy(update={"marks": marks})
    ours, published = bars(finding, ledger(3, 1).assign(ours=73810.0))
    assert ours == ("ours", "73,810", 0.5)
    assert published == ("published", "147,620", 1.0)


def test_a_missing_mark_is_named():
    with pytest.raises(InputError, match=r"findings\.md: the mark <!-- computed: verdicts -->"):
        fill("docs/findings.md", "# Findings", {"verdicts": "x"}, ledger(3, 1))


def test_a_mark_that_nothing_fills_is_named():
    text = "<!-- computed: colours -->\n<!-- end -->"
    with pytest.raises(InputError, match=r"studies\.md: the mark <!-- computed: colours -->"):
        fill("docs/applied-studies.md", text, {"colours": "x"}, ledger(3, 1))


@pytest.fixture(scope="module")
def real(root):
    return read_ledger(root / "figures/claims.csv")


def test_findings_hold_no_number_of_their_own(root):
    """Every number is looked up, is part of a name, or is a setting of the paper."""
    for one in read_findings(root):
        text = PLACE.sub("", f"{one.headline} {one.text} {one.unit} {one.marks}")
        assert not re.search(r"\d", re.sub(r"example 1|d = 5", "", text))


def test_no_published_number_is_typed(root):
    """Published numbers of three digits or more stand in prose only where they are looked up.

    Ends of boxes and whiskers, which no claim is about and many of them round, do not count.
    """
    values = [
        str(printed or value)
        for paper in registry.PAPERS
        for target, value, printed in pd.read_csv(
            root / f"data/published/{paper}.csv", dtype=str, keep_default_na=False
        )[["target", "value", "printed"]].itertuples(index=False)
        if not target.endswith(" boxes")
    ]
    telling = {v for v in values if len(re.sub(r"\D", "", v).lstrip("0")) >= 3}
    telling |= {f"{int(v):,}" for v in telling if v.isdigit()}
    for page in [*PAGES, "docs/design.md", "docs/usage.md"]:
        text = (root / page).read_text()
        text = re.sub(r"<!-- computed: .*?<!-- end -->|```.*?```", "", text, flags=re.DOTALL)
        text = INLINE.sub("", text)
        found = set(re.findall(r"(?<![\w.,])\d[\d,.]*\d%?(?![\w])", text)) & telling
        assert not found, f"{page}: {found}"


def test_the_first_paragraph_of_the_readme_holds(real):
    """Most orderings agree under some reading, most published numbers under none."""
    verdicts = real.drop_duplicates(["paper", "id"])
    verdicts = verdicts[verdicts.verdict != NOT_TESTABLE]
    agree = verdicts.verdict.isin([AS_WRITTEN, OTHER_READING]).groupby(verdicts.kind).mean()
    assert agree["ordering"] > 0.5 > agree["number"]


def test_measured_commands_have_their_costs_and_others_a_dash():
    names = ["command: a", "command: b", "command: other"]
    bench = pd.DataFrame({"measure": names, "value": [42.0, 3000.0, 1.0], "machine": "M"})
    bench = bench.assign(peak_mb=[712.0, 2345.0, 1.0], disk_mb=[float("nan"), 2300.0, 1.0])
    bench = bench.assign(processor_s=[80.0, float("nan"), 1.0])
    table = command_table(bench, {"a": "x", "b": "y", "c": "z"}).splitlines()
    assert table[2:5] == [
        "| `a` | x | 42 s | 80 s | 712 MB | – |",
        "| `b` | y | 50 min | – | 2.3 GB | 2.3 GB |",
        "| `c` | z | – | – | – | – |",
    ]
    assert table[-1] == "Machine: M."


def test_the_finding_on_baics_holds(real):
    """T-a-S fits one reading and not the other; the one that fits T-a-SCS breaks the bound."""
    tas = real[real.id == "table1-tas-time"].set_index("reading").outcome
    assert tas.to_dict() == {"as-written": "differs", "no-half": "agrees"}
    tascs = real[(real.id == "table1-tascs-time") & (real.outcome == "agrees")]
    assert tascs.reading.tolist() == ["maximiser+no-half"]
    pac = real[real.id == "theorem-4.1-pac-mean"].set_index("reading").loc["maximiser+no-half"]
    assert pac.high < pac.than


def test_the_finding_on_linear_bandits_holds(real):
    """No budget surely agrees; near ones use three widths, refuted for three strategies."""
    budgets = real[(real.paper == "linear") & real.id.str.startswith("fig5-budget-")]
    assert "agrees" not in set(budgets.outcome)
    near = budgets[(budgets.outcome == "cannot tell") & (budgets.reason != "capped")]
    widths = near.reading.str.partition("+")[0].groupby(near.id).agg(set)
    assert len(set.union(*widths)) == 3
    for strategy in ("g", "xy-oracle", "xy-adaptive"):
        assert (near[near.id == f"fig5-budget-{strategy}"].validity == "refuted").all()
    printed = budgets[budgets.reading == "2sqrt2*logn+argmin-max"].set_index("id")
    assert printed.ours["fig5-budget-xy"] == 3_000_000


def test_the_finding_on_lagex_holds(real):
    """Medians below the bound; mixtures that keep the limits are a minority; not before LATS."""
    short = real[real.id == "fig5-possible"]
    assert short.part.iloc[0] == "LAGEX"
    assert short.ours.iloc[0] < short.than.iloc[0]
    assert (short.verdict == "differs under every reading").all()
    first = real[(real.id == "fig7-lagex-first") & (real.reading == "as-written")]
    assert first.set_index("part").part_outcome["LATS"] == "differs"
    feasible = real[real.id.isin(["lemma2-feasible-lagex", "lemma2-feasible-lats"])]
    assert (feasible[feasible.reading == "as-written"].high < 0.5).all()
    assert feasible.part.iloc[0] == "hard, 7 arms"


def test_machines_are_named_by_row_where_they_differ():
    bench = pd.DataFrame(
        {
            "measure": ["p, paper scale", "q, paper scale", "q: a strategy"],
            "value": [1.0, 2.0, 3.0],
            "unit": ["s", "s", "us a pull"],
            "how": "",
            "machine": ["A, 2 cores", "B, 2 cores", "A, 2 cores"],
        }
    )
    assert time_table(bench[:1]).endswith("\n\nMachine: A, 2 cores.")
    *_, first, second = time_table(bench).splitlines()
    assert (first.split("|")[-2], second.split("|")[-2]) == (" A, 2 cores ", " B, 2 cores ")


def test_machines_are_those_of_the_rows_that_are_shown():
    """A strategy is shown on one line for several measurements, and commands in another order."""
    names = ["p: A on x", "p: A on y", "q: B on z", "command: two", "command: one"]
    bench = pd.DataFrame(
        {"measure": names, "value": [1.0, 2.0, 3.0, 4.0, 5.0], "machine": list("IIAIA")}
    ).assign(unit="us a pull", peak_mb=1.0, disk_mb=1.0, processor_s=1.0)
    lines = strategy_table(bench).splitlines()[2:]
    assert [line.split("|")[-2].strip() for line in lines] == ["I", "A"]
    commands = dict.fromkeys(("one", "two", "three"), "does")
    lines = command_table(bench, commands).splitlines()[2:]
    assert [line.split("|")[-2].strip() for line in lines] == ["A", "I", "–"]


def test_a_strategy_is_shown_where_it_takes_least_and_most():
    names = ["p: A, read on x on y, n=1", "p: A, read on z, n=2", "p: B on z, n=2", "p: peak"]
    bench = pd.DataFrame(
        {
            "measure": names,
            "value": [1.0, 2.0, 3.0, 900.0],
            "unit": ["us a pull", "us a pull", "us a pull", "MB"],
            "machine": "M",
        }
    )
    lines = strategy_table(bench).splitlines()
    assert lines[2] == "| p | A, read | 1 | 2 | us a pull | z, n=2 |"
    assert lines[3] == "| p | B | 3 | 3 | us a pull | z, n=2 |"
    assert lines[4:] == ["", "Machine: M."]


def test_growth_and_peers_have_tables_of_their_own():
    """A time that grows as the square from 10 us at 100 is 1 ms at 1,000."""
    names = [f"growth: p: s, as-written: L = 2: K={k}" for k in (5, 10, 100)]
    bench = pd.DataFrame(
        {
            "measure": [*names, "peer: p: a swap: scipy, SLSQP", "p: s on i, cap=5"],
            "value": [3.0, 0.1, 10.0, 250.0, 7.0],
            "unit": ["us a pull"] * 3 + ["times our time", "us a pull"],
            "how": ["h"] * 3 + ["1 us, theirs 250 us per solution", "h"],
            "machine": "M",
            "pulls_per_second": float("nan"),
            "peak_mb": float("nan"),
        }
    )
    row = growth_table(bench).splitlines()[2]
    assert "K = 5, 10, 100 at L = 2 | 3, 0.1, 10 | pull | 2.0 | K = 1,000 |" in row
    row = peer_table(bench).splitlines()[2]
    assert row == "| p | a swap | scipy, SLSQP | 250 | 1 us, theirs 250 us per solution |"
    for table in (speed_table(bench), strategy_table(bench)):
        assert "K=5" not in table
        assert "swap" not in table
        assert len(table.splitlines()) == 5
    falling = bench.assign(value=[10.0, 9.0, 8.0, 1.0, 1.0])
    assert growth_table(falling).splitlines()[2].endswith("| beyond 100,000 |")
    assert growth_table(bench[4:]) == peer_table(bench[4:]) == "Not measured."
    assert import_table(bench) == suite_table(bench) == "Not measured."


def test_the_slowest_tests_have_a_table_of_their_own():
    bench = pd.DataFrame(
        {
            "measure": ["tests: all", "tests: slowest, 1", "quick scale from nothing"],
            "value": [600.0, 7.0, 7.0],
            "unit": "s",
            "how": ["9 tests on 2 cores", "tests.a: test_b[c]", "h"],
            "machine": "M",
            "pulls_per_second": float("nan"),
            "peak_mb": float("nan"),
        }
    )
    assert suite_table(bench).splitlines()[2:] == [
        "| all | 10 min | 9 tests on 2 cores |",
        "| slowest, 1 | 7 s | tests.a: test_b[c] |",
        "",
        "Machine: M.",
    ]
    for table in (speed_table(bench), time_table(bench)):
        assert "test_b" not in table
