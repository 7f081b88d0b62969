"""README's computed tables, on a ledger made for it."""

import pandas as pd

from bestarm.pipeline.report import MOST_READINGS, disagreement_table, verdict_table


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
