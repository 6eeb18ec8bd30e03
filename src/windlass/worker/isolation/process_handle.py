"""Handles on the supervisors of runs, and spawning of new ones."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from typing import Protocol


class ProcessHandle(Protocol):
    """A handle on a supervisor and its process group."""

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group; does nothing if it is gone."""

    async def wait_until_gone(self) -> None:
        """Return when the supervisor has ended, and all it supervised."""


class SubprocessHandle:
    """The handle of a process that this one has spawned."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def wait_until_gone(self) -> None:
        await self._process.wait()


async def spawn_supervisor(child_socket: socket.socket) -> SubprocessHandle:
    """Spawn a supervisor that takes its order and reports on a socket."""
    return await spawn_module("windlass.worker.isolation.supervisor", child_socket)


async def spawn_module(
    module: str, child_socket: socket.socket, *more: socket.socket
) -> SubprocessHandle:
    """Run a module as a program in a session of its own, with a socket as its standard input. Its
    arguments are the descriptors of this and the other sockets."""
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
