"""docs/paper, for a journal of software: short, by the authors of the citation, no loose ends."""

import re

import pytest
import yaml

from bestarm.core.inputs import load_yaml

#: Words that the Journal of Open Source Software asks for.
LEAST, MOST = 750, 1750


@pytest.fixture(scope="module")
def paper(root):
    """Its head and its text."""
    _, head, text = (root / "docs/paper/paper.md").read_text().split("---\n", 2)
    return yaml.safe_load(head), re.sub(r"<!--.*?-->", "", text)


def test_it_has_the_length_and_the_sections_that_are_asked_for(paper):
    _, text = paper
    assert LEAST <= len(text.split()) <= MOST
    sections = re.findall(r"^# (.+)$", text, re.MULTILINE)
    assert {"Summary", "Statement of need", "State of the field"} < set(sections)
    assert sections[-1] == "References"


def test_its_authors_and_title_are_those_of_the_citation(root, paper):
    head, _ = paper
    citation = load_yaml(root / "CITATION.cff")
    names = [author.get("name") or " ".join([author["given-names"], author["family-names"]])
             for author in citation["authors"]]  # fmt: skip
    assert [author["name"] for author in head["authors"]] == names
    assert head["title"] == citation["title"]


def test_every_citation_resolves_and_every_entry_is_cited(root, paper):
    _, text = paper
    entries = (root / "docs/paper/paper.bib").read_text()
    keys = re.findall(r"^@\w+\{(\w+),$", entries, re.MULTILINE)
    assert set(re.findall(r"\[@(\w+)\]", text)) == set(keys)
    assert len(keys) == len(set(keys))
    for paper_of in load_yaml(root / "CITATION.cff")["references"]:
        assert paper_of["url"] in entries
