"""Request models of HTTP workers, with bounds; workers cut longer text before sending."""

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints

from windlass.api.schema.requests import Flag, Name, Object, RequestModel, Seconds
from windlass.core.instants import nearest
from windlass.core.jobs.models import LogLevel, LogLine, WorkerRow
from windlass.core.jobs.states import Outcome
from windlass.core.leases.lease import LeaseRef, ProgressReport
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.core.leases.worker_wire import AttemptReport
from windlass.engine.leases.leases import ERROR_BYTES, LINE_BYTES, NOTE_BYTES, TYPE_BYTES
from windlass.ids import JobId, WorkerId

#: No slash: it separates the credential's name from the worker's id.
WorkerName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"^[^/\s\x00-\x1f\x7f]+$"),
    Field(description="The worker's id: the same in all its calls, and unique."),
]
LeaseSeconds = Annotated[float, Field(ge=1, le=3600, allow_inf_nan=False)]
Token = Annotated[int, Field(strict=True, ge=0, lt=1 << 63)]
Number = Annotated[int, Field(strict=True, ge=-(1 << 31), lt=1 << 31)]
Slots = Annotated[int, Field(strict=True, ge=0, le=100_000)]
Version = Annotated[int, Field(strict=True, ge=1, le=1000)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Long = Annotated[str, StringConstraints(max_length=ERROR_BYTES)]
Message = Annotated[str, StringConstraints(max_length=LINE_BYTES)]
Note = Annotated[str, StringConstraints(max_length=NOTE_BYTES)]
Kind = Annotated[str, StringConstraints(max_length=TYPE_BYTES)]
Warnings = Annotated[
    list[Annotated[str, StringConstraints(max_length=4_000)]], Field(max_length=200)
]


class Claim(RequestModel):
    """A worker's request for leases."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"worker": "far:1", "slots": 4, "definitions": {"mail.send": 1}}]
        }
    )

    worker: WorkerName
    slots: Annotated[int, Field(strict=True, ge=1, le=1000)]
    definitions: Annotated[
        dict[Name, Version],
        Field(
            description="Definitions it can run: key -> the latest payload version it knows.",
            max_length=10_000,
        ),
    ]
    queues: Annotated[list[Name], Field(max_length=1000)] | None = None
    lease_seconds: LeaseSeconds = 30.0
    nudged: Flag = False
    key: Annotated[
        Name | None,
        Field(description="Repeating a claim with the same key returns the same leases."),
    ] = None


class Lease(RequestModel):
    """A lease, by job id and lease token."""

    job_id: UUID
    token: Token

    @property
    def held(self) -> LeaseRef:
        return LeaseRef(JobId(self.job_id), self.token)


class ProgressUpdate(RequestModel):
    """Progress of a run."""

    fraction: Fraction
    note: Note | None = None

    def progress(self, held: LeaseRef) -> ProgressReport:
        return ProgressReport(
            job_id=held.job_id, token=held.token, fraction=self.fraction, note=self.note
        )


class LogEntry(RequestModel):
    """A line of a run's log."""

    level: LogLevel = "info"
    message: Message
    at: AwareDatetime
    fields: Object = Field(default_factory=dict)

    def line(self, held: LeaseRef) -> LogLine:
        return LogLine(
            job_id=held.job_id,
            attempt=held.token,
            level=self.level,
            message=self.message,
            at=nearest(self.at),
            fields=self.fields,
        )


class RunProgress(ProgressUpdate, Lease):
    """Progress of one of several runs."""


class RunLogEntry(LogEntry, Lease):
    """A line of one of several runs' logs."""


class LeaseCall(RequestModel):
    """Common fields of calls about one job: the worker and its lease."""

    worker: WorkerName
    token: Token


class LeaseHeartbeat(LeaseCall):
    """Heartbeat of a run, with progress and log lines. Without `renew` the lease is unchanged."""

    lease_seconds: LeaseSeconds = 30.0
    renew: Flag = True
    progress: ProgressUpdate | None = None
    lines: Annotated[list[LogEntry], Field(max_length=1000)] = Field(default_factory=list)

    @property
    def lease_time(self) -> timedelta | None:
        return timedelta(seconds=self.lease_seconds) if self.renew else None


class LeaseHeartbeats(RequestModel):
    """Heartbeat of all runs of a worker. `complete`: the worker holds no other leases; others under
    its name are released, because the response to a claim was lost."""

    worker: WorkerName
    leases: Annotated[list[Lease], Field(max_length=10_000)] = Field(default_factory=list)
    lease_seconds: LeaseSeconds = 30.0
    renew: Flag = True
    complete: Flag = False
    progress: Annotated[list[RunProgress], Field(max_length=10_000)] = Field(default_factory=list)
    lines: Annotated[list[RunLogEntry], Field(max_length=1000)] = Field(default_factory=list)

    @property
    def lease_time(self) -> timedelta | None:
        return timedelta(seconds=self.lease_seconds) if self.renew else None


class Process(RequestModel):
    """The process of a run, as far as known."""

    pid: Number | None = None
    exit_code: Number | None = None
    stdout_tail: Long | None = None
    stderr_tail: Long | None = None


class Success(Process):
    """The result of a run, and what it left undone."""

    result: Any = None
    warnings: Warnings = Field(default_factory=list)


class FailureReport(Process):
    """Error of a run. A permanent failure is not retried; otherwise the server decides."""

    error: Long
    error_type: Kind | None = None
    error_trace: Long | None = None
    permanent: Flag = False


class SuccessRequest(LeaseCall, Success):
    """Reports that a run succeeded."""


class FailureRequest(LeaseCall, FailureReport):
    """Reports that a run failed."""

    outcome: Literal["failed", "timed_out"] = "failed"


class Release(LeaseCall):
    """Releases a job unrun or until later; its attempt does not count."""

    delay_seconds: Seconds = 0.0


class AttemptEndBody(Success, Lease):
    """The end of one of several runs, with the fields of its outcome."""

    outcome: Literal["succeeded", "failed", "timed_out", "canceled", "released"]
    error: Long | None = None
    error_type: Kind | None = None
    error_trace: Long | None = None
    permanent: Flag = False
    delay_seconds: Seconds = 0.0


class AttemptEnds(RequestModel):
    """The ends of several runs."""

    worker: WorkerName
    ends: Annotated[list[AttemptEndBody], Field(max_length=1000)]


def ended(
    held: LeaseRef,
    body: SuccessRequest | FailureRequest | Release | AttemptEndBody,
    outcome: Outcome,
) -> AttemptReport:
    """Convert the end of a run for the engine."""
    values = body.given_fields()
    for name in ("worker", "token", "job_id", "outcome"):
        values.pop(name, None)
    delay = timedelta(seconds=values.pop("delay_seconds", 0.0))
    warnings = tuple(values.pop("warnings", ()))
    return AttemptReport(held=held, outcome=outcome, delay=delay, warnings=warnings, **values)


class WorkerHeartbeat(RequestModel):
    """Description of a worker, sent as its heartbeat."""

    worker: WorkerName
    hostname: Name
    pid: Number
    version: Name
    queues: Annotated[list[Name], Field(max_length=1000)] = Field(default_factory=list)
    definitions: Annotated[list[Name], Field(max_length=10_000)] = Field(default_factory=list)
    slots: Slots
    slots_used: Slots = 0
    lease_seconds: LeaseSeconds = 30.0
    metadata: Object = Field(default_factory=dict)
    memory_mb: Annotated[
        int | None, Field(ge=0, le=2_147_483_647, description="Resident memory of its process.")
    ] = None
    code: Annotated[
        Name | None, Field(description="Version of the code it runs, such as a commit.")
    ] = None
    doing: Annotated[
        WorkerOrder,
        Field(description="Its current state; a draining or stopping worker claims no more."),
    ] = WorkerOrder.RUN

    def row(self, id: WorkerId, metadata: Object) -> WorkerRow:
        values = self.model_dump(exclude={"worker", "metadata"})
        return WorkerRow(id=id, metadata=metadata, **values)


class WorkerDeparture(RequestModel):
    """Reports that a worker has stopped."""

    worker: WorkerName
