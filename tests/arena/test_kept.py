"""Rows of the arena's tables are kept while nothing they depend on changes."""

import shutil

import pandas as pd
import pytest
import yaml

from bestarm.arena import cells, entries, fingerprints, submissions, table
from bestarm.common import codehash, definitions
from bestarm.common.files import data_folder
from bestarm.core.inputs import InputError
from parsing import parsed

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
    definitions.hash_at.cache_clear()


@pytest.fixture(autouse=True)
def copies(tmp_path, monkeypatch):
    """Copies of the package's sources, the submissions and the kept tables, to be edited."""
    package, entered, kept = (tmp_path / name for name in ("bestarm", "arena", "kept"))
    shutil.copytree(codehash.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(submissions.submissions_folder(), entered)
    shutil.copytree(data_folder() / "arena", kept)
    monkeypatch.setattr(codehash, "PACKAGE", package)
    monkeypatch.setattr(definitions, "parsed", parsed)
    monkeypatch.setattr(submissions, "submissions_folder", lambda: entered)
    forget()
    yield tmp_path
    forget()


@pytest.fixture(autouse=True)
def times(monkeypatch):
    """T* of instances is read from the kept table; test_arena.py compares it with what it is."""
    known = pd.read_csv(data_folder() / "arena/cells.csv")
    of = known.groupby(["family", "paper", "instance"]).characteristic_time.first().to_dict()
    for module in (cells, entries, fingerprints):
        monkeypatch.setattr(module, "entry_time", lambda e: of[e.family, e.paper, e.instance])


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
    file, (old, new, _) = next(each for each in CHANGES.items() if "frank_wolfe" in each[0])
    edit(copies / file, old, new)
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
        "coins.random() * total", "coins.random() + total", lambda e: e.strategy == "TopTwo"
    ),
    "bestarm/baics/frank_wolfe.py": ("least + radius", "least + 2.0 * radius", of_baics),
    "bestarm/baics/strategies.py": ("STRATEGIES = {", "OTHER = 1\nSTRATEGIES = {", lambda e: False),
    "bestarm/arena/cells.py": ("MOST_CELLS, MOST", "MOST, MOST", lambda e: False),
    "bestarm/core/pure_exploration/strategies.py": (
        '("Game", start', '("Other", start, choose_game), ("Game", start', lambda e: False
    ),
}  # fmt: skip


UNEDITED = {}


def fingerprints_now():
    every = [*cells.cells(), *cells.submitted_cells(), cells.budget_cells()[0][0]]
    return {entry: table.fingerprint(entry, 0.1, 500) for entry in every}


@pytest.fixture
def before(copies):
    """The fingerprints of what is not edited yet."""
    if not UNEDITED:
        UNEDITED.update(fingerprints_now())
    return UNEDITED


@pytest.mark.parametrize("file", CHANGES)
def test_a_change_is_seen_by_the_cells_it_concerns(before, copies, file):
    old, new, concerned = CHANGES[file]
    edit(copies / file, old, new)
    changed = {entry for entry, now in fingerprints_now().items() if now != before[entry]}
    assert changed == set(filter(concerned, before))


def test_a_file_that_moves_is_no_change(before, copies):
    package = copies / "bestarm"
    (package / "baics/frank_wolfe.py").rename(package / "core/moved.py")
    place = "from bestarm.baics.frank_wolfe import"
    edit(package / "baics/strategies.py", place, "from bestarm.core.moved import")
    assert fingerprints_now() == before


@pytest.mark.parametrize(("name", "value"), [("LAW", 0), ("SEED", 0), ("CAP", 0)])
def test_law_seed_and_cap_count_for_all(before, monkeypatch, name, value):
    monkeypatch.setattr(fingerprints, name, value)
    assert not set(fingerprints_now().items()) & set(before.items())


def test_the_numbers_of_an_instance_count(before, monkeypatch):
    entry = next(iter(before))
    other = entries.entry_instance(entry).model_copy(update={"source": "elsewhere"})
    monkeypatch.setattr(fingerprints, "entry_instance", lambda _: other)
    assert table.fingerprint(entry, 0.1, 500) != before[entry]


def test_rows_are_stamped_only_if_a_sample_is_made_again(copies, monkeypatch):
    """The sample has a row per table, paper, strategy and reading; times per pull do not count."""
    folder = copies / "kept"
    named = {name: row for (name, _), row in table.kept(folder).items()}
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    asked = []

    def gather(jobs, out, threads, title):
        asked[:] = jobs
        return [named[job.name] | {"microseconds": 0.0} | wrong for job in jobs]

    monkeypatch.setattr(table, "gather", gather)
    wrong = {"wrong": -1}
    with pytest.raises(InputError, match=r"cells\.csv: cell-.*: wrong is 0, and -1 when made now"):
        table.stamp(folder / "cells.csv", 1)
    assert {path.name: path.read_text() for path in folder.iterdir()} == texts
    wrong = {}
    table.stamp(folder / "cells.csv", 1)
    rules = {(job.work, job.arguments[0][1], *job.arguments[0][3:6:2]) for job in table.jobs()}
    assert len(asked) == len(rules) == len({job.name for job in asked})
    for one in table.KINDS.values():
        assert (folder / one.file).read_text() == texts[one.file]
    codes = dict(table.kept(folder).keys())
    assert codes == {job.name: job.code for job in table.jobs()}
    assert yaml.safe_load((folder / "provenance.yaml").read_text())["law"] == fingerprints.LAW
