"""A lease that ran out, as a reaper sees it."""

from dataclasses import dataclass

from windlass.core.leases.lease import LeaseRef
from windlass.ids import DefinitionKey, JobId, TenantId, WorkerId


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredLease:
    """Enough to decide what a lost attempt means for its job; guarded by the token later on."""

    job_id: JobId
    token: int
    tenant: TenantId
    definition: DefinitionKey
    correlation_id: str | None
    worker_id: WorkerId | None
    attempts: int
    max_attempts: int
    worker_deaths: int
    gate: str = ""

    @property
    def held(self) -> LeaseRef:
        return LeaseRef(self.job_id, self.token)
