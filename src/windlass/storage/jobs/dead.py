"""Verbs on the dead letter: groups by cause, and changes to many of its jobs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from windlass.core.jobs.dead import DeadGroup, PayloadEdit
from windlass.core.jobs.fingerprint import fingerprint
from windlass.core.jobs.models import Scope
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey, JobId, TenantId, WorkerId
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database
from windlass.storage.sql import rows


class CauseDetails(NamedTuple):
    """How many jobs of a cause were dead-lettered by slot, and the tenants hit most."""

    slots: dict[int, int]
    tenants: list[TenantId]


class CompletedJob(NamedTuple):
    """A completed job, when it ended and on which worker."""

    id: JobId
    finished_at: datetime
    worker_id: WorkerId | None


class DeadVerbs:
    _db: Database

    async def dead_groups(
        self,
        scope: Scope,
        definition: str,
        *,
        muted: bool = False,
        most: int = 50,
        look: int = 50_000,
    ) -> list[DeadGroup]:
        """A definition's dead-lettered jobs by cause, the cause seen last first; with `muted` also
        causes that are muted for the scope.

        Of very many the newest `look` are counted.
        """
        found = await self._db.run(
            "dead_groups",
            definition=definition,
            tenant_id=scope.tenant,
            muted=muted,
            most=most,
            look=look,
        )
        return [
            DeadGroup(
                definition=DefinitionKey(definition),
                fingerprint=row["fingerprint"],
                sentence=fingerprint(
                    row["error_type"], row["last_error"], row["error_trace"]
                ).sentence,
                count=int(row["jobs"]),
                first_at=rows.instant(row["first_at"]),
                last_at=rows.instant(row["last_at"]),
                tenants=int(row["tenants"]),
                sample_id=JobId(rows.uuid(row["sample_id"])),
                worker_id=row["worker_id"],
                muted_at=rows.optional_instant(row["muted_at"]),
                muted_by=row["muted_by"],
                muted_until=rows.optional_instant(row["muted_until"]),
                reason=row["reason"],
            )
            for row in found
        ]

    async def dead_group_details(
        self,
        scope: Scope,
        definition: str,
        *,
        since: datetime,
        slot_seconds: int,
        most_tenants: int = 10,
        look: int = 50_000,
    ) -> Mapping[str, CauseDetails]:
        """By cause: how many jobs were dead-lettered in each slot since then (slots are numbered from
        1970), and the tenants hit most."""
        found = await self._db.run(
            "dead_group_details",
            definition=definition,
            tenant_id=scope.tenant,
            since=since,
            slot_seconds=slot_seconds,
            most_tenants=most_tenants,
            look=look,
        )
        details: dict[str, CauseDetails] = {}
        for row in found:
            group = details.setdefault(row["fingerprint"], CauseDetails({}, []))
            if row["slot"] is None:
                group.tenants.append(TenantId(row["tenant_id"]))
            else:
                group.slots[int(row["slot"])] = int(row["jobs"])
        return details

    async def latest_successes(
        self, scope: Scope, definition: str, *, look: int = 100
    ) -> list[CompletedJob]:
        """The newest completed jobs of a definition that still have a time and a worker."""
        found = await self._db.run(
            "latest_successes", definition=definition, tenant_id=scope.tenant, look=look
        )
        return [
            CompletedJob(
                JobId(rows.uuid(row["id"])), rows.instant(row["finished_at"]), row["worker_id"]
            )
            for row in found
        ]

    async def retry(
        self, scope: Scope, id: JobId, *, actor: str | None = None, edit: PayloadEdit | None = None
    ) -> str | None:
        """Put a dead-lettered or canceled job in line. Answers `queued`, `duplicate` when an open
        job has its dedupe key, or None when it is in no state to be retried.

        With an `edit` it goes on with another payload, if it is still dead-lettered under the
        token that was seen.
        """
        return _answer(await self._db.run("retry", **retry_params(scope, id, actor, edit)))

    @retry_deadlocks
    async def retry_many(
        self, scope: Scope, ids: Sequence[JobId], *, actor: str | None = None
    ) -> list[str | None]:
        """Retry some jobs in one transaction; the answers of `retry`, in their order."""
        async with self._db.transaction() as session:
            return [
                _answer(await session.run("retry", **retry_params(scope, id, actor, None)))
                for id in ids
            ]

    async def discard(self, scope: Scope, id: JobId, *, only: JobState | None = None) -> bool:
        """Delete an ended job that nothing waits for; with `only`, one in that state."""
        return bool(await self._db.run("discard", id=id, tenant_id=scope.tenant, only=only))

    @retry_deadlocks
    async def discard_many(self, scope: Scope, ids: Sequence[JobId]) -> list[bool]:
        """Discard some dead-lettered jobs in one transaction; the answers of `discard`, in their
        order."""
        only = JobState.DEAD_LETTER
        async with self._db.transaction() as session:
            return [
                bool(await session.run("discard", id=id, tenant_id=scope.tenant, only=only))
                for id in ids
            ]


def retry_params(
    scope: Scope, id: JobId, actor: str | None, edit: PayloadEdit | None = None
) -> dict[str, Any]:
    """The parameters of the verb, for callers that run it in their own transaction too."""
    return {
        "id": id,
        "tenant_id": scope.tenant,
        "actor": actor,
        "message": edit.message if edit else "retry",
        "payload": edit.payload if edit else None,
        "token": edit.token if edit else None,
        "dedupe_key": edit.dedupe_key if edit else None,
        "own_gate": edit.gate if edit else None,
    }


def _answer(changed: Sequence[Any]) -> str | None:
    return str(changed[0]["state"]) if changed else None
