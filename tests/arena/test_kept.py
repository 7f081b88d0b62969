"""Rows of the arena's tables are kept while nothing they depend on changes."""

import shutil

import pandas as pd
import pytest
import yaml

from bestarm.arena import cells, entries, submissions, table
from bestarm.common import codehash
from bestarm.common.files import data_folder
from parsing import meaning

MINE = {
    "name": "Mine",
    "strategy": "mine.py:Mine",
    "papers": ["delayed"],
    "promise": "proven",
    "reference": "here",
    "licence": "MIT",
}


def forget():
    """What is remembered of files as they were."""
    cells.submitted_cells.cache_clear()
    codehash.code_hash.cache_clear()


@pytest.fixture(autouse=True)
def copies(tmp_path, monkeypatch):
    """Copies of the package's sources, the submissions and the kept tables, to be edited."""
    package, entered, kept = (tmp_path / name for name in ("bestarm", "arena", "kept"))
    shutil.copytree(codehash.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(submissions.submissions_folder(), entered)
    shutil.copytree(data_folder() / "arena", kept)
    monkeypatch.setattr(codehash, "PACKAGE", package)
    monkeypatch.setattr(codehash, "_meaning", meaning)
    monkeypatch.setattr(submissions, "submissions_folder", lambda: entered)
    forget()
    yield tmp_path
    forget()


@pytest.fixture(autouse=True)
def times(monkeypatch):
    """T* of instances is read from the kept table; test_arena.py compares it with what it is."""
    known = pd.read_csv(data_folder() / "arena/cells.csv")
    of = known.groupby(["family", "paper", "instance"]).characteristic_time.first().to_dict()
    for module in (cells, entries):
        monkeypatch.setattr(module, "time_of", lambda e: of[e.family, e.paper, e.instance])


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    forget()


def as_of_now(folder):
    """The kept tables as if their rows had just been made."""
    jobs = table.jobs()
    known = {name: row for (name, _), row in table.kept(folder).items()}
    table.write(jobs, {(job.name, job.code): known[job.name] for job in jobs}, folder)


def test_writing_kept_rows_changes_no_byte(copies):
    before = {file: (copies / "kept" / file).read_bytes() for file, *_ in table.KINDS.values()}
    as_of_now(copies / "kept")
    for file, text in before.items():
        assert (copies / "kept" / file).read_bytes() == text


@pytest.fixture
def played(monkeypatch):
    """The jobs that are played from now on, of which none is: their numbers are made up."""
    jobs_played = []

    def gather(jobs, out, threads, title):
        jobs_played.extend(jobs)
        made_up = dict.fromkeys(table.COLUMNS, 1.5) | {"ratio_99": None}
        named = [cells.Entry(*job.arguments[0])._asdict() for job in jobs]
        deltas = [{"delta": job.arguments[1]} for job in jobs]
        return [made_up | one | delta for one, delta in zip(named, deltas, strict=True)]

    monkeypatch.setattr(table, "gather", gather)
    return jobs_played


def test_new_cells_alone_are_played_if_asked(copies, played):
    """Other rows stay, with the fingerprint of the code that made them, whatever has changed."""
    folder = copies / "kept"
    as_of_now(folder)
    before = {path.name: path.read_text().splitlines() for path in folder.glob("*.csv")}
    edit(copies / "bestarm/arena/runs.py", "SEED = 2026", "SEED = 2027")
    table.make_new(folder / "cells.csv", 1)
    assert not played
    (copies / "arena/mine.yaml").write_text(yaml.safe_dump(MINE))
    (copies / "arena/mine.py").write_text("class Mine: ask = tell = None")
    forget()
    table.make_new(folder / "cells.csv", 1)
    assert {job.arguments[0][3] for job in played} == {"Mine"}
    for file, lines in before.items():
        now = (folder / file).read_text().splitlines()
        assert [line for line in now if "Mine" not in line] == lines


def test_a_submission_plays_its_cells_and_old_rows_stay(copies, played):
    folder = copies / "kept"
    as_of_now(folder)
    before = {file: (folder / file).read_text().splitlines() for file, *_ in table.KINDS.values()}
    table.make(folder / "cells.csv", 1)
    assert not played
    (copies / "arena/mine.yaml").write_text(yaml.safe_dump(MINE))
    (copies / "arena/mine.py").write_text("class Mine: ask = tell = None")
    forget()
    table.make(folder / "cells.csv", 1)
    assert played
    assert {(job.arguments[0][1], job.arguments[0][3]) for job in played} == {("delayed", "Mine")}
    for file, lines in before.items():
        now = (folder / file).read_text().splitlines()
        assert [line for line in now if ",Mine," not in line] == lines
    played.clear()
    table.make(folder / "cells.csv", 1)
    assert not played
    (copies / "arena/mine.yaml").unlink()
    forget()
    table.make(folder / "cells.csv", 1)
    assert not played
    for file, lines in before.items():
        assert (folder / file).read_text().splitlines() == lines


def of_baics(entry):
    return entry.paper == "baics" and entry.reading != cells.GENERIC


CHANGES = {
    "arena/elimination.py": ("4 * len", "5 * len", lambda e: e.strategy == "Elimination"),
    "arena/elimination.yaml": ("licence: MIT", "licence: ISC", lambda e: e.reading == "submitted"),
    "bestarm/core/pure_exploration/top_two.py": (
        "BETA = 0.5", "BETA = 0.4", lambda e: e.strategy == "TopTwo"
    ),
    "bestarm/baics/frank_wolfe.py": (
        "import math", "import math\n\nOTHER = 1", of_baics
    ),
    "bestarm/baics/arena.py": ("0.3, 0.7", "0.3, 0.8", lambda e: e.paper == "baics"),
    "bestarm/arena/runs.py": ("SEED = 2026", "SEED = 2027", lambda e: True),
    "bestarm/arena/cells.py": ("MOST_CELLS, MOST", "MOST, MOST", lambda e: False),
    "bestarm/core/pure_exploration/strategies.py": (
        '("Game", start', '("Other", start, choose_game), ("Game", start', lambda e: False
    ),
}  # fmt: skip


UNEDITED = {}


def fingerprints():
    every = [*cells.cells(), *cells.submitted_cells(), cells.budget_cells()[0][0]]
    return {entry: table.fingerprint(entry, 0.1, 500) for entry in every}


@pytest.fixture
def before(copies):
    """The fingerprints of what is not edited yet."""
    if not UNEDITED:
        UNEDITED.update(fingerprints())
    return UNEDITED


@pytest.mark.parametrize("file", CHANGES)
def test_a_change_is_seen_by_the_cells_it_concerns(before, copies, file):
    old, new, concerned = CHANGES[file]
    edit(copies / file, old, new)
    changed = {entry for entry, now in fingerprints().items() if now != before[entry]}
    assert changed == set(filter(concerned, before))
