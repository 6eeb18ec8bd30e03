"""Verbs on the rows of workers. They inform people and never decide ownership."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from windlass.core.jobs.models import Scope, WorkerRow
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.core.payloads.json_text import dump_json
from windlass.ids import DefinitionKey, JobId, TenantId, WorkerId
from windlass.storage.database import Database, Lane
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch


class RunningJob(NamedTuple):
    """A job that runs now, and for how long its attempt has."""

    id: JobId
    worker_id: WorkerId
    tenant: TenantId
    definition: DefinitionKey
    attempt: int
    started_at: datetime
    elapsed: timedelta
    progress: float
    progress_note: str | None


class WorkerCode(NamedTuple):
    """The version of a worker's code, and when a worker first ran it."""

    code: str
    first_at: datetime


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
            memory_mb=worker.memory_mb,
            code=worker.code,
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

    async def running_jobs(
        self,
        scope: Scope,
        worker: WorkerId | None = None,
        *,
        created_by: str | None = None,
        most_each: int = 100,
        most: int = 1_000,
    ) -> Sequence[RunningJob]:
        """Jobs of a scope that run now on one worker or on all, by worker and the longest first.
        Of `created_by` only those that one made."""
        found = await self._db.run(
            "running_jobs",
            worker_id=worker,
            tenant_id=scope.tenant,
            created_by=created_by,
            most_each=most_each,
            most=most,
        )
        return [
            RunningJob(
                JobId(rows.uuid(row["id"])),
                WorkerId(row["worker_id"]),
                TenantId(row["tenant_id"]),
                DefinitionKey(row["definition"]),
                row["attempts"],
                rows.instant(row["last_started_at"]),
                timedelta(seconds=max(0.0, float(row["elapsed"]))),
                float(row["progress"]),
                row["progress_note"],
            )
            for row in found
        ]

    async def record_worker_code(self, worker: WorkerId, code: str) -> None:
        """Record which code a worker runs; what is recorded already stays."""
        await self._db.run("record_worker_code", worker_id=worker, code=code)

    async def worker_codes(self, workers: Collection[WorkerId]) -> Mapping[WorkerId, WorkerCode]:
        """The code that these workers run or ran, where it is known."""
        if not workers:
            return {}
        found = await self._db.run("worker_codes", names=Batch(name=sorted(workers)))
        return {
            WorkerId(row["worker_id"]): WorkerCode(row["code"], rows.instant(row["first_at"]))
            for row in found
        }

    async def forget_worker_codes(self, *, older_seconds: float) -> int:
        """Forget the code of workers that are gone and began so long ago. Answers how many."""
        return len(await self._db.run("forget_worker_codes", seconds=older_seconds))

    async def delete_worker(self, worker: WorkerId) -> None:
        """Remove the row of a worker that has stopped."""
        await self._db.run("delete_worker", id=worker)

    async def forget_workers(self, *, unseen_seconds: float) -> int:
        """Remove the rows of workers not seen for so long. Answers how many."""
        return len(await self._db.run("forget_workers", seconds=unseen_seconds))
