"""The sentences that captions begin with: computed, and true whichever way the numbers fall."""

import doctest
import importlib

import numpy as np
import pandas as pd
import pytest

from bestarm import registry
from bestarm.arena import pictures
from bestarm.bai import findings as bai
from bestarm.baics import findings as baics
from bestarm.cbmai import findings as cbmai
from bestarm.common import findings as shared
from bestarm.common.tables import pick, read_table
from bestarm.lagex import findings as lagex
from bestarm.lagex.released.plots import LINES
from bestarm.linear import findings as linear
from bestarm.publish import overview

#: What a picture gives to a sentence, if it is not its whole table.
DRAWN = {
    ("linear", "stopping"): lambda t: (
        t.assign(log=t.reading.str.extract(r"\*(log\w*)\+", expand=False)),
    ),
    ("linear", "readings"): lambda t: (t.value.gt(3.0).to_numpy(), t.value.gt(9.0).to_numpy()),
    ("delayed", "mixture"): lambda t: (pick(t, statistic="time_ratio"),),
    ("lagex", "theorems"): lambda t: (t[t.statistic.str.startswith("sides_ratio:")],),
    ("lagex", "certified"): lambda t: (t, 0.1),
    ("lagex", "peculiarities"): lambda t: (
        t[t.reading.isin(LINES) & t.statistic.eq("median_stopping_time")],
    ),
    ("lagex", "sensitivity"): lambda t: (
        t.assign(line="as-written", environment=t.index),
        t.value.rename_axis("environment") + 1.0,
    ),
}
SENTENCES = [
    (paper, target)
    for paper, its in registry.PAPERS.items()
    for target in its.targets
    if hasattr(importlib.import_module(f"bestarm.{paper}.findings"), target.replace("-", "_"))
]


@pytest.mark.parametrize(("paper", "target"), SENTENCES)
def test_a_sentence_changes_with_the_numbers_of_its_table(paper, target, root):
    sentence = getattr(
        importlib.import_module(f"bestarm.{paper}.findings"), target.replace("-", "_")
    )
    arguments = DRAWN.get((paper, target), lambda table: (table,))
    table = read_table(root / f"figures/{paper}/{target}.csv")
    factors = 1.0 + np.arange(len(table)) % 7 / 4.0
    scaled = table.assign(**table[["value", "low", "high"]].mul(factors, axis=0))
    negated = table.assign(value=-table.value, low=-table.high, high=-table.low)
    first, *others = (sentence(*arguments(t)) for t in (table, scaled, negated))
    assert set(others) != {first}
    assert "nan" not in first
    assert first.endswith(".")


def rows(**columns) -> pd.DataFrame:
    """Rows of a table; a column that is not given is empty."""
    empty = dict.fromkeys(("instance", "strategy", "reading", "status", "algorithm", "other"), "")
    return pd.DataFrame({**empty, **columns})


def test_a_bound_that_holds_and_one_that_fails():
    def said(largest: float) -> str:
        names = ["tracking_error", "tracking_error:largest"]
        return baics.tracking(rows(statistic=names, value=[0.1, largest], n=[400, 0]))

    assert said(0.5).startswith("In 400 runs Eq. (12) always holds: ")
    assert said(1.5).startswith("In 400 runs Eq. (12) fails at least once: ")


def test_rules_that_err_more_often_than_delta_are_counted():
    def said(low: float) -> str:
        return baics.boundary(
            rows(
                statistic="wrong_stops",
                reading=["as-written", "proven"],
                value=[0.3, low + 0.01],
                low=[0.2, low],
                delta=0.1,
            )
        )

    assert said(0.05).endswith("6% at δ = 0.1, with 95% confidence above δ in no case.")
    assert said(0.15).endswith("16% at δ = 0.1, with 95% confidence above δ in 1 case.")


def test_no_reading_that_is_compatible_errs():
    alike = np.array([True, False])
    assert linear.readings(alike, ~alike).endswith(
        "the rules of none of these err more often than δ."
    )
    assert linear.readings(alike, alike).endswith("the rules of 1 of these err more often than δ.")


def test_a_limit_inside_and_outside_an_interval():
    def said(limit: float) -> str:
        exponents = rows(
            statistic="marginal_exponent",
            strategy=["USLP", "SFSR"],
            x=[9000, 4000],
            value=[3e-4, 1e-3],
            low=[2e-4, 9e-4],
            high=[4e-4, 2e-3],
        )
        bound = rows(statistic=["exponent_limit"], strategy="USLP at most", value=limit)
        return cbmai.decay(pd.concat([exponents, bound]))

    assert "Theorem 2's limit of 0.3 is in its interval; " in said(3e-4)
    assert "Theorem 2's limit of 0.5 is outside its interval; " in said(5e-4)


def test_a_difference_either_way_or_none():
    """Below 0 the first strategy errs less often, above 0 more often, else neither."""
    said = cbmai.random_instances(
        rows(
            statistic=["error_difference"] * 4,
            algorithm="SFSR",
            other="USLP",
            low=[-0.2, -0.3, 0.1, -0.1],
            high=[-0.1, -0.2, 0.2, 0.1],
        )
    )
    assert said.startswith("SFSR errs less often than USLP on 2 of 4 random instances and more "
                           "often on 1; ")  # fmt: skip


def test_examples_of_what_sentences_share():
    assert doctest.testmod(shared).failed == 0


def test_published_values_are_beside_both_readings():
    """As written first; then the other reading, or of each value the one that comes nearest."""
    table = rows(
        statistic=["time"] * 3, instance="i", strategy="S",
        reading=["published", "as-written", "other"], value=[100.0, 300.0, 90.0],
    )  # fmt: skip
    assert shared.beside_published(table, "time", "Times") == (
        "Times are 3 times the published ones as written, and 0.9 times under the nearest reading."
    )
    assert shared.beside_published(table, "time", "Times", "other", "with others").endswith(
        "3 times the published ones as written, and 0.9 times with others."
    )


def test_statements_that_all_hold():
    assert lagex.theorems(rows(value=[1.0, 1.0])) == "2 of 2 ratios are 1, as the statements say."
    assert lagex.theorems(rows(value=[1.0, 0.5])).endswith("say, the others 0.5.")


def test_programs_without_runs_of_a_peculiarity():
    released = rows(strategy=["LAGEX"], reading="program", value=100.0)
    assert lagex.peculiarities(released) == "No run without a peculiarity has been made."
    without = released.assign(reading="program-without-sum", value=50.0)
    said = lagex.peculiarities(pd.concat([released, without]))
    assert said.endswith("0.5 times that of the program, larger in 0 of 1 cases.")


def test_control_rules_next_to_a_tie():
    table = rows(
        statistic="wrong_stops", reading=["as-written", "proven"], value=[0.3, 0.0],
        low=[0.2, 0.0], delta=0.1,
    )  # fmt: skip
    assert bai.boundary(table) == (
        "Next to a tie the rules as written err in up to 30% of runs, with 95% confidence above "
        "δ = 0.1 in 1 of 1 cases; with a proven threshold in no run."
    )


def test_who_wins_the_arena_most_often():
    def said(*places: str) -> str:
        return pictures.most_often(
            pd.DataFrame({"strategy": ["A", "B", "A"], "place": places}), "least mean", 2
        )

    assert said("winner", "winner", "winner") == (
        "Most often, in 2 of 2 columns, the least mean is that of A."
    )
    assert said("winner", "winner", "").endswith(
        "in 1 of 2 columns, the least mean is that of A and B."
    )
    assert said("", "", "tied") == "No rule wins."


def test_the_reading_that_confirms_most_claims():
    table = pd.DataFrame(
        {"reading": ["text", "other"], "confirmed": [3, 2], "errs": [2, 0], "differs": 1, "open": 0,
         "claims": 4}
    )  # fmt: skip
    assert overview.best_reading(table) == (
        "Reading other confirms most claims, 2 of the 4 tested under it, and contradicts 1."
    )
    none = table.assign(confirmed=0, errs=0)
    assert overview.best_reading(none) == "No reading confirms a claim."
