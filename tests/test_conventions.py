"""Conventions of the field that have a checker of their own, and what is asked of it here."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

#: What `snakemake --lint` says of this workflow, and why it stays.
EXPLAINED = {
    "Specify a conda environment or container": "all rules run the package, in the environment "
    "that Snakemake was started from (environment.yml, requirements.lock or Dockerfile); one per "
    "rule would be that one again",
}


@pytest.mark.long
def test_snakemake_lints_nothing_that_is_not_explained(root):
    snakemake = Path(sys.executable).with_name("snakemake")
    result = subprocess.run([snakemake, "--lint"], cwd=root, capture_output=True, text=True)
    said = re.findall(r"^    \* (.*)$", result.stderr, re.MULTILINE)
    used = {reason for line in said for reason in EXPLAINED if line.startswith(reason)}
    assert [line for line in said if not line.startswith(tuple(EXPLAINED))] == []
    assert used == set(EXPLAINED)  # no explanation outlives its lint


#: Words that say what was done to a thing or how it is, not what it is (docs/design.md, Words).
NOT_NOUNS = (
    "Given|Offer|Played|Driven|Found|Wanted|Asked|Told|Drawn|Switched|Scaled|Failed|Further|"
    "Static|Phased|Greedy|Directed|Nearest|Affine|Sequential|Learning|Published|Others"
)
#: A function called what_of(y) has a name for what it returns.
OF = re.compile(r"^ *def \w+_of\(", re.MULTILINE)


def test_types_and_functions_are_nouns(root):
    types = re.compile(rf"^ *(?:(?:class|type) +\w*(?:{NOT_NOUNS}|Of)\b|\w*Of =)", re.MULTILINE)
    for file in (root / "src").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not types.search(text) and not OF.search(text), file
    assert types.search("class Found:") and types.search("RowOf = Value | list")
    assert OF.search("    def rows_of(self):")


#: Words that say nothing of what a variable holds (docs/design.md, Words).
FILLERS = {"one", "shown", "wanted", "asked", "found", "further", "thing", "things"}
#: Files in which such a name is promised (docs/interface.txt).
MAY_HAVE_FILLERS = {"cbmai/interactive.py", "lagex/certified/interactive.py"}


def names_given(source):
    """The names that a file gives to variables, arguments, functions and classes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def test_names_say_what_they_hold(root):
    package = root / "src/bestarm"
    files = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if FILLERS & {*names_given(file.read_text(encoding="utf-8"))}
    }
    assert files == MAY_HAVE_FILLERS
