"""The registry of workers: for people. It never decides who owns a job."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Literal

from windlass.core.jobs.dedupe import LONGEST_NAME
from windlass.core.jobs.models import ALL_TENANTS, Scope, WorkerRow
from windlass.core.leases.worker_orders import WorkerOrder, order_nudge
from windlass.engine.leases.epochs import Epochs
from windlass.engine.nudges import Nudges
from windlass.errors import AmbiguousId, WorkerGone, WorkerNotFound, WorkerStopping
from windlass.errors.wording import printable
from windlass.ids import SHORTEST_SUFFIX, WorkerId
from windlass.storage.leases.workers import RunningJob
from windlass.storage.storage import Storage

#: A worker unseen for so long is forgotten.
_FORGET = timedelta(days=1)
#: How long it is known which code a worker ran that is gone.
_FORGET_CODE = timedelta(days=180)
#: Running jobs shown of one worker, and of each in a list of workers.
_MOST_JOBS, _MOST_JOBS_EACH = 500, 50
_MOST_LISTED = 2_000

__all__ = ["Liveness", "RunningJob", "Workers", "liveness"]

Liveness = Literal["live", "stale", "lost"]


class Workers:
    def __init__(self, storage: Storage, nudges: Nudges, epochs: Epochs) -> None:
        self._storage = storage
        self._nudges = nudges
        self._epochs = epochs
        #: The workers whose code is recorded, with that code.
        self._recorded: dict[WorkerId, str] = {}

    async def beat(self, worker: WorkerRow) -> WorkerOrder:
        """Keep a worker's row and note that it lives. Answers what is wanted of it.

        EpochChanged if the database was restored or promoted since the worker's first heartbeat.
        """
        await self._epochs.watch_server()
        wanted, epoch = await self._keep(worker)
        self._epochs.compare(worker.id, epoch)
        return wanted

    async def heartbeat_remote(self, worker: WorkerRow) -> WorkerOrder:
        """The same for a worker without a database. It hears with its next heartbeat that its
        leases are lost, and need not stop: its next leases have tokens that were never given."""
        await self._epochs.watch_server()
        wanted, _ = await self._keep(worker)
        return wanted

    async def _keep(self, worker: WorkerRow) -> tuple[WorkerOrder, str]:
        code = worker.code and printable(worker.code)[:LONGEST_NAME]
        if code and self._recorded.get(worker.id) != code:
            await self._storage.leases.record_worker_code(worker.id, code)
            self._recorded[worker.id] = code
        # A host may have any name: what does not print in it is kept as an escape.
        return await self._storage.leases.worker_heartbeat(
            replace(
                worker,
                hostname=printable(worker.hostname)[:LONGEST_NAME],
                version=printable(worker.version)[:LONGEST_NAME],
                code=code,
                queues=[printable(name) for name in worker.queues],
                definitions=[printable(key) for key in worker.definitions],
            )
        )

    async def leave(self, worker: WorkerId) -> None:
        """Remove the row of a worker that has stopped."""
        self._epochs.forget(worker)
        self._recorded.pop(worker, None)
        await self._storage.leases.delete_worker(worker)

    async def list(self) -> Sequence[WorkerRow]:
        """All workers with a row."""
        return await self._storage.leases.workers()

    async def get(self, id: str) -> WorkerRow:
        """One worker by its id, or by any unambiguous ending of it of six or more characters."""
        rows = await self._storage.leases.workers()
        found = [row for row in rows if row.id == id] or [
            row for row in rows if len(id) >= SHORTEST_SUFFIX and row.id.endswith(id)
        ]
        if not found:
            raise WorkerNotFound(id, known=[row.id for row in rows])
        if len(found) > 1:
            raise AmbiguousId(id, [row.id for row in found], said="workers end in")
        return found[0]

    async def running_jobs(
        self,
        worker: WorkerId | None = None,
        *,
        created_by: str | None = None,
        scope: Scope = ALL_TENANTS,
    ) -> Mapping[WorkerId, Sequence[RunningJob]]:
        """The jobs that run now by worker, the longest first; of many workers the first fifty of
        each, of one the first five hundred."""
        found = await self._storage.leases.running_jobs(
            scope,
            worker,
            created_by=created_by,
            most_each=_MOST_JOBS_EACH if worker is None else _MOST_JOBS,
            most=_MOST_LISTED,
        )
        jobs = _by_worker()
        for job in found:
            jobs[job.worker_id].append(job)
        return jobs

    async def drain(self, id: str, *, actor: str | None = None) -> WorkerRow:
        """Let a worker claim no more; what it runs goes on, and it stays. It hears of it with its next
        beat, or sooner where nudges reach it. Asking twice is asking once.

        WorkerGone, or WorkerStopping, if it cannot be told.
        """
        return await self._order(id, WorkerOrder.DRAIN, actor)

    async def resume(self, id: str, *, actor: str | None = None) -> WorkerRow:
        """Let a worker claim again."""
        return await self._order(id, WorkerOrder.RUN, actor)

    async def stop(self, id: str, *, actor: str | None = None) -> WorkerRow:
        """End a worker as a signal would: it claims no more, lets what runs finish for
        `worker.shutdown_timeout_seconds` and hands back the rest. That is not taken back."""
        return await self._order(id, WorkerOrder.STOP, actor)

    async def forget(self) -> int:
        """Remove the rows of workers long gone. Answers how many."""
        await self._storage.leases.forget_worker_codes(older_seconds=_FORGET_CODE.total_seconds())
        self._recorded.clear()
        return await self._storage.leases.forget_workers(unseen_seconds=_FORGET.total_seconds())

    async def _order(self, id: str, wanted: WorkerOrder, actor: str | None) -> WorkerRow:
        worker = (await self.get(id)).id
        if not await self._storage.leases.set_worker_order(worker, wanted, by=actor):
            row = await self.get(worker)
            if liveness(row) == "lost":
                raise WorkerGone(worker)
            raise WorkerStopping(worker, verb="resume" if wanted is WorkerOrder.RUN else wanted)
        ordered = await self.get(worker)
        self._nudges.nudge(
            {order_nudge(worker)}
        )  # last: one that stops may be gone the next moment
        return ordered


def liveness(worker: WorkerRow) -> Liveness:
    """`stale` after two missed beats (a beat is a third of the lease), `lost` after a lease."""
    age = worker.age.total_seconds() if worker.age else 0.0
    if age >= worker.lease_seconds:
        return "lost"
    return "stale" if age >= 2 * worker.lease_seconds / 3 else "live"


def _by_worker() -> dict[WorkerId, list[RunningJob]]:
    return defaultdict(list)
