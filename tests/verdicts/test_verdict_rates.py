"""The rule for published numbers keeps its stated error rates, on claims of known truth."""

import pandas as pd
import pytest
from scipy import stats

from bestarm.verdicts.verdict_rates import APART, NUMBERS, READINGS, factors, jobs, rates


@pytest.fixture(scope="module")
def kept(root):
    return pd.read_csv(root / "data/verdict-rates/rates.csv")


def exceeds(share: float, claims: int, limit: float) -> bool:
    """Whether a share is above a limit by more than chance explains once in 100,000 tables."""
    return stats.binom.sf(round(share * claims) - 1, claims, limit) < 1e-5


def test_the_true_reading_is_in_the_set_in_95_of_100_cases(kept):
    true = kept[kept.apart == 0.0]
    assert len(true) == len(READINGS) * len(NUMBERS)
    assert not any(exceeds(1.0 - row.first_in_set, row.claims, 0.05) for row in true.itertuples())


def test_a_number_that_is_20_percent_off_or_more_is_confirmed_in_5_of_100_cases(kept):
    for row in kept[kept.apart >= 0.2].itertuples():
        assert not exceeds(row.confirmed, row.claims, 0.05), row


def test_what_is_twofold_off_differs_and_what_is_30_percent_off_mostly(kept):
    assert (kept[kept.apart == 1.0].set_empty == 1.0).all()
    assert (kept[(kept.apart == 0.3) & (kept.readings == 1)].set_empty > 0.9).all()


def test_the_rule_confirms_what_is_true_as_often_as_its_power_says(kept):
    """Of a number alone as often, up to 6 points; in a row of several at least as often."""
    for row in kept[kept.apart == 0.0].itertuples():
        assert row.first_confirmed > 0.1
        if row.numbers == 1:
            assert row.first_confirmed == pytest.approx(row.power, abs=0.06), row
        else:
            assert row.first_confirmed > row.power - 0.04, row


def test_the_table_has_a_row_per_job_and_its_rows_come_out_again(kept):
    assert len(kept) == len(list(jobs())) == len(APART) * len(READINGS) * len(NUMBERS)
    again = rates(0.0, 1, 1, 200)
    row = kept[(kept.apart == 0.0) & (kept.readings == 1) & (kept.numbers == 1)].iloc[0]
    for name in ("first_in_set", "confirmed"):
        seen, rate = round(again[name] * 200), row[name]
        assert stats.binomtest(seen, 200, rate).pvalue > 1e-6, name


def test_readings_are_off_in_both_directions():
    assert factors(0.0, 3) == [1.0, 1 / 1.3, 1.3]
    assert factors(0.2, 2) == [1.2, 1 / 1.2]
