"""Writes log lines and progress of runs, gathered in batches."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from windlass import clock
from windlass.core.known_secrets import NO_SECRETS, KnownSecrets
from windlass.core.lease import Held, Lease, Progress
from windlass.core.models import LogLine
from windlass.core.outcome import success
from windlass.core.payload import dump_json, encode_result
from windlass.core.redact import Redactor
from windlass.engine.leases import LINE_BYTES, NOTE_BYTES, storable_fields
from windlass.errors import Stopped, TransactionUnsupported
from windlass.storage.callers import CallerSession
from windlass.storage.leases import finish_row, log_rows
from windlass.telemetry import Telemetry
from windlass.worker.context import Ending, Level
from windlass.worker.side import LeaseSide

_PROGRESS_SECONDS = 0.5
#: Lines kept while the database is away; older ones are dropped first.
_MOST_LINES = 10_000
#: Lines written by one statement.
_BATCH = 500


class Reports:
    """The sink of all runs in one worker. Safe to call from any thread."""

    def __init__(
        self,
        leases: LeaseSide,
        join: Callable[[object], CallerSession | None],
        telemetry: Telemetry,
        *,
        buffer_lines: int,
        buffer_seconds: float,
        redactor: Redactor,
    ) -> None:
        self._leases = leases
        self._join = join
        self._telemetry = telemetry
        self._most = buffer_lines
        self._seconds = buffer_seconds
        self._redactor = redactor
        self._lines: deque[LogLine] = deque()
        self._dropped = 0
        self._progress: dict[Held, Progress] = {}
        self._loop = asyncio.get_running_loop()
        self._full = asyncio.Event()
        self._flushing = asyncio.Lock()
        self._flushed_at = clock.monotonic()

    def log(
        self,
        lease: Lease,
        level: Level,
        message: str,
        fields: Mapping[str, Any],
        secrets: KnownSecrets = NO_SECRETS,
    ) -> None:
        """Tell the runtime's logger at once, and keep the line with the job soon. `secrets` are the
        job's own."""
        said = self._redactor.redact_part(str(message), LINE_BYTES, secrets)
        told: dict[str, Any] = self._redactor.redact_value(storable_fields(fields), secrets=secrets)
        self._telemetry.said(lease, level, said, told)
        self._lines.append(
            LogLine(
                job_id=lease.job_id,
                attempt=lease.token,
                level=level,
                message=said,
                at=clock.utcnow(),
                fields=told,
            )
        )
        if len(self._lines) > _MOST_LINES:
            self._lines.popleft()
            self._dropped += 1
        if len(self._lines) >= self._most:
            with contextlib.suppress(RuntimeError):  # the loop is closed: a run was left behind
                self._loop.call_soon_threadsafe(self._full.set)

    def progress(
        self,
        lease: Lease,
        fraction: float,
        note: str | None,
        secrets: KnownSecrets = NO_SECRETS,
    ) -> None:
        held = lease.held
        said = None if note is None else self._redactor.redact_part(str(note), NOTE_BYTES, secrets)
        self._telemetry.progressed(lease, fraction, said)
        self._progress[held] = Progress(
            job_id=lease.job_id, token=lease.token, fraction=fraction, note=said
        )

    def complete(
        self, lease: Lease, tx: object, result: object, warnings: Iterable[str]
    ) -> Ending | None:
        """The end as it is recorded through the handler's own transaction. None where those lead
        elsewhere, so that it is recorded when the handler returns, as always."""
        if tx is None:
            raise TransactionUnsupported("None")
        session = self._join(tx)
        if session is None:
            return None
        return Ending(self._end_in(session, lease, result, warnings), blocking=session.blocking)

    async def _end_in(
        self, session: CallerSession, lease: Lease, result: object, warnings: Iterable[str]
    ) -> None:
        text, note = encode_result(result)
        told = [*warnings, *([note] if note else [])]
        finish = success(
            lease.held,
            result=None if result is None else text,
            warnings=dump_json(told) if told else None,
            keep=True,
        )
        # With the lines said before it: after the end none would be taken. A flush that is under
        # way is not waited for: it may itself wait for what the handler's transaction has locked.
        lines = self._take(lease)
        try:
            if lines:
                await session.run("log", log_lines=log_rows(lines))
            if not await session.run("finish", finishes=[finish_row(finish, expired_only=False)]):
                raise Stopped("lost")
        except BaseException:
            self._lines.extendleft(reversed(lines))
            raise

    def _take(self, lease: Lease) -> list[LogLine]:
        taken = []
        for line in list(self._lines):
            if line.job_id == lease.job_id:
                with contextlib.suppress(ValueError, IndexError):  # another thread was quicker
                    self._lines.remove(line)
                    taken.append(line)
        return taken

    @property
    def waiting(self) -> bool:
        return bool(self._lines or self._progress)

    async def flush(self) -> None:
        """Write what is waiting. A line leaves the buffer only when it was written, or when its
        lease is lost."""
        async with self._flushing:
            progress = list(self._progress.values())
            for _ in range(0, len(self._lines), _BATCH):
                await self._write_some()
            await self._leases.report(progress)
            for told in progress:
                held = Held(told.job_id, told.token)
                if self._progress.get(held) is told:
                    del self._progress[held]
        self._flushed_at = clock.monotonic()

    async def tick(self) -> bool:
        """Flush if it is time: progress always, lines when there are many or some seconds have
        passed. Answers whether it was."""
        waited = clock.monotonic() - self._flushed_at >= self._seconds
        many = len(self._lines) >= self._most
        if not (self._progress or many or (self._lines and waited)):
            return False
        self._full.clear()
        await self.flush()
        return True

    async def run(self) -> None:
        """Tick for ever: twice a second, and at once when many lines have gathered."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PROGRESS_SECONDS):
                    await self._full.wait()
            try:
                await self.tick()
            except Exception as error:  # noqa: BLE001  the lines are still here, for the next round
                self._full.clear()
                self._telemetry.trouble("writing logs", error)

    async def _write_some(self) -> None:
        dropped, self._dropped = self._dropped, 0
        if dropped:
            self._telemetry.warn("the database was away too long, log lines dropped", lines=dropped)
        some = [self._lines.popleft() for _ in range(min(_BATCH, len(self._lines)))]
        try:
            await self._leases.log(some)
        except BaseException:
            self._lines.extendleft(reversed(some))
            raise
