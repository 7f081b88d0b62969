"""The code hash sees what can change a result, and nothing else."""

import shutil
import sys

import pytest

from bestarm.common import codehash
from bestarm.common.codehash import code_hash, imported_modules
from parsing import meaning

SHARD = ("bestarm.runs.shard", "bestarm.baics.strategies")


def forget():
    """What is remembered of files as they were."""
    code_hash.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package that the hash looks at instead; edit(path, old, new) edits it."""
    copy = tmp_path / "bestarm"
    shutil.copytree(codehash.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(codehash, "PACKAGE", copy)
    monkeypatch.setattr(codehash, "_meaning", meaning)

    def edit(path, old, new):
        file = copy / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
        forget()

    forget()
    yield edit
    forget()


def test_it_is_stable(package):
    before = code_hash(*SHARD)
    forget()
    assert code_hash(*SHARD) == before


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("baics/steps.py", "INITIAL_DRAWS = 5", "INITIAL_DRAWS = 6"),
        ("core/tracking.py", "0.5 / math.sqrt", "0.4 / math.sqrt"),
        ("core/streams.py", "spawn_key=(block,)", "spawn_key=(block + 1,)"),
        ("runs/shard.py", "first + plan.per_shard", "first + plan.per_shard + 1"),
    ],
)
def test_real_changes_are_seen(package, path, old, new):
    before = code_hash(*SHARD)
    package(path, old, new)
    assert code_hash(*SHARD) != before


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("baics/steps.py", "INITIAL_DRAWS = 5", "INITIAL_DRAWS = 5  # as the paper says"),
        ("baics/steps.py", "Uniform: an arm with", "Uniform: one arm with"),
        ("baics/plots.py", "import numpy as np", "import numpy as np\n\nOTHER = 1"),
        ("cli.py", "import os", "import os\n\nOTHER = 1"),
    ],
)
def test_comments_docstrings_plots_and_the_command_line_are_not(package, path, old, new):
    before = code_hash(*SHARD)
    package(path, old, new)
    assert code_hash(*SHARD) == before


def test_versions_count(package, monkeypatch):
    before = code_hash(*SHARD)
    monkeypatch.setattr(codehash, "version", lambda library: "0")
    forget()
    assert code_hash(*SHARD) != before


def test_simulation_does_not_depend_on_pictures_or_other_papers():
    found = set().union(*(imported_modules(m) for m in SHARD))
    assert not any(
        m.endswith((".plots", ".cells", ".targets", ".statistics", ".reference")) for m in found
    )
    assert {m.split(".")[1] for m in found} <= {"core", "common", "runs", "baics"}


@pytest.mark.parametrize(
    "line",
    [
        "from bestarm.core import simplex",
        "import bestarm.core.simplex",
        "from bestarm.core.simplex import project_to_simplex",
    ],
)
def test_modules_are_followed_however_they_are_imported(package, line):
    (codehash.PACKAGE / "other.py").write_text(line)
    assert "bestarm.core.simplex" in imported_modules("bestarm.other")


def test_a_simulation_job_loads_no_plots(root):
    """What the imports say is what is loaded."""
    import subprocess

    code = (
        "import bestarm.runs.shard, bestarm.baics.strategies, sys;"
        "print([m for m in ('matplotlib', 'seaborn', 'pandas', 'cvxpy') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
