"""Databases that go away under load, and come back."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from tests.databases import migrate
from tests.databases.connect import connect_mariadb, execute
from tests.databases.servers import mariadb, postgres
from tests.journeys.journey import SLACK_SECONDS
from windlass.core.jobs.states import JobState

#: Long enough that whoever was cut off can renew before the reapers' second look.
LEASE_SECONDS = 5
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


def refuse_writes(server):
    """Make the server read-only, as an operator or a failover does, and writable again."""
    for word in ("on", "off"):
        if server.kind == "mariadb":
            execute(server.url, f"set global read_only = {word}")
        else:
            with psycopg.connect(server.url, autocommit=True) as operator:
                operator.execute("set default_transaction_read_only = off")
                operator.execute(f"alter system set default_transaction_read_only = {word}")
                operator.execute("select pg_reload_conf()")
        if word == "on":
            time.sleep(1.5 * LEASE_SECONDS)


@pytest.mark.parametrize("fault", [restart, kill, pause, block_writes])
async def test_work_resumes_when_the_database_is_back(server, start_journey, fault):
    async with start_journey(server.url) as journey:
        await at_work_through(journey, lambda: fault(server))


async def test_a_job_that_runs_while_the_server_is_read_only_is_recorded_once(
    server, start_journey
):
    url = an_ordinary_account(server)
    async with start_journey(url) as journey:
        # So long that a lease outlasts the outage: nothing but a lost outcome can run a job again.
        workers = await journey.workers(2, worker_lease_seconds=60)
        enqueuers = await journey.enqueuers(2, pause=0.02, seconds=0.3)
        await journey.ledger.moments(20, "done")

        await asyncio.to_thread(refuse_writes, server)
        before = len(journey.ledger.lines("done"))
        await journey.ledger.moments(before + 20, "done")
        acknowledged = await journey.acknowledged(enqueuers)
        await journey.all_ended(acknowledged)

        assert any("is read-only" in worker.output.read_text() for worker in workers)
        ran = Counter(line["job"] for line in journey.ledger.lines("done"))
        assert {ran[id] for id in acknowledged} == {1}
        ended = {str(job.id): job.state for job in await journey.all_jobs()}
        assert {ended[id] for id in acknowledged} == {JobState.COMPLETED}
        await journey.check_records()


def an_ordinary_account(server):
    """The URL of the server by an account that a read-only server refuses like any other."""
    if server.kind != "mariadb":
        return server.url
    execute(server.url, "create or replace user app@'127.0.0.1' identified by 'app'")
    execute(server.url, "grant all on windlass.* to app@'127.0.0.1'")
    return f"mariadb://app:app@127.0.0.1:{server.port}/windlass"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_work_resumes_after_another_process_locked_the_file(journey):
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
