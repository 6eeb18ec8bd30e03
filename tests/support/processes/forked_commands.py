"""Commands forked from a process that has imported everything, so that they start at once.

Each is a process of its own, with its own memory, files, signals, terminal and exit code. What is
spared is what Python takes to import the product, many times longer than what a command does.
"""

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_MESSAGE = 1 << 17


class Forked:
    """A command that was begun."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self.pid = int(line.recv(_MESSAGE))

    def wait(self, patience: float) -> int:
        """Its exit code, once it has ended."""
        self._line.settimeout(patience)
        try:
            return os.waitstatus_to_exitcode(int(self._line.recv(_MESSAGE)))
        except TimeoutError:
            os.kill(self.pid, signal.SIGKILL)
            raise
        finally:
            self._line.close()


def begin(
    args: Sequence[str],
    *,
    folder: Path,
    environ: Mapping[str, str],
    streams: tuple[int, int, int],
    session: bool = False,
) -> Forked:
    """Begin `windlass ARGS` with these for its input, output and errors."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    asked = {"args": [*args], "folder": str(folder), "environ": {**environ}, "session": session}
    with theirs:
        socket.send_fds(_parent(), [json.dumps(asked).encode()], [*streams, theirs.fileno()])
    return Forked(ours)


@cache
def _parent() -> socket.socket:
    """The line to the process that others are forked from. It ends when the line does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.processes.forked_commands", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _serve(line: socket.socket) -> None:
    """Fork as asked, until nobody is there to ask. Returns only in a command."""
    _import_everything()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who mind commands
    while True:
        message, streams, _, _ = socket.recv_fds(line, _MESSAGE, 4)
        if not message:
            sys.exit(0)
        if os.fork() == 0:
            line.close()
            _mind(json.loads(message), streams)
            return
        for stream in streams:
            os.close(stream)


def _import_everything() -> None:
    import asyncpg  # noqa: F401
    import click
    import pymysql  # noqa: F401
    import rich.table  # noqa: F401

    from windlass.api.route_modules import NOUNS, routes_of
    from windlass.cli.connect import (
        in_process_api,  # noqa: F401
        remote_api,  # noqa: F401
    )
    from windlass.cli.framework.flags import Flags
    from windlass.cli.main import root

    for noun in NOUNS:
        routes_of(noun)
    for name in root.list_commands(click.Context(root, obj=Flags())):
        root.get_command(click.Context(root, obj=Flags()), name)
    gc.freeze()


def _mind(asked: Mapping[str, Any], passed: Sequence[int]) -> None:
    """Fork the command, tell its id, and how it ended. Returns only in the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, line = passed
    pid = os.fork()
    if pid == 0:
        os.close(line)
        _become(asked, streams)
        return
    for stream in streams:
        os.close(stream)
    with socket.socket(fileno=line) as telling:
        telling.send(str(pid).encode())
        telling.send(str(os.waitpid(pid, 0)[1]).encode())
    os._exit(0)


def _become(asked: Mapping[str, Any], streams: Sequence[int]) -> None:
    if asked["session"]:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # Whoever runs the tests may have these ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    time.tzset()
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    sys.argv = ["windlass", *asked["args"]]
    sys.path[0] = asked["folder"]


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
    from windlass.cli.main import main

    main()
