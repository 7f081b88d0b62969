"""Jobs of a build as forks of one process that has imported and loaded what they need.

Importing pandas and Matplotlib takes a processor about a second, and so does loading a paper's
kernels; a table or a small shard takes a fraction of that, and a build makes hundreds. So a build
starts one server beside it, and `python -m bestarm workflow table ...` hands its arguments, folder,
environment and open files to it (`client.py`); the server forks, the fork does the job as the
command would have, and the command ends with the fork's exit code. Where there is no server (a node
of a cluster, another system than Linux, the command typed by hand) the command does the job itself:
the files are the same.

A fork is killed when its command is, and the server ends with the build.
"""

import ast
import gc
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from bestarm.build.client import SOCKET, address

MOST_BYTES = 1 << 20
DRAWING = (
    *(f"matplotlib.backends.backend_{kind}" for kind in ("agg", "pdf", "svg")),
    *("fontTools.subset", "bestarm.common.drawing"),
)
#: Modules that a command needs, imported for the first such command. {} stands for the paper.
NEEDS = {
    "compile": ("bestarm.{}.strategies",),
    "instances": ("bestarm.runs.plan", "bestarm.{}.problem"),
    "shard": ("bestarm.runs.shard",),
    "summary": ("bestarm.runs.summary", "bestarm.{}.statistics"),
    "table": ("bestarm.common.tables", "bestarm.{}.targets"),
    "plot": (*DRAWING, "bestarm.common.tables", "bestarm.{}.plots"),
    "claims": ("bestarm.verdicts.judge", "bestarm.verdicts.scoreboard"),
    "overview": (*DRAWING, "bestarm.publish.overview"),
    "arena": (*DRAWING, "bestarm.arena.pictures"),
}


def start() -> subprocess.Popen[bytes] | None:
    """Start a server that lives as long as this process, for the commands that it starts.

    None if it cannot be: on other systems than Linux, or where no temporary folder can be made.
    """
    if sys.platform != "linux":
        return None
    try:
        os.environ[SOCKET] = str(Path(tempfile.mkdtemp(prefix="bestarm-")) / "jobs")
    except OSError:
        return None
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", __name__, os.environ[SOCKET]],
        stdin=subprocess.PIPE,  # closed by the system when this process ends
        env={**os.environ, **one_thread},
    )


class Server:
    """Forks for whoever connects to a socket, until standard input is closed.

    Args:
        path: of the socket, alone in its folder; both are removed at the end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.selector = selectors.DefaultSelector()
        self.open = True

    def run(self) -> None:
        """Serve."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build's to answer
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(address(str(self.path)))
            listener.listen(256)
            _import()
            self._when_ready(listener, lambda: self._fork(listener.accept()[0]))
            self._when_ready(sys.stdin, self._end)
            while self.open:
                for key, _ in self.selector.select():
                    key.data()
        self.path.unlink(missing_ok=True)
        self.path.parent.rmdir()

    def _when_ready(self, file: Any, action: Callable[[], None]) -> None:
        self.selector.register(file, selectors.EVENT_READ, action)

    def _end(self) -> None:
        self.open = False

    def _fork(self, client: socket.socket) -> None:
        """Fork for a client, and watch both until one of them ends."""
        message, files, _, _ = socket.recv_fds(client, MOST_BYTES, 3)
        if not message:  # it left before it asked
            client.close()
            return
        request = ast.literal_eval(message.decode())
        _import(*request["arguments"][1:3])
        gc.freeze()  # else a fork's collector writes to every object, which copies its page
        child = os.fork()
        if child == 0:
            self.selector.close()
            gc.set_threshold(100_000)  # a job is short, and its garbage little
            _do(request, files)
        for file in files:
            os.close(file)
        watched = os.pidfd_open(child)

        def ended() -> None:
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with suppress(OSError):  # nobody waits for it any more
                client.send(str(code if code >= 0 else 128 - code).encode())
            self.selector.unregister(watched)
            os.close(watched)
            if client in self.selector.get_map():
                self.selector.unregister(client)
            client.close()

        def left() -> None:
            if client in self.selector.get_map():
                self.selector.unregister(client)
                signal.pidfd_send_signal(watched, signal.SIGTERM)

        self._when_ready(watched, ended)
        self._when_ready(client, left)


def _import(command: str = "", paper: str = "") -> None:
    """Import what every command needs, and what this one needs. If that fails, the command fails in
    the same way and says why."""
    import_module("bestarm.build.commands")
    with suppress(Exception):
        for module in NEEDS.get(command, ()):
            import_module(module.format(paper))
        if command == "shard":
            _load_kernels(paper)
        if DRAWING[-1] in NEEDS.get(command, ()):
            _load_fonts()


@cache
def _load_kernels(paper: str) -> None:
    from bestarm import registry
    from bestarm.runs.shard import simulation_code

    simulation_code(paper)  # is remembered, too
    registry.PAPERS[paper].simulation.warm_up()


@cache
def _load_fonts() -> None:
    """What Matplotlib would make again for each picture: lists of fonts, a grammar of formulas."""
    from matplotlib.mathtext import MathTextParser

    from bestarm.common.drawing import use_own_fonts

    use_own_fonts()
    MathTextParser("path").parse("$0$")


def _do(request: dict[str, Any], files: list[int]) -> None:
    """Become the command of a request."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for place, file in enumerate(files):
            os.dup2(file, place)
        # Those of the server know whether its own files can be sought, not the client's.
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False, errors="backslashreplace")
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        from bestarm.build.commands import app
        from bestarm.common.command import run_app

        run_app(app, request["arguments"][1:], "bestarm workflow")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    Server(Path(sys.argv[1])).run()
