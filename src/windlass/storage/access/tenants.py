"""Verbs on tenants and their open jobs."""

from collections.abc import Callable
from typing import Any

from windlass.core.access.tenant import Tenant
from windlass.ids import JobId
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Rows


class TenantVerbs:
    _db: Database

    @retry_deadlocks
    async def create_tenant(self, tenant: Tenant) -> Tenant | None:
        """Create a tenant; returns None. If its id is, or was, in use, nothing changes and the
        existing tenant is returned."""
        async with self._db.transaction() as session:
            await session.run("lock_definitions")
            if await session.run("create_tenant", **_tenant_row(tenant)):
                await session.run("set_limits")
                await session.run("acquire_limits_for_running")
                return None
            return rows.tenant((await session.run("tenant", id=tenant.id))[0])

    @retry_deadlocks
    async def change_tenant(self, id: str, change: Callable[[Tenant], Tenant]) -> Tenant | None:
        """Change a tenant under a lock. Returns the changed tenant; None if there is none."""
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

    @retry_deadlocks
    async def delete_tenant(self, id: str) -> bool:
        """Delete a tenant; its id stays taken. Its tokens, roles and invitations end with it, and
        the sessions of users who have no role left. False if it does not exist or is deleted."""
        async with self._db.transaction() as session:
            await session.run("lock_definitions")
            if not await session.run("delete_tenant", id=id):
                return False
            await session.run("revoke_tenant_access", tenant_id=id)
            await session.run("set_limits")
            await session.run("acquire_limits_for_running")
            return True

    async def count_open_jobs(self, tenant: str) -> int:
        """Count the jobs of a tenant that have not ended."""
        return int((await self._db.run("count_open_jobs", tenant_id=tenant))[0]["number"])

    async def purge_tenant_jobs(self, tenant: str, *, most: int = 500) -> dict[str, int]:
        """Delete some ended jobs of a tenant with all dependent rows. Returns the number of rows by
        kind."""
        return _numbers(await self._db.run("purge_tenant_jobs", tenant_id=tenant, most=most))

    @retry_deadlocks
    async def purge_tenant(self, tenant: str, *, most: int = 2000) -> dict[str, int]:
        """Delete some of a tenant's other rows; the tenant itself and its audit stay. Returns the
        number of rows by kind."""
        async with self._db.transaction() as session:
            return _numbers(await session.run("purge_tenant", tenant_id=tenant, most=most))

    async def tenants(self) -> list[Tenant]:
        """All tenants, by id; deleted ones included."""
        return [rows.tenant(row) for row in await self._db.run("tenants")]

    async def open_job_caps(self) -> dict[str, int]:
        """The limits of open jobs, by tenant; tenants without a limit are left out."""
        return {row["id"]: row["max_open"] for row in await self._db.run("open_job_caps")}

    async def open_jobs(self, tenant: str, *, most: int = 1000) -> list[JobId]:
        """Some open jobs of a tenant without a cancel request."""
        found = await self._db.run("open_jobs_of_tenant", tenant_id=tenant, most=most)
        return [JobId(rows.uuid(row["id"])) for row in found]


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
