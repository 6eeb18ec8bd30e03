"""Structured log lines about jobs and faults, at most one a second per cause.

Payloads and secrets are never logged here.
"""

import logging
import traceback
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from windlass import clock
from windlass.core.jobs.models import LogLevel
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.states import JobState
from windlass.core.leases.gates import is_suspect
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.core.leases.suspects import LostAttempt
from windlass.errors import DatabaseOutage, WindlassError
from windlass.errors.wording import printable
from windlass.ids import DefinitionKey, JobId, TenantId, WorkerId

_LOGGER = logging.getLogger("windlass")
_QUIET_SECONDS = 1.0
#: An outage is logged once in so long, and as soon as its cause changes.
_OUTAGE_QUIET_SECONDS = 30.0
#: Fields that structlog prints below a line.
_MULTI_LINE_FIELDS = ("exception", "stack")
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
}


class LoggedLease(Protocol):
    """An attempt named in a log line, under way or lost."""

    @property
    def job_id(self) -> JobId: ...
    @property
    def token(self) -> int: ...
    @property
    def tenant(self) -> TenantId: ...
    @property
    def definition(self) -> DefinitionKey: ...
    @property
    def correlation_id(self) -> str | None: ...


class LostLease(LoggedLease, Protocol):
    """An attempt whose worker did not renew its lease."""

    @property
    def worker_id(self) -> WorkerId | None: ...


class Telemetry:
    """Logs the events of one process. Costs per batch, never per job.

    `windlass dev` watches jobs through a subclass: its methods are called once per batch, and
    `said` and `progressed` for each line and report of a handler, from any thread.
    """

    def __init__(self, logger: Any = None) -> None:
        self._logger = logger
        self._logged_at: dict[str, float] = {}
        #: The text last logged of an outage, by the activity that it stopped.
        self._outages: dict[str, str] = {}

    def load(self) -> None:
        """Load the loggers before a handler can close stdout, which would make that fail."""
        self._log  # noqa: B018  created on first use
        self._job_log  # noqa: B018

    def claimed(self, worker: str, leases: Sequence[Lease]) -> None:
        if leases and (self._logger or _LOGGER.isEnabledFor(logging.DEBUG)):
            self._log.debug("claimed", worker_id=worker, jobs=len(leases))

    def finished(
        self,
        finishes: Sequence[AttemptEnd],
        ended: Mapping[LeaseRef, JobState],
        who: Callable[[LeaseRef], Lease | None] = lambda held: None,
    ) -> None:
        """Outcomes were recorded, or came too late. `who` finds the leases of those that are logged."""
        logs_all = self._logger is not None or _LOGGER.isEnabledFor(logging.INFO)
        for finish in finishes:
            state = ended.get(finish.held)
            if state is JobState.COMPLETED and not logs_all:
                continue
            about = {"job_id": str(finish.job_id), "attempt": finish.token}
            if lease := who(finish.held):
                about = lease_fields(lease)
            if state is JobState.COMPLETED:
                self._log.info("completed", **about)
            elif state is None and not finish.maybe_recorded:
                self._log.warning("late report ignored", **about)
            elif state is JobState.DEAD_LETTER:
                self._log.error("dead-lettered", **about, error_type=finish.error_type)
            elif finish.error is not None and logs_all:
                retry_in = round(finish.delay.total_seconds(), 3)
                self._log.info("failed", **about, error_type=finish.error_type, retry_in=retry_in)

    def lost(self, lease: Lease) -> None:
        self._log.warning("lease lost, stopping its run", **lease_fields(lease))

    def blocked(self, lease: Lease | None, seconds: float, stack: str) -> None:
        """A worker's event loop is blocked: by which run, for how long, and where."""
        about = lease_fields(lease) if lease else {}
        self._log.warning("event loop blocked", **about, seconds=round(seconds, 1), stack=stack)

    def reaped(self, lease: LostLease, state: JobState, loss: LostAttempt) -> None:
        about = {**lease_fields(lease), "worker_id": lease.worker_id}
        self._log.warning("lease ran out", **about, now=str(state), other_jobs=loss.neighbours)
        if is_suspect(loss.gate) and not loss.neighbours:
            self._log.error("job kills its worker even when it runs alone", **about)
        if state is JobState.DEAD_LETTER:
            self._log.error("dead-lettered", **about, error_type="WorkerLost")

    def said(self, lease: Lease, level: LogLevel, message: str, fields: Mapping[str, Any]) -> None:
        """A handler logged a line; it is also stored with its job."""
        self._job_log.bind(**fields).log(_LEVELS[level], message, **lease_fields(lease))

    def progressed(self, lease: Lease, fraction: float, note: str | None) -> None:
        """A handler reported progress: shown on the job, not logged."""

    def trouble(self, doing: str, error: BaseException, **about: object) -> None:
        """An activity failed and will be retried: one line a second per cause, for an outage one in
        half a minute.

        The text of an error from outside Windlass is left out: a driver's message may repeat values
        of a payload.
        """
        cause, quiet = f"{doing}: {type(error).__name__}", _QUIET_SECONDS
        if isinstance(error, DatabaseOutage):
            quiet = _OUTAGE_QUIET_SECONDS
            if self._outages.get(doing) != (text := str(error)):
                self._outages[doing] = text
                self._logged_at.pop(cause, None)
        now = clock.monotonic()
        if now - self._logged_at.get(cause, -quiet) >= quiet:
            self._logged_at[cause] = now
            self.warn(
                f"{doing} failed",
                error=describe_error(error),
                **{k: str(v) for k, v in about.items()},
            )

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

    @property
    def _job_log(self) -> Any:
        import structlog

        if structlog.is_configured():
            return structlog.get_logger("windlass.job")
        return self._default_job_log

    @cached_property
    def _default_job_log(self) -> Any:
        """The default logger of structlog, which prints, with unprintable characters escaped."""
        import structlog

        *before, renderer = structlog.get_config()["processors"]
        escaping = [structlog.processors.format_exc_info, escape_fields, renderer]
        return structlog.wrap_logger(structlog.PrintLogger(), processors=[*before, *escaping])


def escape_fields(
    logger: Any, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A structlog processor for lines that people read: escapes unprintable characters.

    Tracebacks keep their lines, indented. No text can imitate a line of the log.
    """
    return {printable(name): _escaped(name, value) for name, value in event.items()}


def indented(text: str) -> str:
    """Text of several lines, indented below a log line."""
    return "\n".join(f"  {printable(line)}" for line in text.split("\n"))


def _escaped(name: str, value: object) -> object:
    if name in _MULTI_LINE_FIELDS and isinstance(value, str):
        return indented(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return printable(value if isinstance(value, str) else repr(value))


#: Errors whose text is about the installation, never about a job.
_TEXT_SHOWN = (WindlassError, ImportError, OSError)


def describe_error(error: BaseException) -> str:
    """An error for the log: its text where that is safe, else its type, the database's error number
    and the line in Windlass that it came through. Invalid fields are named without their values."""
    if isinstance(error, WindlassError) and error.errors:
        fields = ", ".join(field.pointer or "the whole" for field in error.errors)
        return f"{error.code}: {error.message} At fault: {fields}."
    if isinstance(error, _TEXT_SHOWN):
        return str(error)
    first = next(iter(error.args), None)
    number = getattr(error, "sqlstate", None) or (first if isinstance(first, int) else None)
    lines = [
        f"{frame.filename.rpartition('/windlass/')[2]}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "/windlass/" in frame.filename
    ]
    kind = type(error)
    parts = [f"{kind.__module__}.{kind.__qualname__}"]
    parts += [f"number {number}"] if number is not None else []
    parts += [f"at {lines[-1]}"] if lines else []
    return " ".join(parts)


def lease_fields(run: LoggedLease) -> dict[str, Any]:
    """The fields of every line about an attempt."""
    about: dict[str, Any] = {
        "job_id": str(run.job_id),
        "tenant_id": run.tenant,
        "definition": run.definition,
        "attempt": run.token,
    }
    if worker := getattr(run, "worker", None):
        about["worker_id"] = worker
    if run.correlation_id is not None:
        about["correlation_id"] = run.correlation_id
    return about
