"""The outlines of papers are what the papers say, and reading them imports no paper."""

import subprocess
import sys
from hashlib import sha256

import pytest

from bestarm import registry
from bestarm.common import codehash
from bestarm.registry.outline import code_hash, outlines


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_they_say_what_the_paper_says(paper):
    outline, whole = outlines()[paper], registry.PAPERS[paper]
    assert list(outline.experiments) == list(whole.experiments)
    assert list(outline.targets) == list(whole.targets)
    for name, target in whole.targets.items():
        short = outline.targets[name]
        assert short[:3] == (name, target.title, target.experiments)
        assert short[3:] == (bool(target.geometry), target.kept)
    assert outline.kept == whole.problems.kept
    for name, experiment in whole.experiments.items():
        digest = sha256(repr(experiment.cells).encode()).hexdigest()
        assert digest.startswith(outline.experiments[name])


def test_hashes_of_code_are_those_of_the_code():
    modules = ("bestarm.runs.shard", "bestarm.baics.strategies")
    assert code_hash(*modules) == codehash.code_hash(*modules)


def test_a_start_of_snakemake_imports_no_paper():
    outlines()  # kept now
    code = (
        "import sys; from bestarm.registry.outline import outlines; outlines();"
        "print([m for m in ('numba', 'scipy', 'pandas', 'bestarm.baics') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
