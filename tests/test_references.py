"""References share types with the kernels that they check, never mathematics or constants of it."""

import ast
import importlib
import inspect

import pytest

from bestarm import registry


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_reference_imports_types_and_names_of_choices_only(paper):
    reference = importlib.import_module(f"bestarm.{paper}.reference")
    for node in ast.walk(ast.parse(inspect.getsource(reference))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bestarm"):
            for alias in node.names:
                shared = getattr(importlib.import_module(node.module), alias.name)
                assert isinstance(shared, type | int), f"{paper}: {alias.name}"


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_documentation_of_a_paper_shows_its_reference(root, paper):
    assert f"(../src/bestarm/{paper}/reference.py)" in (root / "docs/papers.md").read_text()
    head = (root / f"docs/api/{paper}.rst").read_text().partition(".. ")[0]
    assert f"``src/bestarm/{paper}/reference.py``" in head
