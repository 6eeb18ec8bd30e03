"""Request models of HTTP workers. Closed and bounded: longer text of a worker is cut before."""

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

#: No slash: what stands before one is the name of the credential.
WorkerName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"^[^/\s\x00-\x1f\x7f]+$"),
    Field(description="The worker's own id, equal in all its calls and nobody else's."),
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
    """What a worker can take."""

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
            description="What it can run: keys, with the latest version of the payload it knows.",
            max_length=10_000,
        ),
    ]
    queues: Annotated[list[Name], Field(max_length=1000)] | None = None
    lease_seconds: LeaseSeconds = 30.0
    nudged: Flag = False
    key: Annotated[
        Name | None,
        Field(description="Asked again with the same one, the same leases are answered."),
    ] = None


class Lease(RequestModel):
    """A lease by its two numbers."""

    job_id: UUID
    token: Token

    @property
    def held(self) -> LeaseRef:
        return LeaseRef(JobId(self.job_id), self.token)


class ProgressUpdate(RequestModel):
    """How far a run is."""

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
    """How far one of several runs is."""


class RunLogEntry(LogEntry, Lease):
    """A line of one of several runs' logs."""


class LeaseCall(RequestModel):
    """Who speaks, and under which lease: what every call about one job carries."""

    worker: WorkerName
    token: Token


class LeaseHeartbeat(LeaseCall):
    """That a run goes on, and what it tells. Without `renew` its lease is left as it is."""

    lease_seconds: LeaseSeconds = 30.0
    renew: Flag = True
    progress: ProgressUpdate | None = None
    lines: Annotated[list[LogEntry], Field(max_length=1000)] = Field(default_factory=list)

    @property
    def lease_time(self) -> timedelta | None:
        return timedelta(seconds=self.lease_seconds) if self.renew else None


class LeaseHeartbeats(RequestModel):
    """The same for all runs of a worker at once. `complete`: these are all leases that it holds, and
    others under its name are handed back, because the answer of a claim was lost."""

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
    """What is known of the process that a run was."""

    pid: Number | None = None
    exit_code: Number | None = None
    stdout_tail: Long | None = None
    stderr_tail: Long | None = None


class Success(Process):
    """What a run returned, and what it left undone."""

    result: Any = None
    warnings: Warnings = Field(default_factory=list)


class FailureReport(Process):
    """Why a run failed. A permanent failure is not tried again; all else is for us to decide."""

    error: Long
    error_type: Kind | None = None
    error_trace: Long | None = None
    permanent: Flag = False


class SuccessRequest(LeaseCall, Success):
    """That a run succeeded."""


class FailureRequest(LeaseCall, FailureReport):
    """That a run failed."""

    outcome: Literal["failed", "timed_out"] = "failed"


class Release(LeaseCall):
    """That a job is handed back unrun, or is to be run later; its attempt does not count."""

    delay_seconds: Seconds = 0.0


class AttemptEndBody(Success, Lease):
    """How one of several runs ended: with the fields that its outcome has."""

    outcome: Literal["succeeded", "failed", "timed_out", "canceled", "released"]
    error: Long | None = None
    error_type: Kind | None = None
    error_trace: Long | None = None
    permanent: Flag = False
    delay_seconds: Seconds = 0.0


class AttemptEnds(RequestModel):
    """How runs ended."""

    worker: WorkerName
    ends: Annotated[list[AttemptEndBody], Field(max_length=1000)]


def ended(
    held: LeaseRef,
    said: SuccessRequest | FailureRequest | Release | AttemptEndBody,
    outcome: Outcome,
) -> AttemptReport:
    """An end as the engine takes it."""
    told = said.given_fields()
    for name in ("worker", "token", "job_id", "outcome"):
        told.pop(name, None)
    delay = timedelta(seconds=told.pop("delay_seconds", 0.0))
    warnings = tuple(told.pop("warnings", ()))
    return AttemptReport(held=held, outcome=outcome, delay=delay, warnings=warnings, **told)


class WorkerHeartbeat(RequestModel):
    """What a worker is, and that it lives."""

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
    doing: Annotated[
        WorkerOrder,
        Field(description="What it does by now: one that drains or stops claims no more."),
    ] = WorkerOrder.RUN

    def row(self, id: WorkerId, metadata: Object) -> WorkerRow:
        told = self.model_dump(exclude={"worker", "metadata"})
        return WorkerRow(id=id, metadata=metadata, **told)


class WorkerDeparture(RequestModel):
    """Who has stopped."""

    worker: WorkerName
