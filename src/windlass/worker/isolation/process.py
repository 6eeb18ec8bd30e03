"""Runs a handler in a process of its own: the only kind of run that can be ended for sure.

The run gets its order, and answers in JSON lines, on a socket. Its first process, the supervisor, leads
a group of its own, adopts whatever the handler starts, and ends all of it with the run, also when
the worker dies. It is forked from a stem that has the handler's module imported, where that is
safe, and else started afresh.
"""

import asyncio
import contextlib
import json
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from windlass.core.jobs.outcome import Failure
from windlass.core.leases.lease import Lease
from windlass.tasks import start_task
from windlass.worker.context import JobContext, Sink, Snoozed
from windlass.worker.handlers import Handler
from windlass.worker.isolation.fork_server_pool import ForkServerPool
from windlass.worker.isolation.process_handle import ProcessHandle, spawn_supervisor

#: How long a run may go on after it has answered, after its lease is lost, and after it was ended.
_LEAVE_SECONDS = 2.0
_LOST_GRACE_SECONDS = 3.0
KILL_SECONDS = 1.5
_LINE_BYTES = 4 * 1024 * 1024

Start = Callable[[socket.socket], Awaitable[ProcessHandle]]


class ProcessRunFailed(Exception):
    """The handler raised in its process, or that process died; only the account can be brought
    here."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.error)


class ProcessRunner:
    """Starts and ends the processes of one worker's runs; without stems, each afresh."""

    def __init__(self, stems: ForkServerPool | None = None) -> None:
        self._fork_servers = stems

    async def run(self, handler: Handler, lease: Lease, sink: Sink, context: JobContext) -> Any:
        """Run one attempt in a process and answer what the handler returned."""
        answer = await self._run_forked(handler, lease, sink, context)
        if answer is None:
            answer = await _run_process(spawn_supervisor, handler, lease, sink, context)
        if answer is None:
            raise ProcessRunFailed(_NOT_STARTED)
        return _value(answer, handler, context)

    async def close(self) -> None:
        """End the stems."""
        if self._fork_servers is not None:
            await self._fork_servers.close()

    async def _run_forked(
        self, handler: Handler, lease: Lease, sink: Sink, context: JobContext
    ) -> dict[str, Any] | None:
        """The answer of a run forked from a stem; None if there is none to fork from."""
        if self._fork_servers is None:
            return None
        async with self._fork_servers.acquire(handler.where) as fork_server:
            if fork_server is None:
                return None
            return await _run_process(fork_server.fork, handler, lease, sink, context)


_NOT_STARTED = Failure(error="the handler's process could not be started", error_type="ProcessDied")


async def _run_process(
    start: Start, handler: Handler, lease: Lease, sink: Sink, context: JobContext
) -> dict[str, Any] | None:
    """Start a run and answer its last word; None if it never began."""
    mine, child_socket = socket.socketpair()
    with child_socket:
        reader, writer = await asyncio.open_unix_connection(sock=mine, limit=_LINE_BYTES)
        try:
            handle = await start(child_socket)
        except BaseException:
            writer.close()
            raise
    # Listening goes on while the run is being ended: it may have something to say about that.
    listening = start_task(_listen(reader, lease, sink))
    answered = False
    try:
        with contextlib.suppress(ConnectionError):  # it is gone: listening tells how
            writer.write(_order(handler, lease))
            await writer.drain()
        answer = await asyncio.shield(listening)
        answered = True
    finally:
        grace = handler.grace_seconds
        if context.stopping == "lost":
            grace = min(grace, _LOST_GRACE_SECONDS)
        await asyncio.shield(_end(handle, writer, listening, grace=grace, answered=answered))
    return answer


def _order(handler: Handler, lease: Lease) -> bytes:
    order = {
        "where": handler.where,
        "path": sys.path,
        "memory_limit_mb": handler.definition.memory_limit_mb,
        "lease": lease._asdict(),
    }
    return json.dumps(order, default=str).encode() + b"\n"


async def _listen(reader: asyncio.StreamReader, lease: Lease, sink: Sink) -> dict[str, Any] | None:
    """Pass on what the run tells; answers its last word."""
    supervisor: int | None = None
    with contextlib.suppress(ConnectionError):  # the other end closed with our words unread
        while line := await reader.readline():
            message: dict[str, Any] = json.loads(line)
            match message["kind"]:
                case "began":
                    supervisor = message["pid"]
                case "log":
                    sink.log(lease, message["level"], message["message"], message["fields"])
                case "progress":
                    sink.progress(lease, message["fraction"], message["note"])
                case _:
                    return message
    if supervisor is None:
        return None
    # Not even the supervisor could say it.
    return {"kind": "ended", "code": -signal.SIGKILL, "pid": supervisor}


def _value(answer: dict[str, Any], handler: Handler, context: JobContext) -> Any:
    match answer["kind"]:
        case "returned":
            context.warnings.extend(answer["warnings"])
            return answer["value"]
        case "raised":
            raise ProcessRunFailed(Failure(**answer["failure"]))
        case "snoozed":
            raise Snoozed(timedelta(seconds=answer["seconds"]))
        case _:
            raise ProcessRunFailed(died(answer, limit_mb=handler.definition.memory_limit_mb))


async def _end(
    handle: ProcessHandle,
    writer: asyncio.StreamWriter,
    listening: "asyncio.Task[Any]",
    *,
    grace: float,
    answered: bool,
) -> None:
    """End a run and all it started: left alone if it has answered, then asked, then forced."""
    try:
        if answered and await _wait_for_exit(handle, _LEAVE_SECONDS):
            return
        handle.signal(signal.SIGTERM)
        if await _wait_for_exit(handle, grace):
            return
        with contextlib.suppress(OSError):
            writer.write_eof()  # the supervisor ends everything it has adopted, then itself
        await _wait_for_exit(handle, KILL_SECONDS)
    finally:
        # The group outlives its leader, should somebody have killed the supervisor.
        handle.signal(signal.SIGKILL)
        if not listening.done():
            listening.cancel()
        writer.close()


async def _wait_for_exit(handle: ProcessHandle, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await handle.gone()
    except TimeoutError:
        return False
    return True


_NAMES = {number.value: number.name for number in signal.Signals}


def died(ended: dict[str, Any], *, limit_mb: int | None) -> Failure:
    """The failure of a run whose process ended without an answer, with what its supervisor saw."""
    code: int = ended["code"]
    said = [f"signal {_NAMES.get(-code, -code)}" if code < 0 else f"exit code {code}"]
    if ended.get("out_of_memory"):
        said.append("sent by the system, which was out of memory")
    if "peak_mb" in ended:
        allowed = "" if limit_mb is None else f" of {limit_mb} MB allowed"
        said.append(f"peak memory {ended['peak_mb']} MB{allowed}")
    return Failure(
        error=f"the handler's process died: {', '.join(said)}",
        error_type="ProcessDied",
        pid=ended["pid"],
        exit_code=code,
    )
