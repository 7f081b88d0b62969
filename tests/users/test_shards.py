"""Shards of `bestarm run`, merged: what one machine would have written, or one line."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestarm.core.inputs import InputError
from bestarm.users.shards import Share, share_from
from command_line import bestarm

PLUGIN = """\
class InTurn:
    def __init__(self, arms):
        self.arms, self.told = len(arms), 0

    def ask(self):
        return self.told % self.arms

    def tell(self, arm, reward):
        self.told += 1

    done = property(lambda self: self.told == 20)
    answer = 0
"""
RUN = ("run", "linear/d=2", "--cap", 50, "--reps", 10, "--strategy", "LinGapE", "--seed", 3)


def shard(folder, number, *others, of=3):
    """Write a shard; returns its file."""
    path = folder / f"{number}.parquet"
    result = bestarm(*RUN, *others, "--shard", f"{number}/{of}", "--out", path, cwd=folder)
    assert result.code == 0, result.err
    return path


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    return [shard(folder, number) for number in (1, 2, 3)]


@given(st.integers(1, 200), st.data())
def test_every_run_is_in_one_shard_and_sizes_differ_by_one(reps, data):
    shards = data.draw(st.integers(1, reps))
    parts = [Share(number, shards).of(reps) for number in range(1, shards + 1)]
    assert [r for part in parts for r in part] == [*range(reps)]
    assert {len(part) for part in parts} <= {reps // shards, reps // shards + 1}


@pytest.mark.parametrize("options", [(), ("--cores", 2)], ids=["", "two cores"])
def test_merged_shards_are_one_run(tmp_path, options):
    """Byte for byte, also of a plugin, whose first run is timed alone; in any order."""
    (tmp_path / "mine.py").write_text(PLUGIN)
    more = ("--plugin", "mine.py", *options)
    result = bestarm(*RUN, *more, "--out", "whole.parquet", "--csv", "whole.csv", cwd=tmp_path)
    assert result.code == 0, result.err
    files = [shard(tmp_path, number, *more) for number in (3, 1, 2)]
    out = ("--out", "merged.parquet", "--csv", "merged.csv")
    merged = bestarm("merge", *files, *out, cwd=tmp_path)
    assert merged.code == 0, merged.err
    assert merged.out == result.out.replace("whole", "merged")
    for ending in ("parquet", "csv"):
        one, other = (tmp_path / f"{name}.{ending}" for name in ("whole", "merged"))
        assert one.read_bytes() == other.read_bytes()


def refused(*arguments, cwd):
    result = bestarm(*arguments, cwd=cwd)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    return result.err.removeprefix("error: ").rstrip()


def test_what_is_no_complete_run_is_one_line(tmp_path, shards):
    folder = shards[0].parent
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(shards[0].read_bytes())

    def said(*paths):
        return refused("merge", *paths, cwd=folder)

    assert said(*shards[:2]) == "shards: of 3, number 3 missing"
    assert said(shards[2]) == "shards: of 3, number 1, 2 missing"
    assert said(shards[0], copy) == f"{copy}: is the same shard as {shards[0]}"
    assert said("none.parquet") == "none.parquet: No such file or directory"
    copy.write_bytes(shards[1].read_bytes()[:-100])
    assert said(shards[0], copy) == f"{copy}: is damaged, or no .parquet file"
    table = pq.read_table(shards[1]).replace_schema_metadata({})
    pq.write_table(table, copy)
    assert said(copy) == f"{copy}: is no shard that `bestarm run --shard` wrote"


@pytest.mark.parametrize(
    ("options", "of", "what"),
    [
        (("--seed", 4), 3, "--seed"),
        (("--reps", 11), 3, "--reps"),
        ((), 4, "number of shards"),
        (("--delta", 0.2), 3, "options or strategies"),
        (("--strategy", "XY"), 3, "options or strategies"),
        (("--plugin", "mine.py"), 3, "plugin"),
    ],
)
def test_shards_of_different_runs_are_not_merged(tmp_path, shards, options, of, what):
    (tmp_path / "mine.py").write_text(PLUGIN)
    other = shard(tmp_path, 2, *options, of=of)
    err = refused("merge", shards[0], other, shards[2], cwd=tmp_path)
    assert err == f"{other}: is of another run than {shards[0]}: another {what}"


def test_shards_of_other_instances_or_other_code(tmp_path, shards, monkeypatch):
    """The same name is not enough."""
    for place, means in enumerate(([0.3, 0.1], [0.3, 0.2])):
        (tmp_path / str(place)).mkdir()
        instance = tmp_path / str(place) / "a.yaml"
        instance.write_text(f"paper: linear\narms: [[1, 0], [0, 1]]\ntheta: {means}\n")
        out = ("--shard", f"{place + 1}/2", "--out", f"{place}.parquet")
        run = ("run", instance, "--cap", 5, "--reps", 2, "--strategy", "LinGapE")
        assert bestarm(*run, *out, cwd=tmp_path).code == 0
    err = refused("merge", "0.parquet", "1.parquet", cwd=tmp_path)
    assert err == "1.parquet: is of another run than 0.parquet: another instance"
    monkeypatch.setattr("bestarm.users.shards.simulation_code", lambda paper: "other")
    err = refused("merge", *shards, cwd=tmp_path)
    assert err == f"{shards[0]}: was made by another version of bestarm, which can merge it"


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/", "a/b", "-1/3", "1/3/5", "1 / 3", ""])
def test_a_share_that_is_none(text):
    with pytest.raises(InputError, match=r"--shard: must be I/N with I from 1 to N"):
        share_from(text, 10)


def test_what_goes_with_a_shard(tmp_path):
    def said(*options):
        return refused(*RUN, *options, cwd=tmp_path)

    assert said("--shard", "1/11") == "--shard: 10 runs have at most 10 shards, got 1/11"
    assert said("--shard", "1/2") == "--out: is needed with --shard, for `bestarm merge`"
    csv = said("--shard", "1/2", "--out", "x.parquet", "--csv", "x.csv")
    assert csv == "--csv: is for whole runs; `bestarm merge` writes it"
    assert [*tmp_path.iterdir()] == []


def test_a_merge_does_not_write_over_a_shard(shards):
    err = refused("merge", *shards, "--out", shards[1], cwd=shards[0].parent)
    assert err == f"{shards[1]}: is the shard {shards[1]}; --out must name another file"


INSTANCE = "paper: linear\narms: [[1, 0], [0, 1]]\ntheta: [0.3, 0.1]\n"
OPTIONS = ("--cap", "50", "--reps", "6", "--strategy", "LinGapE")


@pytest.mark.long
def test_the_example_of_a_workflow(root, tmp_path):
    """As of one run; a second call has nothing to do."""
    (tmp_path / "my instance.yaml").write_text(INSTANCE)
    config = ("instance=my instance.yaml", "shards=2", f"options={shlex.join(OPTIONS)}")
    command = [str(Path(sys.executable).with_name("snakemake")), "--cores", "2"]
    command += ["--snakefile", str(root / "examples/shards.smk"), "--config", *config]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    how = {"cwd": tmp_path, "env": os.environ | {"PATH": path}, "text": True, "check": True}
    subprocess.run(command, **how)
    out = ("--out", "one.parquet", "--csv", "one.csv")
    assert bestarm("run", "my instance.yaml", *OPTIONS, *out, cwd=tmp_path).code == 0
    for name, one in (("runs.parquet", "one.parquet"), ("statistics.csv", "one.csv")):
        assert (tmp_path / name).read_bytes() == (tmp_path / one).read_bytes()
    again = subprocess.run(command, **how, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert "Nothing to be done" in again.stdout
