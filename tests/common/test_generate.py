"""Tables from many long jobs: what is done is kept, whatever happens to the rest."""

import os
import time

import pytest

from bestarm.common import generate
from bestarm.common.generate import Job, gather, parts_folder
from bestarm.core.inputs import InputError


def job(name, work, *arguments):
    return Job(name, work, arguments, "code")


def test_results_are_in_order_and_processes_are_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "PER_PROCESS", 1)
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
