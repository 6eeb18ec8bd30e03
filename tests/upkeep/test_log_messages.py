"""Upkeep logs what it reaps, skips or refuses, with its identity."""

from datetime import timedelta

from tests.support.job_builders import (
    ALDER,
    KNOWN,
    LEASE_TIME,
    SECOND,
    change_definition,
    finish,
    started,
)
from windlass.core.jobs.states import JobState
from windlass.core.triggers.schedule import cron, every
from windlass.engine.leases.reaper import Reaper
from windlass.ids import TenantId
from windlass.upkeep.scheduler import Scheduler

WHOSE = {
    "tenant_id": "default",
    "definition": KNOWN[0],
    "attempt": 1,
    "worker_id": "alder",
    "correlation_id": "request 7",
}


async def test_a_reaped_job_is_logged_with_its_identity(engine, storage, clock, seconds, heard):
    lease = await started(storage, correlation_id="request 7", max_attempts=1)
    reaper = Reaper(engine.leases(worker=ALDER), storage, lease_time=LEASE_TIME)
    await clock.advance(LEASE_TIME + SECOND)
    await reaper.tick()
    seconds.pass_by(LEASE_TIME.total_seconds() / 3)

    await reaper.tick()

    assert heard.said == [
        (
            "warning",
            "lease ran out",
            {"job_id": str(lease.job_id), **WHOSE, "now": "dead_letter", "other_jobs": 0},
        ),
        (
            "error",
            "dead-lettered",
            {"job_id": str(lease.job_id), **WHOSE, "error_type": "WorkerLost"},
        ),
    ]


async def test_a_dead_lettered_job_is_logged_with_its_identity(engine, storage, heard):
    lease = await started(storage, correlation_id="request 7")
    leases = engine.leases({lease.held: lease}.get, worker=ALDER)

    await leases.finish([finish(lease, JobState.DEAD_LETTER)._replace(error_type="ValueError")])

    [(level, event, about)] = heard.said
    assert (level, event) == ("error", "dead-lettered")
    assert about == {"job_id": str(lease.job_id), **WHOSE, "error_type": "ValueError"}


async def test_a_missed_due_time_is_logged(engine, clock, heard):
    trigger = await engine.triggers.create(
        "hourly", definition=KNOWN[0], schedule=cron("0 * * * *"), misfire="skip"
    )
    await clock.set(trigger.next_run_at + timedelta(hours=4, minutes=30))

    await Scheduler(engine, tick_seconds=15).tick()

    [(_, event, about)] = heard.said
    assert event == "a due time was skipped"
    assert (about["trigger"], about["due_at"]) == ("hourly", str(trigger.next_run_at))


async def test_a_due_time_skipped_for_an_earlier_job_is_logged(engine, clock, heard):
    await engine.triggers.create(
        "beat", definition=KNOWN[0], schedule=every("1m"), overlap="queue_one"
    )
    scheduler = Scheduler(engine, tick_seconds=15)
    await scheduler.tick()
    await clock.advance(timedelta(minutes=1))

    await scheduler.tick()

    [(_, event, about)] = heard.said
    assert event == "a due time was skipped"
    assert about["why"] == "its last job has not ended"


async def test_a_refused_trigger_is_logged_without_values_of_the_event(engine, heard, storage):
    schema = '{"properties": {"size": {"type": "integer"}}}'
    await change_definition(storage, KNOWN[0], payload_schema=schema)
    await engine.triggers.create(
        "bad", definition=KNOWN[0], event="folder.changed", payload={"size": "{{event.size}}"}
    )

    await engine.events.emit(engine.events.make("folder.changed", {"size": "a private value"}))

    [(_, _, about)] = heard.said
    assert "/size" in about["error"]
    assert "private" not in str(about)
    assert "private" in (await engine.triggers.get("bad")).last_error


async def test_a_refused_trigger_is_logged(engine, heard):
    await engine.triggers.create(
        "bad", definition=KNOWN[0], event="folder.changed", payload={"path": "{{event.nothing}}"}
    )

    await engine.events.emit(engine.events.make("folder.changed", {}, correlation_id="request 7"))

    [(_, event, about)] = heard.said
    assert event == "a trigger was refused"
    assert about["trigger"] == "bad"
    assert (about["tenant_id"], about["correlation_id"]) == (TenantId("default"), "request 7")
