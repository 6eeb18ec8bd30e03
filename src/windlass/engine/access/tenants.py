"""Tenants: create, change, suspend, delete and purge the owners of jobs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from windlass.core.access.audit import Target
from windlass.core.access.principal import Principal, local
from windlass.core.access.tenant import Tenant
from windlass.core.jobs.dedupe import check_name
from windlass.core.jobs.models import DEFAULT_TENANT, SYSTEM_TENANT, Scope
from windlass.core.jobs.states import JobState
from windlass.core.triggers import time_zones
from windlass.engine.access.audit import Audit
from windlass.engine.jobs.open_job_caps import OpenJobCaps
from windlass.engine.nudges import Nudges
from windlass.errors import OptionInvalid, TenantExists, TenantNotFound, TenantReserved
from windlass.ids import TenantId
from windlass.storage.storage import Storage


class TenantChanges(TypedDict, total=False):
    """The options of a tenant that can be changed."""

    name: str
    weight: int
    max_running: int | None
    max_open: int | None
    timezone: str


#: Most batches of each kind that one call to purge removes.
_PURGE_BATCHES = 20


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """The result of a purge: open jobs closed, rows removed by kind, jobs still open, and `more` if
    another call is needed to remove the rest."""

    closed: int
    rows: Mapping[str, int]
    open: int
    more: bool


class Tenants:
    def __init__(self, storage: Storage, nudges: Nudges, caps: OpenJobCaps, audit: Audit) -> None:
        self._audit = audit
        self._storage = storage
        self._nudges = nudges
        self._caps = caps

    async def create(
        self,
        id: str,
        *,
        name: str | None = None,
        weight: int = 1,
        max_running: int | None = None,
        max_open: int | None = None,
        timezone: str = "UTC",
    ) -> Tenant:
        """Create a tenant; see `change` for the options. TenantExists if this id is, or was, in
        use."""
        tenant = Tenant(
            id=TenantId(check_name("tenant", id)),
            name=check_name("name", name) if name else id,
            weight=weight,
            max_running=max_running,
            max_open=max_open,
            timezone=timezone,
        )
        _check(tenant)
        holder = await self._storage.access.create_tenant(tenant)
        if holder is not None:
            raise TenantExists(id, deleted=holder.state == "deleted")
        self._notify_change()
        return tenant

    async def change(self, id: str, **about: Unpack[TenantChanges]) -> Tenant:
        """Change the given options of a tenant.

        `weight` is its share of workers, `max_running` the number of its jobs that run at once, and
        `max_open` the number of open jobs beyond which more are rejected; None means no limit.
        `timezone` is used for schedules created from then on without one of their own.
        """
        for name in about:
            if name not in TenantChanges.__annotations__:
                known = ", ".join(sorted(TenantChanges.__annotations__))
                raise OptionInvalid("option", name, allowed=f"one of {known}")
        if "name" in about:
            check_name("name", about["name"])
        return await self._change(id, lambda tenant: replace(tenant, **about))

    async def get(self, id: str) -> Tenant:
        known = {str(tenant.id): tenant for tenant in await self.list()}
        if id in known:
            return known[id]
        raise TenantNotFound(id, known=known)

    async def list(self) -> Sequence[Tenant]:
        return [
            tenant for tenant in await self._storage.access.tenants() if tenant.state != "deleted"
        ]

    async def zone_of(self, id: str) -> str:
        """The time zone of a tenant; UTC if there is none of that id."""
        known = {tenant.id: tenant.timezone for tenant in await self._storage.access.tenants()}
        return known.get(TenantId(id), "UTC")

    async def suspend(self, id: str) -> None:
        """Reject new jobs of a tenant and let its queued ones wait."""
        await self._change(id, lambda tenant: replace(tenant, state="suspended"))

    async def resume(self, id: str) -> None:
        """Undo `suspend`."""
        await self._change(id, lambda tenant: replace(tenant, state="active"))

    async def delete(self, id: str, *, actor: str | None = None) -> int:
        """Delete a tenant; its id stays taken. Its open jobs are dead-lettered, running ones once
        they have stopped. Its tokens, roles and invitations end, and the sessions of users who have
        no role left. History stays. Returns the number of open jobs."""
        _check_deletable(id)
        if not await self._storage.access.delete_tenant(id):
            raise TenantNotFound(id)
        self._notify_change()
        return await self._close_jobs(id, actor)

    async def purge(
        self, id: str, *, by: Principal | None = None, request_id: str | None = None
    ) -> PurgeResult:
        """Delete a tenant, if not yet done, and remove all its rows except the audit.

        One call removes a bounded number of rows and is safe to repeat: call again while `more`.
        The rows of running jobs are removed by a call after they have ended.
        """
        _check_deletable(id)
        known = {tenant.id: tenant for tenant in await self._storage.access.tenants()}
        if TenantId(id) not in known:
            raise TenantNotFound(id)
        by = by or local()
        if await self._storage.access.delete_tenant(id):
            self._notify_change()
        closed = await self._close_jobs(id, by.actor)
        removed: Counter[str] = Counter()
        more = await self._purge_jobs(id, removed)
        still_open = 0 if more else await self._storage.access.count_open_jobs(id)
        if not more and not still_open:
            more = await self._purge_rest(id, removed)
        rows = {name: number for name, number in sorted(removed.items()) if number}
        await self._audit.record(
            by,
            "tenants.purge",
            Target("tenant", id),
            tenant=None,
            # Pairs: a field called `tokens` would be redacted.
            after={"rows": [list(pair) for pair in rows.items()], "open": still_open, "more": more},
            request_id=request_id,
        )
        return PurgeResult(closed, rows, still_open, more)

    async def _close_jobs(self, id: str, actor: str | None) -> int:
        closed = 0
        while ids := await self._storage.access.open_jobs(id):
            ended = await self._storage.jobs.cancel(
                Scope(TenantId(id)),
                ids,
                actor=actor,
                reason="Tenant not found",
                to=JobState.DEAD_LETTER,
            )
            closed += len(ended)
            if not ended:
                break
        return closed

    async def _purge_jobs(self, id: str, removed: Counter[str]) -> bool:
        """Remove some ended jobs; True if there may be more."""
        for _ in range(_PURGE_BATCHES):
            rows = await self._storage.access.purge_tenant_jobs(id)
            removed.update(rows)
            if not rows["jobs"]:
                return False
        return True

    async def _purge_rest(self, id: str, removed: Counter[str]) -> bool:
        """Remove some other rows; True if there may be more."""
        # Roll the tenant's counts up into the installation's totals before they are removed.
        for _ in range(_PURGE_BATCHES):
            if not await self._storage.monitoring.roll_up_counts():
                break
        for _ in range(_PURGE_BATCHES):
            rows = await self._storage.access.purge_tenant(id)
            removed.update(rows)
            if not any(rows.values()):
                await self._storage.access.change_tenant(id, _without_description)
                return False
        return True

    async def _change(self, id: str, change: Callable[[Tenant], Tenant]) -> Tenant:
        def checked(tenant: Tenant) -> Tenant:
            if tenant.state == "deleted":
                raise TenantNotFound(id)
            changed = change(tenant)
            _check(changed)
            return changed

        tenant = await self._storage.access.change_tenant(id, checked)
        if tenant is None:
            raise TenantNotFound(id, known=[each.id for each in await self.list()])
        self._notify_change()
        return tenant

    def _notify_change(self) -> None:
        self._caps.forget()
        self._nudges.nudge_all()


def _check_deletable(id: str) -> None:
    if id in (DEFAULT_TENANT, SYSTEM_TENANT):
        raise TenantReserved(id)


def _without_description(tenant: Tenant) -> Tenant:
    """The row that remains of a purged tenant: its id, which stays taken."""
    return Tenant(id=tenant.id, name=tenant.id, state="deleted")


#: Option -> least, most, and whether None is allowed.
_COUNTS = {
    "weight": (1, 1000, False),
    "max_running": (1, 2**31 - 1, True),
    "max_open": (0, 2**31 - 1, True),
}


def _check(tenant: Tenant) -> None:
    for name in _COUNTS:
        _check_count(name, getattr(tenant, name))
    time_zones.zone(tenant.timezone)


def _check_count(name: str, value: object) -> None:
    least, most, optional = _COUNTS[name]
    if value is None and optional:
        return
    if type(value) is not int or not least <= value <= most:
        allowed = f"{least} to {most}" if most == 1000 else f"{least} or more, or null for no limit"
        raise OptionInvalid(name, value, allowed=allowed)
