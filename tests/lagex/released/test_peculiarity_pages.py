"""What is said of programs without a peculiarity follows from medians, intervals and counts."""

import numpy as np
import pytest

from bestarm.common.paper import Cell
from bestarm.common.tables import assemble, cell_rows, write_table
from bestarm.core.estimates import Estimate, proportion, undefined
from bestarm.lagex.cells import SHORT
from bestarm.lagex.released import peculiarity_pages
from bestarm.lagex.released.peculiarity_pages import (
    peculiarity_table,
    peculiarity_text,
    planned_table,
)
from bestarm.lagex.released.program import PROGRAMS, SWITCHED_OFF, can_be_without, reading_without
from bestarm.lagex.released.runs import EASY_NAME, PLANS

#: Value, interval and runs of LAGEX by what is switched off; the published median is 1000.
LAGEX = {
    "": (900.0, 800.0, 1100.0, 100),
    "tight": (300.0, 250.0, 400.0, 20),
    "distance": (1200.0, 1000.0, 1300.0, 20),
    "rescale": (2000.0, 1101.0, np.inf, 20),
    "start": (np.nan, 4000.0, np.inf, 20),
}


@pytest.fixture
def project(root, tmp_path):
    """A folder with a table in which LAGEX has some variants and the others are as released."""
    rows = []
    for name in PROGRAMS:
        for without in SWITCHED_OFF:
            if not can_be_without(name, without):
                continue
            value, low, high, n = LAGEX.get(without, (np.nan, np.nan, np.nan, 0))
            if name != "LAGEX" and without:
                n = 0
            found = [undefined("median_stopping_time", "steps", 0)]
            if n:
                found = [Estimate("median_stopping_time", "steps", value, low, high, n)]
                found.append(proportion("share_capped", n // 2 if np.isnan(value) else 0, n))
            rows += cell_rows(Cell(EASY_NAME, name, SHORT, reading_without(without)), found)
        for reading, value in (("published", 1000.0), ("as-written", 400.0)):
            found = [Estimate("median_stopping_time", "steps", value, value, value, 500)]
            rows += cell_rows(Cell(EASY_NAME, name, {}, reading), found)
    write_table(assemble(rows), tmp_path / "figures/lagex/peculiarities.csv")
    programs = (root / "figures/lagex/programs.csv").read_bytes()
    (tmp_path / "figures/lagex/programs.csv").write_bytes(programs)
    return tmp_path


def test_medians_that_moved_are_those_whose_intervals_are_apart(project):
    said = " ".join(peculiarity_text(project).split())
    assert (
        "LAGEX: switching off exact tight rows (sooner), gains × 0.01 (later) and random start "
        "(later) moves the interval away from that as released" in said
    )
    assert "It holds the published median with nothing and L1 projection switched off" in said
    assert "Not run so far without the game's own fₜ and all of these" in said
    assert "- LATS: not run without any of its peculiarities so far." in said


def test_nothing_may_have_moved(project):
    table = peculiarity_pages.read(project)
    moved = table.reading.isin([reading_without(name) for name in ("tight", "rescale", "start")])
    table.loc[moved, ["value", "low", "high"]] = 950.0, 700.0, 990.0
    write_table(table, project / "figures/lagex/peculiarities.csv")
    said = " ".join(peculiarity_text(project).split())
    assert "LAGEX: whatever is switched off, the interval overlaps that as released" in said


def test_the_table_has_a_line_per_variant(project):
    lines = peculiarity_table(project).splitlines()[2:]
    cells = sum(can_be_without(name, without) for name in PROGRAMS for without in SWITCHED_OFF)
    assert len(lines) == cells
    assert "| LAGEX | nothing | 900 | 800 to 1,100 | 100 | 0% | 1,000 | 400 |" in lines
    assert "| LAGEX | gains × 0.01 | 2,000 | 1,101 or more | 20 | 0% | 1,000 | 400 |" in lines
    assert "| LAGEX | random start | beyond the cap | 4,000 or more | 20 | 50% | 1,000 | 400 |" in (
        lines
    )
    assert "| PTnS | exact tight rows | not run | none | 0 | – | 1,000 | 400 |" in lines


def test_planned_runs_are_counted_by_environment_and_program(project):
    """Of what is in the tables of the figures; a program that lacks a peculiarity has a dash."""
    head, _, *lines = planned_table(project).splitlines()
    assert head == f"| environment | δ | {' | '.join(PROGRAMS)} |"
    assert len(lines) == len(PLANS)
    by_name = {tuple(line.strip("| ").split(" | ")[:2]): line for line in lines}
    planned = {plan.without: plan.runs for plan in PLANS if plan.instance == EASY_NAME}
    assert f"| 100 of {planned['']} |" in by_name["easy", "0.01"]
    tight = by_name["easy; switched off: exact tight rows", "0.01"]
    assert tight.split(" | ")[2:4] == [f"20 of {planned['tight']}", f"0 of {planned['tight']}"]
    assert by_name["easy; switched off: gains × 0.01", "0.01"].count("–") == len(PROGRAMS) - 1
    assert by_name["setup 2 hard", "0.1"].count("| 0 of ") == len(PROGRAMS)
