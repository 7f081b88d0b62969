"""docs/adding-a-strategy.md, done to a copy of the package and taken back."""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from bestarm.core.compile import PACKAGE


def blocks(root):
    """The page's pieces of Python."""
    text = (root / "docs/adding-a-strategy.md").read_text()
    found = re.findall(r"^ *```python\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(piece) for piece in found]


@pytest.fixture
def package(root, tmp_path):
    """A copy of the package with the page's strategy."""
    folder = tmp_path / "bestarm"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    section, row = blocks(root)
    with (folder / "baics/steps.py").open("a") as steps:
        steps.write(f"\n\n{section}")
    table = folder / "baics/strategies.py"
    edited = table.read_text().replace(
        "    choose_ta_s,\n", "    choose_in_turn,\n    choose_ta_s,\n"
    )
    table.write_text(edited.replace("STRATEGIES = {\n", f"STRATEGIES = {{\n    {row}"))
    return folder


def run(package, root, *command):
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    return subprocess.run(
        [sys.executable, "-m", *command],
        env=environment, cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_strategy_is_added_and_removed(package, root, tmp_path):
    suite = ("pytest", "-q", "-p", "no:cacheprovider", "tests/test_contract.py", "-k")
    contract = run(package, root, *suite, "In-turn")
    assert contract.returncode == 0, contract.stdout
    assert contract.stdout.split()[0] == "..."  # three tests passed

    instance = tmp_path / "mine.yaml"
    instance.write_text(
        "paper: baics\nname: mine\nmeans: [[0.9, 0.8], [0.1, -0.9]]\nweights: [0.5, 0.5]\n"
    )
    asked = ("bestarm", "run", str(instance), "--reps", "5", "--strategy", "In-turn")
    shown = run(package, root, *asked)
    assert shown.returncode == 0, shown.stderr
    assert "In-turn" in shown.stdout

    for name in ("steps.py", "strategies.py"):
        shutil.copy(PACKAGE / "baics" / name, package / "baics" / name)
    refused = run(package, root, *asked)
    assert refused.returncode == 2
    assert "In-turn" in refused.stderr
