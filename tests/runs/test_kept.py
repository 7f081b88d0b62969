"""Tables from many long jobs: what is done is kept, whatever happens to the rest."""

import os
import time

import pytest
import yaml

from bestarm.core.inputs import InputError
from bestarm.runs import kept
from bestarm.runs.kept import Job, KeptTable, gather, parts_folder


def job(name, work, *arguments):
    return Job(name, work, arguments, "code")


def test_results_are_in_order_and_processes_are_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "PER_PROCESS", 1)
    names = [str(i) for i in range(4)]
    jobs = [job(f"{name}-{what.__name__}", what, *arguments)
            for name in names
            for what, arguments in ((int, (name,)), (os.getpid, ()))]  # fmt: skip
    results = gather(jobs, tmp_path / "a.csv", 2, "numbers")
    assert results[::2] == [0, 1, 2, 3]
    assert len(set(results[1::2])) == 4
    assert os.getpid() not in results


def test_a_lost_process_is_an_error_and_the_rest_can_go_on(tmp_path):
    table = tmp_path / "a.csv"
    jobs = [job("good", int, "7"), job("lost", os._exit, 3), job("later", int, "8")]
    with pytest.raises(InputError, match=r"^lost: its process ended, .* run it again to go on"):
        gather(jobs, table, 1, "numbers")
    kept = [path.name for path in parts_folder(table).iterdir()]
    assert kept == ["code-good.json"]
    made = parts_folder(table).joinpath("code-good.json").stat().st_mtime_ns
    jobs[1] = job("lost", int, "9")
    assert gather(jobs, table, 1, "numbers") == [7, 9, 8]
    assert parts_folder(table).joinpath("code-good.json").stat().st_mtime_ns == made


def test_after_an_error_running_jobs_end_and_others_do_not_begin(tmp_path):
    table = tmp_path / "a.csv"
    jobs = [
        job("slow", time.sleep, 3),
        job("wrong", int, "x"),
        *[job(f"{i}", int, i) for i in "12"],
    ]
    with pytest.raises(ValueError, match="invalid literal"):
        gather(jobs, table, 2, "numbers")
    assert [path.name for path in parts_folder(table).iterdir()] == ["code-slow.json"]


def rows(count):
    """Some rows of a table."""
    return [{"count": count, "half": count / 2, "none": None} for _ in range(count)]


def jobs():
    return [job(f"{count}", rows, count) for count in (1, 2)]


TABLE = KeptTable("m", "rows", {"runs": 1}, ("numpy",), jobs, ("2",), ("count", "half", "none"))


def test_a_table_is_the_rows_of_its_jobs_with_its_provenance_and_law(tmp_path):
    out = tmp_path / "kept/a.csv"
    out.parent.mkdir()
    TABLE.make(out, 1)
    assert out.read_text().splitlines() == ["count,half,none", "1,0.5,", "2,1.0,", "2,1.0,"]
    assert [path.name for path in sorted(out.parent.iterdir())] == ["a.csv", "provenance.yaml"]
    described = yaml.safe_load(out.with_name("provenance.yaml").read_text())
    assert described["law"] == 1
    assert described["command"] == "python -m m --out data/kept/a.csv"


def test_a_law_is_stamped_only_if_the_rows_of_the_sample_are_kept_ones(tmp_path, monkeypatch):
    """Rows that are not of the sample are not made."""
    out = tmp_path / "kept/a.csv"
    out.parent.mkdir()
    TABLE.make(out, 1)
    made = out.with_name("provenance.yaml").read_text()
    asked = []

    def gather(jobs, *_):
        asked.append([job.name for job in jobs])
        return [job.work(*job.arguments) for job in jobs]

    monkeypatch.setattr(kept, "gather", gather)
    KeptTable(**vars(TABLE) | {"law": 2, "module": "moved"}).stamp(out, 1)
    now = yaml.safe_load(out.with_name("provenance.yaml").read_text())
    changed = {"law": 2, "command": "python -m moved --out data/kept/a.csv", "made_again": ["2"]}
    assert now == yaml.safe_load(made) | changed
    assert asked == [["2"]]
    out.with_name("provenance.yaml").write_text(made)
    out.write_text(out.read_text().replace("2,1.0,", "2,1.00,"))
    with pytest.raises(InputError, match=r"a\.csv: has no row 2,1\.0,, which its code makes now"):
        TABLE.stamp(out, 1)
    out.write_text(out.read_text() + "2,1.0,\n")
    with pytest.raises(InputError, match=r"a\.csv: is not the file that .*provenance\.yaml"):
        TABLE.stamp(out, 1)
    assert out.with_name("provenance.yaml").read_text() == made


def test_a_table_can_be_described_while_parts_are_missing(tmp_path):
    out = tmp_path / "kept/a.csv"
    out.parent.mkdir()
    gather(jobs()[:1], out, 1, "rows")
    TABLE.write(jobs()[:1], [rows(1)], out)
    TABLE.describe(out, "1 row")
    assert yaml.safe_load(out.with_name("provenance.yaml").read_text())["what"] == "1 row"
    assert len(list(parts_folder(out).iterdir())) == 1
    TABLE.make(out, 1)
    assert not parts_folder(out).exists()
