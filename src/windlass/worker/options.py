"""Options of one worker: the settings, overridden by arguments."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from windlass.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Options of one worker. `queues` None serves all; `drain` stops it when nothing is left to
    claim and nothing runs."""

    concurrency: int = 4
    queues: Sequence[str] | None = None
    poll: timedelta = timedelta(seconds=1)
    lease_time: timedelta = timedelta(seconds=30)
    shutdown_time: timedelta = timedelta(seconds=30)
    memory_limit_mb: int | None = None
    code_version: str | None = None
    drain: bool = False
    buffer_lines: int = 100
    buffer_seconds: float = 5.0

    @classmethod
    def of(
        cls,
        settings: Settings,
        *,
        concurrency: int | None = None,
        queues: Sequence[str] | None = None,
    ) -> "WorkerOptions":
        """Options from the settings, overridden by arguments; a queue "*" means all."""
        worker = settings.worker
        served = queues or worker.queues
        return cls(
            concurrency=concurrency or worker.concurrency,
            queues=None if served is None or "*" in served else served,
            poll=timedelta(milliseconds=worker.poll_interval_ms),
            lease_time=timedelta(seconds=worker.lease_seconds),
            shutdown_time=timedelta(seconds=worker.shutdown_timeout_seconds),
            memory_limit_mb=worker.memory_limit_mb,
            code_version=worker.code_version,
            buffer_lines=settings.log.buffer_lines,
            buffer_seconds=settings.log.buffer_seconds,
        )
