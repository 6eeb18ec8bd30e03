"""Process isolation: runs a handler in a process of its own, the only run that can always be ended.

The run receives its order and reports in JSON lines on a socket. Its first process, the supervisor,
leads a process group, adopts whatever the handler starts and kills all of it with the run, also when
the worker dies. It is forked from a fork server that has imported the handler's module, where that
is safe, and else spawned.
"""

import asyncio
import contextlib
import json
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from windlass.core.jobs.outcome import Failure
from windlass.core.leases.lease import Lease
from windlass.tasks import start_task
from windlass.worker.context import JobContext, Sink
from windlass.worker.handlers import Handler
from windlass.worker.isolation.fork_server_pool import ForkServerPool
from windlass.worker.isolation.process_handle import ProcessHandle, spawn_supervisor
from windlass.worker.retrying import Snooze

#: How long a run may take to exit after its result, after a lost lease, and after SIGKILL.
_EXIT_SECONDS = 2.0
_LOST_GRACE_SECONDS = 3.0
KILL_SECONDS = 1.5
_LINE_BYTES = 4 * 1024 * 1024

Start = Callable[[socket.socket], Awaitable[ProcessHandle]]


class ProcessRunFailed(Exception):
    """The handler raised in its process, or that process died. The original error stays there."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.error)


class ProcessRunner:
    """Starts and ends the processes of one worker's runs. Without fork servers, each is spawned."""

    def __init__(self, fork_servers: ForkServerPool | None = None) -> None:
        self._fork_servers = fork_servers

    async def run(self, handler: Handler, lease: Lease, sink: Sink, context: JobContext) -> Any:
        """Run one attempt in a process and return the handler's result."""
        report = await self._run_forked(handler, lease, sink, context)
        if report is None:
            report = await _run_process(spawn_supervisor, handler, lease, sink, context)
        if report is None:
            raise ProcessRunFailed(_NOT_STARTED)
        return _result(report, handler, context)

    async def close(self) -> None:
        """End the fork servers."""
        if self._fork_servers is not None:
            await self._fork_servers.close()

    async def _run_forked(
        self, handler: Handler, lease: Lease, sink: Sink, context: JobContext
    ) -> dict[str, Any] | None:
        """The final report of a forked run; None if there is no fork server for it."""
        if self._fork_servers is None:
            return None
        async with self._fork_servers.acquire(handler.import_location) as fork_server:
            if fork_server is None:
                return None
            return await _run_process(fork_server.fork, handler, lease, sink, context)


_NOT_STARTED = Failure(error="the handler's process could not be started", error_type="ProcessDied")


async def _run_process(
    start: Start, handler: Handler, lease: Lease, sink: Sink, context: JobContext
) -> dict[str, Any] | None:
    """Start a run and return its final report; None if it never began."""
    mine, child_socket = socket.socketpair()
    with child_socket:
        reader, writer = await asyncio.open_unix_connection(sock=mine, limit=_LINE_BYTES)
        try:
            handle = await start(child_socket)
        except BaseException:
            writer.close()
            raise
    # Reading goes on while the run is being ended: its reports still count.
    listening = start_task(_listen(reader, lease, sink))
    reported = False
    try:
        with contextlib.suppress(ConnectionError):  # it is gone: the report says how
            writer.write(_order(handler, lease))
            await writer.drain()
        report = await asyncio.shield(listening)
        reported = True
    finally:
        grace = handler.grace_seconds
        if context.stopping == "lost":
            grace = min(grace, _LOST_GRACE_SECONDS)
        await asyncio.shield(_end(handle, writer, listening, grace=grace, reported=reported))
    return report


def _order(handler: Handler, lease: Lease) -> bytes:
    order = {
        "import_location": handler.import_location,
        "path": sys.path,
        "memory_limit_mb": handler.definition.memory_limit_mb,
        "lease": lease._asdict(),
    }
    return json.dumps(order, default=str).encode() + b"\n"


async def _listen(reader: asyncio.StreamReader, lease: Lease, sink: Sink) -> dict[str, Any] | None:
    """Pass on log lines and progress, and return the final report."""
    supervisor: int | None = None
    with contextlib.suppress(ConnectionError):  # the other end closed with our order unread
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
    # The supervisor was killed, too.
    return {"kind": "ended", "code": -signal.SIGKILL, "pid": supervisor}


def _result(report: dict[str, Any], handler: Handler, context: JobContext) -> Any:
    match report["kind"]:
        case "returned":
            context.warnings.extend(report["warnings"])
            return report["value"]
        case "raised":
            raise ProcessRunFailed(Failure(**report["failure"]))
        case "snoozed":
            raise Snooze(report["seconds"])
        case _:
            raise ProcessRunFailed(
                exit_failure(report, limit_mb=handler.definition.memory_limit_mb)
            )


async def _end(
    handle: ProcessHandle,
    writer: asyncio.StreamWriter,
    listening: "asyncio.Task[Any]",
    *,
    grace: float,
    reported: bool,
) -> None:
    """End a run and all it started: wait if it has reported its result, then SIGTERM, then SIGKILL."""
    try:
        if reported and await _wait_for_exit(handle, _EXIT_SECONDS):
            return
        handle.signal(signal.SIGTERM)
        if await _wait_for_exit(handle, grace):
            return
        with contextlib.suppress(OSError):
            writer.write_eof()  # the supervisor kills everything it has adopted, then exits
        await _wait_for_exit(handle, KILL_SECONDS)
    finally:
        # The group outlives its leader if the supervisor itself was killed.
        handle.signal(signal.SIGKILL)
        if not listening.done():
            listening.cancel()
        writer.close()


async def _wait_for_exit(handle: ProcessHandle, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await handle.wait_until_gone()
    except TimeoutError:
        return False
    return True


_SIGNAL_NAMES = {number.value: number.name for number in signal.Signals}


def exit_failure(ended: dict[str, Any], *, limit_mb: int | None) -> Failure:
    """The failure of a run whose process ended without a result, from its supervisor's report."""
    code: int = ended["code"]
    details = [f"signal {_SIGNAL_NAMES.get(-code, -code)}" if code < 0 else f"exit code {code}"]
    if ended.get("out_of_memory"):
        details.append("killed because the system ran out of memory")
    if "peak_mb" in ended:
        allowed = "" if limit_mb is None else f" of {limit_mb} MB allowed"
        details.append(f"peak memory {ended['peak_mb']} MB{allowed}")
    return Failure(
        error=f"the handler's process died: {', '.join(details)}",
        error_type="ProcessDied",
        pid=ended["pid"],
        exit_code=code,
    )
