"""Tenants: who owns jobs, what share of the workers they get, and what ends with them."""

from collections.abc import Sequence
from dataclasses import replace

from windlass.core.dedupe import check_name
from windlass.core.models import Scope, Tenant
from windlass.core.states import JobState
from windlass.engine.nudges import Nudges
from windlass.errors import OptionInvalid, TenantNotFound
from windlass.ids import TenantId
from windlass.storage.base import Storage


class Tenants:
    def __init__(self, storage: Storage, nudges: Nudges) -> None:
        self._storage = storage
        self._nudges = nudges

    async def create(
        self, id: str, *, name: str | None = None, weight: int = 1, max_running: int | None = None
    ) -> Tenant:
        """Make a tenant, or change the one with this id."""
        check_name("tenant", id)
        if not 1 <= weight <= 1000:
            raise OptionInvalid("weight", weight, allowed="1 to 1000")
        tenant = Tenant(id=TenantId(id), name=name or id, weight=weight, max_running=max_running)
        await self._storage.put_tenant(tenant)
        return tenant

    async def get(self, id: str) -> Tenant:
        for tenant in await self._storage.tenants():
            if tenant.id == id and tenant.state != "deleted":
                return tenant
        raise TenantNotFound(id)

    async def list(self) -> Sequence[Tenant]:
        return [tenant for tenant in await self._storage.tenants() if tenant.state != "deleted"]

    async def suspend(self, id: str) -> None:
        """Refuse new jobs of a tenant and let its queued ones wait."""
        await self._storage.put_tenant(replace(await self.get(id), state="suspended"))

    async def resume(self, id: str) -> None:
        """Let a suspended tenant go on."""
        await self._storage.put_tenant(replace(await self.get(id), state="active"))
        self._nudges.nudge_all()

    async def delete(self, id: str, *, actor: str | None = None) -> int:
        """Close a tenant: its open jobs end in the dead letter, running ones when they have
        stopped; history stays. Answers how many jobs were open."""
        await self._storage.put_tenant(replace(await self.get(id), state="deleted"))
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
