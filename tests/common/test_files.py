"""Writing: all or nothing."""

from pathlib import Path

import pytest

from bestarm.core.files import canonical_json, replacing, write_text
from bestarm.core.inputs import InputError


def test_a_failure_leaves_the_old_file_and_no_trace(tmp_path):
    path = tmp_path / "a.csv"
    write_text(path, "old")
    with pytest.raises(KeyError), replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_folders_are_made(tmp_path):
    write_text(tmp_path / "b/c/a.csv", "x")
    assert (tmp_path / "b/c/a.csv").read_text() == "x"


def test_a_failure_takes_back_the_folders_it_made(tmp_path):
    (tmp_path / "b").mkdir()
    with pytest.raises(KeyError), replacing(tmp_path / "b/c/d/a.csv"):
        raise KeyError
    assert list(tmp_path.rglob("*")) == [tmp_path / "b"]


def test_a_device_is_not_replaced():
    """As root a rename would put a plain file where /dev/null was."""
    with pytest.raises(InputError, match="is not a regular file"):
        write_text("/dev/null", "x")
    assert Path("/dev/null").is_char_device()


def test_files_can_be_read_by_others(tmp_path):
    write_text(tmp_path / "a", "x")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_a_file_where_a_folder_is_wanted(tmp_path):
    (tmp_path / "f").write_text("")
    with pytest.raises(InputError, match="is a file, a folder is wanted"):
        write_text(tmp_path / "f/a.csv", "x")


def test_a_folder_where_a_file_is_wanted(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        write_text(tmp_path, "x")


def test_canonical_json_has_one_form():
    assert canonical_json({"b": 1, "a": [1.0]}) == '{"a":[1.0],"b":1}'
    with pytest.raises(ValueError):
        canonical_json(float("nan"))
