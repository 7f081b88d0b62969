"""CITATION.cff, LICENSE and the other pages that a visitor looks for."""

import re
import subprocess
import sys
from pathlib import Path

from bestarm import __version__, registry
from bestarm.core.inputs import load_yaml


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


def test_license_is_the_one_that_is_declared(root):
    assert (root / "LICENSE").read_text().startswith("MIT License")
    assert (root / "LICENSE").read_text() == (root / "LICENSES/MIT.txt").read_text()
    assert load_yaml(root / "CITATION.cff")["license"] == "MIT"
    declared = re.search(r'^license = "(.*)"$', (root / "pyproject.toml").read_text(), re.MULTILINE)
    kept = {path.stem for path in (root / "LICENSES").iterdir()}
    assert set(declared[1].split(" AND ")) == kept
