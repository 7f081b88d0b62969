"""Planted faults: a few lines that are replaced by others, and the tests that should see it.

A fault is found by its lines, at any indentation and in any file, so that code may move.
"""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from bestarm.core.inputs import Input, load

ROOT = Path(__file__).parents[2]
#: Where faults are planted.
PLACES = ("Snakefile", "src/bestarm/**/*.py", "workflow/**/*.smk", "workflow/**/*.py")


class Fault(Input):
    """An entry of faults/*.yaml."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    breaks: str = Field(min_length=1, description="what goes wrong, in one line")
    old: str = Field(min_length=1, description="whole lines that stand once in the code")
    new: str = Field(description="the lines that replace them")
    tests: list[str] = Field(
        min_length=1, description="the ends of paths of tests, PATH or PATH::NAME"
    )


class Faults(Input):
    """A file of them."""

    faults: list[Fault]


class Place(NamedTuple):
    """Where the old lines of a fault stand."""

    file: Path
    line: int  # from 0
    indent: str


def read_faults() -> dict[str, Fault]:
    """All faults by name."""
    files = sorted(Path(__file__).with_name("faults").glob("*.yaml"))
    listed = [fault for file in files for fault in load(Faults, file).faults]
    by_name = {fault.name: fault for fault in listed}
    assert len(by_name) == len(listed), "two faults have one name"
    return by_name


def places(fault: Fault, root: Path = ROOT) -> Iterator[Place]:
    """Where the old lines stand."""
    old = fault.old.rstrip("\n").split("\n")
    for file in sorted({path for pattern in PLACES for path in root.glob(pattern)}):
        text = file.read_text(encoding="utf-8")
        if old[0].strip() not in text:
            continue
        lines = text.split("\n")
        for start in range(len(lines) - len(old) + 1):
            window = lines[start : start + len(old)]
            if old[0].strip() in window[0] and _dedented(window) == old:
                yield Place(file, start, window[0][: len(window[0]) - len(window[0].lstrip())])


def _dedented(lines: list[str]) -> list[str]:
    return textwrap.dedent("\n".join(lines)).split("\n")


def plant(fault: Fault, root: Path) -> Path:
    """Replace the old lines in a copy of the project; the file that changed."""
    (place,) = places(fault, root)
    lines = place.file.read_text(encoding="utf-8").split("\n")
    n = fault.old.rstrip("\n").count("\n") + 1
    new = textwrap.indent(fault.new.rstrip("\n"), place.indent).split("\n") if fault.new else []
    lines[place.line : place.line + n] = new
    place.file.write_text("\n".join(lines), encoding="utf-8")
    return place.file


def arguments_of(fault: Fault, root: Path = ROOT) -> list[str]:
    """The arguments of pytest."""
    return [_test_file(test, root) for test in fault.tests]


def _test_file(test: str, root: Path) -> str:
    end, colons, name = test.partition("::")
    (path,) = [
        p for p in (root / "tests").rglob(Path(end).name) if p.as_posix().endswith(f"/{end}")
    ]
    return f"{path.relative_to(root).as_posix()}{colons}{name}"
