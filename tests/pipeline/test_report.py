"""The computed parts of pages, and that what the findings say of the ledger is so."""

import re

import pandas as pd
import pytest

from bestarm.core.inputs import InputError
from bestarm.pipeline.report import (
    MOST_READINGS,
    PLACE,
    disagreement_table,
    fill,
    findings,
    strategy_table,
    time_table,
    verdict_table,
)


def ledger(readings: int, supported: int) -> pd.DataFrame:
    """One claim that does not hold under the first reading, and holds under reading `supported`."""
    return pd.DataFrame(
        [
            {
                "paper": "p",
                "id": "c",
                "test": "equals",
                "published": 10.0,
                "reading": f"r{k}",
                "ours": k,
                "low": k - 1,
                "high": k + 1,
                "supported": k == supported,
                "verdict": f"reproduced under reading r{supported}",
            }
            for k in range(readings)
        ]
    )


def test_few_readings_are_all_shown():
    text = disagreement_table(ledger(MOST_READINGS, 2))
    assert all(f"r{k} " in text for k in range(MOST_READINGS))


def test_of_many_readings_the_first_and_the_supporting_are_shown():
    text = disagreement_table(ledger(90, 57))
    assert "r0 " in text
    assert "r57 57 [56, 58]" in text
    assert "r1 " not in text


def test_verdicts_under_any_other_reading_are_one_column():
    lines = verdict_table(ledger(3, 1)).splitlines()
    assert lines[-1].split("|")[1:5] == [" p ", " 1 ", " 0 ", " 1 "]


def test_findings_look_their_numbers_up():
    template = "Ours\nis {{p c r1 ours}} ({{p c r1 interval}}), {{p c r1 verdict}}.\n\nNext."
    text = findings(template, ledger(3, 1).assign(ours=[1.0, 12345.0, 3.0]))
    assert text == "Ours is 12,345 (0 to 2), reproduced under reading r1.\n\nNext."


@pytest.mark.parametrize("place", ["{{p c r9 ours}}", "{{p other r1 ours}}", "{{p c r1 colour}}"])
def test_a_number_that_is_not_in_the_ledger_is_named(place):
    with pytest.raises(InputError, match=r"data/claims/findings\.md: .* is not in the ledger"):
        findings(f"It is {place}.", ledger(3, 1))


def test_code_in_findings_is_not_broken():
    command = "`a command of some words that has to stay on a line of its own whatever comes`"
    assert command in findings(f"{'word ' * 12} {command} {'word ' * 12}", ledger(3, 1))


def test_a_missing_mark_is_named():
    with pytest.raises(InputError, match=r"docs/speed\.md: the mark <!-- computed: speed -->"):
        fill("docs/speed.md", "# Speed", {"speed": "x"})


@pytest.fixture(scope="module")
def real(root):
    return pd.read_csv(root / "figures/claims.csv")


def test_findings_hold_no_number_of_their_own(root):
    """Every number is looked up, is part of a name, or is a setting of the paper."""
    text = PLACE.sub("", (root / "data/claims/findings.md").read_text())
    text = re.sub(r"`[^`]+`|10⁻⁴|example 1|d = 5|Lemma 2", "", text)
    assert not re.search(r"\d", text)


def test_the_finding_on_baics_holds(real):
    """T-a-S fits one reading and not the other; the one that fits T-a-SCS breaks the bound."""
    tas = real[real.id == "table1-tas-time"].set_index("reading").supported.astype(str)
    assert tas.to_dict() == {"as-written": "False", "no-half": "True"}
    tascs = real[(real.id == "table1-tascs-time") & (real.supported.astype(str) == "True")]
    assert tascs.reading.tolist() == ["maximiser+no-half"]
    pac = real[real.id == "theorem-4.1-pac-mean"].set_index("reading").loc["maximiser+no-half"]
    assert pac.high < pac.than


def test_the_finding_on_linear_bandits_holds(real):
    """Three widths fit some budget, none fits all, and those of three strategies are invalid."""
    budgets = real[(real.paper == "linear") & real.id.str.startswith("fig5-budget-")]
    fits = budgets[budgets.supported.astype(str) == "True"]
    widths = fits.reading.str.partition("+")[0].groupby(fits.id).agg(set)
    assert len(widths) == budgets.id.nunique()
    assert len(set.union(*widths)) == 3
    assert not set.intersection(*widths)
    for strategy in ("g", "xy-oracle", "xy-adaptive"):
        assert fits[fits.id == f"fig5-budget-{strategy}"].valid.str.startswith("invalid").all()
    printed = budgets[budgets.reading == "2sqrt2*logn+argmin-max"].set_index("id")
    assert printed.ours["fig5-budget-xy"] == 3_000_000


def test_the_finding_on_lagex_holds(real):
    """The median of LAGEX is above that of LATS, and the share that keeps the limits a minority."""
    lines = real[real.reading == "as-written"].set_index("id")
    below = lines.loc["fig5-lagex-below-lats"]
    assert below.ours > below.than
    assert below.verdict == "not reproduced"
    assert lines.high["lemma2-feasible-hard-lagex"] < 0.5
    for environment in ("hard", "easy", "imdb"):
        for strategy in ("lagex", "lats"):
            assert lines.high[f"lemma2-feasible-{environment}-{strategy}"] < 0.5


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
