"""Log writer: stores the log lines and progress of all runs of a worker, in batches."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from windlass import clock
from windlass.core.jobs.models import LogLine
from windlass.core.jobs.outcome import success
from windlass.core.leases.lease import Lease, LeaseRef, ProgressReport
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.core.payloads.known_secrets import NO_SECRETS, KnownSecrets
from windlass.core.payloads.redact import Redactor
from windlass.core.payloads.result import encode_result
from windlass.core.text import clean, text_of
from windlass.engine.leases.leases import LINE_BYTES, NOTE_BYTES, finish_in, storable_fields
from windlass.engine.loop import backoff_seconds, wait_for
from windlass.errors import TransactionUnsupported, WindlassError
from windlass.storage.callers import CallerSession
from windlass.telemetry import Telemetry
from windlass.worker.backend import LeaseBackend
from windlass.worker.context import LogLevel, TransactionalCompletion
from windlass.worker.handlers import Handler
from windlass.worker.reporting.log_buffer import LineBuffer

_PROGRESS_SECONDS = 0.5
Encode = Callable[[object], tuple[str | None, str | None]]

#: Lines written by one statement.
_BATCH = 500


class LogWriter:
    """Buffers what the runs of one worker log and report, and writes it. Safe to call from any
    thread."""

    def __init__(
        self,
        leases: LeaseBackend,
        join: Callable[[object], CallerSession | None],
        telemetry: Telemetry,
        *,
        buffer_lines: int,
        buffer_seconds: float,
        redactor: Redactor,
        line_bytes: int = LINE_BYTES,
    ) -> None:
        self._leases = leases
        self._join = join
        self._telemetry = telemetry
        telemetry.load()
        self._most = buffer_lines
        self._seconds = buffer_seconds
        self._redactor = redactor
        self._line_bytes = line_bytes
        self._buffer = LineBuffer()
        #: How many lines of each lease, and which progress, are not stored yet, a write under way
        #: included.
        self.unwritten_lines: Mapping[LeaseRef, int] = self._buffer.unwritten
        self.unwritten_progress: dict[LeaseRef, ProgressReport] = {}
        self._loop = asyncio.get_running_loop()
        self._full = asyncio.Event()
        self._full_signaled = False
        self._flushing = asyncio.Lock()
        self._flushed_at = clock.monotonic()

    def log(
        self,
        lease: Lease,
        level: LogLevel,
        message: str,
        fields: Mapping[str, Any],
        secrets: KnownSecrets = NO_SECRETS,
    ) -> None:
        """Pass a line to the runtime's logger now, and store it with the job soon. `secrets` are
        the job's own."""
        limit = self._line_bytes
        text = clean(self._redactor.redact_part(text_of(message), limit, secrets), limit)
        redacted: dict[str, Any] = self._redactor.redact_value(
            storable_fields(fields, limit), secrets=secrets
        )
        self._emit_line(lease, level, text, redacted)
        waiting = self._buffer.add(
            LogLine(
                job_id=lease.job_id,
                attempt=lease.token,
                level=level,
                message=text,
                at=clock.utcnow(),
                fields=redacted,
            )
        )
        # Once, not for each line: while the loop is busy, the calls would pile up.
        if waiting >= self._most and not self._full_signaled:
            self._full_signaled = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: a run was left behind
                self._loop.call_soon_threadsafe(self._full.set)

    def _emit_line(
        self, lease: Lease, level: LogLevel, message: str, fields: Mapping[str, Any]
    ) -> None:
        try:
            self._telemetry.said(lease, level, message, fields)
        except Exception as error:  # noqa: BLE001  such as a closed stdout: the job keeps the line
            self._telemetry.trouble("logging for jobs", error)

    def progress(
        self,
        lease: Lease,
        fraction: float,
        note: str | None,
        secrets: KnownSecrets = NO_SECRETS,
    ) -> None:
        """Store how far a job is soon; a later report replaces one that is not stored yet."""
        if note is not None:
            note = self._redactor.redact_part(text_of(note), NOTE_BYTES, secrets)
        self._telemetry.progressed(lease, fraction, note)
        self.unwritten_progress[lease.held] = ProgressReport(
            job_id=lease.job_id, token=lease.token, fraction=fraction, note=note
        )

    async def is_done(self, lease: Lease, key: str) -> bool:
        """True if a completed job of this tenant has recorded the key."""
        return await self._leases.is_done(lease.tenant, key)

    def wait_for(self, query: Coroutine[Any, Any, bool]) -> bool:
        """Run a query in the worker's loop for a handler in a thread, which waits for it."""
        if self._loop.is_running():
            return asyncio.run_coroutine_threadsafe(query, self._loop).result()
        return self._loop.run_until_complete(query)  # a test runs handlers between its steps

    def complete(
        self,
        lease: Lease,
        tx: object,
        result: object,
        warnings: Iterable[str],
        encode: Encode = encode_result,
        once: Sequence[str] = (),
    ) -> TransactionalCompletion | None:
        """Prepare the completion inside the handler's own transaction. None if that transaction
        belongs to another database: then the end is recorded when the handler returns."""
        if tx is None:
            raise TransactionUnsupported("None")
        session = self._join(tx)
        if session is None:
            return None
        end = (None, None) if result is None else encode(result)
        return TransactionalCompletion(
            self._finish_in_session(session, lease, end, warnings, once), blocking=session.blocking
        )

    async def _finish_in_session(
        self,
        session: CallerSession,
        lease: Lease,
        result: tuple[str | None, str | None],
        warnings: Iterable[str],
        once: Sequence[str],
    ) -> None:
        text, note = result
        all_warnings = [*warnings, *([note] if note else [])]
        finish = success(
            lease.held,
            result=text,
            warnings=dump_json(all_warnings) if all_warnings else None,
            keep=True,
            once=tuple(once),
        )
        # With the lines logged before it: after the end none would be accepted. A flush under way
        # is not waited for: it may itself wait for rows that the handler's transaction has locked.
        lines = self._buffer.take(lease.held)
        try:
            await finish_in(session, lease, finish, lines)
        except BaseException:
            self._buffer.put_back(lines)
            raise

    def holds(self, held: LeaseRef) -> bool:
        """True if something of a lease is not stored yet, a write under way included."""
        return held in self.unwritten_progress or held in self.unwritten_lines

    async def flush(self) -> None:
        """Store what is waiting, after the write under way. A line leaves the buffer only when it
        was stored, or when its lease is lost."""
        async with self._flushing:
            progress = list(self.unwritten_progress.values())
            for _ in range(0, len(self._buffer), _BATCH):
                await self._write_some()
            await self._leases.report(progress)
            for report in progress:
                held = LeaseRef(report.job_id, report.token)
                if self.unwritten_progress.get(held) is report:
                    del self.unwritten_progress[held]
        self._flushed_at = clock.monotonic()

    async def tick(self) -> bool:
        """Flush if it is time: progress always, lines when there are many or some seconds have
        passed. Returns True if it flushed."""
        waited = clock.monotonic() - self._flushed_at >= self._seconds
        many = len(self._buffer) >= self._most
        if not (self.unwritten_progress or many or (len(self._buffer) and waited)):
            return False
        await self.flush()
        return True

    async def run(self) -> None:
        """Tick for ever: twice a second, and at once when many lines have gathered."""
        failures = 0
        while True:
            await wait_for(self._full, _PROGRESS_SECONDS)
            # Before the tick, even if it finds nothing: the outcome writer may have flushed.
            self._full.clear()
            self._full_signaled = False
            try:
                await self.tick()
                failures = 0
            except Exception as error:  # noqa: BLE001  the lines are still here, for the next round
                failures += 1
                self._telemetry.trouble("writing logs", error)
                await asyncio.sleep(backoff_seconds(failures))

    async def _write_some(self) -> None:
        if dropped := self._buffer.take_dropped():
            self._telemetry.warn("log lines dropped, the database is too slow", lines=dropped)
        try:
            await self._leases.log(self._buffer.begin_write(_BATCH))
        except BaseException:
            self._buffer.undo_write()
            raise
        self._buffer.end_write()


class AttemptSink:
    """The sink of one attempt: hides the secrets of its payload in all that it logs and reports.

    It does not refer to the attempt: a reference cycle per job would be work for the garbage
    collector.
    """

    __slots__ = ("_handler", "_known", "_lease", "_redactor", "_writer")

    def __init__(
        self, lease: Lease, handler: Handler, writer: LogWriter, redactor: Redactor
    ) -> None:
        self._lease = lease
        self._handler = handler
        self._writer = writer
        self._redactor = redactor
        self._known: KnownSecrets | None = None

    def log(self, lease: Lease, level: LogLevel, message: str, fields: Mapping[str, Any]) -> None:
        self._writer.log(lease, level, message, fields, self.secrets)

    def progress(self, lease: Lease, fraction: float, note: str | None) -> None:
        secrets = NO_SECRETS if note is None else self.secrets
        self._writer.progress(lease, fraction, note, secrets)

    def once(self, lease: Lease, key: str) -> Coroutine[Any, Any, bool]:
        return self._writer.is_done(lease, key)

    def wait_for(self, query: Coroutine[Any, Any, bool]) -> bool:
        return self._writer.wait_for(query)

    def complete(
        self,
        lease: Lease,
        tx: object,
        result: object,
        warnings: Iterable[str],
        once: Sequence[str],
    ) -> TransactionalCompletion | None:
        encode = self._handler.encode_result_text
        return self._writer.complete(lease, tx, result, warnings, encode, once)

    @property
    def secrets(self) -> KnownSecrets:
        """The secret values of the payload, collected on first use."""
        if self._known is None:
            try:
                payload = load_json(self._lease.payload)
                schema = self._handler.payload.schema
                self._known = KnownSecrets(self._redactor.secrets_in(payload, schema))
            except WindlassError:  # unreadable: the handler has not seen it either
                self._known = NO_SECRETS
        return self._known
