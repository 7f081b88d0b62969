"""Tables: one order, one format, and a way back."""

import pandas as pd
import pytest

from bestarm.common.paper import Cell
from bestarm.common.tables import (
    COLUMNS,
    assemble,
    cell_rows,
    comparison_rows,
    published_rows,
    read_table,
    with_instances,
    write_table,
)
from bestarm.core.estimates import Estimate, exact
from bestarm.core.inputs import InputError

CELL = Cell("i", "s", {"delta": 0.1, "cap": None}, "r", {"step": 0.5}, "step", 0.5)


def test_a_row():
    (row,) = cell_rows(CELL, [exact("lower_bound", "pulls", 2.0)])
    assert row["strategy"] == "s step=0.5"
    assert row["setting"] == "cap=none,delta=0.1"
    assert row["algorithm"] == "s"
    assert (row["delta"], row["cap"], row["step"]) == (0.1, None, 0.5)
    assert list(assemble([row]).columns) == [*COLUMNS, "delta", "cap", "step"]


def test_a_comparison_names_both_strategies():
    (row,) = comparison_rows(Cell("i", "a", {}, "r"), "b", [exact("ratio", "", 2.0)], family="f")
    assert row["strategy"] == "a / b"
    assert (row["algorithm"], row["other"], row["family"]) == ("a", "b", "f")


def test_instances_say_their_family_and_parameters():
    """Where a row does not; and of instances that nothing is known of, nothing."""
    known = {"family": "f", "name": "f d=2", "parameters": {"d": 2.0}}
    rows = cell_rows(Cell("f d=2", "s", {}, "r"), [exact("a", "", 1.0)])
    rows += cell_rows(Cell("f d=2", "s", {}, "r"), [exact("b", "", 1.0)], family="mine", d=3.0)
    rows += cell_rows(Cell("all f", "s", {}, "r"), [exact("c", "", 1.0)])
    table = with_instances(assemble(rows), {"f d=2": {"instance": known}})
    assert table.family.tolist() == ["f", "mine", ""]
    assert table.d.fillna(0.0).tolist() == [2.0, 3.0, 0.0]


def test_what_is_aside_is_in_no_table():
    row = cell_rows(CELL, [exact("a", "", 1.0)], experiment="e")
    assert "experiment" not in assemble(row)


def test_rows_are_sorted_and_rounded_and_come_back(tmp_path):
    path = tmp_path / "t.csv"
    rows = cell_rows(
        CELL,
        [
            Estimate("z", "pulls", 1 / 3, float("nan"), 1e9 / 7, 3, "undefined"),
            Estimate("a", "", 2.0, 1.0, 3.0, 3),
        ],
    )
    write_table(assemble(rows), path)
    assert path.read_text().splitlines() == [
        ",".join([*COLUMNS, "delta", "step"]),  # no cap: no column
        'i,s step=0.5,"cap=none,delta=0.1",r,step,0.5,a,,2,1,3,3,,,s,,0.1,0.5',
        'i,s step=0.5,"cap=none,delta=0.1",r,step,0.5,z,pulls,0.333333,,1.42857e+08,3,undefined,'
        ",s,,0.1,0.5",
    ]
    again = tmp_path / "again.csv"
    write_table(read_table(path), again)
    assert again.read_bytes() == path.read_bytes()


def test_order_of_rows_does_not_matter(tmp_path):
    rows = cell_rows(CELL, [exact(n, "", 1.0) for n in "abc"])
    write_table(assemble(rows), tmp_path / "1")
    write_table(assemble(rows[::-1]), tmp_path / "2")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_published_rows():
    published = pd.DataFrame(
        {
            "target": ["t", "u"],
            "instance": "i",
            "strategy": "s",
            "statistic": "m",
            "unit": "pulls",
            "value": [1.0, 2.0],
            "n": 300,
        }
    )
    table = assemble(published_rows(published.assign(cap=5.0), "t"))
    assert list(table.columns) == COLUMNS
    assert table.value.tolist() == [1.0]
    assert table.reading.tolist() == table.status.tolist() == ["published"]


def test_no_table(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv"):
        read_table(tmp_path / "none.csv")
