"""Housekeeping chores, independent of each other."""

import pytest

from tests.support.job_builders import KNOWN
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.query import JobQuery
from windlass.errors import DatabaseTimeout
from windlass.upkeep.housekeeping import Housekeeping


@pytest.fixture
async def waiting(engine, storage):
    """An event that waits to be matched, and counts that wait to be folded."""
    await engine.triggers.create("ingest", definition=KNOWN[0], event="folder.changed")
    await storage.triggers.emit_event(engine.events.make("folder.changed", {}))
    await engine.events.emit(engine.events.make("folder.changed", {}))


async def made(storage):
    return len((await storage.jobs.page(ALL_TENANTS, JobQuery(), limit=10)).jobs)


async def test_a_failing_chore_does_not_stop_the_others(engine, storage, waiting, monkeypatch):
    async def fail():
        raise ZeroDivisionError

    monkeypatch.setattr(storage.monitoring, "roll_up_counts", fail)

    with pytest.raises(ZeroDivisionError):
        await Housekeeping(engine).tick()

    assert await made(storage) == 2


async def test_an_outage_ends_the_round(engine, storage, waiting, monkeypatch):
    async def time_out():
        raise DatabaseTimeout("answer", seconds=1)

    monkeypatch.setattr(storage.monitoring, "roll_up_counts", time_out)

    with pytest.raises(DatabaseTimeout):
        await Housekeeping(engine).tick()

    assert await made(storage) == 1
