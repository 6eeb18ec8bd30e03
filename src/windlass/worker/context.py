"""The context that a handler gets: job, log, progress, stop, snooze, once, complete."""

import asyncio
import time
from collections.abc import (
    Awaitable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Sized,
)
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, TypeVar

from windlass.core.jobs.dedupe import check_app_key
from windlass.core.jobs.models import LogLevel
from windlass.core.leases.lease import Lease
from windlass.core.payloads.json_text import load_json
from windlass.core.text import clean, text_of
from windlass.errors import OptionInvalid, Stopped
from windlass.ids import JobId
from windlass.worker.retrying import Snooze

#: The lease of the run that the current code belongs to; None outside of runs.
CURRENT_LEASE: ContextVar[Lease | None] = ContextVar("windlass_lease", default=None)

Item = TypeVar("Item")
StopReason = Literal["canceled", "timed_out", "lost", "shutdown"]

#: A tracked loop reports at most this often.
_TRACK_SECONDS = 0.2
_MOST_WARNINGS = 100
_WARNING_BYTES = 1024


class Sink(Protocol):
    """Receives what a run logs and reports: the worker's buffers, or a pipe of a child process."""

    def log(
        self, lease: Lease, level: LogLevel, message: str, fields: Mapping[str, Any]
    ) -> None: ...

    def progress(self, lease: Lease, fraction: float, note: str | None) -> None: ...

    def complete(
        self,
        lease: Lease,
        tx: object,
        result: object,
        warnings: Iterable[str],
        once: Sequence[str],
    ) -> "TransactionalCompletion | None": ...

    def once(self, lease: Lease, key: str) -> Coroutine[Any, Any, bool]: ...

    def wait_for(self, query: Coroutine[Any, Any, bool]) -> bool: ...


@dataclass(frozen=True, slots=True)
class TransactionalCompletion:
    """The completion of a job inside its handler's transaction."""

    recording: Coroutine[Any, Any, None]
    blocking: bool


class _CompletedAwaitable(Awaitable[None]):
    """An awaitable that is done already."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


class OnceCheck(Awaitable[bool]):
    """True if something is still to be done: awaited, or in a thread used directly: `if once: …`."""

    __slots__ = ("_done", "_key", "_lease", "_sink")

    def __init__(self, sink: Sink, lease: Lease, key: str, done: list[str]) -> None:
        self._sink = sink
        self._lease = lease
        self._key = key
        self._done = done

    def __await__(self) -> Generator[Any, None, bool]:
        return self._ask().__await__()

    def __bool__(self) -> bool:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._sink.wait_for(self._ask())
        raise TypeError(f"await it here: `await ctx.once({self._key!r})`")

    async def _ask(self) -> bool:
        if await self._sink.once(self._lease, self._key):
            return False
        if self._key not in self._done:
            self._done.append(self._key)
        return True


class CurrentJob:
    """The job as its handler sees it."""

    __slots__ = ("_lease",)

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    @property
    def id(self) -> JobId:
        return self._lease.job_id

    @property
    def definition(self) -> str:
        return self._lease.definition

    @property
    def tenant(self) -> str:
        return self._lease.tenant

    @property
    def queue(self) -> str:
        return self._lease.queue

    @property
    def attempt(self) -> int:
        """The number of this attempt, from 1; released attempts do not count."""
        return self._lease.attempts

    @property
    def max_attempts(self) -> int:
        return self._lease.max_attempts

    @property
    def priority(self) -> int:
        return self._lease.priority

    @property
    def created_at(self) -> datetime:
        return self._lease.created_at

    @property
    def queued_at(self) -> datetime:
        return self._lease.queued_at

    @property
    def due_at(self) -> datetime:
        return self._lease.due_at

    @property
    def trigger_due_at(self) -> datetime | None:
        """The due time that a schedule created this job for."""
        return self._lease.trigger_due_at

    @property
    def source(self) -> str:
        return self._lease.source

    @property
    def source_ref(self) -> str | None:
        return self._lease.source_ref

    @property
    def correlation_id(self) -> str | None:
        return self._lease.correlation_id

    @property
    def created_by(self) -> str | None:
        return self._lease.created_by

    @property
    def metadata(self) -> Mapping[str, Any]:
        return load_json(self._lease.metadata) if self._lease.metadata else {}


class JobLog:
    """A logger bound to a job and its attempt. Lines are stored with the job and searchable."""

    __slots__ = ("_lease", "_sink")

    def __init__(self, lease: Lease, sink: Sink) -> None:
        self._lease = lease
        self._sink = sink

    def debug(self, message: str, /, **fields: Any) -> None:
        self._sink.log(self._lease, "debug", message, fields)

    def info(self, message: str, /, **fields: Any) -> None:
        self._sink.log(self._lease, "info", message, fields)

    def warning(self, message: str, /, **fields: Any) -> None:
        self._sink.log(self._lease, "warn", message, fields)

    warn = warning

    def error(self, message: str, /, **fields: Any) -> None:
        self._sink.log(self._lease, "error", message, fields)


class JobContext:
    """Passed to a handler that has a parameter of this type."""

    __slots__ = ("_lease", "_sink", "_stop", "completed", "done", "warnings")

    def __init__(self, lease: Lease, sink: Sink) -> None:
        self._lease = lease
        self._sink = sink
        self._stop: StopReason | None = None
        self.warnings: list[str] = []
        self.completed = False
        #: Keys passed to `once`, recorded with the completion.
        self.done: list[str] = []

    @property
    def job(self) -> CurrentJob:
        """The job of this run."""
        return CurrentJob(self._lease)

    @property
    def log(self) -> JobLog:
        """A logger bound to the job and this attempt."""
        return JobLog(self._lease, self._sink)

    @property
    def fence(self) -> int:
        """The lease token: a number per job that only rises. Pass it to systems that can reject a
        late writer."""
        return self._lease.token

    def progress(self, fraction: float, note: str | None = None) -> None:
        """Report how far the job is, from 0 to 1, and what it does now. Shown while it runs."""
        # As a plain float: not every type that compares with numbers can be stored.
        number = _number(fraction)
        if number is None or not 0 <= number <= 1:
            shown = text_of(fraction) if number is None else number
            raise OptionInvalid("progress", shown, allowed="a fraction from 0 to 1")
        self._sink.progress(self._lease, number, None if note is None else text_of(note))

    def track(
        self, items: Iterable[Item], *, note: str | None = None, total: int | None = None
    ) -> Iterator[Item]:
        """Iterate over items: reports progress, and stops between two of them when the run must."""
        if total is None and isinstance(items, Sized):
            total = len(items)
        reported_at = 0.0
        for number, item in enumerate(items):
            self.checkpoint()
            now = time.monotonic()
            if now - reported_at >= _TRACK_SECONDS:
                reported_at = now
                text = f"{note} {number:,}" if note else f"{number:,}"
                if total:
                    self.progress(min(1.0, number / total), f"{text} of {total:,}")
                else:
                    self.progress(0.0, text)
            yield item

    def warn(self, message: str) -> None:
        """Record that part of the work was left undone; the job completes and shows the warning.

        Of very many warnings only the first are kept."""
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(clean(text_of(message), _WARNING_BYTES))
        elif len(self.warnings) == _MOST_WARNINGS:
            self.warnings.append("… and more")

    @property
    def stopping(self) -> StopReason | None:
        """The reason why this run should stop; None while it may continue."""
        return self._stop

    def checkpoint(self) -> None:
        """Raise `Stopped` if this run should stop: canceled, timed out, lost or shutting down."""
        if self._stop is not None:
            raise Stopped(self._stop)

    def snooze(self, delay: str | timedelta | float) -> None:
        """Leave the handler now and run the job again after `delay`; no attempt is consumed."""
        raise Snooze(delay)

    def once(self, key: str) -> "OnceCheck":
        """True if the work with this key is still to be done: `if await ctx.once("charge:42"): …`.

        False if a completed job of this tenant used the same key, for as long as that job is kept.
        The key is recorded with this job's own completion, or inside the transaction of `complete`;
        not if the attempt fails. Two jobs that run at the same time may both get True. A handler in
        a thread uses it without `await`.
        """
        return OnceCheck(self._sink, self._lease, check_app_key("ctx.once", key), self.done)

    def complete(self, tx: object, result: object = None) -> Awaitable[None]:
        """Record the job as completed inside your own transaction, so that its work and its end
        commit together. Raises `Stopped("lost")` if another run has taken over.

        Await it where `tx` is awaited; over a blocking connection it is done when this returns.
        """
        ending = self._sink.complete(self._lease, tx, result, self.warnings, self.done)
        if ending is None:
            return _CompletedAwaitable()
        # Set first: a renewal would wait for the lock on the job that the transaction now takes.
        self.completed = True
        recording = self._record(ending)
        if not ending.blocking:
            return recording
        # In this thread, to which the connection belongs: a blocking handler cannot await.
        from windlass.storage.callers import drive

        drive(recording)
        return _CompletedAwaitable()

    async def _record(self, ending: TransactionalCompletion) -> None:
        try:
            await ending.recording
        except BaseException:
            self.completed = False
            raise

    def request_stop(self, reason: StopReason) -> None:
        """Make `checkpoint` raise from now on; called by the worker."""
        self._stop = reason


def _number(value: object) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]  # whatever a handler gives
    except Exception:  # noqa: BLE001  its own methods may raise anything
        return None


__all__ = [
    "CURRENT_LEASE",
    "CurrentJob",
    "JobContext",
    "JobLog",
    "LogLevel",
    "Sink",
    "StopReason",
    "TransactionalCompletion",
]
