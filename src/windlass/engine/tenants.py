"""Tenants: who owns jobs, what share of the workers they get, and what ends with them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from windlass.core import zones
from windlass.core.dedupe import check_name
from windlass.core.models import Scope
from windlass.core.states import JobState
from windlass.core.tenant import Tenant
from windlass.engine.caps import Caps
from windlass.engine.nudges import Nudges
from windlass.errors import OptionInvalid, TenantNotFound
from windlass.ids import TenantId
from windlass.storage.base import Storage


class TenantChanges(TypedDict, total=False):
    """What may be said of a tenant."""

    name: str
    weight: int
    max_running: int | None
    max_open: int | None
    timezone: str


class Tenants:
    def __init__(self, storage: Storage, nudges: Nudges, caps: Caps) -> None:
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
        """Make a tenant, or let the one with this id be as told; `change` says what each is."""
        tenant = Tenant(
            id=TenantId(check_name("tenant", id)),
            name=check_name("name", name) if name else id,
            weight=weight,
            max_running=max_running,
            max_open=max_open,
            timezone=timezone,
        )
        _check(tenant)
        await self._storage.put_tenant(tenant)
        self._told()
        return tenant

    async def change(self, id: str, **about: Unpack[TenantChanges]) -> Tenant:
        """Change what is named of a tenant.

        `weight` is its share of workers, `max_running` how many of its jobs run at once, and
        `max_open` how many may be open before more are rejected; None means no limit. `timezone`
        is that of schedules made from then on without one of their own.
        """
        for name in about:
            if name not in TenantChanges.__annotations__:
                known = ", ".join(sorted(TenantChanges.__annotations__))
                raise OptionInvalid("option", name, allowed=f"one of {known}")
        if "name" in about:
            check_name("name", about["name"])
        return await self._changed(id, lambda tenant: replace(tenant, **about))

    async def get(self, id: str) -> Tenant:
        for tenant in await self._storage.tenants():
            if tenant.id == id and tenant.state != "deleted":
                return tenant
        raise TenantNotFound(id)

    async def list(self) -> Sequence[Tenant]:
        return [tenant for tenant in await self._storage.tenants() if tenant.state != "deleted"]

    async def zone_of(self, id: str) -> str:
        """The time zone of a tenant; UTC if there is none of that id."""
        known = {tenant.id: tenant.timezone for tenant in await self._storage.tenants()}
        return known.get(TenantId(id), "UTC")

    async def suspend(self, id: str) -> None:
        """Refuse new jobs of a tenant and let its queued ones wait."""
        await self._changed(id, lambda tenant: replace(tenant, state="suspended"))

    async def resume(self, id: str) -> None:
        """Let a suspended tenant go on."""
        await self._changed(id, lambda tenant: replace(tenant, state="active"))

    async def delete(self, id: str, *, actor: str | None = None) -> int:
        """Close a tenant: its open jobs end in the dead letter, running ones when they have
        stopped; history stays. Answers how many jobs were open."""
        await self._changed(id, lambda tenant: replace(tenant, state="deleted"))
        closed = 0
        while ids := await self._storage.open_jobs(id):
            ended = await self._storage.cancel(
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

    async def _changed(self, id: str, change: Callable[[Tenant], Tenant]) -> Tenant:
        def checked(tenant: Tenant) -> Tenant:
            if tenant.state == "deleted":
                raise TenantNotFound(id)
            changed = change(tenant)
            _check(changed)
            return changed

        tenant = await self._storage.change_tenant(id, checked)
        if tenant is None:
            raise TenantNotFound(id)
        self._told()
        return tenant

    def _told(self) -> None:
        self._caps.forget()
        self._nudges.nudge_all()


#: Option -> least, most, and whether None is allowed.
_COUNTS = {
    "weight": (1, 1000, False),
    "max_running": (1, 2**31 - 1, True),
    "max_open": (0, 2**31 - 1, True),
}


def _check(tenant: Tenant) -> None:
    for name in _COUNTS:
        _check_count(name, getattr(tenant, name))
    zones.zone(tenant.timezone)


def _check_count(name: str, value: object) -> None:
    least, most, optional = _COUNTS[name]
    if value is None and optional:
        return
    if type(value) is not int or not least <= value <= most:
        allowed = f"{least} to {most}" if most == 1000 else f"{least} or more, or None"
        raise OptionInvalid(name, value, allowed=allowed)
