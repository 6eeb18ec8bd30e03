"""The checks of `windlass doctor`: database, schema, queue and workers.

They change nothing, and work before the schema exists: that is one of the checks.
"""

from collections.abc import AsyncIterator, Iterable, Mapping

from windlass import clock
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.leases import wrong_clock
from windlass.core.monitoring import database_checks, queue_checks
from windlass.core.monitoring.checks import Check, broken, ok, warning
from windlass.core.monitoring.queue_checks import QueuedJobs, WorkerCoverage
from windlass.engine.jobs.mutes import Mutes
from windlass.engine.leases.epochs import Epochs
from windlass.engine.leases.workers import liveness
from windlass.engine.migrations import Schema
from windlass.engine.monitoring.metrics import LATE_SECONDS
from windlass.engine.monitoring.summaries import Summaries
from windlass.errors import WindlassError
from windlass.errors.wording import address, counted
from windlass.settings import Settings
from windlass.storage.jobs.mutes import MutedDeadCount
from windlass.storage.storage import Storage

_NONE = MutedDeadCount(0, 0)

_CONNECT_SECONDS, _NUDGE_SECONDS = 10.0, 3.0
#: A queue without workers: nudges to it wake none.
_UNSERVED = "windlass.checkup"


class Doctor:
    def __init__(self, storage: Storage, settings: Settings, epochs: Epochs) -> None:
        self._epochs = epochs
        self._storage = storage
        self._settings = settings
        self._schema = Schema(storage)
        self._summaries = Summaries(storage)
        self._mutes = Mutes(storage)

    async def checks(self) -> AsyncIterator[Check]:
        """Yield the checks as they finish; stops at one that makes the others pointless."""
        place = address(self._settings.database.url)
        try:
            status = await self._schema.status()
        except WindlassError as error:
            yield database_checks.unreachable(error)
            return
        yield ok("database", f"The database at {place} answers.")
        async for check in self._database():
            yield check
        if status.pending:
            yield self._pending(len(status.pending))
            return
        yield ok("migrated", f"The schema is up to date (version {status.version}).")
        epoch = await self._epochs.current()
        yield database_checks.epoch(epoch.begun_at, epoch.server, await self._epochs.server())
        yield wrong_clock.written_ahead(await self._storage.leases.clock_ahead())
        async for check in self._queue():
            yield check

    async def database_version(self) -> tuple[str, str]:
        """The kind of the database, and the version of its server or library."""
        return await self._storage.monitoring.database_version()

    def _pending(self, number: int) -> Check:
        names = counted(number, "migration")
        if self._storage.database.kind == "sqlite":
            problem = f"{names} pending: the first to use the file applies them."
            return warning("migrated", problem, "windlass db migrate, or start a worker.")
        return broken(
            "migrated", f"{names} pending: workers refuse to start.", "windlass db migrate"
        )

    async def _database(self) -> AsyncIterator[Check]:
        storage = self._storage
        yield database_checks.writable(await storage.database.read_only())
        for check in database_checks.durability(await storage.database.warnings()):
            yield check
        before = clock.utcnow()
        theirs = await storage.now()
        error = (clock.utcnow() - before) / 2
        yield database_checks.clock_skew(theirs - (before + error), error=error)
        database_settings = await storage.monitoring.database_settings()
        match storage.database.kind:
            case "postgresql":
                direct = self._settings.database.listen_url
                yield database_checks.pooling(
                    await storage.monitoring.server_process_ids(), told=direct is not None
                )
                if direct is not None:
                    yield await self._listening(address(direct))
                for check in database_checks.old_snapshots(
                    await storage.monitoring.old_snapshots()
                ):
                    yield check
                for check in database_checks.vacuum(await storage.monitoring.dead_tuples()):
                    yield check
            case "mysql":
                yield database_checks.isolation(_isolation(database_settings))
            case _:
                yield database_checks.journal(database_settings["journal_mode"])
                yield database_checks.stopped_writers(await storage.database.stopped_writers())
                yield database_checks.readable(await storage.database.readable_files())

    async def _listening(self, place: str) -> Check:
        database = self._storage.database
        watch = await database.watch([_UNSERVED])
        try:
            # The watch wakes once by itself when it is connected.
            heard = await watch.wait(_CONNECT_SECONDS)
            reached = bool(heard)
            if reached:
                await database.nudge([_UNSERVED])
            until = clock.monotonic() + _NUDGE_SECONDS
            while reached and _UNSERVED not in heard and clock.monotonic() < until:
                heard = await watch.wait(_NUDGE_SECONDS)
        finally:
            await watch.close()
        return database_checks.listening(place, reached=reached, heard=_UNSERVED in heard)

    async def _queue(self) -> AsyncIterator[Check]:
        storage = self._storage
        enabled = {each.key for each in await storage.definitions.definitions() if each.enabled}
        waiting = [
            QueuedJobs(row["queue"], row["definition"], int(row["queued"]))
            for row in await storage.monitoring.state_counts_by_queue(ALL_TENANTS)
            if int(row["queued"]) and row["definition"] in enabled
        ]
        workers = await storage.leases.workers()
        lives = {str(worker.id): liveness(worker) for worker in workers}
        claiming = [w for w in workers if lives[w.id] == "live" and w.claims]
        draining = [w.id for w in workers if lives[w.id] == "live" and not w.claims]
        queued = sum(each.jobs for each in waiting)
        for check in queue_checks.workers(lives, queued=queued, draining=draining):
            yield check
        serving = [WorkerCoverage(w.queues, w.definitions) for w in claiming]
        for check in queue_checks.unserved(waiting, serving):
            yield check
        yield queue_checks.schedules(
            await storage.monitoring.count_late_schedules(seconds=LATE_SECONDS)
        )
        day = await self._summaries.stats("24h")
        hour = await self._summaries.stats("1h")
        muted = await self._mutes.dead_lettered()
        yield queue_checks.dead_letter(
            hour=_without_muted(hour.total.dead_letter, [each.hour for each in muted.values()]),
            day=_without_muted(day.total.dead_letter, [each.day for each in muted.values()]),
            most=[
                each.definition
                for each in hour.failing
                if _without_muted(each.dead_letter, [muted.get(each.definition, _NONE).hour])
            ],
            muted=sum(each.day for each in muted.values()),
        )


def _without_muted(all_of_them: int, muted: Iterable[int]) -> int:
    """Failures left to report. The muted ones may exceed what the counted minutes contain."""
    return max(0, all_of_them - sum(muted))


def _isolation(database_settings: Mapping[str, str]) -> str:
    # The name differs between MariaDB and MySQL; newer versions of MariaDB have both.
    return (
        database_settings.get("transaction_isolation")
        or database_settings.get("tx_isolation")
        or "unknown"
    )
