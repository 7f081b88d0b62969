"""A hash of what is computed, wherever in the package its code lives.

A result that is kept for long should stay valid when a function moves to another file, and only
then. So `definitions_hash` follows names instead of modules: from a function to the functions,
classes and constants that it uses, and those that they use. It hashes their syntax trees without
docstrings, imports and places.
"""

import ast
import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from bestarm.common import codehash

#: A module and a name in it; the name is empty for all of the module.
Place = tuple[str, str]


def definitions_hash(*objects: Callable[..., Any]) -> str:
    """The hash of functions or classes of this package and of all definitions that they use.

    What they use by way of a string, such as a module that is imported by its name, does not count:
    whoever uses it has to name it. The versions of the numerical libraries count.

    Example:
        >>> from bestarm.core.information import needed_information
        >>> len(definitions_hash(needed_information))
        16
    """
    return hash_at(
        frozenset((code.__module__, code.__qualname__.split(".")[0]) for code in objects)
    )


@cache
def hash_at(places: frozenset[Place]) -> str:
    """`definitions_hash` of what is at some places."""
    digest = hashlib.sha256()
    for library in codehash.NUMBERS_FROM:
        digest.update(f"{library}=={version(library)}\n".encode())
    for text in sorted(definitions(places)):
        digest.update(f"{text}\n".encode())
    return digest.hexdigest()[:16]


def definitions(places: frozenset[Place]) -> set[str]:
    """The definitions that are at some places, and all that they use, as dumped syntax trees.

    Raises:
        ValueError: there is no definition at one of these places.
    """
    for module, name in places:
        source = codehash.module_file(module)
        if source is None or (name and name not in parsed(source).definitions):
            raise ValueError(f"{module}: has no definition {name}")
    texts: set[str] = set()
    seen, waiting = set(places), list(places)
    while waiting:
        for text, used in definition(*waiting.pop()):
            texts.add(text)
            waiting += [place for place in used if place not in seen]
            seen |= used
    return texts


class Definition(NamedTuple):
    """One statement of a module, and the names that it uses."""

    text: str
    names: frozenset[tuple[str, str]]  # a name and, of a module, the attribute that is used


class ModuleDefinitions(NamedTuple):
    """A module.

    Args:
        definitions: by name, the statements that define it, or register something with it.
        imports: by name, where it is from.
    """

    definitions: dict[str, list[Definition]]
    imports: dict[str, Place]


def definition(module: str, name: str) -> Iterator[tuple[str, set[Place]]]:
    """The statements behind a name of a module, each with the places of what it uses."""
    if (source := codehash.module_file(module)) is None:
        return
    definitions = parsed(source)
    if name in definitions.imports and name not in definitions.definitions:
        yield from definition(*resolved(definitions.imports[name]))
        return
    groups = (
        definitions.definitions.values() if not name else [definitions.definitions.get(name, [])]
    )
    for text, names in chain.from_iterable(groups):
        yield text, set(_used(module, definitions, names))


def _used(
    module: str, definitions: ModuleDefinitions, names: frozenset[tuple[str, str]]
) -> Iterator[Place]:
    for name, attribute in names:
        if name in definitions.definitions:
            yield module, name
        elif name in definitions.imports:
            place = resolved(definitions.imports[name])
            yield (place[0], attribute) if not place[1] else place


def resolved(place: Place) -> Place:
    """The place of an imported name: of the module itself, if it is one."""
    module, name = place
    if name and codehash.module_file(f"{module}.{name}"):
        return f"{module}.{name}", ""
    return place


@cache
def parsed(source: Path) -> ModuleDefinitions:
    """The definitions and the imports of a file."""
    tree = codehash.without_docstrings(ast.parse(source.read_text(encoding="utf-8")))
    imports: dict[str, Place] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                imports[alias.asname or alias.name] = (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.split(".")[0]
                imports[alias.asname or name] = (name, "")
    imports = {name: place for name, place in imports.items() if place[0].startswith("bestarm")}
    definitions: dict[str, list[Definition]] = {}
    registered: list[tuple[Definition, set[str]]] = []
    for statement in _ImportRemover().visit(tree).body:
        entry = Definition(ast.dump(statement), frozenset(_names(statement)))
        for name in (defined := _defined(statement)):
            definitions.setdefault(name, []).append(entry)
        registered.append((entry, _registered(statement, defined)))
    for entry, names in registered:
        for name in names & definitions.keys():
            definitions[name].append(entry)
    return ModuleDefinitions(definitions, imports)


def _defined(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    inside = list(ast.walk(statement))
    stored = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.name for n in inside if isinstance(n, ast.FunctionDef | ast.ClassDef)}


def _registered(statement: ast.stmt, defined: set[str]) -> set[str]:
    """The names, of others, that a statement may change: those it is registered with.

    These are the arguments of its decorators; of a statement that defines nothing, all its names.
    """
    nodes = getattr(statement, "decorator_list", [] if defined else [statement])
    mentioned = {name for node in nodes for name, _ in _names(node)}
    return mentioned - defined


def _names(statement: ast.AST) -> Iterator[tuple[str, str]]:
    """Every name in a statement, with the attribute that is read of it, if any."""
    of_attributes = set()
    for node in ast.walk(statement):  # an attribute comes before its name
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            of_attributes.add(node.value)
            yield node.value.id, node.attr
        elif isinstance(node, ast.Name) and node not in of_attributes:
            yield node.id, ""


class _ImportRemover(ast.NodeTransformer):
    """Removes imports."""

    def visit_Import(self, node: ast.Import) -> None:
        pass

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        pass
