"""A dead-lettered job emits an event to listeners, stored with the job's end."""

import pytest

from tests.conformance.triggers.test_events import listener
from tests.support.job_builders import (
    ACME,
    ALDER,
    LEASE_TIME,
    a_definition,
    a_tenant,
    end,
    finish,
    job,
    lease_of,
    lost,
    started,
    state_of,
)
from windlass.core.jobs.dead import DEAD_LETTERED
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT
from windlass.core.jobs.states import JobState

WHY = {"error": "no such host\nand more", "error_type": "OSError", "fingerprint": "1" * 16}


async def listening(storage, **changes):
    return await listener(storage, **{"event_name": DEAD_LETTERED} | changes)


async def test_the_event_names_the_job_and_its_error(storage):
    await listening(storage)
    lease = await started(storage, correlation_id="c")

    await end(storage, lease, JobState.DEAD_LETTER, **WHY)

    [event] = await storage.triggers.events(ALL_TENANTS)
    assert (event.tenant, event.name, event.depth) == (DEFAULT_TENANT, DEAD_LETTERED, 0)
    assert (event.correlation_id, event.matched_at) == ("c", None)
    assert event.data == {
        "job_id": str(lease.job_id),
        "definition": "plain",
        "queue": lease.queue,
        "attempts": 1,
        "error": "no such host",
        "error_type": "OSError",
        "fingerprint": "1" * 16,
    }


async def test_a_definition_with_a_failure_hook_gets_events(storage):
    await a_definition(storage, "other", on_dead_letter="plain", code_hash="2")
    lease = await started(storage, definition="other")

    await end(storage, lease, JobState.DEAD_LETTER, **WHY)

    [event] = await storage.triggers.events(ALL_TENANTS)
    assert event.data["job_id"] == str(lease.job_id)
    assert event.correlation_id == str(lease.job_id)


async def test_no_event_is_stored_without_a_listener(storage):
    await a_tenant(storage, "acme")
    await listening(storage, enabled=False)
    await listening(storage, event_name="folder.changed")
    await listening(storage, tenant=ACME)

    lease = await started(storage)
    await end(storage, lease, JobState.DEAD_LETTER, **WHY)

    assert await state_of(storage, lease.job_id) is JobState.DEAD_LETTER
    assert await storage.triggers.events(ALL_TENANTS) == []


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.COMPLETED, JobState.CANCELED])
async def test_other_ends_emit_nothing(storage, state):
    await listening(storage)
    dead, other, stopped = [await started(storage) for _ in range(3)]
    await storage.jobs.cancel(ALL_TENANTS, [stopped.job_id])

    await storage.leases.finish(
        ALDER,
        [
            finish(dead, JobState.DEAD_LETTER),
            finish(other, state),
            finish(stopped, JobState.DEAD_LETTER),
        ],
    )

    [event] = await storage.triggers.events(ALL_TENANTS)
    assert event.data["job_id"] == str(dead.job_id)
    assert await state_of(storage, stopped.job_id) is JobState.CANCELED


async def test_each_dead_lettering_emits_one_event(storage):
    await listening(storage)
    lease = await started(storage)
    await end(storage, lease, JobState.DEAD_LETTER, **WHY)

    assert await end(storage, lease, JobState.DEAD_LETTER, **WHY) is None
    assert len(await storage.triggers.events(ALL_TENANTS)) == 1

    await storage.jobs.retry(ALL_TENANTS, lease.job_id)
    await end(storage, await lease_of(storage, lease.job_id), JobState.DEAD_LETTER, **WHY)
    assert len(await storage.triggers.events(ALL_TENANTS)) == 2


async def test_the_end_and_its_event_are_stored_atomically(storage):
    await listening(storage)
    lease = await started(storage)
    await storage.database.script("alter table windlass_events rename column depth to away")

    with pytest.raises(Exception, match="depth"):
        await end(storage, lease, JobState.DEAD_LETTER, **WHY)

    assert await state_of(storage, lease.job_id) is JobState.RUNNING


async def test_a_job_dead_lettered_by_the_reaper_emits_an_event(storage, clock):
    await listening(storage)
    lease, renewed = await started(storage), await started(storage)
    await clock.advance(LEASE_TIME)
    await storage.leases.renew(ALDER, [renewed.held], lease_time=LEASE_TIME)

    await storage.leases.reap(
        [lost(lease, JobState.DEAD_LETTER), lost(renewed, JobState.DEAD_LETTER)]
    )

    [event] = await storage.triggers.events(ALL_TENANTS)
    assert event.data["job_id"] == str(lease.job_id)


async def test_jobs_closed_with_a_deleted_tenant_emit_no_event(storage):
    await a_tenant(storage, "acme")
    await a_definition(storage, "other", on_dead_letter="plain", code_hash="2")
    lease = await started(storage, tenant=ACME, definition="other")
    await a_tenant(storage, "acme", state="deleted")
    await storage.jobs.cancel(
        ALL_TENANTS, [lease.job_id], to=JobState.DEAD_LETTER, reason="Tenant not found"
    )

    await end(storage, lease, JobState.DEAD_LETTER, **WHY)

    assert (await job(storage, lease.job_id)).last_error == "Tenant not found"
    assert await storage.triggers.events(ALL_TENANTS) == []


async def test_an_end_can_be_recorded_without_an_event(storage):
    await listening(storage)
    lease = await started(storage)

    await storage.leases.finish(ALDER, [finish(lease, JobState.DEAD_LETTER)], emit=False)

    assert await state_of(storage, lease.job_id) is JobState.DEAD_LETTER
    assert await storage.triggers.events(ALL_TENANTS) == []


@pytest.mark.parametrize(("metadata", "depth"), [
    ('{"event_depth": 3}', 4),
    ('{"event_depth": "deep"}', 0),
    ('{"event_depth": "3"}', 0),
    ('{"event_depth": 3.0}', 0),
    ('{"event_depth": true}', 0),
    ('{"event_depth": [1]}', 0),
    ('{"event_depth": -2}', 0),
    ('{"event_depth": 1e300}', 0),
    ('{"event_depth": null}', 0),
    ('{"other": 1}', 0),
    (None, 0),
])  # fmt: skip
async def test_the_chain_depth_ignores_metadata(storage, metadata, depth):
    await listening(storage)
    lease = await started(storage, metadata=metadata)

    await end(storage, lease, JobState.DEAD_LETTER, **WHY)

    [event] = await storage.triggers.events(ALL_TENANTS)
    assert event.depth == depth


@pytest.mark.parametrize(
    "error", [None, "", "\n\nlate\n", " \r\n\t first\nsecond", 'quoted "ä" \\ 𝄞', "x" * 60_000]
)
async def test_any_error_text_is_carried_by_the_event(storage, error):
    await listening(storage)
    lease = await started(storage)

    await end(storage, lease, JobState.DEAD_LETTER, error=error)

    [event] = await storage.triggers.events(ALL_TENANTS)
    line = None if error is None else (error.strip().splitlines() or [""])[0]
    assert event.data["error"] == (line and line[:500])
