"""Nudges within a process that works on MariaDB."""

import asyncio

import pytest

from windlass.storage.storage import open_storage

pytestmark = pytest.mark.parametrize("database", ["mariadb"], indirect=True)


async def test_a_nudge_wakes_only_watches_of_its_queue(database):
    storage = open_storage(database.url)
    mail, all_queues, other = [
        await storage.database.watch(queues) for queues in (["mail"], None, ["other"])
    ]

    waits = asyncio.gather(mail.wait(30), all_queues.wait(30), other.wait(0))
    await storage.database.nudge(["mail"])

    assert await waits == [{"mail"}, {"mail"}, set()]
    await storage.close()


async def test_a_nudge_that_came_before_the_wait_is_not_lost(database):
    storage = open_storage(database.url)
    watch = await storage.database.watch(None)
    await storage.database.nudge(["mail"])

    assert await watch.wait(30)
    assert not await watch.wait(0)
    await storage.close()


async def test_a_closed_watch_gets_no_nudge(database):
    storage = open_storage(database.url)
    watch = await storage.database.watch(None)
    await watch.close()
    await storage.database.nudge(["mail"])

    assert not await watch.wait(0)
    await storage.close()
