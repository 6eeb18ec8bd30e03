"""Interfaces of a worker to its engine, or to a server that has one.

A worker uses nothing else, so the same loops run with a database and over HTTP.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import LogLine, WorkerRow
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import Lease, LeaseRef, ProgressReport, RenewedLease
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.core.monitoring.latency import LatencyBuffer
from windlass.engine.leases.leases import ClaimResult
from windlass.engine.nudges import Watch
from windlass.ids import JobId, TenantId, WorkerId
from windlass.settings import Settings
from windlass.storage.callers import CallerSession
from windlass.telemetry import Telemetry


class LeaseBackend(Protocol):
    """The leases of one worker: see `engine.leases.leases.Leases`."""

    async def claim(
        self,
        worker: WorkerId,
        limit: int,
        *,
        queues: Collection[str] | None,
        known: Collection[str],
        lease_time: timedelta,
        nudged: bool = False,
    ) -> ClaimResult: ...

    async def release_unknown(self, held: Collection[LeaseRef]) -> int: ...

    async def renew(
        self, held: Sequence[LeaseRef], *, lease_time: timedelta
    ) -> list[RenewedLease]: ...

    async def stops(self, held: Sequence[LeaseRef]) -> set[JobId]: ...

    async def report(self, progress: Sequence[ProgressReport]) -> None: ...

    async def log(self, lines: Sequence[LogLine]) -> None: ...

    async def is_done(self, tenant: TenantId, key: str) -> bool: ...

    async def finish(self, finishes: Sequence[AttemptEnd]) -> dict[LeaseRef, JobState]: ...


class DefinitionBackend(Protocol):
    """Definitions with operators' edits: see `engine.definitions.definitions.Definitions`."""

    @property
    def rows(self) -> Collection[Definition]: ...

    async def refresh(self) -> None: ...

    def effective(self, declared: Definition) -> Definition: ...


class WorkerBackend(Protocol):
    """The registry of workers: see `engine.leases.workers.Workers`."""

    async def beat(self, worker: WorkerRow) -> WorkerOrder: ...

    async def leave(self, worker: WorkerId) -> None: ...


class NudgeBackend(Protocol):
    """The listeners of this process that wait for new jobs."""

    local_listeners: set[Callable[[Collection[str]], None]]

    def wake_local(self, queues: Collection[str]) -> None: ...


class LatencyBackend(Protocol):
    """Storage of wait and run times: see `engine.monitoring.latency.Latency`."""

    async def flush(self, latencies: LatencyBuffer) -> None: ...


class RenewalBackend(Protocol):
    """Renews leases and a worker's row over connections of its own."""

    @property
    def workers(self) -> WorkerBackend: ...

    def leases(
        self, who: Callable[[LeaseRef], Lease | None], *, worker: WorkerId
    ) -> LeaseBackend: ...

    async def close(self) -> None: ...


class Backend(Protocol):
    """A worker's access to jobs, definitions and its own row."""

    @property
    def settings(self) -> Settings: ...

    @property
    def telemetry(self) -> Telemetry: ...

    @property
    def definitions(self) -> DefinitionBackend: ...

    @property
    def workers(self) -> WorkerBackend: ...

    @property
    def nudges(self) -> NudgeBackend: ...

    @property
    def latency(self) -> LatencyBackend: ...

    def leases(self, who: Callable[[LeaseRef], Lease | None], *, worker: WorkerId) -> LeaseBackend:
        """The leases of one worker; `who` returns the lease it holds by this token."""
        ...

    def reopen(self, *, lease_time: timedelta) -> RenewalBackend:
        """The same backend over its own connections, for a thread with its own event loop. It
        connects on first use."""
        ...

    async def ready(self) -> None:
        """Return once jobs can be claimed; raise if the backend does not answer."""
        ...

    async def now(self) -> datetime | None:
        """Return the database's time, None if only a server knows it; raise if nothing answers."""
        ...

    def join(self, tx: object) -> CallerSession | None:
        """A session in a handler's own transaction; None if that belongs to another database."""
        ...

    async def watch(self, queues: Sequence[str] | None) -> Watch: ...
