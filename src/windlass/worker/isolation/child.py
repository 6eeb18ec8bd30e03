"""Child process of a process-isolated run: runs the handler and reports in JSON lines."""

import asyncio
import contextlib
import importlib
import importlib.util
import json
import os
import signal
import sys
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import reduce
from typing import Any
from uuid import UUID

from windlass.core.leases.lease import Lease
from windlass.core.payloads.json_text import load_json
from windlass.core.text import clean, text_of
from windlass.engine.leases.leases import (
    ERROR_BYTES,
    LINE_BYTES,
    NOTE_BYTES,
    TYPE_BYTES,
    storable_fields,
)
from windlass.errors import OnceUnavailable, TransactionUnsupported
from windlass.worker.context import (
    CURRENT_LEASE,
    JobContext,
    LogLevel,
    TransactionalCompletion,
)
from windlass.worker.handlers import Handler
from windlass.worker.isolation.import_guard import imports
from windlass.worker.isolation.memory import limit_memory, raise_memory_limit
from windlass.worker.reporting.error_text import failure_from_error, safe_isinstance
from windlass.worker.retrying import Snooze

#: The name in `sys.modules` of a module loaded from a file by its path.
_BY_FILE = "windlass_jobs"
_TIMES = ("created_at", "queued_at", "due_at", "started_at", "trigger_due_at")


class PipeSink:
    """The sink of a run in a child process: writes everything to the worker, clipped to a line."""

    def __init__(self, descriptor: int) -> None:
        self._out = os.fdopen(descriptor, "wb")
        self._lock = threading.Lock()

    def send(self, kind: str, **fields: Any) -> None:
        line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()

    def log(self, lease: Lease, level: LogLevel, message: str, fields: Mapping[str, Any]) -> None:
        text = clean(text_of(message), LINE_BYTES)
        self.send("log", level=level, message=text, fields=storable_fields(fields))

    def progress(self, lease: Lease, fraction: float, note: str | None) -> None:
        self.send("progress", fraction=fraction, note=note and clean(note, NOTE_BYTES))

    def once(self, lease: Lease, key: str) -> Coroutine[Any, Any, bool]:
        raise OnceUnavailable("a process-isolated handler has no access to the database")

    def wait_for(self, query: Coroutine[Any, Any, bool]) -> bool:
        raise OnceUnavailable("a process-isolated handler has no access to the database")

    def complete(
        self,
        lease: Lease,
        tx: object,
        result: object,
        warnings: Iterable[str],
        once: Sequence[str],
    ) -> TransactionalCompletion | None:
        raise TransactionUnsupported(
            type(tx).__name__, problem="ctx.complete does not work in a process-isolated handler"
        )


def main(order_line: bytes, descriptor: int) -> None:
    """Execute one order in a new process, and report on the descriptor."""
    order = json.loads(order_line)
    sys.path[:] = order["path"]
    execute_order(order, descriptor)


def execute_order(order: dict[str, Any], descriptor: int) -> None:
    """Execute one order in a process whose import path is set."""
    pipe = PipeSink(descriptor)
    lease = _lease(order["lease"])
    context = JobContext(lease, pipe)
    signal.signal(signal.SIGTERM, lambda *_: context.request_stop("canceled"))
    limit: int | None = order["memory_limit_mb"]
    handler: Handler | None = None
    if limit is not None:
        limit_memory(limit)
    try:
        handler = load(*order["import_location"])
        report = _result_message(_run(handler, lease, context), handler, context)
    except Snooze as snoozed:
        report = {"kind": "snoozed", "seconds": snoozed.delay.total_seconds()}
    except BaseException as error:  # noqa: BLE001  the worker decides what it means
        if limit is not None:
            raise_memory_limit(limit)
        report = _error_message(error, handler, limit)
    # The worker may end this process as soon as it has the report.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the handler may have closed or replaced it
            stream.flush()
    pipe.send(**report)


def load(module: str, file: str | None, name: str) -> Handler:
    """Import a handler's module, and find the handler by its name there."""
    # `@job` replaces the function by an object.
    handler: Handler = reduce(getattr, name.split("."), import_handler_module(module, file)).handler
    return handler


def import_handler_module(module: str, file: str | None) -> Any:
    """Import the module of a handler, unless it is imported already."""
    if file is None:
        with imports.of(module):
            return importlib.import_module(module)
    loaded = sys.modules.get(_BY_FILE)
    if loaded is not None and loaded.__file__ == file:
        return loaded
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    spec = importlib.util.spec_from_file_location(_BY_FILE, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported")
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    with imports.of(file):
        spec.loader.exec_module(found)
    return found


def _run(handler: Handler, lease: Lease, context: JobContext) -> Any:
    CURRENT_LEASE.set(lease)
    arguments = handler.arguments(lease)
    if name := handler.payload.signature.context:
        arguments[name] = context
    if handler.is_async:
        return asyncio.run(_run_async(handler, arguments, context))
    return handler.call(**arguments)


async def _run_async(handler: Handler, arguments: Mapping[str, Any], context: JobContext) -> Any:
    running = asyncio.ensure_future(handler.call(**arguments))

    def stop() -> None:
        context.request_stop("canceled")
        running.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    return await running


def _result_message(value: object, handler: Handler, context: JobContext) -> dict[str, Any]:
    text, note = handler.encode_result_text(value)
    warnings = [*context.warnings, *([note] if note else [])]
    return {
        "kind": "returned",
        "value": None if text is None else load_json(text),
        "warnings": warnings,
    }


def _error_message(
    error: BaseException, handler: Handler | None, limit: int | None
) -> dict[str, Any]:
    failure = failure_from_error(error, handler)
    if limit is not None and safe_isinstance(error, MemoryError):
        text = f"the handler needed more than its {limit} MB"
        failure = replace(failure, error=text, error_type="MemoryLimit")
    bounded = replace(
        failure,
        error=clean(failure.error, ERROR_BYTES),
        error_type=clean(failure.error_type, TYPE_BYTES),
        trace=clean(failure.trace or "", ERROR_BYTES),
        pid=os.getpid(),
    )
    fields = asdict(bounded)
    fields.pop("outcome")  # the worker decides it
    return {"kind": "raised", "failure": fields}


def _lease(fields: dict[str, Any]) -> Lease:
    times = {
        name: datetime.fromisoformat(fields[name]) if fields[name] else None for name in _TIMES
    }
    return Lease(**{**fields, **times, "job_id": UUID(fields["job_id"])})
