"""Nudges: many become few, and none ever fails."""

import asyncio

import pytest

from tests.support.wait import until
from windlass.engine.nudges import Nudges
from windlass.errors import DatabaseUnreachable


class Recorder:
    """The side of a database that hears nudges."""

    def __init__(self):
        self.sent = []
        self.error = None
        self.hold = asyncio.Event()
        self.hold.set()

    async def nudge(self, queues):
        self.sent.append(list(queues))
        await self.hold.wait()
        if self.error:
            raise self.error


@pytest.fixture
async def database():
    return Recorder()


@pytest.fixture
async def nudges(database):
    nudges = Nudges(database)
    yield nudges
    await nudges.close()


async def test_the_first_nudge_goes_out_at_once(nudges, database):
    nudges.nudge(["mail"])
    await asyncio.sleep(0)

    assert database.sent == [["mail"]]


async def test_nudges_during_another_are_merged(nudges, database):
    database.hold.clear()
    nudges.nudge(["mail"])
    await asyncio.sleep(0)
    for queue in ("mail", "media", "mail", "default"):
        nudges.nudge([queue])

    database.hold.set()
    await until(lambda: len(database.sent) == 2)

    assert database.sent == [["mail"], ["default", "mail", "media"]]


@pytest.mark.parametrize("error", [DatabaseUnreachable("sqlite:///x"), OSError("no socket")])
async def test_a_failed_nudge_is_ignored(nudges, database, error):
    database.error = error
    nudges.nudge(["mail"])
    await until(lambda: database.sent)
    await asyncio.sleep(0)

    database.error = None
    nudges.nudge(["media"])
    await until(lambda: len(database.sent) == 2)

    assert database.sent[-1] == ["media"]


async def test_a_job_in_a_callers_transaction_is_nudged_after_its_likely_commit(nudges, database):
    nudges.nudge_after_commit(["mail"])
    before = list(database.sent)
    await until(lambda: len(database.sent) == 2)

    assert before == []
    assert database.sent == [["mail"], ["mail"]]


async def test_close_drops_pending_nudges(nudges, database):
    nudges.nudge_after_commit(["mail"])

    await nudges.close()
    await asyncio.sleep(0.05)

    assert database.sent == []
