"""Writes log lines and progress of runs, gathered in batches."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from windlass import clock
from windlass.core.jobs.models import LogLine
from windlass.core.jobs.outcome import success
from windlass.core.leases.lease import Lease, LeaseRef, ProgressReport
from windlass.core.payloads.known_secrets import NO_SECRETS, KnownSecrets
from windlass.core.payloads.payload import dump_json, encode_result
from windlass.core.payloads.redact import Redactor
from windlass.core.text import clean, text_of
from windlass.engine.leases.leases import LINE_BYTES, NOTE_BYTES, finish_in, storable_fields
from windlass.engine.loop import backoff_seconds, wait_for
from windlass.errors import TransactionUnsupported
from windlass.storage.callers import CallerSession
from windlass.telemetry import Telemetry
from windlass.worker.backend import LeaseBackend
from windlass.worker.context import LogLevel, TransactionalCompletion
from windlass.worker.reporting.log_buffer import LineBuffer

_PROGRESS_SECONDS = 0.5
Encode = Callable[[object], tuple[str | None, str | None]]

#: Lines written by one statement.
_BATCH = 500


class LogWriter:
    """The sink of all runs in one worker. Safe to call from any thread."""

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
        self._progress: dict[LeaseRef, ProgressReport] = {}
        self._loop = asyncio.get_running_loop()
        self._full = asyncio.Event()
        self._full_told = False
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
        """Tell the runtime's logger at once, and keep the line with the job soon. `secrets` are the
        job's own."""
        limit = self._line_bytes
        said = clean(self._redactor.redact_part(text_of(message), limit, secrets), limit)
        told: dict[str, Any] = self._redactor.redact_value(storable_fields(fields), secrets=secrets)
        self._emit_line(lease, level, said, told)
        waiting = self._buffer.add(
            LogLine(
                job_id=lease.job_id,
                attempt=lease.token,
                level=level,
                message=said,
                at=clock.utcnow(),
                fields=told,
            )
        )
        # Once, not for each line: while the loop has no time, the calls would pile up.
        if waiting >= self._most and not self._full_told:
            self._full_told = True
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
        held = lease.held
        said = (
            None if note is None else self._redactor.redact_part(text_of(note), NOTE_BYTES, secrets)
        )
        self._telemetry.progressed(lease, fraction, said)
        self._progress[held] = ProgressReport(
            job_id=lease.job_id, token=lease.token, fraction=fraction, note=said
        )

    async def is_done(self, lease: Lease, key: str) -> bool:
        """Whether what goes by this key was done for the job's tenant."""
        return await self._leases.is_done(lease.tenant, key)

    def wait_for(self, asked: Coroutine[Any, Any, bool]) -> bool:
        """The answer for a handler in a thread, which waits for the worker's loop."""
        if self._loop.is_running():
            return asyncio.run_coroutine_threadsafe(asked, self._loop).result()
        return self._loop.run_until_complete(asked)  # a test runs handlers between its steps

    def complete(
        self,
        lease: Lease,
        tx: object,
        result: object,
        warnings: Iterable[str],
        encode: Encode = encode_result,
        once: Sequence[str] = (),
    ) -> TransactionalCompletion | None:
        """The end as it is recorded through the handler's own transaction. None where those lead
        elsewhere, so that it is recorded when the handler returns, as always."""
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
        told = [*warnings, *([note] if note else [])]
        finish = success(
            lease.held,
            result=text,
            warnings=dump_json(told) if told else None,
            keep=True,
        )._replace(once=tuple(once))
        # With the lines said before it: after the end none would be taken. A flush that is under
        # way is not waited for: it may itself wait for what the handler's transaction has locked.
        lines = self._buffer.take(lease.held)
        try:
            await finish_in(session, lease, finish, lines)
        except BaseException:
            self._buffer.put_back(lines)
            raise

    def holds(self, held: LeaseRef) -> bool:
        """Whether something of a lease is not written yet, what is being written included."""
        return held in self._progress or self._buffer.holds(held)

    @property
    def waiting(self) -> bool:
        """Whether anything is not written yet, what is being written included."""
        return bool(self._progress or self._buffer.unwritten)

    async def flush(self) -> None:
        """Write what is waiting, after what is being written. A line leaves the buffer only when it
        was written, or when its lease is lost."""
        async with self._flushing:
            progress = list(self._progress.values())
            for _ in range(0, len(self._buffer), _BATCH):
                await self._write_some()
            await self._leases.report(progress)
            for told in progress:
                held = LeaseRef(told.job_id, told.token)
                if self._progress.get(held) is told:
                    del self._progress[held]
        self._flushed_at = clock.monotonic()

    async def tick(self) -> bool:
        """Flush if it is time: progress always, lines when there are many or some seconds have
        passed. Answers whether it was."""
        waited = clock.monotonic() - self._flushed_at >= self._seconds
        many = len(self._buffer) >= self._most
        if not (self._progress or many or (len(self._buffer) and waited)):
            return False
        await self.flush()
        return True

    async def run(self) -> None:
        """Tick for ever: twice a second, and at once when many lines have gathered."""
        failures = 0
        while True:
            await wait_for(self._full, _PROGRESS_SECONDS)
            # Before the tick, also if it finds nothing: an outcome may have written the lines.
            self._full.clear()
            self._full_told = False
            try:
                await self.tick()
                failures = 0
            except Exception as error:  # noqa: BLE001  the lines are still here, for the next round
                failures += 1
                self._telemetry.trouble("writing logs", error)
                await asyncio.sleep(backoff_seconds(failures))

    async def _write_some(self) -> None:
        if dropped := self._buffer.take_dropped():
            self._telemetry.warn(
                "log lines dropped: more came than the database took", lines=dropped
            )
        try:
            await self._leases.log(self._buffer.begin_write(_BATCH))
        except BaseException:
            self._buffer.undo_write()
            raise
        self._buffer.end_write()
