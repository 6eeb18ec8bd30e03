"""Runs a handler in a process of its own: the only kind of run that can be ended for sure.

The run gets its order on standard input and answers in JSON lines on a pipe. Its first process, the
keeper, leads a session of its own, adopts whatever the handler starts, and ends all of it with the
run, also when the worker dies.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from datetime import timedelta
from typing import Any

from windlass.core.models import Lease
from windlass.core.outcome import Failure
from windlass.worker.context import JobContext, Sink, Snoozed
from windlass.worker.handlers import Handler

#: How long a run may go on after it has answered, and after it was asked to stop.
_LEAVE_SECONDS = 2.0
_TERM_SECONDS = 3.0
_KILL_SECONDS = 1.5
_LINE_BYTES = 4 * 1024 * 1024


class ChildFailed(Exception):
    """The handler raised in its process, or that process died; only the account can be brought
    here."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.error)


class Children:
    """Starts and ends the processes of one worker's runs."""

    async def run(self, handler: Handler, lease: Lease, sink: Sink, context: JobContext) -> Any:
        """Run one attempt in a process and answer what the handler returned."""
        read_end, write_end = os.pipe()
        try:
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "windlass.worker.keeper",
                str(write_end),
                stdin=asyncio.subprocess.PIPE,
                pass_fds=(write_end,),
                start_new_session=True,
            )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        # Listening goes on while the run is being ended: it may have something to say about that.
        listening = asyncio.create_task(_listen(read_end, lease, sink, child.pid))
        answered = False
        try:
            assert child.stdin is not None
            with contextlib.suppress(ConnectionError):  # it is gone: listening tells how
                child.stdin.write(_order(handler, lease))
                await child.stdin.drain()
            answer = await asyncio.shield(listening)
            answered = True
        finally:
            await asyncio.shield(_end(child, listening, answered=answered))
        return _value(answer, context)


def _order(handler: Handler, lease: Lease) -> bytes:
    order = {"where": handler.where, "path": sys.path, "lease": lease._asdict()}
    return json.dumps(order, default=str).encode() + b"\n"


async def _listen(read_end: int, lease: Lease, sink: Sink, keeper: int) -> dict[str, Any]:
    """Pass on what the run tells; answers its last word."""
    reader = asyncio.StreamReader(limit=_LINE_BYTES)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
    )
    try:
        while line := await reader.readline():
            message: dict[str, Any] = json.loads(line)
            match message["kind"]:
                case "log":
                    sink.log(lease, message["level"], message["message"], message["fields"])
                case "progress":
                    sink.progress(lease, message["fraction"], message["note"])
                case _:
                    return message
    finally:
        transport.close()
    # Not even the keeper could say it.
    return {"kind": "ended", "code": -signal.SIGKILL, "pid": keeper}


def _value(answer: dict[str, Any], context: JobContext) -> Any:
    match answer["kind"]:
        case "returned":
            context.warnings.extend(answer["warnings"])
            return answer["value"]
        case "raised":
            raise ChildFailed(Failure(**answer["failure"]))
        case "snoozed":
            raise Snoozed(timedelta(seconds=answer["seconds"]))
        case _:
            raise ChildFailed(_died(answer["code"], answer["pid"]))


def _died(code: int, pid: int) -> Failure:
    names = {number.value: number.name for number in signal.Signals}
    how = f"signal {names.get(-code, -code)}" if code < 0 else f"exit code {code}"
    return Failure(
        error=f"the handler's process died: {how}",
        error_type="ProcessDied",
        pid=pid,
        exit_code=code,
    )


async def _end(
    child: asyncio.subprocess.Process, listening: "asyncio.Task[Any]", *, answered: bool
) -> None:
    """End a run and all it started: left alone if it has answered, then asked, then forced."""
    assert child.stdin is not None
    try:
        if answered and await _gone(child, _LEAVE_SECONDS):
            return
        _signal(child, signal.SIGTERM)
        if await _gone(child, _TERM_SECONDS):
            return
        child.stdin.close()  # the keeper ends everything it has adopted, then itself
        await _gone(child, _KILL_SECONDS)
    finally:
        # The group outlives its leader, should somebody have killed the keeper.
        _signal(child, signal.SIGKILL)
        child.stdin.close()
        if not listening.done():
            listening.cancel()


async def _gone(child: asyncio.subprocess.Process, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await child.wait()
    except TimeoutError:
        return False
    return True


def _signal(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
