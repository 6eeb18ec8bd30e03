"""Events wait until they are matched, and are matched once."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
import pytest_asyncio

from tests.conformance.triggers.test_triggers import stored_trigger
from tests.support.job_builders import new_job
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT, Scope
from windlass.core.triggers.trigger import Event, TriggerMatch
from windlass.ids import EventId, TenantId, new_event_id


def an_event(**changes) -> Event:
    return Event(
        **{
            "id": new_event_id(),
            "tenant": DEFAULT_TENANT,
            "name": "folder.changed",
            "data": {"path": "/in", "size": 3},
            **changes,
        }
    )


@pytest_asyncio.fixture(loop_scope="session")
async def event(storage):
    event = an_event()
    await storage.triggers.emit_event(event)
    return event


async def listener(storage, **changes):
    return await stored_trigger(
        storage,
        **{"type": "event", "interval_seconds": None, "event_name": "folder.changed", **changes},
    )


async def test_an_event_reads_back_as_stored(storage):
    event = an_event(correlation_id="c", created_by="ada", depth=3, data=["ä", None, 1.5])

    await storage.triggers.emit_event(event)

    found = await storage.triggers.event(ALL_TENANTS, event.id)
    assert (found.name, found.data, found.depth) == (event.name, event.data, 3)
    assert (found.correlation_id, found.created_by, found.matched_at) == ("c", "ada", None)
    assert await storage.triggers.event(Scope(TenantId("acme")), event.id) is None


async def test_events_are_listed_newest_first(storage):
    ids = []
    for _ in range(5):
        event = an_event()
        await storage.triggers.emit_event(event)
        ids.append(event.id)

    first = await storage.triggers.events(ALL_TENANTS, most=2)
    rest = await storage.triggers.events(ALL_TENANTS, before=first[-1].id)

    assert [e.id for e in first + rest] == ids[::-1]


async def test_events_are_found_by_name_correlation_and_time(storage):
    first = an_event(name="a", correlation_id="c")
    other = an_event(name="b")
    for event in (first, other):
        await storage.triggers.emit_event(event)
    at = (await storage.triggers.event(ALL_TENANTS, first.id)).created_at
    hour = timedelta(hours=1)

    async def ids_of(**chosen):
        return [event.name for event in await storage.triggers.events(ALL_TENANTS, **chosen)]

    assert await ids_of(name="a") == await ids_of(correlation_id="c") == ["a"]
    assert await ids_of(created_after=at - hour, created_before=at + hour) == ["b", "a"]
    assert await ids_of(created_after=at + hour) == await ids_of(created_before=at - hour) == []


async def test_an_event_shows_the_actions_of_its_triggers_batch_by_batch(storage, event):
    trigger = await listener(storage)
    first = TriggerMatch(
        trigger_id=str(trigger.id), trigger="ä", definition="d", outcome="created", job_id="j"
    )
    hook = TriggerMatch(
        trigger_id=None, trigger=None, definition="d", outcome="failed", because="why"
    )

    async with storage.triggers.matching() as matching:
        await matching.take(event.id)
        await matching.matched(event, 1, [first], last=trigger.id)
    async with storage.triggers.matching() as matching:
        await matching.take(event.id)
        await matching.matched(event, 0, [hook])

    found = await storage.triggers.event(ALL_TENANTS, event.id)
    assert (found.matches, found.jobs) == ((first, hook), 1)


async def test_an_event_waits_until_it_is_matched(storage, event):
    assert await storage.triggers.unmatched_events() == [event.id]

    async with storage.triggers.matching() as matching:
        assert (await matching.take(event.id)).data == event.data
        await matching.matched(event, 2)

    assert await storage.triggers.unmatched_events() == []
    assert (await storage.triggers.event(ALL_TENANTS, event.id)).jobs == 2


async def test_concurrent_matches_of_an_event_succeed_once(storage, event):
    jobs = [new_job() for _ in range(6)]

    async def match(job):
        async with storage.triggers.matching() as matching:
            if await matching.take(event.id):
                await matching.store([job])

    await asyncio.gather(*[match(job) for job in jobs])

    assert len(await storage.jobs.existing_job_ids([job.id for job in jobs])) == 1


async def test_failed_matching_is_rolled_back_and_retried(storage, event):
    created = new_job()

    async def fail():
        async with storage.triggers.matching() as matching:
            await matching.take(event.id)
            await matching.store([created])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert await storage.jobs.existing_job_ids([created.id]) == set()
    assert await storage.triggers.unmatched_events() == [event.id]


async def test_an_event_fires_the_enabled_triggers_of_its_tenant(storage, event):
    first = await listener(storage)
    second = await listener(storage)
    await listener(storage, enabled=False)
    await listener(storage, event_name="folder.removed")
    await listener(storage, tenant=TenantId("system"))

    async with storage.triggers.matching() as matching:
        listening = await matching.listening(event, most=100)
        few = await matching.listening(event, most=1)

    assert {t.id for t in listening} == {first.id, second.id}
    assert len(few) == 1


async def test_an_event_is_matched_in_batches_of_triggers(storage, event):
    ids = sorted([(await listener(storage)).id for _ in range(5)])
    batches = []

    for jobs in (2, 1, 0):
        async with storage.triggers.matching() as matching:
            await matching.take(event.id)
            batch = [trigger.id for trigger in await matching.listening(event, most=2)]
            batches.append((matching.first_batch, batch))
            more = len(batch) == 2
            await matching.matched(event, jobs, last=batch[-1] if more else None)
        assert await storage.triggers.unmatched_events() == ([event.id] if more else [])

    assert batches == [(True, ids[:2]), (False, ids[2:4]), (False, ids[4:])]
    assert (await storage.triggers.event(ALL_TENANTS, event.id)).jobs == 3


async def test_a_failed_batch_is_rolled_back_and_the_previous_one_kept(storage, event):
    first, second = sorted([(await listener(storage)).id for _ in range(2)])
    async with storage.triggers.matching() as matching:
        await matching.take(event.id)
        await matching.matched(event, 1, last=first)

    async def fail():
        async with storage.triggers.matching() as matching:
            await matching.take(event.id)
            await matching.matched(event, 1, last=None)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    async with storage.triggers.matching() as matching:
        await matching.take(event.id)
        assert [t.id for t in await matching.listening(event, most=100)] == [second]
    assert (await storage.triggers.event(ALL_TENANTS, event.id)).jobs == 1


async def test_old_matched_events_are_deleted(storage, clock, event):
    waiting = an_event()
    await storage.triggers.emit_event(waiting)
    async with storage.triggers.matching() as matching:
        await matching.take(event.id)
    await clock.set(clock.now + timedelta(days=31))
    recent = an_event()
    await storage.triggers.emit_event(recent)
    async with storage.triggers.matching() as matching:
        await matching.take(recent.id)
    before = EventId(UUID(int=2**128 - 1))

    assert await storage.triggers.prune_events(days=30, before_id=event.id) == 0
    assert await storage.triggers.prune_events(days=30, before_id=before) == 1
    assert await storage.triggers.prune_events(days=30, before_id=before) == 0

    assert {e.id for e in await storage.triggers.events(ALL_TENANTS)} == {waiting.id, recent.id}


async def test_an_unknown_event_is_not_matched(storage):
    async with storage.triggers.matching() as matching:
        assert await matching.take(EventId(new_event_id())) is None


async def test_events_are_found_by_id_suffix(storage):
    ids = [
        EventId(UUID(f"0190a5d0-0000-7000-8000-0000{end}"))
        for end in ("00abcdef", "11abcdef", "22fedcba")
    ]
    for id, tenant in zip(ids, ("default", "acme", "default"), strict=True):
        await storage.triggers.emit_event(an_event(id=id, tenant=TenantId(tenant)))

    assert await storage.triggers.find_events_by_suffix(ALL_TENANTS, "abcdef") == [ids[1], ids[0]]
    assert await storage.triggers.find_events_by_suffix(ALL_TENANTS, "00abcdef") == [ids[0]]
    assert await storage.triggers.find_events_by_suffix(ALL_TENANTS, ids[2].hex[-20:]) == [ids[2]]
    assert await storage.triggers.find_events_by_suffix(Scope(TenantId("acme")), "abcdef") == [
        ids[1]
    ]
    assert await storage.triggers.find_events_by_suffix(ALL_TENANTS, "000000") == []


async def test_pending_events_are_listed_in_pages(storage, event):
    first = await storage.triggers.unmatched_events(most=1)

    assert first == [event.id]
    assert await storage.triggers.unmatched_events(after=event.id) == []
