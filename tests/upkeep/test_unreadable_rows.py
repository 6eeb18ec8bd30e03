"""An unreadable row, edited by hand, affects no other."""

import pytest

from tests.support.job_builders import DEFINITIONS, KNOWN, enqueue
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.query import JobQuery
from windlass.core.triggers.schedule import every
from windlass.upkeep.scheduler import Scheduler


@pytest.mark.parametrize("column", ["tags", "runs_after", "metadata", "edited", "code"])
async def test_an_unreadable_definition_does_not_stop_others(engine, storage, column):
    await engine.triggers.create("beat", definition="other", schedule=every("1m"))
    await storage.database.script(
        f"update windlass_definitions set {column} = '{{not json' where key = 'plain';\n"
    )

    assert await Scheduler(engine, tick_seconds=15).tick() == 1
    await enqueue(storage)
    assert {each.key for each in await engine.definitions.list()} == set(KNOWN)
    await storage.definitions.sync_definitions(DEFINITIONS)


async def test_an_unreadable_event_waits_without_blocking_later_ones(engine, storage, heard):
    await engine.triggers.create("ingest", definition=KNOWN[0], event="folder.changed")
    broken, good = (engine.events.make("folder.changed", {"n": n}) for n in (1, 2))
    for event in (broken, good):
        await storage.triggers.emit_event(event)
    await storage.database.script(
        f"update windlass_events set data = '{{not json' where id = '{broken.id}';\n"
    )

    assert await engine.events.match_waiting() == 1

    assert await storage.triggers.unmatched_events() == [broken.id]
    assert [event.id for event in await engine.events.list()] == [good.id]
    assert len((await storage.jobs.page(ALL_TENANTS, JobQuery(), limit=10)).jobs) == 1
    assert "matching an event" in str(heard.said)


async def test_an_unreadable_event_trigger_is_logged_and_the_others_fire(engine, storage):
    broken, good = [
        await engine.triggers.create(name, definition=KNOWN[0], event="folder.changed")
        for name in ("broken", "good")
    ]
    await storage.database.script(
        f"update windlass_triggers set condition = '{{not json' where id = '{broken.id}';\n"
    )

    event = await engine.events.emit(engine.events.make("folder.changed", {}))

    [job] = (await storage.jobs.page(ALL_TENANTS, JobQuery(), limit=10)).jobs
    assert job.trigger_id == good.id
    assert (await engine.events.get(event.id)).matched_at is not None
    assert "condition" in (await engine.triggers.get("broken")).last_error
