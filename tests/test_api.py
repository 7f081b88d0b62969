"""The programming interface: every public name is on a page of docs/api, and its example runs."""

import ast
import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bestarm import registry
from bestarm.core.compile import PACKAGE

PAGES = Path(__file__).parents[1] / "docs/api"
#: Names that pages show, of classes, functions and exceptions.
SHOWN = re.findall(
    r"^\.\. auto(?:class|function|exception):: (\S+)",
    "\n".join(page.read_text() for page in sorted(PAGES.glob("*.rst"))),
    re.MULTILINE,
)
PUBLIC = [name for name in SHOWN if "._" not in name]
#: Modules whose functions and classes are for users; of core/ all but kernels' tools.
TOOLS = {
    "__init__",
    "arguments",
    "bases",
    "cache",
    "compile",
    "files",
    "labels",
    "linear_algebra",
} | {
    "noise",
    "normals",
    "plain",
    "units",
}
CORE = sorted({path.stem for path in (PACKAGE / "core").glob("*.py")} - TOOLS)
LAYERS = [*registry.PAPERS, "core.pure_exploration"]
MODULES = ["common.paper", *(f"core.{name}" for name in CORE)]


def defined(module):
    """Public functions and classes that a module defines."""
    path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, kinds)]
    return {f"bestarm.{module}.{name}" for name in names if not name.startswith("_")}


def test_every_public_name_is_on_a_page():
    wanted = {
        f"bestarm.{layer}.{name}"
        for layer in LAYERS
        for name in importlib.import_module(f"bestarm.{layer}").__all__
    }
    wanted |= {name for module in MODULES for name in defined(module)}
    assert wanted <= set(SHOWN), wanted - set(SHOWN)
    assert len(SHOWN) == len(set(SHOWN))


def found(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_a_public_name_runs(name):
    thing = found(name)
    names = vars(sys.modules[thing.__module__])
    test = doctest.DocTestParser().get_doctest(thing.__doc__, dict(names), name, None, 0)
    assert test.examples, "has no example"
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert result.failed == 0


@pytest.mark.long
def test_pages_are_built_without_a_warning_and_fetch_nothing(tmp_path):
    command = ["-m", "sphinx", "--quiet", "--fail-on-warning", "-b", "html"]
    command += ["-d", tmp_path / "trees", PAGES.parent, tmp_path / "docs"]
    subprocess.run([sys.executable, *command], check=True)
    for page in (tmp_path / "docs").rglob("*.html"):
        text = page.read_text()
        assert not re.search(r'(?:src|<link[^>]*href)="(?:https?:)?//', text), page.name
    for name in PUBLIC:
        pages = (tmp_path / "docs/api").glob("*.html")
        assert any(f'id="{name}"' in page.read_text() for page in pages)
    files = [path for path in (tmp_path / "docs").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 5_000_000
