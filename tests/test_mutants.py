"""The list of planted faults is in step with the code; `make mutants` plants them."""

import ast
from collections import Counter

import pytest

from mutants.faults import Fault, arguments_of, places, plant, read_faults

FAULTS = read_faults()


def test_every_fault_stands_once_in_the_code_and_names_tests_that_exist(root):
    folders = Counter()
    for fault in FAULTS.values():
        found = list(places(fault))
        assert len(found) == 1, f"{fault.name}: its old lines stand {len(found)} times in the code"
        assert fault.old != fault.new, fault.name
        for test in arguments_of(fault):
            file, _, names = test.partition("::")
            name = names.rpartition("::")[2].partition("[")[0]
            assert name in (root / file).read_text(), f"{fault.name}: {test}"
        folders[found[0].file.parent] += 1
    assert len(FAULTS) >= 60
    kernels = {path.parent for path in (root / "src/bestarm").rglob("*.py") if path.stat().st_size}
    few = {folder.name for folder in kernels if folders[folder] < 3}
    assert not few, f"folders with fewer than three faults: {few}"


def test_a_fault_is_planted_where_its_lines_stand(tmp_path):
    """At any indentation, and nothing else changes."""
    file = tmp_path / "src/bestarm/room/kernel.py"
    file.parent.mkdir(parents=True)
    file.write_text("def f(x):\n    if x:\n        y = 1\n        z = 2\n    return x\n")
    fault = Fault(name="a", breaks="b", old="y = 1\nz = 2\n", new="y = 3\n", tests=["t.py"])
    assert plant(fault, tmp_path) == file
    assert file.read_text() == "def f(x):\n    if x:\n        y = 3\n    return x\n"
    with pytest.raises(ValueError, match="not enough values"):
        plant(fault, tmp_path)


def test_planted_python_is_python():
    for fault in FAULTS.values():
        (place,) = places(fault)
        if place.file.suffix == ".py":
            lines = place.file.read_text().split("\n")
            n = fault.old.rstrip("\n").count("\n") + 1
            new = [place.indent + line for line in fault.new.rstrip("\n").split("\n")]
            ast.parse("\n".join([*lines[: place.line], *new, *lines[place.line + n :]]))
