"""codemeta.json and .zenodo.json, made of CITATION.cff and pyproject.toml.

CodeMeta 3.0 is what software registries read, .zenodo.json what Zenodo takes for a release.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

import yaml

#: Files made here, and by which function.
FILES = ("codemeta.json", ".zenodo.json")


def read(root: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """CITATION.cff, and the table `project` of pyproject.toml."""
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    return citation, tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def codemeta(root: Path) -> dict[str, Any]:
    """The project as CodeMeta describes software."""
    citation, project = read(root)
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": project["name"],
        "description": citation["abstract"].strip(),
        "version": citation["version"],
        **_dated("datePublished", citation),
        "license": f"https://spdx.org/licenses/{citation['license']}",
        "author": [author_entity(author) for author in citation["authors"]],
        "keywords": citation["keywords"],
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {project['requires-python']}",
        "operatingSystem": ["Linux", "macOS"],
        "softwareRequirements": project["dependencies"],
        "developmentStatus": "active",
        "referencePublication": [
            {
                "@type": "ScholarlyArticle",
                "name": paper["title"],
                "author": [author_entity(author) for author in paper["authors"]],
                "datePublished": str(paper["year"]),
                "url": paper["url"],
            }
            for paper in citation["references"]
        ],
    }


def zenodo(root: Path) -> dict[str, Any]:
    """The project as Zenodo describes an upload."""
    citation, _ = read(root)
    return {
        "title": citation["title"],
        "description": citation["abstract"].strip(),
        "upload_type": "software",
        "version": citation["version"],
        **_dated("publication_date", citation),
        "access_right": "open",
        "license": citation["license"],
        "creators": [{"name": _name(author)} for author in citation["authors"]],
        "keywords": citation["keywords"],
        "related_identifiers": [
            {"identifier": paper["url"], "relation": "references", "scheme": "url"}
            for paper in citation["references"]
        ],
    }


def citation_files(root: Path) -> dict[str, str]:
    """The text of every file made here, by its name."""
    made = (codemeta(root), zenodo(root))
    texts = (json.dumps(contents, indent=2, ensure_ascii=False) + "\n" for contents in made)
    return dict(zip(FILES, texts, strict=True))


def _dated(name: str, citation: dict[str, Any]) -> dict[str, str]:
    """The day of the release, if there was one."""
    return {name: citation["date-released"]} if "date-released" in citation else {}


def author_entity(author: dict[str, str]) -> dict[str, str]:
    """An author of CITATION.cff, a person or an organisation, as schema.org has it."""
    if "name" in author:
        return {"@type": "Organization", "name": author["name"]}
    names = {"givenName": author["given-names"], "familyName": author["family-names"]}
    return {"@type": "Person", **names}


def _name(author: dict[str, str]) -> str:
    return author.get("name") or f"{author['family-names']}, {author['given-names']}"
