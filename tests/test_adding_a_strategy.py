"""docs/adding-a-strategy.md: in an empty folder, and to a copy of the package and taken back."""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from bestarm import registry
from bestarm.core.compile import PACKAGE, cache_folder


def blocks(root):
    """The page's pieces of Python."""
    text = (root / "docs/adding-a-strategy.md").read_text()
    found = re.findall(r"^ *```python\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(piece) for piece in found]


@pytest.fixture
def package(root, tmp_path):
    """A copy of the package with the page's strategy, and the kernels of files that are as before.

    Nothing in them follows from what is new. Numba takes those of files of the same size and time.
    """
    folder = tmp_path / "bestarm"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    *_, section, row = blocks(root)
    with (folder / "baics/steps.py").open("a") as steps:
        steps.write(f"\n\n{section}")
    table = folder / "baics/strategies.py"
    edited = table.read_text().replace(
        "    choose_ta_s,\n", "    choose_in_turn,\n    choose_ta_s,\n"
    )
    table.write_text(edited.replace("STRATEGIES = {\n", f"STRATEGIES = {{\n    {row}"))
    for paper in ("baics", None):
        named = f"from bestarm.core.compile import cache_folder; print(cache_folder({paper!r}))"
        kernels = python(folder, root, "-c", named).stdout.strip()
        shutil.copytree(cache_folder(paper), kernels, dirs_exist_ok=True)
    return folder


def python(package, root, *command):
    cache = str(package.parent / "cache")
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": cache}
    return subprocess.run(
        [sys.executable, *command],
        env=environment, cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_from_an_empty_folder_to_a_table_and_a_picture(root, tmp_path):
    """The files and scripts of the page, as written, and its commands."""
    file, script, compiled, same, *_ = blocks(root)
    (tmp_path / "my_strategy.py").write_text(file)
    (tmp_path / "my_compiled.py").write_text(compiled)
    (tmp_path / "my-instance.yaml").write_text(
        "paper: linear\narms: [[1, 0], [0, 1], [0.6, 0.8]]\ntheta: [2, 0]\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}

    def here(*command):
        result = subprocess.run(
            [sys.executable, *command],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    (tmp_path / "script.py").write_text(f"{script}\n{same}")
    assert "Elimination" in here("script.py")
    assert (tmp_path / "elimination.png").stat().st_size > 10_000

    page = (root / "docs/adding-a-strategy.md").read_text()
    command = re.search(r"^bestarm (run .*--plugin .*)$", page, re.MULTILINE)[1].split()
    said = here("-m", "bestarm", *command, "--reps", "20")
    assert said.count("Elimination") == said.count("LinGapE") > 0
    assert (tmp_path / "compared.pdf").is_file()
    command = re.search(r"^python (-m bestarm.conformance .*)$", page, re.MULTILINE)[1].split()
    assert here(*command).endswith("all holds\n")


def test_what_other_papers_need_is_there(root):
    """A line per paper, and what it names stands in its modules, or as `choose_uniform`."""
    page = (root / "docs/adding-a-strategy.md").read_text()
    table = page.partition("What other papers need")[2].partition("Further parts")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|(.*)$", table, re.MULTILINE))
    assert set(rows) == set(registry.PAPERS)
    for paper, row in rows.items():
        for file in re.findall(rf"\]\(\.\./(src/bestarm/{paper}/\w+\.py)\)", row):
            assert (root / file).is_file()
        modules = [path.read_text() for path in (PACKAGE / paper).rglob("*.py")]
        for name in re.findall(r"`(\w+)`", row):
            defined = re.compile(rf"^(?:[ ]*def |class )?{name}(?:_\w+)?\b", re.MULTILINE)
            assert any(map(defined.search, modules)), (paper, name)


@pytest.mark.long
def test_a_strategy_is_added_and_removed(package, root, tmp_path):
    suite = ("pytest", "-q", "-p", "no:cacheprovider", "tests/test_contract.py", "-k")
    contract = python(package, root, "-m", *suite, "In-turn")
    assert contract.returncode == 0, contract.stdout
    assert contract.stdout.split()[0] == "..."  # three tests passed

    instance = tmp_path / "mine.yaml"
    instance.write_text(
        "paper: baics\nname: mine\nmeans: [[0.9, 0.8], [0.1, -0.9]]\nweights: [0.5, 0.5]\n"
    )
    asked = ("bestarm", "run", str(instance), "--reps", "5", "--strategy", "In-turn")
    shown = python(package, root, "-m", *asked)
    assert shown.returncode == 0, shown.stderr
    assert "In-turn" in shown.stdout

    for name in ("steps.py", "strategies.py"):
        shutil.copy(PACKAGE / "baics" / name, package / "baics" / name)
    refused = python(package, root, "-m", *asked)
    assert refused.returncode == 2
    assert "In-turn" in refused.stderr
