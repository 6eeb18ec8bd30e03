"""Verbs on definitions, tenants and workers."""

from collections.abc import Mapping, Sequence
from typing import Any

from windlass.core.jsontext import dump_json
from windlass.core.models import Definition, Tenant, WorkerRow
from windlass.ids import JobId, WorkerId
from windlass.storage import rows
from windlass.storage.again import again
from windlass.storage.batches import BATCHES
from windlass.storage.database import Database, Lane, Session


class RegistryVerbs:
    _db: Database

    @again
    async def sync_definitions(self, declared: Sequence[Definition]) -> set[str]:
        """Make rows follow the definitions in code. Answers the keys that were new or changed."""
        async with self._db.transaction() as session:
            return await sync_definitions(session, declared)

    async def definitions(self) -> list[Definition]:
        """All definitions, by key."""
        return [rows.definition(row) for row in await self._db.run("definitions")]

    async def set_enabled(self, key: str, enabled: bool) -> bool:
        """Enable or disable a definition; False if there is none. Regate afterwards."""
        return bool(await self._db.run("set_enabled", key=key, enabled=enabled))

    async def gates_changed(self) -> bool:
        """Whether a definition's gate changed within the last hour."""
        return bool(await self._db.run("gates_changed"))

    async def regate(self, cursor: JobId, *, most: int = 2000) -> JobId | None:
        """Move some queued jobs after `cursor` behind the gate their definition has now.
        Answers where to go on, None at the end."""
        moved = await self._db.run("regate", cursor=cursor, most=most)
        last = moved[0]["last_id"]
        return JobId(rows.uuid(last)) if last else None

    @again
    async def put_tenant(self, tenant: Tenant) -> None:
        """Make a tenant, or change the one with its id."""
        async with self._db.transaction() as session:
            await session.run(
                "put_tenant",
                id=tenant.id,
                name=tenant.name,
                state=tenant.state,
                weight=tenant.weight,
                max_running=tenant.max_running,
                max_open=tenant.max_open,
                timezone=tenant.timezone,
            )
            await session.run("set_limits")
            await session.run("hold_running")

    async def tenants(self) -> list[Tenant]:
        """All tenants, by id; deleted ones included."""
        return [rows.tenant(row) for row in await self._db.run("tenants")]

    async def open_jobs(self, tenant: str, *, most: int = 1000) -> list[JobId]:
        """Some open jobs of a tenant that are not asked to stop yet."""
        found = await self._db.run("open_jobs", tenant_id=tenant, most=most)
        return [JobId(rows.uuid(row["id"])) for row in found]

    async def beat(self, worker: WorkerRow) -> None:
        """Keep a worker's row and note that it lives."""
        await self._db.run(
            "beat",
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
        )

    async def workers(self) -> list[WorkerRow]:
        """All workers with a row, and how long ago each was seen."""
        return [rows.worker(row) for row in await self._db.run("workers")]

    async def leave(self, worker: WorkerId) -> None:
        """Remove the row of a worker that has stopped."""
        await self._db.run("leave", id=worker)

    async def forget_workers(self, *, unseen_seconds: float) -> None:
        """Remove the rows of workers not seen for so long."""
        await self._db.run("forget_workers", seconds=unseen_seconds)


async def sync_definitions(session: Session, declared: Sequence[Definition]) -> set[str]:
    """The same inside a transaction that is open."""
    changed = await session.run(
        "sync_definitions", definitions=[_definition_row(d) for d in declared]
    )
    if changed:
        await session.run("set_limits")
        await session.run("hold_running")
    return {row["key"] for row in changed}


def _definition_row(definition: Definition) -> tuple[Any, ...]:
    return tuple(_value(getattr(definition, column)) for column in BATCHES["definitions"])


def _value(value: Any) -> Any:
    """What is not a plain value, as JSON text."""
    if isinstance(value, tuple | list):
        return dump_json(list(value))
    return dump_json(dict(value)) if isinstance(value, Mapping) else value
