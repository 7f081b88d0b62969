"""CITATION.cff, LICENSE and the other pages that a visitor looks for."""

import re
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from bestarm import __version__
from bestarm.core.inputs import InputError, load, load_yaml, parse
from bestarm.pipeline import registry


class Strict(BaseModel):
    """Fields of CFF 1.2.0 under their own names, those that are used here and no others."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=lambda name: name.replace("_", "-"), strict=True
    )


class Person(Strict):
    family_names: str
    given_names: str


class Entity(Strict):
    name: str


class Reference(Strict):
    type: Literal["article", "conference-paper"]
    title: str
    authors: Annotated[list[Person], Field(min_length=1)]
    journal: str | None = None
    collection_title: str | None = None
    volume: int | None = None
    year: int | None = None


class Citation(Strict):
    """CITATION.cff, CFF 1.2.0."""

    cff_version: Literal["1.2.0"]
    message: str
    title: str
    abstract: str
    type: Literal["software", "dataset"]
    version: str
    license: str
    authors: Annotated[list[Entity], Field(min_length=1)]
    keywords: Annotated[list[str], Field(min_length=1)]
    references: list[Reference]


def test_citation_is_valid_and_names_every_paper(root):
    citation = load(Citation, root / "CITATION.cff")
    assert citation.version == __version__
    assert [author.name for author in citation.authors] == ["The bestarm developers"]
    assert len(citation.references) == len(registry.PAPERS)
    readme = (root / "README.md").read_text()
    for reference in citation.references:
        assert reference.authors[0].family_names in readme


@pytest.mark.parametrize("field", ["message", "authors", "cff-version"])
def test_a_citation_without_a_required_field_is_refused(root, field):
    data = load_yaml(root / "CITATION.cff")
    del data[field]
    with pytest.raises(InputError, match=f"{field}: is required"):
        parse(Citation, data, "CITATION.cff")


def test_license_is_the_one_that_is_declared(root):
    assert (root / "LICENSE").read_text().startswith("MIT License")
    assert load_yaml(root / "CITATION.cff")["license"] == "MIT"
    assert re.search(r'^license = "MIT"$', (root / "pyproject.toml").read_text(), re.MULTILINE)


def test_contributing_names_the_test_that_adds_a_paper(root):
    """It says that a toy paper is added to a copy; here is the test that does."""
    assert "tests/test_workflow.py" in (root / "CONTRIBUTING.md").read_text()
    assert "toy.add_to(project)" in (root / "tests/test_workflow.py").read_text()
