"""What `list` and `show` print is kept: until an input changes, and without heavy imports."""

import subprocess
import sys

import pytest

from bestarm.core.errors import InputError
from bestarm.users import kept as module
from bestarm.users.kept import kept

#: What takes most of the time of a start; typer itself imports pydantic for commands.
HEAVY = ("numpy", "numba", "scipy", "pandas", "yaml", "matplotlib", "bestarm.common.paper")
#: What stands in for values that are kept.
KEPT = {
    "list": "show_list.kept = lambda paper, what, compute: ['a line']",
    "list baics --all": "show_list.kept = lambda paper, what, compute: ['a line']",
    "show baics/x": "show.kept = lambda paper, what, compute: {'instance': {'tables': "
    "[('t', ['c'], [['r', '1']])], 'title': '', 'facts': []}, "
    "'target': {'file': '', 'parts': [('p', ['s'], [(['a', 'b', '1'], {'s': [1.0, '2']})])], "
    "'marked': True}}",
}


@pytest.mark.parametrize("words", ["--help", "--version", "list --help", "workflow --help", *KEPT])
def test_a_start_imports_nothing_heavy(words):
    code = f"""
import sys
from bestarm.cli import app
from bestarm.users import show, show_list
{KEPT.get(words, "")}
app({words.split()!r}, standalone_mode=False)
print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert done.stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, and a project with data and one table."""
    values = {}

    def by_sources(name, compute):
        if name not in values:
            values[name] = compute()
        return values[name]

    monkeypatch.setattr(module, "by_sources", by_sources)
    for name in ("data/instances/a.yaml", "figures/baics/one.csv"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(module, "data_folder", lambda: tmp_path / "data")
    return tmp_path


def test_a_value_is_computed_once(folder):
    assert kept("baics", "list", lambda: "first") == "first"
    assert kept("baics", "list", lambda: "second") == "first"
    assert kept("baics", "show x", lambda: "other") == "other"
    assert kept("linear", "list", lambda: "another") == "another"


@pytest.mark.parametrize("name", ["data/instances/a.yaml", "figures/baics/one.csv", "data/new"])
def test_it_is_computed_anew_after_an_edit_to_an_input(folder, name):
    kept("baics", "list", lambda: "first")
    (folder / name).write_text("2")
    assert kept("baics", "list", lambda: "second") == "second"


def test_errors_are_not_kept(folder):
    def fail():
        raise InputError("x: is missing")

    with pytest.raises(InputError):
        kept("baics", "show x", fail)
    assert kept("baics", "show x", lambda: "now") == "now"
