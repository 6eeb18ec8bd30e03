"""Verbs on the installation as a whole: its epoch, and the server it belongs to.

An epoch is the time between two restores. What was leased in an earlier one is worth nothing: a new
one hands back every running job, and its lease tokens are greater than all that were given before.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from windlass.core.jobs import outcome
from windlass.core.leases.lease import AttemptEnd, LeaseRef
from windlass.ids import JobId, WorkerId
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Lane, Session
from windlass.storage.leases.leases import finish_batch
from windlass.storage.sql import rows

#: By how much lease tokens rise with an epoch. No job is claimed so often between two restores.
TOKEN_STEP = 1_000_000
#: Jobs handed back with one statement.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Installation:
    """The epoch of an installation, and the server that was noted with it, if it could say."""

    epoch: str
    server: str | None
    begun_at: datetime


class InstallationVerbs:
    _db: Database

    async def installation(self) -> Installation:
        """The epoch that lasts."""
        [row] = await self._db.run("installation", lane=Lane.RENEW)
        return Installation(row["epoch"], row["server"], rows.instant(row["begun_at"]))

    async def server(self) -> str | None:
        """The identity of the server. None where it has none, or may not report it: then a restore is
        not noticed automatically."""
        # A role without the right to ask is an ordinary one.
        with suppress(Exception):
            found = await self._db.run("server_identity", lane=Lane.RENEW)
            return found[0]["server"] if found else None
        return None

    async def record_server(self, server: str) -> None:
        """Note which server the epoch belongs to, unless one is noted."""
        await self._db.run("record_server", server=server)

    @retry_deadlocks
    async def begin_epoch(self, *, server: str | None, unless_on: str | None = None) -> int | None:
        """Begin an epoch: hand back every running job, its attempt not counted, and give greater
        lease tokens from now on. Returns how many jobs were handed back; None, and nothing is
        changed, if the server noted by now is `unless_on`: another process was quicker.
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
