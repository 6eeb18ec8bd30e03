"""Epochs of the installation: what was leased before a restore is worth nothing after it."""

from windlass.core.jobs.models import ALL_TENANTS
from windlass.errors import EpochChanged
from windlass.ids import WorkerId
from windlass.storage.monitoring.installation import Installation
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry


class Epochs:
    """Begins epochs, and compares each worker's with the one that lasts."""

    def __init__(self, storage: Storage, telemetry: Telemetry) -> None:
        self._storage = storage
        self._telemetry = telemetry
        self._server: str | None = None
        self._of_worker: dict[WorkerId, str] = {}

    async def current(self) -> Installation:
        """The epoch that lasts."""
        return await self._storage.monitoring.installation()

    async def server(self) -> str | None:
        """Which server answers; None where it cannot say."""
        if self._storage.database.kind != "postgresql":
            return None
        return await self._storage.monitoring.server()

    async def running(self) -> int:
        """How many jobs `begin` would hand back now."""
        return sum(
            int(row["running"]) for row in await self._storage.jobs.state_counts(ALL_TENANTS)
        )

    async def begin(self) -> int:
        """Begin an epoch, after a restore or a promotion. Returns how many jobs were handed back."""
        return await self._storage.monitoring.begin_epoch(server=await self.server()) or 0

    async def watch_server(self) -> None:
        """Begin an epoch if another server answers than the one noted: a replica was promoted, or
        the database restored elsewhere. PostgreSQL alone can say so."""
        server = await self.server()
        if server is None or server == self._server:
            return
        noted = (await self._storage.monitoring.installation()).server
        if noted is None:
            await self._storage.monitoring.record_server(server)
        elif noted != server:
            handed_back = await self._storage.monitoring.begin_epoch(
                server=server, unless_on=server
            )
            if handed_back is not None:
                self._telemetry.warn(
                    "another database server answers: a new epoch begins", handed_back=handed_back
                )
        self._server = server

    def compare(self, worker: WorkerId, epoch: str) -> None:
        """Note a worker's first epoch. EpochChanged if a later one differs."""
        if self._of_worker.setdefault(worker, epoch) != epoch:
            raise EpochChanged

    def forget(self, worker: WorkerId) -> None:
        """Forget a worker that has stopped."""
        self._of_worker.pop(worker, None)
