"""What is worth telling the outside: structured log lines, once a second per cause at most.

Payloads and secrets never pass through here.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from windlass import clock
from windlass.core.models import Finish, Held, Lease, Level
from windlass.core.states import JobState

_LOGGER = logging.getLogger("windlass")
_QUIET_SECONDS = 1.0
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
}


class Telemetry:
    """Where a process's events go. Costs per batch, never per job.

    `windlass dev` watches jobs through a subclass: what it overrides is called once per batch,
    and `said` and `progressed` as a handler speaks, from any thread.
    """

    def __init__(self, logger: Any = None) -> None:
        self._logger = logger
        self._said: dict[str, float] = {}

    def claimed(self, worker: str, leases: Sequence[Lease]) -> None:
        if leases and (self._logger or _LOGGER.isEnabledFor(logging.DEBUG)):
            self._log.debug("claimed", worker_id=worker, jobs=len(leases))

    def finished(self, finishes: Sequence[Finish], ended: Mapping[Held, JobState]) -> None:
        for finish in finishes:
            state = ended.get(finish.held)
            if state is JobState.COMPLETED:
                continue
            if state is None and not finish.perhaps_ended:
                self._log.warning(
                    "late report ignored", job_id=str(finish.job_id), attempt=finish.token
                )
            elif state is JobState.DEAD_LETTER:
                self._log.error(
                    "dead-lettered",
                    job_id=str(finish.job_id),
                    attempt=finish.token,
                    error_type=finish.error_type,
                )

    def lost(self, worker: str, lease: Lease) -> None:
        self._log.warning(
            "lease lost, stopping its run",
            job_id=str(lease.job_id),
            definition=lease.definition,
            attempt=lease.token,
            worker_id=worker,
        )

    def reaped(self, lease: Any, state: JobState) -> None:
        self._log.warning(
            "lease ran out",
            job_id=str(lease.job_id),
            definition=lease.definition,
            attempt=lease.token,
            worker_id=lease.worker_id,
            now=str(state),
        )

    def said(self, lease: Lease, level: Level, message: str, fields: Mapping[str, Any]) -> None:
        """A handler's own line, at once; it is kept with its job besides."""
        self._job_log.bind(**fields).log(
            _LEVELS[level],
            message,
            job_id=str(lease.job_id),
            tenant_id=lease.tenant,
            definition=lease.definition,
            attempt=lease.token,
        )

    def progressed(self, lease: Lease, fraction: float, note: str | None) -> None:
        """A handler told how far it is: seen on the job, and not worth a log line."""

    def trouble(self, doing: str, error: BaseException, **about: object) -> None:
        """Something failed and will be tried again; one line a second per cause."""
        cause = f"{doing}: {type(error).__name__}"
        now = clock.monotonic()
        if now - self._said.get(cause, -_QUIET_SECONDS) >= _QUIET_SECONDS:
            self._said[cause] = now
            self.warn(f"{doing} failed", error=str(error), **{k: str(v) for k, v in about.items()})

    def note(self, event: str, **about: object) -> None:
        self._log.info(event, **about)

    def warn(self, event: str, **about: object) -> None:
        self._log.warning(event, **about)

    @cached_property
    def _log(self) -> Any:
        # Importing structlog takes longer than most commands do.
        import structlog

        return self._logger or structlog.wrap_logger(
            _LOGGER,
            processors=[
                structlog.stdlib.filter_by_level,
                structlog.processors.KeyValueRenderer(key_order=["event"]),
            ],
        )

    @cached_property
    def _job_log(self) -> Any:
        import structlog

        return structlog.get_logger("windlass.job")
