"""Integrity: checks the invariants of the queue's data and describes violations for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windlass.storage.storage import Storage

#: Most ids listed per violation.
_NAMED = 5

#: By rule: what is wrong, and what to do.
RULES: Mapping[str, tuple[str, str]] = {
    "state": (
        "jobs in a state that does not rest in their table",
        "Put back the table's check constraint, and the state the job's history ends with.",
    ),
    "one-row": (
        "jobs in two tables at once",
        "Keep the row with the later updated_at, and delete the other.",
    ),
    "lease": (
        "running jobs with half a lease",
        "Set lease_expires_at to now and worker_id to any text: the job is taken back and runs again.",
    ),
    "lease-left": ("jobs with a lease that do not run", "Set lease_expires_at to null."),
    "lease-time": (
        "leases that run out more than a day from now",
        "A clock was wrong. Set lease_expires_at to now if the worker is gone.",
    ),
    "due-time": (
        "jobs due more than a century from now",
        "A clock was wrong. `windlass jobs run-now`, or `windlass jobs update --at`.",
    ),
    "attempts": (
        "jobs with more attempts than their limit or their leases allow",
        "Set attempts to at most max_attempts and lease_token.",
    ),
    "token": (
        "jobs whose attempts have a greater lease token than the job",
        "The row is older than its attempts, as after a partial restore. Run `windlass db new-epoch`.",
    ),
    "end": ("jobs whose end does not fit their state", "Set or clear finished_at."),
    "waits": (
        "jobs that do not wait for the parents they have",
        "Set waits to the number of the job's unsettled rows in windlass_parents.",
    ),
    "parents": ("parents or children that are gone", "Delete the row of windlass_parents."),
    "hold-missing": (
        "running jobs that a limit does not count",
        "Set the limit again, which counts what runs: `windlass definitions limits`, for instance.",
    ),
    "hold-left": ("holds of jobs that do not run", "Delete the row of windlass_holds."),
    "dedupe-key": (
        "open jobs whose dedupe key is not kept for them: there may be two of them",
        "Cancel all but one job with that key.",
    ),
    "idempotency-key": (
        "jobs whose idempotency key is not kept for them: there may be two of them",
        "Look which of the jobs with that key the caller knows, and discard the other.",
    ),
    "key-left": ("keys of jobs that are gone or have ended", "Delete the row of windlass_keys."),
    "attempt-left": ("attempts of jobs that are gone", "Delete the row of windlass_attempts."),
    "tenant": ("jobs of tenants that are not there", "Add the tenant, or delete its jobs."),
    "due-time-twice": (
        "schedules with two jobs for one due time",
        "Look at both jobs, and cancel the one that has not run.",
    ),
    "event-twice": (
        "events with two jobs of one trigger",
        "Look at both jobs, and cancel the one that has not run.",
    ),
    "limit": (
        "limits that more jobs hold than they allow",
        "Right after a limit was lowered this is in order, until the jobs that ran have ended.",
    ),
}


@dataclass(frozen=True, slots=True)
class IntegrityViolation:
    """A rule that rows of a table break: their number, and the first ids."""

    rule: str
    table: str
    what: str
    advice: str
    found: int
    ids: Sequence[str]


class Integrity:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def check(self, tenant: str | None = None) -> list[IntegrityViolation]:
        """Find violations, in one tenant's jobs or in everything. Reads every job."""
        found: dict[tuple[str, str], list[str]] = {}
        async for each in self._storage.monitoring.violations(tenant):
            found.setdefault((each.rule, each.table), []).append(each.id)
        return [
            IntegrityViolation(rule, table, *RULES[rule], len(ids), ids[:_NAMED])
            for (rule, table), ids in found.items()
        ]
