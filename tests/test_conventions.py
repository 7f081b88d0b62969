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


#: Participles that say what was done to a thing, not what it is (docs/design.md, Words).
NOT_NOUNS = "Given|Offer|Played|Driven|Found|Wanted|Asked|Told|Drawn|Switched|Scaled|Failed|Further"


def test_types_are_nouns(root):
    types = re.compile(rf"^ *(?:(?:class|type) +\w*(?:{NOT_NOUNS}|Of)\b|\w*Of =)", re.MULTILINE)
    for file in (root / "src").rglob("*.py"):
        assert not types.search(file.read_text(encoding="utf-8")), file
    assert types.search("class Found:") and types.search("RowOf = Value | list")


#: Words that say nothing of what a variable holds (docs/design.md, Words).
FILLERS = {"one", "shown", "wanted", "asked", "found", "further", "thing", "things"}
#: Files that may have them: kept results are valid as long as these definitions are the same,
#: or the name is promised (docs/interface.txt).
MAY_HAVE_FILLERS = {
    *("baics/problem.py", "baics/rates_optimum.py", "cbmai/problem.py", "lagex/problem.py"),
    *("common/user_strategies.py", "core/normals.py", "core/plain.py", "delayed/mixture.py"),
    *("delayed/steps.py", "delayed/strategies.py", "delayed/user_strategies.py"),
    *("lagex/paper/bounds.py", "lagex/paper/dual.py", "lagex/paper/full_adagrad.py"),
    *("lagex/strategies.py", "linear/phased.py", "linear/problem.py", "linear/reference.py"),
    *("cbmai/interactive.py", "lagex/certified/interactive.py", "users/compare.py"),
}


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
