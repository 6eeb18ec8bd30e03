"""Outcome writer: records outcomes in batches; while one batch is written the next gathers."""

import asyncio
from collections.abc import Callable

from windlass.core.jobs.outcome import AttemptEnd
from windlass.engine.loop import backoff_seconds
from windlass.tasks import start_task
from windlass.telemetry import Telemetry
from windlass.worker.backend import LeaseBackend
from windlass.worker.reporting.log_writer import LogWriter

_MOST = 1000
#: The most text in one statement, roughly; databases have limits.
_MOST_CHARACTERS = 2_000_000


class OutcomeWriter:
    """Records the outcomes of one worker; retries until the database has taken them."""

    def __init__(
        self,
        leases: LeaseBackend,
        logs: LogWriter,
        telemetry: Telemetry,
        recorded: Callable[[list[AttemptEnd]], None],
    ) -> None:
        self._leases = leases
        self._log_writer = logs
        self._telemetry = telemetry
        self._recorded = recorded
        self._waiting: list[AttemptEnd] = []
        self._writing: asyncio.Task[None] | None = None
        self._closed = False

    def add(self, finish: AttemptEnd) -> None:
        """Record an outcome soon; after `close` it is given up."""
        if self._closed:
            return
        self._waiting.append(finish)
        if self._writing is None or self._writing.done():
            self._writing = start_task(self._write())

    @property
    def unrecorded(self) -> list[AttemptEnd]:
        """Outcomes that are not known to be recorded. Safe to read from any thread."""
        return self._waiting.copy()

    async def drain(self) -> None:
        """Return when every outcome is recorded."""
        while self._writing is not None and not self._writing.done():
            await asyncio.shield(self._writing)

    def close(self) -> None:
        """Give up what is not recorded; lease recovery takes care of those jobs."""
        self._closed = True
        if self._writing is not None:
            self._writing.cancel()

    async def _write(self) -> None:
        await asyncio.sleep(0)  # let the attempts that end in this same moment come along
        failures = 0
        while self._waiting:
            batch = self._waiting[: _batch_size(self._waiting)]
            try:
                if self._holds_lines_of(batch):
                    await self._log_writer.flush()  # before the lease ends: it guards the lines
                await self._leases.finish(batch)
            except Exception as error:  # noqa: BLE001  the outcomes are still here, for the next try
                failures += 1
                self._telemetry.trouble("recording outcomes", error)
                await asyncio.sleep(backoff_seconds(failures))
                continue
            failures = 0
            del self._waiting[: len(batch)]
            self._recorded(batch)

    def _holds_lines_of(self, batch: list[AttemptEnd]) -> bool:
        logs = self._log_writer
        if not logs.unwritten_lines and not logs.unwritten_progress:
            return False
        return any(logs.holds(finish.held) for finish in batch)


def _batch_size(waiting: list[AttemptEnd]) -> int:
    """How many of the first outcomes fit into one statement: at least one."""
    room = _MOST_CHARACTERS
    for index, finish in enumerate(waiting[:_MOST]):
        room -= len(finish.result or "") + len(finish.error or "") + len(finish.error_trace or "")
        room -= len(finish.stdout_tail or "") + len(finish.stderr_tail or "")
        if room < 0:
            return max(1, index)
    return min(_MOST, len(waiting))
