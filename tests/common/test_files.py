"""Writing: all or nothing."""

import os
import stat
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


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002], indirect=True)
def test_a_new_file_follows_the_umask(tmp_path, umask):
    write_text(tmp_path / "new/a", "x")
    assert mode(tmp_path / "new/a") == 0o666 & ~umask
    assert mode(tmp_path / "new") == 0o777 & ~umask


@pytest.mark.parametrize("umask", [0o022, 0o077], indirect=True)
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o444, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, umask, kept):
    path = tmp_path / "a"
    path.touch()
    path.chmod(kept)
    with replacing(path) as temporary:
        temporary.write_text("x")
        assert mode(temporary) == 0o600  # nobody reads what may be private
    assert (mode(path), path.read_text()) == (kept, "x")


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_that_is_replaced_keeps_its_owner(tmp_path):
    path = tmp_path / "a"
    path.touch()
    os.chown(path, 4321, 1234)
    path.chmod(0o2640)
    write_text(path, "x")
    assert (path.stat().st_uid, path.stat().st_gid) == (4321, 1234)
    assert mode(path) == 0o2640


def test_an_owner_that_may_not_be_given_is_no_error(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    write_text(tmp_path / "a", "x")
    monkeypatch.setattr(os, "chown", refuse)
    write_text(tmp_path / "a", "y")
    assert (tmp_path / "a").read_text() == "y"


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_is_followed(tmp_path, there):
    """Relative to its own folder, and by way of another one; the temporary file lies at the end."""
    (tmp_path / "far/away").mkdir(parents=True)
    end, first, second = (tmp_path / name for name in ("far/away/a", "first", "far/second"))
    if there:
        end.write_text("old")
    second.symlink_to("away/a")
    first.symlink_to(second)
    with replacing(first) as temporary:
        assert temporary.parent == end.parent
        temporary.write_text("new")
    assert first.is_symlink()
    assert second.is_symlink()
    assert end.read_text() == first.read_text() == "new"


def test_links_that_lead_nowhere_or_to_a_folder(tmp_path):
    for name, to in {"a": "b", "b": "a", "device": "/dev/null", "folder": "."}.items():
        (tmp_path / name).symlink_to(to)
    with pytest.raises(InputError, match="a: is a symbolic link that leads back to itself"):
        write_text(tmp_path / "a", "x")
    with pytest.raises(InputError, match="is not a regular file"):
        write_text(tmp_path / "device", "x")
    with pytest.raises(InputError, match="is a folder"):
        write_text(tmp_path / "folder", "x")


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
