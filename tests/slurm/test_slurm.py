"""The workflow on a real Slurm of one node, started and stopped here. `make test-slurm` runs these.

Daemons, key and logs are in a folder of their own, so a Slurm that the machine has is not touched.
"""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from test_workflow import edit

TARGET = os.environ.get("BESTARM_SLURM_TARGET")
if not TARGET:
    pytest.skip("`make test-slurm` runs these", allow_module_level=True)

#: Seconds for a daemon to be ready, or to end.
PATIENCE = 120


@pytest.fixture(scope="class")
def folder_name():
    """A space and an umlaut; what a shell would act on is not tried through the plugin."""
    return "bestärm copy"


def wait_until(condition, what, logs=()):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            said = "".join(Path(log).read_text() for log in logs)
            raise TimeoutError(f"{what}: not so after {PATIENCE} s\n{said}")
        time.sleep(0.2)


def free_ports(count):
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextmanager
def daemon(*command, log, environment):
    """Run a daemon in the foreground of a session of its own, which Ctrl-C does not reach."""
    with log.open("w") as out:
        process = subprocess.Popen(
            command, env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def configure(folder):
    """Write what the daemons read; returns the environment for them and for those who use them."""
    folder.chmod(0o755)  # munged asks for it
    for name in ("bin", "state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    controller_port, node_port = free_ports(2)
    values = {
        "folder": folder,
        "node": socket.gethostname().partition(".")[0],
        "user": getpass.getuser(),
        "controller_port": controller_port,
        "node_port": node_port,
        "cpus": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
    }
    settings = folder / "slurm.conf"
    template = Path(__file__).with_name("slurm.conf").read_text()
    settings.write_text(template.format(**values))
    # The plugin takes SLURM_CONF away from the srun in its jobs.
    srun = folder / "bin/srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={settings} exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"], "/usr/sbin"])
    return {**os.environ, "SLURM_CONF": str(settings), "PATH": path}


@pytest.fixture(scope="module")
def slurm():
    """The environment in which a Slurm of one node is reached."""
    for one in (signal.SIGTERM, signal.SIGHUP):  # then what was started is stopped, too
        signal.signal(one, signal.default_int_handler)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bestarm-slurm-")))
        environment = configure(folder)

        def start(*command):
            log = folder / f"{command[0]}.log"
            stack.enter_context(daemon(*command, log=log, environment=environment))
            return log

        def said(*command):
            result = subprocess.run(command, env=environment, capture_output=True, text=True)
            return result.stdout

        files = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        log = start("munged", "--foreground", f"--socket={folder}/munge.socket", *files)
        wait_until((folder / "munge.socket").exists, "munged listens", [log])
        logs = [start("slurmctld", "-D"), start("slurmd", "-D")]
        wait_until(lambda: "idle" in said("sinfo", "--noheader"), "the node is idle", logs)
        try:
            yield environment
        finally:
            said("scancel", f"--user={getpass.getuser()}")
            wait_until(lambda: not said("squeue", "--noheader"), "no job runs", logs)


def snakemake(project, environment, *arguments):
    """Run Snakemake with the cluster's profile, asking for jobs often and without a database."""
    command = [
        *(str(Path(sys.executable).with_name("snakemake")), "--profile", "profiles/slurm"),
        *("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "1"),
        *arguments,
    ]
    with subprocess.Popen(
        command,
        cwd=project,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)  # it ends its jobs, and the `with` waits for it
            raise
    assert process.returncode == 0, output
    return output


def tables(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.csv")}


class TestSlurm:
    """These share a copy of the project, in which nothing is built."""

    def test_shards_that_are_ready_together_are_a_job_array(self, project, slurm):
        output = snakemake(project, slurm, "results/smoke/baics/example1/summary.csv")
        assert "Submitted array job" in output

    def test_a_job_without_enough_memory_gets_more(self, project, slurm):
        """No Snakemake fits into 64 MB; the accounting says so, and ends the job."""
        rules = project / "workflow/rules/simulate.smk"
        few = "mem_mb=lambda w, attempt: 64 if attempt == 1 else 1500"
        edit(rules, "mem_mb=each_attempt(1500)", few)
        output = snakemake(project, slurm, "results/smoke/baics/no-feasible-arm/summary.csv")
        edit(rules, few, "mem_mb=each_attempt(1500)")
        assert "Trying to restart job" in output
        assert "mem_mb=64" in output
        assert "mem_mb=1500" in output
        kept = project.glob(".snakemake/slurm_logs/**/*.log")
        told = "".join(log.read_text() for log in kept if log.is_file())
        assert "exceeded memory limit" in told, told

    def test_tables_are_those_of_a_local_run(self, root, project, slurm):
        snakemake(project, slurm, TARGET)
        local, submitted = (tables((place / TARGET).parent) for place in (root, project))
        assert local
        assert submitted.keys() == local.keys()
        assert [name for name in local if submitted[name] != local[name]] == []


def test_the_example_of_a_job_array(root, tmp_path, slurm):
    """The shards of a person's own run, a task each; merged they are one run's rows."""
    (tmp_path / "mine.yaml").write_text(
        "paper: linear\narms: [[1, 0], [0, 1]]\ntheta: [0.3, 0.1]\n"
    )
    options = ("mine.yaml", "--cap", "50", "--reps", "6", "--strategy", "LinGapE")
    path = os.pathsep.join([str(Path(sys.executable).parent), slurm["PATH"]])
    how = {"cwd": tmp_path, "env": slurm | {"PATH": path}, "check": True}
    array = ("sbatch", "--wait", "--mem=600", "--array=1-3", root / "examples/shards.sh", "3")
    subprocess.run([*array, *options], **how)
    subprocess.run(["bestarm", "run", *options, "--out", "one.parquet"], **how)
    shards = [f"shards/{number}.parquet" for number in (1, 2, 3)]
    subprocess.run(["bestarm", "merge", *shards, "--out", "merged.parquet"], **how)
    merged, one = (tmp_path / f"{name}.parquet" for name in ("merged", "one"))
    assert merged.read_bytes() == one.read_bytes()
