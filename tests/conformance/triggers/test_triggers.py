"""Triggers are stored, found when due, and leave each due time exactly once."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio

from tests.support.job_builders import (
    KNOWN,
    a_job,
    a_tenant,
    change_definition,
    job,
    new_job,
    set_enabled,
)
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT, Scope
from windlass.core.jobs.states import JobState
from windlass.core.triggers.trigger import Trigger
from windlass.ids import DefinitionKey, TenantId, new_job_id, new_trigger_id
from windlass.storage.triggers.triggers import TriggerRefused

MINUTE = timedelta(minutes=1)


def a_trigger(**changes) -> Trigger:
    created = Trigger(
        id=new_trigger_id(),
        tenant=DEFAULT_TENANT,
        name=f"nightly {new_job_id()}",
        type="interval",
        definition=DefinitionKey(KNOWN[0]),
        payload={"n": 1},
        interval_seconds=60.0,
    )
    return replace(created, **changes)


async def stored_trigger(storage, **changes) -> Trigger:
    trigger = a_trigger(**changes)
    assert await storage.triggers.create_trigger(trigger)
    found = await storage.triggers.trigger(ALL_TENANTS, trigger.id)
    assert found is not None
    return found


async def changed(storage, trigger, **changes):
    return await storage.triggers.update_trigger(trigger.id, lambda row: replace(row, **changes))


@pytest_asyncio.fixture(loop_scope="session")
async def due(storage):
    return await stored_trigger(storage, next_run_at=await storage.now() - MINUTE)


async def test_a_trigger_reads_back_as_stored(storage):
    now = await storage.now()
    whole = a_trigger(
        type="event",
        interval_seconds=None,
        event_name="folder.changed",
        payload={"path": "{{event.path}}", "list": [1, None, "ä"]},
        condition={"kind": {"in": ["a", "b"]}},
        timezone="Europe/Berlin",
        misfire="skip",
        overlap="queue_one",
        delay_seconds=30.5,
        dedupe_window_seconds=5.0,
        dedupe_key="folder {{event.path}}",
        max_attempts=7,
        origin="code",
        edited=("enabled", "cron"),
        code={"enabled": True},
        code_hash="abc",
        enabled=False,
        created_by="ada",
    )

    found = await stored_trigger(
        storage, **{f: getattr(whole, f) for f in whole.__dataclass_fields__}
    )

    assert found.created_at is not None
    assert abs(found.created_at - now) < MINUTE
    assert found == replace(whole, created_at=found.created_at, updated_at=found.updated_at)


async def test_trigger_names_are_unique_in_a_tenant(storage):
    first = await stored_trigger(storage, name="nightly")
    other = await stored_trigger(storage, name="weekly")

    assert not await storage.triggers.create_trigger(a_trigger(name="nightly"))
    assert await changed(storage, other, name="nightly") is False
    assert await changed(storage, first, name="nightly", enabled=False)
    assert await changed(storage, a_trigger(), name="yearly") is None
    assert [t.name for t in await storage.triggers.triggers(ALL_TENANTS)] == ["nightly", "weekly"]


async def test_a_trigger_is_visible_to_its_tenant_only(storage):
    trigger = await stored_trigger(storage)
    stranger = Scope(TenantId("acme"))

    assert await storage.triggers.trigger(stranger, trigger.id) is None
    assert await storage.triggers.triggers(stranger) == []
    assert not await storage.triggers.delete_trigger(stranger, trigger.id)
    assert await storage.triggers.delete_trigger(Scope(DEFAULT_TENANT), trigger.id)
    assert await storage.triggers.trigger(ALL_TENANTS, trigger.id) is None


async def test_a_deleted_trigger_of_code_is_remembered_until_the_record_is_deleted(storage):
    own = await stored_trigger(storage, name="own")
    code = await stored_trigger(storage, origin="code", name="renamed", code={"name": "nightly"})
    gone = (DEFAULT_TENANT, "nightly", code.definition)

    assert not await storage.triggers.delete_trigger(Scope(TenantId("acme")), code.id)
    assert await storage.triggers.deleted_triggers() == set()
    assert await storage.triggers.delete_trigger(ALL_TENANTS, own.id)
    assert await storage.triggers.delete_trigger(ALL_TENANTS, code.id)
    assert await storage.triggers.deleted_triggers() == {gone}

    await storage.triggers.clear_deleted_triggers(code.definition, name="weekly")
    assert await storage.triggers.deleted_triggers() == {gone}
    await storage.triggers.clear_deleted_triggers(code.definition)
    assert await storage.triggers.deleted_triggers() == set()


async def test_a_trigger_can_change_its_type(storage):
    trigger = await stored_trigger(storage)

    assert await changed(storage, trigger, type="cron", cron="0 2 * * *", interval_seconds=None)

    found = await storage.triggers.trigger(ALL_TENANTS, trigger.id)
    assert (found.type, found.cron, found.interval_seconds) == ("cron", "0 2 * * *", None)


async def test_only_due_triggers_are_found(storage, due):
    now = await storage.now()
    await stored_trigger(storage, next_run_at=now + MINUTE)
    await stored_trigger(storage, next_run_at=now - MINUTE, enabled=False)
    await stored_trigger(storage, next_run_at=now - MINUTE, missing_from_code=True)
    await stored_trigger(storage)

    [found], _ = await storage.triggers.due_triggers()

    assert found.trigger == due
    assert found.now == now


async def test_a_disabled_definition_or_tenant_is_not_scheduled(storage, due):
    await set_enabled(storage, due.definition, False)
    assert await storage.triggers.due_triggers() == ([], None)
    await set_enabled(storage, due.definition, True)
    await a_tenant(storage, DEFAULT_TENANT, state="suspended")

    assert await storage.triggers.due_triggers() == ([], None)


async def test_a_definition_missing_from_code_is_not_scheduled(storage, due):
    await change_definition(storage, due.definition, missing_from_code=True)

    assert await storage.triggers.due_triggers() == ([], None)


async def test_due_triggers_are_ordered_by_priority_with_followers_last(storage, due):
    at = due.next_run_at
    late = await stored_trigger(storage, next_run_at=at + timedelta(seconds=1))
    urgent = await stored_trigger(storage, next_run_at=at, definition=DefinitionKey("other"))
    follower = await stored_trigger(storage, next_run_at=at, definition=DefinitionKey("limited"))
    await change_definition(storage, "other", priority=25)
    await change_definition(storage, "limited", priority=1, runs_after=("plain",))

    found, _ = await storage.triggers.due_triggers()
    first, _ = await storage.triggers.due_triggers(most=1)

    assert [each.trigger.id for each in found] == [urgent.id, due.id, late.id, follower.id]
    assert [each.trigger.id for each in first] == [urgent.id]


async def test_the_time_until_the_next_due_trigger_is_returned(storage, due):
    assert (await storage.triggers.due_triggers())[1] is None
    await stored_trigger(storage, next_run_at=await storage.now() + MINUTE)

    found, left = await storage.triggers.due_triggers()

    assert [each.trigger.id for each in found] == [due.id]
    assert left == MINUTE


async def test_firing_advances_the_trigger_and_stores_the_job(storage, due):
    created, then = new_job(source="schedule"), due.next_run_at + MINUTE

    stored = await storage.triggers.fire(due, due.next_run_at, then, [created])

    assert [each.status for each in stored] == ["created"]
    after = await storage.triggers.trigger(ALL_TENANTS, due.id)
    assert (after.next_run_at, after.last_run_at, after.last_job_id) == (
        then,
        due.next_run_at,
        created.id,
    )
    assert (await job(storage, created.id)).state is JobState.QUEUED


async def test_the_last_outcomes_of_triggers_are_their_jobs_by_due_time(storage):
    one, other, quiet = [
        await stored_trigger(storage, next_run_at=await storage.now() - 30 * MINUTE) for _ in "123"
    ]
    made = []
    for _ in range(22):
        trigger = await storage.triggers.trigger(ALL_TENANTS, one.id)
        due_at = trigger.next_run_at
        made.append((new_job(trigger_due_at=due_at, trigger_id=one.id), due_at))
        await storage.triggers.fire(trigger, due_at, due_at + MINUTE, [made[-1][0]])
    many = [new_job(trigger_due_at=other.next_run_at + n * MINUTE) for n in range(2)]
    await storage.triggers.fire(other, other.next_run_at, None, many)
    await storage.jobs.cancel(ALL_TENANTS, [made[-1][0].id, made[-2][0].id])
    await storage.jobs.discard(ALL_TENANTS, made[-2][0].id)

    found = await storage.triggers.last_outcomes([one.id, other.id, quiet.id])

    assert [(each.job_id, each.due_at) for each in found[one.id]] == [
        (job.id, due_at) for job, due_at in made[2:] if job is not made[-2][0]
    ]
    assert {each.state for each in found[one.id][:-1]} == {JobState.QUEUED}
    assert found[one.id][-1].state == JobState.CANCELED
    assert [each.job_id for each in found[other.id]] == [job.id for job in many]
    assert quiet.id not in found
    assert await storage.triggers.last_outcomes([]) == {}
    await storage.triggers.delete_trigger(ALL_TENANTS, one.id)
    assert await storage.triggers.last_outcomes([one.id]) == {}


async def test_a_due_time_is_fired_once(storage, due):
    await storage.triggers.fire(due, due.next_run_at, due.next_run_at + MINUTE, [new_job()])

    assert (
        await storage.triggers.fire(due, due.next_run_at, due.next_run_at + MINUTE, [new_job()])
        is None
    )


async def test_concurrent_firings_of_a_due_time_succeed_once(storage, due):
    jobs = [new_job() for _ in range(8)]

    fired = await asyncio.gather(
        *[storage.triggers.fire(due, due.next_run_at, None, [each]) for each in jobs]
    )

    assert sum(each is not None for each in fired) == 1
    assert len(await storage.jobs.existing_job_ids([each.id for each in jobs])) == 1


async def test_a_trigger_disabled_meanwhile_creates_no_job(storage, due):
    await changed(storage, due, enabled=False)
    created = new_job()

    assert await storage.triggers.fire(due, due.next_run_at, None, [created]) is None
    assert await storage.jobs.existing_job_ids([created.id]) == set()


async def test_a_refused_job_leaves_the_trigger_unchanged(storage, due):
    with pytest.raises(TriggerRefused):
        await storage.triggers.fire(
            due, due.next_run_at, None, [new_job(definition=DefinitionKey("none"))]
        )

    assert (await storage.triggers.trigger(ALL_TENANTS, due.id)).next_run_at == due.next_run_at


async def test_a_trigger_names_the_job_of_its_due_time(storage, due):
    equal = new_job(dedupe_key="equal")
    await storage.jobs.enqueue([equal])

    await storage.triggers.fire(due, due.next_run_at, None, [new_job(dedupe_key="equal")])

    assert (await storage.triggers.trigger(ALL_TENANTS, due.id)).last_job_id == equal.id


async def test_skipping_a_due_time_creates_no_job(storage, due):
    assert await storage.triggers.fire(due, due.next_run_at, due.next_run_at + MINUTE, []) == []

    assert (await storage.triggers.trigger(ALL_TENANTS, due.id)).last_job_id is None


async def test_an_error_is_recorded_until_the_next_success(storage, due):
    await storage.triggers.record_trigger_failure(due.id, "no such field")
    failed = await storage.triggers.trigger(ALL_TENANTS, due.id)
    await storage.triggers.fire(due, due.next_run_at, None, [])

    assert (failed.last_error, failed.last_error_at is not None) == ("no such field", True)
    assert (await storage.triggers.trigger(ALL_TENANTS, due.id)).last_error is None


async def test_concurrent_starts_create_a_trigger_once(storage, twin):
    rivals = [a_trigger(name="nightly") for _ in range(8)]

    created = await asyncio.gather(
        *(
            (storage, twin)[n % 2].triggers.create_trigger(trigger)
            for n, trigger in enumerate(rivals)
        )
    )

    assert sorted(created) == [False] * 7 + [True]
    assert len(await storage.triggers.triggers(ALL_TENANTS)) == 1


async def test_the_reason_of_a_skip_is_recorded_once(storage, due):
    [seen], _ = await storage.triggers.due_triggers()
    coming = seen.now + MINUTE

    passed = await asyncio.gather(
        *(storage.triggers.skip_due_time(seen, coming, "no") for _ in range(4))
    )

    after = await storage.triggers.trigger(ALL_TENANTS, due.id)
    assert sorted(passed) == [False, False, False, True]
    assert (after.next_run_at, after.last_run_at) == (coming, due.next_run_at)
    assert (after.last_error, after.last_error_at, after.enabled) == ("no", seen.now, True)


async def test_a_skip_can_disable_the_trigger(storage, due):
    [seen], _ = await storage.triggers.due_triggers()

    assert await storage.triggers.skip_due_time(seen, None, "no right", stop=True)

    after = await storage.triggers.trigger(ALL_TENANTS, due.id)
    assert (after.enabled, after.next_run_at) == (False, None)


async def test_a_failed_trigger_is_due_again_after_a_pause_or_an_edit(storage, clock, due):
    async def seen():
        return [each.trigger.id for each in (await storage.triggers.due_triggers())[0]]

    await storage.triggers.record_trigger_failure(due.id, "broken")
    at_once = await seen()
    await clock.advance(MINUTE)
    later = await seen()
    await storage.triggers.record_trigger_failure(due.id, "broken")
    await changed(storage, due, timezone="UTC")

    assert (at_once, later, await seen()) == ([], [due.id], [due.id])


async def test_an_invalid_time_zone_hides_no_trigger(storage, due):
    other = await stored_trigger(storage, timezone="Europe/Atlantis", next_run_at=due.next_run_at)

    found, _ = await storage.triggers.due_triggers()

    assert {each.trigger.id for each in found} == {due.id, other.id}
    assert {each.id for each in await storage.triggers.triggers(ALL_TENANTS)} == {due.id, other.id}


async def test_definitions_show_their_triggers_and_next_due_time(storage):
    now = await storage.now()
    await a_tenant(storage, "acme")
    soon, later = now + MINUTE, now + 2 * MINUTE
    await stored_trigger(storage, next_run_at=later, origin="code")
    await stored_trigger(storage, next_run_at=soon, tenant=TenantId("acme"))
    await stored_trigger(storage, next_run_at=now, enabled=False)
    await stored_trigger(
        storage, next_run_at=now, missing_from_code=True, origin="code", type="interval"
    )
    await stored_trigger(storage, next_run_at=now, definition=DefinitionKey(KNOWN[1]))

    everywhere = await storage.definitions.definition_triggers(ALL_TENANTS, [KNOWN[0], "unknown"])
    here = await storage.definitions.definition_triggers(Scope(DEFAULT_TENANT), [KNOWN[0]])

    assert everywhere == {KNOWN[0]: ("interval", soon)}
    assert here == {KNOWN[0]: ("interval", later)}
    assert await storage.definitions.definition_triggers(ALL_TENANTS, []) == {}


async def test_the_last_run_of_a_definition_is_the_start_of_its_newest_ended_job(storage):
    await a_tenant(storage, "acme")
    nothing = await storage.definitions.last_attempt_started_at(ALL_TENANTS, KNOWN[0])
    await a_job(storage, JobState.COMPLETED)
    failed = await a_job(storage, JobState.DEAD_LETTER)
    await a_job(storage, JobState.COMPLETED, definition=DefinitionKey(KNOWN[1]))

    last = await storage.definitions.last_attempt_started_at(ALL_TENANTS, failed.definition)

    assert nothing is None
    assert last == failed.last_started_at
    assert (
        await storage.definitions.last_attempt_started_at(
            Scope(TenantId("acme")), failed.definition
        )
        is None
    )
