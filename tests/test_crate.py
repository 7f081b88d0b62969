"""The crate of a build: complete, with true hashes and times, and refused where there is no build.

Its conformance is checked by `make test-crate`.
"""

import base64
import hashlib
import json
import shutil
from pathlib import Path

import pytest

from bestarm import registry
from bestarm.build.manifest import write_manifest
from bestarm.core.inputs import InputError
from conftest import module_of

BUILD = Path("figures/smoke")
OUT = Path("crate")


@pytest.fixture(scope="module")
def script(root):
    return module_of(root / "workflow/scripts/crate.py")


def record(output, start, end, rule="shard"):
    """As Snakemake keeps it."""
    path = Path(".snakemake/metadata") / base64.urlsafe_b64encode(output.encode()).decode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"rule": rule, "starttime": start, "endtime": end}))


@pytest.fixture(scope="module")
def project(copy_project, tmp_path_factory):
    """One copy for all tests, which take back what they make."""
    folder = tmp_path_factory.mktemp("crate") / "project"
    copy_project(folder)
    return folder


@pytest.fixture
def build(project, monkeypatch):
    """A finished build: the kept tables of one paper and of all, and some jobs."""
    monkeypatch.chdir(project)
    for paper in registry.PAPERS:
        (BUILD / paper).mkdir(parents=True, exist_ok=True)
    shutil.copytree("figures/baics", BUILD / "baics", dirs_exist_ok=True)
    shutil.copy("figures/claims.csv", BUILD)
    write_manifest([BUILD / "baics/table1.csv"], BUILD / "all")
    record("results/smoke/baics/instances.json", 1000.0, 1010.0, "instances")
    record("figures/smoke/forest-toy.svg", 1020.0, 1060.0, "forest")
    record("figures/smoke/all", 1050.0, 1051.0, "manifest")
    record("results/paper/baics/instances.json", 1.0, 2.0)  # of another build
    record("results/smoke/baics/x/shard-0.parquet", 1020.0, None)  # was interrupted
    yield
    for made in (BUILD, OUT, Path(".snakemake")):
        shutil.rmtree(made, ignore_errors=True)


def test_a_crate_has_inputs_workflow_outputs_hashes_and_times(build, script):
    script.write(BUILD, OUT)
    found = json.loads((OUT / "ro-crate-metadata.json").read_text())["@graph"]
    by_id = {one["@id"]: one for one in found}
    files = [one for one in found if "File" in one["@type"] and one["@id"] != "jobs.csv"]
    assert len(files) > 200
    for one in files:
        content = (OUT / one["@id"]).read_bytes()
        assert one["sha256"] == hashlib.sha256(content).hexdigest(), one["@id"]
        assert content == Path(one["@id"]).read_bytes()
    run = by_id["#run"]
    assert (run["startTime"], run["endTime"]) == (
        "1970-01-01T00:16:40+00:00",
        "1970-01-01T00:17:40+00:00",
    )
    inputs, results = ({one["@id"] for one in run[of]} for of in ("object", "result"))
    assert {"data/imdb/imdb12.csv", "data/mip/traces.parquet", "data/claims/lagex.yaml"} <= inputs
    assert {"figures/smoke/baics/table1.csv", "figures/smoke/claims.csv"} <= results
    assert all(one.startswith("figures/smoke/") for one in results)
    assert by_id["data/imdb/imdb12.csv"]["license"]["@id"] in by_id
    assert by_id["#numba"]["softwareVersion"]
    assert "src/bestarm/baics/steps.py" in {one["@id"] for one in by_id["Snakefile"]["hasPart"]}
    assert (OUT / "jobs.csv").read_text().splitlines()[1:] == [
        "results/smoke/baics/instances.json,instances,1970-01-01T00:16:40+00:00,1970-01-01T00:16:50+00:00",
        "figures/smoke/forest-toy.svg,forest,1970-01-01T00:17:00+00:00,1970-01-01T00:17:40+00:00",
        "figures/smoke/all,manifest,1970-01-01T00:17:30+00:00,1970-01-01T00:17:31+00:00",
    ]
    script.write(BUILD, OUT)  # in place of the first


def test_only_a_finished_build_that_was_made_here_has_a_crate(build, script):
    table = BUILD / "baics/table1.csv"
    kept = table.read_text()
    table.write_text(kept + "x")
    with pytest.raises(InputError, match=r"table1\.csv: is not the one of the build"):
        script.write(BUILD, OUT)
    table.write_text(kept)
    shutil.rmtree(".snakemake")
    with pytest.raises(InputError, match="was not built here"):
        script.write(BUILD, OUT)
    (BUILD / "all").unlink()
    with pytest.raises(InputError, match="all: is missing"):
        script.write(BUILD, OUT)
    assert not OUT.exists()


def test_nothing_but_a_crate_is_replaced(build, script):
    OUT.mkdir()
    (OUT / "mine").write_text("kept")
    with pytest.raises(InputError, match="crate: is there and no crate"):
        script.write(BUILD, OUT)
    assert (OUT / "mine").read_text() == "kept"
