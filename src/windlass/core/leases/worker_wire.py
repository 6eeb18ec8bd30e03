"""JSON between a server and its remote workers, both ways.

Unlike `core/wire.py`, which is for people, it carries payloads unredacted: they are to be run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.states import Outcome
from windlass.core.leases.gates import version_of
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.core.wire import plain
from windlass.ids import JobId

_INSTANTS = ("created_at", "queued_at", "due_at", "started_at", "trigger_due_at")
#: Fields of an end that are sent as they are.
_VERBATIM_FIELDS = (
    "error", "error_type", "error_trace", "permanent", "pid", "exit_code", "stdout_tail",
    "stderr_tail",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReport:
    """The end of an attempt as its worker reports it; the server decides where the job goes."""

    held: LeaseRef
    outcome: Outcome
    result: Any = None
    warnings: tuple[str, ...] = ()
    error: str | None = None
    error_type: str | None = None
    error_trace: str | None = None
    permanent: bool = False
    pid: int | None = None
    exit_code: int | None = None
    stdout_tail: str | None = None
    stderr_tail: str | None = None
    delay: timedelta = timedelta()


def lease(lease: Lease) -> dict[str, Any]:
    """A lease, with everything its run needs."""
    told = {name: plain(value) for name, value in lease._asdict().items()}
    told["tenant_id"] = told.pop("tenant")
    told["payload"] = load_json(lease.payload)
    told["metadata"] = load_json(lease.metadata) if lease.metadata else {}
    told["payload_version"] = version_of(lease.gate)
    return told


def parse_lease(told: Mapping[str, Any]) -> Lease:
    """The lease in a server's JSON. Fields of a newer version are ignored."""
    known = {name: told[name] for name in Lease._fields if name in told}
    for name in _INSTANTS:
        if known.get(name) is not None:
            known[name] = datetime.fromisoformat(known[name])
    known["job_id"] = JobId(UUID(told["job_id"]))
    known["tenant"] = told["tenant_id"]
    known["payload"] = dump_json(told["payload"])
    known["metadata"] = dump_json(told["metadata"]) if told.get("metadata") else None
    return Lease(**known)


def lease_ref(held: LeaseRef) -> dict[str, Any]:
    return {"job_id": str(held.job_id), "token": held.token}


def parse_lease_ref(told: Mapping[str, Any]) -> LeaseRef:
    return LeaseRef(JobId(UUID(told["job_id"])), told["token"])


def attempt_end(finish: AttemptEnd) -> dict[str, Any]:
    """The end of an attempt as JSON, without the job's next state, which the server decides."""
    told = {**lease_ref(finish.held), "outcome": str(finish.outcome)}
    told |= {
        name: value for name in _VERBATIM_FIELDS if (value := getattr(finish, name)) is not None
    }
    if finish.result is not None:
        told["result"] = load_json(finish.result)
    if finish.warnings is not None:
        told["warnings"] = load_json(finish.warnings)
    if finish.outcome is Outcome.RELEASED:
        told["delay_seconds"] = finish.delay.total_seconds()
    return told
