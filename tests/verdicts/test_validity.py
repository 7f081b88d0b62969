"""Readings that break their promise are found, and hardly any other, at a stated rate."""

import re
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bestarm import registry
from bestarm.common.paper import Cell
from bestarm.common.tables import assemble, cell_rows
from bestarm.core.estimates import exact, proportion
from bestarm.users import plugins
from bestarm.verdicts.claims import ClaimsFile, read_claims
from bestarm.verdicts.validity import (
    BY_AUTHORS,
    LEVEL,
    NOT_REFUTED,
    PROVEN,
    REFUTED,
    guarantees,
    validities,
)

from .toy_claims import SETTING, claim, normal_mean, table_of


def validity(*tables, **fields):
    found = validities(ClaimsFile(claims=[claim()], **fields), {"t": pd.concat(tables)})
    return found.get(("s", "as-written"), "")


@pytest.mark.parametrize(
    ("errors", "expected"), [(0, NOT_REFUTED), (25, NOT_REFUTED), (60, REFUTED)]
)
def test_errors_beyond_delta_refute(errors, expected):
    assert validity(table_of(as_written=[proportion("error_rate", errors, 200)])) == expected


def test_one_bad_cell_among_many_refutes():
    """p = 3e-5 in one of 40 cells still does, p = 0.001 does not (Holm)."""
    good = [
        table_of(instance=f"i{k}", as_written=[proportion("error_rate", 20, 200)])
        for k in range(39)
    ]
    for errors, expected in ((38, REFUTED), (34, NOT_REFUTED)):
        bad = table_of(instance="bad", as_written=[proportion("error_rate", errors, 200)])
        assert stats.binom.sf(errors - 1, 200, 0.1) < 0.01
        assert validity(*good, bad) == expected


def test_a_cell_that_several_tables_show_counts_once():
    table = table_of(as_written=[proportion("error_rate", 32, 200)])
    alone = validities(ClaimsFile(claims=[claim()]), {"t": table})
    thrice = validities(ClaimsFile(claims=[claim()]), {"t": table, "u": table, "v": table})
    assert alone == thrice == {("s", "as-written"): REFUTED}


def test_capped_runs_have_not_answered():
    for capped, expected in ((0, REFUTED), (40, NOT_REFUTED)):
        cell = [proportion("error_rate", 50, 200), proportion("share_capped", capped, 200)]
        assert validity(table_of(as_written=cell)) == expected


def test_nothing_is_promised_without_delta():
    table = table_of(setting={"budget": 10}, as_written=[proportion("error_rate", 150, 200)])
    assert validity(table) == ""


BOUNDS = [{"target": "t", "strategy": "bound", "statistic": "lower_bound"}]
BOUND = table_of("bound", exact=[exact("lower_bound", "pulls", 100.0)])
FEW = proportion("error_rate", 2, 200)


@pytest.mark.parametrize(
    ("ours", "status", "expected"),
    [
        (90, "", REFUTED),
        (99, "", NOT_REFUTED),
        (120, "", NOT_REFUTED),
        (90, "restricted", NOT_REFUTED),
    ],
)
def test_stopping_sooner_than_any_correct_strategy_refutes(ours, status, expected):
    table = table_of(as_written=[normal_mean(ours, 1, status=status), FEW])
    assert validity(table, BOUND, lower_bounds=BOUNDS) == expected


def test_a_bound_is_for_its_instance_and_delta():
    soon = [normal_mean(50, 1), FEW]
    other_delta = table_of(setting={"delta": 0.01}, as_written=soon)
    other_instance = table_of(instance="k", as_written=soon)
    assert validity(other_delta, other_instance, BOUND, lower_bounds=BOUNDS) == NOT_REFUTED


def test_a_proof_is_worth_nothing_against_runs():
    proven = [{"strategies": ["s"], "readings": ["as-written"], "where": "docs"}]
    fine, broken = (table_of(as_written=[proportion("error_rate", k, 200)]) for k in (2, 60))
    assert validity(fine, proven=proven) == PROVEN
    assert validity(broken, proven=proven) == REFUTED


def cells(**errors):
    """A table of cells with these errors in 200 runs, by instance."""
    return pd.concat(
        table_of(instance=name, as_written=[proportion("error_rate", k, 200)])
        for name, k in errors.items()
    )


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({}, PROVEN),
        ({"t": cells(i=2, j=25)}, PROVEN),
        ({"t": cells(i=60, j=80, k=2)}, "refuted (40% wrong at delta = 0.1)"),
        (
            {"t": pd.concat([table_of(as_written=[normal_mean(90, 1), FEW]), BOUND])},
            "refuted (stops too soon)",
        ),
    ],
)
def test_a_guarantee_is_proven_or_refuted_with_the_clearest_number(tables, expected):
    """Of two bad cells the clearer one; a stop too soon has no share of errors."""
    proven = [{"strategies": ["s", "other"], "readings": ["as-written"], "where": "docs"}]
    bounds = BOUNDS if "too soon" in expected else []
    found = guarantees(ClaimsFile(claims=[claim()], proven=proven, lower_bounds=bounds), tables)
    assert found == {("s", "as-written"): expected, ("other", "as-written"): PROVEN}


def test_a_guarantee_says_whose_proof_it_is_and_when_it_holds():
    proven = [
        {"strategies": ["s"], "readings": ["a"], "where": "docs", "by": "authors"},
        {"strategies": ["s"], "readings": ["b"], "where": "docs", "condition": "not on Sundays"},
    ]
    found = guarantees(ClaimsFile(claims=[claim()], proven=proven), {})
    assert found == {("s", "a"): BY_AUTHORS, ("s", "b"): f"{PROVEN} (not on Sundays)"}


def words_by_class(root):
    """What is said of every ask/tell class at its default reading; empty for nothing."""
    known = {}
    for paper in registry.PAPERS:
        module, found = (
            import_module(f"bestarm.{paper}"),
            read_claims(root / f"data/claims/{paper}.yaml"),
        )
        words, readings = guarantees(found, {}), registry.PAPERS[paper].simulation.readings
        for name in module.__all__:
            strategy = plugins.name_of_ours(getattr(module, name), paper)
            if strategy in readings:
                said = words.get((strategy, readings[strategy].default), "").partition(" (")[0]
                known[f"lagex.{name}" if (paper, name) == ("lagex", "Uniform") else name] = said
    return known


@pytest.mark.parametrize(
    ("page", "least"), [("README.md", 4), ("docs/usage.md", 2), ("docs/live.md", 1)]
)
def test_pages_say_of_promises_what_the_claims_files_do(root, page, least):
    """In rows of tables that name classes."""
    known, checked = words_by_class(root), 0
    for line in (root / page).read_text(encoding="utf-8").splitlines():
        names = [name for name in re.findall(r"`([\w.]+)`", line) if name in known]
        said = re.search("(nothing proved|not proven|none:)|prove[dn]( by their authors)?", line)
        if line.startswith("|") and names and said:
            checked += 1
            for name in names:
                assert bool(known[name]) != bool(said[1]), line
                assert (known[name] == BY_AUTHORS) == bool(said[2]), line
    assert checked >= least


def test_a_strategy_without_proof_or_refutation_has_no_guarantee():
    assert guarantees(ClaimsFile(claims=[claim()]), {"t": cells(i=2)}) == {}


def test_readings_that_err_as_promised_are_refuted_one_time_in_a_hundred():
    """5 cells at an error rate of exactly delta, of 2,000 strategies; binomial bound at 1e-6."""
    errors = np.random.default_rng(2).binomial(200, 0.1, (2000, 5))
    rows = [
        row
        for trial, cells in enumerate(errors)
        for k, wrong in enumerate(cells)
        for row in cell_rows(
            Cell(f"i{k}", f"s{trial}", SETTING, "as-written"),
            [proportion("error_rate", int(wrong), 200)],
        )
    ]
    found = list(validities(ClaimsFile(claims=[claim()]), {"t": assemble(rows)}).values())
    assert len(found) == len(errors)
    assert found.count(REFUTED) <= stats.binom.isf(1e-6, len(errors), LEVEL)


def test_what_is_said_to_be_proven_is_in_the_documentation(root):
    """Every proof in a claims file names a section that is there."""
    from bestarm import registry
    from bestarm.publish.site.texts import slug

    for paper in registry.PAPERS:
        for proof in read_claims(root / f"data/claims/{paper}.yaml").proven:
            path, _, anchor = proof.where.partition("#")
            headings = [line for line in (root / path).read_text().splitlines() if line[:1] == "#"]
            assert anchor in {slug(heading.lstrip("# ")) for heading in headings}, proof.where
