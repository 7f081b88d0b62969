"""Jobs as forks of a server: what a command does by itself, and an end when it should."""

import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from bestarm.build import client, served

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the server is for Linux")
TABLE = "figures/baics/fig1.csv"


@pytest.fixture(scope="module")
def server():
    """A server, whose socket is in the environment."""
    assert client.SOCKET not in os.environ
    server = served.start()
    assert server is not None
    assert server.stdin is not None
    path = Path(os.environ[client.SOCKET])
    wait_for(path.exists)
    yield server
    server.stdin.close()
    assert server.wait(timeout=60) == 0
    assert not path.parent.exists()
    del os.environ[client.SOCKET]


def wait_for(condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen in a minute")


def bestarm(*arguments, **options):
    command = [sys.executable, "-m", "bestarm", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in found.split()]


def draw(folder, name):
    files = [folder / f"{name}.{ending}" for ending in ("svg", "png", "pdf")]
    command = ("workflow", "plot", "baics", "fig1", TABLE, *files)
    return command, files


def test_a_fork_does_what_the_command_does(root, tmp_path, server, monkeypatch):
    """The same files from a relative path, the same words and codes where the input is bad."""
    monkeypatch.chdir(root)
    command, files = draw(tmp_path, "fork")
    assert client.ask([str(word) for word in command]) == 0
    bad = ("workflow", "table", "baics", "fig99", "x", "y", "--out", tmp_path / "x")
    said = bestarm(*bad)
    monkeypatch.delenv(client.SOCKET)
    assert client.ask([str(word) for word in command]) is None
    command, own = draw(tmp_path, "own")
    assert bestarm(*command).returncode == 0
    assert [file.read_bytes() for file in files] == [file.read_bytes() for file in own]
    alone = bestarm(*bad)
    assert (said.returncode, said.stderr) == (alone.returncode, alone.stderr)
    assert said.returncode == 2
    assert "fig99" in said.stderr


def test_without_its_server_a_command_does_the_job_itself(tmp_path, monkeypatch):
    monkeypatch.setenv(client.SOCKET, str(tmp_path / "nobody"))
    assert bestarm("workflow", "manifest", __file__, "--out", tmp_path / "x").returncode == 0
    assert (tmp_path / "x").exists()


def test_other_commands_are_not_asked_for(server):
    assert client.ask(["list", "baics"]) is None
    assert client.ask(["workflow"]) is None
    assert client.ask(["workflow", "notebook", "baics"]) is None


@pytest.fixture
def waiting(tmp_path, server):
    """A command whose fork reads what nobody writes."""
    os.mkfifo(tmp_path / "instances.json")
    job = ("workflow", "shard", "baics", "example1", 0, tmp_path / "instances.json")
    rest = ("--seed", 1, "--per-shard", 1, "--out", tmp_path / "x")
    command = [sys.executable, "-m", "bestarm", *map(str, (*job, *rest))]
    # a shell's background jobs ignore Ctrl-C, and so would all that they start
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            signal.signal(signal.SIGINT, before)
            wait_for(lambda: children(server.pid))
            yield process
        finally:  # else leaving the block waits for what nobody writes
            process.kill()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_fork_ends_with_its_command(tmp_path, server, waiting, sent):
    waiting.send_signal(sent)
    waiting.communicate(timeout=60)
    assert waiting.returncode != 0
    wait_for(lambda: not children(server.pid))
    assert bestarm("workflow", "manifest", __file__, "--out", tmp_path / "y").returncode == 0


def test_a_killed_fork_fails_its_command(server, waiting):
    os.kill(children(server.pid)[0], signal.SIGKILL)
    waiting.communicate(timeout=60)
    assert waiting.returncode == 128 + signal.SIGKILL


def test_what_commands_need_is_there():
    """A misspelt module would be imported by no fork's parent, and every fork would pay for it."""
    for modules in served.NEEDS.values():
        for module in modules:
            import_module(module.format("baics"))
