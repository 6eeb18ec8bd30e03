"""Databases that go away under load, and come back."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import time
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from tests.databases import migrate
from tests.databases.connect import connect_mariadb
from tests.databases.servers import mariadb, postgres
from tests.journeys.journey import SLACK_SECONDS
from windlass.core.states import JobState

#: Long enough that whoever was cut off can renew before the reapers' second look.
LEASE_SECONDS = 3
#: The promise: work resumes so soon after the database's return.
RESUME_SECONDS = 5.0


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(postgres, id="postgresql", marks=pytest.mark.database("postgresql")),
        pytest.param(mariadb, id="mariadb", marks=pytest.mark.database("mariadb")),
    ],
)
def server(request):
    with request.param(durable=True) as server:
        migrate(server.url)
        yield server


def restart(server):
    server.restart()


def kill(server):
    server.kill()
    time.sleep(1.5 * LEASE_SECONDS)  # so long that every lease runs out meanwhile
    server.start()


def pause(server):
    """Stop every process of the server so long that every lease runs out, and let them go on."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in [server.pid, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        if number == signal.SIGSTOP:
            time.sleep(1.5 * LEASE_SECONDS)


def block_writes(server):
    """Lock the tables as a backup does: everybody can read, and nobody can write."""
    if server.kind == "mariadb":
        backup = connect_mariadb(server.url)
        lock = "flush tables with read lock"
    else:
        backup = psycopg.connect(server.url)
        lock = "lock table windlass_live, windlass_later, windlass_ended in exclusive mode"
    with contextlib.closing(backup), backup.cursor() as cursor:
        cursor.execute(lock)
        time.sleep(1.5 * LEASE_SECONDS)


@pytest.mark.parametrize("fault", [restart, kill, pause, block_writes])
async def test_a_database_that_comes_back_finds_everybody_at_work(server, start_journey, fault):
    async with start_journey(server.url) as journey:
        await at_work_through(journey, lambda: fault(server))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_file_that_somebody_else_has_locked_for_long_finds_everybody_at_work(journey):
    await at_work_through(journey, lambda: lock(journey.url.removeprefix("sqlite:///")))


def lock(path):
    other = sqlite3.connect(path, isolation_level=None, timeout=30)
    other.execute("begin immediate")
    time.sleep(1.5 * LEASE_SECONDS)
    other.execute("rollback")
    other.close()


async def at_work_through(journey, fault):
    """Put the database through a fault under load: nobody is started anew, nothing is lost."""
    workers = await journey.workers(2, worker_lease_seconds=LEASE_SECONDS)
    enqueuers = await journey.enqueuers(2, pause=0.02)
    lasting = await journey.started("async")
    await journey.ledger.moments(50, "done")

    await asyncio.to_thread(fault)
    back_at = time.monotonic()
    before = len(journey.ledger.lines("done"))
    after = (await journey.ledger.moments(before + 50, "done"))[before]
    acknowledged = await journey.acknowledged(enqueuers)
    journey.let_end()
    ended = await journey.ended(lasting)
    await journey.all_ended(acknowledged)

    assert after["at"] - back_at <= RESUME_SECONDS + SLACK_SECONDS
    assert bitten(journey, workers), "nobody noticed the fault: nothing was shown"
    assert all(worker.is_running for worker in workers)
    assert ended.state is JobState.COMPLETED
    assert await journey.outcomes(lasting) == ["succeeded"], "an outage is nobody's fault"
    await journey.check_delivery(acknowledged)
    await journey.check_records()


def bitten(journey, workers):
    """Whether a worker met the fault, or enqueues stood still meanwhile."""
    times = [line["at"] for line in journey.ledger.lines("acknowledged")]
    stood_still = max(later - earlier for earlier, later in pairwise(times))
    return stood_still > 1 or any(" failed'" in worker.output.read_text() for worker in workers)
