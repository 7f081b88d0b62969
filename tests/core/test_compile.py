"""The compile cache, on real processes."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bestarm.core import cache as caching
from bestarm.core.compile import PACKAGE, Locator, cache_folder
from bestarm.core.inputs import InputError

#: One kernel that papers share and one of a paper.
HITS = """
import numpy as np
from bestarm.core.information import stylised_threshold as shared
from bestarm.linear.least_squares import make_fit as own
shared(3, 0.1)
own(np.eye(2), 0.0)
print(sum(shared.stats.cache_hits.values()), sum(own.stats.cache_hits.values()))
"""


def hits(folder, cache) -> list[int]:
    """How often one call of each kernel found it compiled, by the package in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", HITS]
    found = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    return [int(hit) for hit in found.split()]


def test_copies_of_the_project_share_kernels_and_edits_do_not(tmp_path):
    one, other, cache = (tmp_path / name for name in ("one", "a copy", "cache"))
    for folder in (one, other):
        shutil.copytree(PACKAGE, folder / "bestarm", ignore=shutil.ignore_patterns("__pycache__"))
    assert [hits(one, cache), hits(other, cache)] == [[0, 0], [1, 1]]
    append(other / "bestarm/delayed/bounds.py")
    assert hits(other, cache) == [0, 1]  # what papers share may be compiled for delayed's types
    append(other / "bestarm/core/simplex.py")
    assert hits(other, cache) == [0, 0]


def append(source) -> None:
    with source.open("a") as lines:
        lines.write("# another version\n")


def test_kernels_of_others_are_kept_by_their_own_path(tmp_path):
    ours = Locator.get_suitable_cache_subpath(str(PACKAGE / "lagex/paper/dual.py"))
    assert ours == "bestarm.lagex.paper"
    paths = {Locator.get_suitable_cache_subpath(str(tmp_path / n / "x.py")) for n in "ab"}
    assert len(paths) == 2


def nobody(folder):
    """The name is free."""


def anybody(folder):
    """Others may write to the folder of that name."""
    folder.mkdir()
    folder.chmod(0o777)


def the_group(folder):
    folder.mkdir()
    folder.chmod(0o770)


def somewhere_else(folder):
    folder.symlink_to(folder.parent, target_is_directory=True)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A temporary folder of one's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    caching._temporary_folder.cache_clear()
    yield tmp_path
    caching._temporary_folder.cache_clear()


@pytest.mark.parametrize("taken", [nobody, anybody, the_group, somewhere_else, Path.touch])
def test_nobody_else_writes_to_a_cache_in_the_temporary_folder(temporary, monkeypatch, taken):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null/cache")
    usual = temporary / f"bestarm-{os.getuid()}"
    taken(usual)
    folder = cache_folder.__wrapped__().parent
    assert (folder == usual) == (taken is nobody)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_user_without_a_home_has_a_cache_in_the_temporary_folder(temporary, monkeypatch):
    """As in a container that is run as any number; "~" is not taken for a folder."""

    def nobody_of_that_number(number):
        raise KeyError(number)

    for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody_of_that_number)
    monkeypatch.chdir(temporary)
    assert caching.cache_base() == temporary / f"bestarm-{os.getuid()}"
    assert not (temporary / "~").exists()


def test_without_any_folder_one_line_says_what_to_do(monkeypatch):
    def full(*_):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in [...]")

    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null/cache")
    caching._temporary_folder.cache_clear()
    monkeypatch.setattr(tempfile, "gettempdir", full)
    with pytest.raises(InputError, match="set NUMBA_CACHE_DIR to one"):
        caching.cache_base()


def test_users_who_share_a_cache_have_folders_of_their_own(tmp_path, monkeypatch):
    """A second user neither loads what the first has compiled nor has to write beside it."""
    mine = caching.private_folder(tmp_path, "kernels")
    assert mine == tmp_path / "kernels" == caching.private_folder(tmp_path, "kernels")
    foreign = {mine}
    monkeypatch.setattr(caching, "_is_ours", lambda folder: folder not in foreign)
    theirs = caching.private_folder(tmp_path, "kernels")
    second = tmp_path / f"kernels-{os.getuid()}"
    assert theirs == second == caching.private_folder(tmp_path, "kernels")
    foreign.add(theirs)  # as somebody would who wants code of theirs to be run
    with pytest.raises(InputError, match="is another user's"):
        caching.private_folder(tmp_path, "kernels")


def test_a_link_to_a_folder_of_ours_is_not_ours(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    assert caching._is_ours(tmp_path / "folder")
    assert not caching._is_ours(tmp_path / "link")
