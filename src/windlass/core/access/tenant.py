"""Tenants: who owns jobs."""

from dataclasses import dataclass
from typing import Literal

from windlass.ids import TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """The owner of jobs. `weight` is its share of workers, `max_running` its cap, `max_open` how many
    of its jobs may be open before more are rejected. Its schedules are in its `timezone`."""

    id: TenantId
    name: str
    state: Literal["active", "suspended", "deleted"] = "active"
    weight: int = 1
    max_running: int | None = None
    max_open: int | None = None
    timezone: str = "UTC"
