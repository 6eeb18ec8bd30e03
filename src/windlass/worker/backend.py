"""Interfaces between a worker and the engine, or a server that has one.

A worker sees only what stands here, so that the same loop runs with a database and without.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import LogLine, WorkerRow
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import Finish, Held, Lease, Progress, Renewal
from windlass.core.leases.worker_orders import Order
from windlass.core.monitoring.latency import Tally
from windlass.engine.leases.leases import Claimed
from windlass.ids import JobId, TenantId, WorkerId
from windlass.settings import Settings
from windlass.storage.callers import CallerSession
from windlass.storage.database import Watch
from windlass.telemetry import Telemetry


class LeaseSide(Protocol):
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
    ) -> Claimed: ...

    async def release_unknown(self, held: Collection[Held]) -> int: ...

    async def renew(self, held: Sequence[Held], *, lease_time: timedelta) -> list[Renewal]: ...

    async def stops(self, held: Sequence[Held]) -> set[JobId]: ...

    async def report(self, progress: Sequence[Progress]) -> None: ...

    async def log(self, lines: Sequence[LogLine]) -> None: ...

    async def is_done(self, tenant: TenantId, key: str) -> bool: ...

    async def finish(self, finishes: Sequence[Finish]) -> dict[Held, JobState]: ...


class DefinitionSide(Protocol):
    """What operators say of definitions: see `engine.definitions.Definitions`."""

    @property
    def rows(self) -> Collection[Definition]: ...

    async def refresh(self) -> None: ...

    def effective(self, declared: Definition) -> Definition: ...


class WorkerSide(Protocol):
    """The registry of workers: see `engine.workers.Workers`."""

    async def beat(self, worker: WorkerRow) -> Order: ...

    async def leave(self, worker: WorkerId) -> None: ...


class NudgeSide(Protocol):
    """Those of this process who want to hear of new jobs."""

    here: set[Callable[[Collection[str]], None]]

    def hear(self, queues: Collection[str]) -> None: ...


class LatencySide(Protocol):
    """Who is told how long jobs waited and ran: see `engine.latency.Latency`."""

    async def flush(self, tally: Tally) -> None: ...


class RenewalSide(Protocol):
    """What keeps leases and a worker's row alive, over connections of its own."""

    @property
    def workers(self) -> WorkerSide: ...

    def leases(self, who: Callable[[Held], Lease | None], *, worker: WorkerId) -> LeaseSide: ...

    async def close(self) -> None: ...


class Side(Protocol):
    @property
    def settings(self) -> Settings: ...

    @property
    def telemetry(self) -> Telemetry: ...

    @property
    def definitions(self) -> DefinitionSide: ...

    @property
    def workers(self) -> WorkerSide: ...

    @property
    def nudges(self) -> NudgeSide: ...

    @property
    def latency(self) -> LatencySide: ...

    def leases(self, who: Callable[[Held], Lease | None], *, worker: WorkerId) -> LeaseSide:
        """The worker's hold; one for each worker, who knows the leases it holds."""
        ...

    def reopen(self, *, lease_time: timedelta) -> RenewalSide:
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
