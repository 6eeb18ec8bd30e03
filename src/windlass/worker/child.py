"""The inside of a process-isolated run: runs the handler and tells the worker in JSON lines."""

import asyncio
import importlib
import importlib.util
import json
import os
import signal
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import reduce
from typing import Any
from uuid import UUID

from windlass.core.models import Lease
from windlass.core.payload import encode_result, load_json
from windlass.core.text import clean
from windlass.engine.leases import ERROR_BYTES, LINE_BYTES, NOTE_BYTES, TYPE_BYTES
from windlass.errors import Permanent, TransactionUnsupported
from windlass.worker.attempt import failure_of
from windlass.worker.context import CURRENT, Ending, JobContext, Level, Snoozed
from windlass.worker.handlers import Handler
from windlass.worker.reports import storable_fields

_TIMES = ("created_at", "queued_at", "due_at", "started_at", "trigger_due_at")


class Pipe:
    """The sink of a run in a child: every word goes to the worker, none too long for a line."""

    def __init__(self, descriptor: int) -> None:
        self._out = os.fdopen(descriptor, "wb")
        self._lock = threading.Lock()

    def send(self, kind: str, **fields: Any) -> None:
        line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()

    def log(self, lease: Lease, level: Level, message: str, fields: Mapping[str, Any]) -> None:
        text = clean(str(message), LINE_BYTES)
        self.send("log", level=level, message=text, fields=storable_fields(fields))

    def progress(self, lease: Lease, fraction: float, note: str | None) -> None:
        self.send("progress", fraction=fraction, note=note and clean(note, NOTE_BYTES))

    def complete(
        self, lease: Lease, tx: object, result: object, warnings: Iterable[str]
    ) -> Ending | None:
        raise TransactionUnsupported(
            type(tx).__name__, problem="ctx.complete is not there in a process-isolated handler"
        )


def main(order_line: bytes, descriptor: int) -> None:
    """Carry out one order, and answer on the descriptor."""
    pipe = Pipe(descriptor)
    order = json.loads(order_line)
    sys.path[:] = order["path"]
    lease = _lease(order["lease"])
    context = JobContext(lease, pipe)
    signal.signal(signal.SIGTERM, lambda *_: context.ask_to_stop("canceled"))
    handler: Handler | None = None
    try:
        handler = load(*order["where"])
        answer = _returned(_run(handler, lease, context), context)
    except Snoozed as snoozed:
        answer = {"kind": "snoozed", "seconds": snoozed.delay.total_seconds()}
    except BaseException as error:  # noqa: BLE001  the worker decides what it means
        permanent = isinstance(error, (Permanent, *(handler.permanent if handler else ())))
        answer = _raised(error, permanent)
    # The worker may end this process as soon as it has the answer.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    pipe.send(**answer)


def load(module: str, file: str | None, name: str) -> Handler:
    """Import the module a handler stands in, and find it by its name there."""
    if file is None:
        found: Any = importlib.import_module(module)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
        spec = importlib.util.spec_from_file_location("windlass_jobs", file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} cannot be imported")
        found = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = found
        spec.loader.exec_module(found)
    # `@job` leaves an object in place of the function.
    handler: Handler = reduce(getattr, name.split("."), found).handler
    return handler


def _run(handler: Handler, lease: Lease, context: JobContext) -> Any:
    CURRENT.set(lease)
    arguments = handler.payload.decode(lease.payload)
    if name := handler.payload.signature.context:
        arguments[name] = context
    if handler.is_async:
        return asyncio.run(_awaited(handler, arguments, context))
    return handler.call(**arguments)


async def _awaited(handler: Handler, arguments: Mapping[str, Any], context: JobContext) -> Any:
    running = asyncio.ensure_future(handler.call(**arguments))

    def stop() -> None:
        context.ask_to_stop("canceled")
        running.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    return await running


def _returned(value: object, context: JobContext) -> dict[str, Any]:
    text, note = encode_result(value)
    warnings = [*context.warnings, *([note] if note else [])]
    return {"kind": "returned", "value": load_json(text), "warnings": warnings}


def _raised(error: BaseException, permanent: bool) -> dict[str, Any]:
    failure = failure_of(error, permanent=permanent)
    bounded = replace(
        failure,
        error=clean(failure.error, ERROR_BYTES),
        error_type=clean(failure.error_type, TYPE_BYTES),
        trace=clean(failure.trace or "", ERROR_BYTES),
        pid=os.getpid(),
    )
    account = asdict(bounded)
    account.pop("outcome")  # the worker's to say
    return {"kind": "raised", "failure": account}


def _lease(fields: dict[str, Any]) -> Lease:
    times = {
        name: datetime.fromisoformat(fields[name]) if fields[name] else None for name in _TIMES
    }
    return Lease(**{**fields, **times, "job_id": UUID(fields["job_id"])})
