"""Values kept by the sources: computed once, and again after an edit."""

import json
import shutil

import pytest

from bestarm.common import by_sources as module
from bestarm.common.by_sources import by_sources, kept_in


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, whose values are kept in a folder of its own."""
    copy = tmp_path / "bestarm"
    shutil.copytree(module.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "PACKAGE", copy)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_found_in", kept_in)
    return copy


def refuse():
    raise AssertionError("computed though it is kept")


def test_a_value_is_computed_once(package):
    assert by_sources("pair", lambda: (1, "a")) == [1, "a"]
    assert by_sources("other", lambda: 2) == 2
    assert by_sources("pair", refuse) == [1, "a"]
    assert by_sources("other", refuse) == 2
    assert list(json.loads(kept_in().read_text())) == ["pair", "other"]


@pytest.mark.parametrize("edited", ["core/streams.py", "cli.py", "new.py"])
def test_any_edit_counts(package, edited):
    by_sources("value", lambda: 1)
    with (package / edited).open("a") as file:
        file.write("# a word\n")
    assert by_sources("value", lambda: 2) == 2


def test_versions_count(package, monkeypatch):
    by_sources("value", lambda: 1)
    monkeypatch.setattr(module, "version", lambda library: "0")
    assert by_sources("value", lambda: 2) == 2


@pytest.mark.parametrize("damaged", ["", "{", "[1]", "\0"])
def test_a_damaged_file_is_made_again(package, damaged):
    by_sources("value", lambda: 1)
    kept_in().write_text(damaged)
    assert by_sources("value", lambda: 2) == 2
    assert by_sources("value", refuse) == 2


def test_an_edit_while_it_is_computed_keeps_nothing(package):
    def compute():
        (package / "cli.py").write_text("")
        return 1

    before = kept_in()
    assert by_sources("value", compute) == 1
    assert not before.exists()
    assert not kept_in().exists()


def test_a_folder_that_cannot_be_written_is_no_error(package, tmp_path, monkeypatch):
    """Values are then kept in the temporary folder."""
    (tmp_path / "cache").write_text("a file in its place")
    monkeypatch.setattr("bestarm.core.cache._temporary_folder", lambda: tmp_path)
    assert by_sources("value", lambda: 1) == 1
    assert by_sources("value", refuse) == 1
    assert kept_in().parent == tmp_path


def test_a_file_that_cannot_be_written_is_no_error(package):
    kept_in().mkdir()
    assert by_sources("value", lambda: 1) == 1
    assert by_sources("value", lambda: 2) == 2
