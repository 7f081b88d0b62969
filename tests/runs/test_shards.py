"""Plans and shards: the same rows however they are cut, and no mixing."""

import json
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bestarm import registry
from bestarm.common.paper import Cell, Experiment
from bestarm.common.tables import read_table, write_table
from bestarm.core.files import write_json
from bestarm.core.inputs import InputError
from bestarm.runs import shard as shard_module
from bestarm.runs import summary
from bestarm.runs.plan import Plan, describe_instances, make_plan, plan_from
from bestarm.runs.shard import open_shard, write_shard
from bestarm.runs.tasks import run

SETTING = {"delta": 0.1, "cap": 300}
EXPERIMENT = Experiment(
    "tiny",
    tuple(
        Cell(instance, strategy, SETTING, "as-written")
        for instance in ("example1", "example2")  # of different shapes
        for strategy in ("T-a-SCS", "Uniform")
    ),
)


@pytest.fixture(scope="module")
def instances():
    every = registry.PAPERS["baics"].problems.instances()
    wanted = {name: every[name] for name in ("example1", "example2")}
    return describe_instances(registry.PAPERS["baics"], wanted)


def plan(instances, per_shard, **changes) -> Plan:
    return make_plan("baics", EXPERIMENT, 7, per_shard, instances).model_copy(update=changes)


def write_all(plan, shards, folder):
    paths = [folder / f"shard-{plan.per_shard}-{i}.parquet" for i in range(shards)]
    for index, path in enumerate(paths):
        write_shard(plan, registry.PAPERS[plan.paper], index, path)
    return paths


def summarise(plan, paths):
    return summary.summarise(plan, registry.PAPERS[plan.paper], paths)


def tasks_of(plan):
    return plan.tasks(registry.PAPERS[plan.paper])


def rows(paths):
    found = pa.concat_tables([pq.read_table(p) for p in paths]).to_pylist()
    return sorted(found, key=lambda row: (row["instance"], row["strategy"], row["replication"]))


def test_same_rows_for_1_3_and_7_shards(instances, tmp_path):
    cut = {s: rows(write_all(plan(instances, 21 // s), s, tmp_path)) for s in (1, 3, 7)}
    assert len(cut[1]) == 4 * 21
    assert cut[1] == cut[3] == cut[7]


def test_more_replications_extend_the_old_ones(instances, tmp_path):
    """The plan does not know how many shards there are, so old shards stay what they are."""
    few = write_all(plan(instances, 4), 2, tmp_path / "few")
    more = write_all(plan(instances, 4), 3, tmp_path / "more")
    assert [p.read_bytes() for p in few] == [p.read_bytes() for p in more[:2]]


def test_shards_are_written_the_same_every_time(instances, tmp_path):
    one, two = (write_all(plan(instances, 3), 1, tmp_path / n)[0] for n in "ab")
    assert one.read_bytes() == two.read_bytes()


def test_strategies_share_rewards_but_not_across_instances_or_seeds(instances):
    one = plan(instances, 1)
    keys = [task.key for task in tasks_of(one)]
    assert keys[0] == keys[1] != keys[2] == keys[3]
    assert tasks_of(plan(instances, 1, seed=8))[0].key != keys[0]


def test_an_experiment_may_have_the_streams_of_another(instances):
    """Cells that moved to an experiment of their own keep their runs."""
    cell = EXPERIMENT.cells[:1]
    moved = [make_plan("baics", Experiment("new", cell, s), 7, 5, instances) for s in ("tiny", "")]
    keys = [plan.tasks(registry.PAPERS["baics"])[0].key for plan in moved]
    assert keys[0] == tasks_of(plan(instances, 5))[0].key != keys[1]


def test_summary_is_the_same_however_shards_are_cut(instances, tmp_path):
    for shards in (1, 3):
        cut = plan(instances, 21 // shards)
        table = summarise(cut, write_all(cut, shards, tmp_path / str(shards)))
        write_table(table, tmp_path / f"{shards}.csv")
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "3.csv").read_bytes()


def with_tallies(per_shard) -> Plan:
    """A plan of a paper whose tallies add up."""
    cells = tuple(Cell("easy", "USLP", {"budget": b}, "as-written") for b in (8, 200))
    paper = registry.PAPERS["cbmai"]
    known = describe_instances(paper, {"easy": paper.simulation.easy})
    return make_plan("cbmai", Experiment("errors", cells), 7, per_shard, known)


def test_tallies_give_the_summary_of_all_runs_together(tmp_path, monkeypatch):
    """To the digits that are written, however many runs are held at a time."""
    cut = with_tallies(per_shard=10)
    paths = write_all(cut, 5, tmp_path)
    for block in (10, 20, 100):
        monkeypatch.setattr(summary, "BLOCK", block)
        write_table(summarise(cut, paths), tmp_path / f"{block}.csv")
    texts = {(tmp_path / f"{block}.csv").read_bytes() for block in (10, 20, 100)}
    assert len(texts) == 1


def test_memory_of_a_summary_does_not_grow_with_the_shards(tmp_path, monkeypatch):
    """Sixteen times the runs in a tenth more memory (Python's, NumPy's and Arrow's together)."""
    runs = 1000
    cut = with_tallies(runs)
    columns = run(tasks_of(cut)[0], range(runs))

    def same_but_numbered(task, replications):
        return {**columns, "replication": np.asarray(replications)}

    monkeypatch.setattr(shard_module, "run", same_but_numbered)
    monkeypatch.setattr(shard_module, "simulation_code", lambda paper: "slow to find while traced")
    monkeypatch.setattr(summary, "BLOCK", 4 * runs)
    paths = write_all(cut, 64, tmp_path)
    summarise(cut, paths[:1])  # imports what it needs
    few, many = (peak_memory(lambda n=n: summarise(cut, paths[:n])) for n in (4, 64))
    assert many < 1.1 * few


def peak_memory(call) -> int:
    """Bytes that a call holds at most, above what was held before."""
    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] + pool.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


def test_summary_holds_what_the_shards_hold(instances, tmp_path):
    cut = plan(instances, 21)
    paths = write_all(cut, 1, tmp_path)
    write_table(summarise(cut, paths), tmp_path / "s.csv")
    table = read_table(tmp_path / "s.csv")
    runs = pq.read_table(paths[0]).to_pandas()
    runs = runs[(runs.instance == "example2") & (runs.strategy == "Uniform")]
    cell = table[(table.instance == "example2") & (table.strategy == "Uniform")]
    found = cell.set_index("statistic")
    assert found.loc["mean_stopping_time", "value"] == pytest.approx(runs.tau.mean(), rel=1e-5)
    assert found.loc["mean_stopping_time", "n"] == 21
    share = np.mean([p[3] / t for p, t in zip(runs.pulls, runs.tau, strict=True)])
    assert found.loc["mean_share:2;1", "value"] == pytest.approx(share, rel=1e-5)


def test_the_plan_hash_names_what_matters(instances):
    one = plan(instances, 5)
    assert one.hash == plan(instances, 5).hash
    assert one.hash != plan(instances, 5, seed=8).hash
    assert one.hash != plan(instances, 6).hash
    changed = json.loads(json.dumps(instances))
    changed["example1"]["instance"]["means"][0][0] = 0.21
    assert one.hash != plan(changed, 5).hash


def test_a_plan_is_the_same_from_the_file_of_instances(instances, tmp_path):
    write_json(tmp_path / "instances.json", instances)
    known = registry.PAPERS["baics"].experiments["example1"]
    found = plan_from(registry.PAPERS["baics"], "example1", 7, 5, tmp_path / "instances.json")
    assert found.hash == make_plan("baics", known, 7, 5, instances).hash


def test_shards_of_another_plan_are_refused(instances, tmp_path):
    (path,) = write_all(plan(instances, 2), 1, tmp_path)
    with pytest.raises(InputError, match=r"shard-2-0.parquet: was made from another plan"):
        open_shard(path, plan(instances, 2, seed=8))


def test_shards_of_other_code_are_refused(instances, tmp_path, monkeypatch):
    (path,) = write_all(plan(instances, 2), 1, tmp_path)
    monkeypatch.setattr(shard_module, "code_hash", lambda *modules: "other")
    with pytest.raises(InputError, match="was made from another code"):
        open_shard(path, plan(instances, 2))


def test_damaged_and_misplaced_shards_are_refused(instances, tmp_path):
    cut = plan(instances, 2)
    (path,) = write_all(cut, 1, tmp_path)
    with pytest.raises(InputError, match=r"shard-2-0.parquet: does not hold replications 2 to 3;"):
        summarise(cut, [path, path])
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + bytes(1000) + whole[1004:])  # the index at the end is sound
    with pytest.raises(InputError, match=r"shard-2-0.parquet: is damaged; delete it and run again"):
        summarise(cut, [path])
    path.write_bytes(whole[:-100])
    with pytest.raises(InputError, match="missing or damaged"):
        summarise(cut, [path])
    with pytest.raises(InputError, match="missing or damaged"):
        summarise(cut, [tmp_path / "none.parquet"])


@pytest.mark.parametrize("content", [None, "{", "[]", '{"paper": "baics"}', "\0"])
def test_a_bad_file_of_instances_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "instances.json").write_text(content)
    with pytest.raises(InputError, match=r"instances\.json: (No such file|is not a file of baics)"):
        plan_from(registry.PAPERS["baics"], "example1", 7, 5, tmp_path / "instances.json")


def test_a_plan_with_other_cells_has_another_hash(instances):
    one = plan(instances, 5)
    fewer = one.model_copy(update={"cells": one.cells[:-1]})
    assert len(fewer.cells) > 0
    assert fewer.hash != one.hash


def test_the_code_of_a_shard_is_that_of_its_paper():
    """Papers share the code that runs them, and differ in their strategies."""
    codes = [shard_module.simulation_code(paper) for paper in registry.PAPERS]
    assert len(set(codes)) == len(codes)
