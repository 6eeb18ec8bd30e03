"""Nudges between processes that work on PostgreSQL."""

import asyncio
import gc

import asyncpg
import pytest

from tests.support.servers.tcp_proxy import Proxy
from windlass.storage.connection.address import Address
from windlass.storage.postgres import watch as watch_module
from windlass.storage.postgres.watch import PostgresWatch
from windlass.storage.storage import open_storage

pytestmark = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


async def test_a_nudge_wakes_only_watches_of_its_queue(database):
    storage = open_storage(database.url)
    mail, all_queues, other = [
        await storage.database.watch(queues) for queues in (["mail"], None, ["other"])
    ]
    for watch in (mail, all_queues, other):
        assert await watch.wait(30)  # listening from here on

    waits = asyncio.gather(mail.wait(30), all_queues.wait(30), other.wait(0.2))
    await storage.database.nudge(["mail"])

    assert await waits == [{"mail"}, {"mail"}, set()]
    for watch in (mail, all_queues, other):
        await watch.close()
    await storage.close()


@pytest.mark.parametrize("steps", range(0, 40, 3))
async def test_a_watch_leaves_no_connection_wherever_it_is_interrupted(database, steps):
    storage = open_storage(database.url)
    before = _open_connections()
    watch = await storage.database.watch(None)
    await watch.wait(0)
    for _ in range(steps):
        await asyncio.sleep(0.0005)

    await watch.close()

    assert _open_connections() == before
    await storage.close()


def _open_connections() -> list[asyncpg.Connection]:
    all_objects = gc.get_objects()
    return [c for c in all_objects if type(c) is asyncpg.Connection and not c.is_closed()]


async def test_a_watch_on_a_silent_link_listens_again(database, monkeypatch):
    monkeypatch.setattr(watch_module, "_ASK_SECONDS", 0.0)
    monkeypatch.setattr(watch_module, "_ANSWER_SECONDS", 1.0)
    storage = open_storage(database.url)
    with Proxy.before(database.url) as proxy:
        watch = PostgresWatch(Address.parse(proxy.url), "windlass", ["mail"])
        assert await watch.wait(30)  # listening from here on
        proxy.silence()
        proxy.heal()

        async with asyncio.timeout(60):
            while "*" not in await watch.wait(0.05):
                pass
        await storage.database.nudge(["mail"])

        assert await watch.wait(30) == {"mail"}
        await watch.close()
    await storage.close()
