"""Conventions of the field that have a checker of their own, and what is asked of it here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

#: What `snakemake --lint` says of this workflow, and why it stays.
EXPLAINED = {
    "Environment variable PYTHONPATH": "set here, not asked of whoever runs it: the package beside "
    "the Snakefile is used",
    "Environment variable PATH": "likewise, the interpreter that runs Snakemake",
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
