"""Links to a server that fall silent without an error: only deadlines help."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ALDER,
    DEFINITIONS,
    LEASE_TIME,
    a_definition,
    claim,
    enqueue,
    held,
    started,
)
from tests.support.servers.tcp_proxy import Proxy
from tests.support.wait import until
from windlass.core.jobs.models import ALL_TENANTS
from windlass.errors import DatabaseTimeout, DatabaseUnreachable
from windlass.ids import JobId
from windlass.storage.connection import deadlines
from windlass.storage.connection.deadlines import Deadlines
from windlass.storage.database import Lane
from windlass.storage.postgres import database as postgres
from windlass.storage.sql.statements import Batch
from windlass.storage.storage import Storage, open_storage

servers = pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
#: Instead of ten seconds. Long enough for a statement on a busy machine.
SHORT = 2.0


@pytest.fixture
def proxy(database) -> Iterator[Proxy]:
    with Proxy.before(database.url) as proxy:
        yield proxy


@pytest.fixture
async def storage(proxy) -> AsyncIterator[Storage]:
    storage = open_storage(proxy.url, lease_time=timedelta(seconds=3 * SHORT))
    await storage.definitions.sync_definitions(DEFINITIONS)
    yield storage
    await storage.close()


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(deadlines, "_USUAL", SHORT)


async def fall_silent(storage: Storage, proxy: Proxy) -> None:
    """Silence the connections that there are, several in each lane; new ones will work."""
    for lane in Lane:
        await asyncio.gather(*(storage.database.run("database_time", lane=lane) for _ in range(4)))
    proxy.silence()
    proxy.heal()


@servers
async def test_a_silent_link_costs_one_deadline_however_many_connections_waited(
    storage, proxy, hurried
):
    lease = await started(storage)
    await fall_silent(storage, proxy)

    with pytest.raises(DatabaseTimeout):
        await storage.leases.expired_leases()

    await storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME)
    await storage.leases.expired_leases()
    await storage.definitions.definitions()
    id = await enqueue(storage)
    assert await storage.jobs.get(ALL_TENANTS, id)


@servers
async def test_a_renewal_on_a_silent_link_is_abandoned_in_time_for_another(storage, proxy):
    lease = await started(storage)
    await fall_silent(storage, proxy)

    with pytest.raises(DatabaseTimeout, match=f"within {SHORT:g} s"):
        await storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME)

    [renewal] = await storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME)
    assert renewal.job_id == lease.job_id


@servers
async def test_a_transaction_on_a_silent_link_ends_without_a_rollback(storage, proxy, hurried):
    async def falls_silent_half_way() -> None:
        async with storage.database.transaction(Lane.WORK) as session:
            await session.run("expired_leases", most=1)
            proxy.silence()
            proxy.heal()
            await session.run("expired_leases", most=1)

    with pytest.raises(DatabaseTimeout):
        async with asyncio.timeout(60):
            await falls_silent_half_way()

    assert await storage.leases.expired_leases() == []


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize("pooled", [False, True], ids=["direct", "by way of a pooler"])
async def test_jobs_under_a_limit_locked_by_a_silent_worker_are_claimed_later(
    proxy, database, pooled, hurried, monkeypatch
):
    monkeypatch.setattr(postgres, "_IDLE_IN_TRANSACTION_SECONDS", 1)
    async with contextlib.AsyncExitStack() as stack:
        silent = open_storage(proxy.url, listen_url=database.url if pooled else None)
        healthy = open_storage(database.url)
        for storage in (silent, healthy):
            stack.push_async_callback(storage.close)
        await a_definition(healthy, "single", max_concurrency=1)
        id = await enqueue(healthy, definition="single")

        async def claimed() -> list[JobId]:
            return [lease.job_id for lease in await claim(healthy, known=["single"])]

        found = []
        with contextlib.suppress(DatabaseTimeout, DatabaseUnreachable):
            async with silent.database.transaction(Lane.WORK) as session:
                await session.run("lock_limits", names=Batch(name=["definition:single"]))
                proxy.silence()
                found.append(await claimed())
                found.append(await until(claimed))

        assert found == [[], [id]]


@servers
async def test_a_connection_without_response_is_dropped_and_opened_again(
    storage, proxy, monkeypatch
):
    monkeypatch.setattr(deadlines, "CONNECT", 1)
    proxy.silence()

    with pytest.raises(DatabaseUnreachable):
        await storage.database.run("database_time", lane=Lane.WORK)

    proxy.heal()
    assert await storage.leases.expired_leases() == []


@servers
async def test_a_connection_that_comes_late_is_kept_for_the_next_call(storage, proxy, monkeypatch):
    monkeypatch.setattr(Deadlines, "usual", lambda self, lane: 0.2)
    proxy.delay(0.2)  # of each of several messages back and forth

    with pytest.raises(DatabaseTimeout):
        await storage.database.run("database_time", lane=Lane.RENEW)

    async def answered() -> bool:
        try:
            await storage.database.run("database_time", lane=Lane.RENEW)
        except DatabaseTimeout:
            return False
        return True

    proxy.delay(0)
    await until(answered)
    assert proxy.accepted == 2, "the one that made definitions known, and the late one"


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_closing_on_a_silent_link_leaves_no_connection_open(storage, proxy):
    await fall_silent(storage, proxy)
    held_open = [
        connection for pool in storage.database._pools.values() for connection, _ in pool._idle
    ]

    await storage.close()

    assert len(held_open) > 4
    assert all(connection.is_closed() for connection in held_open)
    assert all(connection._transport.is_closing() for connection in held_open)


@servers
async def test_sockets_have_keepalive(storage):
    await storage.now()
    pool = storage.database._pools[Lane.GENERAL]
    for each in pool._idle:
        sock = (
            each[0]._transport.get_extra_info("socket")
            if isinstance(each, tuple)
            else each._socket()
        )
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 5
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 15_000


@pytest.mark.parametrize(
    ("lease", "renewal"), [(1, 0.5), (3, 1), (15, 5), (30, 10), (3600, 10), (None, 10)]
)
def test_the_deadline_of_a_renewal_follows_the_lease(lease, renewal):
    found = Deadlines.following(None if lease is None else timedelta(seconds=lease))

    assert found.usual(Lane.RENEW) == renewal
    assert found.usual(Lane.WORK) == 10


def test_verbs_that_grow_with_the_data_have_longer_deadlines():
    found = Deadlines()

    assert found.verb(Lane.GENERAL, "due_triggers", {}) == 10
    assert found.verb(Lane.GENERAL, "prune", {}) == 60
    assert found.verb(Lane.STORE, "enqueue", {"jobs": [()]}) == 10
    assert found.verb(Lane.STORE, "enqueue", {"jobs": [()] * 1000}) == 60
