"""The worker's hold on a stem, and on the runs that were forked from it."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from typing import NamedTuple

from windlass import clock
from windlass.tasks import start_task
from windlass.worker.isolation.process_handle import SubprocessHandle, spawn_module

#: How long a stem may take to leave when it is not wanted any more, and then to be ended.
_LEAVE_SECONDS = 2.0
_END_SECONDS = 5.0


class ImportEnvironment(NamedTuple):
    """What a fresh process would find. A stem stands for it only while all of it is the same."""

    module: str
    file: str | None
    path: tuple[str, ...]
    folder: str
    environment: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, module: str, file: str | None) -> "ImportEnvironment":
        try:
            folder = os.getcwd()
        except OSError:  # it was deleted
            folder = ""
        return cls(module, file, tuple(sys.path), folder, frozenset(os.environ.items()))

    @property
    def order(self) -> bytes:
        order = {"module": self.module, "file": self.file, "path": self.path}
        return json.dumps(order).encode() + b"\n"


class ForkServerClient:
    """One stem: a process that forks, once it is fit."""

    def __init__(self, surroundings: ImportEnvironment) -> None:
        self.users = 0
        self.ended = False
        self.last_used = clock.monotonic()
        self._fork_safe: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._control, self._child_socket = socket.socketpair()
        self._control.setblocking(False)
        self._writer: asyncio.StreamWriter | None = None
        self._runs: dict[int, asyncio.Event] = {}
        self._started = 0
        self._life = start_task(self._live(surroundings))

    @property
    def is_fork_safe(self) -> bool:
        """Whether it is known already that runs can be forked from it."""
        return self._fork_safe.done() and self._fork_safe.result()

    async def fit(self) -> bool:
        """Whether runs can be forked from it; returns when that is known."""
        return await asyncio.shield(self._fork_safe)

    async def fork(self, child_socket: socket.socket) -> "ForkedProcessHandle":
        """Start a supervisor that hears and answers on a socket. If the stem is gone nothing
        begins, and the socket tells."""
        self._started += 1
        number, gone = self._started, asyncio.Event()
        if self.say({"run": number}, child_socket):
            self._runs[number] = gone
        else:
            gone.set()
        return ForkedProcessHandle(self, number, gone)

    def say(self, words: dict[str, int], *sockets: socket.socket) -> bool:
        try:
            line = json.dumps(words).encode() + b"\n"
            socket.send_fds(self._control, [line], [each.fileno() for each in sockets])
        except OSError:
            return False
        return True

    def close(self) -> "asyncio.Task[None]":
        """End it and what it has forked; answers what to wait for."""
        # It leaves by itself, unless it hangs.
        self._control.close()
        asyncio.get_running_loop().call_later(_LEAVE_SECONDS, self._force)
        return self._life

    def _force(self) -> None:
        if self._writer is not None:
            self._writer.close()

    async def _live(self, surroundings: ImportEnvironment) -> None:
        supervisor: SubprocessHandle | None = None
        try:
            mine, child_socket = socket.socketpair()
            with child_socket, self._child_socket:
                reader, self._writer = await asyncio.open_unix_connection(sock=mine)
                supervisor = await spawn_module(
                    "windlass.worker.isolation.fork_server", child_socket, self._child_socket
                )
            self._writer.write(surroundings.order)
            await self._listen(reader)
        except OSError:
            pass  # it could not be started, or it is gone: runs are started afresh
        finally:
            self.ended = True
            if not self._fork_safe.done():
                self._fork_safe.set_result(False)
            self._force()
            self._control.close()
            if supervisor is not None:
                await _end(supervisor)
            for gone in self._runs.values():
                gone.set()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            match json.loads(line):
                case {"kind": "fit", "fit": fit}:
                    self._fork_safe.set_result(fit)
                case {"kind": "gone", "run": number}:
                    self._runs.pop(number).set()
                case _:
                    pass  # its supervisor tells how it began and ended


class ForkedProcessHandle:
    """The handle of a run that a stem has forked. Its group is signaled by the stem, which
    alone can know that the number is still that group's."""

    def __init__(self, fork_server: ForkServerClient, number: int, gone: asyncio.Event) -> None:
        self._fork_server = fork_server
        self._number = number
        self._gone = gone

    def signal(self, number: signal.Signals) -> None:
        if not self._gone.is_set():
            self._fork_server.say({"signal": number, "run": self._number})

    async def gone(self) -> None:
        await self._gone.wait()


async def _end(supervisor: SubprocessHandle) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            await supervisor.gone()
    supervisor.signal(signal.SIGKILL)
    await supervisor.gone()
