"""`make verify`: the same rows where they must be, agreement elsewhere, and every mismatch named.

On one small target; its experiment is simulated for real.
"""

import os
import shutil
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from bestarm import registry
from bestarm.cli import app
from bestarm.common.codehash import NUMBERS_FROM
from bestarm.common.paper import Experiment
from bestarm.core.inputs import InputError
from bestarm.registry.scales import read_scale
from bestarm.runs.plan import describe_instances, make_plan
from bestarm.runs.shard import write_shard
from bestarm.runs.tasks import run
from bestarm.verify import hashes as hashes_module
from bestarm.verify.hashes import (
    differences,
    hash_experiment,
    read_hashes,
    rows_hash,
    rows_key,
)
from bestarm.verify.verification import (
    FALSE_ALARMS,
    FEWEST,
    Job,
    Verification,
    chosen,
    simulate,
    worker_pool,
)

PAPER, TARGET = "baics", "no-feasible-arm"
NAME = f"{PAPER}/{TARGET}"
RUNS = 8


@pytest.fixture(scope="module")
def plan():
    """Of the target's experiment, as scale quick has it but for the replications."""
    paper = registry.PAPERS[PAPER]
    instances = describe_instances(paper, paper.problems.instances())
    return make_plan(PAPER, registry.PAPERS[PAPER].experiments[TARGET], 2023, RUNS, instances)


@pytest.fixture(scope="module")
def lines(plan):
    """Key and hash of the experiment's cells."""
    return {
        rows_key(PAPER, TARGET, task.cell, RUNS): rows_hash(run(task, range(RUNS)))
        for task in plan.tasks(registry.PAPERS[PAPER])
    }


@pytest.fixture
def checkout(root, tmp_path, lines, monkeypatch):
    """What `verify` reads of a checkout, with few replications, on the platform of the hashes."""
    for folder in ("data/published", "workflow/scales"):
        shutil.copytree(root / folder, tmp_path / folder)
    pictures = shutil.ignore_patterns("*.svg", "*.png", "*.pdf", "quick", "smoke", "all")
    shutil.copytree(root / "figures", tmp_path / "figures", ignore=pictures)
    scale = yaml.safe_load((root / "workflow/scales/quick.yaml").read_text())
    scale["papers"][PAPER][TARGET] = {"replications": RUNS, "per_shard": RUNS}
    (tmp_path / "workflow/scales/quick.yaml").write_text(yaml.safe_dump(scale))
    shutil.copy(root / "requirements.lock", tmp_path)
    (tmp_path / "data/verify").mkdir()
    write_lines(tmp_path, lines)
    monkeypatch.setattr("bestarm.verify.verification.differences", lambda lock: [])
    return tmp_path


def write_lines(checkout, lines):
    table = pd.DataFrame([(*key, value) for key, value in lines.items()])
    table.columns = [*hashes_module.KEY, "sha256"]
    table.to_csv(checkout / "data/verify/hashes.csv", index=False)


def edit_table(checkout, factor, unit="pulls", **chosen_rows):
    """Multiply the numbers of some rows of the kept table, those in pulls."""
    path = checkout / f"figures/{NAME}.csv"
    table = pd.read_csv(path, keep_default_na=False, na_values={"x": [""]})
    chosen_rows["unit"] = unit
    rows = np.logical_and.reduce([table[c] == v for c, v in chosen_rows.items()])
    assert rows.any()
    for column in ("value", "low", "high"):
        table[column] = table[column].astype(float)
        table.loc[rows, column] *= factor
    table.to_csv(path, index=False)


def verified(checkout, capsys, cores=None, **options):
    """Whether all is well, and what is printed."""
    result = Verification(checkout, [NAME], options.pop("independent", False), cores).run()
    return result, capsys.readouterr().out


@pytest.mark.parametrize("cores", [None, pytest.param(2, marks=pytest.mark.long)])
def test_the_same_rows_are_found_the_same(checkout, capsys, lines, cores):
    """In this process, and on several."""
    well, output = verified(checkout, capsys, cores)
    assert well
    assert f"ok       {NAME}" in output
    assert f"1 of 1 targets are the same ({RUNS * len(lines)} runs of {len(lines)} cells)" in output
    assert not (checkout / "results").exists()


def test_one_cell_with_other_rows_is_named(checkout, capsys, lines):
    key = next(key for key in lines if key[3] == "Uniform")
    write_lines(checkout, lines | {key: "0" * 16})
    well, output = verified(checkout, capsys)
    assert not well
    assert f"MISMATCH {NAME}" in output
    assert f"{TARGET}: Uniform on no-feasible-arm, cap=15000,delta=0.1, {key[5]}: other" in output
    assert output.count("other rows") == 1
    assert "0 of 1 targets are the same" in output


def test_a_cell_without_a_hash_is_named(checkout, capsys, lines):
    write_lines(checkout, dict(list(lines.items())[1:]))
    well, output = verified(checkout, capsys)
    assert not well
    assert "no hash is kept (make verify-hashes)" in output


def test_a_computed_number_that_is_not_the_kept_one_is_named(checkout, capsys):
    edit_table(checkout, 1.001, statistic="lower_bound")
    well, output = verified(checkout, capsys)
    assert not well
    assert "lower_bound is " in output


def test_independent_runs_agree_with_the_kept_table(checkout, capsys, lines):
    well, output = verified(checkout, capsys, independent=True)
    assert well
    assert f"one false alarm in {1 / FALSE_ALARMS:,.0f}" in output
    assert "estimates tested" in output
    assert f"({FEWEST * len(lines)} runs of {len(lines)} cells)" in output


def test_independent_runs_are_other_runs(checkout, lines):
    """Of the same cells, as many: no row is the same. Tests of all tables share false alarms."""
    verification = Verification(checkout, [NAME], True, None, fewest=RUNS)
    assert verification.tests > 1000
    assert verification.alpha * verification.tests == pytest.approx(FALSE_ALARMS)
    assert verification.run()
    (futures,) = verification.futures.values()
    cells = [future.result() for future in futures]
    assert {cell.key for cell in cells} == set(lines)
    assert not {cell.hash for cell in cells} & set(lines.values())


def test_runs_have_the_streams_that_their_experiment_names(checkout, capsys, monkeypatch):
    """With those of another experiment every row is another one."""
    experiments = registry.PAPERS[PAPER].experiments
    moved = replace(experiments[TARGET], streams="example1")
    monkeypatch.setitem(experiments, TARGET, moved)
    well, output = verified(checkout, capsys)
    assert not well
    assert f"MISMATCH {NAME}" in output


@pytest.mark.parametrize("factor", [5.0, 0.2], ids=["too large", "too small"])
def test_independent_runs_reject_a_shifted_table(checkout, capsys, factor):
    edit_table(checkout, factor, strategy="T-a-SCS", reading="maximiser")
    well, output = verified(checkout, capsys, independent=True)
    assert not well
    assert "T-a-SCS, cap=15000,delta=0.1, maximiser: median_stopping_time is" in output
    named = [line for line in output.splitlines() if " is " in line]
    assert all("maximiser" in line for line in named)


def test_the_command_exits_with_1_where_something_differs(checkout, monkeypatch, lines):
    """Of the kept hashes; independent runs, as many as are asked for, agree all the same."""
    write_lines(checkout, dict.fromkeys(lines, "0" * 16))
    monkeypatch.chdir(checkout)
    monkeypatch.setattr("bestarm.verify.verification.worker_pool", lambda cores: worker_pool(None))
    same = CliRunner().invoke(app, ["verify", NAME, "--cores", "1"])
    assert same.exit_code == 1
    assert "again, on 1 cores." in same.output
    other = CliRunner().invoke(app, ["verify", NAME, "--runs", "31"])
    assert other.exit_code == 0
    assert "at least 31 runs a cell (asked for)" in other.output


def test_one_number_in_one_row_changes_the_hash():
    columns = {"tau": np.array([3, 4]), "means": np.array([[0.5, np.nan], [1.0, 2.0]])}
    whole = rows_hash(columns)
    assert rows_hash({"means": columns["means"], "tau": columns["tau"].astype(np.int32)}) == whole
    assert rows_hash(columns | {"tau": np.array([3, 5])}) != whole
    assert rows_hash(columns | {"means": np.nextafter(columns["means"], 9.0)}) != whole
    assert rows_hash(columns | {"means": columns["means"].reshape(4)}) != whole
    assert rows_hash({"tau": columns["tau"]}) != whole


def test_hashes_of_shards_are_those_of_the_rows(plan, lines, tmp_path):
    """However the rows are cut into files."""
    cut = plan.model_copy(update={"per_shard": RUNS // 2})
    for index in range(2):
        write_shard(cut, registry.PAPERS[PAPER], index, tmp_path / f"shard-{index}.parquet")
    assert {
        line[:-1]: line[-1] for line in hash_experiment(cut, registry.PAPERS[PAPER], tmp_path, 2)
    } == lines


def test_a_hash_is_kept_of_every_cell(root):
    sizes = read_scale(root / "workflow/scales/quick.yaml").papers
    wanted = {
        rows_key(paper, experiment.name, cell, sizes[paper][experiment.name].replications)
        for paper in registry.PAPERS
        for experiment in registry.PAPERS[paper].experiments.values()
        for cell in experiment.cells
    }
    assert set(read_hashes(root / "data/verify/hashes.csv")) == wanted


def test_the_kept_hashes_are_right(root):
    """Of one experiment; `make verify` looks at all."""
    if differences(root / "requirements.lock"):
        pytest.skip("rows are promised for one platform")
    kept = read_hashes(root / "data/verify/hashes.csv")
    size = read_scale(root / "workflow/scales/quick.yaml").papers[PAPER][TARGET].replications
    paper = registry.PAPERS[PAPER]
    instances = describe_instances(paper, paper.problems.instances())
    made = make_plan(PAPER, registry.PAPERS[PAPER].experiments[TARGET], 2023, size, instances)
    for task in made.tasks(paper):
        rows = run(task, range(size))
        assert kept[rows_key(PAPER, TARGET, task.cell, size)] == rows_hash(rows), task.cell


def test_a_platform_without_a_promise_says_why(root, tmp_path, monkeypatch):
    lock = tmp_path / "requirements.lock"
    pins = [f"{name}=={version(name)} ; python_version >= '3'" for name in NUMBERS_FROM]
    others = [f"{name}==0.0 ; python_version < '3'" for name in NUMBERS_FROM]
    hashed = [f"{pin} \\\n    --hash=sha256:0\n" for pin in pins + others]
    lock.write_text("".join(hashed))
    monkeypatch.setattr(hashes_module.platform, "system", lambda: "Linux")
    monkeypatch.setattr(hashes_module.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(hashes_module.sys, "version_info", (3, 11, 0))
    assert differences(lock) == []
    lock.write_text("".join(hashed[1:]))
    assert differences(lock) == [f"numpy {version('numpy')} is not the one in requirements.lock"]
    monkeypatch.setattr(hashes_module.platform, "machine", lambda: "arm64")
    monkeypatch.setattr(hashes_module.sys, "version_info", (3, 13, 0))
    reasons = differences(root / "requirements.lock")
    assert any("arm64 is not Linux on x86-64" in reason for reason in reasons)
    assert any("is not 3.11" in reason for reason in reasons)


def test_names_are_papers_or_targets():
    assert list(chosen([])) == list(registry.PAPERS)
    assert [t.name for t in chosen([NAME])[PAPER]] == [TARGET]
    with pytest.raises(InputError, match="nobody: must be PAPER or PAPER/TARGET; papers are baics"):
        chosen(["nobody"])
    with pytest.raises(InputError, match="baics/fig99: baics has no target fig99; only table1"):
        chosen(["baics/fig99"])


@pytest.mark.parametrize("content", [None, "a,b\n1,2\n"])
def test_a_file_of_hashes_that_is_none_is_named(tmp_path, content):
    path = tmp_path / "hashes.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=r"hashes\.csv: is not a file of hashes"):
        read_hashes(path)


#: Of this cell the rounding of a design, and with it the pulls, depend on how BLAS adds.
DELICATE = ("linear", "random", "RAGE", "random K=40 seed=3")


def test_rows_do_not_depend_on_threads_or_processor(root, monkeypatch):
    """Simulated in a process of the pool they have the kept hash, whatever the environment was."""
    if differences(root / "requirements.lock"):
        pytest.skip("rows are promised for one platform")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    paper, name, strategy, instance = DELICATE
    made = registry.PAPERS[paper].module("problem").random_instance(40, 3)
    (cell,) = (
        cell
        for cell in registry.PAPERS[paper].experiments[name].cells
        if (cell.instance, cell.strategy) == (instance, strategy)
    )
    one = Experiment(name, (cell,))
    described = describe_instances(registry.PAPERS[paper], {instance: made})
    plan = make_plan(paper, one, 2023, 2, described)
    with worker_pool(1) as pool:
        found = pool.submit(simulate, Job(plan, 2, 0.95)).result()
    assert found.hash == read_hashes(root / "data/verify/hashes.csv")[found.key]
    assert os.environ["OMP_NUM_THREADS"] == "2"
