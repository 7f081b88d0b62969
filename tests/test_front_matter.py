"""CITATION.cff, LICENSE and the other pages that a visitor looks for."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bestarm import __version__
from bestarm.core.inputs import load_yaml
from bestarm.pipeline import registry


def checked(path):
    """What the schema of citation files has against a file; nothing if it is valid."""
    checker = Path(sys.executable).with_name("check-jsonschema")
    command = [checker, "--builtin-schema", "vendor.citation-file-format", path]
    result = subprocess.run(command, capture_output=True, text=True)
    return "" if result.returncode == 0 else result.stdout


def test_citation_is_valid_and_names_every_paper(root):
    assert checked(root / "CITATION.cff") == ""
    citation = load_yaml(root / "CITATION.cff")
    assert citation["version"] == __version__
    assert [author["name"] for author in citation["authors"]] == ["The bestarm developers"]
    assert len(citation["references"]) == len(registry.PAPERS)
    readme = (root / "README.md").read_text()
    for reference in citation["references"]:
        assert reference["authors"][0]["family-names"] in readme
        assert reference["url"] in readme


@pytest.mark.parametrize("field", ["message", "authors", "cff-version"])
def test_a_citation_without_a_required_field_is_refused(root, tmp_path, field):
    data = load_yaml(root / "CITATION.cff")
    del data[field]
    (tmp_path / "CITATION.cff").write_text(yaml.safe_dump(data))
    assert f"'{field}' is a required property" in checked(tmp_path / "CITATION.cff")


def test_license_is_the_one_that_is_declared(root):
    assert (root / "LICENSE").read_text().startswith("MIT License")
    assert (root / "LICENSE").read_text() == (root / "LICENSES/MIT.txt").read_text()
    assert load_yaml(root / "CITATION.cff")["license"] == "MIT"
    declared = re.search(r'^license = "(.*)"$', (root / "pyproject.toml").read_text(), re.MULTILINE)
    kept = {path.stem for path in (root / "LICENSES").iterdir()}
    assert set(declared[1].split(" AND ")) == kept


def test_contributing_names_the_test_that_adds_a_paper(root):
    """It says that a toy paper is added to a copy; here is the test that does."""
    assert "tests/test_workflow.py" in (root / "CONTRIBUTING.md").read_text()
    assert "toy.add_to(project, compiled=False)" in (root / "tests/test_workflow.py").read_text()
