"""Verbs on definitions, tenants and workers."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from windlass.core.access.tenant import Tenant
from windlass.core.definitions import merge
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import Scope, WorkerRow
from windlass.core.leases.limits import Queue
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.core.payloads.json_text import dump_json
from windlass.ids import JobId, QueueName, WorkerId
from windlass.storage.connection.deadlock_retry import again
from windlass.storage.database import Database, Lane, Session
from windlass.storage.sql import rows
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Rows

#: What to store, of the rows found by key.
Change = Callable[[Mapping[str, Definition]], Sequence[Definition]]


class DefinitionVerbs:
    _db: Database

    @again
    async def change_definitions(self, keys: Collection[str], change: Change) -> set[str]:
        """Change definitions as they stand, alone: `change` gets the rows of these keys and answers
        those to store. Answers their keys. Regate afterwards."""
        async with self._db.transaction() as session:
            return await change_definitions(session, keys, change)

    async def sync_definitions(self, declared: Sequence[Definition]) -> set[str]:
        """Make rows follow the definitions in code. Answers the keys that were new or changed."""
        return await self.change_definitions([each.key for each in declared], following(declared))

    async def definitions(self) -> list[Definition]:
        """All definitions, by key."""
        return [rows.definition(row) for row in await self._db.run("definitions")]

    async def definition_triggers(
        self, scope: Scope, keys: Collection[str]
    ) -> dict[str, tuple[str | None, datetime | None]]:
        """By definition, the type of its own trigger in code and when a trigger of it is due next."""
        found = await self._db.run(
            "definition_triggers", known=[(key,) for key in keys], tenant_id=scope.tenant
        )
        return {
            row["definition"]: (row["strategy"], rows.optional_instant(row["next_run_at"]))
            for row in found
        }

    async def last_attempt_started_at(self, scope: Scope, key: str) -> datetime | None:
        """When the newest ended jobs of a definition began their last attempt."""
        [row] = await self._db.run(
            "last_attempt_started_at", definition=key, tenant_id=scope.tenant
        )
        return rows.optional_instant(row["last_run_at"])

    @again
    async def delete_definition(self, key: str) -> bool:
        """Forget a definition; False if there is none, or a job or a trigger speaks of it."""
        async with self._db.transaction() as session:
            await session.run("lock_definitions")
            gone = bool(await session.run("delete_definition", key=key))
            if gone:
                await session.run("set_limits")
            return gone

    async def recently_changed_gates(self) -> bool:
        """Whether a definition's gate changed within the last hour."""
        return bool(await self._db.run("recently_changed_gates"))

    async def regate(self, cursor: JobId, *, most: int = 2000) -> JobId | None:
        """Move some queued jobs after `cursor` behind the gate their definition has now.
        Answers where to go on, None at the end."""
        moved = await self._db.run("move_to_current_gate", cursor=cursor, most=most)
        last = moved[0]["last_id"]
        return JobId(rows.uuid(last)) if last else None

    @again
    async def create_tenant(self, tenant: Tenant) -> Tenant | None:
        """Make a tenant. If there is, or was, one of its id, nothing changes and that one is
        returned; else None."""
        async with self._db.transaction() as session:
            await session.run("lock_definitions")
            if await session.run("create_tenant", **_tenant_row(tenant)):
                await session.run("set_limits")
                await session.run("acquire_limits_for_running")
                return None
            return rows.tenant((await session.run("tenant", id=tenant.id))[0])

    @again
    async def change_tenant(self, id: str, change: Callable[[Tenant], Tenant]) -> Tenant | None:
        """Change a tenant as it stands, alone. Answers it as it is then; None if there is none."""
        async with self._db.transaction() as session:
            await session.run("lock_definitions")
            found = await session.run("tenant", id=id)
            if not found:
                return None
            changed = change(rows.tenant(found[0]))
            await session.run("upsert_tenant", **_tenant_row(changed))
            await session.run("set_limits")
            await session.run("acquire_limits_for_running")
            return changed

    @again
    async def delete_tenant(self, id: str) -> bool:
        """Delete a tenant: its id stays taken. Its tokens, roles and invitations end with it, and
        the sessions of users who have no role left. False if there is none that is not deleted."""
        async with self._db.transaction() as session:
            await session.run("lock_definitions")
            if not await session.run("delete_tenant", id=id):
                return False
            await session.run("revoke_tenant_access", tenant_id=id)
            await session.run("set_limits")
            await session.run("acquire_limits_for_running")
            return True

    async def count_open_jobs(self, tenant: str) -> int:
        """How many jobs of a tenant have not ended."""
        return int((await self._db.run("count_open_jobs", tenant_id=tenant))[0]["number"])

    async def purge_tenant_jobs(self, tenant: str, *, most: int = 500) -> dict[str, int]:
        """Delete some ended jobs of a tenant with all that hangs on them. Returns how many rows of
        each kind."""
        return _numbers(await self._db.run("purge_tenant_jobs", tenant_id=tenant, most=most))

    @again
    async def purge_tenant(self, tenant: str, *, most: int = 2000) -> dict[str, int]:
        """Delete some of what a tenant has besides jobs; the tenant itself and its audit stay.
        Returns how many rows of each kind."""
        async with self._db.transaction() as session:
            return _numbers(await session.run("purge_tenant", tenant_id=tenant, most=most))

    async def tenants(self) -> list[Tenant]:
        """All tenants, by id; deleted ones included."""
        return [rows.tenant(row) for row in await self._db.run("tenants")]

    @again
    async def upsert_queue(
        self,
        name: str,
        *,
        paused: bool | None = None,
        by: str | None = None,
        reason: str | None = None,
        limit: int | Literal["unchanged"] | None = "unchanged",
    ) -> Queue:
        """Say of a queue whether it is paused, and its limit; what is not said stays."""
        async with self._db.transaction() as session:
            await session.run("lock_definitions")
            found = await session.run("queue", name=name)
            before = rows.queue(found[0]) if found else Queue(name=QueueName(name))
            limited = before.max_concurrency if limit == "unchanged" else limit
            if paused is None:
                paused, by, reason = bool(before.paused_at), before.paused_by, before.pause_reason
            await session.run(
                "upsert_queue",
                name=name,
                paused=paused,
                paused_by=by,
                pause_reason=reason,
                max_concurrency=limited,
            )
            if limited != before.max_concurrency:
                await session.run("set_limits")
                await session.run("acquire_limits_for_running")
            return rows.queue((await session.run("queue", name=name))[0])

    async def queues(self) -> list[Queue]:
        """What was said about queues, by name."""
        return [rows.queue(row) for row in await self._db.run("queues")]

    async def open_job_caps(self) -> dict[str, int]:
        """Tenants that may have only so many open jobs, and how many."""
        return {row["id"]: row["max_open"] for row in await self._db.run("open_job_caps")}

    async def open_jobs(self, tenant: str, *, most: int = 1000) -> list[JobId]:
        """Some open jobs of a tenant that are not asked to stop yet."""
        found = await self._db.run("open_jobs_of_tenant", tenant_id=tenant, most=most)
        return [JobId(rows.uuid(row["id"])) for row in found]

    async def beat(self, worker: WorkerRow) -> tuple[WorkerOrder, str]:
        """Keep a worker's row and note that it lives. Returns what is wanted of it, and the
        installation's epoch."""
        [row] = await self._db.run(
            "worker_heartbeat",
            lane=Lane.RENEW,
            id=worker.id,
            hostname=worker.hostname,
            pid=worker.pid,
            version=worker.version,
            queues_served=dump_json(list(worker.queues)),
            definitions_known=dump_json(list(worker.definitions)),
            slots=worker.slots,
            slots_used=worker.slots_used,
            lease_seconds=worker.lease_seconds,
            metadata=dump_json(dict(worker.metadata)),
            doing=worker.doing,
        )
        return WorkerOrder(row["wanted"]), row["epoch"]

    async def set_worker_order(
        self, worker: WorkerId, wanted: WorkerOrder, *, by: str | None = None
    ) -> bool:
        """Say what is wanted of a worker; wanted already, it stays as it was said first. False if it
        is lost, or stops and something else is wanted."""
        return bool(await self._db.run("set_worker_order", id=worker, wanted=wanted, wanted_by=by))

    async def workers(self) -> list[WorkerRow]:
        """All workers with a row, and how long ago each was seen."""
        return rows.readable(rows.worker, await self._db.run("workers"))

    async def leave(self, worker: WorkerId) -> None:
        """Remove the row of a worker that has stopped."""
        await self._db.run("delete_worker", id=worker)

    async def forget_workers(self, *, unseen_seconds: float) -> int:
        """Remove the rows of workers not seen for so long. Answers how many."""
        gone = await self._db.run("forget_workers", seconds=unseen_seconds)
        return int(gone[0]["forgotten"])


async def change_definitions(session: Session, keys: Collection[str], change: Change) -> set[str]:
    """The same inside a transaction that is open."""
    await session.run("lock_definitions")
    found = await session.run("definitions_by_key", known=[(key,) for key in keys])
    before = {row["key"]: rows.definition(row) for row in found}
    changed = change(before)
    if changed:
        await session.run("upsert_definitions", definitions=[_definition_row(d) for d in changed])
    if any(_limits(each) != _limits(before.get(each.key)) for each in changed):
        await session.run("set_limits")
        await session.run("acquire_limits_for_running")
    return {each.key for each in changed}


def _tenant_row(tenant: Tenant) -> dict[str, Any]:
    return {
        "id": tenant.id,
        "name": tenant.name,
        "state": tenant.state,
        "weight": tenant.weight,
        "max_running": tenant.max_running,
        "max_open": tenant.max_open,
        "timezone": tenant.timezone,
    }


def _numbers(found: Rows) -> dict[str, int]:
    return {row["name"]: int(row["number"]) for row in found}


def following(declared: Sequence[Definition]) -> Change:
    """The change that makes rows follow the code."""
    return lambda found: [
        merge.follows(found.get(each.key), each)
        for each in declared
        if merge.needs_sync(found.get(each.key), each)
    ]


def _limits(definition: Definition | None) -> tuple[Any, ...]:
    if definition is None:
        return (None,) * 6
    return (
        definition.max_concurrency,
        definition.max_per_key,
        definition.rate_count,
        definition.rate_seconds,
        definition.key_rate_count,
        definition.key_rate_seconds,
    )


def _definition_row(definition: Definition) -> tuple[Any, ...]:
    return tuple(_value(getattr(definition, column)) for column in BATCHES["definitions"])


def _value(value: Any) -> Any:
    """What is not a plain value, as JSON text."""
    if isinstance(value, tuple | list):
        return dump_json(list(value))
    return dump_json(dict(value)) if isinstance(value, Mapping) else value
