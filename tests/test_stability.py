"""docs/interface.txt lists everything that docs/stability.md promises, so no change is unseen.

Run as a script, this writes the list anew; what leaves it or changes there stands in CHANGELOG.
"""

import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

from typer.main import get_command

from bestarm.cli import app
from bestarm.live.record import FORMAT, Event

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs/interface.txt"
#: Pages for who adds a paper, which may change with any minor version.
INSIDE = ("core", "types")
#: Commands for jobs of the build, which may change at any time.
INNER = "workflow"


def parameters(thing: object) -> str:
    """Names of parameters, after * those that have to be named; in brackets, what has a default."""
    words, named = [], False
    for each in inspect.signature(thing).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not named:
            words, named = [*words, "*"], True
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        named = named or star == "*"
        words.append(f"[{each.name}]" if each.default is not each.empty else star + each.name)
    return ", ".join(word for word in words if word != "self")


def names() -> Iterator[str]:
    """Functions, classes, and what users call of these, on the promised pages of docs/api."""
    pages = [page for page in sorted((ROOT / "docs/api").glob("*.rst")) if page.stem not in INSIDE]
    text = "\n".join(page.read_text() for page in pages)
    for kind, name in re.findall(r"^\.\. auto(\w+):: ((?!\S+\._)\S+)", text, re.M):
        if kind == "module":
            continue
        module, _, attribute = name.rpartition(".")
        thing = getattr(importlib.import_module(module), attribute)
        yield name if kind == "exception" else f"{name}({parameters(thing)})"
        if kind == "class":
            yield from members(thing)


def members(of: type) -> Iterator[str]:
    """Public methods and properties, each under the class of this package that defines it."""
    for base in of.__mro__:
        for name in vars(base) if base.__module__.startswith("bestarm") else ():
            thing = getattr(base, name, None)
            if not name.startswith("_"):
                called = f"({parameters(thing)})" if callable(thing) else ""
                yield f"{base.__name__}.{name}{called}"


def commands() -> Iterator[str]:
    """Commands of `bestarm` with their arguments and options."""
    for name, command in get_command(app).commands.items():
        if name != INNER:
            words = [
                each.opts[0] if each.param_type_name == "option" else each.name.upper()
                for each in command.params
            ]
            yield f"bestarm {name} {' '.join(words)}"


def columns() -> Iterator[str]:
    """What tables have as columns, and what files and options have as fields."""
    for path in sorted((ROOT / "schemas").glob("*.json")):
        schema = json.loads(path.read_text())
        for part, one in {"": schema, **schema.get("$defs", {})}.items():
            if one.get("properties"):
                where = f"{path.name.removesuffix('.schema.json')} {part}".strip()
                yield f"{where}: {', '.join(one['properties'])}"


def interface() -> str:
    """The list."""
    parts = {
        "Python": names(),
        "Command line": commands(),
        "Files": [*columns(), f"history, format {FORMAT}: {', '.join(Event._fields)}"],
    }
    texts = {title: "\n".join(dict.fromkeys(lines)) for title, lines in parts.items()}
    return "\n".join(f"# {title}\n\n{text}\n" for title, text in texts.items())


def test_the_interface_is_the_one_that_is_listed():
    assert interface() == LIST.read_text(), "python tests/test_stability.py; CHANGELOG says why"


if __name__ == "__main__":
    LIST.write_text(interface())
