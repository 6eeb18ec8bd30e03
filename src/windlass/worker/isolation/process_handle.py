"""What a worker holds of a run's processes, and how it starts one afresh."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from typing import Protocol


class ProcessHandle(Protocol):
    """A hold on a supervisor and its group."""

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of the group; nothing if it is gone."""

    async def gone(self) -> None:
        """Return when the supervisor has ended, and all it kept with it."""


class SubprocessHandle:
    """The handle of a process that this one has started."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def gone(self) -> None:
        await self._process.wait()


async def spawn_supervisor(child_socket: socket.socket) -> SubprocessHandle:
    """Start a supervisor that hears and answers on a socket."""
    return await spawn_module("windlass.worker.isolation.supervisor", child_socket)


async def spawn_module(
    module: str, child_socket: socket.socket, *more: socket.socket
) -> SubprocessHandle:
    """Run a module as a program in a session of its own, with a socket as its standard input; it
    is told the numbers of this and the other sockets."""
    descriptors = [each.fileno() for each in (child_socket, *more)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *map(str, descriptors),
        stdin=child_socket.fileno(),
        pass_fds=descriptors,
        start_new_session=True,
    )
    return SubprocessHandle(process)
