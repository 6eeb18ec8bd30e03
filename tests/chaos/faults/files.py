"""Faults of a SQLite file: locks, long readers, and a full disk."""

import asyncio
import contextlib
import sqlite3

from tests.chaos.faults.databases import fill
from tests.chaos.run import Bite, ChaosRun, Fault


def _open(run: ChaosRun) -> sqlite3.Connection:
    path = run.setup.direct_url.removeprefix("sqlite:///")
    return sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)


async def hold_locks(run: ChaosRun) -> Bite:
    """Another program keeps the file locked for longer than leases last."""

    async def fault() -> None:
        with contextlib.closing(_open(run)) as other:
            await asyncio.to_thread(_begin, other)
            await asyncio.sleep(1.2 * run.lease)
            other.execute("rollback")

    return await run.through(fault)


def _begin(other: sqlite3.Connection) -> None:
    for _ in range(100):
        with contextlib.suppress(sqlite3.OperationalError):
            other.execute("begin immediate")
            return


async def pin_snapshot(run: ChaosRun) -> Bite:
    """A reader stays where it is while jobs come and go, and the log of writes grows."""
    count = "select count(*) from windlass_ended"
    with contextlib.closing(_open(run)) as reader:
        reader.execute("begin")
        [(before,)] = reader.execute(count)
        await run.more(60, within=20)
        [(seen,)] = reader.execute(count)
        pinned = seen == before
        reader.execute("rollback")
        [(now,)] = reader.execute(count)
    return Bite(int(pinned) * (now - before), f"a reader stayed while {now - before} jobs ended")


async def fill_disk(run: ChaosRun) -> Bite:
    """There is no room for another byte where the file is."""
    assert run.setup.disk is not None
    ballast = run.setup.disk / "ballast"
    before = run.outages()

    async def fault() -> None:
        try:
            await asyncio.to_thread(fill, ballast)
            await run.until(lambda: run.outages() > before, within=10, every=0.3)
        finally:
            ballast.unlink(missing_ok=True)

    return await run.through(fault)


FAULTS: dict[str, Fault] = {"locks held": hold_locks, "snapshot pinned": pin_snapshot}
DISK_FAULTS: dict[str, Fault] = {"disk full": fill_disk}
