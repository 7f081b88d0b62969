"""Old names are refused with the new one, wherever a person may use them."""

import pytest

from bestarm import lagex, registry
from bestarm.common.renamed import RENAMED, refusal
from bestarm.common.tables import COLUMNS, read_table
from bestarm.core.inputs import InputError
from bestarm.users.run import Wanted, own_experiment, split_options


def test_new_names_are_known_and_old_ones_are_not():
    readings = {
        name for paper in registry.PAPERS.values() for name in paper.simulation.reading_names()
    }
    for old, new in RENAMED["reading"].items():
        assert new in readings
        assert old not in readings
    assert not set(RENAMED["column"]) & set(COLUMNS)


def test_a_reading():
    said = "released is called released-stop now"
    with pytest.raises(InputError, match=f"^LATS: reading: {said}$"):
        lagex.LATS(n_arms=2, limits=0.5, reading="released")
    with pytest.raises(InputError, match=f"^--reading: {said}$"):
        own_experiment("lagex", "mine", {}, Wanted(readings=["released"]))


def test_a_reading_that_another_paper_has_renamed_is_just_unknown():
    with pytest.raises(InputError, match=r"^--reading: must be one of as-written"):
        own_experiment("baics", "mine", {}, Wanted(readings=["released"]))


def test_an_option(monkeypatch):
    monkeypatch.setitem(RENAMED["option"], "inner-step", "inner-steps")
    with pytest.raises(InputError, match=r"^--inner-step: inner-step is called inner-steps now$"):
        split_options("baics", {"inner_step": "2"})
    with pytest.raises(InputError, match=r"^--inner-step: cbmai has no such option"):
        split_options("cbmai", {"inner_step": "2"})


def test_a_column(monkeypatch, root, tmp_path):
    monkeypatch.setitem(RENAMED["column"], "axis", "x_name")
    old = tmp_path / "old.csv"
    old.write_text((root / "figures/baics/table1.csv").read_text().replace("x_name", "axis", 1))
    with pytest.raises(InputError, match=r"old\.csv: axis is called x_name now$"):
        read_table(old)
    assert refusal("column", "x_name") is None
