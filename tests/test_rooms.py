"""The rooms of the package: what each may import, and who may name a paper."""

import ast
import graphlib
import re

import pytest

from bestarm import registry
from bestarm.common.codehash import without_docstrings
from bestarm.core.compile import PACKAGE, source_paper


def imports_of(source):
    """The modules of the package that a file of it imports."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bestarm"):
            for alias in node.names:  # a name may be a module
                whole = f"{node.module}.{alias.name}"
                path = PACKAGE.joinpath(*whole.split(".")[1:])
                is_module = path.with_suffix(".py").is_file() or path.is_dir()
                yield whole if is_module else node.module


def module_of(source):
    parts = source.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


#: Rooms of the package from the bottom up. A room imports from itself and from those below it.
ROOMS = (
    "core",
    "common",
    "runs",
    "live",
    "verdicts",
    "registry",
    "verify",
    "users",
    "arena",
    "publish",
    "build",
)
#: Papers stand on these and know no other paper.
BELOW_PAPERS = ROOMS[:4]


def test_every_folder_is_a_room():
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert folders == {*ROOMS, *registry.PAPERS}


@pytest.mark.parametrize("room", [*ROOMS, *registry.PAPERS])
def test_no_room_imports_upwards(room):
    below = BELOW_PAPERS if room in registry.PAPERS else ROOMS[: ROOMS.index(room)]
    for source in (PACKAGE / room).rglob("*.py"):
        allowed = {*below, room}
        if room in registry.PAPERS and source.stem.endswith("pages"):
            allowed.add("verdicts")  # pages show verdicts, which depend on tables alone
        for module in imports_of(source):
            assert module == "bestarm" or module.split(".")[1] in allowed, (source, module)


#: Rooms of LAGEX, and what each may import from the others: numbers, and for tables and pages.
LAGEX_ROOMS = {
    "paper": set(),
    "released": {"paper.confidence", "paper.state"},
    "certified": {"paper.bounds", "released.kept"},
}


@pytest.mark.parametrize("room", LAGEX_ROOMS)
def test_rooms_of_lagex_stand_apart(room):
    sources = [*(PACKAGE / "lagex" / room).glob("*.py")]
    imported = {module.removeprefix("bestarm.lagex.") for s in sources for module in imports_of(s)}
    others = {module for module in imported if module.split(".")[0] in {*LAGEX_ROOMS} - {room}}
    assert others == LAGEX_ROOMS[room]


def names_a_paper(text):
    """Whether a text has a paper's key as part of a path or a module, or the name of a strategy."""
    parts = re.split(r"[/.:]", text)
    known = {name for paper in registry.PAPERS.values() for name in paper.simulation.readings}
    words = re.split(r"[^\w-]+", text)
    return bool({*parts} & {*registry.PAPERS} or {*words} & {*known})


def strings_of(source):
    """The strings of a file but its docstrings, whose examples need some paper."""
    tree = without_docstrings(ast.parse(source.read_text()))
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


#: The name of a scale of Matplotlib's axes.
ALLOWED = {("drawing.py", "linear")}


def test_nothing_but_papers_and_their_registry_names_a_paper():
    """No paper's key, no path under its figures, no strategy; imports are tested above."""
    found = [
        (source.relative_to(PACKAGE), text)
        for source in PACKAGE.rglob("*.py")
        if source != PACKAGE / "registry/__init__.py" and not source_paper(source)
        for text in strings_of(source)
        if names_a_paper(text) and (source.name, text) not in ALLOWED
    ]
    assert not found


def test_no_module_imports_itself_by_way_of_others():
    graph = {module_of(s): set(imports_of(s)) - {module_of(s)} for s in PACKAGE.rglob("*.py")}
    order = graphlib.TopologicalSorter(graph)
    order.prepare()  # raises CycleError, which names them
    assert len(graph) > 50
