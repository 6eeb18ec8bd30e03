"""Client of a fork server: starts it, and forks runs from it."""

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

#: How long a fork server may take to exit by itself, and then to be killed.
_EXIT_SECONDS = 2.0
_KILL_SECONDS = 5.0


class ImportEnvironment(NamedTuple):
    """All that an import depends on. A fork server is used only while all of it is the same."""

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
    """One fork server, which forks runs once its import is done and it is safe to fork."""

    def __init__(self, environment: ImportEnvironment) -> None:
        self.users = 0
        self.ended = False
        self.last_used = clock.monotonic()
        self._fork_safe: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._control, self._child_socket = socket.socketpair()
        self._control.setblocking(False)
        self._writer: asyncio.StreamWriter | None = None
        self._runs: dict[int, asyncio.Event] = {}
        self._started = 0
        self._life = start_task(self._live(environment))

    @property
    def is_fork_safe(self) -> bool:
        """True if it is known already that runs can be forked from it."""
        return self._fork_safe.done() and self._fork_safe.result()

    async def wait_until_ready(self) -> bool:
        """Return when the import is done: True if runs can be forked from it."""
        return await asyncio.shield(self._fork_safe)

    async def fork(self, child_socket: socket.socket) -> "ForkedProcessHandle":
        """Fork a supervisor that takes its order and reports on a socket. If the fork server is gone
        nothing begins, and the socket is closed."""
        self._started += 1
        number, gone = self._started, asyncio.Event()
        if self.send({"run": number}, child_socket):
            self._runs[number] = gone
        else:
            gone.set()
        return ForkedProcessHandle(self, number, gone)

    def send(self, request: dict[str, int], *sockets: socket.socket) -> bool:
        """Send a request with sockets. Returns False if the fork server is gone."""
        try:
            line = json.dumps(request).encode() + b"\n"
            socket.send_fds(self._control, [line], [each.fileno() for each in sockets])
        except OSError:
            return False
        return True

    def close(self) -> "asyncio.Task[None]":
        """End it and the runs it has forked. Returns the task to wait for."""
        # It exits by itself, unless it hangs.
        self._control.close()
        asyncio.get_running_loop().call_later(_EXIT_SECONDS, self._force)
        return self._life

    def _force(self) -> None:
        if self._writer is not None:
            self._writer.close()

    async def _live(self, environment: ImportEnvironment) -> None:
        supervisor: SubprocessHandle | None = None
        try:
            mine, child_socket = socket.socketpair()
            with child_socket, self._child_socket:
                reader, self._writer = await asyncio.open_unix_connection(sock=mine)
                supervisor = await spawn_module(
                    "windlass.worker.isolation.fork_server", child_socket, self._child_socket
                )
            self._writer.write(environment.order)
            await self._listen(reader)
        except OSError:
            pass  # it could not be started, or it is gone: runs are spawned
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
                case {"kind": "ready", "fork_safe": fork_safe}:
                    self._fork_safe.set_result(fork_safe)
                case {"kind": "gone", "run": number}:
                    self._runs.pop(number).set()
                case _:
                    pass  # its supervisor reports its start and exit


class ForkedProcessHandle:
    """The handle of a forked run. The fork server signals its group: only its parent knows that
    the process id still belongs to that group."""

    def __init__(self, fork_server: ForkServerClient, number: int, gone: asyncio.Event) -> None:
        self._fork_server = fork_server
        self._number = number
        self._gone = gone

    def signal(self, number: signal.Signals) -> None:
        if not self._gone.is_set():
            self._fork_server.send({"signal": number, "run": self._number})

    async def wait_until_gone(self) -> None:
        await self._gone.wait()


async def _end(supervisor: SubprocessHandle) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_KILL_SECONDS):
            await supervisor.wait_until_gone()
    supervisor.signal(signal.SIGKILL)
    await supervisor.wait_until_gone()
