"""Interfaces between a worker and the engine, or a server that has one.

A worker sees only what stands here, so that the same loop runs with a database and without.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import LogLine, WorkerRow
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import AttemptEnd, Lease, LeaseRef, ProgressReport, RenewedLease
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.core.monitoring.latency import LatencyBuffer
from windlass.engine.leases.leases import ClaimResult
from windlass.engine.nudges import Watch
from windlass.ids import JobId, TenantId, WorkerId
from windlass.settings import Settings
from windlass.storage.callers import CallerSession
from windlass.telemetry import Telemetry


class LeaseBackend(Protocol):
    """One worker's hold on jobs: see `engine.leases.Leases`."""

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
    """What operators say of definitions: see `engine.definitions.Definitions`."""

    @property
    def rows(self) -> Collection[Definition]: ...

    async def refresh(self) -> None: ...

    def effective(self, declared: Definition) -> Definition: ...


class WorkerBackend(Protocol):
    """The registry of workers: see `engine.workers.Workers`."""

    async def beat(self, worker: WorkerRow) -> WorkerOrder: ...

    async def leave(self, worker: WorkerId) -> None: ...


class NudgeBackend(Protocol):
    """Those of this process who want to hear of new jobs."""

    local_listeners: set[Callable[[Collection[str]], None]]

    def wake_local(self, queues: Collection[str]) -> None: ...


class LatencyBackend(Protocol):
    """Who is told how long jobs waited and ran: see `engine.latency.Latency`."""

    async def flush(self, tally: LatencyBuffer) -> None: ...


class RenewalBackend(Protocol):
    """What keeps leases and a worker's row alive, over connections of its own."""

    @property
    def workers(self) -> WorkerBackend: ...

    def leases(
        self, who: Callable[[LeaseRef], Lease | None], *, worker: WorkerId
    ) -> LeaseBackend: ...

    async def close(self) -> None: ...


class Backend(Protocol):
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
        """The worker's hold; one for each worker, who knows the leases it holds."""
        ...

    def reopen(self, *, lease_time: timedelta) -> RenewalBackend:
        """The same over connections of its own, for a thread with its own event loop. Nothing
        connects before something is asked."""
        ...

    async def ready(self) -> None:
        """Return once jobs can be claimed; raises if nobody answers."""
        ...

    async def now(self) -> datetime | None:
        """Return if somebody answers."""
        ...

    def join(self, tx: object) -> CallerSession | None:
        """A session in a handler's own transaction; None where that leads elsewhere."""
        ...

    async def watch(self, queues: Sequence[str] | None) -> Watch: ...
