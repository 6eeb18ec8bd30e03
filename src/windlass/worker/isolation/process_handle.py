"""What a worker holds of a run's processes, and how it starts one afresh."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from typing import Protocol


class Reins(Protocol):
    """A hold on a keeper and its group."""

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of the group; nothing if it is gone."""

    async def gone(self) -> None:
        """Return when the keeper has ended, and all it kept with it."""


class OfProcess:
    """The reins of a process that this one has started."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def gone(self) -> None:
        await self._process.wait()


async def afresh(theirs: socket.socket) -> OfProcess:
    """Start a keeper that hears and answers on a socket."""
    return await program("windlass.worker.isolation.supervisor", theirs)


async def program(module: str, theirs: socket.socket, *more: socket.socket) -> OfProcess:
    """Run a module as a program in a session of its own, with a socket as its standard input; it
    is told the numbers of this and the other sockets."""
    descriptors = [each.fileno() for each in (theirs, *more)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *map(str, descriptors),
        stdin=theirs.fileno(),
        pass_fds=descriptors,
        start_new_session=True,
    )
    return OfProcess(process)
