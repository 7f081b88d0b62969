"""Tests of a finished build of all papers. `make test-build` makes it and runs these."""

import os
import subprocess
from pathlib import Path

import pytest

from bestarm import registry
from test_workflow import nothing_to_do, snakemake

BUILD = os.environ.get("BESTARM_BUILD")
if not BUILD:
    pytest.skip("`make test-build` runs these", allow_module_level=True)
ALL = Path(BUILD) / "all"


def test_the_manifest_lists_every_table_with_its_hash(root):
    check = subprocess.run(["sha256sum", "-c", ALL], cwd=root, capture_output=True)
    assert check.returncode == 0
    listed = {line.split("  ")[1] for line in (root / ALL).read_text().splitlines()}
    assert listed == {
        f"{BUILD}/{paper}/{target}.csv"
        for paper in registry.PAPERS
        for target in registry.PAPERS[paper].targets
    }


def test_every_table_has_pictures(root):
    for line in (root / ALL).read_text().splitlines():
        table = root / line.split("  ")[1]
        assert table.stat().st_size > 0
        assert table.with_suffix(".svg").stat().st_size > 0


def test_a_second_run_does_nothing(root):
    assert nothing_to_do(snakemake(root, str(ALL)))
