"""Verbs on the rows of workers. They inform people and never decide ownership."""

from windlass.core.jobs.models import WorkerRow
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.core.payloads.json_text import dump_json
from windlass.ids import WorkerId
from windlass.storage.database import Database, Lane
from windlass.storage.sql import rows


class WorkerVerbs:
    _db: Database

    async def worker_heartbeat(self, worker: WorkerRow) -> tuple[WorkerOrder, str]:
        """Keep a worker's row and note that it lives. Returns what is wanted of it, and the
        installation's epoch."""
        [row] = await self._db.run(
            "worker_heartbeat",
            lane=Lane.RENEW,
            id=worker.id,
            hostname=worker.hostname,
            pid=worker.pid,
            version=worker.version,
            queues_served=dump_json(list(worker.queues)),
            definitions_known=dump_json(list(worker.definitions)),
            slots=worker.slots,
            slots_used=worker.slots_used,
            lease_seconds=worker.lease_seconds,
            metadata=dump_json(dict(worker.metadata)),
            doing=worker.doing,
        )
        return WorkerOrder(row["wanted"]), row["epoch"]

    async def set_worker_order(
        self, worker: WorkerId, wanted: WorkerOrder, *, by: str | None = None
    ) -> bool:
        """Say what is wanted of a worker; wanted already, it stays as it was said first. False if it
        is lost, or stops and something else is wanted."""
        return bool(await self._db.run("set_worker_order", id=worker, wanted=wanted, wanted_by=by))

    async def workers(self) -> list[WorkerRow]:
        """All workers with a row, and how long ago each was seen."""
        return rows.readable(rows.worker, await self._db.run("workers"))

    async def delete_worker(self, worker: WorkerId) -> None:
        """Remove the row of a worker that has stopped."""
        await self._db.run("delete_worker", id=worker)

    async def forget_workers(self, *, unseen_seconds: float) -> int:
        """Remove the rows of workers not seen for so long. Answers how many."""
        return len(await self._db.run("forget_workers", seconds=unseen_seconds))
