"""Metrics data: state counts, lifetime counts, oldest due age, late schedules, histograms."""

import asyncio
from datetime import timedelta

from tests.conformance.triggers.test_triggers import stored_trigger
from tests.support.job_builders import (
    ACME,
    ALDER,
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    a_job,
    a_tenant,
    claim,
    enqueue,
    finish,
    new_jobs,
    set_enabled,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.core.monitoring.latency import (
    ENDLESS_MS,
    LONGEST_MS,
    HistogramKey,
    LatencyPair,
    Observation,
)
from windlass.core.monitoring.slots import plan_slots
from windlass.ids import DefinitionKey, QueueName

WAITED = Observation("wait", "default", "plain", 5, 2, 0.006)
WAITS, RUNS = HistogramKey("wait", "default", "plain"), HistogramKey("run", "default", "plain")
RAN = Observation("run", "default", "plain", ENDLESS_MS, 1, 9000.5)


def _by_name(rows, kind):
    return {
        row["name"]: {state: int(row[state]) for state in JobState if int(row[state])}
        for row in rows
        if row["kind"] == kind
    }


async def test_depths_are_reported_by_tenant_queue_and_definition(storage):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(3, tenant=ACME, queue=QueueName("mail")))
    await storage.monitoring.roll_up_counts()
    await storage.jobs.enqueue(new_jobs(2, definition=DefinitionKey("other"), held=True))
    await a_job(storage, JobState.DEAD_LETTER, queue=QueueName("default"))

    state_counts_by_dimension = await storage.monitoring.state_counts_by_dimension(most=10)

    assert _by_name(state_counts_by_dimension, "tenant") == {
        "acme": {"queued": 3},
        "default": {"pending": 2, "dead_letter": 1},
    }
    assert _by_name(state_counts_by_dimension, "queue") == {
        "mail": {"queued": 3},
        "default": {"pending": 2, "dead_letter": 1},
    }
    assert _by_name(state_counts_by_dimension, "definition") == {
        "plain": {"queued": 3, "dead_letter": 1},
        "other": {"pending": 2},
    }


async def test_the_largest_depths_are_named_and_the_others_summed(storage):
    for number in range(1, 5):
        await storage.jobs.enqueue(new_jobs(number, queue=QueueName(f"q{number}")))

    state_counts_by_dimension = await storage.monitoring.state_counts_by_dimension(most=2)

    assert _by_name(state_counts_by_dimension, "queue") == {
        "q4": {"queued": 4},
        "q3": {"queued": 3},
        None: {"queued": 3},
    }


async def test_totals_count_outcomes_and_never_fall(storage, clock):
    await storage.jobs.enqueue(new_jobs(4))
    first, second, third, fourth = await claim(storage, 4)
    ends = [
        finish(first),
        finish(second, JobState.QUEUED),
        finish(third, JobState.DEAD_LETTER),
        finish(fourth, JobState.DEAD_LETTER),
    ]
    await storage.leases.finish(ALDER, ends)
    [before] = await storage.monitoring.lifetime_counts()

    while await storage.monitoring.roll_up_counts():
        pass
    await storage.jobs.discard(ALL_TENANTS, third.job_id)
    await clock.advance(100 * DAY)
    await storage.monitoring.prune_minute_counts(days=1)
    [after] = await storage.monitoring.lifetime_counts()
    while await storage.monitoring.roll_up_counts():
        pass
    [folded] = await storage.monitoring.lifetime_counts()

    assert dict(before) == {
        "queue": "default",
        "definition": "plain",
        "enqueued": 4,
        "started": 4,
        "succeeded": 1,
        "failed": 3,
        "retried": 1,
        "canceled": 0,
        "dead_letter": 2,
    }
    assert dict(before) == dict(after) == dict(folded)


async def test_pruning_minutes_keeps_recent_ones(storage, clock):
    await enqueue(storage)
    await storage.monitoring.roll_up_counts()
    await clock.advance(2 * DAY)
    await enqueue(storage)
    await storage.monitoring.roll_up_counts()

    pruned = await storage.monitoring.prune_minute_counts(days=1)

    rows = await storage.database.query("select count(*) as minutes from windlass_minutes", {})
    assert (pruned, int(rows[0]["minutes"])) == (1, 1)


async def test_the_oldest_job_of_a_queue_is_found_in_any_tenant_and_priority(storage, clock):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(1, queue=QueueName("mail"), tenant=ACME, priority=200))
    await clock.advance(MINUTE)
    await storage.jobs.enqueue(new_jobs(3, queue=QueueName("mail"), priority=10))
    await storage.jobs.enqueue(new_jobs(3, queue=QueueName("mail"), tenant=ACME, priority=10))
    await storage.jobs.enqueue(new_jobs(2, queue=QueueName("more")))
    await clock.advance(5 * SECOND)

    oldest = await storage.monitoring.oldest_due_age()

    assert oldest == {"mail": 65.0, "more": 5.0}
    assert await storage.monitoring.oldest_due_age_by_tenant() == {"acme": 65.0, "default": 5.0}
    assert await storage.monitoring.oldest_due_age(Scope(ACME)) == {"mail": 65.0}


async def test_the_oldest_job_is_a_waiting_due_one(storage, clock):
    await enqueue(storage)
    await clock.advance(MINUTE)
    await claim(storage, 1)
    await storage.jobs.enqueue(new_jobs(1, delay=timedelta(seconds=10)))
    before = await storage.monitoring.oldest_due_age()

    await clock.advance(12 * SECOND)
    after = await storage.monitoring.oldest_due_age()

    assert before == {}
    assert after == {"default": 2.0}


async def test_an_enabled_schedule_past_its_due_time_is_late(storage):
    now = await storage.now()
    late = await stored_trigger(storage, next_run_at=now - 2 * MINUTE)
    await stored_trigger(storage, next_run_at=now - 30 * SECOND)
    await stored_trigger(storage, next_run_at=now - 2 * MINUTE, enabled=False)

    before = await storage.monitoring.count_late_schedules(seconds=60)
    await set_enabled(storage, late.definition, False)
    after = await storage.monitoring.count_late_schedules(seconds=60)

    assert (before, after) == (1, 0)


async def test_histograms_of_several_processes_are_summed(storage, twin):
    await asyncio.gather(
        *(
            (storage, twin)[n % 2].monitoring.record_latency(sorted([WAITED, RAN]))
            for n in range(10)
        )
    )

    ever = await storage.monitoring.latency_histograms()
    lately = await lately_observed(storage)

    assert ever.keys() == {WAITS, RUNS}
    for wait, run in [(ever[WAITS], ever[RUNS]), (lately.wait, lately.run)]:
        assert wait.observed == {5: 20}
        assert run.observed == {ENDLESS_MS: 10}
        assert round(run.seconds) == 90_005


async def test_old_histograms_are_pruned_and_their_totals_kept(storage, clock):
    await storage.monitoring.record_latency([WAITED])
    await clock.advance(HOUR)
    await storage.monitoring.record_latency([WAITED])
    lately = await lately_observed(storage, MINUTE)
    await clock.advance(10 * DAY)

    pruned = [await storage.monitoring.prune_histograms(60, days=2) for _ in range(3)]

    assert pruned == [1, 1, 0]
    assert lately.wait.count == 2
    assert (await storage.monitoring.latency_histograms())[WAITS].count == 4
    rows = await storage.database.query("select count(*) as n from windlass_histograms", {})
    assert int(rows[0]["n"]) == 1


async def test_histograms_keep_their_maximum(storage):
    for seconds in (0.002, 0.004, 0.003):
        longest = Observation("wait", "default", "plain", LONGEST_MS, 0, seconds)
        await storage.monitoring.record_latency([longest, WAITED])

    ever = (await storage.monitoring.latency_histograms())[WAITS]
    for histogram in (ever, (await lately_observed(storage)).wait):
        assert histogram.longest == 0.004
        assert histogram.observed == {5: 6}
        assert round(histogram.seconds, 3) == 0.018


async def lately_observed(storage, window=HOUR):
    """The histograms of all jobs in a window up to now."""
    now = await storage.now()
    plan = plan_slots(now - window, now, window, {})
    whole = LatencyPair()
    for pair in (await storage.monitoring.latency_by_slot(ALL_TENANTS, plan)).values():
        whole.add_all(pair)
    return whole
