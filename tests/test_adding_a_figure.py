"""docs/adding-a-figure.md, to the letter: on a copy of the package, with kept runs of Table 1."""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import pandas as pd
import pytest

from bestarm.core.compile import PACKAGE

#: Makes the table of the new target from the rows of the kept one, and draws it.
BUILD = """
from pathlib import Path
from bestarm.common.paper import Sources
from bestarm.common.drawing import save
from bestarm.common.tables import read_table, target_table, write_table
from bestarm.registry import PAPERS

bai, folder = PAPERS["bai"], Path("figures/bai")
kept = read_table(folder / "table1.csv")
summary = kept[~kept.reading.isin(["published", "exact"])]
table = target_table(bai.targets["errors"], Sources(summary, {}, kept[:0]))
write_table(table, folder / "errors.csv")
save(bai.plots.draw["errors"](read_table(folder / "errors.csv")), folder / "errors.svg")
"""


def blocks(page, language):
    """The page's pieces of a language."""
    found = re.findall(rf"^ *```{language}\n(.*?)^ *```", page, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(piece) for piece in found]


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs/adding-a-figure.md").read_text()


@pytest.fixture(scope="module")
def project(root, page, tmp_path_factory):
    """The package, data and figures of the paper, with what the page adds to three files."""
    folder = tmp_path_factory.mktemp("project")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "src/bestarm", ignore=ignored)
    for part in ("data/claims", "data/published", "figures/bai"):
        shutil.copytree(root / part, folder / part)
    target, picture, entry = blocks(page, "python")
    (claim,) = blocks(page, "yaml")
    edited(folder / "src/bestarm/bai/targets.py", "\n)", f"\n    {target.strip()},\n)")
    plots = folder / "src/bestarm/bai/plots.py"
    edited(plots, "PLOTS = ", f"{picture}\n\nPLOTS = ")
    last = '        "boundary": boundary,\n'
    edited(plots, last, f"{last}{textwrap.indent(entry, '        ')}")
    with (folder / "data/claims/bai.yaml").open("a") as claims:
        claims.write(f"\n{textwrap.indent(claim, '  ')}")
    return folder


def edited(file, old, new):
    text = file.read_text()
    assert text.count(old) >= 1
    head, _, tail = text.rpartition(old)
    file.write_text(f"{head}{new}{tail}")


def python(project, *command):
    environment = os.environ | {"PYTHONPATH": str(project / "src")}
    ran = subprocess.run(
        [sys.executable, *command],
        env=environment, cwd=project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_page_adds_some_twenty_lines_to_three_files(page):
    lines = [
        line
        for kind in ("python", "yaml")
        for one in blocks(page, kind)
        for line in one.split("\n")
    ]
    assert 15 <= len([line for line in lines if line]) <= 25
    assert len(set(re.findall(r"^\d\. \*\*.*?\]\((.*?)\)", page, re.MULTILINE | re.DOTALL))) == 3


def test_the_figure_is_drawn_and_the_claim_is_judged(project, page):
    python(project, "-c", BUILD)
    picture = (project / "figures/bai/errors.svg").read_text()
    assert all(name in picture for name in ("KL-LUCB", "share of wrong answers", "Dotted: δ."))
    (command,) = re.findall(r"^bestarm (workflow control .*)$", page, re.MULTILINE)
    python(project, "-m", "bestarm", *command.split())
    verdicts = pd.read_csv(project / "control.csv")
    verdict = verdicts[verdicts.id == "mu1-errors-of-kl-lucb"].verdict
    assert list(verdict) == ["confirmed by the text"]
