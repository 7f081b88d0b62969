"""A command of a build lets the server beside the build (`served.py`) do it.

A build starts hundreds of commands, so this imports next to nothing: `socket` and `json` would take
as long as Python itself takes to start.
"""

import _socket as socket  # what the module `socket` is made from, without its enumerations
import os
import sys

#: Where the environment names the server's socket.
SOCKET = "BESTARM_JOBS"
#: The commands that it does.
SHORT = (
    *("compile", "instances", "shard", "summary", "table", "plot"),
    *("claims", "overview", "arena", "captions", "manifest"),
)


def address(path: str) -> str:
    """Where to bind or connect a socket: its path by way of its open folder. An address has at most
    107 bytes, and TMPDIR may be longer."""
    folder, name = path.rsplit("/", 1)
    return f"/proc/self/fd/{os.open(folder, os.O_PATH)}/{name}"


def ask(arguments: list[str]) -> int | None:
    """Let the server do a command; its exit code, or None if there is no server for it."""
    path = os.environ.get(SOCKET)
    if not path or arguments[:1] != ["workflow"] or arguments[1:2] not in [[n] for n in SHORT]:
        return None
    folder = os.getcwd()  # noqa: PTH109 importing pathlib takes longer than the rest of this
    request = {"arguments": arguments, "folder": folder, "environment": {**os.environ}}
    files = b"".join(file.to_bytes(4, sys.byteorder) for file in (0, 1, 2))
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        server.connect(address(path))
        server.sendmsg([ascii(request).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
    except OSError:
        server.close()
        return None
    try:
        reply = server.recv(64)
    except KeyboardInterrupt:  # the fork is told too, by the terminal
        server.settimeout(2)
        reply = server.recv(64)
    server.close()
    return int(reply) if reply else None
