"""A hash of the code a rule depends on, so that an edit reruns the rules it can affect.

A workflow engine sees the scripts it runs, not the modules they import. `code_hash` follows the
imports of the named modules through this package and hashes their syntax trees
without docstrings, together with the versions of the numerical libraries. Edits to comments, layout
and docstrings therefore rerun nothing.
"""

import ast
import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
NUMBERS_FROM = ("numpy", "numba", "scipy", "pandas")


@cache
def code_hash(*modules: str, without: tuple[str, ...] = ()) -> str:
    """The hash of the named modules and all they import from this package.

    Modules imported by name at run time (the papers, through the registry) do not count: a
    rule that uses them has to name them.

    Args:
        modules: their names.
        without: modules that do not count, nor what only they import.
    """
    sources: dict[str, Path] = dict.fromkeys(without, Path())
    for module in modules:
        _follow(module, sources)
    for module in without:
        del sources[module]
    digest = hashlib.sha256()
    for library in NUMBERS_FROM:
        digest.update(f"{library}=={version(library)}\n".encode())
    for module, source in sorted(sources.items()):
        digest.update(f"{module}\n{_meaning(source)[0]}\n".encode())
    return digest.hexdigest()[:16]


def imported_modules(module: str) -> frozenset[str]:
    """`module` and all modules of this package that it imports, directly or not."""
    sources: dict[str, Path] = {}
    _follow(module, sources)
    return frozenset(sources)


def _follow(module: str, sources: dict[str, Path]) -> None:
    source = module_file(module)
    if module in sources or source is None:
        return
    sources[module] = source
    for imported in _meaning(source)[1]:
        _follow(imported, sources)


@cache
def _meaning(source: Path) -> tuple[str, tuple[str, ...]]:
    """The dumped syntax tree without docstrings, and the names it may import modules by."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    ours = tuple(name for name in names if name.startswith("bestarm"))
    return ast.dump(without_docstrings(tree)), ours


def without_docstrings(tree: ast.Module) -> ast.Module:
    """A syntax tree after its docstrings are removed from it."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            body[:] = body[1:] or [ast.Pass()]
    return tree


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def module_file(module: str) -> Path | None:
    """The file of a module of this package, if there is one."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None
