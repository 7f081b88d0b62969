"""`make release-check`: says what a release lacks, and nothing when it lacks nothing."""

import hashlib
import json
import subprocess

import pytest

from bestarm.core.inputs import load_yaml
from bestarm.publish.citation import author_entity, citation_files
from conftest import module_of

TABLE = "figures/baics/table1.csv"
RELEASED = {
    "version": "1.0.0",
    "title": "bestarm",
    "abstract": "Best-arm identification.",
    "license": "MIT",
    "authors": [{"family-names": "Lovelace", "given-names": "Ada"}],
    "date-released": "2026-01-31",
    "doi": "10.5281/zenodo.1",
    "repository-code": "https://example.org",
    "keywords": [],
    "references": [],
}


@pytest.fixture
def script(root, monkeypatch):
    module = module_of(root / "workflow/scripts/release_check.py")
    monkeypatch.setattr(module, "__version__", "1.0.0")
    return module


@pytest.fixture
def released(root, tmp_path):
    """A project of one table that lacks nothing."""
    for folder in ("figures/baics", "crate/figures/baics"):
        (tmp_path / folder).mkdir(parents=True)
    for name in (TABLE, f"crate/{TABLE}"):
        (tmp_path / name).write_text("value\n1\n")
    digest = hashlib.sha256(b"value\n1\n").hexdigest()
    (tmp_path / "figures/all").write_text(f"{digest}  {TABLE}\n")
    graph = [{"@id": "./", "version": "1.0.0"}, {"@id": TABLE, "sha256": digest}]
    (tmp_path / "crate/ro-crate-metadata.json").write_text(json.dumps({"@graph": graph}))
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.0.0 (2026-01-31)\n\n- All.\n")
    (tmp_path / "docs/paper").mkdir(parents=True)
    (tmp_path / "docs/paper/paper.md").write_text("---\ndate: 2026-01-31\n---\n")
    (tmp_path / "CITATION.cff").write_text(json.dumps(RELEASED))
    (tmp_path / "pyproject.toml").write_bytes((root / "pyproject.toml").read_bytes())
    for name, text in citation_files(tmp_path).items():
        (tmp_path / name).write_text(text)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"], ["tag", "v1.0.0"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", tmp_path, *who, *arguments], check=True)
    return tmp_path


def problems(script, folder):
    checks = [check for check in script.CHECKS if check is not script.wheel]
    return [problem for check in checks for problem in check(folder)]


def test_a_project_that_lacks_nothing_is_ready(script, released):
    assert problems(script, released) == []
    tree = subprocess.run(
        ["git", "-C", released, "rev-parse", "HEAD^{tree}"], capture_output=True, text=True
    )
    assert script.identifiers(released)[1] == f"swh:1:dir:{tree.stdout.strip()}"


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("CITATION.cff", '"1.0.0"', '"0.9.0"', "version: is 0.9.0"),
        ("CITATION.cff", '"2026-01-31"', '"soon"', "date-released"),
        ("CITATION.cff", '"10.5281/zenodo.1"', "null", "doi"),
        ("CITATION.cff", '"family-names": "Lovelace", "given-names": "Ada"',
         '"name": "The bestarm developers"', "is a placeholder"),
        ("CHANGELOG.md", "## 1.0.0", "## Unreleased\n\n## 1.0.0", "begins with Unreleased"),
        (".zenodo.json", "1.0.0", "1.0.1", "is not what CITATION.cff gives"),
        ("docs/paper/paper.md", "2026-01-31", "to be set", "date are placeholders"),
        (TABLE, "1", "2", "is not the one of the build"),
        (f"crate/{TABLE}", "1", "2", "is not the one that the crate lists"),
        ("crate/ro-crate-metadata.json", "1.0.0", "0.9.0", "crate: version"),
        ("LATER", "", "x", "is changed or not committed"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(script, released, name, old, new, said):
    file = released / name
    text = file.read_text() if file.exists() else ""
    assert old in text
    file.write_text(text.replace(old, new, 1))
    assert any(said in problem for problem in problems(script, released))


def test_a_version_under_development_is_none(script, released, monkeypatch):
    monkeypatch.setattr(script, "__version__", "1.0.0.dev0")
    assert "__version__ is 1.0.0.dev0" in problems(script, released)[0]


def test_an_author_may_be_a_person_or_a_group(root):
    assert author_entity(RELEASED["authors"][0])["familyName"] == "Lovelace"
    (author,) = load_yaml(root / "CITATION.cff")["authors"]
    assert author_entity(author) == {"@type": "Organization", "name": author["name"]}
