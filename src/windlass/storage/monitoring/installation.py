"""Verbs on the installation as a whole: its epoch, and the server it belongs to.

An epoch is the time between two restores. Leases of an earlier one are void: a new epoch hands back
every running job, and its lease tokens are greater than all earlier ones.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from windlass.core.jobs import outcome
from windlass.core.leases.lease import LeaseRef
from windlass.ids import JobId, WorkerId
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Lane, Session
from windlass.storage.leases.leases import finish_batch
from windlass.storage.sql import rows

if TYPE_CHECKING:
    from windlass.core.jobs.outcome import AttemptEnd

#: Increase of lease tokens per epoch. No job is claimed that often between two restores.
TOKEN_STEP = 1_000_000
#: Jobs handed back with one statement.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Installation:
    """The epoch of an installation, and the server recorded with it, if known."""

    epoch: str
    server: str | None
    begun_at: datetime


class InstallationVerbs:
    _db: Database

    async def installation(self) -> Installation:
        """The current epoch."""
        [row] = await self._db.run("installation", lane=Lane.RENEW)
        return Installation(row["epoch"], row["server"], rows.instant(row["begun_at"]))

    async def server(self) -> str | None:
        """The identity of the server. None if it has none, or the role may not read it: then a
        restore is not noticed automatically."""
        # Roles without the right to read it are common.
        with suppress(Exception):
            found = await self._db.run("server_identity", lane=Lane.RENEW)
            return found[0]["server"] if found else None
        return None

    async def record_server(self, server: str) -> None:
        """Store the server the epoch belongs to, unless one is stored."""
        await self._db.run("record_server", server=server)

    @retry_deadlocks
    async def begin_epoch(self, *, server: str | None, unless_on: str | None = None) -> int | None:
        """Begin an epoch: hand back every running job, its attempt not counted, and raise the lease
        tokens. Returns the number of jobs handed back; None, with nothing changed, if the stored
        server is `unless_on` by now: another process was faster.
        """
        async with self._db.transaction() as session:
            [row] = await session.run("lock_installation")
            if unless_on is not None and row["server"] == unless_on:
                return None
            await session.run(
                "begin_epoch",
                epoch=uuid4().hex,
                server=server,
                token_floor=row["token_floor"] + TOKEN_STEP,
            )
            await session.run("reclaim_operations", step=TOKEN_STEP)
            return await _release_running_jobs(session)


async def _release_running_jobs(session: Session) -> int:
    handed_back = 0
    after = JobId(UUID(int=0))
    while found := await session.run("list_leases", after=after, most=_BATCH):
        by_worker: dict[WorkerId, list[AttemptEnd]] = {}
        for row in found:
            held = LeaseRef(JobId(rows.uuid(row["id"])), row["lease_token"])
            by_worker.setdefault(WorkerId(row["worker_id"]), []).append(outcome.released(held))
        for worker, ends in by_worker.items():
            handed_back += len(await session.run("finish", **finish_batch(worker, ends)))
        after = JobId(rows.uuid(found[-1]["id"]))
    return handed_back
