"""Faults of a machine, on real builds: kills, damaged files, a full disk, two builds at once.

Every test starts from a finished build of a project whose only paper is the toy, disturbs the build
and wants the undisturbed files back, byte by byte.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import toy

TABLE = "figures/smoke/toy/fig1.csv"
ERRORS = "results/smoke/toy/errors"
SUMMARY = f"{ERRORS}/summary.csv"
SHARDS = [f"{ERRORS}/shard-0.parquet", f"{ERRORS}/shard-1.parquet"]


class Project:
    """A copy of the project, and the commands a person gives in it."""

    def __init__(self, folder: Path, cache: Path):
        self.folder = folder
        self.cache = cache  # of compiled kernels
        self.processes: list[subprocess.Popen] = []

    def start(self, *command: str) -> subprocess.Popen:
        """Start a command in a session of its own, without this project's environment."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        environment["NUMBA_CACHE_DIR"] = str(self.cache)
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def run(self, *command: str, fails: bool = False) -> str:
        """Run a command to its end, which is to be good or, if so said, an error."""
        process = self.start(*command)
        output, _ = process.communicate()
        assert (process.returncode != 0) == fails, output
        return output

    def made(self) -> dict[str, bytes]:
        """All that is built, by path; not manifests, nor the temporary files of killed jobs."""
        files = [*self.folder.glob("results/smoke/**/*"), *self.folder.glob("figures/**/*")]
        return {
            str(f.relative_to(self.folder)): f.read_bytes()
            for f in files
            if f.is_file() and f.name != "all" and not f.name.startswith(".")
        }

    def half_written(self) -> set[Path]:
        """Temporary files of the first shard, of jobs that write it or were killed meanwhile."""
        return set((self.folder / ERRORS).glob(".shard-0.parquet.*"))

    def forget(self, *paths: str) -> None:
        for path in paths:
            if (self.folder / path).is_dir():
                shutil.rmtree(self.folder / path)
            else:
                (self.folder / path).unlink()


@pytest.fixture(scope="module")
def built(copy_project, tmp_path_factory):
    """A finished build from nothing."""
    base = tmp_path_factory.mktemp("faults")
    project = Project(base / "built", base / "cache")
    copy_project(project.folder)
    project.forget("figures", "notebooks", "tests")
    toy.alone_in(project.folder, "toy", size="{replications: 10000, per_shard: 5000}")
    (project.folder / ".venv").mkdir()
    (project.folder / ".venv/.ready").touch()  # make is not to install anything
    project.run("snakemake", TABLE)
    return project


@pytest.fixture
def project(built, tmp_path):
    copy = Project(tmp_path / "copy", built.cache)
    shutil.copytree(built.folder, copy.folder)
    yield copy
    for process in copy.processes:
        if process.poll() is None:  # the test failed
            kill(process)


@pytest.fixture
def undisturbed(built):
    return built.made()


def kill(process: subprocess.Popen) -> None:
    """Kill a command and all that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def wait_for(process: subprocess.Popen, condition) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.005)


def error_lines(output: str) -> list[str]:
    assert "Traceback" not in output
    return [line for line in output.splitlines() if line.startswith("error:")]


def truncate(files) -> None:
    files = list(files)
    assert files
    for file in files:
        os.truncate(file, file.stat().st_size // 2)


def pids_of(process: subprocess.Popen, word: str) -> list[int]:
    """What a command has started, by a word of its command line, or the end of one."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # ended meanwhile
            words = entry.read_text().split("\0")
            pid = int(entry.parent.name)
            if os.getsid(pid) == process.pid and any(w.endswith(word) for w in words):
                found.append(pid)
    return found


@pytest.mark.long
def test_a_killed_shard(project, undisturbed):
    """The build fails and names the job; the same command goes on, with one core as with more."""
    project.forget(SHARDS[0], SUMMARY, TABLE)
    process = project.start("snakemake", TABLE)
    wait_for(process, project.half_written)
    for pid in pids_of(process, "shard"):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    output, _ = process.communicate()
    assert process.returncode != 0
    assert "Error in rule shard" in output
    assert f"output: {SHARDS[0]}" in output
    assert not (project.folder / SHARDS[0]).exists()
    project.run("snakemake", "--cores", "1", TABLE)
    assert project.made() == undisturbed


RESUME = ("make", "resume", f"TARGET={TABLE}")


def kill_before_it_is_noted(project):
    """Kill a build when a shard is there and Snakemake, which is held up, has not noted that."""
    left = project.half_written()
    process = project.start(*RESUME)
    wait_for(process, lambda: project.half_written() - left)
    (snakemake,) = pids_of(process, "/snakemake")
    os.kill(snakemake, signal.SIGSTOP)
    wait_for(process, (project.folder / SHARDS[0]).exists)
    kill(process)
    assert any((project.folder / ".snakemake/incomplete").iterdir())


def check_resumed(project, undisturbed):
    """The build goes on to the files of one that was left alone, and no others."""
    project.run(*RESUME)
    assert project.made() == undisturbed
    for folder in ("results", "figures"):
        assert not list((project.folder / folder).rglob(".*"))


def test_a_kill_of_the_workflow(project, undisturbed):
    """The next build makes again the shard that may be half of one, and leaves nothing of it."""
    project.forget("results", TABLE)
    kill_before_it_is_noted(project)
    (project.folder / ERRORS / ".shard-1.parquet.killed").touch()
    check_resumed(project, undisturbed)


@pytest.mark.long
def test_kills_of_the_workflow(project, undisturbed):
    """Each build goes on from where the one before was killed, and the last is left alone."""
    project.forget("results", TABLE)
    plan, shard = (
        project.folder / name for name in ("results/smoke/toy/instances.json", SHARDS[0])
    )

    # In the middle: the plan is there, and what comes after it is being made.
    process = project.start(*RESUME)
    wait_for(process, plan.exists)
    kill(process)

    # While a shard writes.
    left = project.half_written()
    process = project.start(*RESUME)
    wait_for(process, lambda: project.half_written() - left)
    kill(process)
    assert not shard.exists()

    began = time.monotonic()
    kill_before_it_is_noted(project)

    # At a random moment before that.
    process = project.start(*RESUME)
    try:
        process.wait(random.Random(1).uniform(0, time.monotonic() - began))
    except subprocess.TimeoutExpired:
        kill(process)

    check_resumed(project, undisturbed)


@pytest.mark.long
def test_ten_kills_of_the_workflow(project, undisturbed):
    """At random moments of a build from nothing, each gone on from where the one before ended."""
    moments = random.Random(1)
    duration = None  # of a build from nothing, by the last that was left alone
    kills = 0
    project.forget("results", TABLE)
    from_nothing = True
    while kills < 10:
        began = time.monotonic()
        process = project.start(*RESUME)
        try:
            output, _ = process.communicate(timeout=duration and moments.uniform(0, duration))
        except subprocess.TimeoutExpired:
            kill(process)
            kills += 1
            from_nothing = False
        else:
            assert process.returncode == 0, output
            assert project.made() == undisturbed
            if from_nothing:
                duration = time.monotonic() - began
            project.forget("results", TABLE)
            from_nothing = True
    project.run(*RESUME)
    assert project.made() == undisturbed


def test_a_damaged_shard(project, undisturbed):
    """Heeding the message ends in the same tables. Other shards that do not belong have theirs in
    tests/runs/test_shards.py."""
    truncate([project.folder / SHARDS[0]])
    project.forget(SUMMARY, TABLE)
    output = project.run("snakemake", TABLE, fails=True)
    wanted = f"error: {SHARDS[0]}: is missing or damaged; delete it and run again"
    assert error_lines(output) == [wanted]
    project.forget(SHARDS[0])
    project.run("snakemake", TABLE)
    assert project.made() == undisturbed


@pytest.mark.long
def test_two_workflows_at_once(project, undisturbed):
    """The second says why it does not start, and the first ends as if it had been alone."""
    project.forget("results", TABLE)
    first = project.start("snakemake", TABLE)
    wait_for(first, (project.folder / "results/smoke/toy/instances.json").exists)
    os.killpg(first.pid, signal.SIGSTOP)  # else it may end before the second begins
    output = project.run("snakemake", TABLE, fails=True)
    os.killpg(first.pid, signal.SIGCONT)
    assert "make sure that no other Snakemake process is trying to create the same files" in output
    assert "Traceback" not in output
    output, _ = first.communicate()
    assert first.returncode == 0, output
    assert project.made() == undisturbed


@pytest.fixture
def small_disk(project):
    """Room for files of 32 kB: a command in front of others, the error, and how to make room."""
    results = project.folder / "results"
    project.forget("results", TABLE)
    results.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(results)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):  # not allowed here
        # Without bytecode: modules that are cut off could not be read again.
        limited = ["bash", "-c", 'ulimit -f 32; PYTHONDONTWRITEBYTECODE=1 "$@"', "bash"]
        yield limited, "File too large", lambda: None
    else:
        grow = ["mount", "-o", "remount,size=16m", str(results)]
        yield [], "No space left on device", lambda: subprocess.run(grow, check=True)
        subprocess.run(["umount", "--lazy", results], check=True)


@pytest.mark.long
def test_a_full_disk(project, undisturbed, small_disk):
    """The file and the reason are named, no half of a file is left, and later it goes on."""
    limited, reason, make_room = small_disk
    lines = error_lines(project.run(*limited, "snakemake", TABLE, fails=True))
    assert lines
    expected = [f"error: {shard}: not written: {reason}" for shard in SHARDS]
    for said in (*expected, "RuleException:"):  # two threads of Snakemake may share a line
        lines = [line.replace(said, "") for line in lines]
    assert not any(lines)
    assert project.made().items() <= undisturbed.items()
    make_room()
    project.run("snakemake", TABLE)
    assert project.made() == undisturbed


@pytest.mark.long
def test_truncated_kernels(project, undisturbed, tmp_path):
    """Shards that find them compile again, two at a time."""
    project.cache = Path(shutil.copytree(project.cache, tmp_path / "cache"))
    truncate(project.cache.rglob("*.nbc"))
    project.forget(*SHARDS, SUMMARY, TABLE)
    project.run("snakemake", TABLE)
    logs = (project.folder / "results/logs/smoke/toy/errors").glob("shard-*.log")
    assert any("has a damaged file, so all is compiled again" in log.read_text() for log in logs)
    assert project.made() == undisturbed


def test_a_truncated_index_of_kernels(project, tmp_path):
    project.cache = Path(shutil.copytree(project.cache, tmp_path / "cache"))
    truncate(project.cache.rglob("*.nbi"))
    compiling = ("env", "PYTHONPATH=src", "python", "-m", "bestarm", "workflow", "compile", "toy")
    assert "has a damaged file, so all is compiled again" in project.run(*compiling)
    assert project.run(*compiling) == ""
