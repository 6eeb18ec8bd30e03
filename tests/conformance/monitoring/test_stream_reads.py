"""stream_activity, stream_jobs, stream_log_lines, stream_events and stream_triggers: reads polled by
live streams."""

from datetime import timedelta

from tests.conformance.triggers.test_events import an_event
from tests.conformance.triggers.test_triggers import stored_trigger
from tests.support.job_builders import (
    ACME,
    ALDER,
    SECOND,
    a_job,
    a_tenant,
    claim,
    end,
    enqueue,
    lease_of,
    log_line,
    new_jobs,
    release,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.ids import new_job_id
from windlass.storage.monitoring.stream_reads import LogRange


async def activity(storage):
    """By tenant: the states with jobs in them, and the numbers of outcomes."""
    return {
        each.tenant: ({s: n for s, n in each.counts.items() if n}, each.moves)
        for each in await storage.monitoring.stream_activity()
    }


async def test_activity_returns_the_counts_of_all_tenants(storage):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(3, tenant=ACME))
    await enqueue(storage, held=True)

    before = await activity(storage)

    assert before == {
        "acme": ({JobState.QUEUED: 3}, 3),
        "default": ({JobState.PENDING: 1}, 1),
    }


async def test_activity_shows_a_job_that_left_and_returned(storage):
    await enqueue(storage)
    before = await activity(storage)

    [lease] = await claim(storage)
    await storage.leases.finish(ALDER, [release(lease)])

    after = await activity(storage)
    assert after["default"][0] == before["default"][0]
    assert after["default"][1] > before["default"][1]


async def test_activity_is_equal_before_and_after_folding(storage):
    await storage.jobs.enqueue(new_jobs(5))
    [first, _] = await claim(storage, 2)
    await end(storage, first)
    before = await activity(storage)

    await storage.monitoring.roll_up_counts()

    assert await activity(storage) == before


async def test_activity_covers_the_last_minutes_only(storage, clock):
    await enqueue(storage)
    await storage.monitoring.roll_up_counts()

    await clock.advance(timedelta(minutes=10))

    assert await activity(storage) == {"default": ({JobState.QUEUED: 1}, 0)}


async def test_a_streamed_job_shows_every_state(storage):
    jobs = {state: (await a_job(storage, state)).id for state in JobState}

    rows = await storage.monitoring.stream_jobs([*jobs.values(), new_job_id()])

    assert {id: each.state for id, each in rows.items()} == {id: s for s, id in jobs.items()}


async def test_a_streamed_job_shows_progress_and_its_last_log_line(storage, clock):
    lease = await started(storage)
    [before] = (await storage.monitoring.stream_jobs([lease.job_id])).values()

    await clock.advance(SECOND)
    await storage.leases.append_logs(ALDER, [log_line(lease, "one"), log_line(lease, "two")])
    [logged] = (await storage.monitoring.stream_jobs([lease.job_id])).values()
    await end(storage, lease)
    [ended] = (await storage.monitoring.stream_jobs([lease.job_id])).values()

    assert (before.log_sequence, logged.log_sequence, ended.log_sequence) == (0, 2, 2)
    assert (before.attempts, before.outcome, ended.outcome) == (1, None, "succeeded")
    assert before.updated_at < ended.updated_at == ended.finished_at


async def test_log_lines_are_read_by_job_and_range_in_order(storage):
    one, two, other = await started(storage), await started(storage), await started(storage)
    for lease in (one, two, other):
        lines = [log_line(lease, f"line {number}", level="warn") for number in range(1, 6)]
        await storage.leases.append_logs(ALDER, lines)

    ranges = {one.job_id: LogRange(2, 3), two.job_id: LogRange(5, 9), new_job_id(): LogRange(1, 9)}
    lines = await storage.monitoring.stream_log_lines(ranges)

    read = {
        job: [x.sequence for x in lines if x.job_id == job] for job in {x.job_id for x in lines}
    }
    assert read == {one.job_id: [2, 3], two.job_id: [5]}
    assert {(x.message, x.level, x.attempt) for x in lines if x.sequence == 5} == {
        ("line 5", "warn", two.token)
    }


async def test_a_streamed_job_shows_the_stop_request(storage):
    id = await enqueue(storage)
    await lease_of(storage, id)

    await storage.jobs.cancel(ALL_TENANTS, [id])

    assert (await storage.monitoring.stream_jobs([id]))[id].cancel_requested_at is not None


async def test_recent_events_are_the_newest_of_all_tenants(storage):
    await a_tenant(storage, "acme")
    events = [an_event(), an_event(tenant=ACME), an_event(name="last")]
    for event in events:
        await storage.triggers.emit_event(event)

    rows = await storage.monitoring.stream_events(most=2)

    assert [(each.id, each.tenant, each.name, each.jobs) for each in rows] == [
        (events[2].id, "default", "last", 0),
        (events[1].id, "acme", "folder.changed", 0),
    ]


async def test_recent_triggers_are_ordered_by_latest_activity(storage, clock):
    quiet = await stored_trigger(storage)
    await clock.advance(SECOND)
    busy = await stored_trigger(storage)
    await clock.advance(SECOND)
    await storage.triggers.record_trigger_failure(quiet.id, "no such field")

    triggers = await storage.monitoring.stream_triggers(most=10)

    assert [each.id for each in triggers] == [quiet.id, busy.id]
    assert (triggers[0].last_error, triggers[0].type, triggers[0].enabled) == (
        "no such field",
        "interval",
        True,
    )
    assert [each.id for each in await storage.monitoring.stream_triggers(most=1)] == [quiet.id]
